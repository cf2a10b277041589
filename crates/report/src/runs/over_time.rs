//! One figure of many runs over time, with the runs with which its level changed.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use analysis::over_time::{NoValue, RunValue, changes, value_of};
use plan::FigureName;
use record::{Run, TaggedRun};
use serde_json::json;

use super::series::{Common, Point, Series, reasons};
use crate::Screen;
use crate::format::table::wrapped;
use crate::format::{escape, names};
use crate::render::csv::line;
use crate::render::html;
use crate::section::Block;

/// The version of the JSON form.
const SCHEMA: &str = "ioproof-runs-figure/1";
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
