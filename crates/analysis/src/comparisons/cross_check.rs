//! The same cases measured alternately by ioproof and another tool: their ratio, and whether they
//! differ.

use std::collections::HashMap;

use plan::{PlanSource, Rival, shell_word};
use record::Provenance;

use crate::figures::{RateOf, Subject};
use crate::gate::{
    Gate, Kind, Of, Quantity, Stated, Statement, Value,
    table::{
        Column, any, below, change, count, detail, number, operations, rate, share, subject, text, word,
    },
};
use crate::statistics::{Contrast, Difference, Interval, Summary};

/// One case measured by both tools.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct CrossCheck {
    pub case: String,
    /// The other tool with its version, and its location.
    pub tool: String,
    pub command_line: String,
    pub ratio: f64,
    /// The interval for the median of the pairwise ratios, with a confidence of at least 95 %.
    pub interval: Option<Interval>,
    pub pairs: usize,
    /// The difference of both medians, by the same test as all other differences.
    pub difference: Difference,
    pub counts: RateOf,
    /// Operations per second of both tools.
    pub operations: (f64, f64),
}

impl CrossCheck {
    /// The result of the test, in words.
    #[must_use]
    pub fn outcome(&self) -> String {
        let percent = self.difference.change.abs() * 100.0;
        match self.difference.outcome {
            Contrast::Higher => format!("differs: ioproof {percent:.1} % higher"),
            Contrast::Lower => format!("differs: ioproof {percent:.1} % lower"),
            Contrast::NotShown => "no difference shown".to_owned(),
            Contrast::TooFew => "cannot be told".to_owned(),
        }
    }
}

impl Statement for CrossCheck {
    const KIND: Kind = Kind::CrossCheck;
    const OF: Of = Of::Nothing;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "Each case was measured in turn by ioproof and by another tool, over the \
         same file. Ratio: ioproof ÷ other tool, the median of the pairs, with its 95 % interval. A \
         difference is stated by the same test as in all comparisons, corrected for the number of cases";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("case", "case", "The case.", |one| &one.case)),
        rate("rate_per_second", "ioproof", "Median of ioproof's first rate.", |one| {
            Some(one.difference.after)
        }),
        rate("other_per_second", "other tool", "Median of the other tool's first rate.", |one| {
            Some(one.difference.before)
        }),
        detail(operations("operations_per_second", "operations", "Median of ioproof's.", |one| {
            Some(one.operations.0)
        })),
        detail(operations(
            "other_operations_per_second",
            "other's operations",
            "Median of the other's.",
            |one| Some(one.operations.1),
        )),
        share("ratio", "ratio", "Median over the pairs of ioproof ÷ other tool.", |one| Some(one.ratio)),
        any(
            "ratio_interval",
            "95 % interval",
            "Interval of the median of the pairs' ratios, with a confidence of at least 95 %.",
            Quantity::Interval,
            |one| Value::or_none(one.interval, |one| Value::Shares(one.low, one.high)),
        ),
        count("pairs", "pairs", "Passes that both tools have measured.", |one| Some(one.pairs as u64)),
        text(
            "difference",
            "difference",
            "`no difference shown`, `cannot be told` of too few passes, or by how much ioproof is higher or lower.",
            |one| one.outcome(),
        ),
        detail(change(
            "change",
            "change",
            "ioproof ÷ other tool − 1, of the medians; where it was shown.",
            |one| one.difference.is_stated().then_some(one.difference.change),
        )),
        detail(number("p_value", "p", "p of the test of differences, corrected for the cases.", |one| {
            one.difference.p_value
        })),
        subject(below(word("command_line", "command line", "Command line of the other tool.", |one| {
            &one.command_line
        }))),
    ];

    fn part(&self) -> Option<String> {
        Some(self.tool.clone())
    }
}

/// All cases that two tools have measured, in the order of the plan.
#[must_use]
pub(crate) fn cross_checks(gate: &Gate<'_>) -> Vec<Stated<CrossCheck>> {
    let PlanSource::CrossCheck { tool, program, rivals, .. } = &gate.plan.source else { return Vec::new() };
    let of_case = |id: &str| gate.subjects.iter().find(|one| one.figure.case == id);
    let both = |rival: &Rival| {
        let (own, theirs) = (of_case(&rival.own)?, of_case(&rival.case)?);
        // Figures that another tool printed are never taken for our own.
        (theirs.figure.provenance == Provenance::Imported).then_some((own, theirs))
    };
    let all: Vec<_> = rivals.iter().filter_map(|rival| Some((rival, both(rival)?))).collect();
    let usable = |one: &Subject<'_>| gate.is_usable(one.index);
    let family = all.iter().filter(|(_, (own, theirs))| usable(own) && usable(theirs)).count();
    let check = |(rival, (own, theirs)): &(&Rival, (&Subject<'_>, &Subject<'_>))| {
        let difference = gate.difference(theirs, own, family)?;
        let ratios = Summary::of(&ratios(own, theirs))?;
        let value = CrossCheck {
            case: rival.own.clone(),
            tool: format!("{tool}, {}", program.display()),
            command_line: rival
                .command_line
                .iter()
                .map(|word| shell_word(word))
                .collect::<Vec<_>>()
                .join(" "),
            ratio: ratios.median,
            interval: ratios.median_interval,
            pairs: ratios.n,
            difference,
            counts: own.figure.rate_of(),
            operations: (own.figure.transfers_per_second.median, theirs.figure.transfers_per_second.median),
        };
        Some(gate.state_difference(vec![own.index, theirs.index], &difference, value))
    };
    all.iter().filter_map(check).collect()
}

/// The ratio ioproof ÷ other tool for each pass that both have measured.
fn ratios(own: &Subject<'_>, theirs: &Subject<'_>) -> Vec<f64> {
    let passes = theirs.figure.counted();
    let by_pass: HashMap<u32, f64> =
        passes.filter_map(|pass| Some((pass.repetition, theirs.figure.headline_of(pass)?))).collect();
    let ratio = |pass| Some(own.figure.headline_of(pass)? / by_pass.get(&pass.repetition)?);
    own.figure.counted().filter_map(ratio).collect()
}
