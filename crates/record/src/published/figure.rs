//! A published figure and the conditions that were printed with it.

use serde::{Deserialize, Serialize};

use super::detail::Details;
use super::words::{Metric, PublishedKind, PublishedOperation, PublishedStatistic, PublishedUnit, Qualifier};

/// A figure of a publication. Values are copied facts, in the unit of [`Published::unit`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// A name that no other figure has.
    pub id: String,
    /// The [`super::Study::id`]; filled in when the library is read.
    #[serde(default)]
    pub study: String,
    /// Title and year of the study; filled in when the library is read.
    #[serde(default)]
    pub cited: String,
    /// The table, slide or section of the study.
    pub section: String,
    /// The test in the study's own words.
    pub test: String,
    /// What the figure is of.
    pub metric: Metric,
    /// What was done.
    pub operation: PublishedOperation,
    /// Which of several values it is.
    pub statistic: PublishedStatistic,
    /// Where it comes from.
    pub kind: PublishedKind,
    /// Word for word, as in `2.05 GB/s`.
    pub printed: String,
    /// The unit, where it stands in the heading of a table.
    pub printed_unit: Option<String>,
    /// The correct value; the printed value if the correct one is unknown.
    pub value: f64,
    /// The unit of the values.
    pub unit: PublishedUnit,
    /// The value if a printed MB or GB was meant as MiB or GiB; where that is likely or was a trap.
    pub value_if_binary: Option<f64>,
    /// Its precision.
    pub qualifier: Option<Qualifier>,
    /// Set where the printed figure is wrong.
    pub misprint: Option<MisprintText>,
    /// Text recognition damaged it.
    #[serde(default)]
    pub damaged: bool,
    /// The conditions. What the study does not say is absent.
    #[serde(default)]
    pub parameters: PublishedParameters,
    /// A remark for readers of the figure.
    pub note: Option<String>,
}

/// The misprinted text of a published figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MisprintText {
    /// The printed value, in the unit of the figure; none where two printed ones contradict and
    /// it is not known which is wrong.
    pub printed_value: Option<f64>,
}

/// The conditions of a published figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PublishedParameters {
    /// The program that measured.
    pub tool: Option<String>,
    /// Its interface to the files.
    pub api: Option<String>,
    /// Bypasses the page cache.
    pub direct: Option<bool>,
    /// Data were on stable storage in the end.
    pub fsync: Option<bool>,
    /// Each task had its own file.
    pub file_per_process: Option<bool>,
    /// Tasks read data of another task.
    pub reorder_tasks: Option<bool>,
    /// Offsets were random.
    pub random: Option<bool>,
    /// The order of offsets in the study's words.
    pub access: Option<String>,
    /// Bytes of one transfer.
    pub transfer_bytes: Option<u64>,
    /// Bytes of one block, as IOR has them.
    pub block_bytes: Option<u64>,
    /// Blocks of each task.
    pub segments: Option<u64>,
    /// Bytes of one file.
    pub file_bytes: Option<u64>,
    /// Workers on all nodes together.
    pub tasks: Option<u32>,
    /// What the study calls a worker: `threads`, `processes` or `tasks`.
    pub tasks_called: Option<String>,
    /// Workers on one node.
    pub tasks_per_node: Option<u32>,
    /// Nodes that measured.
    pub nodes: Option<u32>,
    /// Names given to IOR's `-o`: twelve mount points in one test, one elsewhere. Only figures of
    /// IOR with known tasks and transfers have it; this project has filled it in.
    pub targets: Option<u32>,
    /// Devices under the files.
    pub devices: Option<u32>,
    /// Transfers in flight.
    pub queue_depth: Option<u32>,
    /// Share of reads.
    pub read_percent: Option<u8>,
    /// The storage layer, as in `NVMe`.
    pub layer: Option<String>,
    /// The storage layout of the files.
    pub layout: Option<String>,
    /// The file system.
    pub file_system: Option<String>,
    /// Names of the above fields that the study implies but does not print.
    pub inferred: Vec<String>,
    /// All else that was said.
    pub more: Details,
}

impl Published {
    /// The figure as printed, with its unit where that stood in a heading.
    #[must_use]
    pub fn as_published(&self) -> String {
        match &self.printed_unit {
            Some(unit) => format!("{} {unit}", self.printed),
            None => self.printed.clone(),
        }
    }

    /// The value with its unit, and `≈`, `≥` or `<` where it is meant so.
    #[must_use]
    pub fn text(&self) -> String {
        let sign = self.qualifier.map_or("", Qualifier::sign);
        format!("{sign}{}", self.unit.text(self.value))
    }
}
