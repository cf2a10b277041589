//! How devices are combined: recipes, file systems, arrays and volumes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// How devices are combined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Recipe {
    /// The devices themselves, without a file system.
    Raw,
    /// A file system on each device.
    PerDevice {
        /// The file system, and how it is made and mounted.
        file_system: FileSystem,
    },
    /// One btrfs with data and metadata striped over all devices.
    Btrfs {
        /// Options of `mount`, as in `noatime,nodatacow`.
        mount_options: String,
    },
    /// RAID-0 of the md driver, with one file system.
    Md {
        /// Metadata format of the members.
        metadata: MdMetadata,
        /// Chunk size: consecutive bytes on one member.
        chunk: Bytes,
        /// The array, as in `/dev/md0`.
        node: PathBuf,
        /// The file system on it.
        file_system: FileSystem,
    },
    /// Volumes of one LVM group, each striped over all devices.
    Lvm {
        /// The name of the volume group.
        group: String,
        /// Stripe size: consecutive bytes on one device.
        stripe: Bytes,
        /// The volumes.
        volumes: Vec<Volume>,
        /// The file system on each of them.
        file_system: FileSystem,
    },
    /// A GPFS (Spectrum Scale) file system, with the devices as its NSDs.
    Gpfs {
        /// Its name, as in `p3700`.
        file_system: String,
        /// Block size (`-B`).
        block: Bytes,
        /// Nodes that will mount it (`-n`).
        nodes: u32,
        /// The file that lists the NSDs (`-F`).
        nsd_list: PathBuf,
    },
    /// A directory of a mounted Lustre with a stripe layout of its own.
    Lustre {
        /// Number of targets that a file is striped over (`-c`).
        stripe_count: u32,
        /// Target on which a file starts (`-i`); any if not given.
        first: Option<u32>,
        /// Stripe size (`-S`): consecutive bytes on one target; the file system's default if not given.
        stripe: Option<Bytes>,
    },
    /// An existing directory, which is kept.
    Existing,
    /// The user's own commands, with the placeholders `{devices}`, `{device0}` … and `{mount}`.
    Own {
        /// Commands that make the layout and mount it.
        create: Vec<String>,
        /// Commands that check the layout: each must exit with 0.
        verify: Vec<String>,
        /// Commands that undo all of `create`.
        destroy: Vec<String>,
    },
}

impl Recipe {
    /// Whether the data on its devices is lost.
    #[must_use]
    pub const fn overwrites_devices(&self) -> bool {
        !matches!(self, Self::Existing | Self::Lustre { .. })
    }

    /// Whether its location may contain files of others before it is made.
    #[must_use]
    pub const fn may_hold_files(&self) -> bool {
        matches!(self, Self::Existing | Self::Lustre { .. } | Self::Own { .. })
    }

    /// Whether making it executes anything.
    #[must_use]
    pub const fn executes(&self) -> bool {
        !matches!(self, Self::Existing)
    }
}

/// A local file system: how it is made and mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    /// The kind of file system.
    pub kind: FileSystemKind,
    /// Words for `mkfs`, as in `-d su=128k,sw=1`.
    pub make_options: Vec<String>,
    /// Options of `mount`, as in `noatime`; may be empty.
    pub mount_options: String,
}

/// A kind of local file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSystemKind {
    /// XFS.
    Xfs,
    /// ext4.
    Ext4,
    /// btrfs on one device.
    Btrfs,
}

/// Metadata format of the members of an md array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MdMetadata {
    /// The driver's own.
    Plain,
    /// Intel's, in a container; the array gets one partition.
    Imsm,
}

/// A volume of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Its name, and that of its directory.
    pub name: String,
    /// Its size; an equal share of the remaining space if not given.
    pub size: Option<Bytes>,
}
