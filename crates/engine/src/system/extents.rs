//! Physical location of a file's bytes on its device, as reported by the file system (`FIEMAP`, see
//! `Documentation/filesystems/fiemap.rst`).

#![expect(unsafe_code, reason = "a call that the kernel writes its answer into")]

use std::os::fd::AsRawFd;
use std::path::Path;

use crate::Errno;
use crate::system::sys::open_to_look;

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

/// `_IOWR('f', 11, struct fiemap)`.
const FIEMAP: libc::c_ulong = 0xc020_660b;
/// Number of extents requested per call.
const AT_ONCE: usize = 128;
/// Files with more extents are not examined further, because looking up an offset would cost too much.
const EXTENTS_MAX: usize = 1 << 17;
/// The last extent of the file.
const LAST: u32 = 0x1;
/// Flags of extents without a known location on the device: unknown, delayed, encoded, inline, tail.
const NOWHERE: u32 = 0x2 | 0x4 | 0x8 | 0x80 | 0x100 | 0x200 | 0x400;

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for extents.
#[repr(C)]
#[derive(Debug)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [RawExtent; AT_ONCE],
}

/// The extents of the file at `path` that have a location on the device, ordered by offset.
///
/// # Errors
/// Errors if the file cannot be opened, or if its file system does not report extents.
pub fn extents(path: &Path) -> Result<Vec<Extent>, Errno> {
    let failed = |error: std::io::Error| Errno(error.raw_os_error().unwrap_or(libc::EIO));
    let file = open_to_look(path).map_err(failed)?;
    let mut all = Vec::new();
    let mut start = 0;
    while all.len() < EXTENTS_MAX {
        let mut request = Request {
            start,
            length: u64::MAX - start,
            flags: 0,
            mapped: 0,
            room: u32::try_from(AT_ONCE).unwrap_or(u32::MAX),
            reserved: 0,
            extents: [RawExtent::default(); AT_ONCE],
        };
        // SAFETY: the request is laid out as the kernel's `struct fiemap`, says how many extents it has
        // room for, and lives until the call returns; the descriptor is open.
        let called = unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &raw mut request) };
        if called < 0 {
            return Err(failed(std::io::Error::last_os_error()));
        }
        let mapped = usize::try_from(request.mapped).unwrap_or(0).min(AT_ONCE);
        let found = &request.extents[..mapped];
        let placed = found.iter().filter(|extent| extent.flags & NOWHERE == 0);
        all.extend(placed.map(|raw| Extent { offset: raw.logical, place: raw.physical, bytes: raw.length }));
        match found.last() {
            Some(last) if last.flags & LAST == 0 => start = last.logical.saturating_add(last.length),
            _ => break,
        }
    }
    Ok(all)
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
