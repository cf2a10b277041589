//! The data of transfers: offsets, buffers, the data written, and the check of the data read.

pub(crate) mod buffer;
pub(crate) mod check;
pub(crate) mod offsets;
pub(crate) mod own;
pub(crate) mod stamp;
