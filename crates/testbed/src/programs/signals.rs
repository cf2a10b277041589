//! Default signal handling for programs under test.
#![expect(unsafe_code, reason = "signal dispositions of a child have no safe interface")]

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has the program start with the default action for SIGINT and SIGQUIT.
///
/// A shell without job control starts background commands with both ignored, and children inherit that: the tests
/// would depend on how they were started.
pub(crate) fn reset(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            // SAFETY: `signal` may be called between fork and exec, and SIG_DFL names no function of ours.
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: the closure allocates nothing and takes no lock.
    unsafe { command.pre_exec(reset) }
}
