//! Two runs of the same cases beside each other: what changed beyond the scatter, and what did not.

use analysis::{Comparison, Contrast, largest_gap};
use record::{Operation, Provenance, Run, Warning};
use serde::Serialize;

use crate::build;
use crate::colour::Colour;
use crate::escape;
use crate::format::{counted, latency, rate_in, whole};
use crate::section::{Block, Section, signed};
use crate::statements;
use crate::table::{Align, Cell, Table, Tone};
use crate::text;
use crate::view::Statements;
use crate::words;

/// The version of the JSON form.
const SCHEMA: &str = "ioproof-comparison/1";

/// What two runs say about the same cases.
///
/// ```no_run
/// use std::path::Path;
/// let before = record::Run::open(Path::new("runs/before"))?;
/// let after = record::Run::open(Path::new("runs/after"))?;
/// println!("{}", report::compare(&before, &after).text(report::Colour::Plain));
/// # Ok::<(), record::RecordError>(())
/// ```
#[derive(Debug)]
pub struct Pair {
    sides: [Side; 2],
    comparisons: Vec<(Comparison, String)>,
    /// Figures of either run that the other lacks.
    alone: [usize; 2],
    /// Pairs that have different names and the same point.
    agreements: usize,
    /// Matrices of jobs of both runs, launch by launch.
    matrices: Vec<MatrixPair>,
}

/// A matrix of jobs of both runs.
#[derive(Debug, Clone, Serialize)]
struct MatrixPair {
    /// What is compared, with its run.
    before: String,
    after: String,
    /// Tables, tests, scale and seed are the same, whatever the page and direct I/O.
    same_work: bool,
    /// Its rows; none where the work differs, or launches are missing.
    contrasts: Vec<serde_json::Value>,
    #[serde(skip)]
    table: Option<Table>,
}

/// One of the two runs.
#[derive(Debug, Clone, Serialize)]
struct Side {
    id: String,
    title: String,
    directory: String,
    release: Option<String>,
    node: String,
    program_version: String,
    provenance: Provenance,
    /// The tool whose words were used, or whose text was imported; empty where it was none.
    tool: String,
}

/// Compares what `before` and `after` measured under the same conditions.
#[must_use]
pub fn compare(before: &Run, after: &Run) -> Pair {
    let figures = [build::sources(before), build::sources(after)];
    let refused = [0, 1].map(|run| {
        let (of, figures) = ([before, after][run], &figures[run]);
        let doubts = analysis::findings_of(of, figures).audit;
        analysis::refusals(&of.manifest.plan, figures, &doubts)
    });
    let of = |run: usize| analysis::RunFigures {
        plan: &[before, after][run].manifest.plan,
        figures: &figures[run],
        refused: &refused[run],
    };
    let pairs = analysis::paired(of(0), of(1));
    let agreements = pairs.iter().filter(|pair| pair.by_conditions).count();
    let with_conditions = |pair: &analysis::Paired| {
        let [one, other] = [&figures[0][pair.before], &figures[1][pair.after]];
        let mut words = one.conditions.clone();
        if one.conditions != other.conditions {
            words.push_str(&format!("; then {}", other.conditions));
        }
        for (run, figure, side) in [(before, one, "before"), (after, other, "after")] {
            if let Some(iterations) = printed_mean(run, figure) {
                words.push_str(&format!("; {side} is the printed mean of {iterations} iterations"));
            }
        }
        if !pair.differs.is_empty() {
            words.push_str(&format!("; differs in {}", pair.differs.join("; ")));
        }
        pair.comparisons.iter().map(move |one| (one.clone(), words.clone())).collect::<Vec<_>>()
    };
    Pair {
        sides: [side(before), side(after)],
        alone: figures.each_ref().map(|side| side.len() - pairs.len()),
        comparisons: pairs.iter().flat_map(with_conditions).collect(),
        agreements,
        matrices: matrices([before, after], [&figures[0], &figures[1]]),
    }
}

/// The matrices of both runs that are of the same workload, target and settings; where each run has one, these.
fn matrices(runs: [&Run; 2], figures: [&[analysis::Figure]; 2]) -> Vec<MatrixPair> {
    let [before, after] = [0, 1].map(|run| analysis::matrices(runs[run], figures[run]).all);
    let only_ones = before.len() == 1 && after.len() == 1;
    let same = |one: &analysis::Matrix, other: &analysis::Matrix| {
        (&one.group, &one.target, &one.settings) == (&other.group, &other.target, &other.settings)
    };
    let work = |run: usize, one: &analysis::Matrix| {
        let mut cases = runs[run].manifest.plan.cases.iter();
        cases.find(|case| case.id == one.case).map(|case| case.workload.work.clone())
    };
    let name = |run: usize, one: &analysis::Matrix| {
        let what = if one.target.is_empty() { &one.group } else { &one.target };
        format!("{what} {}", ["before", "after"][run])
    };
    let pair = |one: &analysis::Matrix| {
        let other = after.iter().find(|other| only_ones || same(one, other))?;
        let same_work =
            work(0, one).zip(work(1, other)).is_some_and(|(one, other)| analysis::same_jobs(&one, &other));
        let names = [name(1, other), name(0, one)];
        let comparison = analysis::compare_matrices(names.clone(), one, other);
        let rows: Vec<_> = comparison.contrasts.into_iter().map(|(row, _)| row).collect();
        let table = (same_work && comparison.complete).then(|| analysis::Table::planned(&rows));
        let [after, before] = names;
        let read = table.as_ref().map(|table| statements::without_figures(table, |text| text));
        let statements = Statements { tables: table.into_iter().collect(), ..Statements::default() };
        let contrasts = statements.objects(analysis::Kind::JobContrast);
        Some(MatrixPair { before, after, same_work, contrasts, table: read })
    };
    before.iter().filter_map(pair).collect()
}

/// Of so many iterations the figure is the mean that its tool has printed; none where it is of own values.
fn printed_mean(run: &Run, figure: &analysis::Figure) -> Option<u64> {
    let of_figure = |row: &&record::WarningRow| {
        row.key.as_ref().is_some_and(|key| *key.case == *figure.case && key.phase == figure.phase)
    };
    run.warnings.iter().filter(of_figure).find_map(|row| match row.warning {
        Warning::PrintedMean { iterations } => Some(iterations),
        _ => None,
    })
}

fn side(run: &Run) -> Side {
    let manifest = &run.manifest;
    Side {
        id: manifest.run_id.clone(),
        title: manifest.plan.title.clone(),
        directory: run.directory.display().to_string(),
        release: manifest.plan.terms.release.clone(),
        node: manifest.host.node.clone(),
        program_version: manifest.program_version.clone(),
        provenance: manifest.provenance,
        tool: build::tool(run),
    }
}

/// A comparison in plain numbers.
#[derive(Serialize)]
struct Row<'a> {
    case: String,
    phase: &'static str,
    /// The operation whose mean latencies are compared; none for rates.
    latency_of: Option<&'static str>,
    /// A rate over the time of the transfers alone, beside that of the figure.
    transferring: bool,
    conditions: &'a str,
    /// In `unit`: bytes or operations per second, or nanoseconds of a latency.
    before: f64,
    after: f64,
    unit: &'static str,
    /// After ÷ before − 1; none where it cannot be told.
    change: Option<f64>,
    change_low: Option<f64>,
    change_high: Option<f64>,
    p_value: Option<f64>,
    /// `faster`, `slower`, `not shown`, `too few values` or `cannot be told`.
    outcome: &'static str,
    /// Why it cannot be told.
    because: Option<&'a str>,
}

const FASTER: (&str, Tone) = ("faster", Tone::Good);
const SLOWER: (&str, Tone) = ("slower", Tone::Bad);
const NOT_SHOWN: (&str, Tone) = ("not shown", Tone::Plain);
const TOO_FEW: (&str, Tone) = ("too few values", Tone::Doubtful);
const CANNOT_TELL: (&str, Tone) = ("cannot be told", Tone::Doubtful);

/// What is said of a comparison: a higher rate is faster, a higher latency slower.
const fn outcome(one: &Comparison) -> (&'static str, Tone) {
    if one.refused.is_some() {
        return CANNOT_TELL;
    }
    match (one.difference.outcome, one.operation) {
        (Contrast::Higher, None) | (Contrast::Lower, Some(_)) => FASTER,
        (Contrast::Lower, None) | (Contrast::Higher, Some(_)) => SLOWER,
        (Contrast::NotShown, _) => NOT_SHOWN,
        (Contrast::TooFew, _) => TOO_FEW,
    }
}

impl Pair {
    /// Tables for a terminal.
    #[must_use]
    pub fn text(&self, colour: Colour) -> String {
        let mut out = format!("{}\n", colour.strong("Comparison of two runs"));
        text::section_text(&mut out, &self.section(), colour);
        out
    }

    /// Markdown, with pipe tables.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut out = "# Comparison of two runs\n\n".to_owned();
        crate::markdown::section_markdown(&mut out, &self.section());
        out
    }

    /// JSON in the schema `ioproof-comparison/1`.
    #[must_use]
    pub fn json(&self) -> String {
        let row = |(one, conditions): &'_ (Comparison, String)| {
            let row = Row {
                case: one.case.to_string(),
                phase: one.phase.name(),
                latency_of: one.operation.map(Operation::name),
                transferring: one.transferring,
                conditions,
                before: one.difference.before,
                after: one.difference.after,
                unit: if one.operation.is_some() { "ns" } else { words::unit(one.phase) },
                change: one.refused.is_none().then_some(one.difference.change),
                change_low: one.difference.interval.map(|(low, _)| low),
                change_high: one.difference.interval.map(|(_, high)| high),
                p_value: one.difference.p_value,
                outcome: outcome(one).0,
                because: one.refused.as_deref(),
            };
            serde_json::to_value(row).unwrap_or_default()
        };
        let value = serde_json::json!({
            "schema": SCHEMA,
            "before": self.sides[0],
            "after": self.sides[1],
            "only_before": self.alone[0],
            "only_after": self.alone[1],
            "paired_by_conditions": self.agreements,
            "comparisons": self.comparisons.iter().map(row).collect::<Vec<_>>(),
            "matrices": self.matrices,
        });
        escape::json_text(&value)
    }

    /// The same for a page.
    pub(crate) fn section(&self) -> Section {
        let mut blocks = vec![Block::Text(self.sides_in_words()), Block::Text(self.counts())];
        blocks.extend(self.largest().map(Block::Text));
        if self.agreements > 0 {
            blocks.push(Block::Text(format!(
                "{} of figures of different names: the same phase, size, order, tasks and nodes. What \
                 differs beside that stands with each. A rate while transferring leaves out opening, syncing \
                 and closing, which tools count in different ways.",
                counted(self.agreements as u64, "pair")
            )));
        }
        let mut table = Table::new(&[
            ("result", Align::Left),
            ("case", Align::Left),
            ("phase", Align::Left),
            ("of", Align::Left),
            ("before", Align::Right),
            ("after", Align::Right),
            ("change", Align::Right),
            ("interval", Align::Right),
            ("p", Align::Right),
            ("conditions", Align::Left),
        ])
        .below("conditions");
        // What changed is read first; the rest keeps its order.
        let mut rows: Vec<&(Comparison, String)> = self.comparisons.iter().collect();
        rows.sort_by_key(|(one, _)| !one.difference.is_stated());
        for (one, conditions) in rows {
            table.row(row(one, conditions));
        }
        if table.is_empty() {
            blocks.push(Block::Text("No case was measured in both runs.".to_owned()));
        } else {
            let caption =
                "Medians of the repetitions that count; a difference has p ≤ 0.01, corrected for all comparisons".to_owned();
            blocks.push(Block::Table { caption, table: table.without_empty_columns() });
        }
        for one in &self.matrices {
            blocks.push(match &one.table {
                Some(table) => Block::Table {
                    caption: "Jobs as a whole, over all launches that both runs completed".to_owned(),
                    table: table.clone(),
                },
                None if one.same_work => Block::Text(format!(
                    "{} and {}: no verdict, for not all launches of both completed and have their pairs.",
                    one.before, one.after
                )),
                None => Block::Text(
                    "The jobs of both runs are not the same (scale, seed, tables or tests): no verdict, for their sums are of \
                     different work."
                        .to_owned(),
                ),
            });
        }
        Section { id: "comparison", title: "What changed", before_figures: true, blocks }
    }

    fn sides_in_words(&self) -> String {
        let words = |side: &Side| {
            let release = side.release.as_ref().map(|release| format!(", {release}")).unwrap_or_default();
            // Where it is not measured here, that is the first thing to know.
            let from = match side.provenance {
                Provenance::Measured => String::new(),
                other => format!("{}, ", build::provenance(other)),
            };
            let tool = match side.tool.as_str() {
                "" => String::new(),
                tool => format!(", by {tool}"),
            };
            let node = match (side.provenance, side.node.as_str()) {
                (Provenance::Imported, text::UNKNOWN_NODE) => String::new(),
                (_, node) => format!(" on {node}"),
            };
            format!("{} ({from}{}{release}{tool}{node})", side.title, side.id)
        };
        let [before, after] = &self.sides;
        if before.id == after.id {
            return format!("Both are the same run: {}.", words(before));
        }
        format!("Before: {}. After: {}.", words(before), words(after))
    }

    /// `12 comparisons: 2 faster, 10 not shown.`
    fn counts(&self) -> String {
        let parts: Vec<String> = [FASTER.0, SLOWER.0, NOT_SHOWN.0, TOO_FEW.0, CANNOT_TELL.0]
            .iter()
            .map(|kind| (kind, self.comparisons.iter().filter(|(one, _)| outcome(one).0 == *kind).count()))
            .filter(|(_, count)| *count > 0)
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        let colon = if parts.is_empty() { "" } else { ": " };
        let mut text =
            format!("{}{colon}{}.", counted(self.comparisons.len() as u64, "comparison"), parts.join(", "));
        for (side, alone) in [("before", self.alone[0]), ("after", self.alone[1])] {
            if alone > 0 {
                text.push_str(&format!(" {} only {side}.", counted(alone as u64, "figure")));
            }
        }
        text
    }

    /// The largest gap, in words.
    fn largest(&self) -> Option<String> {
        let all: Vec<Comparison> = self.comparisons.iter().map(|(one, _)| one.clone()).collect();
        let one = largest_gap(&all)?;
        Some(format!(
            "The largest gap between both is {}: {} of {} ({}).",
            signed(one.difference.change),
            one.phase,
            one.case,
            outcome(one).0
        ))
    }
}

fn row(one: &Comparison, conditions: &str) -> Vec<Cell> {
    let (word, tone) = outcome(one);
    let value = |value: f64| match one.operation {
        Some(_) => latency(whole(value)),
        None => rate_in(value, words::unit(one.phase)),
    };
    let interval = one
        .difference
        .interval
        .map(|(low, high)| format!("{} … {}", signed(low), signed(high)))
        .unwrap_or_default();
    let of = match (one.operation, one.transferring) {
        (Some(of), _) => format!("mean latency of {}s", of.name()),
        (None, true) => "rate while transferring".to_owned(),
        (None, false) => "rate".to_owned(),
    };
    let (change, conditions) = match &one.refused {
        Some(why) => (String::new(), format!("{conditions}; cannot be told: {why}")),
        None => (signed(one.difference.change), conditions.to_owned()),
    };
    let p_value = |p: f64| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") };
    vec![
        Cell::toned(word, tone),
        one.case.to_string().into(),
        one.phase.name().into(),
        of.into(),
        value(one.difference.before).into(),
        value(one.difference.after).into(),
        Cell::toned(change, tone),
        interval.into(),
        one.difference.p_value.map(p_value).unwrap_or_default().into(),
        conditions.into(),
    ]
}
