//! Prints a run as md-workbench would: its arguments, a line for each phase, the time that it took.

use plan::{Case, Phase};
use record::{Manifest, PhaseRecord, Run};

use super::lines::Line;
use super::settings::Memo;
use crate::ToolPrinter;
use crate::printed::local;

const MOMENT: &str = "%Y-%m-%d %H:%M:%S";
const MIB: f64 = 1_048_576.0;

/// Prints phases as they end. Of the sets that each round has anew the first ones made and the last ones
/// removed are printed, as md-workbench makes and removes them once.
pub(super) struct Printer {
    memo: Memo,
    arguments: Vec<String>,
    cases: Vec<Case>,
    started_unix_ns: i64,
}

impl Printer {
    pub(super) fn new(memo: Memo, arguments: Vec<String>, cases: Vec<Case>) -> Self {
        Self { memo, arguments, cases, started_unix_ns: 0 }
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
        let Some(index) = self.cases.iter().position(|case| case.id == key.case) else {
            return String::new();
        };
        let first = index == 0 && key.repetition == 0;
        let last = index + 1 == self.cases.len() && key.repetition + 1 >= self.cases[index].repetitions;
        let shown = match key.phase {
            Phase::Precreate => first,
            Phase::Cleanup => last,
            _ => true,
        };
        if !shown {
            return String::new();
        }
        let settings = &self.memo.settings;
        let rest = settings.rests().get(index).copied().unwrap_or(0);
        Line::of(record, settings, self.memo.tasks, rest).text(settings)
    }

    fn finish(&mut self, run: &Run) -> String {
        if self.memo.settings.quiet {
            return String::new();
        }
        // A run that was killed has no end time: its start is printed instead.
        let finished = run.manifest.finished_unix_ns.unwrap_or(self.started_unix_ns);
        let seconds = finished.saturating_sub(self.started_unix_ns) / 1_000_000_000;
        format!("Total runtime: {seconds}s time: {}\n", local(finished, MOMENT))
    }
}
