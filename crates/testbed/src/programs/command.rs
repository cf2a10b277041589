//! Helper programs, and checks for whether they are available.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use crate::Error;

/// Runs a helper program and returns its output.
pub(crate) fn run<I, S>(program: &str, arguments: I) -> Result<String, Error>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new(program);
    command.args(arguments).env("LC_ALL", "C");
    let output = command.output().map_err(Error::file(program))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    Err(Error::Command {
        command: words(&command),
        status: output.status.to_string(),
        message: String::from_utf8_lossy(&output.stderr).trim_end().to_owned(),
    })
}

/// The program with its arguments, for error messages.
pub(crate) fn words(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns an error unless the process runs as root.
pub(crate) fn needs_root() -> Result<(), String> {
    if rustix::process::geteuid().is_root() { Ok(()) } else { Err("needs root".to_owned()) }
}

/// Returns an error unless `path` exists.
pub(crate) fn needs_file(path: &str) -> Result<(), String> {
    if Path::new(path).exists() { Ok(()) } else { Err(format!("needs {path}")) }
}

/// Returns an error that names the first of `tools` that is not in `PATH`.
pub(crate) fn needs_tools(tools: &[&str]) -> Result<(), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |tool: &str| std::env::split_paths(&path).any(|directory| directory.join(tool).is_file());
    match tools.iter().find(|tool| !found(tool)) {
        Some(tool) => Err(format!("needs the program {tool}")),
        None => Ok(()),
    }
}
