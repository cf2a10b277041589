//! The tree from which facts are read: that of the system, or plain files in a test.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use plan::limits::{ATTRIBUTE_BYTES, KERNEL_TABLE_BYTES};
use record::Fact;

/// Size of the first read; nearly all attributes are shorter.
const SHORT_ATTRIBUTE_BYTES: usize = 1024;

/// Reads a sysfs attribute. Dozens of them are read before the first transfer, so saving two system calls
/// for each reduces the time by a third.
fn read_attribute(mut file: File) -> io::Result<Vec<u8>> {
    let mut short = [0; SHORT_ATTRIBUTE_BYTES];
    let length = file.read(&mut short)?;
    let mut bytes = short[..length].to_vec();
    if length == SHORT_ATTRIBUTE_BYTES {
        file.take(ATTRIBUTE_BYTES as u64).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads a kernel table, whose length is not known in advance.
fn read_table(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = file.take(KERNEL_TABLE_BYTES + 1).read_to_end(&mut bytes)?;
    if length as u64 > KERNEL_TABLE_BYTES {
        let what = format!("it has more than {}", plan::Bytes(KERNEL_TABLE_BYTES));
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// The prefix of every path that is read; `/` by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    prefix: PathBuf,
}

impl Default for Root {
    fn default() -> Self {
        Self { prefix: PathBuf::from("/") }
    }
}

impl Root {
    /// Creates a root for the tree below `prefix`. Symbolic links in the tree must be relative; otherwise
    /// they lead out of it.
    pub fn new(prefix: impl Into<PathBuf>) -> Self {
        Self { prefix: prefix.into() }
    }

    /// Whether this is the system's own tree, so that the kernel can be asked about its paths.
    #[must_use]
    pub fn is_system(&self) -> bool {
        self.prefix == Path::new("/")
    }

    /// The path of `absolute` under the prefix.
    #[must_use]
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        if self.is_system() {
            return absolute.to_owned();
        }
        self.prefix.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// The path as processes within the tree would name it.
    pub(crate) fn without_prefix(&self, path: &Path) -> Option<PathBuf> {
        if self.is_system() {
            return Some(path.to_owned());
        }
        let prefix = self.prefix.canonicalize().ok()?;
        Some(Path::new("/").join(path.strip_prefix(prefix).ok()?))
    }

    /// Opens a file. If the tree is not the system's own, it may come from somebody else, and a pipe or device in it
    /// could block or be endless.
    pub(crate) fn open(&self, absolute: &str) -> io::Result<File> {
        if self.is_system() {
            return File::open(absolute);
        }
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.path(absolute))?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
        }
    }

    /// The bytes of a file, within the limits of [`plan::limits`].
    ///
    /// # Errors
    /// Errors if it cannot be read or is too large.
    pub(crate) fn bytes(&self, absolute: &str) -> io::Result<Vec<u8>> {
        match absolute.starts_with("/sys/") {
            true => read_attribute(self.open(absolute)?),
            false => self.table(absolute),
        }
    }

    /// Like [`Root::bytes`], for a file that may be long although it is an attribute.
    ///
    /// # Errors
    /// Same as for [`Root::bytes`].
    pub(crate) fn table(&self, absolute: &str) -> io::Result<Vec<u8>> {
        read_table(self.open(absolute)?)
    }

    /// The text of a file, or the reason why it cannot be read. Names in kernel tables may contain any
    /// bytes; those that are not UTF-8 must not make the rest of the table unreadable.
    pub(crate) fn read(&self, absolute: &str) -> Result<String, String> {
        let bytes = self.bytes(absolute);
        match bytes {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => format!("no {absolute}"),
                _ => format!("{absolute}: {error}"),
            }),
        }
    }

    /// The trimmed text of a file as a fact. If the file is empty, the fact is unknown.
    pub(crate) fn text(&self, absolute: &str) -> Fact<String> {
        match self.read(absolute) {
            Ok(text) if text.trim().is_empty() => Fact::Unknown(format!("{absolute} is empty")),
            Ok(text) => Fact::Known(text.trim().to_owned()),
            Err(reason) => Fact::Unknown(reason),
        }
    }

    /// The number in a file as a fact.
    pub(crate) fn number<T: FromStr>(&self, absolute: &str) -> Fact<T> {
        let reason = |text: &str| format!("{absolute} contains {text:?}, not a number in the expected range");
        self.text(absolute).and_then(|text| Fact::of(text.parse().ok(), || reason(&text)))
    }

    /// The sorted names in a directory; empty if it cannot be read.
    pub(crate) fn names(&self, absolute: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(absolute))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether `absolute` exists.
    pub(crate) fn exists(&self, absolute: &str) -> bool {
        self.path(absolute).exists()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use crate::fake::Tree;

    #[test]
    fn a_pipe_or_a_device_in_a_tree_is_refused_before_it_is_read() {
        let tree = Tree::new(&[("/sys/block/vda/size", "8\n")]);
        let place = |name: &str| tree.root().path(format!("/sys/block/vda/{name}"));
        mknodat(CWD, place("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        symlink("/dev/zero", place("zero")).unwrap();
        for name in ["pipe", "zero"] {
            let file = format!("/sys/block/vda/{name}");
            assert_eq!(tree.root().read(&file), Err(format!("{file}: it is not a regular file")));
        }
        assert_eq!(tree.root().read("/sys/block/vda/size").as_deref(), Ok("8\n"));
    }

    #[test]
    fn a_table_without_end_is_refused() {
        let tree = Tree::new(&[("/proc/mounts", "")]);
        let file = File::options().write(true).open(tree.root().path("/proc/mounts")).unwrap();
        file.set_len(1 << 40).unwrap();
        assert_eq!(tree.root().read("/proc/mounts"), Err("/proc/mounts: it has more than 64 MiB".to_owned()));
        // An attribute is cut, as by the kernel.
        let attribute = tree.files(&[("/sys/long", &"x".repeat(1 << 20))]).root().read("/sys/long");
        assert_eq!(attribute.map(|text| text.len()), Ok((64 << 10) + 1024));
    }
}
