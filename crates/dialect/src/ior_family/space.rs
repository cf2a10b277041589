//! The space of a file system, in the format of IOR and the tools included with it.

use std::path::Path;

use record::FileSystemFacts;

/// A file system, in the format of IOR and the tools included with it.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    pub capacity: String,
    pub used: String,
    pub inodes: String,
    pub used_inodes: String,
}

impl Space {
    pub(crate) fn of(facts: &FileSystemFacts) -> Self {
        let share = |total: u64, free: u64| match total {
            0 => "0.0%".to_owned(),
            _ => format!("{:.1}%", (1.0 - free as f64 / total as f64) * 100.0),
        };
        let (unit, name) = if facts.size_bytes >= 1 << 40 { (1_u64 << 40, "TiB") } else { (1 << 30, "GiB") };
        Self {
            capacity: format!("{:.1} {name}", facts.size_bytes as f64 / unit as f64),
            // Space reserved for the superuser does not count as used.
            used: share(facts.size_bytes, facts.free_bytes.saturating_add(facts.reserved_bytes)),
            inodes: format!("{:.1} Mi", facts.inodes as f64 / f64::from(1 << 20)),
            used_inodes: share(facts.inodes, facts.free_inodes),
        }
    }

    pub(crate) fn line(&self) -> String {
        format!(
            "{}   Used FS: {}   Inodes: {}   Used Inodes: {}",
            self.capacity, self.used, self.inodes, self.used_inodes
        )
    }
}

/// The file system that contains `path`: the one whose mount point is the longest prefix, or the only
/// known one.
pub(crate) fn file_system<'a>(path: &Path, known: &'a [FileSystemFacts]) -> Option<&'a FileSystemFacts> {
    let under = known.iter().filter(|facts| path.starts_with(&facts.mount_point));
    under.max_by_key(|facts| facts.mount_point.len()).or_else(|| known.first())
}
