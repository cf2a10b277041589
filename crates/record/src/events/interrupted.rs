//! Launches that ended in discarded passes, because the run ended during the pass or the case was started
//! again. They are only in the journal, not in a table.

use std::collections::HashSet;

use plan::Phase;

use crate::events::journal::{JournalReader, LinePosition};
use crate::{LaunchRow, PhaseKey, StepRow};

/// Launches of jobs in a discarded pass, which is not used for any figure.
#[derive(Debug, Clone, PartialEq)]
pub struct InterruptedPass {
    /// The pass.
    pub key: PhaseKey,
    /// The attempt at its case that it belongs to, starting at 1.
    pub attempt: u32,
    /// The launches that had ended, in the order of their ends if the pass did not end.
    pub launches: Vec<LaunchRow>,
    /// Their steps.
    pub steps: Vec<StepRow>,
}

/// A journal line that contains launches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchLine {
    pub(crate) repetition: u32,
    pub(crate) phase: Phase,
    /// Whether it is the line of the finished phase, which contains all its launches.
    pub(crate) whole: bool,
    pub(crate) place: LinePosition,
}

/// An attempt at a case of jobs, with the locations of its launches in the journal.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) case: String,
    /// Number of the attempt, starting at 1.
    pub(crate) number: u32,
    pub(crate) lines: Vec<LaunchLine>,
}

impl Attempt {
    /// Its passes, except those for which `counts` is true. Unreadable lines are reported to `lost`.
    pub(crate) fn passes(
        &self,
        counts: impl Fn(&PhaseKey) -> bool,
        journal: &mut JournalReader,
        mut lost: impl FnMut(LinePosition, String),
    ) -> Vec<InterruptedPass> {
        let mut passes: Vec<InterruptedPass> = Vec::new();
        for line in &self.lines {
            let case = self.case.as_str().into();
            let key = PhaseKey { case, repetition: line.repetition, phase: line.phase };
            if counts(&key) || passes.iter().any(|known| known.key == key) {
                continue;
            }
            let mut pass =
                InterruptedPass { key, attempt: self.number, launches: Vec::new(), steps: Vec::new() };
            pass.fill(&self.lines, journal, &mut lost);
            passes.push(pass);
        }
        passes.retain(|pass| !pass.launches.is_empty());
        passes
    }
}

impl InterruptedPass {
    /// Reads the line of the finished phase, or the lines of its launches if there is none.
    fn fill(
        &mut self,
        lines: &[LaunchLine],
        journal: &mut JournalReader,
        lost: &mut impl FnMut(LinePosition, String),
    ) {
        let is_of =
            |line: &&LaunchLine| (line.repetition, line.phase) == (self.key.repetition, self.key.phase);
        let (whole, single): (Vec<&LaunchLine>, Vec<&LaunchLine>) =
            lines.iter().filter(is_of).partition(|one| one.whole);
        for line in &whole {
            match journal.launches(line.place) {
                Ok((launches, steps)) => {
                    (self.launches, self.steps) = (launches, steps);
                    return;
                }
                Err(what) if single.is_empty() => lost(line.place, what),
                // Each of its launches also has a line of its own.
                Err(_) => {}
            }
        }
        let mut known: HashSet<u32> = HashSet::new();
        for line in &single {
            match journal.launches(line.place) {
                Ok((mut launches, mut steps)) => {
                    launches.retain(|row| !known.contains(&row.launch));
                    steps.retain(|row| !known.contains(&row.launch));
                    known.extend(launches.iter().map(|row| row.launch));
                    self.launches.append(&mut launches);
                    self.steps.append(&mut steps);
                }
                Err(what) => lost(line.place, what),
            }
        }
    }
}
