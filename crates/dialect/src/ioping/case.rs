//! Converts settings to a plan.

use std::path::PathBuf;

use plan::{
    Backend, Bytes, Case, Existing, Geometry, Keep, Nanos, Order, Pace, Phase, SyncRule, WorkloadSpec,
};

use super::options::OPTIONS;
use super::settings::{Mode, Settings, Target};
use super::words;
use crate::ToolError;

/// Maximum number of requests that are kept. Beyond that, statistics come from the histogram.
pub(super) const KEPT_MAX: u64 = 1 << 17;
/// Time limit of a run that only the user ends: ten years.
const NO_END: Nanos = Nanos::secs(10 * 365 * 86_400);

impl Settings {
    /// Creates the only case.
    ///
    /// # Errors
    /// Errors if values cannot be measured together.
    pub(super) fn case(&self) -> Result<Case, ToolError> {
        let (transfer, blocks) = (Bytes(self.size), self.work_size / self.size.max(1));
        let geometry = Geometry { transfer, block: transfer, segments: blocks };
        let mut spec = WorkloadSpec::new("ioping", self.file(), geometry);
        if !self.linear {
            spec.order = Order::RandomBlocks { seed: self.seed, blocks, own: true };
        }
        spec.direct = self.direct;
        if self.asynchronous {
            spec.backend = Backend::Uring { depth: 1, required: true };
        }
        spec.forget = self.forgets();
        spec.sync = SyncRule { at_close: false, per_write: self.syncs() };
        spec.data_sync = self.syncs() && !self.sync;
        spec.sync_open = self.syncs() && self.cached;
        spec.read_percent = 50;
        spec.pace =
            (self.interval_ns > 0).then(|| Pace { transfers_per_second: 1e9 / self.interval_ns as f64 });
        match self.requests() {
            Some(requests) => spec.operations = Some(requests),
            None => spec.duration = Some(self.work_time_ns.map_or(NO_END, Nanos)),
        }
        spec.untraced = true;
        spec.history = Some(self.requests().unwrap_or(KEPT_MAX).clamp(1, KEPT_MAX));
        let own = self.target == Target::Directory;
        spec.files.fill = own;
        spec.files.existing = Existing::Reuse;
        spec.files.keep = if own && !self.keep { Keep::Never } else { Keep::Always };
        let wrong =
            |error: plan::PlanError| OPTIONS.error(&self.path.display().to_string(), &error.to_string());
        let workload = spec.validate().map_err(wrong)?;
        let phase = match self.mode {
            Mode::Read => Phase::Read,
            Mode::Write => Phase::Write,
            Mode::Both => Phase::Mixed,
        };
        let mut case = Case { title: self.title(), ..Case::new("ioping", workload, vec![phase]) };
        // Individual requests give no rate, however long the run lasts.
        case.protocol.phase_min = Nanos(1);
        Ok(case)
    }

    /// The file or device to which requests are sent.
    fn file(&self) -> PathBuf {
        match (self.target, self.keep) {
            (Target::Directory, true) => self.path.join("ioping.tmp"),
            // Several instances may run in the same directory.
            (Target::Directory, false) => self.path.join(format!("ioping.tmp.{}", std::process::id())),
            (Target::File | Target::Device, _) => self.path.clone(),
        }
    }

    fn title(&self) -> String {
        let what = match self.mode {
            Mode::Read => "read",
            Mode::Write => "write",
            Mode::Both => "write and read",
        };
        let cache = match (self.cached, self.direct) {
            (true, _) => "page cache",
            (_, true) => "direct",
            _ => "not cached",
        };
        format!("{what} {} of {}, {cache}", words::size(self.size), self.path.display())
    }
}
