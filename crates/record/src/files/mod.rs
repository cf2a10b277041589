//! Files of a run directory and outside of it: atomic replacement, checksums, limits.

pub(crate) mod checksum;
pub(crate) mod directory;
pub(crate) mod limits;
pub(crate) mod line_sum;
pub(crate) mod replacement;
pub(crate) mod sums;
pub(crate) mod survey;
pub(crate) mod text;
pub(crate) mod unexpected;
