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

    use super::{resident_pages, resident_pages_mapped};

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
