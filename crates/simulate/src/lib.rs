//! Models of storage systems: what a machine that is not here would give.
//!
//! | type | what it is |
//! |---|---|
//! | [`Model`], [`read`](fn@read) | a storage system, described in TOML |
//! | [`Model::bounds`] | what it gives at most, and its weakest link |
//! | [`fit()`] | makes a model of a run |
//! | [`SimulatedMachine`] | a model in a run: carries out its phases on a virtual clock |
//! | [`ModelErrors`] | the mistakes of a model file |
//!
//! A simulated run has the plan, the record, the analysis and the reports of a measured one. Nothing of this
//! host is measured; the record says that the figures are simulated, and by which model.

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
