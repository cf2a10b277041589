//! Consistency of the printed values of imported runs: the checks of a tool's own output block, the time from its
//! start to its end, and the round trip of a history of single operations.

use std::collections::HashMap;

use plan::{Case, Phase};
use record::{PhaseKey, Run, Warning};

use super::rules::{Found, Printout, checks};
use crate::gate::{
    Judgement, Kind, Of, Quantity, Statement, Value,
    table::{Column, any, change, count, detail, nanos, text, word},
};
use crate::printed::{PrintedCheck, RoundTrip};

/// A check of the printed values of one case.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct ImportedCheck {
    pub case: String,
    /// The phase. `None` if the check concerns all of them.
    pub phase: Option<Phase>,
    pub check: PrintedCheck,
}

impl Statement for ImportedCheck {
    const KIND: Kind = Kind::PrintedCheck;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str =
        "Whether printed values agree with each other, within rounding and the tolerance of the rule";
    const COLUMNS: &'static [Column<Self>] = &[
        any(
            "agreement",
            "outcome",
            "`agrees`, `differs` or `says nothing`.",
            Quantity::Judgement(&PrintedCheck::WORDS),
            |one| Value::Judgement(one.check.outcome, PrintedCheck::WORDS[one.check.outcome as usize]),
        ),
        word("case", "case", "The case.", |one| &one.case),
        text("phase", "phase", "The phase; `all` where it is about all of them.", |one| {
            one.phase.map_or("all", Phase::name).to_owned()
        }),
        word("rule", "rule", "In symbols.", |one| one.check.rule),
        word("evidence", "with its numbers", "The rule with its numbers.", |one| &one.check.evidence),
        detail(change("off", "off", "Printed ÷ computed − 1.", |one| one.check.off)),
    ];
}

/// The round trip of a printed history.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct HistoryTrip {
    pub case: String,
    pub trip: RoundTrip,
}

impl Statement for HistoryTrip {
    const KIND: Kind = Kind::RoundTrip;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "Single operations of printed histories, on average";
    const COLUMNS: &'static [Column<Self>] = &[
        word("case", "case", "The case.", |one| &one.case),
        count("operations", "operations", "Operations of the history.", |one| Some(one.trip.n as u64)),
        nanos("device", "each", "Mean time of one in the history.", |one| Some(one.trip.device_ns)),
        nanos("gap", "start to start", "From one start to the next.", |one| Some(one.trip.gap_ns)),
        nanos("between", "between", "Mean time from the end of one to the start of the next.", |one| {
            Some(one.trip.between_ns)
        }),
        nanos(
            "application",
            "for the application",
            "Time per operation, by the application's rate.",
            |one| one.trip.application_ns,
        ),
        nanos(
            "rest",
            "not in the history",
            "Of the time per operation for the application, the part that is not in the history.",
            |one| one.trip.rest_ns,
        ),
    ];
}

/// All checks of the printed values of `run` by the rules for their tools, in the order of its cases. Checks of one
/// phase that agree by the same rule are one.
#[must_use]
pub fn imported_checks(run: &Run) -> Vec<ImportedCheck> {
    let mut warnings: HashMap<&PhaseKey, Vec<&Warning>> = HashMap::new();
    for row in &run.warnings {
        if let Some(key) = &row.key {
            warnings.entry(key).or_default().push(&row.warning);
        }
    }
    let checks = |case: &Case| {
        let (rows, printed) = (run.phases(&case.id), run.printed(&case.id));
        let found = checks(&Printout { run, case, rows: &rows, printed: &printed, warnings: &warnings });
        let of_case = |(phase, check)| ImportedCheck { case: case.id.clone(), phase, check };
        once(found).into_iter().map(of_case).collect::<Vec<_>>()
    };
    run.manifest.plan.cases.iter().flat_map(checks).collect()
}

/// `found` with one check for those that agree by the same rule in the same phase.
fn once(found: Vec<Found>) -> Vec<Found> {
    let mut places: HashMap<(Option<Phase>, &'static str), (usize, usize)> = HashMap::new();
    let mut kept: Vec<Found> = Vec::new();
    for (phase, check) in found {
        if check.outcome != Judgement::Holds {
            kept.push((phase, check));
            continue;
        }
        match places.get_mut(&(phase, check.rule)) {
            Some((_, more)) => *more += 1,
            None => {
                places.insert((phase, check.rule), (kept.len(), 0));
                kept.push((phase, check));
            }
        }
    }
    for (place, more) in places.into_values().filter(|(_, more)| *more > 0) {
        kept[place].1.evidence.push_str(&format!("; and {more} more"));
    }
    kept
}

/// The round trips of `run`'s imported histories, by case, with the rate of an output block of one thread that was
/// printed with them.
#[must_use]
pub fn round_trips(run: &Run) -> Vec<HistoryTrip> {
    let cases = &run.manifest.plan.cases;
    let of_one_thread = cases.iter().filter(|case| case.tasks() == Some(1));
    let rate = |case: &Case| run.printed(&case.id).iter().find(|row| row.label == "Op Rate")?.number;
    let rates: Vec<f64> = of_one_thread.filter_map(rate).collect();
    // With several rates, it is not known which one belongs to the history.
    let rate = if let [rate] = rates[..] { Some(rate) } else { None };
    let trip = |case: &Case| {
        let rows = run.history(&case.id);
        let operations: Vec<_> = rows.iter().map(|row| (row.start_ns, row.latency_ns)).collect();
        Some(HistoryTrip { case: case.id.clone(), trip: RoundTrip::of(&operations, rate)? })
    };
    cases.iter().filter_map(trip).collect()
}
