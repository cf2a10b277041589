//! The file systems that the testbed can create.

use std::path::Path;

use crate::Error;
use crate::programs::command;

/// The kind of file system on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// XFS; needs a device of at least 300 MB.
    Xfs,
    /// ext4, with its inode tables initialized at creation, so that nothing is written in the background.
    Ext4,
    /// btrfs without copy-on-write for data, so that the device offsets of data do not change.
    Btrfs,
}

impl FileSystem {
    /// The smallest device that mkfs accepts, with room for some data.
    #[must_use]
    pub const fn smallest_bytes(self) -> u64 {
        match self {
            Self::Xfs => 320 << 20,
            Self::Ext4 => 32 << 20,
            Self::Btrfs => 128 << 20,
        }
    }

    /// The file system type for mount(8).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xfs => "xfs",
            Self::Ext4 => "ext4",
            Self::Btrfs => "btrfs",
        }
    }

    const fn options(self) -> &'static str {
        match self {
            Self::Xfs | Self::Ext4 => "noatime",
            Self::Btrfs => "noatime,nodatacow",
        }
    }

    /// Creates the file system on `device` and mounts it.
    pub(crate) fn make_and_mount(self, device: &Path, mount_point: &Path) -> Result<(), Error> {
        let flags: &[&str] = match self {
            Self::Xfs => &["-q", "-f", "-K"],
            Self::Ext4 => &["-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"],
            Self::Btrfs => &["-q", "-f", "-K"],
        };
        let flags = flags.iter().map(Path::new).chain([device]);
        command::run(&format!("mkfs.{}", self.name()), flags)?;
        self.mount(device, mount_point)
    }

    /// Mounts the existing file system on `device`.
    pub(crate) fn mount(self, device: &Path, mount_point: &Path) -> Result<(), Error> {
        let mount = ["-t", self.name(), "-o", self.options()];
        command::run("mount", mount.iter().map(Path::new).chain([device, mount_point]))?;
        Ok(())
    }
}
