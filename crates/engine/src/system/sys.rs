//! Thin wrappers of the few system calls that have no safe binding.

#![expect(unsafe_code, reason = "system calls without a safe binding")]

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};

use crate::Errno;

/// CPU time of this process, or of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CpuTime {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

impl CpuTime {
    /// CPU time used since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
        }
    }
}

/// CPU time used by all threads of this process so far (`getrusage(2)`).
pub(crate) fn cpu_time() -> CpuTime {
    usage_of(libc::RUSAGE_SELF)
}

/// CPU time used by the calling thread so far.
pub(crate) fn thread_cpu_time() -> CpuTime {
    usage_of(libc::RUSAGE_THREAD)
}

fn usage_of(who: libc::c_int) -> CpuTime {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is valid for a write of one rusage, and these two always succeed; the
    // memory was zeroed, so it is initialised in any case.
    let usage = unsafe {
        libc::getrusage(who, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanos = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
    };
    CpuTime { user_ns: nanos(usage.ru_utime), system_ns: nanos(usage.ru_stime) }
}

/// Number of online processors.
pub(crate) fn processors() -> usize {
    // SAFETY: the call takes no pointers and only reads.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(count).unwrap_or(1).max(1)
}

/// Calls `close(2)` and returns its error, through which network file systems report late write errors.
pub(crate) fn close(fd: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor is owned and given up here, so it cannot be used or closed elsewhere.
    match unsafe { libc::close(fd.into_raw_fd()) } {
        0 => Ok(()),
        // Linux has closed the descriptor even if it reports EINTR.
        _ => match last_errno() {
            Errno(libc::EINTR) => Ok(()),
            errno => Err(errno),
        },
    }
}

/// Calls `posix_fallocate(3)`: allocates space, or writes zeros if the file system cannot allocate.
pub(crate) fn posix_fallocate(fd: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
    let length = i64::try_from(bytes).map_err(|_| Errno(libc::EFBIG))?;
    loop {
        // SAFETY: the call takes no pointers and the descriptor is open.
        match unsafe { libc::posix_fallocate(fd.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EINTR => {}
            error => return Err(Errno(error)),
        }
    }
}

fn last_errno() -> Errno {
    Errno::from(&std::io::Error::last_os_error())
}

/// Opens a file to look at it. If it has become a named pipe, this does not wait for somebody to write.
pub(crate) fn open_to_look(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;

    std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}
