//! Makes Ctrl-C and SIGTERM end a run in an orderly way: transfers stop, the record is closed, files are
//! removed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, low_level};

/// The exit code of a run that the user has ended, whatever the signal.
const INTERRUPTED: i32 = 130;

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Set while no signal handler is to end a run, so that signals have their usual effect.
static IDLE: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static USUAL_EFFECT: Once = Once::new();

/// As long as this value exists, signals end a run in an orderly way.
#[must_use = "dropped, signals have their usual effect again"]
pub(crate) struct Listening(Vec<SigId>);

impl Drop for Listening {
    fn drop(&mut self) {
        IDLE.store(true, Ordering::Relaxed);
        for id in &self.0 {
            low_level::unregister(*id);
        }
    }
}

/// Sets `flags` in order at the first signal. A second signal ends the program at once.
pub(crate) fn stop_on_signal(flags: &[Arc<AtomicBool>; 2]) -> std::io::Result<Listening> {
    IDLE.store(false, Ordering::Relaxed);
    let mut usual = Ok(());
    // A handler stays installed when its actions have been removed.
    USUAL_EFFECT.call_once(|| {
        usual = SIGNALS
            .into_iter()
            .try_for_each(|signal| flag::register_conditional_default(signal, Arc::clone(&IDLE)).map(|_| ()));
    });
    usual?;
    let mut listening = Listening(Vec::new());
    for signal in SIGNALS {
        // The order matters: the second signal finds the flag set by the first.
        listening.0.push(flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(&flags[0]))?);
        for flag in flags {
            listening.0.push(flag::register(signal, Arc::clone(flag))?);
        }
    }
    Ok(listening)
}

/// Makes exceeding the file size limit (`ulimit -f`) a write error. Without a handler, SIGXFSZ would kill
/// the program and leave its files.
pub(crate) fn outlive_file_limit() -> std::io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}
