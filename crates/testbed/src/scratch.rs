//! Directories with unique names that are removed with their value, and cleanup after killed processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::Error;
use crate::programs::command;

/// Prefix of every directory of the testbed, followed by the PID and a counter.
const PREFIX: &str = "ioproof-testbed-";
/// Directory for files in memory.
const MEMORY: &str = "/dev/shm";
/// Directory for files on a disk. `/tmp` is in memory on many hosts.
const DISK: &str = "/var/tmp";

static NEXT: AtomicU32 = AtomicU32::new(0);
static SWEPT: Once = Once::new();

/// A directory that is removed when the value is dropped.
///
/// ```
/// let scratch = testbed::Scratch::on_disk().unwrap();
/// std::fs::write(scratch.path().join("file"), "data").unwrap();
/// let path = scratch.path().to_path_buf();
/// drop(scratch);
/// assert!(!path.exists());
/// ```
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Creates a directory on a disk: below `TMPDIR` if that is set, otherwise below `/var/tmp`.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn on_disk() -> Result<Self, Error> {
        Self::below(&std::env::var_os("TMPDIR").map_or_else(|| PathBuf::from(DISK), PathBuf::from))
    }

    /// Creates a directory in memory (tmpfs).
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn in_memory() -> Result<Self, Error> {
        Self::below(Path::new(MEMORY))
    }

    /// Creates a directory below `parent`.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn below(parent: &Path) -> Result<Self, Error> {
        SWEPT.call_once(|| {
            for place in [Path::new(MEMORY), Path::new(DISK), parent] {
                sweep(place);
            }
        });
        let path = parent.join(unique_name());
        fs::create_dir(&path).map_err(Error::file(&path))?;
        Ok(Self { path })
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is cleaned up by the next process.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A name that is unique across values and processes.
pub(crate) fn unique_name() -> String {
    format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Unmounts `mount_point`. If it stays in use, detaches it, so that no new accesses reach it, and returns false.
pub(crate) fn unmount(mount_point: &Path) -> bool {
    /// Number of attempts. A file that was just closed is released within this many.
    const TRIES: u32 = 40;
    for _ in 0..TRIES {
        if command::run("umount", [mount_point]).is_ok() || !is_mounted(mount_point) {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // Detach it at least. Processes that still use it keep it alive until they end.
    let _ = command::run("umount", [Path::new("--lazy"), mount_point]);
    false
}

/// Whether a file system is mounted at `path`.
pub(crate) fn is_mounted(path: &Path) -> bool {
    mounts().iter().any(|mount| mount == path)
}

/// All mount points, the newest last.
fn mounts() -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    table.lines().filter_map(|line| line.split(' ').nth(1)).map(PathBuf::from).collect()
}

/// Tears down what dead processes left below `place`. What cannot be torn down is left to the next process: a failure
/// here must not fail an unrelated test.
fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if owner(&path).is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = take_down(&path);
        }
    }
}

/// The PID of the process that created `path`, if the testbed created it.
fn owner(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    name.split('-').next()?.parse().ok()
}

/// Thaws and unmounts everything below `directory`, detaches loop devices backed by its files, and removes it.
fn take_down(directory: &Path) -> io::Result<()> {
    for mount_point in mounts().iter().rev().filter(|mount| mount.starts_with(directory)) {
        let _ = command::run("fsfreeze", [Path::new("--unfreeze"), mount_point]);
        unmount(mount_point);
    }
    let devices = command::run("losetup", ["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
    for line in devices.unwrap_or_default().lines() {
        if let Some((device, file)) = line.split_once(char::is_whitespace)
            && Path::new(file.trim()).starts_with(directory)
        {
            let _ = command::run("losetup", ["--detach", device]);
        }
    }
    if mounts().iter().any(|mount| mount.starts_with(directory)) {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    fs::remove_dir_all(directory)
}

#[cfg(test)]
mod tests {
    use super::{Scratch, owner, sweep};
    use std::path::Path;

    #[test]
    fn a_directory_is_removed_also_when_a_test_panics() {
        let path = std::thread::spawn(|| {
            let scratch = Scratch::on_disk().expect("a directory");
            std::panic::panic_any(scratch.path().to_path_buf());
        })
        .join()
        .expect_err("the thread panics")
        .downcast::<std::path::PathBuf>()
        .expect("its path");
        assert!(!path.exists(), "{} is still there", path.display());
    }

    #[test]
    fn what_a_killed_process_left_is_swept_and_what_a_living_one_uses_is_not() {
        let place = Scratch::on_disk().expect("a directory");
        let process = std::process::Command::new("true").spawn().and_then(|mut child| {
            let id = child.id();
            child.wait().map(|_| id)
        });
        let dead = place.path().join(format!("ioproof-testbed-{}-0", process.expect("a process")));
        let living = place.path().join(format!("ioproof-testbed-{}-0", std::process::id()));
        let foreign = place.path().join("somebody-elses");
        for path in [&dead, &living, &foreign] {
            std::fs::create_dir(path).expect("a directory");
        }
        sweep(place.path());
        assert!(!dead.exists() && living.exists() && foreign.exists());
    }

    #[test]
    fn only_names_of_the_testbed_have_an_owner() {
        assert_eq!(owner(Path::new("/x/ioproof-testbed-17-3")), Some(17));
        assert_eq!(owner(Path::new("/x/ioproof-17-3")), None);
        assert_eq!(owner(Path::new("/x/ioproof-testbed-")), None);
    }
}
