//! Whether the times of all phases and delays add up to the time from start to finish, and where the time of a run
//! was spent.

use std::collections::HashMap;
use std::fmt;

use plan::{Case, Nanos};
use record::{PhaseKey, Provenance, Run};

use crate::printed::{PrintedCheck, without_zeros};

/// The parts of a run's time, and the run's time.
///
/// ```
/// use analysis::printed::Reconciled;
/// let parts = [("files", 13.86), ("tree", 4.18), ("delay", 8.0)];
/// let time = Reconciled::new(parts.to_vec(), 26.0, 1.0);
/// assert_eq!(time.to_string(), "13.86 + 4.18 + 8 = 26.04 s of 26 s");
/// assert!(time.agrees());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reconciled {
    /// The phases and delays in order, each with its seconds.
    pub parts: Vec<(&'static str, f64)>,
    /// Time from start to finish, in seconds.
    pub wall_seconds: f64,
    resolution_seconds: f64,
}

impl Reconciled {
    /// Compares `parts` with the time `wall_seconds` of a run, which is known to `resolution_seconds`: a clock in
    /// whole seconds has an uncertainty of one second.
    #[must_use]
    pub const fn new(parts: Vec<(&'static str, f64)>, wall_seconds: f64, resolution_seconds: f64) -> Self {
        Self { parts, wall_seconds, resolution_seconds }
    }

    /// The sum of all parts.
    #[must_use]
    pub fn explained_seconds(&self) -> f64 {
        self.parts.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Wall time that no part explains; negative if the parts add up to more.
    #[must_use]
    pub fn unexplained_seconds(&self) -> f64 {
        self.wall_seconds - self.explained_seconds()
    }

    /// Whether the parts add up to the wall time, within its resolution.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.unexplained_seconds().abs() <= self.resolution_seconds
    }

    /// Converts it to a check of printed values: the parts are not longer than the whole, which may have others that are
    /// not printed.
    #[must_use]
    pub fn check(&self) -> PrintedCheck {
        let off = self.explained_seconds() / self.wall_seconds - 1.0;
        let rule = "phases + delays ≤ finish − start";
        let agrees = self.unexplained_seconds() >= -self.resolution_seconds;
        PrintedCheck::new(rule, agrees, self.to_string(), off.is_finite().then_some(off))
    }
}

/// Formats the sum, as in `13.86 + 4.18 + 8 = 26.04 s of 26 s`.
impl fmt::Display for Reconciled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.parts.iter().map(|(_, part)| seconds(*part)).collect();
        let terms = if terms.is_empty() { "nothing".to_owned() } else { terms.join(" + ") };
        write!(f, "{terms} = {} s of {} s", seconds(self.explained_seconds()), seconds(self.wall_seconds))
    }
}

/// Formats seconds to hundredths, or to two significant digits below one, because a phase may take milliseconds.
fn seconds(seconds: f64) -> String {
    let decimals = if seconds.abs() < 0.095 { 4 } else { 2 };
    without_zeros(&format!("{seconds:.decimals$}"))
}

/// The phases and rests of a run of this program, in the order in which they first occurred, compared with the time
/// from its start to its end. The unexplained rest is the time around them: checks, preparation, observation,
/// cleanup. Returns `None` for a run that has not ended, or that was merged from several runs or imported from the
/// output of other tools.
#[must_use]
pub fn run_time(run: &Run) -> Option<Reconciled> {
    let manifest = &run.manifest;
    // The phases of a simulated run took virtual time.
    let own = manifest.provenance == Provenance::Measured;
    let finished = manifest.finished_unix_ns.filter(|_| own && run.parts.len() < 2)?;
    let wall = finished.checked_sub(manifest.started_unix_ns).filter(|&nanos| nanos > 0)?;
    let cases = manifest.plan.cases.iter().map(|case| (case.id.as_str(), case));
    let cases: HashMap<&str, &Case> = cases.collect();
    let mut parts: Vec<(&'static str, f64)> = Vec::new();
    let mut rests = 0.0;
    let mut before: Option<PhaseKey> = None;
    for row in run.all_phases() {
        let (name, seconds) = (row.key.phase.name(), Nanos(row.wall_ns).as_secs_f64());
        match parts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += seconds,
            None => parts.push((name, seconds)),
        }
        let same_pass =
            before.is_some_and(|key| key.case == row.key.case && key.repetition == row.key.repetition);
        before = Some(row.key.clone());
        let Some(case) = cases.get(&*row.key.case) else { continue };
        // Trees rest before a pass; transfers rest before each result phase.
        let rested = if case.workload.work.makes_trees() { !same_pass } else { row.key.phase.is_result() };
        rests += if rested { case.delay.as_secs_f64() } else { 0.0 };
    }
    let paused = Nanos(paused_ns(run)).as_secs_f64();
    parts.extend((rests > 0.0).then_some(("delay", rests)));
    parts.extend((paused > 0.0).then_some(("between an end and a resumption", paused)));
    (!parts.is_empty()).then(|| Reconciled::new(parts, wall as f64 / 1e9, 0.0))
}

/// Nanoseconds during which the run was paused because it ended early and was resumed later.
#[must_use]
pub fn paused_ns(run: &Run) -> u64 {
    run.pauses.iter().map(|pause| pause.to_unix_ns.abs_diff(pause.from_unix_ns)).sum()
}
