//! One figure of many runs over time, with the runs with which its level changed.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use analysis::gate::Outcome;
use analysis::over_time::{NoValue, RunValue, changes, value_of};
use analysis::statistics::LevelChange;
use plan::{FigureName, Phase};
use record::{Provenance, Run, TaggedRun};
use serde_json::{Value, json};

use super::list::hosts;
use super::minute;
use crate::Screen;
use crate::format::table::{Table, Tone, wrapped};
use crate::format::{bare_rate, column_unit, counted, escape, latency, names, number, rate_in, whole};
use crate::render::csv::line;
use crate::render::html;
use crate::section::Block;
use crate::section::signed;

/// The version of the JSON form.
const SCHEMA: &str = "ioproof-runs-figure/1";
/// The width of the drawing in a table, in characters.
const DRAWN: usize = 24;

/// A run of a series.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) name: String,
    run_id: String,
    pub(crate) started_unix_ns: i64,
    tags: Vec<String>,
    pub(crate) value: RunValue,
}

/// What the runs of a series have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Common {
    plan: String,
    title: String,
    hosts: Vec<String>,
    provenance: Provenance,
    mark: Option<String>,
}

/// The runs of one plan on one host, oldest first.
#[derive(Debug)]
pub(crate) struct Series {
    common: Common,
    pub(crate) points: Vec<Point>,
    pub(crate) changes: Vec<LevelChange>,
}

/// One figure of the selected runs, for each plan and host.
#[derive(Debug)]
pub struct OverTime {
    pub(crate) name: FigureName,
    pub(crate) series: Vec<Series>,
    /// Runs without the figure, and why.
    without: Vec<(String, String)>,
}

impl OverTime {
    /// The figure `name` of `runs`, which are read by `open`, several at a time.
    ///
    /// # Errors
    /// Errors if the name stands for several figures of a run.
    pub fn of(
        runs: &[TaggedRun<'_>],
        name: &FigureName,
        open: impl Fn(&Path) -> Result<Run, String> + Sync,
    ) -> Result<Self, String> {
        let read = |one: &TaggedRun<'_>| -> Result<(Common, Point), NoValue> {
            if let Some(reason) = one.entry.state.reason().filter(|_| one.entry.start.is_none()) {
                return Err(NoValue::Missing(reason.to_owned()));
            }
            let run = open(&one.entry.path).map_err(NoValue::Missing)?;
            let manifest = &run.manifest;
            let common = Common {
                plan: record::plan_key(manifest),
                title: manifest.plan.title.clone(),
                hosts: manifest.hosts(),
                provenance: manifest.provenance,
                mark: names::mark(manifest),
            };
            let point = Point {
                name: one.entry.name.clone(),
                run_id: manifest.run_id.clone(),
                started_unix_ns: manifest.started_unix_ns,
                tags: one.tags.clone(),
                value: value_of(&run, name)?,
            };
            Ok((common, point))
        };
        // A copy of a record is no other run.
        let mut known = HashSet::new();
        let is_new = |one: &&TaggedRun<'_>| {
            one.entry.start.as_ref().is_none_or(|start| known.insert(start.run_id.clone()))
        };
        let runs: Vec<&TaggedRun<'_>> = runs.iter().filter(is_new).collect();
        let mut all = Self { name: name.clone(), series: Vec::new(), without: Vec::new() };
        for (one, found) in runs.iter().zip(record::in_parallel(&runs, |one| read(one))) {
            match found {
                Ok((common, point)) => match all.series.iter_mut().find(|series| series.common == common) {
                    Some(series) => series.points.push(point),
                    None => all.series.push(Series { common, points: vec![point], changes: Vec::new() }),
                },
                Err(NoValue::Missing(why)) => all.without.push((one.entry.name.clone(), why)),
                Err(NoValue::Ambiguous(why)) => return Err(why),
            }
        }
        for series in &mut all.series {
            series.points.sort_by_key(|point| point.started_unix_ns);
            let values: Vec<Option<&RunValue>> =
                series.points.iter().map(|point| Some(&point.value)).collect();
            series.changes = changes(&values);
        }
        Ok(all)
    }

    /// For a terminal: a table for each plan and host, and what can be said of it.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let mut out = String::new();
        for (number, series) in self.series.iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            let _ = writeln!(out, "{}", screen.strong(&series.heading(&self.name)));
            out.push_str(&wrapped("", &series.facts(), screen.prose()));
            out.push('\n');
            out.push_str(&series.table(&self.name, true).to_text("", screen));
            out.push('\n');
            series.says().iter().for_each(|said| out.push_str(&wrapped("", said, screen.prose())));
        }
        for note in self.notes() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&wrapped("", &note, screen.prose()));
        }
        out
    }

    /// What concerns all series.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.series.len() > 1 {
            notes.push(format!(
                "The runs are of {} plans and hosts, which are not compared: --study and --host select one.",
                self.series.len()
            ));
        }
        if let Some((name, why)) = self.without.first() {
            let (runs, has) = match self.without.len() {
                1 => ("1 run".to_owned(), "has"),
                several => (format!("{several} runs"), "have"),
            };
            notes.push(format!("{runs} {has} no {}: {name} ({why}).", self.name));
        }
        if self.series.is_empty() && self.without.is_empty() {
            notes.push("No run is selected.".to_owned());
        }
        notes
    }

    /// Whether no run has the figure.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// As JSON in the schema `ioproof-runs-figure/1`.
    #[must_use]
    pub fn json(&self) -> String {
        let without = |(name, why): &(String, String)| json!({ "name": name, "reason": why });
        escape::json_text(&json!({
            "schema": SCHEMA,
            "figure": self.name.to_string(),
            "series": self.series.iter().map(Series::json).collect::<Vec<_>>(),
            "without": self.without.iter().map(without).collect::<Vec<_>>(),
        }))
    }

    /// One row for each run (RFC 4180).
    #[must_use]
    pub fn csv(&self) -> String {
        let columns = [
            "figure",
            "plan",
            "title",
            "hosts",
            "provenance",
            "case",
            "name",
            "id",
            "started_unix_ns",
            "value",
            "unit",
            "n",
            "low",
            "high",
            "interval",
            "standing",
            "reasons",
            "tags",
            "change",
            "change_low",
            "change_high",
            "p_value",
        ];
        let mut out = line(&columns.map(str::to_owned));
        for series in &self.series {
            for (place, point) in series.points.iter().enumerate() {
                let change = series.changes.iter().find(|change| change.at == place);
                let value = &point.value;
                let number =
                    |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
                let cells = [
                    self.name.to_string(),
                    series.common.plan.clone(),
                    series.common.title.clone(),
                    series.common.hosts.join(" "),
                    names::provenance(series.common.provenance).to_owned(),
                    value.case.clone(),
                    point.name.clone(),
                    point.run_id.clone(),
                    point.started_unix_ns.to_string(),
                    value.value.to_string(),
                    value.unit.to_owned(),
                    value.n.to_string(),
                    number(value.ends.map(|(low, _)| low)),
                    number(value.ends.map(|(_, high)| high)),
                    value.is_interval.to_string(),
                    value.outcome.name().to_owned(),
                    reasons(value),
                    point.tags.join(" "),
                    number(change.map(|one| one.change)),
                    number(change.map(|one| one.interval.0)),
                    number(change.map(|one| one.interval.1)),
                    number(change.map(|one| one.p_value)),
                ];
                out.push_str(&line(&cells));
            }
        }
        out
    }

    /// One self-contained page with a chart for each plan and host.
    ///
    /// # Errors
    /// Writing to `out` failed.
    pub fn html(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut blocks = Vec::new();
        for (number, series) in self.series.iter().enumerate() {
            blocks.push(Block::Heading { place: place(number), text: series.heading(&self.name) });
            blocks.push(Block::Text(series.facts()));
            blocks.extend(series.says().into_iter().map(Block::Text));
            let table = series.table(&self.name, false);
            blocks.push(Block::Table { caption: "All runs, oldest first".to_owned(), table });
        }
        blocks.extend(self.notes().into_iter().map(Block::Text));
        let charts =
            self.series.iter().enumerate().map(|(number, series)| html::over_time(&place(number), series));
        html::charted(&format!("{} over time", self.name), &blocks, charts.collect(), out)
    }
}

/// Where the chart of a series stands on the page.
fn place(number: usize) -> String {
    format!("series-{number}")
}

fn reasons(value: &RunValue) -> String {
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
    fn rate_unit(&self) -> Option<&'static str> {
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
    fn bare(&self, value: f64) -> String {
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

    fn facts(&self) -> String {
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
    fn range(&self) -> (f64, f64) {
        let values = || self.points.iter().map(|point| point.value.value);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    }

    fn table(&self, name: &FigureName, drawn: bool) -> Table {
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
    fn says(&self) -> Vec<String> {
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

    fn json(&self) -> Value {
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
