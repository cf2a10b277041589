//! Findings about nodes: which were covered, which are slow, and how rates scale with their number.

pub(crate) mod coverage;
pub(crate) mod device_spread;
pub(crate) mod node_comparison;
pub(crate) mod weak_scaling;

pub use self::{coverage::*, device_spread::*, node_comparison::*, weak_scaling::*};
