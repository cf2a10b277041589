//! Files of settings that the program reads although nobody named them on the command line.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::HostError;

/// The permission of the group and of others to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// The contents of the file at `path`, at most `limit` bytes and one more; `None` if there is no such file, or if this
/// user may not look into its directory. Links are followed. If the effective user is root, only a file that belongs to
/// root and that nobody else may write is read: its settings act with root's rights.
///
/// # Errors
/// Errors if it is not a regular file, cannot be read, or may not be read by root.
pub fn read_settings(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, HostError> {
    let failed = |error: io::Error| HostError::Io { action: "read", path: path.to_owned(), source: error };
    // A pipe must not stop the program.
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = match OpenOptions::new().read(true).custom_flags(nonblocking).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        // A program that runs as another user keeps the home directory of the first, which it may not look into.
        Err(error)
            if error.kind() == io::ErrorKind::PermissionDenied && fs::symlink_metadata(path).is_err() =>
        {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(failed(io::Error::other(
            "it is not a regular file; move it away, or write a file of defaults",
        )));
    }
    if rustix::process::geteuid().is_root() {
        check_for_root(path, metadata.uid(), metadata.mode())?;
    }
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Rejects a file that somebody else than root may change.
fn check_for_root(path: &Path, owner: u32, mode: u32) -> Result<(), HostError> {
    let (why, cure) = match (owner, mode & WRITABLE_BY_OTHERS) {
        (0, 0) => return Ok(()),
        (0, _) => ("others than root may write it", "chmod go-w"),
        _ => ("it does not belong to root", "chown root"),
    };
    Err(HostError::SettingsOfOthers { path: path.to_owned(), why, cure })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::{check_for_root, read_settings};

    #[test]
    fn what_is_there_is_read_up_to_the_limit() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("ioproof.toml");
        assert_eq!(read_settings(&path, 10).expect("absent"), None);
        assert_eq!(read_settings(&path.join("below"), 10).expect("absent"), None);
        fs::write(&path, "0123456789abcdef").expect("written");
        assert_eq!(read_settings(&path, 10).expect("read").expect("there").len(), 11);
        let link = place.path().join("link");
        symlink(&path, &link).expect("a link");
        assert_eq!(read_settings(&link, 100).expect("read").expect("there").len(), 16);
        for wrong in [place.path(), "/dev/zero".as_ref()] {
            let error = read_settings(wrong, 10).expect_err("refused").to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
    }

    #[test]
    fn root_takes_nothing_from_others() {
        let path = Path::new("/etc/ioproof.toml");
        assert!(check_for_root(path, 0, 0o100_644).is_ok());
        let told = |owner, mode| check_for_root(path, owner, mode).expect_err("refused").to_string();
        assert!(told(1000, 0o100_644).contains("chown root /etc/ioproof.toml"), "{}", told(1000, 0o644));
        assert!(told(0, 0o100_664).contains("chmod go-w /etc/ioproof.toml"));
        assert!(told(0, 0o100_646).contains("others than root may write it"));
    }

    #[test]
    fn a_file_that_others_may_write_is_read_by_others_than_root_only() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("ioproof.toml");
        fs::write(&path, "quiet = true").expect("written");
        let read = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its own file");
            read_settings(&path, 100)
        };
        assert_eq!(read(0o644).expect("read").expect("there"), b"quiet = true");
        let is_root = rustix::process::geteuid().is_root();
        assert_eq!(read(0o666).is_err(), is_root, "root: {is_root}");
    }
}
