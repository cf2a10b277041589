//! From a run to a model: the slots, times and limits of storage, from sweeps over depth, tasks or transfer size.
//!
//! The model is a closed network of one station (see `network`): a transfer needs processor time, passes a
//! limit of the rate, and is served in one of several slots. Processor time is measured; everything else comes from
//! least squares (`search`) over the points of one workload on one target. Percentiles come from the histogram of
//! the point with one transfer in flight (`shape`). Intervals are of a bootstrap over the repetitions, with the signs of
//! the residuals drawn too (Wu, "Jackknife, Bootstrap and Other Resampling Methods in Regression Analysis", Annals
//! of Statistics 14, 1986), so that they hold what the network leaves off.
//!
//! A fit is checked on points that it has not seen ([`Checked`]): the quarter with most in flight.

mod check;
mod core;
mod describe;
mod network;
mod search;
mod shape;
mod sweep;

use record::Run;
use thiserror::Error;

use crate::model::Model;
pub use check::{Checked, Held};

/// Points of a direction that a fit needs: three for its times, slots and limit, and one to check it on.
pub(crate) const POINTS_LEAST: usize = 4;
/// Repetitions of a point: of one nobody knows how far it is off.
pub(crate) const REPETITIONS_LEAST: usize = 2;

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
    fn words(&self) -> String {
        let of = |what: &str, name: &Option<String>| name.as_ref().map(|name| format!("{what} `{name}`"));
        let all: Vec<String> =
            of("workload", &self.workload).into_iter().chain(of("target", &self.target)).collect();
        if all.is_empty() { String::new() } else { format!(" of {}", all.join(" and ")) }
    }
}

/// A model with what is known of it.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Its parameters with intervals, its residuals and its check, in lines.
    pub about: Vec<String>,
    /// What the check on points that it had not seen gave.
    pub checked: Checked,
}

impl Fitted {
    /// The text of a model file.
    ///
    /// # Errors
    /// The model has an amount that TOML cannot write.
    pub fn to_toml(&self) -> Result<String, FitError> {
        let model = toml::to_string(&self.model).map_err(|error| FitError::Unwritable(error.to_string()))?;
        let comment: String =
            self.about.iter().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect();
        Ok(format!("{comment}\n{model}"))
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

/// The model of what `run` has measured.
///
/// # Errors
/// The run has no sweep that can be used, with the reason.
pub fn fit(run: &Run, options: &FitOptions) -> Result<Fitted, FitError> {
    let figures = analysis::figures::figures(run, analysis::RateName::ByIo);
    let sweep = sweep::sweep(run, &figures, options)?;
    let nodes = core::nodes(run, &sweep);
    let fit = core::Fit::of(&sweep.directions, nodes, options.seed).ok_or(FitError::NoFit)?;
    let checked = check::check(&sweep, nodes, options.seed, &fit);
    let model = describe::model(run, &sweep, &fit).ok_or(FitError::NoFit)?;
    let about = describe::about(run, &sweep, &fit, &checked);
    Ok(Fitted { model, about, checked })
}
