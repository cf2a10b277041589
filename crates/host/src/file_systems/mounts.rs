//! The mount table of a process, in the format of `proc_pid_mountinfo(5)`.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The number by which the kernel identifies a block device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// The driver.
    pub major: u32,
    /// The device among those of the driver.
    pub minor: u32,
}

impl DeviceNumber {
    /// Converts a `dev_t`, for example an `st_rdev`.
    #[must_use]
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// Parses the format `254:0`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's number of this mount, which `statx(2)` returns for a path.
    pub id: u64,
    /// `st_dev` of its files. The major number is 0 if the file system is not on a single block device.
    pub number: DeviceNumber,
    /// The directory of the file system that is mounted.
    pub root: PathBuf,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// Options of this mount.
    pub options: String,
    /// Type of the file system, for example `xfs`.
    pub kind: String,
    /// What is mounted, for example `/dev/nvme0n1p1`.
    pub source: String,
    /// Options of the file system, shared by all its mounts.
    pub super_options: String,
}

impl Mount {
    /// All options without duplicates, those of the mount first.
    #[must_use]
    pub fn all_options(&self) -> String {
        let mut all: Vec<&str> = Vec::new();
        for option in self.options.split(',').chain(self.super_options.split(',')) {
            if !option.is_empty() && !all.contains(&option) {
                all.push(option);
            }
        }
        all.join(",")
    }

    /// The value of a file-system option, for example of `upperdir=/a`.
    pub(crate) fn super_option(&self, key: &str) -> Option<&str> {
        self.super_options.split(',').find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
    }

    /// Whether the file system has an option without a value.
    pub(crate) fn has_super_option(&self, flag: &str) -> bool {
        self.super_options.split(',').any(|option| option == flag)
    }
}

/// Parses a whole table. Invalid lines are skipped, because newer kernels may add unknown formats and one
/// mount must not hide the others.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_line).collect()
}

/// The mount that contains `path` (canonical), determined from the path alone: the last mount at the
/// longest mount point above it.
pub(crate) fn by_path<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.components().count())
}

fn parse_line(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ');
    let id = head.next()?.parse().ok()?;
    let _parent = head.next()?;
    let number = DeviceNumber::parse(head.next()?)?;
    let (root, mount_point, options) = (head.next()?, head.next()?, head.next()?);
    let mut tail = tail.splitn(3, ' ');
    let (kind, source) = (tail.next()?, tail.next()?);
    Some(Mount {
        id,
        number,
        root: unescape_path(root),
        mount_point: unescape_path(mount_point),
        options: options.to_owned(),
        kind: kind.to_owned(),
        source: unescape_path(source).to_string_lossy().into_owned(),
        super_options: unescape_path(tail.next().unwrap_or("").trim_end()).to_string_lossy().into_owned(),
    })
}

/// Decodes the kernel's escapes: a backslash and three octal digits represent one byte.
pub(crate) fn unescape_path(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        match (byte, after) {
            (b'\\', [high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', tail @ ..]) => {
                plain.push((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'));
                rest = tail;
            }
            _ => {
                plain.push(byte);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(plain))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use proptest::prelude::*;

    use super::{DeviceNumber, by_path, parse, unescape_path};

    const TABLE: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,discard
40 27 0:44 /@data /mnt/my\\040data rw,noatime shared:9 master:3 - btrfs /dev/sdb rw,space_cache=v2,subvol=/@data
41 40 8:16 / /mnt/my\\040data/deep ro - xfs /dev/sdb\\0431 rw
42 27 0:50 / /mnt/empty rw - tmpfs  rw,size=4k
a broken line
";

    #[test]
    fn mounts_are_read_with_their_escapes_and_optional_fields() {
        let mounts = parse(TABLE);
        assert_eq!(mounts.len(), 5);
        let data = &mounts[2];
        assert_eq!(data.mount_point, Path::new("/mnt/my data"));
        assert_eq!(data.kind, "btrfs");
        assert_eq!(data.all_options(), "rw,noatime,space_cache=v2,subvol=/@data");
        assert_eq!(data.super_option("subvol"), Some("/@data"));
        assert_eq!(mounts[3].source, "/dev/sdb#1");
        assert_eq!(mounts[3].number, DeviceNumber { major: 8, minor: 16 });
        assert_eq!(mounts[4].source, "");
        assert!(mounts[4].has_super_option("rw"));
    }

    #[test]
    fn a_path_belongs_to_the_longest_mount_above_it_and_the_last_over_it() {
        let mut mounts = parse(TABLE);
        let over = parse("60 40 7:0 / /mnt/my\\040data rw - ext4 /dev/loop0 rw");
        let found =
            |mounts: &[super::Mount], path: &str| by_path(mounts, Path::new(path)).unwrap().kind.clone();
        assert_eq!(found(&mounts, "/mnt/my data/file"), "btrfs");
        assert_eq!(found(&mounts, "/mnt/my data/deep/file"), "xfs");
        assert_eq!(found(&mounts, "/mnt/my database"), "ext4");
        mounts.extend(over);
        assert_eq!(by_path(&mounts, Path::new("/mnt/my data/file")).unwrap().id, 60);
    }

    proptest! {
        #[test]
        fn every_escaped_name_comes_back(name in prop::collection::vec(1_u8..=255, 0..40)) {
            let mut escaped = String::new();
            for byte in &name {
                write!(escaped, "\\{byte:03o}").unwrap();
            }
            let unescaped = unescape_path(&escaped);
            prop_assert_eq!(unescaped.as_os_str().as_bytes(), &name[..]);
        }

        #[test]
        fn no_text_stops_the_reader(text in "(?s).{0,200}") {
            parse(&text);
        }
    }
}
