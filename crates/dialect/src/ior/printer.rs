//! Prints a run as IOR would: a header, a piece for each phase, an end.

use std::path::{Path, PathBuf};

use plan::{Phase, Placement, Plan};
use record::{Manifest, PhaseRow, TaskRow};

use super::figures::Figures;
use super::parameters::Place;
use super::settings::Settings;
use super::summary::Line;
use super::{Format, Memo, TOOL, csv, json, text};
use crate::Compat;
use crate::printed::ctime;
use crate::space::{Space, file_system};
use crate::tool::memo_of;

/// Turns rows of a record into IOR's output, piece by piece, so that a program can print while
/// the run goes on. The pieces in order are the whole output.
///
/// `text`, JSON and CSV, verbosity and the release come from the command line that is kept with
/// the plan.
#[derive(Debug, Clone)]
pub struct Printer {
    plan: Plan,
    memo: Memo,
    stage: Stage,
    /// The test that was begun last.
    current: Option<usize>,
    /// Whether the current test has had a result.
    any_result: bool,
    /// The repetition that was seen last in the current test.
    repetition: u32,
    rows: Vec<Vec<Figures>>,
}

/// What is known of the run as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Stage {
    pub version: String,
    pub command_line: String,
    pub started_unix_ns: i64,
    node: String,
    kernel: Option<String>,
    tests: Vec<TestStage>,
}

/// What is known of the place of one test.
#[derive(Debug, Clone, Default)]
struct TestStage {
    /// The first task's file.
    path: PathBuf,
    held_bytes: u64,
    space: Option<Space>,
}

/// The release of IOR whose tables are printed, and that of this program, as in `4.1.0+ioproof-0.1.0`.
#[must_use]
pub fn version(compat: Compat, program_version: &str) -> String {
    let release = match compat {
        Compat::V3_0 => "3.0.1",
        Compat::V3_3 => "3.3.0",
        Compat::V4_0 => "4.1.0",
    };
    format!("{release}+ioproof-{program_version}")
}

impl Stage {
    fn of(manifest: &Manifest, compat: Compat) -> Self {
        let host = &manifest.host;
        let test = |case: &plan::Case| {
            let path = first_file(case);
            let space = file_system(&path, &host.file_systems).map(Space::of);
            TestStage { path, held_bytes: case.workload.memory_hog.0, space }
        };
        Self {
            version: version(compat, &manifest.program_version),
            command_line: manifest.command_line.join(" "),
            started_unix_ns: manifest.started_unix_ns,
            node: host.node.clone(),
            kernel: host.kernel.known().cloned(),
            tests: manifest.plan.cases.iter().map(test).collect(),
        }
    }

    /// `Linux node`, or with the kernel where more is asked for.
    pub(super) fn machine(&self, long: bool) -> String {
        match &self.kernel {
            Some(kernel) if long => format!("Linux {} {kernel}", self.node),
            _ => format!("Linux {}", self.node),
        }
    }

    pub(super) fn place(&self, test: usize) -> Place<'_> {
        let held_bytes = self.tests.get(test).map_or(0, |test| test.held_bytes);
        Place { node: &self.node, held_bytes }
    }

    /// The first task's file, or its directory before 4.0.
    pub(super) fn path(&self, test: usize, compat: Compat) -> String {
        let Some(test) = self.tests.get(test) else { return String::new() };
        if compat == Compat::V4_0 {
            return test.path.display().to_string();
        }
        match test.path.parent() {
            Some(parent) if parent != Path::new("") => parent.display().to_string(),
            _ => ".".to_owned(),
        }
    }

    pub(super) fn space(&self, test: usize) -> Option<&Space> {
        self.tests.get(test)?.space.as_ref()
    }
}

/// The first task's file, without the number of the repetition, which IOR does not show.
fn first_file(case: &plan::Case) -> PathBuf {
    let path = Placement::new(&case.workload).file(0, Phase::Write, 0).path;
    match path.to_str().and_then(|path| path.strip_suffix(".0")) {
        Some(path) if case.workload.files.file_per_repetition => PathBuf::from(path),
        _ => path,
    }
}

impl Printer {
    /// A printer for `plan`; none if the plan did not come from IOR's command line.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Self> {
        let (memo, _): (Memo, _) = memo_of(plan, TOOL)?;
        let rows = vec![Vec::new(); memo.tests.len()];
        Some(Self {
            plan: plan.clone(),
            memo,
            stage: Stage::default(),
            current: None,
            any_result: false,
            repetition: 0,
            rows,
        })
    }

    /// The whole output of a record: its phases in the order in which they ran.
    #[must_use]
    pub fn render(manifest: &Manifest, phases: &[PhaseRow], tasks: &[TaskRow]) -> Option<String> {
        let mut printer = Self::new(&manifest.plan)?;
        let mut out = printer.header(manifest);
        for phase in phases {
            let tasks: Vec<TaskRow> = tasks.iter().filter(|task| task.key == phase.key).cloned().collect();
            out.push_str(&printer.phase(phase, &tasks));
        }
        out.push_str(&printer.finish(manifest.finished_unix_ns));
        Some(out)
    }

    fn settings(&self, test: usize) -> &Settings {
        &self.memo.tests[test]
    }

    /// What stands before the first row.
    pub fn header(&mut self, manifest: &Manifest) -> String {
        self.stage = Stage::of(manifest, self.memo.compat);
        let long = self.memo.tests.first().is_some_and(|test| test.verbose > 1);
        let mut out = match self.memo.format {
            Format::Text => text::begin(&self.stage, self.memo.compat, long),
            Format::Json => json::begin(&self.stage, long),
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
        let (stage, compat, settings) = (&self.stage, self.memo.compat, self.settings(test));
        out.push_str(&match self.memo.format {
            Format::Text => text::begin_test(stage, compat, test, settings, started_unix_ns),
            Format::Json => json::begin_test(stage, compat, test, settings, started_unix_ns),
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

    /// What is printed when a phase has ended, with the rows of its tasks.
    pub fn phase(&mut self, row: &PhaseRow, tasks: &[TaskRow]) -> String {
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
                    let warning = text::volume_warning(figures.bytes, self.settings(test));
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

    /// The lines of IOR's text that stand before a row, or in place of it.
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

    /// What is printed when the files of a repetition of the case that runs have been removed:
    /// a row, at verbosity 1 and in releases before 4.0.
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

    /// The summary and the end. A run that was killed has no end time: then its last moment is
    /// unknown, and its start stands in its place.
    pub fn finish(&mut self, finished_unix_ns: Option<i64>) -> String {
        let mut out = self.end_test();
        let finished = finished_unix_ns.unwrap_or(self.stage.started_unix_ns);
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
