//! Many runs: their list, and one figure of them over time.

mod list;
mod over_time;
mod series;

pub use list::RunsList;
pub use over_time::OverTime;
pub(crate) use series::{Point, Series};

/// Wall clock time in UTC to the minute, for tables.
fn minute(unix_ns: i64) -> String {
    in_utc(unix_ns, "%Y-%m-%d %H:%M")
}

/// The same to the millisecond, for an axis of dates.
pub(crate) fn utc(unix_ns: i64) -> String {
    in_utc(unix_ns, "%Y-%m-%d %H:%M:%S.%3f")
}

fn in_utc(unix_ns: i64, form: &str) -> String {
    jiff::Timestamp::from_nanosecond(i128::from(unix_ns))
        .map_or_else(|_| unix_ns.to_string(), |time| time.strftime(form).to_string())
}
