//! A hash of everything that a layout would execute, so that a user can agree to exactly that.
//!
//! A study often comes from somebody else. Its commands only run after a user has seen them; with the hash,
//! the user can agree without a terminal. It is a SHA-256 hash over
//!
//! - the expanded commands in their order: those that create the layout, check it and destroy it,
//! - the devices: path, size, serial number and world wide name,
//! - the working directory of the user's own lines,
//! - the contents of all regular files named in a command.
//!
//! It does not cover names that only the shell produces (variables, patterns, substitutions), files that a named
//! script reads or calls, and programs found through `PATH`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use plan::layout::{Action, Step};
use sha2::{Digest, Sha256};

use super::ledger::OwnedDevice;

/// Files up to this size are covered by their contents, since scripts and lists are small. For larger files, such
/// as disk images, the size and the modification time are covered.
const CONTENT_BYTES_MAX: u64 = 64 << 20;
/// Characters other than blanks that end a word in a shell line.
const SHELL_OPERATORS: [char; 11] = [';', '&', '|', '<', '>', '(', ')', '=', '`', '{', '}'];

/// A hash of commands, printed as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CommandHash([u8; 32]);

/// Version of the hash input. Change it whenever the format changes.
const VERSION: &str = "ioproof commands 1";

/// Hashes parts with their lengths, so that different lists give different input.
struct LengthPrefixedHash(Sha256);

impl LengthPrefixedHash {
    fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Adds a header part with the kind and number of the parts that follow.
    fn head(&mut self, kind: &str, count: usize) {
        self.add(kind.as_bytes());
        self.add(&(count as u64).to_le_bytes());
    }

    fn path(&mut self, path: &Path) {
        self.add(path.as_os_str().as_bytes());
    }

    fn action(&mut self, action: &Action) {
        let (kind, words): (&str, Vec<&[u8]>) = match action {
            Action::Command(words) => ("command", words.iter().map(String::as_bytes).collect()),
            Action::Shell(line) => ("shell", vec![line.as_bytes()]),
            Action::MakeDirectory(path) => ("make directory", vec![path.as_os_str().as_bytes()]),
            Action::RemoveDirectory(path) => ("remove directory", vec![path.as_os_str().as_bytes()]),
            Action::Wipe(path) => ("wipe", vec![path.as_os_str().as_bytes()]),
        };
        self.head(kind, words.len());
        words.into_iter().for_each(|word| self.add(word));
    }
}

impl CommandHash {
    /// The hash of one layout. Relative names in commands are resolved in `directories`, the first of
    /// which is the working directory.
    pub(super) fn of_layout(
        name: &str,
        devices: &[OwnedDevice],
        steps: &[Step],
        checks: &[Action],
        directories: &[PathBuf],
    ) -> Self {
        let mut parts = LengthPrefixedHash(Sha256::new());
        parts.add(VERSION.as_bytes());
        parts.add(name.as_bytes());
        parts.head("devices", devices.len());
        for (path, bytes, identities) in devices.iter().map(OwnedDevice::identity) {
            parts.path(path);
            parts.head("identities", identities.len());
            parts.add(&bytes.to_le_bytes());
            identities.iter().for_each(|identity| parts.add(identity.as_bytes()));
        }
        parts.head("steps", steps.len());
        for step in steps {
            parts.action(&step.action);
            parts.head("undo", step.undo.len());
            step.undo.iter().for_each(|undo| parts.action(&undo.action));
        }
        parts.head("checks", checks.len());
        checks.iter().for_each(|check| parts.action(check));
        parts.head("directory", directories.len().min(1));
        directories.iter().take(1).for_each(|directory| parts.path(directory));
        let undo = steps.iter().flat_map(|step| &step.undo).map(|undo| &undo.action);
        let actions = steps.iter().map(|step| &step.action).chain(checks).chain(undo);
        let files: BTreeMap<PathBuf, [u8; 32]> =
            actions.flat_map(words).flat_map(|word| files(&word, directories)).collect();
        parts.head("files", files.len());
        for (path, content) in &files {
            parts.path(path);
            parts.add(content);
        }
        Self(parts.0.finalize().into())
    }

    /// The hash of the shell `lines` of something called `name`, which run in this order in `directory`.
    #[must_use]
    pub fn of_lines(name: &str, lines: &[String], directory: &Path) -> Self {
        let checks: Vec<Action> = lines.iter().cloned().map(Action::Shell).collect();
        Self::of_layout(name, &[], &[], &checks, &[directory.to_owned()])
    }

    /// The hash of several layouts together, in this order.
    #[must_use]
    pub fn of_all(hashes: &[Self]) -> Self {
        let all: Vec<u8> = hashes.iter().flat_map(|hash| hash.0).collect();
        Self(Sha256::digest(all).into())
    }
}

impl fmt::Display for CommandHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plan::hex(&self.0))
    }
}

impl fmt::Debug for CommandHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The words of a command that may be file names. For a shell line these are its words without quotes, and the
/// parts of words between operators.
fn words(action: &Action) -> Vec<String> {
    match action {
        Action::Command(words) => words.clone(),
        Action::Shell(line) => {
            let ends = |c: char| SHELL_OPERATORS.contains(&c);
            let quotes = |c: char| c == '\'' || c == '"';
            let mut all = shlex::split(line).unwrap_or_default();
            let bare: Vec<String> = all.iter().flat_map(|word| word.split(ends)).map(str::to_owned).collect();
            // For lines that shlex cannot split, for example with a quote in a comment, and for lines
            // within words.
            let quoted = line.split(quotes);
            let narrow = line.split(|c: char| ends(c) || quotes(c) || c.is_whitespace() || c == '#');
            all.extend(bare.into_iter().chain(quoted.chain(narrow).map(str::to_owned)));
            all
        }
        // Built-in actions.
        Action::MakeDirectory(_) | Action::RemoveDirectory(_) | Action::Wipe(_) => Vec::new(),
    }
}

/// The regular files that `word` names relative to any of `directories`, each with the hash of its content.
fn files(word: &str, directories: &[PathBuf]) -> Vec<(PathBuf, [u8; 32])> {
    // The path is joined to each directory; an absolute path stays as it is.
    let places = directories.iter().map(|directory| directory.join(word));
    let found = places.filter(|place| !word.is_empty() && place.is_file());
    found.map(|place| (place.clone(), content(&place))).collect()
}

/// Hash of the content of `file`. If it is unreadable, the hash of the reason, so that the hash changes
/// when the file becomes readable.
fn content(file: &Path) -> [u8; 32] {
    let read = || -> io::Result<[u8; 32]> {
        let metadata = fs::metadata(file)?;
        let mut hash = Sha256::new();
        if metadata.len() > CONTENT_BYTES_MAX {
            let changed = (metadata.len(), metadata.mtime(), metadata.mtime_nsec(), metadata.ino());
            hash.update(format!("{changed:?}"));
        } else {
            hash.update(fs::read(file)?);
        }
        Ok(hash.finalize().into())
    };
    read().unwrap_or_else(|error| Sha256::digest(error.to_string()).into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use plan::{Layout, Recipe};

    use super::super::ledger::OwnedDevice;
    use super::CommandHash;
    use crate::DeviceNumber;

    fn own(create: &[&str], verify: &[&str], destroy: &[&str]) -> Layout {
        let texts = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        Layout {
            name: "own".to_owned(),
            title: String::new(),
            stands_for: String::new(),
            devices: vec!["/dev/a".to_owned()],
            mount_point: PathBuf::from("/mnt/x"),
            recipe: Recipe::Own { create: texts(create), verify: texts(verify), destroy: texts(destroy) },
        }
    }

    fn hash(layout: &Layout, node: &str, directories: &[PathBuf]) -> String {
        let device = OwnedDevice::new("/dev/a", Path::new(node), DeviceNumber { major: 8, minor: 0 }, 512);
        let nodes = [PathBuf::from(node)];
        let (steps, checks) = (layout.steps(&nodes), layout.checks(&nodes));
        CommandHash::of_layout(&layout.name, &[device], &steps, &checks, directories).to_string()
    }

    #[test]
    fn every_command_their_order_devices_and_directory_count() {
        let at = |directory: &str| [PathBuf::from(directory)];
        let base = hash(&own(&["a", "b"], &["c"], &["d"]), "/dev/a", &at("/nowhere"));
        assert_eq!(base.len(), 64);
        assert_eq!(base, hash(&own(&["a", "b"], &["c"], &["d"]), "/dev/a", &at("/nowhere")), "it is stable");
        let others = [
            hash(&own(&["b", "a"], &["c"], &["d"]), "/dev/a", &at("/nowhere")),
            hash(&own(&["a", "b"], &["C"], &["d"]), "/dev/a", &at("/nowhere")),
            hash(&own(&["a", "b"], &[], &["d"]), "/dev/a", &at("/nowhere")),
            hash(&own(&["a", "b"], &["c"], &["D"]), "/dev/a", &at("/nowhere")),
            hash(&own(&["a b"], &["c"], &["d"]), "/dev/a", &at("/nowhere")),
            hash(&own(&["a", "b"], &["c"], &["d"]), "/dev/b", &at("/nowhere")),
            hash(&own(&["a", "b"], &["c"], &["d"]), "/dev/a", &at("/elsewhere")),
        ];
        for (number, other) in others.iter().enumerate() {
            assert_ne!(*other, base, "change {number} is not covered");
        }
    }

    #[test]
    fn what_a_named_file_holds_counts() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = [PathBuf::from("/"), directory.path().to_owned()];
        let script = directory.path().join("make it.sh");
        let absolute = format!("sh '{}'", script.display());
        let lines = [
            "sh './make it.sh' ;#'",
            "sh -c \"sh 'make it.sh'\"",
            "sh 'make it.sh'",
            "cd /x&&sh \"./make it.sh\";true",
            "FILE='make it.sh' sh x",
            &absolute,
        ];
        for line in lines {
            for layout in [own(&[line], &[], &["d"]), own(&["a"], &[line], &["d"]), own(&["a"], &[], &[line])]
            {
                fs::write(&script, "echo one").expect("a file");
                let one = hash(&layout, "/dev/a", &place);
                fs::write(&script, "echo two").expect("a file");
                assert_ne!(one, hash(&layout, "/dev/a", &place), "{line}");
            }
        }
    }
}
