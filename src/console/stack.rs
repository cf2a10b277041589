//! The stack on which the program runs.

use std::process::ExitCode;
use std::thread;

use rustix::process::{Resource, getrlimit};

/// What the parsers of command lines and studies need at most, with room to spare.
const ENOUGH_BYTES: u64 = 4 << 20;
/// Size of the stack of the thread that is started if there is less.
const STACK_BYTES: usize = 8 << 20;

/// Calls `program` on a stack that is large enough. With a low limit (`ulimit -s`), that is the stack of a thread,
/// because the kernel would end the program without a message.
pub(crate) fn on_enough(program: impl FnOnce() -> ExitCode + Send) -> ExitCode {
    if getrlimit(Resource::Stack).current.is_none_or(|limit| limit >= ENOUGH_BYTES) {
        return program();
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, program) {
            Ok(running) => running.join().unwrap_or(ExitCode::FAILURE),
            Err(error) => {
                super::complain(&format!(
                    "ioproof: cannot start a thread: {error}; raise the limits of this shell (`ulimit -s`, `ulimit -u`)"
                ));
                super::exit::Exit::HostLacks.into()
            }
        }
    })
}
