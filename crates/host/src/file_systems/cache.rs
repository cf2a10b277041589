//! Empties the page cache, so that reads reach the devices.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{Advice, OFlags};

use crate::{HostError, Root};

/// Page cache, directory entries and inodes (`proc_sys_vm(5)`, `drop_caches`).
const PAGES_ENTRIES_AND_INODES: &str = "3";
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// Opens a file to look at it. If it has become a named pipe, this does not wait for somebody to write.
pub(crate) fn open_to_look(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    File::options().read(true).custom_flags(flags).open(path)
}

/// Writes back the dirty pages of a file and asks the kernel to drop its pages. Pages that another process
/// has mapped or locked remain; [`crate::Host::page_cache_bytes`] returns how many.
///
/// # Errors
/// Errors if the file cannot be opened or written back, or rejects the advice.
pub fn evict(path: &Path) -> Result<(), HostError> {
    let file = open_to_look(path).map_err(|error| HostError::io("open", path, error))?;
    evict_file(&file).map_err(|error| HostError::io("evict from the page cache", path, error))
}

/// Like [`evict`], for a file that is open.
///
/// # Errors
/// Errors if the file cannot be written back or rejects the advice.
pub fn evict_file(file: &File) -> io::Result<()> {
    file.sync_all()?;
    rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Checks whether this user may empty the page cache.
///
/// # Errors
/// Returns [`HostError::NeedsRoot`] if not.
pub fn may_drop(root: &Root) -> Result<(), HostError> {
    let path = root.path(DROP_CACHES);
    rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).map_err(|_| needs_root(&path))
}

fn needs_root(path: &Path) -> HostError {
    HostError::NeedsRoot { what: format!("emptying the page cache ({})", path.display()) }
}

/// Writes back dirty pages, then empties the whole page cache of the host. This affects every process on the
/// host.
///
/// # Errors
/// Returns [`HostError::NeedsRoot`] if this user may not do this.
pub fn drop_all(root: &Root) -> Result<(), HostError> {
    let path = root.path(DROP_CACHES);
    if root.is_system() {
        rustix::fs::sync();
    }
    fs::write(&path, PAGES_ENTRIES_AND_INODES).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => needs_root(&path),
        _ => HostError::io("write", &path, error),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{drop_all, evict};
    use crate::fake::Tree;
    use crate::{Host, HostError, Root};

    #[test]
    fn an_evicted_file_is_not_in_the_page_cache() {
        // In the crate's own directory: a temporary one may be in memory, where pages cannot be dropped.
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = directory.path().join("data");
        std::fs::write(&path, vec![1; 1 << 20]).unwrap();
        let host = Host::default();
        assert_eq!(host.page_cache_bytes(&path).unwrap(), (1 << 20, 1 << 20));
        if host.devices_under(&path).is_err() {
            println!("skipped: the sources are not on a block device");
            return;
        }
        evict(&path).unwrap();
        assert!(host.page_cache_bytes(&path).unwrap().0 < 1 << 17);
    }

    #[test]
    fn the_whole_cache_is_dropped_by_the_kernels_switch() {
        let tree = Tree::new(&[("/proc/sys/vm/drop_caches", "")]);
        drop_all(tree.root()).unwrap();
        let written = std::fs::read_to_string(tree.root().path("/proc/sys/vm/drop_caches")).unwrap();
        assert_eq!(written, "3");
    }

    #[test]
    fn without_root_the_error_says_so() {
        let refused = crate::fake::as_nobody(|| drop_all(&Root::default()));
        match refused {
            Some(Err(error @ HostError::NeedsRoot { .. })) => {
                assert!(error.to_string().contains("needs root"), "{error}");
            }
            Some(other) => panic!("expected NeedsRoot, found {other:?}"),
            None => println!("skipped: this user cannot become another"),
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        assert!(evict(Path::new("/none/such")).unwrap_err().to_string().contains("/none/such"));
    }
}
