//! Launching: the matrix, its processes, and what becomes of them.
//!
//! | item | what it is |
//! |---|---|
//! | [`load_tasks`], [`matrix_tasks`] | what is launched to make tables, and the matrix itself |
//! | [`launch`] | launches all of it: in order, so many at a time, each when those that it waits for are complete |
//! | [`Processes`] | who starts, hears and ends processes: [`RealProcesses`]; in tests some that are not there |
//! | [`Launched`] | what became of each launch, and what all of them moved, interval by interval |

#[cfg(test)]
mod contract;
#[cfg(test)]
mod fake;
mod matrix;
mod outcome;
mod processes;
mod real;
mod sys;
mod tasks;
#[cfg(test)]
mod tests;

pub use matrix::{LaunchProgress, LaunchRules, LaunchWatch, launch};
pub use outcome::{LaunchOutcome, LaunchReport, Launched, Sample};
pub use processes::{Ending, LaunchTask, News, ProcessEnd, Processes};
pub use real::{Program, RealProcesses};
pub use tasks::{load_tasks, matrix_tasks};
