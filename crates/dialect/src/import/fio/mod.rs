//! What the formats of fio's output have in common: the workload of a job, derived from its options.
//!
//! In job options `k`, `m`, `g` are powers of 1024 (`kb_base` is 1024 by default). In results `MiB/s` are
//! 1024² and `MB/s` 1000² bytes.

pub(super) mod json;
mod terse;
pub(super) mod text;

use plan::{Backend, Condition, Operation, Order, WorkloadSpec};

use crate::import::draft::{Bucket, Pass, volume};
use crate::import::text::lines::{narrow, whole};
use crate::import::text::units;

/// The tool's name.
pub(super) const TOOL: &str = "fio";

/// The known options of a job.
#[derive(Debug, Clone, Default)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) rw: Option<String>,
    pub(super) block: Option<String>,
    pub(super) engine: Option<String>,
    pub(super) depth: Option<u64>,
    pub(super) jobs: Option<u64>,
    pub(super) direct: Option<bool>,
    pub(super) size: Option<u64>,
    pub(super) file: Option<String>,
    /// Whether its jobs are combined by `group_reporting`.
    pub(super) grouped: bool,
}

impl Job {
    /// The size of its requests, if all have the same size.
    pub(super) fn transfer(&self) -> Option<u64> {
        let text = self.block.as_deref()?;
        if let Some((low, high)) = text.split_once('-') {
            let (low, high) = (units::size(low, false)?, units::size(high, false)?);
            return (low.to_bits() == high.to_bits()).then(|| whole(low));
        }
        let mut sizes = text.split(',').map(|size| units::size(size, false).map(whole));
        let first = sizes.next()??;
        sizes.all(|size| size == Some(first)).then_some(first)
    }

    /// Whether reads and writes are mixed.
    pub(super) fn is_mixed(&self) -> bool {
        matches!(
            self.rw.as_deref().map(|rw| rw.split(':').next().unwrap_or(rw)),
            Some("rw" | "readwrite" | "randrw")
        )
    }

    /// The number of tasks to which the figures refer.
    fn tasks(&self) -> u32 {
        if self.grouped { narrow(self.jobs.unwrap_or(1)).max(1) } else { 1 }
    }

    pub(super) fn spec(&self) -> WorkloadSpec {
        let transfer = self.transfer().unwrap_or(1);
        let target = self.file.clone().unwrap_or_else(|| "unknown".to_owned());
        let mut spec =
            WorkloadSpec::new(self.name.clone(), target, volume(transfer, self.size.unwrap_or(transfer)));
        spec.tasks = self.tasks();
        spec.direct = self.direct.unwrap_or(false);
        if self.rw.as_deref().is_some_and(|rw| rw.starts_with("rand")) {
            spec.order = Order::Random { seed: 0 };
        }
        let depth = narrow(self.depth.unwrap_or(1)).max(1);
        // Only these engines have more than one request in flight.
        match self.engine.as_deref() {
            Some("io_uring") => spec.backend = Backend::Uring { depth, required: false },
            Some("libaio") => spec.backend = Backend::Libaio { depth },
            _ => {}
        }
        spec
    }

    /// The conditions among its options that are known.
    pub(super) fn known(&self) -> [(Condition, bool); 8] {
        [
            (Condition::Transfer, self.transfer().is_some()),
            (Condition::Volume, self.size.is_some() && self.transfer().is_some()),
            (Condition::Order, self.rw.is_some()),
            (Condition::Path, self.file.is_some()),
            (Condition::Cache, self.direct.is_some()),
            (Condition::Engine, self.engine.is_some()),
            (Condition::Depth, self.depth.is_some()),
            (Condition::Tasks, self.jobs.is_some() || !self.grouped),
        ]
    }

    pub(super) fn stated(&self) -> String {
        let tasks = self.tasks();
        let jobs = if tasks == 1 { "1 job".to_owned() } else { format!("{tasks} jobs") };
        [self.asked_for(), vec![jobs]].concat().join(", ")
    }

    /// What the known options specify, without the number of jobs.
    fn asked_for(&self) -> Vec<String> {
        let parts = [
            self.rw.clone(),
            self.block.as_deref().map(|size| match self.transfer() {
                Some(bytes) => plan::Bytes(bytes).to_string(),
                None => size.to_owned(),
            }),
            self.direct.map(|direct| if direct { "direct" } else { "buffered" }.to_owned()),
            self.engine.clone(),
            self.depth.map(|depth| format!("depth {depth}")),
        ];
        parts.into_iter().flatten().collect()
    }
}

/// If the mean differs from the printed one by more than this, a remark is added.
const MEAN_OFF: f64 = 0.1;

/// Adds a histogram derived from percentiles, given in percent and nanoseconds: the requests between two
/// consecutive percentiles.
pub(super) fn between_percentiles(
    pass: &mut Pass,
    operation: Operation,
    requests: f64,
    percentiles: &[(f64, u64)],
    (min, max): (f64, f64),
    mean: f64,
) {
    let (mut below, mut low) = (0, whole(min));
    let (mut sum, mut rows) = (0.0, Vec::new());
    let last = [(100.0, whole(max))];
    for &(percent, high) in percentiles.iter().chain(&last) {
        let upto = whole(requests * percent / 100.0).max(below);
        let high_ns = high.max(low);
        if upto > below {
            rows.push(Bucket { operation, low_ns: low, high_ns, count: upto - below });
            sum += f64::midpoint(low as f64, high_ns as f64) * (upto - below) as f64;
        }
        (below, low) = (upto, high_ns);
    }
    let found = sum / requests.max(1.0);
    pass.latency.extend(rows);
    pass.note("latencies are only known from printed percentiles: nothing is known between two of them");
    if mean > 0.0 && (found / mean - 1.0).abs() > MEAN_OFF {
        pass.note(format!("their mean is {found:.0} ns by the percentiles, and {mean:.0} ns as printed"));
    }
}
