//! ioproof: measures what a storage system can do, and documents the evidence.

mod arguments;
mod batch;
mod calc;
mod console;
mod defaults;
mod dispatch;
mod doctor;
mod foreign;
mod generate;
mod host;
mod layout;
mod model;
mod records;
mod run;
mod version;

use std::process::ExitCode;

fn main() -> ExitCode {
    console::stack::on_enough(|| {
        match console::panics::caught(|| dispatch::run(std::env::args_os().collect())) {
            Ok(code) => code.into(),
            Err(error) => console::explain(&error),
        }
    })
}
