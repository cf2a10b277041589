//! The steps of jobs. Those that move data are here, those that compute in [`crate::compute`].

mod change;
mod generate;
mod index;
mod merge;
mod runs;
mod scan;
mod sort;
mod summarise;
mod sums;
mod target;

use plan::jobs::{Action, Step};

use self::change::{append, update};
use self::generate::generate;
use self::index::index;
use self::merge::merge;
use self::scan::scan;
use self::sort::sort;
use self::summarise::summarise;
use crate::step::StepContext;
use crate::{JobError, StepOutcome, compute};

/// Runs `step`.
///
/// # Errors
/// Errors if a table cannot be read or written, or is not suitable for the step, or if there is not
/// enough memory.
pub fn run_step(context: &StepContext<'_>, step: &Step) -> Result<StepOutcome, JobError> {
    match &step.action {
        Action::Generate { output, rows, groups, order } => {
            generate(context, step, output, *rows, *groups, *order)
        }
        Action::Scan { input, output, keep_millionths } => {
            scan(context, step, input, output.as_ref(), *keep_millionths)
        }
        Action::Summarise { input, output } => summarise(context, step, input, output.as_ref()),
        Action::Sort { input, output } => sort(context, step, input, output),
        Action::Merge { left, right, output } => merge(context, step, left, right, output.as_ref()),
        Action::Index { input, lookups } => index(context, step, input, *lookups),
        Action::Append { table, rows } => append(context, step, table, *rows),
        Action::Update { table, share_millionths } => update(context, step, table, *share_millionths),
        Action::Regression { input, operations } => {
            compute::regression::run(context, step, input, *operations)
        }
        Action::Factorisation { input, operations } => {
            compute::factorisation::run(context, step, input.as_deref(), *operations)
        }
        Action::Fourier { input, operations } => {
            compute::fourier::run(context, step, input.as_deref(), *operations)
        }
        Action::Simulation { operations } => compute::simulation::run(context, step, *operations),
        Action::Shuffle { input, operations } => {
            compute::shuffle::run(context, step, input.as_deref(), *operations)
        }
    }
}
