//! A search through directories, like that of `find(1)`.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Backend, Bytes, PlanError};

/// A search through everything below the targets. Each name that is not a directory is one operation. If
/// size or time are criteria, `stat(2)` is called for each name that matches the pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Find {
    /// The name pattern, in which `*` matches any characters.
    pub matching: String,
    /// Only files of exactly this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Only files that were changed more recently than this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer_than: Option<PathBuf>,
}

impl Find {
    /// Whether size or time are criteria.
    #[must_use]
    pub const fn looks(&self) -> bool {
        self.bytes.is_some() || self.newer_than.is_some()
    }

    /// Whether `name` matches the pattern.
    ///
    /// ```
    /// let find = plan::Find { matching: "*01*".to_owned(), ..plan::Find::default() };
    /// assert!(find.fits(b"file.mdtest.1.2013"));
    /// assert!(!find.fits(b"file.mdtest.1.2031"));
    /// ```
    #[must_use]
    pub fn fits(&self, name: &[u8]) -> bool {
        fits(self.matching.as_bytes(), name)
    }

    pub(crate) fn check(&self, backend: Backend) -> Result<(), PlanError> {
        if !backend.capabilities().trees || backend.is_queued() || !backend.moves_data() {
            let problem = format!("the backend {} cannot search directories", backend.name());
            return Err(PlanError::new("backend", problem, "use psync, or leave it out"));
        }
        if self.matching.is_empty() || self.matching.contains(['/', '?', '[', '\\']) {
            return Err(PlanError::new(
                "matching",
                format!("{:?} is not a pattern that can be searched for", self.matching),
                "give characters of file names, and `*` for any characters, as in \"*01*\"",
            ));
        }
        Ok(())
    }
}

/// Formats the criteria, as in `names like *01*, of 3901 bytes, newer than /r/mark`.
impl fmt::Display for Find {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "names like {}", self.matching)?;
        if let Some(bytes) = self.bytes {
            write!(f, ", of {} bytes", bytes.0)?;
        }
        match &self.newer_than {
            Some(path) => write!(f, ", newer than {}", path.display()),
            None => Ok(()),
        }
    }
}

/// Whether `name` matches `pattern`, in which `*` stands for any characters.
#[must_use]
pub fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let Some(first) = pattern.iter().position(|byte| *byte == b'*') else { return name == pattern };
    let Some(mut rest) = name.strip_prefix(&pattern[..first]) else { return false };
    let mut pieces = pattern[first + 1..].split(|byte| *byte == b'*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match position(rest, piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

/// The position at which `piece` first occurs in `text`.
fn position(text: &[u8], piece: &[u8]) -> Option<usize> {
    if piece.is_empty() {
        return Some(0);
    }
    text.windows(piece.len()).position(|window| window == piece)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, proptest};

    use super::Find;
    use crate::Backend;

    fn fits(pattern: &str, name: &str) -> bool {
        Find { matching: pattern.to_owned(), ..Find::default() }.fits(name.as_bytes())
    }

    /// A reference implementation, one character at a time.
    fn by_definition(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                by_definition(rest, name) || (!name.is_empty() && by_definition(pattern, &name[1..]))
            }
            (Some((one, rest)), Some((other, left))) => one == other && by_definition(rest, left),
            _ => false,
        }
    }

    fn text(characters: &'static str) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(characters.as_bytes()), 0..8)
            .prop_map(|bytes| String::from_utf8(bytes).expect("ASCII"))
    }

    proptest! {
        #[test]
        fn a_star_stands_for_any_characters(pattern in text("ab**"), name in text("ab")) {
            assert_eq!(fits(&pattern, &name), by_definition(pattern.as_bytes(), name.as_bytes()));
        }
    }

    #[test]
    fn patterns_of_other_kinds_are_refused() {
        for pattern in ["", "a?", "[ab]", "a/b"] {
            let find = Find { matching: pattern.to_owned(), ..Find::default() };
            assert_eq!(find.check(Backend::Psync).expect_err(pattern).field, "matching");
        }
    }
}
