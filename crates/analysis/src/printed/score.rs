//! The scores of IO500, and the results from which they are computed.

use record::io500::{BANDWIDTH, EXTENDED, INVALID, METADATA, RESULT, SCORE, SCORE_EXTENDED, TOTAL};
use record::{PrintedRow, Run};

use super::{Printed, PrintedCheck};
use crate::figures::Figure;
use crate::gate::{
    Gate, Judgement, Kind, Of, Stated, Statement,
    table::{Column, bandwidth, count, flag, number, operations, word},
};

const GIB: f64 = 1_073_741_824.0;

/// A score as printed.
///
/// Source: the benchmark's source code. The score of a category is the geometric mean of its results, and the total
/// is the square root of the product of both.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct BenchmarkScore {
    pub name: &'static str,
    pub total: f64,
    pub bytes_per_second: f64,
    pub per_second: f64,
    pub is_valid: bool,
    /// The number of phases that the benchmark calls invalid.
    pub invalid_phases: u64,
}

impl Statement for BenchmarkScore {
    const KIND: Kind = Kind::BenchmarkScore;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "Geometric means of the results of all phases of a kind; the total is the square root of the product of \
         bandwidth in GiB/s and rate in 1,000 per second. Invalid: by the rules of the benchmark";
    const COLUMNS: &'static [Column<Self>] = &[
        word("mode", "mode", "`standard` or `extended`.", |one| one.name),
        number("total", "score", "The score.", |one| Some(one.total)),
        bandwidth("bandwidth", "bandwidth", "Score of the phases of transfers.", |one| {
            Some(one.bytes_per_second)
        }),
        operations("metadata", "metadata", "Score of the phases of files, searches and objects.", |one| {
            Some(one.per_second)
        }),
        flag("valid", "valid", "Whether the rules of the benchmark were kept.", |one| Some(one.is_valid)),
        count("invalid_phases", "invalid phases", "Phases that they were broken in.", |one| {
            Some(one.invalid_phases)
        }),
    ];
}

/// The printed results of `run`, case by case.
fn printed(run: &Run) -> Vec<PrintedRow> {
    run.manifest.plan.cases.iter().flat_map(|case| run.printed(&case.id).to_vec()).collect()
}

fn of_statistic<'r>(rows: &'r [PrintedRow], label: &str, statistic: &str) -> Option<&'r PrintedRow> {
    rows.iter().find(|row| row.label == label && row.statistic == statistic)
}

const MODES: [(&str, &str); 2] = [(SCORE, "standard"), (SCORE_EXTENDED, "extended")];

/// Whether the result in `row` is part of the score named `label`.
fn counts_for(row: &PrintedRow, label: &str) -> bool {
    row.label == RESULT
        && (row.statistic.is_empty() || (label == SCORE_EXTENDED && row.statistic == EXTENDED))
}

/// The scores of a run of the benchmark, whether it was run by us or imported.
pub(crate) fn scores(run: &Run, gate: &Gate<'_>) -> Vec<Stated<BenchmarkScore>> {
    let rows = printed(run);
    let score = |(label, name): (&str, &'static str)| {
        let number = |statistic| of_statistic(&rows, label, statistic).and_then(|row| row.number);
        let total = of_statistic(&rows, label, TOTAL)?;
        let counted = || rows.iter().filter(|row| counts_for(row, label));
        let is_invalid = |row: &&PrintedRow| {
            rows.iter().any(|other| other.label == INVALID && other.key.case == row.key.case)
        };
        let is_of = |figure: &Figure| counted().any(|row| *row.key.case == *figure.case);
        let inputs =
            gate.figures.iter().enumerate().filter(|(_, figure)| is_of(figure)).map(|(place, _)| place);
        let score = BenchmarkScore {
            name,
            total: total.number?,
            bytes_per_second: number(BANDWIDTH)? * GIB,
            per_second: number(METADATA)? * 1000.0,
            is_valid: !total.value.contains("INVALID"),
            invalid_phases: counted().filter(is_invalid).count() as u64,
        };
        Some(gate.state(inputs.collect(), score))
    };
    MODES.into_iter().filter_map(score).collect()
}

/// Checks whether the scores in `last`, the printed values of the last case of a result, follow from its results. The
/// cases of a result follow each other, and their values are from one file.
///
/// Results that name no release are of the scripts, whose first ones printed the product of the scores as the total.
pub(crate) fn score_checks(run: &Run, last: &[PrintedRow], has_release: bool) -> Vec<PrintedCheck> {
    let of_scores = |row: &&PrintedRow| MODES.iter().any(|(label, _)| row.label == *label);
    let Some(score) = last.iter().find(of_scores) else { return Vec::new() };
    let cases = run.manifest.plan.cases.iter().rev().skip_while(|case| *case.id != *score.key.case);
    let rows = cases.map(|case| run.printed(&case.id));
    // A file may have another result before this one, and outputs of other tools between its lines.
    let is_before =
        |rows: &[PrintedRow]| rows.iter().any(|row| row.source != score.source || of_scores(&row));
    let of_it =
        rows.enumerate().take_while(|(place, rows)| *place == 0 || !is_before(rows)).map(|(_, rows)| rows);
    let rows: Vec<PrintedRow> = of_it.flat_map(|rows| rows.to_vec()).collect();
    let mut found = Vec::new();
    for (label, name) in MODES {
        let mean = |unit: &str| {
            let results = rows.iter().filter(|row| counts_for(row, label) && row.unit == unit);
            geometric_mean(&results.filter_map(|row| Printed::parse(&row.value)).collect::<Vec<_>>())
        };
        for (statistic, unit) in [(BANDWIDTH, "GiB/s"), (METADATA, "1000/s")] {
            let value = of_statistic(&rows, label, statistic).and_then(|row| Printed::parse(&row.value));
            // It prints 0 if phases are missing.
            let above_0 = value.filter(|value| value.value > 0.0);
            let Some((printed, computed)) = above_0.zip(mean(unit)) else { continue };
            let evidence = format!(
                "{name}, {statistic}: {} by the results, printed {}",
                super::short(computed.value),
                printed.value
            );
            found.push(PrintedCheck::of("geometric mean of the results", printed, computed, 0.0, evidence));
        }
        let number = |statistic| {
            let row = of_statistic(&rows, label, statistic)?;
            Printed::parse(row.value.split(' ').next()?)
        };
        let scores = number(BANDWIDTH).zip(number(METADATA)).zip(number(TOTAL));
        let Some(((bandwidth, metadata), total)) = scores else { continue };
        let product = bandwidth.by(metadata);
        let of = |what: &str, computed: Printed| {
            let computed_total = super::short(computed.value);
            let evidence =
                format!("{name}: {computed_total} by the {what} of the scores, printed {}", total.value);
            PrintedCheck::of("total = √(bandwidth × metadata)", total, computed, 0.0, evidence)
        };
        let by_product = Some(of("product", product)).filter(|check| check.outcome == Judgement::Holds);
        let by_product = by_product.filter(|_| !has_release);
        found.push(by_product.unwrap_or_else(|| of("root of the product", root(product))));
    }
    found
}

fn root(of: Printed) -> Printed {
    let value = of.value.sqrt();
    Printed { value, half_digit: value * of.share() / 2.0 }
}

fn geometric_mean(results: &[Printed]) -> Option<Printed> {
    let n = results.len() as f64;
    let value = (results.iter().map(|one| one.value.ln()).sum::<f64>() / n).exp();
    let share = results.iter().map(|one| one.share()).sum::<f64>() / n;
    value.is_finite().then_some(Printed { value, half_digit: value * share })
}
