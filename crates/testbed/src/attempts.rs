//! Measurements on a machine that others use too.

use std::panic::{self, AssertUnwindSafe, Location};

/// The factor of the last attempt of [`attempts`].
pub const LONGEST: u32 = 4;

/// Measures a known quantity, and again if a busy machine distorted the result. `measure` gets a factor for its
/// latencies and lengths, so that what others do has less weight with each attempt. The last attempt, with
/// [`LONGEST`], counts. That there was more than one is printed: `./check` fails if that happens often.
#[track_caller]
#[expect(clippy::print_stdout, reason = "it is read from the output of the tests")]
pub fn attempts(measure: impl Fn(u32)) {
    let place = Location::caller();
    let found = |times| {
        let found = panic::catch_unwind(AssertUnwindSafe(|| measure(times))).is_ok();
        if !found {
            println!("measured again: {}:{}", place.file(), place.line());
        }
        found
    };
    if ![1, 2].into_iter().any(found) {
        measure(LONGEST);
    }
}
