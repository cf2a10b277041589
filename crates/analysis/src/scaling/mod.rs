//! Findings about more devices, more tasks and more layers, and about the limits of a phase.

pub(crate) mod bound_by;
pub(crate) mod layers;
pub(crate) mod process_limit;
pub(crate) mod scalability;

pub use self::{bound_by::*, layers::*, process_limit::*, scalability::*};
