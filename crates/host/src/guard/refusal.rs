//! Reasons why a device may not be written, each with its remedy.

use std::fmt;
use std::path::PathBuf;

use plan::shell_word;
use thiserror::Error;

use crate::devices::inventory;

/// The word that, as a consent, accepts data without a known signature. It does not name a device.
pub const UNKNOWN_DATA_WORD: &str = "unknown-data";

/// A device that may not be written, with all reasons.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct Refusal {
    /// The device as the user named it.
    pub path: PathBuf,
    /// All reasons; at least one.
    pub reasons: Vec<Reason>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "will not write to {}:", self.path.display())?;
        for reason in &self.reasons {
            write!(f, "\n  {reason}; {}", reason.next_step())?;
        }
        Ok(())
    }
}

/// One reason against writing to a device. Devices have the kernel's names, for example `sda1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The device cannot be opened or examined.
    CannotOpen {
        /// The error.
        error: String,
    },
    /// It is not a block device.
    NotABlockDevice,
    /// The kernel shows no device with this number.
    UnknownDevice {
        /// The number.
        number: String,
    },
    /// The user did not name the device.
    NotNamed {
        /// The names that the user may use: its path, and its serial number or world wide name if unique.
        names: Vec<String>,
    },
    /// A consent is empty, for example because a variable was not set.
    EmptyConsent,
    /// A consent differs from a name of the device only in upper and lower case.
    ConsentInOtherCase {
        /// The consent as given.
        given: String,
        /// The actual name.
        name: String,
    },
    /// A consent names several devices.
    AmbiguousConsent {
        /// The consent as given.
        given: String,
        /// All devices with this serial number or name.
        devices: Vec<String>,
    },
    /// A consent names the disk, but only a partition of it was to be written.
    ConsentForWholeDisk {
        /// The consent as given.
        given: String,
        /// The disk.
        disk: String,
    },
    /// The kernel does not allow writes to it.
    ReadOnly,
    /// It has no capacity: there is no medium, or the loop device is not configured.
    Empty,
    /// It has partitions.
    Partitioned {
        /// Their names.
        partitions: Vec<String>,
    },
    /// The device, or one that shares its bytes, is mounted.
    Mounted {
        /// The mounted device.
        device: String,
        /// Where.
        mount_point: PathBuf,
        /// A process in the mount's namespace, if that is not ours.
        process: Option<u32>,
    },
    /// The device, or one that shares its bytes, is swap space.
    Swap {
        /// The device or file.
        device: String,
    },
    /// The device, or one that shares its bytes, is part of a stack: md, LVM, device mapper, bcache.
    Held {
        /// The device that is part of it.
        device: String,
        /// What holds it.
        holders: Vec<String>,
    },
    /// The device, or its disk, is a path of a multipath device, which has the same bytes.
    PathOf {
        /// The multipath device.
        device: String,
    },
    /// The device, or one that shares its bytes, belongs to a btrfs that the kernel has open.
    BtrfsMember {
        /// The device that belongs to it.
        device: String,
        /// The file system.
        uuid: String,
    },
    /// A loop device is configured on the device, or on one that shares its bytes.
    UnderLoop {
        /// The device or file below it.
        device: String,
        /// The loop device.
        by: String,
    },
    /// The device, or one that shares its bytes, is exported to other hosts (NVMe or SCSI target).
    Exported {
        /// The exported device.
        device: String,
        /// The configfs path of the export.
        by: String,
    },
    /// Its users are unknown, because a kernel table cannot be read.
    UnknownUse {
        /// The error.
        error: String,
    },
    /// The file behind this loop device is itself mounted as a file system.
    FileMounted {
        /// The file.
        file: PathBuf,
        /// Where.
        mount_point: PathBuf,
    },
    /// Another device is the same medium (it has the same world wide name) and is in use.
    AliasInUse {
        /// The other device.
        alias: String,
        /// Description of the use.
        usage: String,
    },
    /// Another process has the device, one that shares its bytes, or the file of a loop device open.
    OpenInProcess {
        /// Number of the process.
        process: u32,
        /// The command of the process.
        command: String,
    },
    /// According to the kernel, something uses it exclusively.
    InUse,
    /// It contains the signature of a file system, volume manager or partition table.
    Signature {
        /// The kind, as named by util-linux.
        kind: String,
        /// The offset, as printed by util-linux.
        offset: String,
    },
    /// It contains data that this program does not recognise.
    UnknownData {
        /// The first offset at which a sample found such data.
        offset: u64,
    },
    /// A program that looks for signatures is missing or failed.
    ProbeFailed {
        /// The program.
        program: &'static str,
        /// The error.
        error: String,
    },
}

impl Reason {
    /// What the user can do about it.
    #[must_use]
    pub fn next_step(&self) -> String {
        match self {
            Self::CannotOpen { .. } => "give another device, or run as a user who may open it".to_owned(),
            Self::NotABlockDevice => "give a block device, for example /dev/nvme1n1".to_owned(),
            Self::UnknownDevice { .. } => "mount sysfs at /sys, or give another device".to_owned(),
            Self::NotNamed { names } => {
                let options: Vec<String> =
                    names.iter().map(|name| format!("--destroy-data-on {}", shell_word(name))).collect();
                format!("if all its data may be lost, use {}", options.join(" or "))
            }
            Self::EmptyConsent => "remove it, or set the variable that it came from".to_owned(),
            Self::ConsentInOtherCase { name, .. } => format!("write {}", shell_word(name)),
            Self::AmbiguousConsent { .. } => "name it by its path or world wide name".to_owned(),
            Self::ConsentForWholeDisk { .. } => "name the partition by its path".to_owned(),
            Self::ReadOnly => "give another device, or blockdev --setrw".to_owned(),
            Self::Empty => "insert a medium, or set it up".to_owned(),
            Self::Partitioned { .. } => "give one of the partitions, or remove them".to_owned(),
            Self::Mounted { mount_point, .. } | Self::FileMounted { mount_point, .. } => {
                format!("umount {}", shell_word(&mount_point.display().to_string()))
            }
            Self::Swap { device } => format!("swapoff {}", shell_word(device)),
            Self::Held { .. } => "stop what it is part of, or give that instead".to_owned(),
            Self::PathOf { device } => format!("give {}", inventory::node(device).display()),
            Self::BtrfsMember { .. } => "unmount that file system, or give another device".to_owned(),
            Self::UnderLoop { by, .. } => format!("losetup -d {}", inventory::node(by).display()),
            Self::Exported { .. } => "end the export, or give another device".to_owned(),
            Self::UnknownUse { .. } => "mount proc at /proc".to_owned(),
            Self::AliasInUse { .. } => "give another device".to_owned(),
            Self::OpenInProcess { .. } => "end that process, or give another device".to_owned(),
            Self::InUse => "find its user with lsblk and fuser, or give another device".to_owned(),
            Self::Signature { .. } => "if its data may be lost, remove it with wipefs -a".to_owned(),
            Self::UnknownData { .. } => {
                format!("if it may be lost, add --destroy-data-on {UNKNOWN_DATA_WORD}")
            }
            Self::ProbeFailed { program, .. } => {
                format!("install {program} of util-linux (Debian: apt install util-linux)")
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotOpen { error } => write!(f, "it cannot be opened: {error}"),
            Self::NotABlockDevice => f.write_str("it is not a block device"),
            Self::UnknownDevice { number } => {
                write!(f, "no /sys/dev/block/{number}, so it cannot be identified")
            }
            Self::NotNamed { .. } => f.write_str("it was not named as a device whose data may be destroyed"),
            Self::EmptyConsent => f.write_str("an empty --destroy-data-on names no device"),
            Self::ConsentInOtherCase { given, name } => {
                write!(f, "{given:?} differs from its name {name:?} in upper and lower case")
            }
            Self::AmbiguousConsent { given, devices } => {
                write!(f, "{given:?} names {} devices: {}", devices.len(), devices.join(", "))
            }
            Self::ConsentForWholeDisk { given, disk } => {
                write!(f, "{given:?} names the disk {disk}, not this partition of it")
            }
            Self::ReadOnly => f.write_str("it is read-only"),
            Self::Empty => f.write_str("it has no capacity"),
            Self::Partitioned { partitions } => write!(f, "it has partitions: {}", partitions.join(", ")),
            Self::Mounted { device, mount_point, process } => {
                write!(f, "{device} is mounted at {}", mount_point.display())?;
                match process {
                    Some(process) => write!(f, " in the namespace of process {process}"),
                    None => Ok(()),
                }
            }
            Self::Swap { device } => write!(f, "{device} is swap space"),
            Self::Held { device, holders } => write!(f, "{device} is part of {}", holders.join(", ")),
            Self::PathOf { device } => {
                write!(f, "it is a path of the multipath device {device}, which has the same data")
            }
            Self::BtrfsMember { device, uuid } => write!(f, "{device} belongs to the btrfs {uuid}"),
            Self::UnderLoop { device, by } => write!(f, "{by} is set up on {device}"),
            Self::Exported { device, by } => write!(f, "{device} is exported to other hosts by {by}"),
            Self::UnknownUse { error } => write!(f, "it cannot be determined what uses it: {error}"),
            Self::FileMounted { file, mount_point } => {
                write!(f, "its file {} is mounted at {}", file.display(), mount_point.display())
            }
            Self::AliasInUse { alias, usage } => write!(f, "{alias} is the same medium, and {usage}"),
            Self::OpenInProcess { process, command } => {
                write!(f, "{command} (process {process}) has it or its file open")
            }
            Self::InUse => f.write_str("the kernel reports that it is in use"),
            Self::Signature { kind, offset } => write!(f, "it has a signature of {kind} at {offset}"),
            Self::UnknownData { offset } => {
                write!(f, "it contains unknown data, for example at offset {offset}")
            }
            Self::ProbeFailed { program, error } => {
                write!(f, "{program} could not look for signatures on it: {error}")
            }
        }
    }
}
