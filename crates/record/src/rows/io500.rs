//! Labels and statistics of [`PrintedRow`] that represent results of IO500 among the printed values of a record.
//!
//! [`PrintedRow`]: crate::PrintedRow

/// Label of a phase's result that counts for a score.
pub const RESULT: &str = "score";
/// Statistic of such a result if it only counts for the score of the extended mode.
pub const EXTENDED: &str = "extended";
/// Label of a reason why a phase is invalid.
pub const INVALID: &str = "invalid";
/// Label of the scores of the standard mode.
pub const SCORE: &str = "SCORE";
/// Label of the scores of the extended mode.
pub const SCORE_EXTENDED: &str = "SCOREX";
/// Statistic of the bandwidth score, in GiB/s.
pub const BANDWIDTH: &str = "bandwidth";
/// Statistic of the metadata score, in 1,000 operations per second.
pub const METADATA: &str = "metadata";
/// Statistic of the total score.
pub const TOTAL: &str = "total";
