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
}

impl<T> Default for Fact<T> {
    fn default() -> Self {
        Self::Unknown(NOT_LOOKED_FOR.to_owned())
    }
}
