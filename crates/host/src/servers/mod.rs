//! Counters and settings of storage servers and clients, parsed from texts by their format.
//!
//! | file | texts |
//! |---|---|
//! | `lustre` | `lctl get_param` of storage targets and clients, `lfs getstripe` |
//! | `gpfs` | `mmpmon`, `mmlsconfig` |
//! | `nfs` | `/proc/self/mountstats` |
//!
//! A text may contain several of them in sequence, as a script prints them; unknown lines are skipped.
//!
//! ```
//! let text = "obdfilter.a-OST0001.stats=\nread_bytes 2 samples [bytes] 4096 8192 12288\n";
//! let found = host::servers::counters(text);
//! assert_eq!((found[0].device.as_str(), found[0].counter, found[0].value), ("a-OST0001", "read_bytes", 12288));
//! ```

mod gpfs;
mod lustre;
mod nfs;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Root;
use crate::file_systems::file_system;
use crate::file_systems::mounts::Mount;

/// Size limit of a text: two thousand storage targets print less.
pub const TEXT_BYTES_MAX: usize = 16 << 20;
/// Limit of counters; no existing system has more.
const COUNTERS_MAX: usize = 1 << 16;

/// A counter or a setting of a server or client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Counter {
    /// Whose: `lustre-server`, `lustre-client`, `lustre-layout`, `gpfs-client` or `nfs-client`.
    pub system: &'static str,
    /// Its object: a storage target, a mount.
    pub device: String,
    /// Its name, unit last.
    pub counter: &'static str,
    /// Its value; 1 for an enabled setting.
    pub value: u64,
}

impl Counter {
    /// Whether it is a setting rather than a counter.
    #[must_use]
    pub fn is_setting(&self) -> bool {
        matches!(self.counter, "read_cache_enable" | "writethrough_cache_enable" | "pagepool_bytes" | "asked")
    }

    fn new(system: &'static str, device: &str, counter: &'static str, value: u64) -> Self {
        Self { system, device: device.to_owned(), counter, value }
    }
}

/// All counters in `text`, in its order for each system.
#[must_use]
pub fn counters(text: &str) -> Vec<Counter> {
    let mut found = lustre::counters(text);
    found.extend(gpfs::counters(text));
    found.extend(nfs::counters(text));
    found.truncate(COUNTERS_MAX);
    found
}

/// Output of one source before and after a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// A command, or a file of the kernel.
    pub source: String,
    /// Before; none if it was not queried.
    pub before: Option<String>,
    /// After.
    pub after: Option<String>,
}

/// The kernel's statistics of the mounts of `targets` on this node: the part of `/proc/self/mountstats` for
/// NFS mounts, and the byte counters of the Lustre client. Each with its file.
pub(crate) fn clients(root: &Root, table: &[Mount], targets: &[PathBuf]) -> Vec<(String, String)> {
    let mount = |target: &PathBuf| {
        let existing = file_system::nearest_existing(root, target).ok()?;
        file_system::mount_of(root, table, &existing).ok()
    };
    let mounts: Vec<Mount> = targets.iter().filter_map(mount).collect();
    let of_nfs: Vec<&Path> = mounts
        .iter()
        .filter(|one| one.kind.starts_with("nfs"))
        .map(|one| one.mount_point.as_path())
        .collect();
    let mut found = Vec::new();
    if !of_nfs.is_empty() {
        found.extend(nfs::of_mounts(root, &of_nfs));
    }
    if mounts.iter().any(|one| one.kind == "lustre") {
        found.extend(lustre::client(root));
    }
    found
}

/// The number at the start of `text`.
fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// A number of bytes with `K`, `M`, `G` or `T` for powers of 1024, as in `16G`.
fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'K' | 'k') => (&text[..at], 10),
        (at, 'M' | 'm') => (&text[..at], 20),
        (at, 'G' | 'g') => (&text[..at], 30),
        (at, 'T' | 't') => (&text[..at], 40),
        _ => (text, 0),
    };
    number(digits)?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests;
