//! Nodes beside each other.

pub(crate) mod comparison;
mod coverage;
mod weak_scaling;
