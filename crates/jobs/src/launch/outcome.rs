//! Outcomes of launches, and their total activity.

use std::fmt;

use super::ProcessEnd;
use crate::{Counters, StepReport, Usage};

/// How a launch has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchOutcome {
    /// It completed all of its steps.
    Complete,
    /// It reported an error.
    Failed,
    /// A signal not sent by the run ended it.
    Killed,
    /// The kernel killed it because its memory exceeded the limit.
    OutOfMemory,
    /// It exceeded the time limit and was ended.
    TooLong,
    /// It was not started, because a launch on which it depends has not completed.
    Skipped,
    /// The run was ended.
    Stopped,
}

impl LaunchOutcome {
    /// The name used in records and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::OutOfMemory => "out-of-memory",
            Self::TooLong => "too-long",
            Self::Skipped => "skipped",
            Self::Stopped => "stopped",
        }
    }

    /// Whether it failed, that is, neither completed nor was ended by the user.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        !matches!(self, Self::Complete | Self::Stopped)
    }
}

impl fmt::Display for LaunchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An ended launch. Times are nanoseconds since the phase's common start.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchReport {
    /// Its number.
    pub launch: u32,
    /// Start of its process. For a launch that was not started, the time of this decision.
    pub start_ns: u64,
    /// Time of its begin event.
    pub began_ns: Option<u64>,
    /// Time at which the kernel reported its end.
    pub end_ns: u64,
    /// Resource usage of its process. The peak of its memory is the most of its steps.
    pub usage: Usage,
    /// CPU time of its control group, nanoseconds; `None` without one.
    pub group_cpu_ns: Option<u64>,
    /// Bytes moved.
    pub moved: Counters,
    /// Completed steps.
    pub steps: Vec<StepReport>,
    /// How it ended.
    pub outcome: LaunchOutcome,
    /// Why it is not complete; empty if it is.
    pub message: String,
}

/// Activity of all launches in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// Start of the interval, relative to the phase's common start.
    pub start_ns: u64,
    /// Length of the interval.
    pub length_ns: u64,
    /// Bytes moved in it, in the order of [`plan::JobSpace::ALL`]; held bytes are those at its end.
    pub moved: Counters,
    /// Free bytes in the file system of each space at its end; `None` if unknown.
    pub free_bytes: [Option<u64>; 3],
    /// Number of launches running at its end.
    pub running: u32,
}

/// All launches of a phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Launched {
    /// The launches, by number.
    pub launches: Vec<LaunchReport>,
    /// Their activity, interval by interval.
    pub samples: Vec<Sample>,
    /// Time from the start to the end of the last launch, in nanoseconds.
    pub length_ns: u64,
    /// Processor time of the launcher itself, nanoseconds.
    pub own_cpu_ns: u64,
}

/// Why the run ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    TooLong,
    Stopped,
    /// Its output was not an event.
    Garbled,
}

/// The outcome of a started process, and the reason if it is not complete. `asked` is set if the run has
/// ended it, `done` if it has reported completion; `failed` is the error it has reported.
pub(super) fn judge(
    end: &ProcessEnd,
    asked: Option<Reason>,
    done: bool,
    failed: Option<String>,
) -> (LaunchOutcome, String) {
    let well = end.code == Some(0);
    let said = |otherwise: String| {
        let own = failed.clone().or_else(|| (!end.last_words.is_empty()).then(|| end.last_words.clone()));
        own.unwrap_or(otherwise)
    };
    if well && done && asked != Some(Reason::Garbled) {
        return (LaunchOutcome::Complete, String::new());
    }
    match asked {
        Some(Reason::Stopped) => return (LaunchOutcome::Stopped, "the run was stopped".to_owned()),
        Some(Reason::TooLong) => {
            let message =
                "ran longer than `launch_limit` allows and was terminated: raise it, or lower the scale";
            return (LaunchOutcome::TooLong, message.to_owned());
        }
        Some(Reason::Garbled) => {
            return (LaunchOutcome::Failed, said("printed something that is not an event".to_owned()));
        }
        None => {}
    }
    if end.out_of_memory && !well {
        let message = "the kernel killed it at its memory limit: raise `memory_max`, or lower the memory of \
                       its steps";
        return (LaunchOutcome::OutOfMemory, message.to_owned());
    }
    match (end.signal, end.code) {
        (Some(signal), _) => (LaunchOutcome::Killed, killed_by(signal)),
        (None, Some(0)) => (LaunchOutcome::Failed, said("ended before its steps were done".to_owned())),
        (None, code) => (LaunchOutcome::Failed, said(format!("exited with code {}", code.unwrap_or(-1)))),
    }
}

/// Description of a signal.
fn killed_by(signal: i32) -> String {
    const KILL: i32 = rustix::process::Signal::KILL.as_raw();
    match signal {
        KILL => "was killed by signal 9 from outside the run: the kernel's log shows whether the host ran \
                 out of memory"
            .to_owned(),
        other => format!("was killed by signal {other} from outside the run"),
    }
}

/// Peak resident memory of a launch that has completed `steps`, and whose process used `usage` by `wait4(2)`.
///
/// The kernel's value for a process is not that of its life: each step resets it (`VmHWM`), and it includes the
/// peak of the program that started the process (`exec` keeps it in `ru_maxrss`). It is used where steps are
/// missing, as nothing else is known of the step in which the process ended.
pub(super) fn peak_memory_bytes(usage: &Usage, steps: &[StepReport], outcome: LaunchOutcome) -> u64 {
    match steps.iter().map(|step| step.peak_memory_bytes).max() {
        Some(most) if outcome == LaunchOutcome::Complete => most,
        most => usage.peak_memory_bytes.max(most.unwrap_or(0)),
    }
}

/// Adds the counters of another launch.
pub(super) fn add(sum: &mut Counters, more: &Counters) {
    each(sum, more, u64::saturating_add);
    // Peaks of different launches occur at different times, so their sum is an upper bound.
}

/// Bytes moved since `before`; held bytes are the current ones.
pub(super) fn since(now: &Counters, before: &Counters) -> Counters {
    let mut delta = *now;
    each(&mut delta, before, u64::saturating_sub);
    Counters { held_bytes: now.held_bytes, peak_bytes: now.peak_bytes, ..delta }
}

fn each(one: &mut Counters, other: &Counters, join: impl Fn(u64, u64) -> u64) {
    let pairs = [
        (&mut one.read_bytes, other.read_bytes),
        (&mut one.write_bytes, other.write_bytes),
        (&mut one.reads, other.reads),
        (&mut one.writes, other.writes),
        (&mut one.held_bytes, other.held_bytes),
        (&mut one.peak_bytes, other.peak_bytes),
    ];
    for (mine, theirs) in pairs {
        mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine = join(*mine, theirs));
    }
}
