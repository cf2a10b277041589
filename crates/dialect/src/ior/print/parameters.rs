//! The `Parameters` and `Options` blocks: names and values in IOR's order, for text and JSON.

use crate::Compat;
use crate::ior::settings::{HeldMemory, Settings};
use crate::options::sizes;

/// A value, with the distinction between texts and numbers that JSON makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Number(i64),
}

impl Value {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(i64::from(number))
    }
}

impl From<bool> for Value {
    fn from(set: bool) -> Self {
        Self::Number(i64::from(set))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    /// IOR also stores its counts as signed 64-bit numbers.
    fn from(number: u64) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

pub(super) type Parameters = Vec<(&'static str, Value)>;

/// The host of a test, for its `Parameters` block.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestHost<'a> {
    pub node: &'a str,
    /// Bytes of this node's memory that the run held, as resolved.
    pub held_bytes: u64,
}

fn held_for_node(settings: &Settings, host: TestHost<'_>) -> u64 {
    let tasks = settings.memory_per_task.saturating_mul(u64::from(settings.tasks_per_node()));
    match settings.memory_per_node {
        HeldMemory::None => 0,
        HeldMemory::Bytes(bytes) => bytes,
        HeldMemory::Percent(_) => host.held_bytes.saturating_sub(tasks),
    }
}

/// The `Parameters` block with every parameter, as shown at verbosity 3 and in JSON.
pub(super) fn parameters(settings: &Settings, test: usize, host: TestHost<'_>) -> Parameters {
    let s = settings;
    vec![
        ("testID", Value::from(test as u64)),
        ("refnum", s.ref_num.into()),
        ("api", s.api.as_str().into()),
        ("platform", format!("{}(Linux)", host.node).into()),
        ("testFileName", s.test_file.as_str().into()),
        ("deadlineForStonewall", s.deadline.into()),
        ("stoneWallingWearOut", s.wear_out.into()),
        ("maxTimeDuration", s.max_minutes.into()),
        ("outlierThreshold", s.outlier.into()),
        ("options", "(null)".into()),
        ("dryRun", s.dry_run.into()),
        ("nodes", s.nodes.into()),
        ("memoryPerTask", s.memory_per_task.into()),
        ("memoryPerNode", held_for_node(s, host).into()),
        ("tasksPerNode", s.tasks_per_node().into()),
        ("repetitions", s.repetitions.into()),
        ("multiFile", s.multi_file.into()),
        ("interTestDelay", s.delay.into()),
        ("fsync", s.fsync.into()),
        ("fsyncperwrite", s.fsync_per_write.into()),
        ("useExistingTestFile", s.use_existing.into()),
        ("uniqueDir", s.unique_dir.into()),
        ("singleXferAttempt", s.single_attempt.into()),
        ("readFile", s.read.into()),
        ("writeFile", s.write.into()),
        ("filePerProc", s.file_per_proc.into()),
        ("reorderTasks", s.reorder.into()),
        ("reorderTasksRandom", s.reorder_random.into()),
        ("reorderTasksRandomSeed", s.reorder_seed.into()),
        ("randomOffset", s.random_offset.into()),
        ("checkWrite", s.check_write.into()),
        ("checkRead", s.check_read.into()),
        ("dataPacketType", 0_u32.into()),
        ("keepFile", s.keep.into()),
        ("keepFileWithError", s.keep_with_error.into()),
        ("warningAsErrors", s.warnings_as_errors.into()),
        ("verbose", s.verbose.into()),
        ("data packet type", s.packet.letter().to_string().into()),
        ("setTimeStampSignature/incompressibleSeed", s.signature.into()),
        ("collective", 0_u32.into()),
        ("segmentCount", s.segments.into()),
        ("transferSize", s.transfer.into()),
        ("blockSize", s.block.into()),
    ]
}

/// The `Options` block.
pub(super) fn options(settings: &Settings, compat: Compat, host: TestHost<'_>) -> Parameters {
    let s = settings;
    let mut pairs: Parameters = vec![
        ("api", s.api.as_str().into()),
        ("apiVersion", "".into()),
        ("test filename", s.test_file.as_str().into()),
        ("access", access(s).into()),
        ("type", "independent".into()),
        ("segments", s.segments.into()),
        ("ordering in a file", if s.random_offset > 0 { "random" } else { "sequential" }.into()),
        ("ordering inter file", ordering(s).into()),
    ];
    if s.reorder || s.reorder_random > 0 {
        pairs.push(("task offset", s.task_offset.into()));
    }
    if s.reorder_random > 0 {
        pairs.push(("reorder random seed", s.reorder_seed.into()));
    }
    pairs.extend([
        ("nodes", Value::from(s.nodes)),
        ("tasks", s.tasks.into()),
        ("clients per node", s.tasks_per_node().into()),
    ]);
    if s.memory_per_task > 0 {
        pairs.push(("memoryPerTask", sizes::human(s.memory_per_task).into()));
    }
    if held_for_node(s, host) > 0 {
        pairs.push(("memoryPerNode", sizes::human(held_for_node(s, host)).into()));
    }
    if compat >= Compat::V4_0 {
        pairs.extend([
            ("memoryBuffer", Value::from("CPU")),
            ("dataAccess", "CPU".into()),
            ("GPUDirect", "0".into()),
        ]);
    }
    pairs.extend([
        ("repetitions", Value::from(s.repetitions)),
        ("xfersize", sizes::human(s.transfer).into()),
        ("blocksize", sizes::human(s.block).into()),
        ("aggregate filesize", sizes::human(s.aggregate().unwrap_or(u64::MAX)).into()),
    ]);
    if s.dry_run {
        pairs.push(("dryRun", 1_u32.into()));
    }
    if s.verbose > 0 {
        pairs.push(("verbose", s.verbose.into()));
    }
    if s.deadline > 0 {
        pairs.extend([
            ("stonewallingTime", Value::from(s.deadline)),
            ("stoneWallingWearOut", s.wear_out.into()),
        ]);
    }
    pairs
}

/// `file-per-process` or `single-shared-file`.
pub(super) fn access(settings: &Settings) -> &'static str {
    if settings.file_per_proc { "file-per-process" } else { "single-shared-file" }
}

fn ordering(settings: &Settings) -> &'static str {
    if settings.reorder {
        "constant task offset"
    } else if settings.reorder_random > 0 {
        "random task offset"
    } else {
        "no tasks offsets"
    }
}
