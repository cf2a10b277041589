//! Workloads that ran at the same time: what each did beside the others and lost to them, and what all did together.
//!
//! A figure of several workloads is one of their *window*: in each repetition, the time while all of them ran
//! ([`WhileAll`](crate::figures::WhileAll)).

mod beside;

pub(crate) use beside::together;
pub use beside::{AllTogether, Beside};
