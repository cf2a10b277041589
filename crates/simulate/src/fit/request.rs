//! The options of a fit, and why a fit is not possible.

use thiserror::Error;

/// Minimum number of points of a direction for a fit: three for its times, slots and limit, and one to
/// check it.
pub(super) const POINTS_LEAST: usize = 4;
/// Minimum number of repetitions of a point; with only one, its uncertainty is unknown.
pub(super) const REPETITIONS_LEAST: usize = 2;

/// Which sweep to use, and the seed for the samples.
#[derive(Debug, Clone, Default)]
pub struct FitOptions {
    /// The workload, or `None` for any.
    pub workload: Option<String>,
    /// The target, or `None` for any.
    pub target: Option<String>,
    /// The random seed. The same seed gives the same intervals.
    pub seed: u64,
}

impl FitOptions {
    /// The specified workload and target as text, for example ` of workload w`.
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
        "nothing is varied in this run: measure a sweep over depth, tasks or transfer size, for example \
         depth = \"1..64 times 2\""
    )]
    NothingVaried,
    #[error("each point was measured once: set repetitions to at least {REPETITIONS_LEAST}, preferably 5")]
    OneRepetition,
    #[error(
        "{usable} points can be used, but {POINTS_LEAST} are needed: measure more points{}",
        left_out.iter().map(|one| format!("\n  left out: {one}")).collect::<String>()
    )]
    TooFewPoints { usable: usize, left_out: Vec<String> },
    #[error("the target `{target}` is different on each of {nodes} nodes: fit a run on one node")]
    Local { target: String, nodes: u32 },
    #[error(
        "no parameters fit the points: check that the rates and latencies of the run belong to the same \
             transfers"
    )]
    NoFit,
    #[error("cannot write the model: {0}")]
    Unwritable(String),
}
