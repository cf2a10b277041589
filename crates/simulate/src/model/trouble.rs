//! What goes wrong in a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::units::{Bandwidth, Size, Time};

/// A fault or disturbance of devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trouble {
    /// What it is.
    pub kind: TroubleKind,
    /// The group of devices.
    pub devices: String,
    /// The numbers of the devices in the group, from 0; all where left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<u32>,
    /// `slow`: the share of its rate that is left. `load`: the share of the time that others use. `warming`:
    /// the share of reads that a cache serves from the second repetition on. `drift`: the share of the rate
    /// that is gained in an hour, or lost if it is negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// `stall`: when it begins, after the start of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// `stall`: how long nothing is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Time>,
    /// `stall`: from the begin of one to the begin of the next; once where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Time>,
    /// `burst`: bytes that are moved at full rate before the throttle; they come back at `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// `burst`: bytes per second of the throttle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
}

/// A kind of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// Members that have only a share of their rate.
    Slow,
    /// Times in which nothing is served.
    Stall,
    /// Requests of others, which come at random times and take a share of the devices' time.
    Load,
    /// A full rate until a number of bytes is used up, then a throttled one.
    Burst,
    /// A cache in front of the devices that is empty in the first repetition only.
    Warming,
    /// A rate that changes over time.
    Drift,
}
