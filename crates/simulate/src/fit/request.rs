//! What is asked of a fit, and why there is none.

use thiserror::Error;

/// Points of a direction that a fit needs: three for its times, slots and limit, and one to check it on.
pub(super) const POINTS_LEAST: usize = 4;
/// Repetitions of a point: of one nobody knows how far it is off.
pub(super) const REPETITIONS_LEAST: usize = 2;

/// Which sweep is used, and what its samples follow from.
#[derive(Debug, Clone, Default)]
pub struct FitOptions {
    /// The workload; any where none.
    pub workload: Option<String>,
    /// The target; any where none.
    pub target: Option<String>,
    /// The same seed gives the same intervals.
    pub seed: u64,
}

impl FitOptions {
    /// What is named, as in ` of workload w`.
    pub(super) fn words(&self) -> String {
        let of = |what: &str, name: &Option<String>| name.as_ref().map(|name| format!("{what} `{name}`"));
        let all: Vec<String> =
            of("workload", &self.workload).into_iter().chain(of("target", &self.target)).collect();
        if all.is_empty() { String::new() } else { format!(" of {}", all.join(" and ")) }
    }
}

/// Why no model can be made of a run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum FitError {
    #[error("the run has no reads or writes{asked}: name a workload that transfers data")]
    NoTransfers { asked: String },
    #[error("the run has several sweeps: {}; choose one with --workload and --target", sweeps.join("; "))]
    Several { sweeps: Vec<String> },
    #[error(
        "nothing is varied in this run: measure a sweep over depth, tasks or transfer size, as in depth = \"1..64 times 2\""
    )]
    NothingVaried,
    #[error("each point was measured once: set repetitions to {REPETITIONS_LEAST} or more, better 5")]
    OneRepetition,
    #[error(
        "{usable} points can be used and {POINTS_LEAST} are needed: measure more of them{}",
        left_out.iter().map(|one| format!("\n  left out: {one}")).collect::<String>()
    )]
    TooFewPoints { usable: usize, left_out: Vec<String> },
    #[error("the target `{target}` is a different one on each of {nodes} nodes: fit a run on one node")]
    Local { target: String, nodes: u32 },
    #[error("no times fit the points: check that rates and latencies of the run are of the same transfers")]
    NoFit,
    #[error("cannot write the model: {0}")]
    Unwritable(String),
}
