//! How this program tuned the host for a run.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What this program had set on the host when a run began.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tuning {
    /// The program that wrote the record did not look.
    #[default]
    NotRecorded,
    /// Nothing: all was left at its default, or as others have set it.
    LeftAlone,
    /// Profiles were in force.
    InForce(TuningInForce),
    /// It cannot be told, for this reason.
    Unknown(String),
}

/// Profiles in force, and what they have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TuningInForce {
    /// In the order in which they were applied.
    pub profiles: Vec<AppliedProfile>,
    /// What is changed.
    pub settings: Vec<TunedSetting>,
    /// Whether `host tune` was ended before it had done all.
    pub unfinished: bool,
}

/// A profile, and when it was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedProfile {
    /// As in `storage-benchmark`.
    pub name: String,
    /// Nanoseconds since 1970 (UTC).
    pub at_unix_ns: i64,
}

/// Settings of one kind that were changed alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TunedSetting {
    /// The step of tuning, as in `read-ahead`.
    pub step: String,
    /// The first of them, as in `/sys/block/nvme0n1/queue/read_ahead_kb`.
    pub setting: String,
    /// How many they are.
    pub count: u32,
    /// The value before.
    pub before: String,
    /// The value while the run was made.
    pub after: String,
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRecorded => f.write_str("not recorded"),
            Self::LeftAlone => f.write_str("left at default: no ioproof profile in force"),
            Self::Unknown(reason) => write!(f, "unknown: {reason}"),
            Self::InForce(tuning) => {
                f.write_str("tuned by profile")?;
                for (index, profile) in tuning.profiles.iter().enumerate() {
                    write!(f, "{} {}", if index == 0 { "" } else { "," }, profile.name)?;
                }
                if let Some(last) = tuning.profiles.last() {
                    write!(f, " at {}", time_of(last.at_unix_ns))?;
                }
                if tuning.unfinished { f.write_str(", interrupted") } else { Ok(()) }
            }
        }
    }
}

/// A time in UTC, to the second, as in `2026-11-22 04:20:00 UTC`.
fn time_of(unix_ns: i64) -> String {
    const DAY: i64 = 86_400;
    let seconds = unix_ns.div_euclid(1_000_000_000);
    let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The Gregorian date of a day given in days since 1970-01-01. Years are counted from March on, so that
/// the day added in a leap year is the last day of the year.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    /// Days from 0000-03-01 to 1970-01-01.
    const TO_1970: i64 = 719_468;
    /// Days in 400 years.
    const ERA: i64 = 146_097;
    let shifted = days + TO_1970;
    let (era, of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{AppliedProfile, Tuning, TuningInForce, time_of};

    #[test]
    fn a_time_is_told_in_utc() {
        assert_eq!(time_of(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(time_of(951_782_399_000_000_000), "2000-02-28 23:59:59 UTC");
        assert_eq!(time_of(951_782_400_000_000_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(time_of(1_795_319_999_999_999_999), "2026-11-22 03:59:59 UTC");
    }

    #[test]
    fn a_record_without_the_field_says_that_nobody_looked() {
        assert_eq!(Tuning::default().to_string(), "not recorded");
        let profile = |name: &str| AppliedProfile { name: name.to_owned(), at_unix_ns: 0 };
        let profiles = vec![profile("thp-never"), profile("c1e-off")];
        let tuning = Tuning::InForce(TuningInForce { profiles, settings: Vec::new(), unfinished: false });
        assert_eq!(tuning.to_string(), "tuned by profile thp-never, c1e-off at 1970-01-01 00:00:00 UTC");
    }
}
