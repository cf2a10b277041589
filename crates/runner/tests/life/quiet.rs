//! A run with a competing load.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command};
use std::thread;

use plan::{Backend, Nanos, Phase};
use record::Warning;
use testbed::HighPriority;

use crate::place::{Place, case, spec};

/// A program with a distinctive name that keeps a processor busy until it is dropped.
struct Competitor(Child);

impl Competitor {
    fn start(place: &Place) -> Self {
        let program = place.directory.path().join("competitor");
        fs::copy(fs::canonicalize("/bin/sh").expect("a shell"), &program).expect("can be copied");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("own");
        let start = || Command::new(&program).args(["-c", "while :; do :; done"]).spawn();
        let child = loop {
            match start() {
                // A child that another test has just forked still has the copy open for writing.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => thread::yield_now(),
                started => break started.expect("it starts"),
            }
        };
        Self(child)
    }
}

impl Drop for Competitor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the marked phase of a run of `duration` reports about a competitor running at the same time.
fn seen_in(duration: Nanos) -> String {
    let place = Place::new();
    let mut spec = spec(&place.file());
    (spec.backend, spec.duration) = (Backend::Null, Some(duration));
    // Gives the competitor priority over everything else that keeps the host of the test busy.
    let _priority = HighPriority::raise();
    let _competitor = Competitor::start(&place);
    let (ended, run) = place.run(vec![case("a", spec, &[Phase::Write])]);
    assert!(ended.failed.is_none(), "{ended:?}");
    let seen = run.warnings.into_iter().find_map(|row| match (row.key, row.warning) {
        (Some(key), Warning::NotQuiet { seen, .. }) if key.phase == Phase::Write => Some(seen),
        _ => None,
    });
    let seen = seen.expect("the phase is marked");
    assert!(seen.contains("others used") && seen.contains("(process"), "{seen}");
    seen
}

#[test]
fn a_load_that_starts_during_a_run_marks_it_and_is_named() {
    // Only the busiest process is named. On a busy host that may be another process for a while.
    let mut all_seen = Vec::new();
    for millis in [1500, 3000, 6000, 12_000] {
        let seen = seen_in(Nanos::millis(millis));
        if seen.contains("competitor (process") {
            return;
        }
        all_seen.push(seen);
    }
    panic!("the competitor was never the busiest: {all_seen:?}");
}
