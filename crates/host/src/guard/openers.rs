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

/// What a process may have open: a block device, or the file behind a loop device, by its `st_dev` and `st_ino`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    Device(DeviceNumber),
    File(u64, u64),
}

/// Reports processes that have one of `devices`, or the file behind one, open and keep it open.
pub(super) fn reasons(root: &Root, devices: &[String], file: Option<(u64, u64)>) -> Vec<Reason> {
    let numbers = devices.iter().filter_map(|device| block::number_of(root, device));
    let wanted: Vec<Opened> =
        numbers.map(Opened::Device).chain(file.map(|(device, inode)| Opened::File(device, inode))).collect();
    let began = Instant::now();
    let is_udev = |reason: &Reason| matches!(reason, Reason::OpenInProcess { command, .. } if UDEV.contains(&command.as_str()));
    loop {
        let found = seen(root, &wanted);
        if found.is_empty() || !found.iter().all(is_udev) || began.elapsed() >= UDEV_PAUSE_MAX {
            return found;
        }
        thread::sleep(UDEV_PAUSE);
    }
}

fn seen(root: &Root, wanted: &[Opened]) -> Vec<Reason> {
    let own = std::process::id();
    root.names("/proc")
        .iter()
        .filter_map(|name| name.parse::<u32>().ok())
        .filter(|process| *process != own && has_open(root, *process, wanted))
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
    root.names("/proc").iter().filter_map(|name| name.parse::<u32>().ok()).any(|process| {
        parent(root, process) == Some(own) && has_open(root, process, &[Opened::Device(number)])
    })
}

/// The parent process: field 4 of `proc_pid_stat(5)`. A child has the files of this process until it
/// executes its own program.
fn parent(root: &Root, process: u32) -> Option<u32> {
    let stat = root.read(&format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn has_open(root: &Root, process: u32, wanted: &[Opened]) -> bool {
    fs::read_dir(root.path(format!("/proc/{process}/fd"))).into_iter().flatten().flatten().any(|entry| {
        let link = entry.path();
        // Sockets, pipes and so on are shown as `kind:[number]`, without a path.
        let is_path =
            fs::read_link(&link).is_ok_and(|target| target.as_os_str().as_bytes().starts_with(b"/"));
        is_path && opened(&link).is_some_and(|opened| wanted.contains(&opened))
    })
}

/// What an open file is, determined without accessing a server that may be gone.
fn opened(link: &Path) -> Option<Opened> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO;
    let answer = rustix::fs::statx(CWD, link, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
    match FileType::from_raw_mode(answer.stx_mode.into()) {
        FileType::BlockDevice => {
            Some(Opened::Device(DeviceNumber { major: answer.stx_rdev_major, minor: answer.stx_rdev_minor }))
        }
        FileType::RegularFile => Some(Opened::File(
            rustix::fs::makedev(answer.stx_dev_major, answer.stx_dev_minor),
            answer.stx_ino,
        )),
        _ => None,
    }
}
