//! Memory of the host and of this process, and the cached part of a file.

use std::fs::File;
use std::path::Path;

use record::Fact;

use crate::activity::cgroup::{Groups, Version};
use crate::file_systems::mounts::Mount;
use crate::system::sys;
use crate::{HostError, Root};

/// A line of `/proc/meminfo` in bytes.
fn meminfo(text: &str, key: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let mut fields = rest.split_ascii_whitespace();
    let number: u64 = fields.next()?.parse().ok()?;
    match fields.next() {
        Some("kB") => number.checked_mul(1024),
        _ => Some(number),
    }
}

/// The file with the setting of transparent huge pages: on Red Hat Enterprise Linux 6, and on all other
/// kernels.
pub(crate) const HUGE_PAGES: [&str; 2] =
    ["/sys/kernel/mm/redhat_transparent_hugepage/enabled", "/sys/kernel/mm/transparent_hugepage/enabled"];

/// The setting of transparent huge pages.
pub(crate) fn huge_pages(root: &Root) -> Fact<String> {
    let [redhat, others] = HUGE_PAGES;
    root.text(if root.exists(redhat) { redhat } else { others })
}

/// Memory of the host. Returns 0 if the `/proc/meminfo` of another host does not contain it.
pub(crate) fn total_bytes(root: &Root) -> u64 {
    if !root.is_system() {
        return root.read("/proc/meminfo").ok().and_then(|text| meminfo(&text, "MemTotal")).unwrap_or(0);
    }
    // The same number, but the kernel does not have to compute the other values of that file.
    let info = rustix::system::sysinfo();
    info.totalram.saturating_mul(u64::from(info.mem_unit))
}

/// The smallest memory limit of the control groups, if it is below the host's memory.
pub(crate) fn limit_bytes(root: &Root, mounts: &[Mount], total_bytes: u64) -> Option<u64> {
    let groups = Groups::of(root, mounts, "memory")?;
    let (limit, _) = files(groups.version);
    groups
        .values(root, limit)
        .iter()
        .filter_map(|(_, text)| text.parse::<u64>().ok())
        .min()
        .filter(|limit| *limit < total_bytes)
}

/// Memory available without swapping: the kernel's estimate, limited by what each control group has left.
/// Page cache that a group may drop counts as available.
pub(crate) fn available_bytes(root: &Root, mounts: &[Mount]) -> Result<u64, HostError> {
    let path = root.path("/proc/meminfo");
    let bytes = root.bytes("/proc/meminfo").map_err(|error| HostError::io("read", &path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let host = meminfo(&text, "MemAvailable").ok_or_else(|| HostError::Malformed {
        path,
        expected: "a MemAvailable line",
        found: text.lines().next().unwrap_or("").to_owned(),
    })?;
    let groups = Groups::of(root, mounts, "memory");
    Ok(groups.iter().flat_map(|groups| left_in_groups(root, groups)).fold(host, u64::min))
}

fn left_in_groups(root: &Root, groups: &Groups) -> Vec<u64> {
    let (limit, usage) = files(groups.version);
    groups
        .directories
        .iter()
        .filter_map(|directory| {
            let number = |file: &str| {
                let path = directory.join(file);
                root.read(path.to_str()?).ok()?.trim().parse::<u64>().ok()
            };
            let statistics = root.read(directory.join("memory.stat").to_str()?).ok();
            let cached = statistics.as_deref().and_then(inactive_file_bytes).unwrap_or(0);
            Some(number(limit)?.saturating_sub(number(usage)?.saturating_sub(cached)))
        })
        .collect()
}

/// In version 1 there is a line for the group alone and one, with the prefix `total_`, that includes its
/// descendants. The usage includes the descendants as well.
fn inactive_file_bytes(statistics: &str) -> Option<u64> {
    let value = |key: &str| {
        statistics.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
    };
    value("total_inactive_file").or_else(|| value("inactive_file"))
}

/// The names of the files with the limit and with the usage to compare it with.
fn files(version: Version) -> (&'static str, &'static str) {
    match version {
        Version::One => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        Version::Two => ("memory.max", "memory.current"),
    }
}

/// Number of bytes of a file that are in the page cache, and the size of the file, both in whole pages.
pub(crate) fn resident_bytes(path: &Path) -> Result<(u64, u64), HostError> {
    let file = File::open(path).map_err(|error| HostError::io("open", path, error))?;
    let bytes = file.metadata().map_err(|error| HostError::io("stat", path, error))?.len();
    if bytes == 0 {
        return Ok((0, 0));
    }
    let page = rustix::param::page_size() as u64;
    let pages = bytes.div_ceil(page);
    let resident = sys::resident_pages(&file, bytes)
        .map_err(|error| HostError::io("query the page cache of", path, error))?;
    Ok((resident.min(pages) * page, pages * page))
}

#[cfg(test)]
mod tests {
    use super::{inactive_file_bytes, meminfo};

    #[test]
    fn memory_is_given_in_kilobytes_of_1024() {
        let text = "MemTotal:       24684084 kB\nMemAvailable:   20000000 kB\nHugePages_Total:       7\n";
        assert_eq!(meminfo(text, "MemTotal"), Some(24_684_084 * 1024));
        assert_eq!(meminfo(text, "HugePages_Total"), Some(7));
        assert_eq!(meminfo(text, "Mem"), None);
    }

    #[test]
    fn the_cache_of_nested_groups_counts_in_version_1() {
        assert_eq!(inactive_file_bytes("inactive_file 5\ntotal_inactive_file 9\n"), Some(9));
        assert_eq!(inactive_file_bytes("anon 1\ninactive_file 5\n"), Some(5));
        assert_eq!(inactive_file_bytes("anon 1\n"), None);
    }
}
