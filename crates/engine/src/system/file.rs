//! Opens, advises, allocates, syncs and closes the files of tasks.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use plan::{Advice, Bytes};
use rustix::fs::{AtFlags, CWD, FallocateFlags, FileType, Mode, OFlags, StatxFlags};

use crate::phase::rules::{Rules, TaskPlan};
use crate::system::file_id::{MadeFiles, is_pipe};
use crate::system::sys;
use crate::{EngineError, Errno};

/// Mode of created files before the umask is applied, as in IOR.
const CREATE_MODE: u32 = 0o664;
/// Mode in the open call of study D.
const PUBLISHED_MODE: u32 = 0o600;

/// Opens the file of `task`, including advice and preallocation.
///
/// Writing phases open with `O_RDWR | O_CREAT`, reading ones with `O_RDONLY`, and neither ever with
/// `O_TRUNC`. A file that the phase creates is opened with `O_EXCL`, and every file but a link of the user with
/// `O_NOFOLLOW`: in a directory of another user, a name may lead elsewhere by now. With advice, every phase uses
/// the call of study D: `O_RDWR | O_CREAT`, mode 0600. Without advice, readers use `O_NOATIME`, so that reads do not
/// update access times; this is permitted on the user's own files. In a run, a file that the run has created must still
/// be that file, and a named pipe is not opened.
pub(crate) fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<OwnedFd, EngineError> {
    let published = rules.advice != Advice::None;
    let mut flags = OFlags::CLOEXEC | rules.sync_flags;
    flags |= if rules.writes || published { OFlags::RDWR | OFlags::CREATE } else { OFlags::RDONLY };
    if rules.direct {
        flags |= OFlags::DIRECT;
    }
    if !rules.writes && !published {
        flags |= OFlags::NOATIME;
    }
    let mode = Mode::from_raw_mode(if published { PUBLISHED_MODE } else { CREATE_MODE });
    let path = &task.file.path;
    if !task.is_link {
        flags |= OFlags::NOFOLLOW;
    }
    if task.is_new {
        flags |= OFlags::EXCL;
    }
    let is_theirs = |made: &MadeFiles| !task.is_new && (made.is_replaced(path) || is_pipe(path));
    if rules.job.made.is_some_and(is_theirs) {
        return Err(EngineError::Appeared { path: path.clone() });
    }
    // Other tasks may create it at the same time, also on other nodes.
    let (mut may_exist, mut is_checked) = (rules.shared, false);
    let fd = loop {
        match rustix::fs::open(path, flags, mode) {
            Ok(fd) => break fd,
            // An interrupted call may have created it.
            Err(rustix::io::Errno::INTR) => may_exist = true,
            Err(rustix::io::Errno::EXIST) if flags.contains(OFlags::EXCL) && may_exist => {
                flags -= OFlags::EXCL | OFlags::CREATE;
                is_checked = true;
            }
            Err(rustix::io::Errno::EXIST | rustix::io::Errno::LOOP) if !task.is_link => {
                rules.job.made.iter().for_each(|made| made.add_theirs(path));
                return Err(EngineError::Appeared { path: path.clone() });
            }
            Err(rustix::io::Errno::PERM) if flags.contains(OFlags::NOATIME) => flags -= OFlags::NOATIME,
            Err(rustix::io::Errno::INVAL) if rules.direct => {
                return Err(EngineError::DirectUnsupported { path: path.clone() });
            }
            Err(errno) => {
                let purpose = if rules.writes { "writing" } else { "reading" };
                return Err(EngineError::Open { path: path.clone(), purpose, errno: errno.into() });
            }
        }
    };
    if is_checked {
        check_own(fd.as_fd(), path)
            .inspect_err(|_| rules.job.made.iter().for_each(|made| made.add_theirs(path)))?;
    }
    if let Some(made) = rules.job.made.filter(|_| task.is_new) {
        made.add(path, fd.as_fd());
    }
    advise(fd.as_fd(), rules.advice).map_err(|errno| call("posix_fadvise", path, errno))?;
    if task.preallocates {
        allocate(fd.as_fd(), rules.file_bytes, !rules.shared)
            .map_err(|errno| call("posix_fallocate", path, errno))?;
    }
    Ok(fd)
}

/// Rejects a file that another task of the run cannot have created just now: one with a second name, whose data would be
/// lost under that name too.
fn check_own(fd: BorrowedFd<'_>, path: &Path) -> Result<(), EngineError> {
    let found = rustix::fs::fstat(fd).map_err(|errno| call("fstat", path, errno.into()))?;
    match FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_nlink <= 1 {
        true => Ok(()),
        false => Err(EngineError::Appeared { path: path.to_owned() }),
    }
}

fn advise(fd: BorrowedFd<'_>, advice: Advice) -> Result<(), Errno> {
    use rustix::fs::Advice::{DontNeed, NoReuse, Random};
    let calls: &[rustix::fs::Advice] = match advice {
        Advice::None => &[],
        // POSIX_FADV_RANDOM | POSIX_FADV_NOREUSE | POSIX_FADV_DONTNEED is 1 | 5 | 4 = 5 on Linux.
        Advice::AsPublished => &[NoReuse],
        Advice::AsMeant => &[Random, NoReuse, DontNeed],
    };
    for &call in calls {
        rustix::fs::fadvise(fd, 0, None, call)?;
    }
    Ok(())
}

/// Allocates `bytes` of space. If the file system has no call for that, zeros are written instead, but
/// only if `emulate` allows it: in a shared file they could overwrite what a peer writes.
pub(crate) fn allocate(fd: BorrowedFd<'_>, bytes: u64, emulate: bool) -> Result<(), Errno> {
    loop {
        match rustix::fs::fallocate(fd, FallocateFlags::empty(), 0, bytes) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::OPNOTSUPP) if emulate => return sys::posix_fallocate(fd, bytes),
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Waits until the file's data is on stable storage.
pub(crate) fn fsync(fd: BorrowedFd<'_>, path: &Path) -> Result<(), EngineError> {
    loop {
        match rustix::fs::fsync(fd) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(call("fsync", path, errno.into())),
        }
    }
}

/// Closes the file; network file systems report late write errors here.
pub(crate) fn close(fd: OwnedFd, path: &Path) -> Result<(), EngineError> {
    sys::close(fd).map_err(|errno| call("close", path, errno))
}

/// Number of bytes that can be read: the length of a file or the size of a block device.
pub(crate) fn length(fd: BorrowedFd<'_>) -> Result<u64, Errno> {
    Ok(rustix::fs::seek(fd, rustix::fs::SeekFrom::End(0))?)
}

/// Like [`length`], for a file that is not open. Returns 0 if the length is unknown.
pub(crate) fn length_of(path: &Path) -> u64 {
    sys::open_to_look(path).ok().and_then(|file| length(file.as_fd()).ok()).unwrap_or(0)
}

/// Makes the error of the call `name` on `path`.
pub(crate) fn call(name: &'static str, path: &Path, errno: Errno) -> EngineError {
    EngineError::Call { call: name, path: path.to_owned(), errno }
}

/// Rejects a transfer size that direct I/O cannot use on the storage of `path`, as far as the kernel can
/// tell before anything is opened.
pub(crate) fn check_alignment(path: &Path, transfer: Bytes) -> Result<(), EngineError> {
    let Some(needed) = direct_alignment(path) else { return Ok(()) };
    if needed == 0 {
        return Err(EngineError::DirectUnsupported { path: path.to_owned() });
    }
    if transfer.0.is_multiple_of(needed) {
        return Ok(());
    }
    let suggestion = Bytes(transfer.0.next_multiple_of(needed));
    Err(EngineError::DirectAlignment { path: path.to_owned(), transfer, needed: Bytes(needed), suggestion })
}

/// The alignment required for direct transfers: 0 if the file does not support them, `None` if unknown.
fn direct_alignment(path: &Path) -> Option<u64> {
    if let Ok(found) = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN)
        && found.stx_mask & StatxFlags::DIOALIGN.bits() != 0
    {
        return Some(u64::from(found.stx_dio_offset_align));
    }
    // The file does not exist yet, or the kernel is older than 6.1: ask the block device below.
    let device = match std::fs::metadata(path) {
        Ok(found) if found.rdev() != 0 => found.rdev(),
        Ok(found) => found.dev(),
        Err(_) => {
            std::fs::metadata(path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))
                .ok()?
                .dev()
        }
    };
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    // A partition has no queue of its own; its disk is the parent directory.
    [".", ".."].iter().find_map(|level| {
        let file = format!("/sys/dev/block/{major}:{minor}/{level}/queue/logical_block_size");
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    })
}
