//! Default signal handling for the tests and the programs under test.
#![expect(unsafe_code, reason = "the action for a signal has no safe interface")]

use std::io;
use std::sync::Once;

/// Sets the default action for SIGINT and SIGQUIT in this process and all programs that it starts from now on.
///
/// A shell without job control starts background commands with both signals ignored, and children inherit that. The
/// tests would then depend on how they were started. The action is not reset in each child: a hook before exec makes
/// the standard library use fork, which copies the page tables of a test process that may hold gigabytes.
pub(crate) fn reset() {
    static RESET: Once = Once::new();
    RESET.call_once(|| {
        for signal in [libc::SIGINT, libc::SIGQUIT] {
            // SAFETY: SIG_DFL is not a handler function of ours.
            let before = unsafe { libc::signal(signal, libc::SIG_DFL) };
            assert_ne!(before, libc::SIG_ERR, "{}", io::Error::last_os_error());
        }
    });
}
