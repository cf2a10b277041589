//! Programs for settings without a file.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::Root;

/// Directories of system programs, of which the `PATH` of an ordinary user contains only some.
const DIRECTORIES: [&str; 5] = ["/usr/local/sbin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The programs of the host under a [`Root`]. Under a prefix the programs of that tree are started; they
/// receive the prefix in the variable `IOPROOF_ROOT`.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    directories: Vec<PathBuf>,
    prefix: Option<OsString>,
}

impl Programs {
    pub(crate) fn of(root: &Root) -> Self {
        let mut directories: Vec<PathBuf> = Vec::new();
        if root.is_system()
            && let Some(path) = std::env::var_os("PATH")
        {
            directories.extend(std::env::split_paths(&path).filter(|directory| directory.is_absolute()));
        }
        directories.extend(DIRECTORIES.iter().map(|directory| root.path(directory)));
        let prefix = (!root.is_system()).then(|| root.path("/").into_os_string());
        Self { directories, prefix }
    }

    /// The path of the program.
    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        self.directories.iter().map(|directory| directory.join(name)).find(|path| path.is_file())
    }

    /// The standard output of the program.
    pub(crate) fn run(&self, name: &str, arguments: &[&str]) -> io::Result<String> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, format!("{name} is not installed"));
        let mut command = Command::new(self.find(name).ok_or_else(missing)?);
        command.args(arguments).env("LC_ALL", "C");
        if let Some(prefix) = &self.prefix {
            command.env("IOPROOF_ROOT", prefix);
        }
        let output = command.stdin(std::process::Stdio::null()).output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = if output.stderr.is_empty() { output.stdout } else { output.stderr };
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
        Err(io::Error::other(format!("{name} {}: {}: {}", arguments.join(" "), output.status, line.trim())))
    }
}
