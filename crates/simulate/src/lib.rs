//! Models of storage systems: what a machine that is not available would achieve.
//!
//! | type | what it is |
//! |---|---|
//! | [`Model`], [`read`](fn@read) | a storage system, described in TOML |
//! | [`Model::bounds`] | the upper bounds of its performance, and its bottleneck |
//! | [`fit()`] | creates a model from a run |
//! | [`SimulatedMachine`] | a model used in a run, which carries out its phases on a virtual clock |
//! | [`ModelErrors`] | the mistakes of a model file |
//!
//! A simulated run has the same plan, record, analysis and reports as a measured one. Nothing on this host
//! is measured. The record says that the figures are simulated, and by which model.

mod bounds;
mod fit;
mod machine;
mod model;
mod simulation;

pub use bounds::{Bounds, Issuers, PartLimit, Transfer};
pub use fit::{Checked, FitError, FitOptions, Fitted, Held, fit};
pub use machine::SimulatedMachine;
pub use model::{
    Bandwidth, Cache, Description, Device, Distribution, Layout, Limits, Link, Metadata, Mistake, Model,
    ModelErrors, Node, Server, Service, Size, Time, Trouble, TroubleKind, WriteCache, read, reference,
    schema,
};
