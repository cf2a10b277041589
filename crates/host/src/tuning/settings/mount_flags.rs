//! The options of a mount. They are read from the mount table, and set by remounting only that mount.

use std::io;

use rustix::mount::{MountFlags, mount_remount};

/// Options that belong to a mount and not to its file system (`mount(2)`), with their flags.
const FLAGS: [(&str, MountFlags); 9] = [
    ("ro", MountFlags::RDONLY),
    ("nosuid", MountFlags::NOSUID),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("noatime", MountFlags::NOATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("relatime", MountFlags::RELATIME),
    ("strictatime", MountFlags::STRICTATIME),
    ("nosymfollow", MountFlags::NOSYMFOLLOW),
];
/// Options for updates of the access time.
const ACCESS_TIME: [&str; 5] = ["noatime", "nodiratime", "relatime", "strictatime", "atime"];

/// Whether two lists contain the same options.
pub(in crate::tuning) fn same(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut all: Vec<String> = text.split(',').map(|option| option.trim().to_owned()).collect();
        all.sort_unstable();
        all
    };
    sorted(one) == sorted(other)
}

/// `options` without access time updates.
pub(in crate::tuning) fn without_access_times(options: &str) -> String {
    let kept = options.split(',').filter(|option| !ACCESS_TIME.contains(option));
    kept.chain(["noatime", "nodiratime"]).collect::<Vec<_>>().join(",")
}

/// Remounts `mount_point` with these options of its mount table entry.
pub(in crate::tuning) fn set(mount_point: &str, options: &str) -> io::Result<()> {
    let mut flags = MountFlags::BIND;
    for option in options.split(',') {
        match FLAGS.iter().find(|(name, _)| *name == option) {
            Some((_, flag)) => flags |= *flag,
            None if option == "rw" => {}
            None => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    format!("mount option {option} is unknown: remount the file system by hand"),
                ));
            }
        }
    }
    // A remount without any of these flags keeps the present ones. A table that shows none of them means
    // that access times are always updated, so that flag must be given.
    if !flags.intersects(MountFlags::NOATIME | MountFlags::RELATIME | MountFlags::STRICTATIME) {
        flags |= MountFlags::STRICTATIME;
    }
    Ok(mount_remount(mount_point, flags, "")?)
}

#[cfg(test)]
mod tests {
    use super::without_access_times;

    #[test]
    fn other_options_of_the_mount_stay() {
        assert_eq!(without_access_times("rw,nosuid,relatime"), "rw,nosuid,noatime,nodiratime");
        assert_eq!(without_access_times("rw"), "rw,noatime,nodiratime");
    }
}
