//! Reads and writes the files of ledgers. The commands and writes in them run with the rights of the user
//! who undoes them, so it must be certain that only that user can have written the file.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use plan::limits::LEDGER_BYTES;

use super::LedgerError;

/// Mode of a ledger: only its owner may write it. The user's umask may restrict it further.
const MODE: u32 = 0o644;
/// Mode of a directory of ledgers, restricted in the same way.
const DIRECTORY_MODE: u32 = 0o755;
/// Write permission of group and others.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// The sticky bit: only its owner may rename or remove an entry of such a directory.
const STICKY: u32 = 0o1000;
/// Maximum number of links on a path, like the kernel's limit.
const LINKS_MAX: usize = 40;

/// Why a ledger could not be read.
#[derive(Debug)]
pub(super) enum Unread {
    /// The read failed.
    Io(io::Error),
    /// The file is not trusted. Contains the reason, and what to do.
    Refused(String),
}

/// Opens a file in the ledger directory. Does not follow links, does not block on a FIFO, and only
/// accepts regular files.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file: move it away")),
    }
}

/// The content of the ledger at `path`.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Unread> {
    let file = open(OpenOptions::new().read(true), path).map_err(|error| {
        match error.raw_os_error() == Some(libc::ELOOP) {
            true => Unread::Refused("it is a symbolic link: replace it with the file itself".to_owned()),
            false => Unread::Io(error),
        }
    })?;
    let metadata = file.metadata().map_err(Unread::Io)?;
    if metadata.len() > LEDGER_BYTES {
        return Err(Unread::Refused(format!(
            "it has more than {LEDGER_BYTES} bytes, too many for a ledger: move it away"
        )));
    }
    if !is_trusted(&metadata) || metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(Unread::Refused(format!(
            "its content would be executed, but another user could have written it: it must belong to {} \
             and be writable by nobody else; inspect it, then use chown and chmod",
            owners()
        )));
    }
    let mut bytes = Vec::new();
    file.take(LEDGER_BYTES).read_to_end(&mut bytes).map_err(Unread::Io)?;
    Ok(bytes)
}

/// Describes who may own trusted files.
fn owners() -> String {
    match user() {
        0 => "root".to_owned(),
        user => format!("user {user} or root"),
    }
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether the file belongs to this user or to root.
fn is_trusted(metadata: &Metadata) -> bool {
    [user(), 0].contains(&metadata.uid())
}

/// Rejects a directory in which anybody except this user and root could put a file, because others own it or may
/// write in it. For root the same applies to every directory and link on the way to it; there, a sticky directory
/// such as `/tmp` is accepted. Anything that does not exist yet is accepted.
///
/// # Errors
/// Returns the path that others could change, and what to do.
pub(crate) fn check_directory(directory: &Path) -> Result<(), LedgerError> {
    let whole = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    if user() == 0 {
        check_way(&whole, &mut 0)?;
    }
    check_place(&whole, 0)
}

/// Checks every directory and link on the way to `path`, which need not exist.
fn check_way(path: &Path, links: &mut usize) -> Result<(), LedgerError> {
    let mut ancestors: Vec<&Path> = path.ancestors().collect();
    ancestors.reverse();
    for place in ancestors {
        let Ok(metadata) = fs::symlink_metadata(place) else { return Ok(()) };
        if !metadata.is_symlink() {
            check_place(place, STICKY)?;
            continue;
        }
        *links += 1;
        let target = fs::read_link(place).ok().filter(|_| *links <= LINKS_MAX && is_trusted(&metadata));
        let target = target.ok_or_else(|| untrusted(place))?;
        check_way(&place.parent().unwrap_or(place).join(target), links)?;
    }
    Ok(())
}

/// Checks one directory, if it exists. Others may write in it if it has one of the mode bits `unless`.
fn check_place(place: &Path, unless: u32) -> Result<(), LedgerError> {
    let Ok(metadata) = fs::metadata(place) else { return Ok(()) };
    let is_shared = metadata.mode() & WRITABLE_BY_OTHERS != 0 && metadata.mode() & unless == 0;
    if is_shared || !is_trusted(&metadata) { Err(untrusted(place)) } else { Ok(()) }
}

fn untrusted(place: &Path) -> LedgerError {
    let reason = format!(
        "another user could change its content, which would be executed: it must belong to {} and be \
         writable by nobody else; inspect it, then use chown and chmod",
        owners()
    );
    LedgerError::Untrusted { path: place.to_owned(), reason }
}

/// Creates the directory of a ledger and its parents. Others may not write in them.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(directory)
}

/// Replaces a file atomically, even in case of a power failure.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("unfinished");
    let write = || {
        // An existing file may have a different mode.
        let _ = fs::remove_file(&temporary);
        let file = open(OpenOptions::new().write(true).create_new(true).mode(MODE), &temporary)?;
        file.write_all_at(bytes, 0)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        sync_directory(path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// Replaces everything after the first `end` bytes of a file.
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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::Path;

    use super::{check_directory, user};

    fn refused(path: &Path, names: &Path) {
        let error = check_directory(path).expect_err("somebody else could write there").to_string();
        assert!(error.starts_with(&format!("{}: ", names.display())), "{error}");
    }

    #[test]
    fn a_directory_that_others_may_write_is_refused_and_so_is_one_of_theirs() {
        let place = tempfile::tempdir().unwrap();
        let state = place.path().join("state");
        check_directory(&state).expect("it is not there yet");
        fs::create_dir(&state).unwrap();
        for (mode, is_refused) in
            [(0o755, false), (0o700, false), (0o775, true), (0o757, true), (0o1777, true)]
        {
            fs::set_permissions(&state, Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_directory(&state).is_err(), is_refused, "{mode:o}");
        }
        if user() != 0 {
            println!("skipped: only root can give a directory away");
            return;
        }
        fs::set_permissions(&state, Permissions::from_mode(0o755)).unwrap();
        chown(&state, Some(65_534), None).unwrap();
        refused(&state, &state);
    }

    #[test]
    fn root_trusts_no_way_that_others_could_change() {
        if user() != 0 {
            println!("skipped: needs root");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let (open, link) = (place.path().join("open"), place.path().join("link"));
        let state = open.join("deep/state");
        fs::create_dir_all(&state).unwrap();
        symlink("open/deep", &link).unwrap();
        check_directory(&link.join("state")).expect("all is root's");
        fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        refused(&state, &open);
        refused(&link.join("state"), &open);
        refused(&open.join("not/there"), &open);
        fs::set_permissions(&open, Permissions::from_mode(0o1777)).unwrap();
        check_directory(&state).expect("nobody else can rename what is in a sticky one");
        std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
        refused(&link.join("state"), &link);
    }
}
