//! The release whose output format is used.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The values that `--compat` accepts.
pub(super) const RELEASES: &str = "give 1.9, 3.0, 3.3 or 4.0";

/// A release with its own output format. Sources: published outputs, and observing 4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(super) enum Release {
    /// 1.9.3, before it was included in IOR.
    #[serde(rename = "1.9")]
    V1_9,
    /// As included in IOR 3.0 to 3.2, where it still calls itself 1.9.3.
    #[serde(rename = "3.0")]
    V3_0,
    /// As included in IOR 3.3.
    #[serde(rename = "3.3")]
    V3_3,
    /// As included in IOR 4.0 and 4.1.
    #[default]
    #[serde(rename = "4.0")]
    V4_0,
}

impl FromStr for Release {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "1.9" => Ok(Self::V1_9),
            "3.0" => Ok(Self::V3_0),
            "3.3" => Ok(Self::V3_3),
            "4.0" => Ok(Self::V4_0),
            _ => Err(()),
        }
    }
}

impl Release {
    /// The version that it prints.
    pub(super) const fn version(self) -> &'static str {
        match self {
            Self::V1_9 | Self::V3_0 => "1.9.3",
            Self::V3_3 => "3.3.0",
            Self::V4_0 => "4.1.0",
        }
    }
}
