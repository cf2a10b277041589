//! Prints a run in mdtest's format: a header, lines for each iteration if more output is requested,
//! tables.

use std::path::PathBuf;

use plan::{Case, Phase};
use record::{Manifest, PhaseRecord, Run};

use super::rows::Row;
use super::settings::Memo;
use super::{ranks, text};
use crate::ToolPrinter;
use crate::ior_family::space::{Space, file_system};

/// Collects the figures of phases, and prints them in mdtest's format.
pub(super) struct Printer {
    memo: Memo,
    arguments: Vec<String>,
    cases: Vec<Case>,
    /// The case to which the current phases belong.
    current: usize,
    /// The iteration that was begun last.
    begun: Option<u32>,
    /// The rows of each case.
    rows: Vec<Vec<Row>>,
    started_unix_ns: i64,
}

impl Printer {
    pub(super) fn new(memo: Memo, arguments: Vec<String>, cases: Vec<Case>) -> Self {
        let rows = vec![Vec::new(); cases.len()];
        Self { memo, arguments, cases, current: 0, begun: None, rows, started_unix_ns: 0 }
    }

    fn tasks(&self, case: usize) -> u32 {
        self.memo.counts.get(case).copied().unwrap_or(self.memo.tasks)
    }

    /// Ends the tables of the cases before `case`, and begins those of `case`.
    fn go_to(&mut self, case: usize) -> String {
        let mut out = String::new();
        while self.current < case {
            out.push_str(&text::tables(&self.memo, &self.rows[self.current]));
            self.current += 1;
            self.begun = None;
            out.push_str(&text::tasks(&self.memo, self.tasks(self.current)));
        }
        out
    }

    /// The lines printed about a phase outside the tables.
    fn more_lines(&mut self, row: &Row) -> String {
        let mut out = String::new();
        let release = self.memo.release;
        // Not printed if all files were created before the deadline.
        let is_short = row.ranks.iter().any(|(items, _)| *items < self.memo.items);
        if row.phase == Phase::FileCreate && self.memo.settings.stonewall > 0 && is_short {
            out.push_str(&text::stonewall(row));
        }
        if self.memo.settings.verbose == 0 {
            return out;
        }
        if self.begun != Some(row.repetition) {
            self.begun = Some(row.repetition);
            out.insert_str(0, &text::iteration(row.repetition, release));
        }
        let kind = |phase: Phase| match phase {
            Phase::TreeCreate | Phase::TreeRemove => (0, phase as usize),
            Phase::DirectoryCreate
            | Phase::DirectoryStat
            | Phase::DirectoryList
            | Phase::DirectoryRename
            | Phase::DirectoryRemove => (1, 0),
            _ => (2, 0),
        };
        let last_of_kind =
            self.cases[self.current].phases.iter().rfind(|phase| kind(**phase) == kind(row.phase));
        if last_of_kind == Some(&row.phase) {
            let rows = &self.rows[self.current];
            let of_iteration: Vec<&Row> =
                rows.iter().filter(|other| other.repetition == row.repetition).collect();
            out.push_str(&text::verbose(&of_iteration, row.phase, release));
        }
        out
    }
}

impl ToolPrinter for Printer {
    fn header(&mut self, manifest: &Manifest) -> String {
        self.started_unix_ns = manifest.started_unix_ns;
        let directory = self.memo.settings.directories.first().cloned().unwrap_or_default();
        let space = file_system(&directory, &manifest.host.file_systems).map(Space::of);
        let mut out = text::begin(
            &self.memo,
            &self.arguments,
            &manifest.program_version,
            manifest.started_unix_ns,
            space.as_ref(),
        );
        out.push_str(&text::tasks(&self.memo, self.tasks(0)));
        out
    }

    fn phase(&mut self, record: &PhaseRecord) -> String {
        let Some(case) = self.cases.iter().position(|case| case.id == record.phase.key.case) else {
            return String::new();
        };
        let mut out = self.go_to(case);
        let row = Row::of(record);
        if case == self.current {
            self.rows[case].push(row.clone());
            out.push_str(&self.more_lines(&row));
        }
        out
    }

    fn finish(&mut self, run: &Run) -> String {
        let mut out = self.go_to(self.cases.len().saturating_sub(1));
        if let Some(rows) = self.rows.get(self.current) {
            out.push_str(&text::tables(&self.memo, rows));
        }
        // A run that was killed has no end time, so its start is printed instead.
        let finished = run.manifest.finished_unix_ns.unwrap_or(self.started_unix_ns);
        out.push_str(&text::finish(finished, self.memo.release));
        out
    }

    fn side_files(&self, _run: &Run) -> Vec<(PathBuf, String)> {
        let settings = &self.memo.settings;
        let mut files = Vec::new();
        let created = self.rows.iter().flatten().rfind(|row| row.phase == Phase::FileCreate);
        if let (Some(path), Some(row), true) = (&settings.status_file, created, settings.stonewall > 0) {
            let most = row.ranks.iter().map(|(items, _)| *items).max().unwrap_or(0);
            files.push((path.clone(), most.to_string()));
        }
        if let Some(path) = &settings.rank_details {
            let rows: Vec<Row> = self.rows.iter().flatten().cloned().collect();
            files.push((path.clone(), ranks::csv(&rows, self.memo.items)));
        }
        files
    }
}
