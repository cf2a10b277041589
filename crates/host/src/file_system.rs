//! Which file system a path is on, or will be on once it is made.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use record::FileSystemFacts;
use rustix::fs::{AtFlags, CWD, StatVfs, StatxFlags};

use crate::mounts::{self, DeviceNumber, Mount};
use crate::{HostError, Root};

/// File systems whose data is in memory.
const IN_MEMORY: [&str; 5] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "rootfs"];

/// Whether a file system of this type keeps its data in memory.
pub(crate) fn is_in_memory(kind: &str) -> bool {
    IN_MEMORY.contains(&kind)
}

/// The kernel follows at most this many links in one path (`path_resolution(7)`).
const LINKS_MAX: usize = 40;

/// What a file system may take to say its size.
const PATIENCE: Duration = Duration::from_secs(2);

/// File systems that hold nothing but what the kernel makes up, or memory.
const MADE_BY_THE_KERNEL: [&str; 25] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "ramfs",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "squashfs",
    "sysfs",
    "tmpfs",
    "tracefs",
    "fuse.lxcfs",
];

/// The nearest part of a path that exists, without links, as the tree names it.
pub(crate) fn nearest_existing(root: &Root, path: &Path) -> Result<PathBuf, HostError> {
    let mut path = std::path::absolute(path).map_err(|error| HostError::io("resolve", path, error))?;
    let mut links = 0;
    loop {
        let real = root.path(&path);
        match fs::canonicalize(&real) {
            Ok(canonical) => {
                return root.without_prefix(&canonical).ok_or_else(|| HostError::Malformed {
                    path: real,
                    expected: "links that stay under the root of the tree",
                    found: canonical.display().to_string(),
                });
            }
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(HostError::io("resolve", &path, error)),
        }
        // A link whose target does not exist yet: the file will stand where the link points.
        if let Ok(target) = fs::read_link(&real) {
            links += 1;
            if links > LINKS_MAX {
                return Err(HostError::io("resolve", &path, rustix::io::Errno::LOOP));
            }
            path = path.parent().unwrap_or(Path::new("/")).join(target);
            continue;
        }
        // What is below a part that does not exist cannot exist either, `..` included.
        if path.components().next_back() == Some(Component::RootDir) || !path.pop() {
            return Err(HostError::io("resolve", Path::new("/"), io::ErrorKind::NotFound));
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The mount table of this process.
pub(crate) fn mount_table(root: &Root) -> Result<Vec<Mount>, HostError> {
    let path = root.path("/proc/self/mountinfo");
    let bytes = fs::read(&path).map_err(|error| HostError::io("read", &path, error))?;
    Ok(mounts::parse(&String::from_utf8_lossy(&bytes)))
}

/// The mount that `existing` (see [`nearest_existing`]) is on. The kernel knows its number
/// (`STATX_MNT_ID`, since Linux 5.8); under a prefix the path alone must tell.
pub(crate) fn mount_of(root: &Root, table: &[Mount], existing: &Path) -> Result<Mount, HostError> {
    if root.is_system()
        && let Ok(answer) = rustix::fs::statx(CWD, existing, AtFlags::empty(), StatxFlags::MNT_ID)
        && answer.stx_mask & StatxFlags::MNT_ID.bits() != 0
        && let Some(mount) = table.iter().find(|mount| mount.id == answer.stx_mnt_id)
    {
        return Ok(mount.clone());
    }
    if let Some(mount) = mounts::by_path(table, existing) {
        return Ok(mount.clone());
    }
    if root.is_system() {
        return unlisted(existing);
    }
    Err(HostError::Malformed {
        path: root.path("/proc/self/mountinfo"),
        expected: "a mount above the target",
        found: existing.display().to_string(),
    })
}

/// The mount under a `chroot(2)` into a plain directory, which the table does not list: the device
/// is known from the files, its name and options are not.
fn unlisted(existing: &Path) -> Result<Mount, HostError> {
    let status = rustix::fs::stat(existing).map_err(|error| HostError::io("stat", existing, error))?;
    Ok(Mount {
        id: 0,
        number: DeviceNumber::from_raw(status.st_dev),
        root: PathBuf::from("/"),
        mount_point: PathBuf::from("/"),
        options: String::new(),
        kind: "unknown".to_owned(),
        source: "unknown".to_owned(),
        super_options: String::new(),
    })
}

/// The facts of the file system that `path` is on.
pub(crate) fn facts(root: &Root, table: &[Mount], path: &Path) -> Result<FileSystemFacts, HostError> {
    let existing = nearest_existing(root, path)?;
    let mount = mount_of(root, table, &existing)?;
    let real = root.path(&existing);
    let space = rustix::fs::statvfs(&real).map_err(|error| HostError::io("statvfs", &real, error))?;
    Ok(FileSystemFacts {
        mount_point: mount.mount_point.to_string_lossy().into_owned(),
        options: mount.all_options(),
        kind: mount.kind,
        source: mount.source,
        size_bytes: space.f_blocks.saturating_mul(space.f_frsize),
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        reserved_bytes: space.f_bfree.saturating_sub(space.f_bavail).saturating_mul(space.f_frsize),
        inodes: space.f_files,
        free_inodes: space.f_favail,
    })
}

/// The facts of every mount of a real file system. One that does not answer, as of a server that is
/// gone, has no size; neither has one of a tree of files.
pub(crate) fn all(root: &Root, table: &[Mount]) -> Vec<FileSystemFacts> {
    let real = table.iter().filter(|mount| !MADE_BY_THE_KERNEL.contains(&mount.kind.as_str()));
    real.map(|mount| {
        let space = if root.is_system() { space_in_time(mount.mount_point.clone()) } else { None };
        let of = |value: fn(&StatVfs) -> u64| space.as_ref().map_or(0, value);
        FileSystemFacts {
            mount_point: mount.mount_point.to_string_lossy().into_owned(),
            options: mount.all_options(),
            kind: mount.kind.clone(),
            source: mount.source.clone(),
            size_bytes: of(|space| space.f_blocks.saturating_mul(space.f_frsize)),
            free_bytes: of(|space| space.f_bavail.saturating_mul(space.f_frsize)),
            reserved_bytes: of(|space| {
                space.f_bfree.saturating_sub(space.f_bavail).saturating_mul(space.f_frsize)
            }),
            inodes: of(|space| space.f_files),
            free_inodes: of(|space| space.f_favail),
        }
    })
    .collect()
}

/// Asks in a thread of its own, which is left behind where the file system never answers.
fn space_in_time(path: PathBuf) -> Option<StatVfs> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(rustix::fs::statvfs(&path)));
    receiver.recv_timeout(PATIENCE).ok()?.ok()
}

/// Bytes that this user may still write at `path`.
pub(crate) fn free_bytes(root: &Root, path: &Path) -> Result<u64, HostError> {
    let real = root.path(nearest_existing(root, path)?);
    let space = rustix::fs::statvfs(&real).map_err(|error| HostError::io("statvfs", &real, error))?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::{mount_of, nearest_existing};
    use crate::Root;
    use crate::mounts::DeviceNumber;

    #[test]
    fn a_path_to_be_made_is_where_its_nearest_ancestor_is() {
        let tree = tempfile::tempdir().unwrap();
        let real = tree.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("there")).unwrap();
        std::fs::write(real.join("file"), "x").unwrap();
        symlink("there", real.join("link")).unwrap();
        symlink("there/not-yet", real.join("dangling")).unwrap();
        symlink("round", real.join("round")).unwrap();
        let found = |path: &str| nearest_existing(&Root::default(), &real.join(path));
        assert_eq!(found("there/a/b").unwrap(), real.join("there"));
        assert_eq!(found("link/a").unwrap(), real.join("there"));
        assert_eq!(found("dangling").unwrap(), real.join("there"));
        assert_eq!(found("file/below").unwrap(), real.join("file"));
        assert_eq!(found("none/../there").unwrap(), real);
        assert!(found("round").is_err());
    }

    #[test]
    fn a_root_that_the_mount_table_does_not_list_is_still_a_place_to_measure() {
        let mount = mount_of(&Root::default(), &[], Path::new("/usr")).unwrap();
        let device = rustix::fs::stat("/usr").unwrap().st_dev;
        assert_eq!(mount.number, DeviceNumber::from_raw(device));
        assert_eq!((mount.mount_point.as_path(), mount.kind.as_str()), (Path::new("/"), "unknown"));
    }

    #[test]
    fn a_tree_keeps_its_own_names() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("scratch/a")).unwrap();
        let root = Root::new(tree.path());
        assert_eq!(nearest_existing(&root, Path::new("/scratch/a/b/c")).unwrap(), Path::new("/scratch/a"));
    }
}
