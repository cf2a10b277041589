//! Raising the priority of measurements above everything else on the host.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{getpriority_process, setpriority_process};

/// The lowest value of `nice`, which takes precedence over the usual 0.
const HIGHEST: i32 = -20;
/// Linux first divides processor time between sessions, regardless of the `nice` values of their processes. This file
/// sets the value of the session. See sched(7), "The autogroup feature".
const SESSION: &str = "/proc/self/autogroup";

/// The number of [`HighPriority`] values in this process, and the process that restores the priority of the session.
static RAISED: Mutex<(u32, Option<Restorer>)> = Mutex::new((0, None));

/// Gives the calling thread, and everything it starts, the highest priority until this value is dropped.
///
/// A programmed device and the program that measures it then keep their timing while other processes use the
/// processors. The priority stays unchanged if the user may not raise it.
#[derive(Debug)]
#[must_use = "the priority is as before when this is dropped"]
pub struct HighPriority {
    before: Option<i32>,
}

impl HighPriority {
    /// Raises the priority of the calling thread, and of its session relative to other sessions.
    pub fn raise() -> Self {
        let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        if raised.0 == 0 {
            raised.1 = Restorer::of_raised_session();
        }
        raised.0 += 1;
        let before = getpriority_process(None).ok();
        Self { before: before.filter(|_| setpriority_process(None, HIGHEST).is_ok()) }
    }
}

impl Drop for HighPriority {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = setpriority_process(None, before);
        }
        let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        raised.0 -= 1;
        if raised.0 == 0 {
            raised.1 = None;
        }
    }
}

/// A process that restores the priority of the session when its standard input is closed. That happens when this
/// value is dropped or this process ends, however it ends. The session belongs to the user's shell and outlives both.
#[derive(Debug)]
struct Restorer(Child);

impl Restorer {
    /// Raises the session. Returns `None` if the kernel has no autogroups, or the user may not raise the priority.
    fn of_raised_session() -> Option<Self> {
        let before = session()?;
        let mut command = Command::new("sh");
        command
            .args(["-c", "read -r _; echo \"$0\" >/proc/self/autogroup", &before.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C at the terminal must reach the tests, but not this process.
            .process_group(0);
        let restorer = Self(command.spawn().ok()?);
        fs::write(SESSION, HIGHEST.to_string()).ok().map(|()| restorer)
    }
}

impl Drop for Restorer {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// The `nice` value of this session, parsed from a line such as `/autogroup-123 nice 0`. Without autogroups the file
/// does not exist.
fn session() -> Option<i32> {
    fs::read_to_string(SESSION).ok()?.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use rustix::process::{Signal, getpriority_process};

    use super::{HIGHEST, HighPriority, session};
    use crate::{Program, Testbed, skipped};

    fn becomes(wanted: Option<i32>) -> bool {
        (0..1000).any(|_| {
            sleep(Duration::from_millis(10));
            session() == wanted
        })
    }

    #[test]
    fn what_is_started_meanwhile_has_it_and_nothing_afterwards() {
        if skipped(Testbed::available()) {
            return;
        }
        let before = (getpriority_process(None).expect("a priority"), session());
        let of_child =
            || Program::new("nice").run().expect("it runs").expect_code(0).stdout.trim().to_owned();
        let raised = HighPriority::raise();
        assert_eq!(of_child(), HIGHEST.to_string());
        drop(HighPriority::raise());
        assert!(session().is_none_or(|nice| nice == HIGHEST), "one is still there");
        drop(raised);
        assert_eq!(of_child(), before.0.to_string());
        assert_eq!(session(), before.1);

        if before.1.is_none() {
            return;
        }
        let this = std::env::current_exe().expect("this test");
        let name = "programs::priority::tests::keeps_it_until_it_is_killed";
        let killed = Program::new(this).args(["--ignored", "--exact", name]).spawn().expect("it starts");
        assert!(becomes(Some(HIGHEST)), "it does not raise its session");
        killed.signal(Signal::KILL).expect("it lives");
        let _ = killed.wait().expect("it ends");
        assert!(becomes(before.1), "a killed process leaves its session raised");
    }

    #[test]
    #[ignore = "started by `what_is_started_meanwhile_has_it_and_nothing_afterwards`"]
    fn keeps_it_until_it_is_killed() {
        let _priority = HighPriority::raise();
        sleep(Duration::from_mins(1));
    }
}
