//! Ctrl-C and SIGTERM end a run in order: transfers stop, the record is closed, files are removed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// The exit code of a run that the user has ended, by whatever signal.
const INTERRUPTED: i32 = 130;

/// Sets `flags` in their order at the first signal; a second one ends the program at once.
pub(crate) fn stop_on_signal(flags: &[Arc<AtomicBool>; 2]) -> std::io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the second signal finds the flag set by the first.
        flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&flags[0]))?;
        for flag in flags {
            flag::register(signal, Arc::clone(flag))?;
        }
    }
    Ok(())
}

/// Makes exceeding the file size limit (`ulimit -f`) a write error: without a handler SIGXFSZ would kill the
/// program and leave its files.
pub(crate) fn outlive_file_limit() -> std::io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}
