//! Tests of the program as users see it: command lines in; output, exit code, record and files out.
//!
//! Each file tests one thing that users rely on; [`desk`] has the shared helpers.

mod analytics;
mod calls;
mod cluster;
mod config;
mod desk;
mod devices;
mod faults;
mod first_contact;
mod hosts;
mod reports;
mod simulation;
mod studies;
mod tools;
mod transfers;
