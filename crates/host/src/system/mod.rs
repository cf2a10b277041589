//! System calls, and the files that the kernel gives facts in.

pub(crate) mod cpu_list;
pub mod limits;
pub(crate) mod root;
pub(crate) mod sys;
