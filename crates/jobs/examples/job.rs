//! The process of one job and nothing else: what `ioproof job` is, for the tests of this crate.

#![expect(clippy::print_stderr, reason = "a program for the console")]

use std::process::ExitCode;

use jobs::Ended;

fn main() -> ExitCode {
    match jobs::serve() {
        Ok(Ended::Done) => ExitCode::SUCCESS,
        Ok(Ended::Failed) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("job: {error}");
            ExitCode::from(2)
        }
    }
}
