//! A line for each case that ioproof and another tool measured alternately.

use analysis::{comparisons::CrossCheck, gate::Stated};
use plan::{PlanSource, Rival};
use record::Run;

use crate::format::screen::Screen;
use crate::format::table::Table;
use crate::format::{iops, percent, rate};
use crate::report::Report;

/// One case.
struct Line<'a> {
    rival: &'a Rival,
    /// None if one of the two has no figure.
    found: Option<&'a Stated<CrossCheck>>,
    /// Whether rates are in operations rather than bytes.
    operations: bool,
}

/// The lines, in the order of the plan; empty if `run` is not a cross-check.
pub(crate) fn text(run: &Run, report: &Report, screen: Screen) -> String {
    table(run, report).map(|table| table.to_text("", screen)).unwrap_or_default()
}

/// A row for each case; `None` if `run` is not a cross-check.
pub(crate) fn table(run: &Run, report: &Report) -> Option<Table> {
    let PlanSource::CrossCheck { tool, rivals, .. } = &run.manifest.plan.source else { return None };
    let line = |rival| Line::of(rival, run, report);
    let table = Table::of(rivals.iter().map(line))
        .left("case", |one| one.rival.own.clone())
        .right("ioproof", |one| one.said(|check| one.rate(check.difference.after, check.operations.0)))
        .right(tool, |one| one.said(|check| one.rate(check.difference.before, check.operations.1)))
        .right("ratio", |one| one.said(|check| percent(check.ratio)))
        .left("95 % interval", |one| {
            one.said(|check| {
                let ends = check.interval.map(|at| (percent(at.low), percent(at.high)));
                ends.map_or_else(String::new, |(low, high)| format!("{low} … {high}"))
            })
        })
        .left("", |one| one.outcome(run))
        .done();
    Some(table)
}

impl<'a> Line<'a> {
    fn of(rival: &'a Rival, run: &Run, report: &'a Report) -> Self {
        let is_it = |one: &&Stated<CrossCheck>| {
            report.figures.get(one.figure()).is_some_and(|figure| figure.source.case == rival.own)
        };
        let case = run.manifest.plan.cases.iter().find(|case| case.id == rival.own);
        Self {
            rival,
            found: report.found.cross_checks.iter().find(is_it),
            operations: case.and_then(plan::Case::order).is_some_and(plan::Order::is_random),
        }
    }

    fn said(&self, text: impl Fn(&CrossCheck) -> String) -> String {
        self.found.and_then(Stated::says).map(text).unwrap_or_default()
    }

    fn rate(&self, bytes: f64, operations: f64) -> String {
        if self.operations { format!("{} IOPS", iops(operations)) } else { rate(bytes) }
    }

    /// The outcome of the comparison, or why there is none.
    fn outcome(&self, run: &Run) -> String {
        let Some(found) = self.found else {
            let failed = run.failed_cases.iter().find(|one| one.case == self.rival.own);
            return failed.map_or("not measured", |_| "failed").to_owned();
        };
        let reasons =
            || found.reasons.iter().map(|reason| reason.because.name()).collect::<Vec<_>>().join(", ");
        match found.says() {
            None => format!("withheld: {}", reasons()),
            Some(check) if found.reasons.is_empty() => check.outcome(),
            Some(check) => format!("{} (marked: {})", check.outcome(), reasons()),
        }
    }
}
