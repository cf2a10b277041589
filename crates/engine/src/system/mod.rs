//! Interfaces to the kernel: files, rings, limits, error numbers.

pub(crate) mod errno;
pub(crate) mod file;
pub(crate) mod file_id;
pub(crate) mod limits;
pub(crate) mod ring;
pub(crate) mod sys;
