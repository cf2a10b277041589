//! Runs the commands of a layout, one at a time, and keeps their output.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use plan::layout::Action;
use plan::limits::COMMAND_OUTPUT_BYTES;
use record::{CommandEnd, CommandRun};

use crate::OutputFile;
use crate::activity::programs;

/// The shell for the user's own lines.
const SHELL: &str = "/bin/sh";

/// Remarks about an action, in addition to its result.
pub(super) struct Remarks<'a> {
    pub(super) purpose: &'a str,
    pub(super) printed: Option<String>,
}

/// Runs a command or a shell line. `built_in` runs the actions of this program.
pub(super) fn perform(
    action: &Action,
    remarks: Remarks<'_>,
    built_in: impl FnOnce(&Action) -> Result<String, String>,
) -> CommandRun {
    let began = Instant::now();
    let (status, output) = match action {
        Action::Command(words) => run(words),
        Action::Shell(line) => run_in(Path::new("."), &[SHELL.to_owned(), "-c".to_owned(), line.clone()]),
        Action::MakeDirectory(_) | Action::RemoveDirectory(_) | Action::Wipe(_) => match built_in(action) {
            Ok(output) => (CommandEnd::Exited(0), output),
            Err(reason) => (CommandEnd::Failed(reason), String::new()),
        },
    };
    CommandRun {
        purpose: remarks.purpose.to_owned(),
        command: action.to_string(),
        status,
        output,
        took_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        printed: remarks.printed,
    }
}

/// Creates the entry for a command that was not started.
pub(super) fn not_begun(action: &Action, remarks: Remarks<'_>, reason: String) -> CommandRun {
    CommandRun {
        purpose: remarks.purpose.to_owned(),
        command: action.to_string(),
        status: CommandEnd::Failed(reason),
        output: String::new(),
        took_ns: 0,
        printed: remarks.printed,
    }
}

/// Returns the output of a query if its exit status is 0.
pub(super) fn answer(words: &[String]) -> Option<String> {
    match run(words) {
        (CommandEnd::Exited(0), output) => Some(output),
        _ => None,
    }
}

/// Whether the exit status is 0.
pub(super) fn succeeds(words: &[String]) -> bool {
    answer(words).is_some()
}

/// Runs a program to its end, with empty standard input. It has its own process group, so that Ctrl-C
/// only reaches this program, which then undoes the steps. Its working directory is `/`, so that no
/// argument names a file by accident.
pub(super) fn run(words: &[String]) -> (CommandEnd, String) {
    run_in(Path::new("/"), words)
}

fn run_in(directory: &Path, words: &[String]) -> (CommandEnd, String) {
    let Some((program, arguments)) = words.split_first() else {
        return (CommandEnd::Failed("no program is given".to_owned()), String::new());
    };
    let Some(place) = place_of(program) else {
        return (CommandEnd::Failed(format!("{program} not found")), String::new());
    };
    match run_to_end(directory, &place, arguments) {
        Ok((status, output)) => (end(status), output),
        Err(error) => (CommandEnd::Failed(format!("cannot run {program}: {error}")), String::new()),
    }
}

fn place_of(program: &str) -> Option<PathBuf> {
    if program.starts_with('/') { Some(PathBuf::from(program)) } else { programs::find(program) }
}

fn run_to_end(directory: &Path, place: &Path, arguments: &[String]) -> io::Result<(ExitStatus, String)> {
    let output = OutputFile::new()?;
    let status = Command::new(place)
        .args(arguments)
        .current_dir(directory)
        .env("LC_ALL", "C")
        .env("PATH", programs::search_path())
        .stdin(Stdio::null())
        .stdout(output.for_child()?)
        .stderr(output.for_child()?)
        .process_group(0)
        .status()?;
    let (tail, cut) = output.last(COMMAND_OUTPUT_BYTES)?;
    let text = String::from_utf8_lossy(&tail);
    Ok((
        status,
        if cut > 0 { format!("… the first {cut} bytes are omitted\n{text}") } else { text.into_owned() },
    ))
}

fn end(status: ExitStatus) -> CommandEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => CommandEnd::Exited(code),
        (None, Some(signal)) => CommandEnd::Killed(signal),
        (None, None) => CommandEnd::Failed("it ended in a way that the kernel does not report".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use record::CommandEnd;

    use super::{COMMAND_OUTPUT_BYTES, run};

    fn shell(line: &str) -> (CommandEnd, String) {
        run(&["sh".into(), "-c".into(), line.into()])
    }

    #[test]
    fn the_end_and_all_that_was_printed_are_kept() {
        assert_eq!(shell("echo out; echo err >&2; exit 3"), (CommandEnd::Exited(3), "out\nerr\n".into()));
        assert_eq!(shell("kill -9 $$").0, CommandEnd::Killed(9));
        assert_eq!(shell("read answer").0, CommandEnd::Exited(1), "nobody answers");
    }

    #[test]
    fn of_long_output_the_end_is_kept() {
        let (_, text) = shell("yes ä | head -n 100000; echo last");
        assert!(
            (text.len() as u64) < COMMAND_OUTPUT_BYTES + 100 && text.ends_with("last\n"),
            "{}",
            text.len()
        );
    }

    #[test]
    fn nobody_waits_for_what_a_command_leaves_running() {
        let (end, text) = shell("sleep 60 & echo $!");
        assert_eq!(end, CommandEnd::Exited(0));
        assert_eq!(shell(&format!("kill {}", text.trim())).0, CommandEnd::Exited(0), "it goes on");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let (end, _) = run(&["no-such-program".into()]);
        assert_eq!(end, CommandEnd::Failed("no-such-program not found".into()));
    }
}
