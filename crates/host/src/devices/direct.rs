//! Determines whether files in a directory support direct transfers, and with which alignment.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::HostError;

/// Possible alignments, finest first: file systems in memory, in user space and over a network often have none, and
/// block devices have that of their sectors, which are up to `BLK_MAX_BLOCK_SIZE` of `linux/blkdev.h` (Linux 6.15).
const ALIGNMENTS: [usize; 9] = [1, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, COARSEST];
/// The coarsest alignment, which is sufficient for every buffer.
const COARSEST: usize = 65_536;

/// The alignment required for offsets and sizes of direct transfers (`O_DIRECT`) to files in `directory`, or
/// `None` if the file system does not support them.
///
/// Asks the kernel (`statx(2)`, `STATX_DIOALIGN`, Linux 6.1) about a temporary unnamed file, and tries
/// writes if the kernel does not know.
///
/// # Errors
/// Errors if no file can be created in `directory`, or if the write fails.
pub fn direct_alignment(directory: &Path) -> Result<Option<u64>, HostError> {
    let file = match nameless(directory, OFlags::DIRECT) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => return Ok(None),
        Err(error) => return Err(HostError::io("create a test file in", directory, error)),
    };
    match rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, StatxFlags::from_bits_retain(DIOALIGN)) {
        Ok(answer) if answer.stx_mask & DIOALIGN != 0 => {
            let alignment = u64::from(answer.stx_dio_offset_align);
            return Ok((alignment > 0).then_some(alignment));
        }
        // Older kernels do not know the question, or the call.
        Ok(_) | Err(Errno::NOSYS | Errno::INVAL) => {}
        Err(error) => return Err(HostError::io("inspect a test file in", directory, error)),
    }
    tried(&file).map_err(|error| HostError::io("write a test block in", directory, error))
}

/// `STATX_DIOALIGN` in `linux/stat.h`.
const DIOALIGN: u32 = 0x2000;

/// Tries direct writes and returns the finest alignment that the kernel does not reject.
fn tried(file: &File) -> io::Result<Option<u64>> {
    let memory = vec![0_u8; 2 * COARSEST];
    let start = memory.as_ptr().align_offset(COARSEST);
    for size in ALIGNMENTS {
        match file.write_at(&memory[start..start + size], size as u64) {
            Ok(_) => return Ok(Some(size as u64)),
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Opens a file that is removed when it is closed.
fn nameless(directory: &Path, flags: OFlags) -> io::Result<File> {
    let options = |extra: OFlags| {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags((flags | extra).bits().cast_signed());
        options
    };
    match options(OFlags::TMPFILE).open(directory) {
        // Errors of file systems that do not support unnamed files (open(2)).
        Err(error)
            if [Errno::OPNOTSUPP, Errno::ISDIR, Errno::NOENT]
                .iter()
                .any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) =>
        {
            let path = directory.join(record::trial_name("direct"));
            let file = options(OFlags::empty()).create_new(true).open(&path);
            // A file system may create the file and then reject the flag.
            let removed = std::fs::remove_file(&path);
            file.and_then(|file| removed.map(|()| file))
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::direct_alignment;

    #[test]
    fn a_disk_takes_direct_transfers_of_whole_sectors() {
        let here = tempfile::tempdir_in(".").expect("the crate's directory can be written");
        match direct_alignment(here.path()).expect("a file can be made") {
            Some(alignment) => assert!(alignment.is_power_of_two() && (1..=65_536).contains(&alignment)),
            None => println!("skipped: this file system takes no direct transfers"),
        }
        assert_eq!(std::fs::read_dir(here.path()).expect("still there").count(), 0, "nothing is left behind");
    }

    #[test]
    fn a_missing_directory_is_named() {
        let error = direct_alignment(std::path::Path::new("/no/such/directory")).unwrap_err();
        assert!(error.to_string().contains("/no/such/directory"), "{error}");
    }
}
