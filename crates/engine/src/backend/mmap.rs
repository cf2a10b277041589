//! The backend `mmap`: copies to and from a shared mapping of the file.
//!
//! A mapping has no return codes: if the device or the file system fails, the kernel sends SIGBUS, which
//! would end the program without a message. Three measures prevent that. Space is allocated before the file
//! is mapped, so a full file system is reported at open. A read beyond the file's end is rejected beforehand.
//! The remaining case, a failing device, is caught: the handler maps a page of zeros over the fault, and the
//! transfer that touched it becomes an error.

#![expect(unsafe_code, reason = "maps files and catches SIGBUS")]

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

use rustix::mm::{MapFlags, MsyncFlags, ProtFlags};

use crate::backend::contract::SyncBackend;
use crate::phase::rules::{Rules, TaskPlan};
use crate::system::file;
use crate::{EngineError, Errno};

thread_local! {
    /// Start and length of this thread's mapping.
    static WATCHED: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Address of a caught fault, or 0 if there was none.
    static FAULT: AtomicUsize = const { AtomicUsize::new(0) };
}

/// Previous SIGBUS action, and the page size; set once.
static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

/// A mapped file.
#[derive(Debug)]
pub(crate) struct Mmap {
    mapping: Mapping,
    fd: OwnedFd,
    file_bytes: u64,
}

/// A mapping that is unmapped on drop.
#[derive(Debug)]
struct Mapping {
    start: *mut u8,
    bytes: usize,
}

impl SyncBackend for Mmap {
    const MOVES: bool = true;

    fn open(task: &TaskPlan, rules: &Rules<'_>) -> Result<Self, EngineError> {
        let fd = file::open(task, rules)?;
        let path = &task.file.path;
        let failed = |name| move |errno| file::call(name, path, errno);
        let needed = rules.file_bytes;
        if rules.writes {
            reserve(&fd, needed, rules.shared).map_err(failed("posix_fallocate"))?;
        }
        let file_bytes = file::length(fd.as_fd()).map_err(failed("lseek"))?;
        if file_bytes == 0 {
            let (path, asked) = (path.clone(), rules.transfer as u64);
            return Err(EngineError::FileTooShort { path, offset: 0, asked, moved: 0, file_bytes });
        }
        catch_bus_errors().map_err(failed("sigaction"))?;
        let bytes = usize::try_from(needed.min(file_bytes))
            .map_err(|_| file::call("mmap", path, Errno(libc::EFBIG)))?;
        let access = if rules.writes { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a new shared mapping at an address chosen by the kernel disturbs nothing; it is only
        // accessed through raw copies, so no reference asserts that its bytes do not change.
        let mapped =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, &fd, 0) };
        let start = mapped.map_err(|errno| file::call("mmap", path, errno.into()))?.cast::<u8>();
        WATCHED.set((start as usize, bytes));
        FAULT.with(|fault| fault.store(0, Ordering::Relaxed));
        Ok(Self { mapping: Mapping { start, bytes }, fd, file_bytes })
    }

    #[inline(always)]
    fn read(&mut self, buffer: &mut [u8], offset: u64) -> Result<usize, Errno> {
        if offset + buffer.len() as u64 > self.mapping.bytes as u64 {
            // Like a read at the end of a file.
            return Ok(0);
        }
        let from = self.mapping.at(offset, buffer.len());
        // SAFETY: `at` gives a range inside of the mapping; the buffer is ours and apart from it.
        unsafe { std::ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len()) };
        moved(buffer.len())
    }

    #[inline(always)]
    fn write(&mut self, buffer: &[u8], offset: u64) -> Result<usize, Errno> {
        let to = self.mapping.at(offset, buffer.len());
        // SAFETY: `at` gives a range inside of the mapping, which was mapped writable for a phase
        // that writes; the buffer is ours and apart from it.
        unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr(), to, buffer.len()) };
        moved(buffer.len())
    }

    fn sync(&mut self, offset: u64, bytes: usize) -> Result<(), Errno> {
        let page = rustix::param::page_size() as u64;
        let start = offset / page * page;
        let length = usize::try_from(offset - start).unwrap_or(0) + bytes;
        let at = self.mapping.at(start, length);
        // SAFETY: the range lies inside of our mapping and starts at a page.
        Ok(unsafe { rustix::mm::msync(at.cast(), length, MsyncFlags::SYNC) }?)
    }

    fn length(&self) -> u64 {
        self.file_bytes
    }

    fn close(self, task: &TaskPlan, sync: bool) -> Result<(), EngineError> {
        let path = &task.file.path;
        if sync {
            // SAFETY: the range is our whole mapping.
            let synced =
                unsafe { rustix::mm::msync(self.mapping.start.cast(), self.mapping.bytes, MsyncFlags::SYNC) };
            synced.map_err(|errno| file::call("msync", path, errno.into()))?;
            file::fsync(self.fd.as_fd(), path)?;
        }
        drop(self.mapping);
        file::close(self.fd, path)
    }
}

impl Mapping {
    /// The address that corresponds to `offset`.
    #[inline(always)]
    fn at(&self, offset: u64, bytes: usize) -> *mut u8 {
        let end = offset + bytes as u64;
        assert!(
            end <= self.bytes as u64,
            "a written file was made as long as the plan needs, and reads are compared with its length"
        );
        // SAFETY: the offset lies inside of the mapping, as just asserted.
        #[expect(clippy::cast_possible_truncation, reason = "below the mapping's length, which is a usize")]
        unsafe {
            self.start.add(offset as usize)
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        WATCHED.set((0, 0));
        // SAFETY: the mapping is ours and nothing points into it any more. Unmapping a whole
        // mapping cannot fail.
        let _ = unsafe { rustix::mm::munmap(self.start.cast(), self.bytes) };
    }
}

/// Returns `bytes`, or an error if a fault was caught during the copy.
#[inline(always)]
fn moved(bytes: usize) -> Result<usize, Errno> {
    // The handler runs in this thread between the instructions of the copy.
    compiler_fence(Ordering::SeqCst);
    // SAFETY: every x86-64 processor has the instruction. It keeps the clock from being read
    // before the copy has ended.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
    let caught = FAULT.with(|fault| {
        let caught = fault.load(Ordering::Relaxed) != 0;
        if caught {
            fault.store(0, Ordering::Relaxed);
        }
        caught
    });
    if caught { Err(Errno(libc::EIO)) } else { Ok(bytes) }
}

/// Allocates `bytes` of space for the file, so that a full file system is reported now.
fn reserve(fd: &OwnedFd, bytes: u64, shared: bool) -> Result<(), Errno> {
    let is_file = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode).is_file();
    if !is_file {
        return Ok(());
    }
    match file::allocate(fd.as_fd(), bytes, !shared) {
        // Without allocation, the file is at least extended. All tasks that share it use the same length, so
        // none truncates another's data.
        Err(Errno(libc::EOPNOTSUPP)) if file::length(fd.as_fd())? < bytes => {
            Ok(rustix::fs::ftruncate(fd, bytes)?)
        }
        Err(Errno(libc::EOPNOTSUPP)) => Ok(()),
        allocated => allocated,
    }
}

/// Installs the handler, once per process.
fn catch_bus_errors() -> Result<(), Errno> {
    if BEFORE.get().is_some() {
        return Ok(());
    }
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: both structures are valid for the call (zeros are a valid sigaction: default action,
    // no flags, empty mask), and the handler only does what a handler may do.
    let before = unsafe {
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), before.as_mut_ptr()) != 0 {
            return Err(Errno::from(&std::io::Error::last_os_error()));
        }
        before.assume_init()
    };
    let page = rustix::param::page_size();
    if BEFORE.set((before, page)).is_err() {
        // Another task has installed the handler first.
        return Ok(());
    }
    // SAFETY: as above; `on_bus_error` has the signature that SA_SIGINFO asks for.
    let installed = unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut())
    };
    if installed == 0 { Ok(()) } else { Err(Errno::from(&std::io::Error::last_os_error())) }
}

/// Maps a page of zeros over a fault in this thread's mapping and records it. Any other SIGBUS is passed to
/// the previous action.
extern "C" fn on_bus_error(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let Some((before, page)) = BEFORE.get() else { return };
    // SAFETY: the kernel hands a valid siginfo to an SA_SIGINFO handler.
    let address = unsafe { (*info).si_addr() } as usize;
    let (start, bytes) = WATCHED.get();
    if address.wrapping_sub(start) < bytes {
        let at = address & !(page - 1);
        // SAFETY: the page lies in our own mapping of the file; replacing it by zeros takes nothing
        // that anyone else refers to. mmap is a bare system call and so safe in a handler.
        let mapped = unsafe {
            libc::mmap(
                at as *mut libc::c_void,
                *page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if mapped != libc::MAP_FAILED {
            FAULT.with(|fault| fault.store(address, Ordering::Relaxed));
            return;
        }
    }
    // SAFETY: puts back the action that the kernel had given us; the fault then happens again.
    unsafe {
        libc::sigaction(libc::SIGBUS, before, std::ptr::null_mut());
    }
}
