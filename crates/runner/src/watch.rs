//! What the runner tells whoever watches it.

use std::sync::Arc;

use engine::Controls;
use plan::{Case, Layout, Phase};
use record::{PhaseRecord, WarningRow, Wiped};

use crate::LayoutStep;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// A case starts.
    CaseStarted {
        /// Its place in the plan, from 0; on a layout, its place among the cases there.
        index: usize,
        /// The case.
        case: &'a Case,
    },
    /// A case is in the record of an earlier start already.
    CaseSkipped {
        /// Its place in the plan, from 0.
        index: usize,
        /// The case.
        case: &'a Case,
    },
    /// A phase starts; `controls` counts while it runs.
    PhaseStarted {
        /// The case.
        case: &'a Case,
        /// From 0.
        repetition: u32,
        /// The phase.
        phase: Phase,
        /// Bytes of one pass; the end of the phase where no clock ends it.
        planned_bytes: u64,
        /// Live counters, of the tasks in this process.
        controls: &'a Arc<Controls>,
        /// The share of all tasks that they are.
        share: f64,
    },
    /// A phase ended; its rows are stored.
    PhaseFinished(&'a PhaseRecord),
    /// A warning about the whole run.
    Warning(&'a WarningRow),
    /// What a case is measured on was wiped before its first pass.
    Wiped {
        /// The case.
        case: &'a Case,
        /// What it was.
        what: &'a Wiped,
    },
    /// The files that a repetition made were removed.
    Removed {
        /// From 0.
        repetition: u32,
        /// Seconds that it took.
        seconds: f64,
    },
    /// Something happens to a layout.
    Layout {
        /// The layout.
        layout: &'a Layout,
        /// What.
        step: LayoutStep<'a>,
    },
    /// All repetitions of a case ended.
    CaseFinished(&'a Case),
    /// A case could not be finished; the run goes on with the next.
    CaseFailed {
        /// The case.
        case: &'a Case,
        /// Why.
        message: &'a str,
    },
}

/// Whoever watches a run.
pub trait Watch {
    /// Called from the thread that runs the plan, never during a phase.
    fn event(&mut self, event: &Event<'_>);
}

/// Watches and says nothing; for tests.
#[derive(Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn event(&mut self, _event: &Event<'_>) {}
}
