//! Limits that the kernel enforces on a block device.
//!
//! With cgroup v1 the limits are set on the root group, because limits of a child group do not apply to page cache
//! writeback. With cgroup v2, whose root group cannot have limits, this process moves into its own group while a
//! limit is set.
//!
//! A limit is a rate, not a latency: below it a request takes as long as the device does. After an idle period about
//! 2 MiB pass without throttling, and the IOPS limit counts pieces of 512 KiB. A measurement against a limit should
//! therefore last 5 s or more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Error;

/// Limits per second on a device. `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Bytes read per second.
    pub read_bytes: Option<u64>,
    /// Bytes written per second.
    pub write_bytes: Option<u64>,
    /// Reads per second.
    pub reads: Option<u64>,
    /// Writes per second.
    pub writes: Option<u64>,
}

impl Limits {
    /// Limits reads and writes to the same number of bytes per second each.
    ///
    /// ```
    /// let limits = testbed::Limits::bandwidth(40_000_000);
    /// assert_eq!((limits.read_bytes, limits.reads), (Some(40_000_000), None));
    /// ```
    #[must_use]
    pub const fn bandwidth(bytes: u64) -> Self {
        Self { read_bytes: Some(bytes), write_bytes: Some(bytes), reads: None, writes: None }
    }

    /// Limits reads and writes to the same number of transfers per second each.
    #[must_use]
    pub const fn iops(transfers: u64) -> Self {
        Self { read_bytes: None, write_bytes: None, reads: Some(transfers), writes: Some(transfers) }
    }
}

/// Whether limits can be set on this machine.
pub(crate) fn available() -> Result<(), String> {
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
    Controller::of(&mounts).map(|_| ()).ok_or_else(|| "needs a cgroup that limits block devices".to_owned())
}

/// The cgroup hierarchy through which limits are set.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Controller {
    /// The root group of the v1 controller `blkio`.
    One(PathBuf),
    /// The root of the v2 hierarchy.
    Two(PathBuf),
}

impl Controller {
    /// Finds the controller in a mount table. If both versions are mounted, v1 is used, because v2 then has no `io`.
    fn of(mounts: &str) -> Option<Self> {
        let entries = || {
            mounts.lines().filter_map(|line| {
                let mut words = line.split(' ').skip(1);
                Some((words.next()?, words.next()?, words.next()?))
            })
        };
        let one = entries().find(|(_, kind, options)| {
            *kind == "cgroup" && options.split(',').any(|option| option == "blkio")
        });
        let two = || entries().find(|(_, kind, _)| *kind == "cgroup2");
        one.map(|(path, _, _)| Self::One(path.into()))
            .or_else(|| two().map(|(path, _, _)| Self::Two(path.into())))
    }

    fn here() -> Result<Self, Error> {
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(Error::file("/proc/self/mounts"))?;
        Self::of(&mounts).ok_or_else(|| Error::Missing("a cgroup that limits block devices".to_owned()))
    }
}

/// Limits on one device. They are removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct Throttle {
    controller: Controller,
    device: String,
}

impl Throttle {
    /// Sets limits on the device with this major and minor number.
    pub(crate) fn new(major: u32, minor: u32, limits: Limits) -> Result<Self, Error> {
        Self::at(Controller::here()?, format!("{major}:{minor}"), limits)
    }

    fn at(controller: Controller, device: String, limits: Limits) -> Result<Self, Error> {
        if let Controller::Two(root) = &controller {
            group_of_this_process::join(root)?;
        }
        let throttle = Self { controller, device };
        throttle.set(limits)?;
        Ok(throttle)
    }

    /// Replaces the limits.
    pub(crate) fn set(&self, limits: Limits) -> Result<(), Error> {
        let device = &self.device;
        match &self.controller {
            Controller::One(root) => {
                for (file, limit) in [
                    ("read_bps", limits.read_bytes),
                    ("write_bps", limits.write_bytes),
                    ("read_iops", limits.reads),
                    ("write_iops", limits.writes),
                ] {
                    let path = root.join(format!("blkio.throttle.{file}_device"));
                    fs::write(&path, format!("{device} {}", limit.unwrap_or(0)))
                        .map_err(Error::file(&path))?;
                }
            }
            Controller::Two(root) => {
                let word = |limit: Option<u64>| limit.map_or_else(|| "max".to_owned(), |n| n.to_string());
                let line = format!(
                    "{device} rbps={} wbps={} riops={} wiops={}",
                    word(limits.read_bytes),
                    word(limits.write_bytes),
                    word(limits.reads),
                    word(limits.writes)
                );
                let path = group_of_this_process::path(root).join("io.max");
                fs::write(&path, line).map_err(Error::file(&path))?;
            }
        }
        Ok(())
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        // The device is about to be removed, and its limits with it.
        let _ = self.set(Limits::default());
        if let Controller::Two(root) = &self.controller {
            group_of_this_process::leave(root);
        }
    }
}

/// The cgroup v2 group that holds this process while any of its devices has limits.
mod group_of_this_process {
    use super::{Error, Mutex, Path, PathBuf, PoisonError, fs};

    /// The number of throttles that need the group, and the group that the process came from.
    static USERS: Mutex<(u32, PathBuf)> = Mutex::new((0, PathBuf::new()));

    pub(super) fn path(root: &Path) -> PathBuf {
        root.join(format!("ioproof-testbed-{}", std::process::id()))
    }

    pub(super) fn join(root: &Path) -> Result<(), Error> {
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        if users.0 == 0 {
            let control = root.join("cgroup.subtree_control");
            fs::write(&control, "+io").map_err(Error::file(&control))?;
            users.1 = home(root);
            let group = path(root);
            fs::create_dir_all(&group).map_err(Error::file(&group))?;
            move_to(&group)?;
        }
        users.0 += 1;
        Ok(())
    }

    pub(super) fn leave(root: &Path) {
        let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
        users.0 -= 1;
        if users.0 == 0 && move_to(&users.1).is_ok() {
            // A child of this process may still be in the group. Leaving an empty group behind does no harm.
            let _ = fs::remove_dir(path(root));
        }
    }

    /// The current group of this process.
    fn home(root: &Path) -> PathBuf {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let name = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
        root.join(name)
    }

    fn move_to(group: &Path) -> Result<(), Error> {
        let members = group.join("cgroup.procs");
        fs::write(&members, std::process::id().to_string()).map_err(Error::file(&members))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Controller, Limits, Throttle};
    use crate::Scratch;

    const ONE: &str = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
                       cgroup /sys/fs/cgroup/blkio cgroup rw,relatime,blkio 0 0\n\
                       cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";

    #[test]
    fn version_one_is_used_where_it_has_the_controller() {
        assert_eq!(Controller::of(ONE), Some(Controller::One("/sys/fs/cgroup/blkio".into())));
        let two = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";
        assert_eq!(Controller::of(two), Some(Controller::Two("/sys/fs/cgroup".into())));
        assert_eq!(Controller::of("proc /proc proc rw 0 0\n"), None);
    }

    #[test]
    fn version_one_is_told_zero_for_no_limit() {
        let root = Scratch::on_disk().expect("a directory");
        let read = |name: &str| std::fs::read_to_string(root.path().join(name)).expect("a file");
        let limits = Limits { read_bytes: Some(5), ..Limits::default() };
        let throttle =
            Throttle::at(Controller::One(root.path().into()), "7:3".to_owned(), limits).expect("limits");
        assert_eq!(read("blkio.throttle.read_bps_device"), "7:3 5");
        assert_eq!(read("blkio.throttle.write_iops_device"), "7:3 0");
        drop(throttle);
        assert_eq!(read("blkio.throttle.read_bps_device"), "7:3 0");
    }

    #[test]
    fn version_two_moves_the_process_into_a_group_with_limits_and_back() {
        let root = Scratch::on_disk().expect("a directory");
        let home: PathBuf = {
            let groups = std::fs::read_to_string("/proc/self/cgroup").expect("groups");
            let name = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
            root.path().join(name)
        };
        std::fs::create_dir_all(&home).expect("a directory");
        let limits = Limits { writes: Some(9), ..Limits::default() };
        let throttle =
            Throttle::at(Controller::Two(root.path().into()), "7:3".to_owned(), limits).expect("limits");
        let group = root.path().join(format!("ioproof-testbed-{}", std::process::id()));
        let line = std::fs::read_to_string(group.join("io.max")).expect("limits");
        assert_eq!(line, "7:3 rbps=max wbps=max riops=max wiops=9");
        assert!(group.join("cgroup.procs").exists() && !home.join("cgroup.procs").exists());
        drop(throttle);
        assert!(home.join("cgroup.procs").exists(), "the process did not go back");
    }
}
