//! Default signal handling for the tests and the programs under test.
#![expect(unsafe_code, reason = "the action for a signal has no safe interface")]

use std::io;
use std::sync::Once;

/// Has this process, and all programs that it starts from now on, take the default action for SIGINT and SIGQUIT.
///
/// A shell without job control starts background commands with both ignored, and children inherit that: the tests
/// would depend on how they were started. It is not set in each child, as a hook before its exec makes the
/// standard library fork, which copies the page tables of a test process that holds gigabytes.
pub(crate) fn reset() {
    static RESET: Once = Once::new();
    RESET.call_once(|| {
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            // SAFETY: SIG_DFL names no function of ours.
            let before = unsafe { libc::signal(signal, libc::SIG_DFL) };
            assert_ne!(before, libc::SIG_ERR, "{}", io::Error::last_os_error());
        }
    });
}
