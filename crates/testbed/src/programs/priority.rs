//! Measurements go before everything else on the host.

use std::fs;
use std::sync::{Mutex, PoisonError};

use rustix::process::{getpriority_process, setpriority_process};

/// The least value of `nice`: before everything that runs at the usual 0.
const HIGHEST: i32 = -20;
/// Linux shares the processors between sessions first, whatever `nice` their processes have; here each session has a
/// value of its own. See sched(7), "The autogroup feature".
const SESSION: &str = "/proc/self/autogroup";

/// How many values of [`HighPriority`] there are in this process, and the value of the session before the first.
static RAISED: Mutex<(u32, Option<i32>)> = Mutex::new((0, None));

/// The priority of the calling thread, and of what it starts from now on: the highest until this value is dropped.
///
/// A programmed device and the program that measures it then keep their times while others use the processors. The
/// priority stays as it is where the user must not raise it.
#[derive(Debug)]
pub struct HighPriority {
    before: Option<i32>,
}

impl HighPriority {
    /// Raises the priority of the calling thread, and of the session against other sessions.
    pub fn raise() -> Self {
        let mut raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        if raised.0 == 0 {
            raised.1 = session().filter(|_| set_session(HIGHEST));
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
        if let (0, Some(before)) = *raised {
            set_session(before);
        }
    }
}

/// The value of this session, as `/autogroup-123 nice 0` tells it. Without autogroups there is no such file.
fn session() -> Option<i32> {
    fs::read_to_string(SESSION).ok()?.split_whitespace().next_back()?.parse().ok()
}

fn set_session(nice: i32) -> bool {
    fs::write(SESSION, nice.to_string()).is_ok()
}

#[cfg(test)]
mod tests {
    use rustix::process::getpriority_process;

    use super::{HIGHEST, HighPriority, session};
    use crate::{Program, Testbed, skipped};

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
    }
}
