//! Handles panics. A panic is a defect of the program: it is printed so that it can be reported, and the
//! exit code is 1.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::console::complain;
use crate::console::exit::{Exit, Failure};

/// Whether a thread of this process has panicked. The run can continue without some threads, for example that of
/// the progress line, but the exit code still reports the panic.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Runs the program, and prints and records panics.
pub(crate) fn caught(program: impl FnOnce() -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    panic::set_hook(Box::new(|info| {
        if record::is_contained(info) {
            return;
        }
        SEEN.store(true, Ordering::Relaxed);
        complain(&told(thread::current().name(), info));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            backtrace.to_string().lines().for_each(complain);
        }
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(program));
    match result {
        Err(_) => Ok(Exit::Internal),
        Ok(Ok(_)) if SEEN.load(Ordering::Relaxed) => Ok(Exit::Internal),
        Ok(Err(failure)) if SEEN.load(Ordering::Relaxed) => Err(Failure { exit: Exit::Internal, ..failure }),
        Ok(result) => result,
    }
}

/// The message about a panic in the thread with this name.
fn told(thread: Option<&str>, info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map_or_else(String::new, |place| format!(" at {place}"));
    format!(
        "ioproof: internal error{place} in thread `{}`: {what}; please report it at {} with this message, \
         the command line and the version ({})",
        thread.unwrap_or("unnamed"),
        env!("CARGO_PKG_REPOSITORY"),
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::caught;
    use crate::console::exit::Exit;

    #[test]
    fn a_panic_ends_with_the_code_of_a_fault_in_whatever_thread() {
        let own = caught(|| panic!("broken on purpose"));
        assert_eq!(own.ok(), Some(Exit::Internal));
        let in_a_thread = caught(|| {
            assert!(thread::spawn(|| panic!("broken on purpose")).join().is_err());
            Ok(Exit::Success)
        });
        assert_eq!(in_a_thread.ok(), Some(Exit::Internal));
        let with_an_error = caught(|| {
            assert!(thread::spawn(|| panic!("broken on purpose")).join().is_err());
            Ok(Exit::Refused)
        });
        assert_eq!(with_an_error.ok(), Some(Exit::Internal));
    }
}
