//! Keys of rows: the phase of a repetition of a case.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use plan::Phase;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// [`plan::Case::id`]. All rows of a case share the same text, because a long study has millions of rows.
#[derive(Clone, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "equal texts are equal, wherever they stand")]
pub struct CaseId(Arc<str>);

impl PartialEq for CaseId {
    /// Compares the pointers of shared texts first.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Deref for CaseId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for CaseId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for CaseId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for CaseId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for CaseId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&String> for CaseId {
    fn from(text: &String) -> Self {
        Self(text.as_str().into())
    }
}

impl PartialEq<str> for CaseId {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for CaseId {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<String> for CaseId {
    fn eq(&self, other: &String) -> bool {
        *self.0 == **other
    }
}

impl PartialEq<CaseId> for String {
    fn eq(&self, other: &CaseId) -> bool {
        **self == *other.0
    }
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for CaseId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CaseId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Identifies the phase of a repetition of a case that a row belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PhaseKey {
    /// [`plan::Case::id`].
    pub case: CaseId,
    /// The number of the pass, from 0; [`plan::Case::role`] gives its purpose.
    pub repetition: u32,
    /// The phase.
    pub phase: Phase,
}
