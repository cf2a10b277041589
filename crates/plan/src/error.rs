//! Errors of a plan.

use thiserror::Error;

/// A value that cannot be measured, with its field name, so that a study file or command line can point at
/// the place where the user wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct PlanError {
    /// The field of [`crate::WorkloadSpec`] (or key of a study file) that is wrong.
    pub field: &'static str,
    /// What is wrong, as a lowercase fragment that names the value.
    pub message: String,
    /// What is allowed, or the next step.
    pub help: String,
}

impl PlanError {
    /// An error about `field`.
    pub fn new(field: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { field, message: message.into(), help: help.into() }
    }
}
