//! Prints a run in md-workbench's format: its arguments, a line for each phase, the total time.

use std::path::PathBuf;

use plan::{Case, Phase};
use record::{Manifest, PhaseRecord, Run};

use super::latencies;
use super::lines::Line;
use super::settings::{Memo, Settings};
use crate::ToolPrinter;
use crate::printed::local;

const MOMENT: &str = "%Y-%m-%d %H:%M:%S";
/// Number of operations of a step that moves objects.
const OPERATIONS_OF_STEP: u64 = 4;
const MIB: f64 = 1_048_576.0;

/// Prints phases as they end.
pub(super) struct Printer {
    memo: Memo,
    arguments: Vec<String>,
    cases: Vec<Case>,
    started_unix_ns: i64,
    /// The files of latencies so far.
    latencies: Vec<(PathBuf, String)>,
    /// Number of steps that the first task has done in each set.
    steps: u64,
}

impl Printer {
    pub(super) fn new(memo: Memo, arguments: Vec<String>, cases: Vec<Case>) -> Self {
        Self { memo, arguments, cases, started_unix_ns: 0, latencies: Vec::new(), steps: 0 }
    }
}

impl ToolPrinter for Printer {
    fn header(&mut self, manifest: &Manifest) -> String {
        self.started_unix_ns = manifest.started_unix_ns;
        let Memo { settings, tasks, map } = &self.memo;
        let words = self.arguments.iter().enumerate();
        let words: Vec<String> =
            words.map(|(index, word)| if index == 0 { word.clone() } else { format!("{word:?}") }).collect();
        let mut out = format!("Args: {}\nNodemap: {map}\n", words.join(" "));
        if !settings.quiet {
            let sets = u64::from(settings.sets).saturating_mul(u64::from(*tasks));
            let held = sets.saturating_mul(settings.precreated);
            let stepped = sets.saturating_mul(settings.steps).saturating_mul(u64::from(settings.rounds));
            out.push_str(&format!(
                "MD-Workbench total objects: {} workingset size: {:.3} MiB (version: 4.1.0+ioproof-{}) time: {}\n",
                held.saturating_add(stepped),
                held as f64 * settings.object_bytes as f64 / MIB,
                manifest.program_version,
                local(manifest.started_unix_ns, MOMENT),
            ));
        }
        if settings.steps > settings.precreated {
            out.push_str(
                "WARNING: num > precreate, this may cause the situation that no objects are available to read\n",
            );
        }
        if settings.detailed && !settings.quiet {
            out.push_str(
                "phase\t\td name\tcreate\tdelete\tob nam\tcreate\tread\tstat\tdelete\tt_inc_b\tt_no_bar\tthp\tmax_t\n",
            );
        }
        out
    }

    fn phase(&mut self, record: &PhaseRecord) -> String {
        let key = &record.phase.key;
        let Some(case) = self.cases.iter().find(|case| case.id == key.case) else {
            return String::new();
        };
        let settings = &self.memo.settings;
        let rest = case.workload.work.objects().map_or(0, |objects| objects.waiting_ppm);
        self.latencies.extend(latencies::files(settings, rest, record));
        if key.phase == Phase::Benchmark && !settings.read_only {
            self.steps = self.steps.saturating_add(steps_done(settings, record));
        }
        Line::of(record, settings, self.memo.tasks, rest).text(settings)
    }

    fn finish(&mut self, run: &Run) -> String {
        if self.memo.settings.quiet {
            return String::new();
        }
        // A run that was killed has no end time, so its start is printed instead.
        let finished = run.manifest.finished_unix_ns.unwrap_or(self.started_unix_ns);
        let seconds = finished.saturating_sub(self.started_unix_ns) / 1_000_000_000;
        format!("Total runtime: {seconds}s time: {}\n", local(finished, MOMENT))
    }

    fn counts_errors(&self) -> bool {
        true
    }

    fn side_files(&self, _run: &Run) -> Vec<(PathBuf, String)> {
        let settings = &self.memo.settings;
        let mut files = self.latencies.clone();
        // If objects are removed, there is no position from which to continue.
        if !settings.cleanup {
            let position = settings.first.saturating_add(self.steps);
            files.push((settings.status_file.clone(), format!("pos: {position}\n")));
        }
        files
    }
}

/// Number of steps that the first task has done in each set in a round.
fn steps_done(settings: &Settings, record: &PhaseRecord) -> u64 {
    if settings.deadline == 0 {
        return settings.steps;
    }
    let round = OPERATIONS_OF_STEP * u64::from(settings.sets).max(1);
    let first = record.tasks.iter().find(|row| row.task == 0);
    first.map_or(0, |row| row.transfers.div_ceil(round))
}
