//! The result directory, and the files that the benchmark leaves in it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use dialect::io500::Text;

use crate::console::exit::{Exit, Failure};
use crate::console::{confirm, print};
use crate::foreign::output::begin_own;

/// Directories in the order of creation. Each is removed again if it is empty.
#[derive(Debug, Default)]
pub(super) struct MadeDirectories(Vec<PathBuf>);

impl MadeDirectories {
    /// Creates `path` and its missing parents.
    pub(super) fn make(&mut self, path: &Path) -> Result<(), Failure> {
        let missing: Vec<&Path> =
            path.ancestors().take_while(|one| !one.as_os_str().is_empty() && !one.exists()).collect();
        for one in missing.into_iter().rev() {
            fs::create_dir(one).map_err(|error| cannot("create the directory", one, error))?;
            self.0.push(one.to_owned());
        }
        Ok(())
    }

    /// Their number.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    /// Removes those directories that are empty.
    pub(super) fn remove_empty(&self) {
        for one in self.0.iter().rev() {
            // What is left in it was not created by this run, or is to be kept.
            let _ = fs::remove_dir(one);
        }
    }
}

/// The files `result.txt` and `result_summary.txt`, and the terminal.
pub(super) struct Results {
    result: (PathBuf, File),
    summary: (PathBuf, File),
}

impl Results {
    /// Creates both files in `directory`. Asks before earlier ones are replaced, unless `yes` is set.
    pub(super) fn begin(directory: &Path, yes: bool) -> Result<Self, Failure> {
        let (result, summary) = (directory.join("result.txt"), directory.join("result_summary.txt"));
        if result.exists() && !yes {
            let question = format!("{} exists; replace it?", result.display());
            if !confirm(&question, false)? {
                let why = format!(
                    "{} exists: add --yes to replace it, or name another directory with resultdir or --timestamp",
                    result.display()
                );
                return Err(Failure::new(Exit::Refused, anyhow::anyhow!(why)));
            }
        }
        let begin = |path: PathBuf| {
            let file = begin_own(&path)?;
            Ok::<_, Failure>((path, file))
        };
        Ok(Self { result: begin(result)?, summary: begin(summary)? })
    }

    /// Adds `text` to all three outputs.
    pub(super) fn add(&mut self, text: &Text) -> Result<(), Failure> {
        for ((path, file), text) in [(&mut self.result, &text.result), (&mut self.summary, &text.summary)] {
            file.write_all(text.as_bytes()).map_err(|error| cannot("write", path, error))?;
        }
        print(&text.screen)
    }
}

/// The failure of an attempt to `action` something at `path`.
pub(super) fn cannot(action: &str, path: &Path, error: std::io::Error) -> Failure {
    let context = format!("cannot {action} {}: choose another place", path.display());
    Failure::new(Exit::Record, anyhow::Error::from(error).context(context))
}
