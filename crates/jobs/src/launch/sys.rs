//! Calls of the kernel for which there is no safe wrapper elsewhere.
#![expect(
    unsafe_code,
    reason = "wait4(2) has no safe binding; a child sets its own death signal before exec"
)]

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Signal};

use crate::Usage;

/// How a process has ended, and what it had used.
pub(super) struct Reaped {
    /// Its exit code; none where a signal has ended it.
    pub(super) code: Option<i32>,
    /// The signal that has ended it.
    pub(super) signal: Option<i32>,
    pub(super) usage: Usage,
}

/// Takes the end of the child `process` from the kernel; none while it runs.
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

/// Has the process of `command` killed when the thread that starts it ends, however that happens: nobody would
/// look after it any more.
pub(super) fn ends_with_us(command: &mut Command) {
    let us = rustix::process::getpid();
    let before_exec = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // Whoever started it may have ended before the call.
        match rustix::process::getppid() == Some(us) {
            true => Ok(()),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    };
    // SAFETY: between fork and exec it makes two system calls, and neither allocates nor locks.
    unsafe { command.pre_exec(before_exec) };
}
