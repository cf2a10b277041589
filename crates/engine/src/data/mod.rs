//! What is transferred: offsets, buffers, the data written, and the comparison of what is read.

pub(crate) mod buffer;
pub(crate) mod check;
pub(crate) mod offsets;
pub(crate) mod own;
pub(crate) mod stamp;
