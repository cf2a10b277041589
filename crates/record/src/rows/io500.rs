//! How the results of IO500 stand among the printed values of a record: as labels and statistics of [`PrintedRow`].
//!
//! [`PrintedRow`]: crate::PrintedRow

/// The label of a phase's result that counts for a score.
pub const RESULT: &str = "score";
/// Its statistic, where it counts for the score of the extended mode alone.
pub const EXTENDED: &str = "extended";
/// The label of a reason why a phase is invalid.
pub const INVALID: &str = "invalid";
/// The label of the scores of the standard mode.
pub const SCORE: &str = "SCORE";
/// The same of the extended mode.
pub const SCORE_EXTENDED: &str = "SCOREX";
/// The statistic of a score: of bandwidths, in GiB/s.
pub const BANDWIDTH: &str = "bandwidth";
/// The same of rates, in 1,000 per second.
pub const METADATA: &str = "metadata";
/// The same of both.
pub const TOTAL: &str = "total";
