//! The runs of one plan on one host over time, in words, as a table and as JSON.

use analysis::gate::Outcome;
use analysis::over_time::RunValue;
use analysis::statistics::LevelChange;
use plan::{FigureName, Phase};
use record::Provenance;
use serde_json::{Value, json};

use super::list::hosts;
use super::minute;
use crate::format::table::{Table, Tone};
use crate::format::{bare_rate, column_unit, counted, latency, names, number, rate_in, whole};
use crate::section::signed;

/// The width of the drawing in a table, in characters.
const DRAWN: usize = 24;

/// A run of a series.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) name: String,
    pub(super) run_id: String,
    pub(crate) started_unix_ns: i64,
    pub(super) tags: Vec<String>,
    pub(crate) value: RunValue,
}

/// What the runs of a series have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Common {
    pub(super) plan: String,
    pub(super) title: String,
    pub(super) hosts: Vec<String>,
    pub(super) provenance: Provenance,
    pub(super) mark: Option<String>,
}

/// The runs of one plan on one host, oldest first.
#[derive(Debug)]
pub(crate) struct Series {
    pub(super) common: Common,
    pub(crate) points: Vec<Point>,
    pub(crate) changes: Vec<LevelChange>,
}

pub(super) fn reasons(value: &RunValue) -> String {
    value.reasons.iter().map(|reason| reason.because.name()).collect::<Vec<_>>().join(", ")
}

/// An interval of a change in words.
fn between((low, high): (f64, f64)) -> String {
    format!("between {} and {}", signed(low), signed(high))
}

impl Series {
    pub(crate) fn phase(&self) -> Phase {
        self.points[0].value.phase
    }

    /// The unit of its rates; none of latencies.
    pub(super) fn rate_unit(&self) -> Option<&'static str> {
        (self.points[0].value.unit != "ns").then(|| names::unit(self.phase()))
    }

    /// The unit of values on an axis, and what they are divided by there.
    pub(crate) fn axis(&self) -> (&'static str, f64) {
        match self.rate_unit() {
            Some(unit) => (column_unit(unit), crate::format::divisor(unit)),
            None => ("µs", 1e3),
        }
    }

    /// A value with its unit.
    pub(crate) fn shown(&self, value: f64) -> String {
        self.rate_unit().map_or_else(|| latency(whole(value)), |unit| rate_in(value, unit))
    }

    /// A value without its unit, where that is in the heading.
    pub(super) fn bare(&self, value: f64) -> String {
        self.rate_unit().map_or_else(|| latency(whole(value)), |unit| bare_rate(value, unit))
    }

    pub(crate) fn heading(&self, name: &FigureName) -> String {
        let mark = self.common.mark.as_ref().map(|mark| format!("{mark}: ")).unwrap_or_default();
        format!("{mark}{name} on {}", hosts(&self.common.hosts))
    }

    /// The mark of simulated runs.
    pub(crate) fn mark(&self) -> Option<&str> {
        self.common.mark.as_deref()
    }

    /// What the figure is of.
    pub(crate) fn conditions(&self) -> String {
        let first = &self.points[0].value;
        format!("{}: {}", first.case, first.conditions)
    }

    pub(super) fn facts(&self) -> String {
        let first = &self.points[0].value;
        let is_rate = first.unit != "ns";
        let by = if is_rate { ", by wall time" } else { "" };
        format!(
            "{}; {}{by}; plan {}, {}.",
            self.common.title,
            self.conditions(),
            self.common.plan,
            counted(self.points.len() as u64, "run")
        )
    }

    /// The lowest and the highest value.
    pub(super) fn range(&self) -> (f64, f64) {
        let values = || self.points.iter().map(|point| point.value.value);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    }

    pub(super) fn table(&self, name: &FigureName, drawn: bool) -> Table {
        let (low, high) = self.range();
        let heading = match self.rate_unit() {
            Some(unit) => format!("{name} ({})", column_unit(unit)),
            None => name.to_string(),
        };
        let (left, right) = (self.bare(low), self.bare(high));
        let gap = DRAWN.saturating_sub(left.chars().count() + right.chars().count()).max(1);
        let scale = format!("{left}{}{right}", " ".repeat(gap));
        let width = scale.chars().count();
        let rows: Vec<(usize, &Point)> = self.points.iter().enumerate().collect();
        let table = Table::of(rows)
            .left("started (UTC)", |(_, point)| minute(point.started_unix_ns))
            .left("run", |(_, point)| point.name.clone())
            .right(&heading, |(_, point)| self.bare(point.value.value))
            .left("within the run", |(_, point)| {
                let ends = point.value.ends;
                let word = if point.value.is_interval { "" } else { "range " };
                ends.map(|(low, high)| format!("{word}{} – {}", self.bare(low), self.bare(high)))
            });
        let table = match drawn && high > low {
            true => table.left(&scale, |(_, point)| {
                let at = whole((point.value.value - low) / (high - low) * (width - 1) as f64);
                format!("{}{}", " ".repeat(usize::try_from(at).unwrap_or(0)), dot(point))
            }),
            false => table,
        };
        table
            .left("", |(place, point)| {
                let change = self.changes.iter().find(|change| change.at == *place);
                let change = change.map(|one| format!("level changed {}", signed(one.change)));
                let withheld = (point.value.outcome == Outcome::Withheld)
                    .then(|| format!("left out: {}", reasons(&point.value)));
                let tone = if change.is_some() { Tone::Main } else { Tone::Doubtful };
                let told: Vec<String> = change.into_iter().chain(withheld).collect();
                crate::format::table::Cell::toned(told.join("; "), tone)
            })
            .done()
            .without_empty_columns()
    }

    /// What can be said of the series.
    pub(super) fn says(&self) -> Vec<String> {
        let stated = |outcome| self.points.iter().filter(move |point| point.value.outcome == outcome);
        let counts = self.points.len() - stated(Outcome::Withheld).count();
        let mut said: Vec<String> = self.changes.iter().map(|one| self.change(one)).collect();
        if said.is_empty() {
            said.push(match counts {
                0..LEVEL_RUNS => format!(
                    "No change of level can be shown by {}: {LEVEL_RUNS} are needed.",
                    counted(counts as u64, "run")
                ),
                _ => format!("No change of level is shown by {}.", counted(counts as u64, "run")),
            });
        }
        for (outcome, what) in [
            (Outcome::Withheld, "is shown and left out of this, because the audit doubts its figure"),
            (Outcome::Marked, "is marked by the audit"),
        ] {
            let mut of = stated(outcome);
            if let Some(first) = of.next() {
                let more = match of.count() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let what = if more.is_empty() { what.to_owned() } else { what.replacen("is", "are", 1) };
                let what =
                    if more.is_empty() { what } else { what.replacen("its figure", "their figures", 1) };
                said.push(format!("{}{more} {what} ({}).", first.name, reasons(&first.value)));
            }
        }
        said
    }

    /// A change in words.
    fn change(&self, one: &LevelChange) -> String {
        let point = &self.points[one.at];
        format!(
            "The level changed with run {} ({}): {} before, {} after, {} ({}), p = {}.",
            point.name,
            minute(point.started_unix_ns),
            self.shown(one.before),
            self.shown(one.after),
            signed(one.change),
            between(one.interval),
            number(one.p_value)
        )
    }

    pub(super) fn json(&self) -> Value {
        let reason =
            |one: &analysis::gate::Reason| json!({ "because": one.because.name(), "evidence": one.evidence });
        let run = |point: &Point| {
            let value = &point.value;
            json!({
                "name": point.name,
                "id": point.run_id,
                "started_unix_ns": point.started_unix_ns,
                "tags": point.tags,
                "value": value.value,
                "n": value.n,
                "low": value.ends.map(|(low, _)| low),
                "high": value.ends.map(|(_, high)| high),
                "interval": value.is_interval,
                "standing": value.outcome.name(),
                "reasons": value.reasons.iter().map(reason).collect::<Vec<_>>(),
            })
        };
        let change = |one: &LevelChange| {
            json!({
                "at": one.at,
                "name": self.points[one.at].name,
                "id": self.points[one.at].run_id,
                "before": one.before,
                "after": one.after,
                "change": one.change,
                "change_low": one.interval.0,
                "change_high": one.interval.1,
                "p_value": one.p_value,
            })
        };
        let first = &self.points[0].value;
        json!({
            "plan": self.common.plan,
            "title": self.common.title,
            "hosts": self.common.hosts,
            "provenance": self.common.provenance,
            "case": first.case,
            "conditions": first.conditions,
            "unit": first.unit,
            "runs": self.points.iter().map(run).collect::<Vec<_>>(),
            "changes": self.changes.iter().map(change).collect::<Vec<_>>(),
        })
    }
}

/// Fewer values show no change of level.
const LEVEL_RUNS: usize = analysis::statistics::LEVEL_VALUES_MIN;

fn dot(point: &Point) -> &'static str {
    match point.value.outcome {
        Outcome::Withheld => "○",
        Outcome::Stated | Outcome::Marked => "●",
    }
}
