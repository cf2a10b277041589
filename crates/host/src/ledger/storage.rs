//! Reads and writes files of ledgers. The commands and writes in them run with the rights of the user who
//! undoes them, so only that user may have written the file.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use plan::limits::LEDGER_BYTES;

/// Mode of a ledger: only its owner may write it.
const MODE: u32 = 0o644;
/// Write permission of the group and of others.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Why a ledger could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The read failed.
    Io(io::Error),
    /// It is not trusted: the reason, and what to do.
    Refused(String),
}

/// Opens a file in the ledger directory. Follows no link, does not block on a FIFO, and accepts only a
/// regular file.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file: move it away")),
    }
}

/// The content of the ledger at `path`.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Unread> {
    let file = open(OpenOptions::new().read(true), path).map_err(|error| {
        match error.raw_os_error() == Some(libc::ELOOP) {
            true => Unread::Refused("it is a symbolic link: put the file itself there".to_owned()),
            false => Unread::Io(error),
        }
    })?;
    let metadata = file.metadata().map_err(Unread::Io)?;
    if metadata.len() > LEDGER_BYTES {
        return Err(Unread::Refused(format!(
            "it has more than {LEDGER_BYTES} bytes, which no ledger has: move it away"
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
    file.take(LEDGER_BYTES).read_to_end(&mut bytes).map_err(Unread::Io)?;
    Ok(bytes)
}

/// Replaces a file atomically, also on power failure.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("unfinished");
    let write = || {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(MODE);
        let file = open(&mut options, &temporary)?;
        // An existing file may have had another mode.
        file.set_permissions(Permissions::from_mode(MODE))?;
        file.write_all_at(bytes, 0)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        sync_directory(path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Replaces what follows the first `end` bytes of a file.
pub(super) fn append_at(path: &Path, end: u64, bytes: &[u8]) -> io::Result<()> {
    let file = open(OpenOptions::new().write(true), path)?;
    file.set_len(end)?;
    file.write_all_at(bytes, end)?;
    file.sync_data()
}

/// Makes the creation or removal of `path` durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}
