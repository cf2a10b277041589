//! The parts of a model, as a file describes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::trouble::Trouble;
use crate::model::units::{Bandwidth, Size, Time};

/// A storage system: its parts, and how data goes through them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// What it is.
    pub model: Description,
    /// The computers that run the tasks.
    pub node: Node,
    /// Networks and buses.
    #[serde(default, rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// File servers, controllers and other parts that serve requests on the way to the devices.
    #[serde(default, rename = "server", skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<Server>,
    /// Drives, in groups of the same kind.
    #[serde(default, rename = "device", skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Device>,
    /// Services for names: files and directories.
    #[serde(default, rename = "metadata", skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<Metadata>,
    /// How files lie on devices.
    #[serde(default, rename = "layout", skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<Layout>,
    /// What goes wrong.
    #[serde(default, rename = "trouble", skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<Trouble>,
}

/// What a model is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// Its name; reports show it.
    pub name: String,
    /// Where its figures come from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// Relative standard deviation of the rate from phase to phase, log-normal: what differs between
    /// repetitions although nothing was changed. `0.02` is 2 %.
    #[serde(default)]
    pub noise: f64,
    /// The largest percentile that its times describe. A promise of a larger one is doubtful in this model; without the
    /// key every percentile is that of the distributions in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<f64>,
}

/// The computers that run the tasks, all alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// How many there are.
    #[serde(default = "one")]
    pub count: u32,
    /// Processors of each.
    #[serde(default = "one")]
    pub processors: u32,
    /// Memory of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// Processor time that a task spends on each transfer or operation, besides waiting for it. Of an exchange the
    /// client spends it on the request, and the server on the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_time: Option<Time>,
    /// How far the clock of the last node is behind that of the first at the start; those between lie evenly. The
    /// record has the offsets, as it has those of measured nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_offset: Option<Time>,
    /// How much the clock of the last node loses against that of the first, as a share of the time: `1e-6` is a
    /// microsecond in each second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_drift: Option<f64>,
    /// Rows of a table per second that one processor reads or writes, for steps of jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_second: Option<f64>,
    /// Operations per second that a step of a job computes on one processor: floating-point ones, or visits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_second: Option<f64>,
    /// Bandwidth of its own network adapter, each way; layouts that are local do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Requests per second that its file-system client sends to layouts that are not local.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
    /// Links that messages between two nodes pass, besides the adapters of both. Node number `i` of `n` is behind
    /// member `i · count ÷ n` of each: a message passes the member of its sender outwards, and that of its receiver
    /// inwards. Up to 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// Page cache for transfers that are not direct; without it all transfers go to the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
}

/// A page cache.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Bytes that it can hold.
    pub size: Size,
    /// Bytes that may wait to be written; writers wait beyond that. A fifth of the size where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<Size>,
    /// Bytes per second that the node copies from and to it.
    pub rate: Bandwidth,
}

/// A network or bus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Its name, for `through`.
    pub name: String,
    /// How many there are side by side.
    #[serde(default = "one")]
    pub count: u32,
    /// Bandwidth of each, in each direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Time from one end to the other, once for the request and once for the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Time>,
}

/// A server or controller that requests pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its name, for `through`.
    pub name: String,
    /// How many there are side by side.
    #[serde(default = "one")]
    pub count: u32,
    /// Requests that each serves at once.
    #[serde(default = "one")]
    pub slots: u32,
    /// How long a read takes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Service>,
    /// How long a write takes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Service>,
    /// Limits of its rates.
    #[serde(default)]
    pub limits: Limits,
}

/// Drives of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Their name, for layouts; device number `i` is `NAME-i`.
    pub name: String,
    /// How many there are; of a local layout on each node.
    #[serde(default = "one")]
    pub count: u32,
    /// Requests that each serves at once.
    #[serde(default = "one")]
    pub slots: u32,
    /// Capacity of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// How long a read takes.
    pub read: Service,
    /// How long a write takes.
    pub write: Service,
    /// A cache that takes writes at once while it has room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<WriteCache>,
    /// Limits of its rates.
    #[serde(default)]
    pub limits: Limits,
}

/// Upper limits of rates, whatever the number of requests at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Reads per second of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<f64>,
    /// Writes per second of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<f64>,
    /// Bytes per second of each that reads get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bandwidth: Option<Bandwidth>,
    /// Bytes per second of each that writes get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bandwidth: Option<Bandwidth>,
}

/// The time of one request: a part that does not depend on its size, plus bytes ÷ rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Mean of the part that does not depend on the size.
    #[serde(default = "no_time")]
    pub time: Time,
    /// Time of a request that begins where the last one on this device ended; `time` where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_time: Option<Time>,
    /// Bytes per second of one request; unlimited where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Bandwidth>,
    /// How `time` is distributed.
    #[serde(default)]
    pub distribution: Distribution,
    /// Standard deviation ÷ mean, for `log-normal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// For `empirical`: quantiles at equal steps from the least to the largest time, at least two. They
    /// replace `time`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<Time>,
    /// More quantiles between the last two of `quantiles`: at 99.9 %, 99.99 % and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tail: Vec<Time>,
}

/// How a time is distributed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Always the mean.
    #[default]
    Fixed,
    /// Exponential.
    Exponential,
    /// Log-normal with a `deviation`.
    LogNormal,
    /// By `quantiles` and `tail`, evenly between two of them.
    Empirical,
}

/// A write cache of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteCache {
    /// Bytes that it holds.
    pub size: Size,
    /// Time of a write that it has room for, besides bytes ÷ rate of `write`.
    #[serde(default = "no_time")]
    pub time: Time,
    /// Bytes per second that it empties with.
    pub drain: Bandwidth,
}

/// A service for names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// Its name, for layouts.
    pub name: String,
    /// Servers; directories are spread over them.
    #[serde(default = "one")]
    pub count: u32,
    /// Operations that each serves at once.
    #[serde(default = "one")]
    pub slots: u32,
    /// Making a file or directory.
    pub create: Service,
    /// Looking at one.
    pub stat: Service,
    /// Opening one; as `stat` where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<Service>,
    /// Removing one.
    pub remove: Service,
    /// Renaming one; as `create` where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rename: Option<Service>,
    /// Listing a directory; as `stat` where left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Service>,
    /// Time for which an operation that changes a directory keeps others out of that directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory_lock: Option<Time>,
}

/// How files lie on devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// The targets of studies that are on it, by name. `*` stands for any text, as in `lustre*`. Of several
    /// layouts that match, the first counts.
    #[serde(default = "all_targets")]
    pub targets: Vec<String>,
    /// The group of devices.
    pub devices: String,
    /// Links and servers between nodes and devices, from the nodes on. Device number `i` of `n` is behind
    /// member `i · count ÷ n` of each. Up to 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// The service for names; without one, names cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<String>,
    /// Each node has its own devices, links and servers.
    #[serde(default)]
    pub local: bool,
    /// Devices that each file is on. Where it is left out, these are all of them with `chunk` or `parity`, and else one.
    /// Files begin at one device after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<u32>,
    /// Bytes on one device before the next one follows; 1 MiB where it is left out and files are on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Size>,
    /// Copies of each chunk, on different devices.
    #[serde(default = "one")]
    pub copies: u32,
    /// Chunks of parity for each `stripe - parity` chunks of data. A write of less than a full stripe reads
    /// and writes its chunk and the parity.
    #[serde(default)]
    pub parity: u32,
}

impl Layout {
    /// The number of devices, of `devices`, that each file is on, and the bytes on one of them before the next one
    /// follows; no bytes where a file is on one device.
    #[must_use]
    pub fn striping(&self, devices: u32) -> (u32, Option<Size>) {
        if self.chunk.is_none() && self.stripe.is_none() && self.parity == 0 {
            return (1, None);
        }
        (self.stripe.unwrap_or(devices), Some(self.chunk.unwrap_or(Size(1 << 20))))
    }
}

const fn one() -> u32 {
    1
}

const fn no_time() -> Time {
    Time(0)
}

fn all_targets() -> Vec<String> {
    vec!["*".to_owned()]
}
