//! The list of the records in a directory.

use std::path::PathBuf;

use record::TaggedRun;
use serde_json::{Value, json};

use super::minute;
use crate::Screen;
use crate::format::table::{Table, wrapped};
use crate::format::{counted, decimal_bytes, escape, names};
use crate::render::csv::line;

/// The version of the JSON form.
const SCHEMA: &str = "ioproof-runs/1";

/// The records of a directory that were selected.
#[derive(Debug)]
pub struct RunsList<'a> {
    /// The directories.
    pub directories: &'a [PathBuf],
    /// The selected records, oldest first.
    pub runs: &'a [TaggedRun<'a>],
    /// The number of all records there.
    pub all: usize,
    /// The number of other files and directories.
    pub others: usize,
    /// The number of records whose removal was begun and not ended.
    pub half_removed: usize,
}

impl RunsList<'_> {
    /// For a terminal.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let of = |one: &TaggedRun<'_>, word: fn(&record::RunStart) -> String| {
            one.entry.start.as_ref().map(word).unwrap_or_default()
        };
        let table = Table::of(self.runs.iter().cloned())
            .left("run", |one| one.entry.name.clone())
            .left("started (UTC)", |one| of(one, |start| minute(start.started_unix_ns)))
            .left("study", |one| of(one, |start| start.title.clone()))
            .left("host", |one| of(one, |start| hosts(&start.hosts)))
            .left("state", |one| one.entry.state.name().to_owned())
            // What most runs are needs no word.
            .left("from", |one| {
                of(one, |start| match start.provenance {
                    record::Provenance::Measured => String::new(),
                    other => names::provenance(other).to_owned(),
                })
            })
            .left("signed", |one| if one.entry.is_signed { "yes" } else { "" })
            .left("tags", |one| one.tags.join(", "))
            .right("size", |one| decimal_bytes(one.entry.bytes))
            .left("reason", |one| one.entry.state.reason().unwrap_or_default().to_owned())
            .done()
            .below("reason")
            .without_empty_columns();
        let mut out = if table.is_empty() { String::new() } else { table.to_text("", screen) + "\n" };
        out.push_str(&wrapped("", &self.counts(), screen.prose()));
        out
    }

    /// `30 of 32 runs, 30.2 MB. 1 file or directory is no record.`
    fn counts(&self) -> String {
        let shown = self.runs.len();
        let bytes: u64 = self.runs.iter().map(|one| one.entry.bytes).sum();
        let mut text = match (self.all, shown == self.all) {
            (0, _) => format!("No record of a run is in {}", self.names().join(", ")),
            (all, true) => format!("{}, {}", counted(all as u64, "run"), decimal_bytes(bytes)),
            (all, false) => format!("{shown} of {}, {}", counted(all as u64, "run"), decimal_bytes(bytes)),
        };
        text.push('.');
        match self.others {
            0 => {}
            1 => text.push_str(" 1 other file or directory is no record."),
            others => text.push_str(&format!(" {others} other files and directories are no records.")),
        }
        if self.half_removed > 0 {
            text.push_str(&format!(
                " {} half removed: `--prune` ends that.",
                match self.half_removed {
                    1 => "1 record is".to_owned(),
                    several => format!("{several} records are"),
                }
            ));
        }
        text
    }

    fn names(&self) -> Vec<String> {
        self.directories.iter().map(|directory| directory.display().to_string()).collect()
    }

    /// As JSON in the schema `ioproof-runs/1`.
    #[must_use]
    pub fn json(&self) -> String {
        escape::json_text(&json!({
            "schema": SCHEMA,
            "directories": self.names(),
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
            "all": self.all,
            "others": self.others,
            "half_removed": self.half_removed,
        }))
    }

    /// One row for each run (RFC 4180).
    #[must_use]
    pub fn csv(&self) -> String {
        let columns = [
            "name",
            "id",
            "title",
            "hosts",
            "state",
            "reason",
            "provenance",
            "program_version",
            "started_unix_ns",
            "finished_unix_ns",
            "signed",
            "tags",
            "bytes",
            "directory",
        ];
        let mut out = line(&columns.map(str::to_owned));
        for one in self.runs.iter().map(run) {
            let cell = |column: &str| match &one[column] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
                other => other.to_string(),
            };
            out.push_str(&line(&columns.map(cell)));
        }
        out
    }
}

/// A run as JSON.
fn run(one: &TaggedRun<'_>) -> Value {
    let entry = one.entry;
    let start = entry.start.as_ref();
    json!({
        "name": entry.name,
        "directory": entry.path.display().to_string(),
        "id": start.map(|start| &start.run_id),
        "title": start.map(|start| &start.title),
        "hosts": start.map(|start| start.hosts.as_slice()).unwrap_or_default(),
        "state": entry.state.name(),
        "reason": entry.state.reason(),
        "provenance": start.map(|start| start.provenance),
        "program_version": start.map(|start| &start.program_version),
        "started_unix_ns": start.map(|start| start.started_unix_ns),
        "finished_unix_ns": start.and_then(|start| start.finished_unix_ns),
        "signed": entry.is_signed,
        "tags": one.tags,
        "bytes": entry.bytes,
    })
}

/// `a`, `a and b`, `a and 3 others`.
pub(super) fn hosts(all: &[String]) -> String {
    match all {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, others @ ..] => format!("{one} and {} others", others.len()),
        [] => String::new(),
    }
}
