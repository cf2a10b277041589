//! What fio's forms of output have in common: a job's workload, from its options.
//!
//! In job options `k`, `m`, `g` are powers of 1024 (`kb_base` is 1024 unless it is set). In results `MiB/s`
//! are 1024² and `MB/s` 1000² bytes.

pub(super) mod json;
pub(super) mod text;

use plan::{Backend, Order, WorkloadSpec};

use crate::import::draft::volume;
use crate::import::lines::{narrow, whole};
use crate::import::units;

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
    /// `group_reporting` has put its jobs together.
    pub(super) grouped: bool,
}

impl Job {
    /// The one size of its requests.
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

    /// Tasks that the figures are of.
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
        // Only these have more than one request under way.
        match self.engine.as_deref() {
            Some("io_uring") => spec.backend = Backend::Uring { depth, required: false },
            Some("libaio") => spec.backend = Backend::Libaio { depth },
            _ => {}
        }
        spec
    }

    pub(super) fn stated(&self) -> String {
        let tasks = self.tasks();
        let parts = [
            self.rw.clone(),
            self.block.as_deref().map(|size| match self.transfer() {
                Some(bytes) => plan::Bytes(bytes).to_string(),
                None => size.to_owned(),
            }),
            self.direct.map(|direct| if direct { "direct" } else { "buffered" }.to_owned()),
            self.engine.clone(),
            self.depth.map(|depth| format!("depth {depth}")),
            Some(if tasks == 1 { "1 job".to_owned() } else { format!("{tasks} jobs") }),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
