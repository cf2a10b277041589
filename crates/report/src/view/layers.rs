//! Devices one by one, layers of each other, and what they cost.

use schemars::JsonSchema;
use serde::Serialize;

use super::findings::Setting;

/// Devices or other members that were measured in the same way.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MemberSet {
    pub(crate) group: String,
    /// The target that they are members of; empty where each is a target of its own.
    pub(crate) target: String,
    pub(crate) phase: &'static str,
    pub(crate) fixed: Vec<Setting>,
    /// All at the same time; else one after the other.
    pub(crate) together: bool,
    /// `bytes/s`: what medians, grades and deviations are in.
    pub(crate) unit: &'static str,
    pub(crate) members: Vec<Member>,
    /// (Fastest − slowest) ÷ fastest.
    pub(crate) variation: f64,
    /// By more than 0.40.
    pub(crate) uneven: bool,
    pub(crate) models: Vec<Model>,
    /// What one device is graded by, the easiest first.
    pub(crate) grades: Vec<Grade>,
}

/// A member among the others.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Member {
    pub(crate) figure: usize,
    pub(crate) place: u64,
    /// The kernel's name of its device, or else its path or target.
    pub(crate) name: String,
    pub(crate) model: String,
    pub(crate) bytes_per_second: f64,
    pub(crate) transfers_per_second: f64,
    pub(crate) n: usize,
    /// Of the rate that is compared.
    pub(crate) deviation_per_second: f64,
    /// Rate ÷ median of its model.
    pub(crate) share: f64,
    pub(crate) slow: bool,
}

/// The devices of one model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Model {
    pub(crate) model: String,
    pub(crate) n: usize,
    pub(crate) median_per_second: f64,
    pub(crate) lowest_per_second: f64,
    pub(crate) highest_per_second: f64,
    pub(crate) slow: usize,
    /// The hardest grade that the median reached.
    pub(crate) reached: Option<Grade>,
    /// The easiest grade, where it was missed too.
    pub(crate) missed: Option<Grade>,
}

/// A rate of one device with what it means to reach it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Grade {
    pub(crate) name: String,
    pub(crate) per_second: f64,
    pub(crate) reached: String,
    /// What it means to stay below it.
    pub(crate) missed: String,
}

/// Positioning time and transfer rate of a device, from rates at several transfer sizes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SeekFit {
    pub(crate) group: String,
    pub(crate) target: String,
    pub(crate) phase: &'static str,
    pub(crate) fixed: Vec<Setting>,
    /// Devices over which the rate was divided.
    pub(crate) devices: u32,
    /// Transfers under way on one device.
    pub(crate) under_way: f64,
    pub(crate) points: Vec<SeekPoint>,
    /// Absent where no line was fitted.
    pub(crate) line: Option<SeekLine>,
    /// Why; empty where there is a line.
    pub(crate) refused: String,
}

/// Transfers of one size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SeekPoint {
    pub(crate) figure: usize,
    pub(crate) transfer_bytes: f64,
    /// Of one device.
    pub(crate) bytes_per_second: f64,
    /// Of one transfer of one device.
    pub(crate) time_ns: f64,
    pub(crate) predicted_bytes_per_second: Option<f64>,
}

/// time = positioning + bytes ÷ rate.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SeekLine {
    pub(crate) positioning_ns: f64,
    /// Of its 95 % interval.
    pub(crate) positioning_half_width_ns: f64,
    pub(crate) bytes_per_second: f64,
    /// The ends of its 95 % interval; the upper one is absent where there is none.
    pub(crate) interval_low: f64,
    pub(crate) interval_high: Option<f64>,
    /// Root of the mean square of the times' shares off the line.
    pub(crate) error: f64,
    pub(crate) half_rate_bytes: f64,
}
