//! A fact that was read, or the reason why it is unknown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a fact is not in a record whose program did not look for it.
pub const NOT_LOOKED_FOR: &str = "not looked for";

/// A fact, or why it is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fact<T> {
    /// As read.
    Known(T),
    /// Why it could not be read, as in `no /sys/block/loop0/device/model`.
    Unknown(String),
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }

    /// The value, if there is one; else it is unknown for this reason.
    pub fn of(value: Option<T>, reason: impl FnOnce() -> String) -> Self {
        value.map_or_else(|| Self::Unknown(reason()), Self::Known)
    }

    /// The fact that follows from the value.
    pub fn map<U>(self, follows: impl FnOnce(T) -> U) -> Fact<U> {
        self.and_then(|value| Fact::Known(follows(value)))
    }

    /// What follows from the value, which may be unknown as well.
    pub fn and_then<U>(self, follows: impl FnOnce(T) -> Fact<U>) -> Fact<U> {
        match self {
            Self::Known(value) => follows(value),
            Self::Unknown(reason) => Fact::Unknown(reason),
        }
    }

    /// This fact if it is known, else `other` if that is; else unknown for the reason of this one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.known().is_none() && other.known().is_some() { other } else { self }
    }
}

impl<T> Default for Fact<T> {
    fn default() -> Self {
        Self::Unknown(NOT_LOOKED_FOR.to_owned())
    }
}
