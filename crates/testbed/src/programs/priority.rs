//! Measurements go before everything else on the host.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{getpriority_process, setpriority_process};

/// The least value of `nice`: before everything that runs at the usual 0.
const HIGHEST: i32 = -20;
/// Linux shares the processors between sessions first, whatever `nice` their processes have; here each session has a
/// value of its own. See sched(7), "The autogroup feature".
const SESSION: &str = "/proc/self/autogroup";

/// How many values of [`HighPriority`] there are in this process, and what sets its session back.
static RAISED: Mutex<(u32, Option<Restorer>)> = Mutex::new((0, None));

/// The priority of the calling thread, and of what it starts from now on: the highest until this value is dropped.
///
/// A programmed device and the program that measures it then keep their times while others use the processors. The
/// priority stays as it is where the user must not raise it.
#[derive(Debug)]
#[must_use = "the priority is as before when this is dropped"]
pub struct HighPriority {
    before: Option<i32>,
}

impl HighPriority {
    /// Raises the priority of the calling thread, and of the session against other sessions.
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

/// A process that gives the session its value back when its input ends: with this value, or with this process, however
/// it ends. The session is that of the user's shell, and outlives both.
#[derive(Debug)]
struct Restorer(Child);

impl Restorer {
    /// Raises the session. Nothing where there are no sessions of this kind, or the user must not raise them.
    fn of_raised_session() -> Option<Self> {
        let before = session()?;
        let mut command = Command::new("sh");
        command
            .args(["-c", "read -r _; echo \"$0\" >/proc/self/autogroup", &before.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A Ctrl-C at the terminal is for the tests, not for this one.
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

/// The value of this session, as `/autogroup-123 nice 0` tells it. Without autogroups there is no such file.
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
