//! A published figure and the conditions that were printed with it.

use serde::{Deserialize, Serialize};

use super::detail::{Detail, Details};
use super::words::{Metric, PublishedKind, PublishedOperation, PublishedStatistic, PublishedUnit, Qualifier};

/// A figure of a publication. Values are facts copied from it, in the unit [`Published::unit`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// A unique name of the figure.
    pub id: String,
    /// The [`super::Study::id`], which is set when the library is read.
    #[serde(default)]
    pub study: String,
    /// Title and year of the study, which are set when the library is read.
    #[serde(default)]
    pub cited: String,
    /// What the study says against relying on the figure, which is set when the library is read: [`super::Study::caution`]
    /// for figures that were measured, else empty.
    #[serde(default)]
    pub caution: String,
    /// The table, slide or section of the study.
    pub section: String,
    /// The test, as described in the study.
    pub test: String,
    /// The quantity.
    pub metric: Metric,
    /// The operation.
    pub operation: PublishedOperation,
    /// The statistic.
    pub statistic: PublishedStatistic,
    /// The origin of the figure.
    pub kind: PublishedKind,
    /// The printed text, for example `2.05 GB/s`.
    pub printed: String,
    /// The unit, if it is printed in the heading of a table.
    pub printed_unit: Option<String>,
    /// The correct value, or the printed value if the correct one is unknown.
    pub value: f64,
    /// The unit of the values in this entry.
    pub unit: PublishedUnit,
    /// The value if a printed MB or GB meant MiB or GiB. Set if this is likely, or was a source of
    /// mistakes.
    pub value_if_binary: Option<f64>,
    /// Its precision.
    pub qualifier: Option<Qualifier>,
    /// Set if the printed figure is wrong.
    pub misprint: Option<MisprintText>,
    /// Whether it was damaged by text recognition.
    #[serde(default)]
    pub damaged: bool,
    /// The conditions. Those that the study does not state are missing.
    #[serde(default)]
    pub parameters: PublishedParameters,
    /// A remark for readers of the figure.
    pub note: Option<String>,
}

/// The misprinted text of a published figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MisprintText {
    /// The printed value in the unit of the figure, or `None` if two printed values contradict each other
    /// and it is not known which of them is wrong.
    pub printed_value: Option<f64>,
}

/// The conditions of a published figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PublishedParameters {
    /// The program that was used to measure.
    pub tool: Option<String>,
    /// The interface through which it accessed the files.
    pub api: Option<String>,
    /// Whether the page cache was bypassed.
    pub direct: Option<bool>,
    /// Whether the data was on stable storage in the end.
    pub fsync: Option<bool>,
    /// Whether each task had its own file.
    pub file_per_process: Option<bool>,
    /// Whether tasks read data written by another task.
    pub reorder_tasks: Option<bool>,
    /// Whether offsets were random.
    pub random: Option<bool>,
    /// The order of offsets, as described in the study.
    pub access: Option<String>,
    /// Bytes of one transfer.
    pub transfer_bytes: Option<u64>,
    /// Bytes of one block in the sense of IOR.
    pub block_bytes: Option<u64>,
    /// Number of blocks of each task.
    pub segments: Option<u64>,
    /// Bytes of one file.
    pub file_bytes: Option<u64>,
    /// Number of workers on all nodes together.
    pub tasks: Option<u32>,
    /// The study's term for a worker: `threads`, `processes` or `tasks`.
    pub tasks_called: Option<String>,
    /// Number of workers on each node.
    pub tasks_per_node: Option<u32>,
    /// Number of nodes that measured.
    pub nodes: Option<u32>,
    /// Number of names passed to IOR's `-o`: twelve mount points in one test, one in the others. Only
    /// set, by this project, for figures of IOR with known tasks and transfers.
    pub targets: Option<u32>,
    /// Number of devices under the files.
    pub devices: Option<u32>,
    /// Number of transfers in flight.
    pub queue_depth: Option<u32>,
    /// Percentage of reads.
    pub read_percent: Option<u8>,
    /// The storage layer, for example `NVMe`.
    pub layer: Option<String>,
    /// The storage layout of the files.
    pub layout: Option<String>,
    /// The file system.
    pub file_system: Option<String>,
    /// Names of those of the above fields that the study implies but does not print.
    pub inferred: Vec<String>,
    /// Everything else that was stated.
    pub more: Details,
}

impl Published {
    /// The caches of all components ÷ the working set, if the study gives both.
    #[must_use]
    pub fn cache_share(&self) -> Option<f64> {
        let bytes = |name: &str| self.parameters.more.get(name).and_then(Detail::number);
        Some(bytes("caches")? / bytes("working_set").filter(|&bytes| bytes > 0.0)?)
    }

    /// The figure as printed, with its unit if that was in a heading.
    #[must_use]
    pub fn as_published(&self) -> String {
        match &self.printed_unit {
            Some(unit) => format!("{} {unit}", self.printed),
            None => self.printed.clone(),
        }
    }

    /// The value with its unit, preceded by `≈`, `≥` or `<` if applicable.
    #[must_use]
    pub fn text(&self) -> String {
        let sign = self.qualifier.map_or("", Qualifier::sign);
        format!("{sign}{}", self.unit.text(self.value))
    }
}
