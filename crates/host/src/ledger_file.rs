//! Reading ledgers: files that say what is to be undone. What they say is executed and written as the user who undoes
//! it, so nobody else may have written them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Who may do what with a ledger: its owner alone writes it.
pub(crate) const MODE: u32 = 0o644;
/// A ledger of more bytes is none: a step of a layout takes about one kilobyte, a setting some hundred bytes.
const BYTES_MAX: u64 = 64 << 20;
/// The rights of the group and of others to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Why a ledger is not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It cannot be.
    Io(io::Error),
    /// It is not to be trusted: why, and what to do.
    Refused(String),
}

/// Opens a file beside ledgers. No link is followed, a FIFO is not waited for, and only a regular file is opened.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file: move it away")),
    }
}

/// What the ledger at `path` holds.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Unread> {
    let file = open(OpenOptions::new().read(true), path).map_err(|error| {
        match error.raw_os_error() == Some(libc::ELOOP) {
            true => Unread::Refused("it is a symbolic link: put the file itself there".to_owned()),
            false => Unread::Io(error),
        }
    })?;
    let metadata = file.metadata().map_err(Unread::Io)?;
    if metadata.len() > BYTES_MAX {
        return Err(Unread::Refused(format!(
            "it has more than {BYTES_MAX} bytes, which no ledger has: move it away"
        )));
    }
    let user = rustix::process::geteuid().as_raw();
    let is_trusted = [user, 0].contains(&metadata.uid()) && metadata.mode() & WRITABLE_BY_OTHERS == 0;
    if !is_trusted {
        return Err(Unread::Refused(format!(
            "what it says would be executed, and somebody else could have written it: it must belong to user {user} or \
             root, and be writable by nobody else; look at it, then use chown and chmod"
        )));
    }
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes).map_err(Unread::Io)?;
    Ok(bytes)
}
