//! Which release's output is printed.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What `--compat` may name.
pub(super) const RELEASES: &str = "give 1.9, 3.0, 3.3 or 4.0";

/// A release whose output has a shape of its own. Sources: outputs that were published, and watching 4.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub(super) enum Release {
    /// 1.9.3, before it came with IOR.
    #[serde(rename = "1.9")]
    V1_9,
    /// As it came with IOR 3.0 to 3.2, still calling itself 1.9.3.
    #[serde(rename = "3.0")]
    V3_0,
    /// With IOR 3.3.
    #[serde(rename = "3.3")]
    V3_3,
    /// With IOR 4.0 and 4.1.
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
    /// What it calls itself.
    pub(super) const fn version(self) -> &'static str {
        match self {
            Self::V1_9 | Self::V3_0 => "1.9.3",
            Self::V3_3 => "3.3.0",
            Self::V4_0 => "4.1.0",
        }
    }
}
