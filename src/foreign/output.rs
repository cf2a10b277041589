//! The output of another tool's command line, and the warnings printed in addition.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print_if_read};

/// Standard output, or a file named on the command line.
pub(crate) struct Output {
    file: Option<(PathBuf, File)>,
    /// Whether the reader of standard output is gone.
    is_unread: bool,
}

impl Output {
    /// Truncates the file, if there is one. A link that the user names is followed, as by the tools; a file that is
    /// `own`, whose name the program chooses, is created anew.
    pub(crate) fn open(file: Option<&Path>, own: bool) -> Result<Self, Failure> {
        let open = |path: &Path| {
            let file = if own { begin_own(path) } else { begin_named(path) }?;
            Ok::<_, Failure>((path.to_owned(), file))
        };
        Ok(Self { file: file.map(open).transpose()?, is_unread: false })
    }

    /// Whether the reader of standard output, for example `head`, is gone.
    pub(crate) const fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Adds `text`.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.file else {
            self.is_unread |= !print_if_read(text)?;
            return Ok(());
        };
        file.write_all(text.as_bytes()).map_err(|error| cannot_write(path, error))
    }
}

/// Writes a text file at the user's path and replaces its content.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    begin_named(path)?.write_all(text.as_bytes()).map_err(|error| cannot_write(path, error))
}

/// Writes a text file whose name the program chooses. It follows no link, because the directory may belong to another
/// user.
pub(crate) fn write_own(path: &Path, text: impl AsRef<[u8]>) -> Result<(), Failure> {
    begin_own(path)?.write_all(text.as_ref()).map_err(|error| cannot_write(path, error))
}

/// Begins a file at the user's path.
fn begin_named(path: &Path) -> Result<File, Failure> {
    refuse_device(path)?;
    let mut options = OpenOptions::new();
    options.append(true).create(true).open(path).and_then(emptied).map_err(|error| cannot_write(path, error))
}

/// Begins a file whose name the program chooses: an empty one, in place of what has the name.
pub(crate) fn begin_own(path: &Path) -> Result<File, Failure> {
    refuse_device(path)?;
    let begin = || {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        OpenOptions::new().append(true).create_new(true).open(path)
    };
    begin().map_err(|error| cannot_write(path, error))
}

/// Empties a regular file; a pipe or a terminal has nothing to empty.
fn emptied(file: File) -> std::io::Result<File> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
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
