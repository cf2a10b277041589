//! Creates the case of the plan from the settings and the file.

use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use plan::{
    Backend, Bytes, Case, Existing, Geometry, Keep, Order, Phase, Protocol, Sharing, Spread, SyncRule,
    WorkloadSpec,
};
use serde::{Deserialize, Serialize};

use super::options::wrong;
use super::settings::{Action, Pattern, Settings, Short};
use crate::launcher::Launcher;
use crate::{Extras, ToolError};

/// What the report says about the test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Test {
    pub action: Action,
    pub pattern: Pattern,
    pub file: PathBuf,
    pub record: u64,
    pub bytes: u64,
    pub file_bytes: u64,
    pub processes: u32,
    pub threads: u32,
    pub direct: bool,
    pub fsync: bool,
    pub flushed: bool,
}

/// The seed of random orders, so that the same command line gives the same offsets.
const SEED: u64 = 0x6770_6673;
/// The record size if neither the command line nor the file system specifies one.
const RECORD_DEFAULT: u64 = 256 << 10;

/// Returns the case of the command line, and what its report contains. Warnings are added to `warnings`.
pub(super) fn make_case(
    settings: &Settings,
    extras: &Extras,
    launcher: Launcher<'_>,
    warnings: &mut Vec<String>,
) -> Result<(Case, Test), ToolError> {
    let missing = |what: &str| {
        wrong(
            "gpfsperf",
            format!("{what} is missing; give OPERATION PATTERN FILE, as in `create seq FILE -n 1g`"),
        )
    };
    let action = settings.action.ok_or_else(|| missing("the operation"))?;
    let pattern = settings.pattern.ok_or_else(|| missing("the pattern"))?;
    let file = settings.file.clone().ok_or_else(|| missing("the file"))?;
    if extras.tasks_per_rank != 1 {
        return Err(wrong("--tasks-per-rank", "-th sets the number of threads of each process".to_owned()));
    }
    let processes = u32::try_from(launcher.node_of.len().max(1)).unwrap_or(u32::MAX);
    let tasks = processes.saturating_mul(settings.threads);
    let there = existing(&file);
    let record = settings.record.or_else(|| block_size(&file)).unwrap_or(RECORD_DEFAULT);
    let bytes = match (settings.bytes, there) {
        (Some(bytes), _) => bytes,
        (None, Some(there)) if action != Action::Create && there > 0 => there,
        (None, _) => {
            return Err(wrong(
                &format!("{} {}", action.name(), file.display()),
                "no size can be taken from the file; give one, as in -n 1g".to_owned(),
            ));
        }
    };
    if action == Action::Read && there.is_none() {
        return Err(wrong(&file.display().to_string(), "does not exist; `create` creates it".to_owned()));
    }
    if action == Action::Write && there.is_none() {
        warnings.push(format!("{} does not exist: it is created, where gpfsperf would end", file.display()));
    }
    let extent = extent(action, pattern, bytes, there);
    let sizes = Sizes { record, bytes, extent, tasks };
    let test = Test {
        action,
        pattern,
        file: file.clone(),
        record,
        bytes,
        file_bytes: extent.max(there.filter(|_| action != Action::Create).unwrap_or(0)),
        processes,
        threads: settings.threads,
        direct: settings.direct,
        fsync: settings.fsync,
        flushed: !settings.keep_cache,
    };
    let case = case(settings, extras, launcher, &test, &sizes, warnings)?;
    Ok((case, test))
}

/// How much data is moved, where, in which units and by how many threads.
struct Sizes {
    record: u64,
    bytes: u64,
    /// Number of bytes of the file that are accessed.
    extent: u64,
    tasks: u32,
}

/// The accessed part of the file: random accesses go anywhere in an existing file, all others only to as
/// much of it as is moved.
fn extent(action: Action, pattern: Pattern, bytes: u64, there: Option<u64>) -> u64 {
    let anywhere = pattern != Pattern::Seq;
    match (action, there) {
        (Action::Read, Some(there)) if anywhere => there,
        (Action::Read, Some(there)) => there.min(bytes),
        (Action::Write, Some(there)) if anywhere => there.max(bytes),
        _ => bytes,
    }
}

fn case(
    settings: &Settings,
    extras: &Extras,
    launcher: Launcher<'_>,
    test: &Test,
    sizes: &Sizes,
    warnings: &mut Vec<String>,
) -> Result<Case, ToolError> {
    let (geometry, operations) = geometry(settings, test, sizes, warnings)?;
    let mut spec = WorkloadSpec::new("test", test.file.clone(), geometry);
    spec.files.sharing = Sharing::Shared;
    spec.files.existing = if test.action == Action::Create { Existing::Replace } else { Existing::Reuse };
    spec.files.keep = Keep::Always;
    spec.tasks = sizes.tasks;
    if !launcher.node_of.is_empty() {
        spec.spread = Spread::Ranks { tasks_per_rank: settings.threads };
        let nodes: BTreeSet<u32> = launcher.node_of.iter().copied().collect();
        spec.nodes = u32::try_from(nodes.len()).unwrap_or(1).max(1);
    }
    spec.order = match test.pattern {
        Pattern::Rand | Pattern::RandHint => Order::Random { seed: SEED },
        Pattern::Strided => Order::Strided { stride: stride(settings, sizes)? },
        Pattern::Seq => Order::Sequential,
    };
    spec.backend = match settings.depth {
        0 => Backend::Psync,
        depth => Backend::Uring { depth, required: true },
    };
    spec.direct = settings.direct;
    let writes = test.action != Action::Read;
    spec.sync = SyncRule { at_close: settings.fsync && writes, per_write: settings.sync_writes && writes };
    spec.sync_open = spec.sync.per_write;
    spec.operations = operations;
    spec.barriers = sizes.tasks > 1;
    spec.verify = extras.verify && !writes;
    spec.advice = extras.advice;
    let workload = spec.validate().map_err(|error| {
        let option = match error.field {
            "transfer" | "direct" => "-r",
            "stride" => "-s",
            "tasks" | "nodes" => "-th",
            _ => "-n",
        };
        wrong(option, error.to_string())
    })?;
    let phase = if writes { Phase::Write } else { Phase::Read };
    let title = format!(
        "gpfsperf {} {}: {} in records of {}, {} × {} threads",
        test.action.name(),
        test.pattern.name(),
        Short(test.bytes),
        Short(test.record),
        test.processes,
        test.threads
    );
    // gpfsperf drops the blocks of this file from the cache, but not those of other files.
    let evict_files = test.flushed && !settings.direct && !writes;
    let protocol = Protocol { evict_files, ..Protocol::default() };
    Ok(Case { title, protocol, ..Case::new("test", workload, vec![phase]) })
}

/// The records of each thread, and how many of them it moves if not each once.
fn geometry(
    settings: &Settings,
    test: &Test,
    sizes: &Sizes,
    warnings: &mut Vec<String>,
) -> Result<(Geometry, Option<u64>), ToolError> {
    let &Sizes { record, bytes, extent, tasks } = sizes;
    let each = extent / record / u64::from(tasks);
    let moved = bytes / record / u64::from(tasks);
    if each == 0 || moved == 0 {
        return Err(wrong(
            "-r",
            format!(
                "{} hold no record of {} for each of {tasks} threads; give a smaller record or fewer threads",
                Short(extent.min(bytes)),
                Short(record)
            ),
        ));
    }
    let left = bytes - moved * record * u64::from(tasks);
    if left > 0 {
        warnings.push(format!(
            "{left} bytes are skipped, so that each of {tasks} threads has the same number of whole records"
        ));
    }
    // The threads of a process take turns in accessing records; processes have separate parts of the
    // file.
    let in_turn = test.processes == 1 || test.pattern == Pattern::Strided;
    let transfer = Bytes(record);
    let geometry = match in_turn && settings.threads.max(tasks) > 1 {
        true => Geometry { transfer, block: transfer, segments: each },
        false => Geometry { transfer, block: Bytes(record * each), segments: 1 },
    };
    Ok((geometry, (moved != each).then_some(moved)))
}

/// The distance from one access of a thread to its next one, in its own records.
fn stride(settings: &Settings, sizes: &Sizes) -> Result<u64, ToolError> {
    let unit = sizes.record.saturating_mul(u64::from(sizes.tasks));
    let stride = settings.stride.unwrap_or(unit);
    if stride == 0 || !stride.is_multiple_of(unit) {
        return Err(wrong(
            &format!("-s {stride}"),
            format!(
                "is not a multiple of {unit} bytes, one record for each of {} threads; the nearest multiple \
                 has {} bytes",
                sizes.tasks,
                (stride / unit).max(1) * unit
            ),
        ));
    }
    Ok(stride / unit)
}

/// The size of an existing file or device in bytes.
fn existing(file: &Path) -> Option<u64> {
    let found = std::fs::metadata(file).ok()?;
    if found.file_type().is_block_device() {
        use std::io::{Seek, SeekFrom};
        return std::fs::File::open(file).ok()?.seek(SeekFrom::End(0)).ok();
    }
    Some(found.len())
}

/// The block size of the file system, which is GPFS's default record size.
fn block_size(file: &Path) -> Option<u64> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::metadata(file).or_else(|_| std::fs::metadata(parent)).ok().map(|found| found.blksize())
}
