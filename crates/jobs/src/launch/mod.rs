//! Launching: the matrix, its processes, and their outcomes.
//!
//! | item | what it is |
//! |---|---|
//! | [`load_tasks`], [`matrix_tasks`] | the launches that create tables, and the matrix itself |
//! | [`launch`] | runs all launches in order, a limited number at a time, each after its dependencies |
//! | [`Processes`] | starts, observes and ends processes: [`RealProcesses`]; in tests simulated ones |
//! | [`Launched`] | outcome of each launch, and bytes moved by all of them, interval by interval |

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
