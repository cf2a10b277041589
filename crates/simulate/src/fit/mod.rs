//! Creates a model from a run: the slots, times and limits of storage, from sweeps over depth, tasks or
//! transfer size.
//!
//! The model is a closed network with one station (see `network`): a transfer needs processor time, passes a rate
//! limit, and is served in one of several slots. Processor time is measured; everything else is determined by least
//! squares (`search`) over the points of one workload on one target. Percentiles come from the histogram of the point
//! with one transfer in flight (`shape`). Intervals are computed by a bootstrap over the repetitions in which the
//! signs of the residuals are also drawn at random (Wu, "Jackknife, Bootstrap and Other Resampling Methods in
//! Regression Analysis", Annals of Statistics 14, 1986), so that they include the errors of the network itself.
//!
//! A fit is checked on points that it was not made from ([`Checked`]): the quarter with most transfers in
//! flight.

mod check;
mod core;
mod describe;
mod network;
mod request;
mod search;
mod shape;
mod sweep;

use record::Run;

use crate::model::Model;
pub use check::{Checked, Held};
pub use request::{FitError, FitOptions};

/// A model with information about its fit.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// Its parameters with intervals, its residuals and its check, in lines.
    pub about: Vec<String>,
    /// The result of the check on points that the fit was not made from.
    pub checked: Checked,
}

impl Fitted {
    /// The text of a model file.
    ///
    /// # Errors
    /// Errors if the model has an amount that TOML cannot represent.
    pub fn to_toml(&self) -> Result<String, FitError> {
        let model = toml::to_string(&self.model).map_err(|error| FitError::Unwritable(error.to_string()))?;
        let comment: String =
            self.about.iter().map(|line| format!("# {line}").trim_end().to_owned() + "\n").collect();
        Ok(format!("{comment}\n{model}"))
    }
}

/// Fits a model to what `run` has measured.
///
/// # Errors
/// Errors if the run has no usable sweep, with the reason.
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
