//! The host on real devices: what is observed, and what the guard refuses.
//!
//! Everything stands on loop devices that the tests made, and is taken down with them.
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]
#![expect(clippy::unwrap_used, reason = "a step of a test that fails is the failure of the test")]

mod guard;
mod layouts;
mod observe;
mod tools;
mod trace;
