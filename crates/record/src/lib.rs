//! The record of a run: what was asked, where, what was observed, and how to read it again.
//!
//! | type | what it holds |
//! |---|---|
//! | [`Manifest`] | format version, plan, host facts, provenance: one per run |
//! | [`PhaseRow`], [`TaskRow`], [`LatencyRow`], [`SeriesRow`], [`DeviceRow`] | one observation each, in columns named with their units |
//! | [`Warning`] | what a reader of a figure must know beside it |

mod facts;
mod manifest;
mod rows;
mod warning;

pub use facts::{BlockDeviceFacts, Fact, FileSystemFacts, HostFacts};
pub use manifest::{FORMAT_VERSION, Manifest, Provenance};
pub use rows::{DeviceRow, LatencyRow, Measure, Operation, PhaseKey, PhaseRow, SeriesRow, TaskRow};
pub use warning::{Warning, WarningRow};
