//! SHA-256 sums of the files of a record, to be signed. Anybody who edits a record can recompute the sums,
//! but not the signature.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use plan::Plan;
use plan::limits::{SIGNATURE_BYTES, SUMS_BYTES, TABLE_BYTES};
use sha2::{Digest, Sha256};

use crate::RecordError;
use crate::files::directory::{self, RunDirectory};
use crate::files::replacement::replace;
use crate::files::survey::{Survey, tables_in};
use crate::format::{JOURNAL, MANIFEST, PARTS};
use crate::table::tables::TABLES;

/// The file in a run directory that contains the sums.
pub const SUMS: &str = "SHA256SUMS";
/// The file that contains the signature of the sums.
pub const SIGNATURE: &str = "SHA256SUMS.sig";
/// Prefix of the line with the other party's nonce. `sha256sum -c` skips lines that begin with `#`.
const NONCE: &str = "# nonce ";

/// The SHA-256 sum of each file of a record, and the other party's nonce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    /// A nonce that the other party wants to be signed with the record, so that it cannot be replaced by an
    /// older record.
    pub nonce: Option<String>,
    /// The sums, by file name relative to the run directory.
    files: BTreeMap<String, String>,
}

/// How a file of a record differs from the one that was summed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileDifference {
    /// Its contents have changed.
    Changed(String),
    /// It no longer exists.
    Missing(String),
    /// It did not exist.
    Added(String),
}

impl fmt::Display for FileDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(name) => write!(f, "changed: {}", plan::visible(name)),
            Self::Missing(name) => write!(f, "missing: {}", plan::visible(name)),
            Self::Added(name) => write!(f, "added: {}", plan::visible(name)),
        }
    }
}

impl Sums {
    /// Computes the sums of the record in `directory` as it is now. Reports and other files in the
    /// directory are excluded.
    ///
    /// # Errors
    /// Errors if there is no record, or if one of its files cannot be read.
    pub fn of(directory: impl Into<RunDirectory>, nonce: Option<String>) -> Result<Self, RecordError> {
        let directory = &directory.into();
        Survey::of(directory)?;
        let mut all: Vec<_> = TABLES.iter().flat_map(|table| tables_in(directory, table)).collect();
        let single = [MANIFEST, JOURNAL, PARTS].map(|name| directory.join(name));
        all.extend(single.into_iter().filter(|path| directory::is_there(directory, path)));
        if all.is_empty() {
            return Err(RecordError::NotARun { path: directory.path().to_owned() });
        }
        let mut files = BTreeMap::new();
        for path in all {
            let name = path.strip_prefix(directory.path()).unwrap_or(&path).to_string_lossy().into_owned();
            let sum = sum_of(directory, &path).map_err(RecordError::io("read", &path))?;
            files.insert(name, sum);
        }
        Ok(Self { nonce, files })
    }

    /// Reads the sums that were written when the record in `directory` was signed, or returns `None` if
    /// it was not signed.
    ///
    /// # Errors
    /// Errors if they cannot be read.
    pub fn read(directory: impl Into<RunDirectory>) -> Result<Option<Self>, RecordError> {
        let directory = &directory.into();
        let (sums, signature) = (directory.join(SUMS), directory.join(SIGNATURE));
        if !directory::is_there(directory, &sums) || !directory::is_there(directory, &signature) {
            return Ok(None);
        }
        // Another program will read the signature by this name.
        directory::read(directory, &signature, SIGNATURE_BYTES)
            .map_err(RecordError::io("read", &signature))?;
        let bytes = directory::read(directory, &sums, SUMS_BYTES).map_err(RecordError::io("read", &sums))?;
        let text = String::from_utf8(bytes).ok();
        text.as_deref().and_then(Self::parse).map(Some).ok_or_else(|| {
            let source = io::Error::new(io::ErrorKind::InvalidData, "it is not a list of checksums");
            RecordError::io("read", &sums)(source)
        })
    }

    /// Parses the output of [`Display`](fmt::Display), and nothing else.
    fn parse(text: &str) -> Option<Self> {
        let mut sums = Self { nonce: None, files: BTreeMap::new() };
        for line in text.lines() {
            if let Some(nonce) = line.strip_prefix(NONCE) {
                sums.nonce = Some(nonce.to_owned());
            } else {
                let (sum, name) = line.split_once("  ")?;
                sums.files.insert(name.to_owned(), sum.to_owned());
            }
        }
        (sums.to_string() == text && !sums.files.is_empty()).then_some(sums)
    }

    /// SHA-256 of all sums, in hexadecimal digits: it changes if a file of the record does.
    #[must_use]
    pub fn sha256(&self) -> String {
        sha256(self.to_string().as_bytes())
    }

    /// Writes the sums to the record in `directory`. An existing signature is for other sums and is
    /// removed.
    ///
    /// # Errors
    /// Errors if the directory cannot be written.
    pub fn write(&self, directory: &RunDirectory) -> Result<(), RecordError> {
        remove(directory)?;
        replace(directory, SUMS, self.to_string().as_bytes(), true)
    }

    /// Writes the signature next to the sums.
    ///
    /// # Errors
    /// Errors if the directory cannot be written.
    pub fn write_signature(directory: &RunDirectory, signature: &[u8]) -> Result<(), RecordError> {
        replace(directory, SIGNATURE, signature, true)
    }

    /// How the files differ `now`, ordered by name.
    #[must_use]
    pub fn differences(&self, now: &Self) -> Vec<FileDifference> {
        let gone = |(name, sum): (&String, &String)| match now.files.get(name) {
            Some(other) if other == sum => None,
            Some(_) => Some(FileDifference::Changed(name.clone())),
            None => Some(FileDifference::Missing(name.clone())),
        };
        let new = now.files.keys().filter(|name| !self.files.contains_key(*name));
        self.files.iter().filter_map(gone).chain(new.cloned().map(FileDifference::Added)).collect()
    }

    /// The files in `directory` that no list of checksums covers: reports, and whatever else was added.
    ///
    /// # Errors
    /// Errors if the directory cannot be read.
    pub fn others(directory: impl Into<RunDirectory>) -> Result<Vec<String>, RecordError> {
        let directory = &directory.into();
        let covered = Self::of(directory, None)?.files;
        let is_other = |name: &String| !covered.contains_key(name) && name != SUMS && name != SIGNATURE;
        let all = directory::all_files(directory).map_err(RecordError::io("read", directory.path()))?;
        Ok(all.into_iter().filter(is_other).collect())
    }

    /// The number of files.
    #[must_use]
    pub fn count(&self) -> usize {
        self.files.len()
    }
}

/// The format printed and checked by `sha256sum`.
impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(nonce) = &self.nonce {
            writeln!(f, "{NONCE}{nonce}")?;
        }
        self.files.iter().try_for_each(|(name, sum)| writeln!(f, "{sum}  {name}"))
    }
}

/// The SHA-256 sum of the compact JSON of `plan`, as computed by `jq -cj .plan manifest.json |
/// sha256sum`.
#[must_use]
pub fn plan_sha256(plan: &Plan) -> String {
    sha256(&serde_json::to_vec(plan).unwrap_or_default())
}

/// The SHA-256 sum of `bytes` in hexadecimal digits.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    plan::hex(&Sha256::digest(bytes))
}

/// Removes the sums of the record in `directory`, and their signature, because the record is about to
/// change.
pub(crate) fn remove(directory: &RunDirectory) -> Result<(), RecordError> {
    [SIGNATURE, SUMS].iter().try_for_each(|name| directory.remove(name))
}

fn sum_of(directory: &RunDirectory, path: &Path) -> io::Result<String> {
    let file = directory::open(directory, path)?;
    if file.metadata()?.len() > TABLE_BYTES {
        let what =
            format!("it has more than {}, the maximum for a file of a record", plan::Bytes(TABLE_BYTES));
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let mut file = file.take(TABLE_BYTES);
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(plan::hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FileDifference, Sums};

    fn sums(nonce: Option<&str>, files: &[(&str, &str)]) -> Sums {
        let files = files.iter().map(|(name, sum)| ((*name).to_owned(), (*sum).to_owned()));
        Sums { nonce: nonce.map(str::to_owned), files: files.collect() }
    }

    #[test]
    fn each_kind_of_difference_is_told() {
        let before = sums(None, &[("a", "1"), ("b", "2"), ("c", "3")]);
        let now = sums(None, &[("a", "1"), ("b", "9"), ("d", "4")]);
        assert_eq!(
            before.differences(&now),
            [
                FileDifference::Changed("b".to_owned()),
                FileDifference::Missing("c".to_owned()),
                FileDifference::Added("d".to_owned())
            ]
        );
        assert!(before.differences(&before).is_empty());
    }

    #[test]
    fn text_that_is_not_as_it_is_written_is_no_list() {
        let text =
            sums(Some("2026-11"), &[("manifest.json", "ab"), ("phases/000001.parquet", "cd")]).to_string();
        assert_eq!(text, "# nonce 2026-11\nab  manifest.json\ncd  phases/000001.parquet\n");
        assert!(Sums::parse(&text).is_some());
        for other in ["", "# nonce x\n", "ab manifest.json\n", "cd  b\nab  a\n", "ab  a\nab  a\n", "ab  a"] {
            assert_eq!(Sums::parse(other), None, "{other:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            nonce in proptest::option::of("[!-~]{1,20}"),
            files in proptest::collection::btree_map("[a-z]{1,6}/[0-9]{6}.parquet", "[0-9a-f]{64}", 1..5),
        ) {
            let sums = Sums { nonce, files };
            prop_assert_eq!(Sums::parse(&sums.to_string()), Some(sums));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".*") {
            let _ = Sums::parse(&text);
        }
    }
}
