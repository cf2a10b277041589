//! Measurements go before everything else on the host.

use rustix::process::{getpriority_process, setpriority_process};

/// The least value of `nice`: before everything that runs at the usual 0.
const HIGHEST: i32 = -20;

/// The priority of the calling thread, and of what it starts from now on: the highest until this value is dropped.
///
/// A programmed device and the program that measures it then keep their times while others use the processors. The
/// priority stays as it is where the user must not raise it.
#[derive(Debug)]
pub struct HighPriority {
    before: Option<i32>,
}

impl HighPriority {
    /// Raises the priority of the calling thread.
    pub fn raise() -> Self {
        let before = getpriority_process(None).ok();
        let raised = before.filter(|_| setpriority_process(None, HIGHEST).is_ok());
        Self { before: raised }
    }
}

impl Drop for HighPriority {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = setpriority_process(None, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{geteuid, getpriority_process};

    use super::{HIGHEST, HighPriority};
    use crate::Program;

    #[test]
    fn what_is_started_meanwhile_has_it_and_nothing_afterwards() {
        if !geteuid().is_root() {
            println!("skipped: needs root to raise a priority");
            return;
        }
        let before = getpriority_process(None).expect("a priority");
        let of_child =
            || Program::new("nice").run().expect("it runs").expect_code(0).stdout.trim().to_owned();
        let raised = HighPriority::raise();
        assert_eq!(of_child(), HIGHEST.to_string());
        drop(raised);
        assert_eq!(of_child(), before.to_string());
    }
}
