//! Tables of a study file: the declarations of keys, and reading tables with their values and sweeps.

pub(super) mod definition;
pub(super) mod document;
pub(super) mod range;
pub(super) mod read;
pub(super) mod scalar;
pub(super) mod sweep;
mod text;
pub(super) mod values;
