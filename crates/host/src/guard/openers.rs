//! Finds processes that have a device open. Programs such as virtual machines use disks without claiming
//! them exclusively, so only their open files reveal the use.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};

use super::Reason;
use crate::devices::block;
use crate::{DeviceNumber, Root};

/// The worker processes of udev, which briefly open each device that a writer has closed.
const UDEV: [&str; 3] = ["(udev-worker)", "systemd-udevd", "udevd"];
/// Maximum wait for these processes, and the polling interval.
const UDEV_PAUSE_MAX: Duration = Duration::from_secs(5);
const UDEV_PAUSE: Duration = Duration::from_millis(20);

/// Reports processes that have one of `devices` open and keep it open.
pub(super) fn reasons(root: &Root, devices: &[String]) -> Vec<Reason> {
    let began = Instant::now();
    let is_udev = |reason: &Reason| matches!(reason, Reason::OpenInProcess { command, .. } if UDEV.contains(&command.as_str()));
    loop {
        let found = seen(root, devices);
        if found.is_empty() || !found.iter().all(is_udev) || began.elapsed() >= UDEV_PAUSE_MAX {
            return found;
        }
        thread::sleep(UDEV_PAUSE);
    }
}

fn seen(root: &Root, devices: &[String]) -> Vec<Reason> {
    let numbers: Vec<DeviceNumber> =
        devices.iter().filter_map(|device| block::number_of(root, device)).collect();
    let own = std::process::id();
    root.names("/proc")
        .iter()
        .filter_map(|name| name.parse::<u32>().ok())
        .filter(|process| *process != own && has_open(root, *process, &numbers))
        .filter(|process| parent(root, *process) != Some(own))
        .map(|process| Reason::OpenInProcess {
            process,
            command: root.text(&format!("/proc/{process}/comm")).known().cloned().unwrap_or_default(),
        })
        .collect()
}

/// Whether a child of this process has the device open. Between fork and exec a child has all open files
/// of its parent.
pub(super) fn is_open_in_child(root: &Root, number: DeviceNumber) -> bool {
    let own = std::process::id();
    root.names("/proc")
        .iter()
        .filter_map(|name| name.parse::<u32>().ok())
        .any(|process| parent(root, process) == Some(own) && has_open(root, process, &[number]))
}

/// The parent process: field 4 of `proc_pid_stat(5)`. A child has the files of this process until it
/// executes its own program.
fn parent(root: &Root, process: u32) -> Option<u32> {
    let stat = root.read(&format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn has_open(root: &Root, process: u32, numbers: &[DeviceNumber]) -> bool {
    fs::read_dir(root.path(format!("/proc/{process}/fd"))).into_iter().flatten().flatten().any(|entry| {
        let link = entry.path();
        // Sockets, pipes and so on are shown as `kind:[number]`, without a path.
        let is_path =
            fs::read_link(&link).is_ok_and(|target| target.as_os_str().as_bytes().starts_with(b"/"));
        is_path && block_number(&link).is_some_and(|number| numbers.contains(&number))
    })
}

/// The device number of an open file, determined without accessing a server that may be gone.
fn block_number(link: &Path) -> Option<DeviceNumber> {
    let wanted = StatxFlags::TYPE;
    let answer = rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
    let file_type = FileType::from_raw_mode(answer.stx_mode.into());
    (file_type == FileType::BlockDevice)
        .then_some(DeviceNumber { major: answer.stx_rdev_major, minor: answer.stx_rdev_minor })
}
