//! Checks which workloads can be measured.

use std::collections::BTreeSet;

use crate::work::tree::PATH_BYTES_MAX;
use crate::workload::backend::names_with;
use crate::workload::limits::{DEPTH_MAX, HISTORY_MAX, PIECES_MAX, TASKS_MAX};
use crate::{Bytes, Geometry, Order, PlanError, Sharing, Spread, TreePlacement, Workload, WorkloadSpec};

/// Maximum transfer size: Linux moves at most 2 GiB minus one page in one call (see `read(2)`,
/// notes).
const TRANSFER_MAX: Bytes = Bytes(0x7fff_f000);

impl WorkloadSpec {
    /// Checks every value against the others.
    ///
    /// # Errors
    /// The first value that cannot be measured, with what is allowed.
    pub fn validate(self) -> Result<Workload, PlanError> {
        self.work.kind().check(&self)?;
        self.check_tasks()?;
        self.check_times()?;
        self.check_backend()?;
        self.check_history()?;
        self.check_cache_and_data_sync()?;
        self.check_sync_open()?;
        if self.work.makes_trees() {
            self.check_names()?;
        }
        let workload = Workload(self);
        check_paths(&workload)?;
        Ok(workload)
    }

    /// Checks work on names: they are created at full speed, each once.
    fn check_names(&self) -> Result<(), PlanError> {
        let refused = |field, problem: &str, help: &str| Err(PlanError::new(field, problem, help));
        if !self.backend.capabilities().trees {
            let problem = "files and directories are created with system calls or io_uring";
            let help = format!("use the backend {}", names_with(|one| one.trees));
            return refused("backend", problem, &help);
        }
        if self.duration.is_some() {
            let problem = "a phase that creates or removes each item once cannot be repeated for a time";
            return refused("duration", problem, "use a stonewall, which ends it earlier");
        }
        if self.operations.is_some() {
            let problem = "each item is used once in a phase";
            return refused("operations", problem, "give the number of items instead");
        }
        if self.pace.is_some() {
            let problem = "operations on items cannot be paced";
            return refused("rate", problem, "leave it out");
        }
        Ok(())
    }

    pub(crate) fn check_sizes(&self) -> Result<(), PlanError> {
        let Geometry { transfer, block, segments } = self.geometry;
        if transfer.0 == 0 {
            return Err(PlanError::new(
                "transfer",
                "a transfer of 0 bytes moves nothing",
                "give a size of at least 1 byte, for example 1m",
            ));
        }
        if transfer > TRANSFER_MAX {
            return Err(PlanError::new(
                "transfer",
                format!("a transfer of {transfer} is more than one call can move"),
                format!("Linux moves at most {} bytes in one call", TRANSFER_MAX.0),
            ));
        }
        if block.0 == 0 || segments == 0 {
            return Err(PlanError::new(
                if segments == 0 { "segments" } else { "block" },
                "nothing to transfer: the block size and the segment count must be at least 1",
                "give a block of one transfer or more, and one segment or more",
            ));
        }
        if !block.0.is_multiple_of(transfer.0) {
            let nearest = (block.0 / transfer.0).max(1).saturating_mul(transfer.0);
            return Err(PlanError::new(
                "block",
                format!(
                    "the block of {} bytes is not a multiple of the transfer of {} bytes",
                    block.0, transfer.0
                ),
                format!("the nearest multiple is {nearest} bytes"),
            ));
        }
        let total = u128::from(block.0) * u128::from(segments) * u128::from(self.tasks.max(1));
        if total > u128::from(i64::MAX.unsigned_abs()) {
            return Err(PlanError::new(
                "segments",
                format!("{total} bytes are more than a file offset can hold"),
                "lower the block, the segments or the tasks",
            ));
        }
        Ok(())
    }

    pub(crate) fn check_order(&self) -> Result<(), PlanError> {
        if let Order::RandomBlocks { blocks, .. } = self.order
            && (blocks == 0 || blocks > i64::MAX.unsigned_abs() / self.geometry.block.0.max(1))
        {
            return Err(PlanError::new(
                "block",
                format!("a file of {blocks} whole blocks cannot be accessed in random order"),
                "give blocks no larger than the file",
            ));
        }
        let Order::Strided { stride } = self.order else { return Ok(()) };
        if stride == 0 {
            return Err(PlanError::new(
                "stride",
                "a stride of 0 transfers does not move",
                "give a number of at least 1, or order = \"same\"",
            ));
        }
        if self.geometry.segments > 1 && self.geometry.transfers_per_block() > 1 {
            return Err(PlanError::new(
                "stride",
                "strides over several blocks of several transfers do not have equal lengths in the file",
                "give one segment, or blocks of one transfer",
            ));
        }
        let longest = u128::from(stride) * u128::from(self.geometry.block.0) * u128::from(self.tasks.max(1));
        if longest > u128::from(i64::MAX.unsigned_abs()) {
            return Err(PlanError::new(
                "stride",
                format!("a stride of {stride} transfers is more than a file offset can hold"),
                "lower it: a stride above the number of transfers is the same as that number",
            ));
        }
        Ok(())
    }

    fn check_tasks(&self) -> Result<(), PlanError> {
        if self.files.targets.is_empty() && self.work.has_target() {
            return Err(PlanError::new("target", "there is no target", "name at least one path"));
        }
        if self.files.exact_names && self.files.sharing == Sharing::PerTask {
            self.check_file_names()?;
        }
        if self.tasks == 0 || self.tasks > TASKS_MAX {
            return Err(PlanError::new(
                "tasks",
                format!("{} tasks cannot run", self.tasks),
                format!("give a number from 1 to {TASKS_MAX}"),
            ));
        }
        // Nodes of exchanges may only respond.
        if self.work.has_target() && (self.nodes == 0 || self.nodes > self.tasks) {
            return Err(PlanError::new(
                "nodes",
                format!("{} tasks cannot run on {} nodes", self.tasks, self.nodes),
                format!("give a number of nodes from 1 to {}, or more tasks", self.tasks),
            ));
        }
        if matches!(self.spread, Spread::Ranks { tasks_per_rank: 0 }) {
            return Err(PlanError::new(
                "tasks_per_rank",
                "processes with 0 tasks measure nothing",
                "give a number of at least 1",
            ));
        }
        if self.read_percent > 100 {
            return Err(PlanError::new(
                "read_percent",
                format!("the share of reads cannot be {} %", self.read_percent),
                "give a share from 0 to 100",
            ));
        }
        Ok(())
    }

    fn check_cache_and_data_sync(&self) -> Result<(), PlanError> {
        // With this open flag any write is affected; the other backends have no call that syncs data
        // only.
        let by_call = self.data_sync && !self.sync_open;
        let able = self.backend.capabilities();
        let (problem, help) = match (self.forget && !able.forgets, by_call && !able.data_sync) {
            (true, _) => ("evict cached pages before each read", names_with(|one| one.forgets)),
            (false, true) => ("sync data only", names_with(|one| one.data_sync)),
            (false, false) => return Ok(()),
        };
        Err(PlanError::new(
            "backend",
            format!("{} cannot {problem}", able.name),
            format!("use the backend {help}"),
        ))
    }

    fn check_sync_open(&self) -> Result<(), PlanError> {
        let later = !self.backend.capabilities().sync_open;
        match self.sync_open {
            true if later => Err(PlanError::new(
                "backend",
                format!(
                    "{} writes after its calls have returned, whatever the file is opened with",
                    self.backend.name()
                ),
                "leave sync_open out: each write is then followed by a sync call",
            )),
            true if !self.sync.per_write => Err(PlanError::new(
                "sync_open",
                "the file is opened for stable writes, but none are requested",
                "set sync.per_write as well",
            )),
            _ => Ok(()),
        }
    }

    fn check_history(&self) -> Result<(), PlanError> {
        match self.history {
            Some(kept) if !(1..=HISTORY_MAX).contains(&kept) => Err(PlanError::new(
                "history",
                format!("a process cannot keep {kept} operations"),
                format!("give a number from 1 to {HISTORY_MAX}"),
            )),
            _ => Ok(()),
        }
    }

    fn check_file_names(&self) -> Result<(), PlanError> {
        let targets = &self.files.targets;
        if targets.len() != self.tasks as usize {
            return Err(PlanError::new(
                "target",
                format!("{} names do not match {} tasks", targets.len(), self.tasks),
                "name as many files as there are tasks",
            ));
        }
        let mut seen = BTreeSet::new();
        match targets.iter().find(|target| !seen.insert(*target)) {
            Some(twice) => Err(PlanError::new(
                "target",
                format!("two tasks cannot each have {} to themselves", twice.display()),
                "name another file for one of them",
            )),
            None => Ok(()),
        }
    }

    fn check_times(&self) -> Result<(), PlanError> {
        if let Some(pace) = self.pace
            && !(pace.transfers_per_second > 0.0 && pace.transfers_per_second <= 1e9)
        {
            return Err(PlanError::new(
                "rate",
                format!("{} transfers per second cannot be paced", pace.transfers_per_second),
                "give a rate above 0 and up to 1e9",
            ));
        }
        if self.duration.is_some() && self.stonewall.is_some() {
            return Err(PlanError::new(
                "duration",
                "a phase cannot have both a duration and a stonewall deadline",
                "a duration repeats the pass until the time is over; a stonewall ends within the first pass; choose one",
            ));
        }
        if self.transfer_limit == Some(0) {
            return Err(PlanError::new(
                "transfer_limit",
                "a limit of 0 transfers measures nothing",
                "give a number of at least 1, or no limit",
            ));
        }
        if let Some(operations) = self.operations {
            self.check_operations(operations)?;
        }
        if self.duration.is_some_and(|d| d.0 == 0) || self.stonewall.is_some_and(|s| s.deadline.0 == 0) {
            return Err(PlanError::new("duration", "a phase of 0 s measures nothing", "give a time above 0"));
        }
        Ok(())
    }

    fn check_operations(&self, operations: u64) -> Result<(), PlanError> {
        let error = |problem: &str, help: &str| Err(PlanError::new("operations", problem, help));
        if operations == 0 {
            return error("0 operations of each task measure nothing", "give a number of at least 1");
        }
        if self.duration.is_some() || self.stonewall.is_some() || self.transfer_limit.is_some() {
            return error(
                "a phase cannot end both after a number of operations and at another limit",
                "choose one of operations, duration and stonewall",
            );
        }
        Ok(())
    }

    fn check_backend(&self) -> Result<(), PlanError> {
        let (depth, able) = (self.backend.depth(), self.backend.capabilities());
        if depth == 0 || depth > DEPTH_MAX {
            return Err(PlanError::new(
                "depth",
                format!("a depth of {depth} cannot be queued"),
                format!("give a number from 1 to {DEPTH_MAX}"),
            ));
        }
        if let (true, Some(reason)) = (self.direct, able.direct_refused) {
            let others = names_with(|one| one.direct_refused.is_none());
            let help = format!("leave direct I/O off, or use the backend {others}");
            return Err(PlanError::new("direct", reason, help));
        }
        if let (true, Some(reason)) = (self.single_attempt, able.single_attempt_refused) {
            let others = names_with(|one| one.single_attempt_refused.is_none());
            let help = format!("leave it off, or use the backend {others}");
            return Err(PlanError::new("single_attempt", reason, help));
        }
        if able.vectored { self.check_pieces(u64::from(self.backend.pieces())) } else { Ok(()) }
    }

    fn check_pieces(&self, pieces: u64) -> Result<(), PlanError> {
        let transfer = self.geometry.transfer.0;
        if pieces == 0 || pieces > PIECES_MAX || !transfer.is_multiple_of(pieces) {
            return Err(PlanError::new(
                "pieces",
                format!("a transfer of {transfer} bytes cannot be moved in {pieces} equal pieces"),
                format!("give a number from 1 to {PIECES_MAX} that divides the transfer"),
            ));
        }
        Ok(())
    }
}

/// Checks that the kernel accepts the longest path of a tree.
fn check_paths(workload: &Workload) -> Result<(), PlanError> {
    let bytes = TreePlacement::new(workload).map_or(0, TreePlacement::path_bytes_max);
    if bytes <= PATH_BYTES_MAX {
        return Ok(());
    }
    Err(PlanError::new(
        "levels",
        format!("the longest path would have {bytes} bytes, but the kernel takes {PATH_BYTES_MAX}"),
        "lower the levels, or name a target with a shorter path",
    ))
}

#[cfg(test)]
mod tests {
    use crate::{Backend, Bytes, Geometry, Order, Pace, WorkloadSpec};

    fn spec(transfer: Bytes, block: Bytes) -> WorkloadSpec {
        WorkloadSpec::new("w", "f", Geometry { transfer, block, segments: 1 })
    }

    #[test]
    fn a_block_that_is_no_multiple_is_refused_with_the_nearest_that_is() {
        let error = spec(Bytes::mib(16), Bytes::mib(1)).validate().unwrap_err();
        assert_eq!(error.field, "block");
        assert!(error.message.contains("1048576") && error.message.contains("16777216"), "{error}");
        assert!(error.help.contains("16777216"), "{}", error.help);
    }

    #[test]
    fn values_that_cannot_be_measured_name_their_field() {
        let field = |change: fn(&mut WorkloadSpec)| {
            let mut spec = spec(Bytes::kib(4), Bytes::mib(1));
            change(&mut spec);
            spec.validate().map(|_| ()).unwrap_err().field
        };
        assert_eq!(field(|s| s.geometry.transfer = Bytes(0)), "transfer");
        assert_eq!(field(|s| s.geometry.segments = 0), "segments");
        assert_eq!(field(|s| s.geometry.segments = u64::MAX / 2), "segments");
        assert_eq!(field(|s| s.tasks = 0), "tasks");
        assert_eq!(field(|s| s.read_percent = 101), "read_percent");
        assert_eq!(field(|s| s.backend = Backend::Uring { depth: 0, required: true }), "depth");
        assert_eq!(field(|s| s.order = Order::Strided { stride: 0 }), "stride");
        assert_eq!(field(|s| s.order = Order::Strided { stride: u64::MAX }), "stride");
        assert_eq!(field(|s| (s.order, s.geometry.segments) = (Order::Strided { stride: 2 }, 2)), "stride");
        assert_eq!(field(|s| s.backend = Backend::Vectored { pieces: 0 }), "pieces");
        assert_eq!(field(|s| s.backend = Backend::Vectored { pieces: 3 }), "pieces");
        assert_eq!(field(|s| (s.direct, s.backend) = (true, Backend::Stdio)), "direct");
        assert_eq!(field(|s| (s.single_attempt, s.backend) = (true, Backend::Stdio)), "single_attempt");
        assert_eq!(field(|s| s.files.targets.clear()), "target");
        assert_eq!(field(|s| s.pace = Some(Pace { transfers_per_second: f64::NAN })), "rate");
    }

    fn synced(backend: Backend) -> WorkloadSpec {
        let mut spec = spec(Bytes::kib(4), Bytes::kib(64));
        (spec.backend, spec.sync.per_write, spec.sync_open) = (backend, true, true);
        spec
    }

    #[test]
    fn a_flag_at_open_makes_writes_stable_where_calls_write() {
        for data_sync in [false, true] {
            for backend in [Backend::Psync, Backend::Uring { depth: 4, required: true }] {
                let spec = WorkloadSpec { data_sync, ..synced(backend) };
                assert!(spec.validate().is_ok(), "{backend:?}");
            }
            for backend in [Backend::Stdio, Backend::Mmap] {
                let spec = WorkloadSpec { data_sync, ..synced(backend) };
                assert_eq!(spec.validate().expect_err("writes later").field, "backend");
            }
        }
        let mut none = synced(Backend::Psync);
        none.sync.per_write = false;
        assert_eq!(none.validate().expect_err("nothing is to be stable").field, "sync_open");
    }
}
