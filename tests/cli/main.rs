//! The program as its users meet it: command lines in; output, exit code, record and files out.
//!
//! Each file is one thing that users rely on; [`desk`] has what all of them need.

mod analytics;
mod calls;
mod cluster;
mod desk;
mod devices;
mod faults;
mod hosts;
mod reports;
mod simulation;
mod studies;
mod tools;
mod transfers;
