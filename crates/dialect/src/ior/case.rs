//! Converts the settings of a test to a case of the plan.

use std::collections::BTreeSet;
use std::path::PathBuf;

use plan::{
    Backend, Bytes, Case, Existing, FileSet, Geometry, Keep, Nanos, Order, Phase, Placement, PlanError,
    ReadFrom, Sharing, Spread, Stonewall, SyncRule, Workload, WorkloadSpec,
};

use super::options::{Key, OPTIONS};
use super::reader::Test;
use super::settings::{HeldMemory, Settings};
use crate::launcher::Launcher;
use crate::{Extras, ToolError};

impl Settings {
    /// Resolves the settings that depend on the launcher.
    pub(super) fn resolve(&mut self, launcher: Launcher<'_>, tasks_per_rank: u32) {
        self.default_phases();
        if launcher.node_of.is_empty() {
            self.tasks = self.asked_tasks.or(launcher.tasks).unwrap_or(tasks_per_rank).max(1);
            self.nodes = launcher.nodes.unwrap_or(1).clamp(1, self.tasks);
            return;
        }
        self.tasks_per_rank = tasks_per_rank;
        self.tasks = self.asked_tasks.unwrap_or_else(|| all_tasks(launcher, tasks_per_rank)).max(1);
        // The nodes of those processes that have tasks, and their numbers of tasks.
        let used = || {
            let first_task = (0..self.tasks).step_by(tasks_per_rank as usize);
            launcher
                .node_of
                .iter()
                .zip(first_task)
                .map(|(&node, task)| (node, tasks_per_rank.min(self.tasks - task)))
        };
        let nodes = used().map(|(node, _)| node).collect::<BTreeSet<u32>>().len();
        let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
        let on_node0 = used().filter(|(node, _)| *node == launcher.node_of[0]).map(|(_, tasks)| tasks).sum();
        // IOR also checks where the second process is.
        let in_turn = used().nth(1).is_some_and(|(node, _)| node != launcher.node_of[0]);
        (self.nodes, self.tasks_on_node0, self.in_turn) = (nodes, on_node0, in_turn);
    }

    /// Number of tasks on the first node; the other nodes may have fewer.
    pub(super) fn tasks_per_node(&self) -> u32 {
        if self.tasks_on_node0 > 0 { self.tasks_on_node0 } else { self.tasks.div_ceil(self.nodes) }
    }

    /// Number of tasks by which `-C` shifts, and `-Z` at least. On a single node it is the value of `-Q`;
    /// on several nodes that many whole nodes, so that no task reads what its own node has in memory.
    pub(super) fn shift_tasks(&self) -> u32 {
        self.task_offset.saturating_mul(self.tasks_to_next_node())
    }

    /// Distance from a task to one on the next node: all tasks of a node if its processes are numbered
    /// consecutively, or those of one process if the launcher distributes processes round-robin.
    pub(super) fn tasks_to_next_node(&self) -> u32 {
        match (self.nodes, self.in_turn) {
            (1, _) => 1,
            (_, false) => self.tasks_per_node(),
            (_, true) => self.tasks_per_rank,
        }
    }

    /// Bytes of all tasks in one pass, if they can be determined.
    pub(super) fn aggregate(&self) -> Option<u64> {
        self.block.checked_mul(self.segments)?.checked_mul(u64::from(self.tasks))
    }

    /// If none of `-w`, `-r`, `-W` and `-R` is given, both `-w` and `-r` are meant.
    fn default_phases(&mut self) {
        if !(self.write || self.read || self.check_write || self.check_read) {
            self.write = true;
            self.read = true;
        }
    }

    fn phases(&self) -> Vec<Phase> {
        let wanted = [
            (self.write, Phase::Write),
            (self.check_write, Phase::CheckWrite),
            (self.read || self.check_read, Phase::Read),
            (self.check_read, Phase::CheckRead),
        ];
        wanted.into_iter().filter(|(wanted, _)| *wanted).map(|(_, phase)| phase).collect()
    }

    fn backend(&self) -> Backend {
        match self.api.to_ascii_uppercase().as_str() {
            "MMAP" => Backend::Mmap,
            "DUMMY" => Backend::Null,
            "AIO" => Backend::Libaio { depth: self.aio_pending },
            _ => Backend::Psync,
        }
    }

    fn targets(&self) -> Vec<PathBuf> {
        if self.dual_mount {
            let of_node = |node: u32| PathBuf::from(format!("{}{}/data", self.test_file, node % 2));
            let nodes = if self.nodes == 1 { 0..1 } else { 0..2 };
            let tasks = if self.nodes == 1 { 1 } else { self.tasks_per_node() as usize };
            return nodes.flat_map(|node| vec![of_node(node); tasks]).collect();
        }
        let names = self.test_file.split('@').map(PathBuf::from);
        if self.file_per_proc { names.collect() } else { names.take(1).collect() }
    }

    fn files(&self) -> FileSet {
        FileSet {
            targets: self.targets(),
            sharing: if self.file_per_proc { Sharing::PerTask } else { Sharing::Shared },
            exact_names: false,
            unique_dir: self.unique_dir && self.file_per_proc,
            file_per_repetition: self.multi_file,
            existing: if self.use_existing { Existing::Reuse } else { Existing::Replace },
            keep: match (self.keep, self.keep_with_error) {
                (true, _) => Keep::Always,
                (false, true) => Keep::OnError,
                (false, false) => Keep::Never,
            },
            preallocate: self.preallocate,
            fill: false,
        }
    }

    fn read_from(&self) -> ReadFrom {
        if self.reorder {
            return match self.shift_tasks() % self.tasks {
                0 => ReadFrom::Same,
                tasks => ReadFrom::Shift { tasks },
            };
        }
        if self.reorder_random > 0 {
            return ReadFrom::Shuffle {
                at_least: self.shift_tasks(),
                seed: self.reorder_seed.cast_unsigned(),
                reseed: self.reorder_seed < 0,
            };
        }
        ReadFrom::Same
    }

    fn memory_hog(&self, memory: Option<u64>) -> Result<Bytes, ToolError> {
        let node = match (self.memory_per_node, memory) {
            (HeldMemory::None, _) => 0,
            (HeldMemory::Bytes(bytes), _) => bytes,
            (HeldMemory::Percent(percent), Some(memory)) => memory / 100 * u64::from(percent),
            (HeldMemory::Percent(percent), None) => {
                return Err(OPTIONS.error(
                    &format!("-M {percent}%"),
                    "cannot be resolved, since the memory of this node is unknown; give a size",
                ));
            }
        };
        let tasks = self.memory_per_task.saturating_mul(u64::from(self.tasks_per_node()));
        Ok(Bytes(node.saturating_add(tasks)))
    }

    fn workload(&self, name: &str, extras: &Extras, memory: Option<u64>) -> Result<WorkloadSpec, ToolError> {
        let geometry =
            Geometry { transfer: Bytes(self.transfer), block: Bytes(self.block), segments: self.segments };
        let mut spec = WorkloadSpec::new(name, "", geometry);
        spec.files = self.files();
        (spec.tasks, spec.nodes) = (self.tasks, self.nodes);
        if self.tasks_per_rank > 0 {
            spec.spread = Spread::Ranks { tasks_per_rank: self.tasks_per_rank };
        }
        if self.random_offset == 1 {
            spec.order = Order::Random { seed: self.random_seed.unwrap_or(0).cast_unsigned() };
        }
        spec.backend = self.backend();
        spec.direct = self.direct;
        spec.sync = SyncRule { at_close: self.fsync, per_write: self.fsync_per_write };
        spec.advice = extras.advice;
        spec.read_from = self.read_from();
        spec.stonewall = (self.deadline > 0)
            .then(|| Stonewall { deadline: Nanos::secs(self.deadline), wear_out: self.wear_out });
        spec.duration = (self.min_time > 0).then(|| Nanos::secs(self.min_time));
        spec.transfer_limit = self.wear_out_iterations;
        spec.barriers = self.barriers;
        spec.verify = extras.verify;
        spec.quit_on_error = self.quit_on_error;
        spec.single_attempt = self.single_attempt;
        spec.signature = self.signature.cast_unsigned();
        spec.memory_hog = self.memory_hog(memory)?;
        spec.outlier = (self.outlier > 0).then(|| Nanos::secs(self.outlier));
        Ok(spec)
    }

    /// Rejects combinations of options that IOR also rejects.
    fn conflicts(&self) -> Result<(), ToolError> {
        let conflict = |written: &str, reason: &str| Err(OPTIONS.error(written, reason));
        if self.reorder && self.reorder_random > 0 {
            return conflict("-C and -Z", "a task reads either at a constant shift or at random; choose one");
        }
        if self.random_offset > 1 && (self.write || self.check_write || self.check_read) {
            return conflict(
                "-z and -z",
                "random blocks that may repeat are only for reading an existing file: give -r without -w, -W \
                 and -R, or a single -z, which visits each offset once",
            );
        }
        if self.dual_mount && !self.file_per_proc {
            return conflict("-y without -F", "two mounts require a file for each task; add -F");
        }
        if self.wear_out && self.deadline == 0 {
            return conflict(
                "stoneWallingWearOut without -D",
                "there is no deadline after which tasks continue; give one, as in -D 30",
            );
        }
        if self.status_file.is_some() && self.write && !self.keep {
            return conflict(
                "stoneWallingStatusFile without -k",
                "it is for a later run that reads the files, which must be kept; add -k",
            );
        }
        Ok(())
    }
}

/// Total number of tasks of all processes of the launcher.
fn all_tasks(launcher: Launcher<'_>, tasks_per_rank: u32) -> u32 {
    u32::try_from(launcher.node_of.len()).unwrap_or(u32::MAX).saturating_mul(tasks_per_rank)
}

/// The case of `test`, which is number `index` of the run, and its resolved settings.
pub(super) fn make_case(
    test: &Test,
    index: usize,
    extras: &Extras,
    launcher: Launcher<'_>,
    before: &[Case],
    warnings: &mut Vec<String>,
) -> Result<(Case, Settings), ToolError> {
    let mut settings = test.settings.clone();
    settings.conflicts()?;
    if !launcher.node_of.is_empty() && settings.tasks > all_tasks(launcher, extras.tasks_per_rank) {
        let processes = launcher.node_of.len();
        let reason = format!(
            "the launcher has started {processes} processes (tasks on each: {}), too few for all tasks; \
             start more processes, or run more tasks on each: --tasks-per-rank {}",
            extras.tasks_per_rank,
            (settings.tasks as usize).div_ceil(processes)
        );
        return Err(OPTIONS.error(&test.written(&[(Key::Tasks, "-N -1")]), &reason));
    }
    limit_by_status(&mut settings, warnings)?;
    if !settings.file_per_proc && settings.test_file.contains('@') {
        warnings.push("several file names require -F; the first one is used for all tasks".to_owned());
    }
    let id = case_id(index);
    let valid = |spec: WorkloadSpec| {
        spec.validate()
            .map_err(|error| OPTIONS.error(&written(test, &error), &format!("{error}; {}", error.help)))
    };
    let mut spec = settings.workload(&id, extras, launcher.memory_bytes)?;
    if settings.random_offset > 1 {
        let blocks = blocks_there(&valid(spec.clone())?, before)?;
        let (seed, own) = (settings.random_seed.unwrap_or(0).cast_unsigned(), settings.random_seed.is_none());
        spec.order = Order::RandomBlocks { seed, blocks, own };
    }
    let workload = valid(spec)?;
    let case = Case {
        title: title(&settings),
        repetitions: settings.repetitions,
        delay: Nanos::secs(settings.delay),
        time_limit: (settings.max_minutes > 0).then(|| Nanos::secs(settings.max_minutes * 60)),
        ..Case::new(id, workload, settings.phases())
    };
    Ok((case, settings))
}

/// The name of the case that is IOR's test number `index`.
pub(super) fn case_id(index: usize) -> String {
    format!("test{index}")
}

fn title(settings: &Settings) -> String {
    let tasks = if settings.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", settings.tasks) };
    let files = if settings.file_per_proc { "a file for each" } else { "one file" };
    format!("IOR {}: {tasks}, {files}, {} transfers", settings.api.to_uppercase(), Bytes(settings.transfer))
}

/// Number of whole blocks in the smallest file of `workload`, as it is now or as a case `before` leaves
/// it.
fn blocks_there(workload: &Workload, before: &[Case]) -> Result<u64, ToolError> {
    let (placement, block) = (Placement::new(workload), workload.geometry.block.0.max(1));
    if !workload.backend.moves_data() {
        return Ok(placement.file_bytes().0 / block);
    }
    let mut least = u64::MAX;
    for file in placement.files(0) {
        let writes = |case: &&Case| {
            case.phases.iter().any(|phase| phase.writes())
                && Placement::new(&case.workload).files(0).iter().any(|one| one.path == file.path)
        };
        let written =
            before.iter().rev().find(writes).map(|case| Placement::new(&case.workload).file_bytes().0);
        let refused =
            |reason: &str| Err(OPTIONS.error("-z and -z", &format!("{} {reason}", file.path.display())));
        let bytes = match (written, std::fs::metadata(&file.path)) {
            (Some(bytes), _) => bytes,
            (None, Ok(found)) => found.len(),
            (None, Err(error)) => {
                return refused(&format!(
                    "must exist to be read, but its size is unknown: {error}; write it first, with -w and -k"
                ));
            }
        };
        if bytes < block {
            return refused(&format!("has {bytes} bytes, less than one block of {block}: give a smaller -b"));
        }
        least = least.min(bytes);
    }
    Ok(least / block)
}

/// Makes a run that only reads stop where the write that left the file has stopped.
fn limit_by_status(settings: &mut Settings, warnings: &mut Vec<String>) -> Result<(), ToolError> {
    let Some(path) = settings.status_file.as_ref().filter(|_| !settings.write) else {
        return Ok(());
    };
    let Ok(text) = record::read_text(path) else {
        warnings.push("Could not read back the stonewalling status from the file!".to_owned());
        return Ok(());
    };
    match text.trim().parse::<u64>() {
        Ok(0) => {}
        Ok(limit) => settings.wear_out_iterations = Some(limit),
        Err(_) => {
            return Err(OPTIONS.error(
                &format!("stoneWallingStatusFile={}", path.display()),
                "does not contain a number of transfers; name a file that a write with -D has created",
            ));
        }
    }
    Ok(())
}

/// The options that set the invalid value.
fn written(test: &Test, error: &PlanError) -> String {
    let keys: &[(Key, &str)] = match error.field {
        "block" => &[(Key::Block, "-b 1m"), (Key::Transfer, "-t 256k")],
        "transfer" => &[(Key::Transfer, "-t 256k")],
        "segments" => &[(Key::Segments, "-s 1"), (Key::Block, "-b 1m")],
        "tasks" => &[(Key::Tasks, "-N -1")],
        "depth" => &[(Key::AioPending, "--aio.max-pending=128")],
        "duration" => &[(Key::MinTime, "minTimeDuration=0"), (Key::Deadline, "-D 0")],
        "direct" | "single_attempt" => &[(Key::Api, "-a POSIX")],
        "target" => &[(Key::TestFile, "-o testFile")],
        _ => return error.field.to_owned(),
    };
    test.written(keys)
}
