//! Physical location of a file's bytes on its device, as reported by the file system (`FIEMAP`, see
//! `Documentation/filesystems/fiemap.rst`).

use std::path::Path;

use crate::HostError;
use crate::file_systems::cache::open_to_look;
use crate::system::sys;

/// A range of bytes that is contiguous both in the file and on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Offset in the file.
    pub offset: u64,
    /// Offset on the file system's device.
    pub place: u64,
    /// Length in bytes.
    pub bytes: u64,
}

/// Flags of extents without a known location on the device: unknown, delayed, encoded, inline, tail.
const NOWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400;

/// The extents of the file at `path` that have a location on the device, ordered by offset.
///
/// # Errors
/// Errors if the file cannot be opened, or if its file system does not report extents.
pub fn extents(path: &Path) -> Result<Vec<Extent>, HostError> {
    let file = open_to_look(path).map_err(|error| HostError::io("open", path, error))?;
    let all = sys::extents(&file, u64::MAX, false)
        .map_err(|error| HostError::io("find the location of", path, error))?;
    let placed = all.iter().filter(|extent| extent.flags & NOWHERE == 0);
    Ok(placed.map(|one| Extent { offset: one.offset, place: one.physical, bytes: one.bytes }).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::extents;

    #[test]
    fn extents_hold_the_bytes_of_the_file_and_no_hole() {
        let place = tempfile::tempdir_in(
            std::env::var_os("CARGO_TARGET_TMPDIR").unwrap_or_else(|| "/var/tmp".into()),
        )
        .expect("a directory");
        let path = place.path().join("f");
        let mut file = std::fs::File::create(&path).expect("made");
        file.write_all(&vec![1; 1 << 20]).expect("written");
        file.set_len(3 << 20).expect("longer");
        file.sync_all().expect("stable");
        let Ok(found) = extents(&path) else { return };
        assert_eq!(found.iter().map(|extent| extent.bytes).sum::<u64>(), 1 << 20);
        assert!(found.iter().all(|extent| extent.place > 0));
        assert!(found.is_sorted_by_key(|extent| extent.offset));
        assert!(extents(&place.path().join("none")).is_err());
    }
}
