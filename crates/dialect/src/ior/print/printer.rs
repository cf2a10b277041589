//! Prints a run in IOR's format: a header, a part for each phase, an end.

use plan::{Phase, Placement, Plan};
use record::{Manifest, PhaseRow, TaskRow};

use super::facts::RunFacts;
use super::figures::Figures;
use super::summary::Line;
use super::{csv, json, text};
use crate::Compat;
use crate::ior::options::OPTIONS;
use crate::ior::output::{Format, Memo};
use crate::ior::settings::Settings;
use crate::printed::ctime;
use crate::tool::memo_of;

/// Converts rows of a record to IOR's output part by part, so that a program can print while the run is
/// in progress. All parts in order are the complete output.
///
/// The format (text, JSON or CSV), the verbosity and the release come from the command line stored with
/// the plan.
#[derive(Debug, Clone)]
pub struct Printer {
    plan: Plan,
    memo: Memo,
    facts: RunFacts,
    /// The test that was begun last.
    current: Option<usize>,
    /// Whether the current test has a result.
    any_result: bool,
    /// The last repetition in the current test.
    repetition: u32,
    rows: Vec<Vec<Figures>>,
}

impl Printer {
    /// Creates a printer for `plan`. Returns `None` if the plan does not come from IOR's command line.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Self> {
        let (memo, _): (Memo, _) = memo_of(plan, OPTIONS.tool)?;
        let rows = vec![Vec::new(); memo.tests.len()];
        Some(Self {
            plan: plan.clone(),
            memo,
            facts: RunFacts::default(),
            current: None,
            any_result: false,
            repetition: 0,
            rows,
        })
    }

    /// The complete output for a record, with its phases in the order in which they ran.
    #[must_use]
    pub fn render(manifest: &Manifest, phases: &[PhaseRow], tasks: &[TaskRow]) -> Option<String> {
        let mut printer = Self::new(&manifest.plan)?;
        let mut out = printer.header(manifest);
        for phase in phases {
            let tasks: Vec<TaskRow> = tasks.iter().filter(|task| task.key == phase.key).cloned().collect();
            out.push_str(&printer.phase(phase, &tasks, None));
        }
        out.push_str(&printer.finish(manifest.finished_unix_ns));
        Some(out)
    }

    fn settings(&self, test: usize) -> &Settings {
        &self.memo.tests[test]
    }

    /// The text before the first row.
    pub fn header(&mut self, manifest: &Manifest) -> String {
        self.facts = RunFacts::of(manifest, self.memo.compat);
        let long = self.memo.tests.first().is_some_and(|test| test.verbose > 1);
        let mut out = match self.memo.format {
            Format::Text => text::begin(&self.facts, self.memo.compat, long),
            Format::Json => json::begin(&self.facts, long),
            Format::Csv => String::new(),
        };
        if !self.memo.tests.is_empty() {
            out.push_str(&self.begin_test(0, manifest.started_unix_ns));
        }
        out
    }

    fn begin_test(&mut self, test: usize, started_unix_ns: i64) -> String {
        let mut out = self.end_test();
        self.current = Some(test);
        self.any_result = false;
        self.repetition = 0;
        let (facts, compat, settings) = (&self.facts, self.memo.compat, self.settings(test));
        out.push_str(&match self.memo.format {
            Format::Text => text::begin_test(facts, compat, test, settings, started_unix_ns),
            Format::Json => json::begin_test(facts, compat, test, settings, started_unix_ns),
            Format::Csv => csv::HEADER.to_owned(),
        });
        out
    }

    fn end_test(&mut self) -> String {
        let Some(test) = self.current.take() else { return String::new() };
        let (rows, settings) = (&self.rows[test], self.settings(test));
        match self.memo.format {
            Format::Text => text::end_test(rows, settings, self.memo.compat),
            Format::Json => json::end_test(rows, settings, self.memo.compat),
            Format::Csv => String::new(),
        }
    }

    /// The size of the files of the phase, as they are now. Returns `None` if one cannot be examined, for
    /// example because it is on another node.
    #[must_use]
    pub fn file_bytes(&self, row: &PhaseRow) -> Option<u64> {
        let case = self.plan.cases.iter().find(|case| case.id == row.key.case)?;
        if !case.workload.backend.moves_data() {
            return Some(0);
        }
        let files = Placement::new(&case.workload).files(row.key.repetition);
        files.iter().map(|file| std::fs::metadata(&file.path).ok().map(|found| found.len())).sum()
    }

    /// What is printed when a phase has ended, with the rows of its tasks and the size of its files, which a
    /// record does not have.
    pub fn phase(&mut self, row: &PhaseRow, tasks: &[TaskRow], file_bytes: Option<u64>) -> String {
        let Some(test) = self.plan.cases.iter().position(|case| case.id == row.key.case) else {
            return String::new();
        };
        if test >= self.memo.tests.len() {
            return String::new();
        }
        let mut out = String::new();
        if self.current != Some(test) {
            out.push_str(&self.begin_test(test, row.started_unix_ns));
        }
        let format = self.memo.format;
        if format == Format::Text {
            out.push_str(&self.before_row(test, row));
        }
        if let Some(figures) = Figures::of(row, tasks, self.settings(test)) {
            out.push_str(&match format {
                Format::Text => {
                    let warning = text::volume_warning(figures.bytes, file_bytes, self.settings(test));
                    format!("{warning}{}", text::row(&figures, self.memo.compat))
                }
                Format::Json => json::row(&figures, !self.any_result),
                Format::Csv => csv::row(&figures, self.settings(test).tasks),
            });
            self.any_result = true;
            self.rows[test].push(figures);
        }
        out
    }

    /// The lines of IOR's text that are printed before a row, or instead of it.
    fn before_row(&mut self, test: usize, row: &PhaseRow) -> String {
        let new_repetition = row.key.repetition != self.repetition;
        self.repetition = row.key.repetition;
        let settings = self.settings(test);
        let mut out = String::new();
        if new_repetition {
            out.push_str(&text::signature(settings));
        }
        if row.key.phase.is_result() && settings.delay > 0 && settings.verbose > 0 {
            out.push_str(&format!("delaying {} seconds . . .\n", settings.delay));
        }
        let access = match row.key.phase {
            Phase::CheckWrite => "write",
            Phase::Read | Phase::CheckRead => "read",
            _ => "",
        };
        if row.key.phase == Phase::CheckWrite && settings.verbose > 0 {
            out.push_str(&format!(
                "Verifying contents of the file(s) just written.\n{}\n\n",
                ctime(row.started_unix_ns)
            ));
        }
        if row.wrong_cells > 0 {
            out.push_str(&text::data_warning(access, row.wrong_cells, settings));
        }
        out
    }

    /// What is printed when the files of a repetition of the current case have been removed: a row, at
    /// verbosity 1 and in releases before 4.0.
    pub fn removed(&mut self, repetition: u32, seconds: f64) -> String {
        let shown = self
            .current
            .is_some_and(|test| self.settings(test).verbose > 0 || self.memo.compat < Compat::V4_0);
        if !shown {
            return String::new();
        }
        match self.memo.format {
            Format::Text => text::removed(seconds, repetition, self.memo.compat),
            Format::Json => {
                let first = !std::mem::replace(&mut self.any_result, true);
                json::removed(seconds, first)
            }
            Format::Csv => String::new(),
        }
    }

    /// The summary and the end. A run that was killed has no end time, so its start is printed instead.
    pub fn finish(&mut self, finished_unix_ns: Option<i64>) -> String {
        let mut out = self.end_test();
        let finished = finished_unix_ns.unwrap_or(self.facts.started_unix_ns);
        let tests = self.rows.iter().zip(&self.memo.tests).enumerate();
        let lines: Vec<Line<'_>> =
            tests.flat_map(|(test, (rows, settings))| Line::all(rows, test, settings)).collect();
        match self.memo.format {
            Format::Text => {
                out.push_str(&text::finish(&lines, finished, self.memo.compat));
            }
            Format::Json => out.push_str(&json::finish(&lines, finished)),
            Format::Csv => {}
        }
        out
    }
}
