//! The guarantees for users when a run is recorded, killed, damaged and read again.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

mod claims;
mod collection;
mod damage;
mod docs;
mod launches;
mod layouts;
mod merged;
mod moved;
mod resumed;
mod sample;
mod simulated;
mod strangers;
mod versions;
mod whole;
