//! System calls without a safe wrapper elsewhere.
#![expect(unsafe_code, reason = "wait4(2) has no safe binding")]

use std::io;
use std::mem::MaybeUninit;

use rustix::process::Pid;

use crate::Usage;

/// How a process has ended, and its resource usage.
pub(super) struct Reaped {
    /// Its exit code; `None` if a signal ended it.
    pub(super) code: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
    pub(super) usage: Usage,
}

/// Reaps the child `process`; `None` while it runs.
pub(super) fn reap(process: Pid) -> io::Result<Option<Reaped>> {
    let (mut status, mut raw) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are valid for writes through the call, which keeps neither.
    let found = unsafe {
        libc::wait4(process.as_raw_nonzero().get(), &raw mut status, libc::WNOHANG, raw.as_mut_ptr())
    };
    if found < 0 {
        return Err(io::Error::last_os_error());
    }
    if found == 0 {
        return Ok(None);
    }
    // SAFETY: it was zeroed, which is a valid rusage, and the kernel has filled it.
    let usage = Usage::of(&unsafe { raw.assume_init() });
    Ok(Some(Reaped {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        usage,
    }))
}
