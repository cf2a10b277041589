//! Limits of this process: raised as far as they go, and named where that is not enough.

use plan::Bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{EngineError, Errno, LimitKind};

/// Descriptors that are neither files of tasks nor rings: what is open already is counted, this
/// is for what other threads may open while a phase runs (observers, the journal).
const SPARE_FILES: u64 = 16;

/// Less memory than this is not worth a look at what is free.
const SMALL_MEMORY: u64 = 256 << 20;

/// Refuses `bytes` of memory for `what` when so much is not free: the kernel would end some process
/// instead, once it is touched.
pub(crate) fn memory(bytes: u64, what: &'static str) -> Result<(), EngineError> {
    if bytes < SMALL_MEMORY {
        return Ok(());
    }
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return Ok(()) };
    let free = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map_or(u64::MAX, |kib| kib.saturating_mul(1024));
    if bytes <= free {
        return Ok(());
    }
    Err(EngineError::Memory { what, size: Bytes(bytes), errno: Errno(libc::ENOMEM) })
}

/// Makes room for `files` more open files.
pub(crate) fn open_files(files: u64) -> Result<(), EngineError> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let need = files + open + SPARE_FILES;
    let have = raise(Resource::Nofile, need);
    if have >= need {
        return Ok(());
    }
    Err(EngineError::Limit {
        which: LimitKind::OpenFiles,
        have,
        need,
        remedy: format!("use fewer tasks, or raise it with `ulimit -n {need}` (as root, or in limits.conf)"),
    })
}

/// Raises the limit on locked memory as far as it goes and returns it in bytes.
pub(crate) fn locked_memory(need: u64) -> u64 {
    raise(Resource::Memlock, need)
}

/// What would allow `need` bytes of locked memory.
pub(crate) fn locked_memory_remedy(need: u64) -> String {
    format!(
        "raise it with `ulimit -l {}` (as root, or in limits.conf), or use a lower depth, smaller transfers or fewer tasks",
        need.div_ceil(1024)
    )
}

/// Raises a soft limit to `need`: within the hard limit, or beyond it where this user may.
fn raise(resource: Resource, need: u64) -> u64 {
    let limit = getrlimit(resource);
    let unlimited = |value: Option<u64>| value.unwrap_or(u64::MAX);
    if unlimited(limit.current) >= need {
        return unlimited(limit.current);
    }
    if unlimited(limit.maximum) >= need
        || setrlimit(resource, Rlimit { current: Some(need), maximum: Some(need) }).is_err()
    {
        // Refused only when the hard limit was lowered in between; the limit is read again below.
        let _ = setrlimit(resource, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
    unlimited(getrlimit(resource).current)
}
