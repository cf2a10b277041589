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
    /// A curve, by its place in `curves`, from 0.
    pub(crate) curve: usize,
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

/// A file system against what its devices say of its block size.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Strip {
    pub(crate) target: String,
    /// The target of its device.
    pub(crate) below: String,
    pub(crate) phase: &'static str,
    pub(crate) block_bytes: u64,
    pub(crate) devices: u32,
    pub(crate) strip_bytes: f64,
    pub(crate) predicted_bytes_per_second: f64,
    /// From the fitted line; else from the two neighbouring sizes.
    pub(crate) by_line: bool,
    /// The strip is outside of the sizes that were measured on the device.
    pub(crate) extrapolated: bool,
    pub(crate) figure: Option<usize>,
    pub(crate) measured_bytes_per_second: Option<f64>,
    /// Measured ÷ predicted.
    pub(crate) ratio: Option<f64>,
}

/// Rates of as many tasks on more and more devices.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ProcessLimit {
    pub(crate) group: String,
    pub(crate) phase: &'static str,
    pub(crate) tasks: u32,
    pub(crate) fixed: Vec<Setting>,
    pub(crate) unit: &'static str,
    pub(crate) points: Vec<DeviceCount>,
    /// (Fastest − slowest) ÷ fastest.
    pub(crate) spread: f64,
    /// Rate on the most devices ÷ rate on the fewest.
    pub(crate) gain: f64,
    /// At most 0.10 over three numbers of devices or more: the tasks are the limit, not the devices.
    pub(crate) flat: bool,
}

/// A rate on a number of devices.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DeviceCount {
    pub(crate) devices: u32,
    pub(crate) figure: usize,
    pub(crate) per_second: f64,
}

/// How sequential a phase was at the application and at the devices.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DiskView {
    pub(crate) figure: usize,
    /// Streams of the application.
    pub(crate) tasks: u32,
    /// Operations that followed another one of the same task and file.
    pub(crate) operations: u64,
    /// Share of them that began where the one before had ended.
    pub(crate) application_share: f64,
    /// Median distance of the others from there.
    pub(crate) application_seek_bytes: Option<f64>,
    /// Requests that followed another one of the same device and direction; absent where they were not traced.
    pub(crate) device_requests: Option<u64>,
    pub(crate) device_share: Option<f64>,
    pub(crate) device_seek_bytes: Option<f64>,
}

/// Whether something fits on a target.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Fit {
    pub(crate) target: String,
    pub(crate) devices: Option<u32>,
    pub(crate) slots: Option<u32>,
    pub(crate) needed_bytes: Option<u64>,
    pub(crate) capacity_bytes: Option<u64>,
    /// What the study says the capacity is, where `capacity_bytes` is of smaller file systems that were there.
    pub(crate) studied_capacity_bytes: Option<u64>,
    /// The study says what is needed; else it is the data of its workloads.
    pub(crate) said: bool,
    pub(crate) fits: bool,
}
