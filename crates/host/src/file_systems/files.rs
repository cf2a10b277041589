//! The kind of file at a path, and whether it holds the data that a phase will read.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, SeekFrom, StatVfsMountFlags};
use rustix::io::Errno;

use crate::file_systems::file_system;
use crate::file_systems::stored::{self, IN_INODE_MAX, STAT_BLOCK_BYTES};
use crate::{HostError, Root};

/// File systems that cannot contain user files, by their numbers (`statfs(2)`, `linux/magic.h`).
const KERNEL_FILE_SYSTEMS: [(rustix::fs::FsWord, &str); 5] = [
    (0x9fa0, "procfs"),
    (0x6265_6572, "sysfs"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
];

/// The kind of file at a path. Links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    Regular,
    /// A block device. See [`crate::Guard`] before writing to it.
    BlockDevice,
    /// A directory.
    Directory,
    /// A character device, a pipe or a socket.
    Other,
}

impl Kind {
    fn of(file_type: FileType) -> Self {
        if file_type.is_file() {
            Self::Regular
        } else if file_type.is_block_device() {
            Self::BlockDevice
        } else if file_type.is_dir() {
            Self::Directory
        } else {
            Self::Other
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Regular => "regular file",
            Self::BlockDevice => "block device",
            Self::Directory => "directory",
            Self::Other => "character device, pipe or socket",
        }
    }
}

/// The state of the file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// The kind of file, or `None` if the path does not exist.
    pub kind: Option<Kind>,
    /// Size of a regular file or capacity of a block device; otherwise 0.
    pub size_bytes: u64,
    /// Bytes that the file system has allocated (`st_blocks`).
    pub allocated_bytes: u64,
    /// Offset of the first range without data, if there is one (`SEEK_HOLE`, `FIEMAP`). Space that was allocated
    /// but never written counts as without data, because reading it does not access the device.
    pub first_hole_offset: Option<u64>,
}

impl FileState {
    /// Reads the state of `path`.
    ///
    /// # Errors
    /// Errors if the path cannot be examined, or if a regular file cannot be opened for reading.
    pub fn of(path: &Path) -> Result<Self, HostError> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { kind: None, size_bytes: 0, allocated_bytes: 0, first_hole_offset: None });
            }
            Err(error) => return Err(refused("inspect", path, error)),
        };
        let kind = Kind::of(metadata.file_type());
        let mut state = Self { kind: Some(kind), size_bytes: 0, allocated_bytes: 0, first_hole_offset: None };
        match kind {
            Kind::Regular => {
                let file = open_to_look(path)?;
                state.size_bytes = metadata.len();
                state.allocated_bytes = metadata.blocks().saturating_mul(STAT_BLOCK_BYTES);
                state.first_hole_offset = first_hole(&file, path, metadata.len())?;
            }
            Kind::BlockDevice => {
                let file = open_to_look(path)?;
                state.size_bytes = rustix::fs::seek(&file, SeekFrom::End(0))
                    .map_err(|error| HostError::io("find the end of", path, error))?;
                state.allocated_bytes = state.size_bytes;
            }
            Kind::Directory | Kind::Other => {}
        }
        Ok(state)
    }

    /// Whether the path exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.kind.is_some()
    }
}

/// Opens without blocking, in case the file has been replaced by a pipe in the meantime.
fn open_to_look(path: &Path) -> Result<File, HostError> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| refused("read", path, error))
}

fn refused(wanted: &'static str, path: &Path, error: io::Error) -> HostError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => HostError::NoPermission { path: path.to_owned(), wanted },
        _ => HostError::io(wanted, path, error),
    }
}

/// The first hole. Unlike `lseek(2)`, this does not count the end of the file as a hole.
fn first_hole(file: &File, path: &Path, size_bytes: u64) -> Result<Option<u64>, HostError> {
    if size_bytes == 0 {
        return Ok(None);
    }
    match rustix::fs::seek(file, SeekFrom::Hole(0)) {
        Ok(offset) if offset < size_bytes => Ok(Some(offset)),
        // A range that was never written counts as data here while the page cache holds its zeros.
        Ok(_) => Ok(stored::first_unwritten(file, size_bytes)),
        // The file was truncated after it was examined, or the file system does not support the query.
        Err(Errno::NXIO | Errno::INVAL | Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(HostError::io("search for holes in", path, error)),
    }
}

/// Rejects a file whose first `bytes` have not all been written, because reading a hole measures memory,
/// not storage. A file system that does not tell holes has allocated less than the file has.
///
/// # Errors
/// Returns [`HostError::Missing`], [`HostError::Short`], [`HostError::Holes`], [`HostError::Unallocated`] or
/// [`HostError::NotData`].
pub fn require_data(path: &Path, bytes: u64) -> Result<(), HostError> {
    let state = require_written(path, bytes)?;
    if bytes > IN_INODE_MAX && state.allocated_bytes < bytes {
        let (path, allocated) = (path.to_owned(), state.allocated_bytes);
        return Err(HostError::Unallocated { path, allocated, need: bytes });
    }
    Ok(())
}

/// Like [`require_data`], for a file that this program is known to have written completely. Some file systems in user
/// space report no allocated blocks, and others report them seconds after the write.
///
/// # Errors
/// As [`require_data`], but for [`HostError::Unallocated`].
pub fn require_written(path: &Path, bytes: u64) -> Result<FileState, HostError> {
    let state = FileState::of(path)?;
    let path = path.to_owned();
    match state.kind {
        None => return Err(HostError::Missing { path }),
        Some(kind @ (Kind::Directory | Kind::Other)) => {
            return Err(HostError::NotData { path, kind: kind.words() });
        }
        Some(Kind::Regular | Kind::BlockDevice) => {}
    }
    if state.size_bytes < bytes {
        return Err(HostError::Short { path, have: state.size_bytes, need: bytes });
    }
    match state.first_hole_offset {
        Some(first_hole_offset) if first_hole_offset < bytes => {
            Err(HostError::Holes { path, first_hole_offset, need: bytes })
        }
        _ => Ok(state),
    }
}

/// Rejects a directory in which this user cannot create files.
///
/// # Errors
/// Returns [`HostError::MissingDirectory`], [`HostError::NotADirectory`], [`HostError::ReadOnlyFileSystem`],
/// [`HostError::KernelFileSystem`] or [`HostError::NoPermission`], each with the next step.
pub fn check_directory(path: &Path) -> Result<(), HostError> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(metadata) => return Err(not_a_directory(path, &metadata)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(HostError::NoPermission { path: path.to_owned(), wanted: "enter" });
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(missing_directory(path));
        }
        Err(error) => return Err(HostError::io("inspect", path, error)),
    }
    let space = rustix::fs::statvfs(path).map_err(|error| HostError::io("statvfs", path, error))?;
    if space.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(HostError::ReadOnlyFileSystem { path: path.to_owned() });
    }
    // On these file systems root has write permission everywhere but cannot create files.
    let kind = rustix::fs::statfs(path).map_err(|error| HostError::io("statfs", path, error))?.f_type;
    if let Some((_, kind)) = KERNEL_FILE_SYSTEMS.iter().find(|(magic, _)| kind == *magic) {
        return Err(HostError::KernelFileSystem { path: path.to_owned(), kind });
    }
    let access = Access::WRITE_OK | Access::EXEC_OK;
    match rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS) {
        Ok(()) => Ok(()),
        Err(Errno::ACCESS | Errno::PERM) => {
            Err(HostError::NoPermission { path: path.to_owned(), wanted: "create files in" })
        }
        Err(Errno::ROFS) => Err(HostError::ReadOnlyFileSystem { path: path.to_owned() }),
        Err(error) => Err(HostError::io("check access to", path, error)),
    }
}

/// Checks whether a directory and its missing parents can be created at `path`. The longest existing part
/// of the path must pass [`check_directory`].
///
/// # Errors
/// Same as for [`check_directory`].
pub fn check_makeable(path: &Path) -> Result<(), HostError> {
    check_directory(&file_system::nearest_existing(&Root::default(), path)?)
}

fn not_a_directory(path: &Path, metadata: &fs::Metadata) -> HostError {
    HostError::NotADirectory { path: path.to_owned(), kind: Kind::of(metadata.file_type()).words() }
}

/// The error for a path with a component that is missing or not a directory.
fn missing_directory(path: &Path) -> HostError {
    let Ok(ancestor) = file_system::nearest_existing(&Root::default(), path) else {
        return HostError::MissingDirectory { path: path.to_owned(), ancestor: "/".into() };
    };
    match fs::metadata(&ancestor) {
        Ok(metadata) if !metadata.is_dir() => not_a_directory(&ancestor, &metadata),
        _ => HostError::MissingDirectory { path: path.to_owned(), ancestor },
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::io::{Seek, SeekFrom, Write};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::{FileState, Kind, check_directory, require_data};
    use crate::HostError;

    #[test]
    fn the_kernels_own_file_systems_take_no_files() {
        let refused = super::check_directory("/proc".as_ref());
        assert!(matches!(refused, Err(HostError::KernelFileSystem { kind: "procfs", .. })), "{refused:?}");
        let refused = super::check_makeable("/proc/a/b".as_ref());
        assert!(matches!(refused, Err(HostError::KernelFileSystem { .. })), "{refused:?}");
    }

    #[test]
    fn a_file_with_all_its_data_may_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("full");
        fs::write(&path, vec![1; 1 << 20]).unwrap();
        require_data(&path, 1 << 20).unwrap();
        require_data(&path, 1 << 19).unwrap();
        let state = FileState::of(&path).unwrap();
        assert_eq!(state.kind, Some(Kind::Regular));
        assert_eq!(state.size_bytes, 1 << 20);
        assert_eq!(state.first_hole_offset, None);
    }

    #[test]
    fn a_sparse_file_is_refused_at_its_first_hole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sparse");
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![1; 1 << 18]).unwrap();
        file.seek(SeekFrom::Start(1 << 20)).unwrap();
        file.write_all(&[1; 4096]).unwrap();
        match require_data(&path, 1 << 20) {
            Err(HostError::Holes { first_hole_offset, .. }) => assert_eq!(first_hole_offset, 1 << 18),
            other => panic!("expected Holes, found {other:?}"),
        }
        require_data(&path, 1 << 18).unwrap();
    }

    #[test]
    fn space_that_was_only_allocated_holds_no_data() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = directory.path().join("allocated");
        let file = File::create(&path).unwrap();
        let flags = rustix::fs::FallocateFlags::empty();
        if rustix::fs::fallocate(&file, flags, 0, 1 << 20).is_err() {
            println!("skipped: the file system of the sources cannot allocate");
            return;
        }
        let error = require_data(&path, 1 << 20).unwrap_err();
        assert!(matches!(error, HostError::Holes { first_hole_offset: 0, .. }), "{error}");
    }

    #[test]
    fn missing_and_short_files_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("short");
        assert!(matches!(require_data(&path, 1), Err(HostError::Missing { .. })));
        fs::write(&path, vec![1; 1000]).unwrap();
        match require_data(&path, 4096) {
            Err(HostError::Short { have: 1000, need: 4096, .. }) => {}
            other => panic!("expected Short, found {other:?}"),
        }
        assert!(matches!(require_data(directory.path(), 1), Err(HostError::NotData { .. })));
        assert!(matches!(require_data(Path::new("/dev/null"), 1), Err(HostError::NotData { .. })));
    }

    #[test]
    fn a_directory_that_cannot_take_files_is_refused_with_the_cause() {
        let directory = tempfile::tempdir().unwrap();
        check_directory(directory.path()).unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(matches!(check_directory(&file), Err(HostError::NotADirectory { .. })));
        assert!(matches!(check_directory(&file.join("below")), Err(HostError::NotADirectory { .. })));
        match check_directory(&directory.path().join("a/b")) {
            Err(HostError::MissingDirectory { ancestor, .. }) => {
                assert_eq!(ancestor, directory.path().canonicalize().unwrap());
            }
            other => panic!("expected MissingDirectory, found {other:?}"),
        }
    }

    #[test]
    fn a_directory_of_somebody_else_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o755)).unwrap();
        let path = directory.path().to_owned();
        match crate::fake::as_nobody(move || check_directory(&path)) {
            Some(Err(HostError::NoPermission { wanted: "create files in", .. })) => {}
            Some(other) => panic!("expected NoPermission, found {other:?}"),
            None => println!("skipped: this user cannot become another"),
        }
    }
}
