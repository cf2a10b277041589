//! Python with packages of PyPI, in an environment of its own: other people's parsers and tools
//! as judges of what the program writes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::programs::command;
use crate::{Program, Scratch};

/// Making an environment and installing a few packages takes seconds; a network that swallows
/// packets should not hold up the tests for longer than this.
const LIMIT: Duration = Duration::from_secs(180);

/// A virtual environment of Python; it is removed when the value is dropped.
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
    /// An environment with these packages, named as pip wants them named.
    ///
    /// # Errors
    /// Why it cannot be had, in words for a `skipped:` line: no Python, no pip, or no way to the
    /// packages.
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

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> PathBuf {
        self.scratch.path().join("venv")
    }

    /// A program of the environment: `python`, or what a package has brought. It comes first on the
    /// path of the program itself too.
    #[must_use]
    pub fn program(&self, name: &str) -> Program {
        let programs = self.directory().join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(programs.clone()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(all).unwrap_or_default();
        Program::new(programs.join(name)).env("PATH", path).limit(LIMIT)
    }

    /// Python with a script of this text.
    #[must_use]
    pub fn script(&self, text: impl AsRef<OsStr>) -> Program {
        self.program("python").arg("-c").arg(text)
    }

    /// A place for files, removed with the environment.
    #[must_use]
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }
}

/// Runs `program`; the last line of what it wrote is the reason where it fails.
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
