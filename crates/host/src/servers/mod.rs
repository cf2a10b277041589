//! Counters and settings of storage servers and clients. The format of a text determines how it is
//! parsed.
//!
//! | file | texts |
//! |---|---|
//! | `lustre` | `lctl get_param` of storage targets and clients, `lfs getstripe` |
//! | `gpfs` | `mmpmon`, `mmlsconfig` |
//! | `nfs` | `/proc/self/mountstats` |
//!
//! A text may contain several of them in sequence, as printed by a script. Unknown lines are skipped.
//!
//! ```
//! let text = "obdfilter.a-OST0001.stats=\nread_bytes 2 samples [bytes] 4096 8192 12288\n";
//! let found = host::servers::counters(text);
//! assert_eq!((found[0].device.as_str(), found[0].counter, found[0].value), ("a-OST0001", "read_bytes", 12288));
//! ```

mod counter;
mod gpfs;
mod lustre;
mod nfs;

use std::path::{Path, PathBuf};

use plan::limits::SERVER_COUNTERS;
use serde::{Deserialize, Serialize};

pub use counter::Counter;

use crate::Root;
use crate::file_systems::file_system;
use crate::file_systems::mounts::Mount;

/// All counters in `text`. Those of each system are in the order of the text.
#[must_use]
pub fn counters(text: &str) -> Vec<Counter> {
    let mut found = lustre::counters(text);
    found.extend(gpfs::counters(text));
    found.extend(nfs::counters(text));
    found.truncate(SERVER_COUNTERS);
    found
}

/// Output of one source before and after a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectedOutput {
    /// A command, or a file of the kernel.
    pub source: String,
    /// The output before the phase, or `None` if the source was not queried then.
    pub before: Option<String>,
    /// The output after the phase.
    pub after: Option<String>,
}

/// The kernel's statistics of the mounts that contain `targets` on this node: for NFS mounts the relevant
/// part of `/proc/self/mountstats`, and the byte counters of the Lustre client. Each comes with the name of
/// its file.
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

#[cfg(test)]
mod tests;
