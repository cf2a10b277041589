//! What two paths have in common: the directory, the file system, or the device below it.

use std::path::Path;

use crate::devices;
use crate::file_systems::file_system::{mount_of, mount_table, nearest_existing};
use crate::{HostError, Mount, Root};

/// What two paths have in common, the closest relation that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// They are one file or directory.
    Same,
    /// One is inside the other.
    Inside,
    /// They are on one file system, for example `ext4 on /dev/sda1`.
    SameFileSystem(String),
    /// They are on different file systems of one block device.
    SameDevice(String),
    /// Nothing that this host can see.
    Apart,
}

impl Relation {
    /// The relation of two paths. A path that does not exist yet is where its nearest existing parent is.
    pub(crate) fn of(root: &Root, one: &Path, other: &Path) -> Result<Self, HostError> {
        let [first, second] = [nearest_existing(root, one)?, nearest_existing(root, other)?];
        if first == second || is_one_file(&first, &second) {
            return Ok(Self::Same);
        }
        let table = mount_table(root)?;
        let [mount, another] = [mount_of(root, &table, &first)?, mount_of(root, &table, &second)?];
        // Another file system may be mounted inside a directory.
        if mount.number == another.number {
            let is_inside = first.starts_with(&second) || second.starts_with(&first);
            return Ok(if is_inside { Self::Inside } else { Self::SameFileSystem(name_of(&mount)) });
        }
        let disks = |path: &Path| devices::top_and_bottom(root, &table, path).1;
        let others = disks(&second);
        let shared = disks(&first).into_iter().find(|disk| others.contains(disk));
        Ok(shared.map_or(Self::Apart, Self::SameDevice))
    }
}

fn is_one_file(one: &Path, other: &Path) -> bool {
    let identity = |path| rustix::fs::stat(path).ok().map(|status| (status.st_dev, status.st_ino));
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

/// A file system as people name it: `ext4 on /dev/sda1`, or by its mount point if no device is behind it.
pub(crate) fn name_of(mount: &Mount) -> String {
    match mount.source.starts_with('/') {
        true => format!("{} on {}", mount.kind, mount.source),
        false => format!("{} at {}", mount.kind, mount.mount_point.display()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::Relation;
    use crate::Root;

    #[test]
    fn directories_are_told_apart_whatever_they_are_called() {
        let place = tempfile::tempdir().expect("a directory");
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("a/inner")).expect("made");
        fs::create_dir(path("b")).expect("made");
        symlink(path("a"), path("link")).expect("made");
        let root = Root::default();
        let of = |one: &str, other: &str| Relation::of(&root, &path(one), &path(other)).expect("readable");
        assert_eq!(of("a", "a/../a"), Relation::Same);
        assert_eq!(of("a", "link"), Relation::Same);
        assert_eq!(of("a/inner", "a"), Relation::Inside);
        assert_eq!(of("a", "link/inner"), Relation::Inside);
        assert!(matches!(of("a", "b"), Relation::SameFileSystem(_)), "{:?}", of("a", "b"));
        let proc = Relation::of(&root, &path("a"), "/proc".as_ref()).expect("readable");
        assert_eq!(proc, Relation::Apart);
    }
}
