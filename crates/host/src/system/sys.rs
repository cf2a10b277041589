//! System calls without a safe wrapper elsewhere.
#![expect(unsafe_code, reason = "thin wrappers around cachestat(2), mincore(2) and ioctls of block devices")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::mm::{MapFlags, ProtFlags};

use crate::DeviceNumber;

/// The number of `cachestat(2)`, which is the same on all architectures.
const CACHESTAT_NUMBER: libc::c_long = 451;

/// `struct cachestat_range` from `linux/mman.h`.
#[repr(C)]
struct CacheRange {
    offset: u64,
    length: u64,
}

/// `struct cachestat` from `linux/mman.h`, in pages.
#[repr(C)]
#[derive(Default)]
struct CacheState {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Whether `fsync(2)` is carried out by the kernel. A filter of system calls (`seccomp(2)`) or a tracer may return
/// success in its place, which shows in a descriptor that does not exist.
pub(crate) fn fsync_is_a_call() -> bool {
    // SAFETY: the call uses no memory, and there is no descriptor -1.
    let result = unsafe { libc::syscall(libc::SYS_fsync, -1) };
    result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EBADF)
}

/// Number of pages of the first `bytes` of a file that are in the page cache.
///
/// Uses `cachestat(2)`, which came with Linux 6.5 and requires write permission or ownership of the file.
/// If it is not available, uses `mincore(2)`.
pub(crate) fn resident_pages(file: &File, bytes: u64) -> io::Result<u64> {
    let range = CacheRange { offset: 0, length: bytes };
    let mut state = CacheState::default();
    // SAFETY: both structs have the layout that the call takes, live through it, and the
    // descriptor is open; the kernel writes into `state` only.
    let result =
        unsafe { libc::syscall(CACHESTAT_NUMBER, file.as_raw_fd(), &raw const range, &raw mut state, 0_u32) };
    if result == 0 {
        return Ok(state.cached);
    }
    resident_pages_mapped(file, bytes)
}

/// Like [`resident_pages`], by calling `mincore(2)` on a mapping.
fn resident_pages_mapped(file: &File, bytes: u64) -> io::Result<u64> {
    /// Limits the size of the result, which has one byte for each page.
    const MAPPED_MAX: u64 = 256 << 30;
    let length = usize::try_from(bytes).ok().filter(|_| bytes <= MAPPED_MAX);
    let length = length.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let mut pages = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping at an address of the kernel's choice touches no other memory, and
    // nothing reads or writes through it, so a file that shrinks meanwhile does no harm.
    let address = unsafe {
        rustix::mm::mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file.as_fd(), 0)?
    };
    // SAFETY: the range is the mapping made above, and the vector has one byte for each page.
    let result = unsafe { libc::mincore(address, length, pages.as_mut_ptr()) };
    let error = io::Error::last_os_error();
    // SAFETY: the mapping was made above and nothing refers to it any more.
    unsafe { rustix::mm::munmap(address, length)? };
    if result != 0 {
        return Err(error);
    }
    Ok(pages.iter().filter(|state| **state & 1 == 1).count() as u64)
}

/// The file behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopBacking {
    /// `st_dev` of the file.
    pub(crate) device: u64,
    /// `st_ino` of the file.
    pub(crate) inode: u64,
    /// `st_rdev`, if the file is a block device itself.
    pub(crate) block_device: Option<DeviceNumber>,
}

/// `LOOP_GET_STATUS64` from `linux/loop.h`.
const LOOP_GET_STATUS64: libc::c_ulong = 0x4C05;

/// `struct loop_info64` from `linux/loop.h`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// The backing of the loop device behind `file`. Errors if it is not a loop device or not configured.
pub(crate) fn loop_backing(file: &File) -> io::Result<LoopBacking> {
    let mut info = std::mem::MaybeUninit::<LoopInfo>::zeroed();
    // SAFETY: the struct has the layout of `loop_info64`, for which this request writes at most
    // its size, and the descriptor is open.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), LOOP_GET_STATUS64 as _, info.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all fields are integers, for which zeroed memory and what the kernel wrote are valid.
    let info = unsafe { info.assume_init() };
    let is_block_device = info.rdevice != 0 && info.rdevice != info.device;
    Ok(LoopBacking {
        device: info.device,
        inode: info.inode,
        block_device: is_block_device.then(|| DeviceNumber::from_raw(info.rdevice)),
    })
}

/// `FS_IOC_FIEMAP` from `linux/fs.h`.
const FIEMAP: libc::c_ulong = 0xC020_660B;
/// `FIEMAP_FLAG_SYNC`: data in the page cache is written back first.
const FIEMAP_SYNC: u32 = 1;
/// `FIEMAP_EXTENT_LAST`.
const LAST: u32 = 1;
/// Number of extents that one call returns.
const EXTENTS_AT_ONCE: u32 = 256;
/// Limits the time for a file of very many fragments.
const EXTENTS_MAX: usize = 1 << 20;

/// `struct fiemap_extent` from `linux/fiemap.h`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extent {
    /// Offset in the file.
    pub(crate) offset: u64,
    /// Offset on the device or volume.
    pub(crate) physical: u64,
    /// Length.
    pub(crate) bytes: u64,
    reserved_words: [u64; 2],
    pub(crate) flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` from `linux/fiemap.h`, with room for extents.
#[repr(C)]
struct ExtentMap {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS_AT_ONCE as usize],
}

/// The extents of the first `bytes` of a file, cut off there, after write-back of its data if `sync`.
pub(crate) fn extents(file: &File, bytes: u64, sync: bool) -> io::Result<Vec<Extent>> {
    let mut all: Vec<Extent> = Vec::new();
    let mut start = 0;
    while start < bytes && all.len() < EXTENTS_MAX {
        let mut map = Box::new(ExtentMap {
            start,
            length: bytes - start,
            flags: if sync { FIEMAP_SYNC } else { 0 },
            mapped: 0,
            extent_count: EXTENTS_AT_ONCE,
            reserved: 0,
            extents: [Extent::default(); EXTENTS_AT_ONCE as usize],
        });
        // SAFETY: the struct has the layout that the request takes, with room for as many extents as it says, and
        // lives through the call; the descriptor is open.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP as _, &raw mut *map) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let mapped = &map.extents[..map.mapped.min(EXTENTS_AT_ONCE) as usize];
        let Some(last) = mapped.last() else { break };
        let end = last.offset.saturating_add(last.bytes);
        let is_last = last.flags & LAST != 0 || end <= start;
        // The first and the last one may reach beyond what was asked about.
        all.extend(mapped.iter().map(|extent| {
            let skipped = start.saturating_sub(extent.offset);
            let offset = extent.offset + skipped;
            let end = extent.offset.saturating_add(extent.bytes).min(bytes);
            Extent {
                offset,
                physical: extent.physical.saturating_add(skipped),
                bytes: end.saturating_sub(offset),
                ..*extent
            }
        }));
        if is_last {
            break;
        }
        start = end;
    }
    Ok(all)
}

/// `BLKDISCARD` from `linux/fs.h`.
const BLKDISCARD: libc::c_ulong = 0x1277;

/// Discards `length` bytes from `offset` on, on the block device behind `file`, which must be open for
/// writing.
pub(crate) fn discard(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let range = [offset, length];
    // SAFETY: the request reads two numbers of 64 bits, which live through the call, and the
    // descriptor is open.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), BLKDISCARD as _, range.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `FITRIM` from `linux/fs.h`.
const FITRIM: libc::c_ulong = 0xC018_5879;

/// Makes the file system of `directory` discard its free space, and returns the number of bytes
/// discarded.
pub(crate) fn trim(directory: &File) -> io::Result<u64> {
    let mut range = [0, u64::MAX, 0];
    // SAFETY: the request reads and writes three numbers of 64 bits, which live through the call, and the
    // descriptor is open.
    let result = unsafe { libc::ioctl(directory.as_raw_fd(), FITRIM as _, range.as_mut_ptr()) };
    if result == 0 { Ok(range[1]) } else { Err(io::Error::last_os_error()) }
}

/// `NVME_IOCTL_ADMIN_CMD` from `linux/nvme_ioctl.h`.
const NVME_IOCTL_ADMIN_CMD: libc::c_ulong = 0xC048_4E41;
/// The Get Log Page command.
const GET_LOG_PAGE: u8 = 0x02;
/// The health log page.
const HEALTH: u32 = 0x02;
/// Size of that page in bytes.
const HEALTH_BYTES: usize = 512;

/// `struct nvme_admin_cmd` from `linux/nvme_ioctl.h`.
#[repr(C)]
#[derive(Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// The health log page of the NVMe device behind `file`. Errors if it is not an NVMe device.
pub(crate) fn nvme_health(file: &File) -> io::Result<[u8; HEALTH_BYTES]> {
    let mut page = [0_u8; HEALTH_BYTES];
    // The number of words is zero-based.
    let words = u32::try_from(HEALTH_BYTES / 4 - 1).unwrap_or_default();
    let mut command = NvmeCommand {
        opcode: GET_LOG_PAGE,
        namespace: u32::MAX,
        address: page.as_mut_ptr().expose_provenance() as u64,
        data_bytes: 4 * (words + 1),
        words_10_to_15: [HEALTH | words << 16, 0, 0, 0, 0, 0],
        ..NvmeCommand::default()
    };
    // SAFETY: the struct has the layout that the request takes; its address leads to a page of as many
    // bytes as it says, and both live through the call; the descriptor is open.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &raw mut command) };
    match result {
        0 => Ok(page),
        // A status from the device itself, which the kernel returns as a positive number.
        1.. => Err(io::Error::other(format!("the device returned status {result:#x}"))),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::{fsync_is_a_call, resident_pages, resident_pages_mapped};

    /// Installs a filter for this thread alone that answers fsync with success.
    fn suppress_fsync() -> bool {
        let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
        let number = u32::try_from(libc::SYS_fsync).unwrap();
        // Load the number of the call; if it is that of fsync, return 0, otherwise carry it out.
        let mut steps = [
            step(0x20, 0, 0, 0),
            step(0x15, 0, 1, number),
            step(0x06, 0, 0, 0x0005_0000),
            step(0x06, 0, 0, 0x7fff_0000),
        ];
        let program = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
        // SAFETY: the program and its steps live through the calls, which copy them.
        unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        }
    }

    #[test]
    fn a_filter_that_answers_fsync_in_place_of_the_kernel_is_noticed() {
        if !fsync_is_a_call() {
            return println!("skipped: fsync is already suppressed here");
        }
        let filtered = std::thread::spawn(|| suppress_fsync().then(fsync_is_a_call)).join().unwrap();
        match filtered {
            Some(is_a_call) => assert!(!is_a_call),
            None => println!("skipped: no filter of system calls can be installed"),
        }
    }

    #[test]
    fn both_ways_of_asking_the_page_cache_agree() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        let pages = (1 << 20) / rustix::param::page_size() as u64;
        let mut text = Vec::new();
        file.read_to_end(&mut text).unwrap();
        assert_eq!(resident_pages(&file, 1 << 20).unwrap(), pages);
        assert_eq!(resident_pages_mapped(&file, 1 << 20).unwrap(), pages);
    }
}
