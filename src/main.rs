//! ioproof: says what a storage system can really do, and defends it.

mod arguments;
mod clean;
mod console;
mod exit;
mod generate;
mod ior;
mod overhead;
mod progress;
mod report;
mod run;
mod session;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    match arguments::dispatch(std::env::args_os().collect()) {
        Ok(code) => code.into(),
        Err(error) => exit::explain(&error),
    }
}
