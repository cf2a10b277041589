//! Rows, studies and random numbers for tests.

pub(crate) mod random;
pub(crate) mod rows;
pub(crate) mod studies;
pub(crate) mod study;
