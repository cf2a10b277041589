//! The lines before the results of iozone.

use plan::{Condition, Order, SyncRule, WorkloadSpec};

use crate::import::draft::{Draft, volume};
use crate::import::error::ImportError;
use crate::import::text::command;
use crate::import::text::lines::{Block, narrow, strip_prefix_any_case, whole};
use crate::import::text::units;

/// Lines in its banner.
const DIRECT: &str = "O_DIRECT feature enabled";
const FSYNC: &str = "Include fsync in write timing";
const CLOSE: &str = "Include close in write timing";
const SYNC: &str = "SYNC Mode";
/// Parts of the names of tests that write.
const WRITES: [&str; 2] = ["write", "mixed"];

/// iozone's default stride, in records.
const STRIDE: u64 = 17;

/// The unit of the values in a table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    KibPerSecond,
    /// `-O`.
    OperationsPerSecond,
    /// `-N`: microseconds per operation.
    Microseconds,
}

impl Unit {
    /// Its name in the record.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::KibPerSecond => "KiB/s",
            Self::OperationsPerSecond => "ops/s",
            Self::Microseconds => "us",
        }
    }
}

/// The values in the banner.
pub(super) struct Banner {
    pub(super) tasks: u32,
    pub(super) record_bytes: Option<f64>,
    pub(super) file_bytes: Option<f64>,
    pub(super) unit: Unit,
    pub(super) direct: bool,
    pub(super) synced: bool,
    pub(super) written_through: bool,
    pub(super) began: Option<i64>,
    pub(super) stated: String,
}

impl Banner {
    pub(super) fn spec(
        &self,
        name: &str,
        record_bytes: Option<f64>,
        file_bytes: Option<f64>,
    ) -> WorkloadSpec {
        let record = whole(record_bytes.unwrap_or(1.0));
        let file = whole(file_bytes.unwrap_or(record as f64));
        let mut spec = WorkloadSpec::new(name, "unknown", volume(record, file));
        spec.tasks = self.tasks.max(1);
        spec.direct = self.direct;
        spec.order = match name {
            "random-read" | "random-write" | "mixed" => Order::Random { seed: 0 },
            "backward-read" => Order::Backward,
            "record-rewrite" => Order::Same,
            "stride-read" => Order::Strided { stride: STRIDE },
            _ => Order::Sequential,
        };
        if WRITES.iter().any(|write| name.contains(write)) {
            spec.sync = SyncRule { at_close: self.synced, per_write: self.written_through };
        }
        spec
    }

    /// IOzone does one operation at a time, in an order that the test has; its options are in the banner.
    pub(super) fn known(&self, record: bool, file: bool) -> [(Condition, bool); 8] {
        [
            (Condition::Transfer, record),
            (Condition::Volume, record && file),
            (Condition::Order, true),
            (Condition::Sharing, true),
            (Condition::Cache, true),
            (Condition::Sync, true),
            (Condition::Depth, true),
            (Condition::Tasks, true),
        ]
    }
}

/// Parses the banner.
///
/// # Errors
/// Errors if a size or a number cannot be parsed.
pub(super) fn banner(block: &Block<'_>, draft: &Draft) -> Result<Banner, ImportError> {
    let mut banner = Banner {
        tasks: 1,
        record_bytes: None,
        file_bytes: None,
        unit: Unit::KibPerSecond,
        direct: false,
        synced: true,
        written_through: false,
        began: draft.started,
        stated: String::new(),
    };
    let mut parts = Vec::new();
    let has = |mark: &str| block.lines.iter().any(|line| line.text.trim().starts_with(mark));
    banner.direct = has(DIRECT);
    // IOzone syncs after every test, timed or not, except if only the close is timed.
    banner.synced = has(FSYNC) || !has(CLOSE);
    banner.written_through = has(SYNC);
    for line in block.lines {
        let text = line.text.trim();
        let sized = |rest: &str, what: &str| {
            units::size(rest, false)
                .ok_or_else(|| block.malformed(*line, rest, format!("{what} as in `64 kB`")))
        };
        if let Some(rest) = strip_prefix_any_case(text, "Record Size ") {
            banner.record_bytes = Some(sized(rest, "a record size")?);
        } else if let Some(rest) = strip_prefix_any_case(text, "File size set to ") {
            banner.file_bytes = Some(sized(rest, "a file size")?);
        } else if let Some(rest) = strip_prefix_any_case(text, "Throughput test with ") {
            let count = rest.split_whitespace().next().unwrap_or_default();
            banner.tasks = narrow(block.count(*line, count, "a number of processes")?);
        } else if text.starts_with("OPS Mode") {
            banner.unit = Unit::OperationsPerSecond;
        } else if text.starts_with("Microseconds/op Mode") {
            banner.unit = Unit::Microseconds;
        } else if text.starts_with(DIRECT) {
            parts.push("direct");
        } else if text.starts_with("Network distribution mode enabled") {
            parts.push("over nodes");
        } else if text.starts_with(FSYNC) {
            parts.push("fsync timed");
        } else if text.starts_with(CLOSE) {
            parts.push("close timed");
        } else if text.starts_with(SYNC) {
            parts.push("O_SYNC");
        }
    }
    banner.stated = parts.join(", ");
    Ok(banner)
}

/// The tests selected by `-i` in the printed command line.
pub(super) fn selected(command: &str) -> Vec<String> {
    command::values(command, "-i")
}
