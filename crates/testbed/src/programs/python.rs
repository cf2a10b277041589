//! A Python virtual environment with packages from PyPI. The tests use third-party parsers and tools to validate the
//! output of the program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::programs::command;
use crate::{Program, Scratch};

/// Creating an environment and installing a few packages takes seconds. A network that drops packets should not delay
/// the tests for longer than this.
const LIMIT: Duration = Duration::from_secs(180);

/// A Python virtual environment. It is removed when the value is dropped.
///
/// ```no_run
/// let Ok(python) = testbed::Python::with(&["prometheus_client==0.26.0"]) else { return };
/// let program = python.program("python").args(["-c", "import prometheus_client"]);
/// # let _ = program;
/// ```
#[derive(Debug)]
pub struct Python {
    scratch: Scratch,
}

impl Python {
    /// Creates an environment with these packages, given as pip requirements.
    ///
    /// # Errors
    /// Describes why it is not available, for a `skipped:` line: Python or pip is missing, or the packages cannot be
    /// downloaded.
    pub fn with(packages: &[&str]) -> Result<Self, String> {
        command::needs_tools(&["python3"])?;
        let scratch = Scratch::on_disk().map_err(|error| error.to_string())?;
        let python = Self { scratch };
        let venv = Program::new("python3").args(["-m", "venv"]).arg(python.directory());
        ended(&venv, "python3 cannot make a virtual environment")?;
        if packages.is_empty() {
            return Ok(python);
        }
        let options = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
        let pip = python.program("python").args(options).args(["--timeout", "20"]).args(packages);
        ended(&pip, &format!("pip cannot install {}", packages.join(", ")))?;
        Ok(python)
    }

    /// The path of the environment.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.scratch.path().join("venv")
    }

    /// A program of the environment: `python`, or one that a package has installed. The environment also comes first
    /// in the `PATH` of that program.
    #[must_use]
    pub fn program(&self, name: &str) -> Program {
        let programs = self.directory().join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(programs.clone()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(all).unwrap_or_default();
        Program::new(programs.join(name)).env("PATH", path).limit(LIMIT)
    }

    /// Python running a script with this text.
    #[must_use]
    pub fn script(&self, text: impl AsRef<OsStr>) -> Program {
        self.program("python").arg("-c").arg(text)
    }

    /// A directory for files, removed together with the environment.
    #[must_use]
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }
}

/// Runs `program`. If it fails, the last line of its output is returned as the reason.
fn ended(program: &Program, what: &str) -> Result<(), String> {
    let finished = program.clone().limit(LIMIT).run().map_err(|error| format!("{what}: {error}"))?;
    if finished.code == Some(0) {
        return Ok(());
    }
    let told = finished.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    Err(format!("{what}: {}", told.trim()))
}

#[cfg(test)]
mod tests {
    use super::Python;

    #[test]
    fn an_environment_has_a_python_of_its_own_and_goes_with_its_value() {
        let python = Python::with(&[]);
        if crate::skipped(python.as_ref().map(|_| ()).map_err(Clone::clone)) {
            return;
        }
        let python = python.expect("just looked at");
        let finished = python.script("import sys; print(sys.prefix)").run().expect("it ends").expect_code(0);
        assert_eq!(finished.stdout.trim(), python.directory().to_string_lossy());
        let directory = python.directory();
        drop(python);
        assert!(!directory.exists());
    }

    #[test]
    fn a_package_that_nobody_has_is_a_reason_and_no_panic() {
        let Err(reason) = Python::with(&["./no-such-package-here"]) else { panic!("it is there") };
        assert!(reason.contains("no-such-package-here") || reason.contains("python3"), "{reason}");
    }
}
