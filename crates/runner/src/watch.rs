//! Events that the runner reports to an observer.

use std::sync::Arc;

use engine::Controls;
use plan::{Case, Layout, Phase};
use record::{CommandRun, LayoutFinding, PhaseRecord, WarningRow, Wiped};

/// An event of a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A case starts.
    CaseStarted {
        /// Its index in the plan, from 0; for a case on a layout, its index among the cases on that
        /// layout.
        index: usize,
        /// The case.
        case: &'a Case,
    },
    /// A case is already in the record of an earlier start.
    CaseSkipped {
        /// Its index in the plan, from 0.
        index: usize,
        /// The case.
        case: &'a Case,
    },
    /// A phase starts.
    PhaseStarted {
        /// The case.
        case: &'a Case,
        /// The repetition, from 0.
        repetition: u32,
        /// The phase.
        phase: Phase,
        /// Bytes of one pass, after which the phase ends if it has no time limit.
        planned_bytes: u64,
        /// Live counters of the tasks in this process.
        controls: &'a Arc<Controls>,
        /// The fraction of all tasks that are in this process.
        share: f64,
    },
    /// A phase ended; its rows are stored.
    PhaseFinished(&'a PhaseRecord),
    /// A warning about the whole run.
    Warning(&'a WarningRow),
    /// A target of a case was wiped, before its first pass or before a repetition.
    Wiped {
        /// The case.
        case: &'a Case,
        /// The wiped object.
        what: &'a Wiped,
    },
    /// The files that a repetition created were removed.
    Removed {
        /// The repetition, from 0.
        repetition: u32,
        /// Duration in seconds.
        seconds: f64,
    },
    /// An event of a layout.
    Layout {
        /// The layout.
        layout: &'a Layout,
        /// The event.
        step: LayoutProgress<'a>,
    },
    /// All repetitions of a case ended.
    CaseFinished(&'a Case),
    /// A case could not be finished; the run continues with the next one.
    CaseFailed {
        /// The case.
        case: &'a Case,
        /// The reason.
        message: &'a str,
    },
}

/// Events of a layout.
#[derive(Debug)]
pub enum LayoutProgress<'a> {
    /// Creation has started.
    Creating,
    /// A command has ended.
    Ran(&'a CommandRun),
    /// It was created, and these properties were read back.
    Stands(&'a [LayoutFinding]),
    /// Destruction has started.
    Destroying,
    /// It is destroyed.
    Gone,
}

/// Observer of a run.
pub trait Watch {
    /// Called from the thread that runs the plan, but never during a phase.
    fn event(&mut self, event: &Event<'_>);
}

/// Ignores all events. Used in tests.
#[derive(Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn event(&mut self, _event: &Event<'_>) {}
}
