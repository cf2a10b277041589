//! The kernel's accounting of a process: `getrusage(2)`, and its peak resident memory.

#![expect(unsafe_code, reason = "getrusage and malloc_trim have no safe binding")]

use std::fs;
use std::mem::MaybeUninit;

use rustix::time::{ClockId, clock_gettime};

/// Size of the sectors counted by `ru_inblock` and `ru_oublock`, whatever the device.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// Resource usage of a process, including all its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// CPU time in user mode.
    pub user_cpu_ns: u64,
    /// CPU time in the kernel.
    pub system_cpu_ns: u64,
    /// Peak resident memory since the process began.
    pub peak_memory_bytes: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Bytes read from storage for it: `ru_inblock` × 512.
    pub block_input_bytes: u64,
    /// Bytes that have been or will be written to storage for it: `ru_oublock` × 512.
    pub block_output_bytes: u64,
    /// Voluntary context switches (waits).
    pub voluntary_switches: u64,
    /// Involuntary context switches (end of its time slice).
    pub involuntary_switches: u64,
}

impl Usage {
    /// Usage of this process so far.
    #[must_use]
    pub fn own() -> Self {
        let mut raw = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is valid for a write of one rusage, and this call always succeeds; the memory was
        // zeroed, so it is initialised in any case.
        let raw = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, raw.as_mut_ptr());
            raw.assume_init()
        };
        Self::of(&raw)
    }

    /// Converts `raw`, filled by `getrusage(2)` or `wait4(2)`.
    #[must_use]
    pub fn of(raw: &libc::rusage) -> Self {
        let count = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
        let nanos = |time: libc::timeval| count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1_000;
        Self {
            user_cpu_ns: nanos(raw.ru_utime),
            system_cpu_ns: nanos(raw.ru_stime),
            // Linux reports KiB.
            peak_memory_bytes: count(raw.ru_maxrss) << 10,
            major_faults: count(raw.ru_majflt),
            block_input_bytes: count(raw.ru_inblock) * SECTOR_BYTES,
            block_output_bytes: count(raw.ru_oublock) * SECTOR_BYTES,
            voluntary_switches: count(raw.ru_nvcsw),
            involuntary_switches: count(raw.ru_nivcsw),
        }
    }

    /// Usage since `earlier`. The peak is that of this reading.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            user_cpu_ns: self.user_cpu_ns.saturating_sub(earlier.user_cpu_ns),
            system_cpu_ns: self.system_cpu_ns.saturating_sub(earlier.system_cpu_ns),
            peak_memory_bytes: self.peak_memory_bytes,
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            block_input_bytes: self.block_input_bytes.saturating_sub(earlier.block_input_bytes),
            block_output_bytes: self.block_output_bytes.saturating_sub(earlier.block_output_bytes),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
        }
    }
}

/// `CLOCK_MONOTONIC`, in nanoseconds.
#[must_use]
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// Returns free memory to the kernel, so that the next step starts without memory of this step.
pub(crate) fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call takes no pointers and does not touch memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Resets the peak of this process's resident memory. If the kernel rejects this, the peak remains that
/// of the whole process.
pub(crate) fn forget_peak() {
    // Documented in proc_pid_clear_refs(5): 5 resets VmHWM.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Peak resident memory of this process in bytes: since [`forget_peak`] if that is supported, otherwise
/// since its start.
pub(crate) fn peak_memory_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    high_water(&status).unwrap_or_else(|| Usage::own().peak_memory_bytes)
}

/// `VmHWM` in a text like `/proc/<pid>/status`, in bytes.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::{Usage, high_water};

    #[test]
    fn work_is_accounted_and_only_what_was_done_since_then() {
        let before = Usage::own();
        let mut sum = 0_u64;
        // Until the kernel accounts 20 ms of it, independent of the machine's speed.
        while Usage::own().since(before).user_cpu_ns < 20_000_000 {
            sum = (0..100_000_u64).fold(sum, |sum, value| std::hint::black_box(sum ^ value));
        }
        let (after, used) = (Usage::own(), Usage::own().since(before));
        assert!(used.user_cpu_ns >= 20_000_000 && used.peak_memory_bytes > 1 << 20, "{used:?}, {sum}");
        assert_eq!(
            after.since(after),
            Usage { peak_memory_bytes: after.peak_memory_bytes, ..Usage::default() }
        );
    }

    #[test]
    fn the_high_water_is_read_from_the_status() {
        let status = "Name:\tioproof\nVmPeak:\t  10000 kB\nVmHWM:\t    5120 kB\nVmRSS:\t 4000 kB\n";
        assert_eq!(high_water(status), Some(5120 << 10));
        assert_eq!(high_water("VmHWM:\tmany kB\n"), None);
        assert_eq!(high_water(""), None);
    }
}
