//! Tests on real devices: what the crate observes, and what the guard refuses.
//!
//! Everything uses loop devices that the tests created, and is torn down with them.
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]
#![expect(clippy::unwrap_used, reason = "a step of a test that fails is the failure of the test")]

mod guard;
mod layouts;
mod observe;
mod tools;
mod trace;
