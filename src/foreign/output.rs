//! The output of another tool's command line, and the warnings printed in addition.

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print_if_read};

/// Standard output, or a file named on the command line.
pub(crate) struct Output {
    file: Option<PathBuf>,
    /// Whether the reader of standard output is gone.
    is_unread: bool,
}

impl Output {
    /// Truncates the file, if there is one.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, Failure> {
        if let Some(path) = file {
            write_whole(path, "")?;
        }
        Ok(Self { file: file.map(Path::to_owned), is_unread: false })
    }

    /// Whether the reader of standard output, for example `head`, is gone.
    pub(crate) const fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Adds `text`.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        let Some(path) = &self.file else {
            self.is_unread |= !print_if_read(text)?;
            return Ok(());
        };
        let mut file =
            fs::OpenOptions::new().append(true).open(path).map_err(|error| cannot_write(path, error))?;
        file.write_all(text.as_bytes()).map_err(|error| cannot_write(path, error))
    }
}

/// Writes a text file at the user's path and replaces its content.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    refuse_device(path)?;
    fs::write(path, text).map_err(|error| cannot_write(path, error))
}

/// Rejects a block device, because a summary must not overwrite a disk.
pub(crate) fn refuse_device(path: &Path) -> Result<(), Failure> {
    if fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_block_device()) {
        let message = format!("will not write text to the block device {}: name a file", path.display());
        return Err(Failure::new(Exit::Refused, anyhow::anyhow!(message)));
    }
    Ok(())
}

fn cannot_write(path: &Path, error: std::io::Error) -> Failure {
    let context = format!("cannot write {}: choose another place", path.display());
    Failure::new(Exit::Record, anyhow::Error::from(error).context(context))
}

/// Prints each line to standard error, which is not read by scripts that parse the output.
pub(crate) fn warn<Line: AsRef<str>>(lines: &[Line]) {
    for line in lines {
        complain(&format!("ioproof: warning: {}", line.as_ref()));
    }
}
