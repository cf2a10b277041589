//! How launches have ended, and what all of them together did.

use std::fmt;

use super::ProcessEnd;
use crate::{Counters, StepReport, Usage};

/// How a launch has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchOutcome {
    /// It went through all of its steps.
    Complete,
    /// It could not go on, and said why.
    Failed,
    /// A signal has ended it that was not sent by the run.
    Killed,
    /// The kernel has ended it, since its memory was over its ceiling.
    OutOfMemory,
    /// It ran for longer than a launch may, and was ended.
    TooLong,
    /// One that it comes after has not completed: it was not begun.
    Skipped,
    /// The run was ended.
    Stopped,
}

impl LaunchOutcome {
    /// The word used in records and tables.
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

    /// Whether something went wrong with it: neither complete nor ended by the user.
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

/// A launch that is over. Times are nanoseconds since the phase's common start.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchReport {
    /// Its number.
    pub launch: u32,
    /// Its process was started; of one that was not begun, when that was decided.
    pub start_ns: u64,
    /// It told that it begins.
    pub began_ns: Option<u64>,
    /// The kernel told its end.
    pub end_ns: u64,
    /// What its process has used.
    pub usage: Usage,
    /// CPU time of its control group, nanoseconds; none where it had none.
    pub group_cpu_ns: Option<u64>,
    /// What it has moved.
    pub moved: Counters,
    /// The steps that it has done.
    pub steps: Vec<StepReport>,
    /// How it has ended.
    pub outcome: LaunchOutcome,
    /// Why it is not complete; empty where it is.
    pub message: String,
}

/// What all launches did in one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// The interval starts this long after the phase's common start.
    pub start_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// What they moved in it, in the order of [`plan::JobSpace::ALL`]; of what stands there, how much at its end.
    pub moved: Counters,
    /// Bytes that the file system of each space has left at its end; none where it does not tell.
    pub free_bytes: [Option<u64>; 3],
    /// Launches that ran at its end.
    pub running: u32,
}

/// All launches of a phase.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Launched {
    /// Each of them, in the order of their numbers.
    pub launches: Vec<LaunchReport>,
    /// What they did, interval by interval.
    pub samples: Vec<Sample>,
    /// From the start to the end of the last one, nanoseconds.
    pub length_ns: u64,
    /// Processor time of the launcher itself, nanoseconds.
    pub own_cpu_ns: u64,
}

/// Why the run has ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    TooLong,
    Stopped,
    /// It said what is no event.
    Garbled,
}

/// How a process has ended that was begun, and why it is not complete. `asked`: the run has ended it. `done`: it has
/// told that it is done; `failed`: why it is not.
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
        Some(Reason::Stopped) => return (LaunchOutcome::Stopped, "the run was ended".to_owned()),
        Some(Reason::TooLong) => {
            let message =
                "ran for longer than `launch_limit` allows and was ended: raise it, or lower the scale";
            return (LaunchOutcome::TooLong, message.to_owned());
        }
        Some(Reason::Garbled) => return (LaunchOutcome::Failed, said("told what is no event".to_owned())),
        None => {}
    }
    if end.out_of_memory && !well {
        let message = "the kernel ended it at the ceiling of its memory: raise `memory_max`, or lower the memory \
                       of its steps";
        return (LaunchOutcome::OutOfMemory, message.to_owned());
    }
    match (end.signal, end.code) {
        (Some(signal), _) => (LaunchOutcome::Killed, killed_by(signal)),
        (None, Some(0)) => (LaunchOutcome::Failed, said("ended before its steps were done".to_owned())),
        (None, code) => (LaunchOutcome::Failed, said(format!("ended with code {}", code.unwrap_or(-1)))),
    }
}

/// A signal in words.
fn killed_by(signal: i32) -> String {
    const KILL: i32 = rustix::process::Signal::KILL.as_raw();
    match signal {
        KILL => "was ended by signal 9 from outside of the run: the kernel's log says whether the memory of the host \
                 was used up"
            .to_owned(),
        other => format!("was ended by signal {other} from outside of the run"),
    }
}

/// Adds what another one moved.
pub(super) fn add(sum: &mut Counters, more: &Counters) {
    each(sum, more, u64::saturating_add);
    // Peaks of different launches are at different times: their sum is a bound.
}

/// What was moved since `before`; of what stands, how much there is now.
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
