//! ioproof: measures what a storage system can do, and documents the evidence.

mod arguments;
mod ask;
mod batch;
mod calc;
mod check;
mod clean;
mod cluster;
mod commands;
mod compare;
mod console;
mod cross_check;
mod exit;
mod foreign;
mod generate;
mod history;
mod host;
mod import;
mod io500;
mod ior;
mod job;
mod layout;
mod merge;
mod model;
mod on_layouts;
mod overhead;
mod panics;
mod predictions;
mod probe;
mod progress;
mod randomops;
mod reference;
mod report;
mod rpc;
mod run;
mod runs;
mod schema;
mod session;
mod sign;
mod signals;
mod simulated;
mod studies;
mod values;
mod verdict;
mod watch;

use std::process::ExitCode;

fn main() -> ExitCode {
    match panics::caught(|| arguments::dispatch(std::env::args_os().collect())) {
        Ok(code) => code.into(),
        Err(error) => console::explain(&error),
    }
}
