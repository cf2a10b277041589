//! Processor time, and the number of processors that this process may use.

use crate::activity::cgroup::{Groups, Version};
use crate::file_systems::mounts::Mount;
use crate::system::cpu_list;
use crate::{HostError, Root};

/// Time of all processors since boot, in ticks of the kernel's `USER_HZ`, from the first line of
/// `/proc/stat` (`proc_stat(5)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTimes {
    /// Time spent in programs, including guests and niced programs.
    pub user_ticks: u64,
    /// Time spent in the kernel, including interrupts.
    pub system_ticks: u64,
    /// Idle time.
    pub idle_ticks: u64,
    /// Idle time while a task waited for a device.
    pub iowait_ticks: u64,
    /// Time during which a guest was runnable but the hypervisor ran another one.
    pub steal_ticks: u64,
}

impl CpuTimes {
    /// Reads the times from boot until now.
    ///
    /// # Errors
    /// Errors if `/proc/stat` cannot be read or does not begin with the sum of all processors.
    pub fn read(root: &Root) -> Result<Self, HostError> {
        let path = root.path("/proc/stat");
        let bytes = root.bytes("/proc/stat").map_err(|error| HostError::io("read", &path, error))?;
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().next().unwrap_or("");
        Self::parse(line).ok_or_else(|| HostError::Malformed {
            path,
            expected: "a first line with `cpu` and eight numbers",
            found: line.to_owned(),
        })
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        if fields.next()? != "cpu" {
            return None;
        }
        let mut next = || fields.next()?.parse::<u64>().ok();
        let (user, nice, system, idle, iowait) = (next()?, next()?, next()?, next()?, next()?);
        let (irq, softirq, steal) = (next()?, next()?, next()?);
        Some(Self {
            user_ticks: user + nice,
            system_ticks: system + irq + softirq,
            idle_ticks: idle,
            iowait_ticks: iowait,
            steal_ticks: steal,
        })
    }

    /// The increase since `earlier`. According to the kernel's documentation, single counters may decrease
    /// slightly; a decrease counts as 0.
    fn since(&self, earlier: &Self) -> Self {
        Self {
            user_ticks: self.user_ticks.saturating_sub(earlier.user_ticks),
            system_ticks: self.system_ticks.saturating_sub(earlier.system_ticks),
            idle_ticks: self.idle_ticks.saturating_sub(earlier.idle_ticks),
            iowait_ticks: self.iowait_ticks.saturating_sub(earlier.iowait_ticks),
            steal_ticks: self.steal_ticks.saturating_sub(earlier.steal_ticks),
        }
    }

    /// Number of ticks in which processors ran something on this host.
    pub(crate) fn busy_ticks_since(&self, earlier: &Self) -> u64 {
        let spent = self.since(earlier);
        spent.user_ticks + spent.system_ticks
    }

    /// Number of ticks that a hypervisor gave to others.
    pub(crate) fn stolen_ticks_since(&self, earlier: &Self) -> u64 {
        self.since(earlier).steal_ticks
    }

    pub(crate) fn all_ticks_since(&self, earlier: &Self) -> u64 {
        self.since(earlier).all_ticks()
    }

    fn all_ticks(&self) -> u64 {
        self.user_ticks + self.system_ticks + self.idle_ticks + self.iowait_ticks + self.steal_ticks
    }
}

/// Processors that this process may use: its CPU affinity, limited by the quota of its control groups. If neither is
/// known, as in a tree without `/proc/self`, that is each of the `online` processors.
pub(crate) fn usable(root: &Root, mounts: &[Mount], online: u32) -> u32 {
    let allowed = allowed(root).unwrap_or(online);
    quota(root, mounts).map_or(allowed, |quota| allowed.min(quota))
}

fn allowed(root: &Root) -> Option<u32> {
    // Fails on hosts with more processors than the set can hold. In that case the kernel's list is read
    // instead.
    if root.is_system()
        && let Ok(set) = rustix::thread::sched_getaffinity(None)
    {
        return Some(set.count());
    }
    let status = root.read("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(cpu_list::count(&cpu_list::parse(list)?))
}

/// The numbers of the processors in this process's CPU affinity; empty if unknown.
pub(crate) fn allowed_numbers(root: &Root) -> Vec<u32> {
    let Ok(status) = root.read("/proc/self/status") else { return Vec::new() };
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(cpu_list::parse).into_iter().flatten().flatten().collect()
}

/// The smallest quota of all levels, in whole processors, rounded up.
fn quota(root: &Root, mounts: &[Mount]) -> Option<u32> {
    let groups = Groups::of(root, mounts, "cpu")?;
    let pairs: Vec<(String, String)> = match groups.version {
        Version::Two => groups
            .values(root, "cpu.max")
            .into_iter()
            .filter_map(|(_, text)| text.split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())))
            .collect(),
        Version::One => {
            let quotas = groups.values(root, "cpu.cfs_quota_us").into_iter();
            let periods = groups.values(root, "cpu.cfs_period_us").into_iter();
            quotas.zip(periods).map(|((_, quota), (_, period))| (quota, period)).collect()
        }
    };
    pairs
        .iter()
        .filter_map(|(quota, period)| {
            let (quota, period) = (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?);
            (period > 0).then(|| u32::try_from(quota.div_ceil(period)).unwrap_or(u32::MAX))
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::CpuTimes;

    #[test]
    fn busy_is_what_ran_and_neither_waiting_nor_stolen() {
        let before = CpuTimes::parse("cpu  100 0 100 1000 50 0 0 0 0 0").unwrap();
        let after = CpuTimes::parse("cpu  120 10 110 1040 60 5 5 10 0 0").unwrap();
        // 30 user + 20 system + 10 stolen of 30 + 20 + 40 idle + 10 waiting + 10 stolen.
        assert_eq!((after.busy_ticks_since(&before), after.stolen_ticks_since(&before)), (50, 10));
        assert_eq!((after.all_ticks_since(&before), before.all_ticks_since(&before)), (110, 0));
    }

    #[test]
    fn a_line_of_one_processor_is_not_the_sum() {
        assert_eq!(CpuTimes::parse("cpu0 1 2 3 4 5 6 7 8"), None);
        assert_eq!(CpuTimes::parse("cpu 1 2 3"), None);
    }
}
