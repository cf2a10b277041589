//! Limits of this process. They are raised as far as possible, and reported if they are still too low.

use plan::Bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::{EngineError, Errno, LimitKind};

/// Number of descriptors beyond the files of tasks, the rings and those already open. Other threads
/// (observers, the journal) may open these while a phase runs.
const SPARE_FILES: u64 = 16;

/// Needs below this size are not compared with the free memory.
const SMALL_MEMORY: u64 = 256 << 20;

/// Mappings of a thread: its stack and its signal stack, each with a guard page.
const MAPPINGS_PER_THREAD: u64 = 4;
/// Number of mappings that other threads may create while a phase runs (allocator heaps, stacks).
const SPARE_MAPPINGS: u64 = 256;
/// Memory used by a thread: some pages of its stacks and its histogram, and its kernel stack and data
/// structures. Measured: 20 KiB in the process and about 26 KiB in the kernel.
const BYTES_PER_THREAD: u64 = 48 << 10;

/// Rejects `bytes` of memory for `what` if less is free. Otherwise the kernel would kill a process once the
/// memory is touched. The needs of all `processes` of this host must fit into the machine's total memory,
/// since a process cannot tell how much the others already use.
pub(crate) fn memory(bytes: u64, processes: u32, what: &'static str) -> Result<(), EngineError> {
    let all = bytes.saturating_mul(u64::from(processes));
    if all < SMALL_MEMORY {
        return Ok(());
    }
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else { return Ok(()) };
    let field = |name: &str| {
        let kib = text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<u64>().ok()).map_or(u64::MAX, |kib| kib.saturating_mul(1024))
    };
    let refused = |bytes| Err(EngineError::Memory { what, size: Bytes(bytes), errno: Errno(libc::ENOMEM) });
    if bytes > field("MemAvailable:") {
        return refused(bytes);
    }
    if all > field("MemTotal:") { refused(all) } else { Ok(()) }
}

/// Rejects `threads` threads if they need more mappings or memory than are available, given so many threads of
/// phases `beside` this one in the process. A thread created without its signal stack would end the process.
pub(crate) fn threads(threads: u64, beside: u64, processes: u32) -> Result<(), EngineError> {
    memory(threads.saturating_mul(BYTES_PER_THREAD), processes, "the threads of the tasks")?;
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let Some(have) = number("/proc/sys/vm/max_map_count") else { return Ok(()) };
    let own =
        threads.saturating_add(beside).saturating_mul(MAPPINGS_PER_THREAD).saturating_add(SPARE_MAPPINGS);
    // Counting existing mappings means visiting each one, so this is only done if it could matter.
    if own <= have / 2 {
        return Ok(());
    }
    let present =
        std::fs::read("/proc/self/maps").map_or(0, |maps| maps.split(|&byte| byte == b'\n').count());
    let need = own.saturating_add(present as u64);
    if need <= have {
        return Ok(());
    }
    Err(EngineError::Limit {
        which: LimitKind::Mappings,
        have,
        need,
        remedy: format!(
            "each task of this backend is a thread with {MAPPINGS_PER_THREAD} mappings: use the backend \
             uring (few threads run many tasks) or fewer tasks in a process, or raise it with `sysctl \
             vm.max_map_count={need}` (as root)"
        ),
    })
}

/// Raises the limit so that `files` more files can be open, including those of phases at the same time.
pub(crate) fn open_files(files: u64) -> Result<(), EngineError> {
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, |entries| entries.count() as u64);
    let need = files.saturating_add(open + SPARE_FILES);
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

/// Raises the limit on locked memory as far as possible and returns it in bytes.
pub(crate) fn locked_memory(need: u64) -> u64 {
    raise(Resource::Memlock, need)
}

/// The command or setting that would allow `need` bytes of locked memory.
pub(crate) fn locked_memory_remedy(need: u64) -> String {
    format!(
        "it applies to all processes of a user together; raise it with `ulimit -l {}` (as root, or in \
         limits.conf), or use a lower depth, smaller transfers or fewer tasks",
        need.div_ceil(1024)
    )
}

/// Raises a soft limit to `need`: within the hard limit, or beyond it if this user may.
fn raise(resource: Resource, need: u64) -> u64 {
    let limit = getrlimit(resource);
    let unlimited = |value: Option<u64>| value.unwrap_or(u64::MAX);
    if unlimited(limit.current) >= need {
        return unlimited(limit.current);
    }
    if unlimited(limit.maximum) >= need
        || setrlimit(resource, Rlimit { current: Some(need), maximum: Some(need) }).is_err()
    {
        // This fails only if the hard limit was lowered in between. The limit is read again below.
        let _ = setrlimit(resource, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
    unlimited(getrlimit(resource).current)
}
