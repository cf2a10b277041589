//! Times as printed by tools. If no time zone is printed, none is assumed: the time is kept as if it were UTC, and
//! shown without a zone ([`super::super::draft::Draft::zoned`]).

use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// Formats without a time zone.
const LOCAL: [&str; 7] = [
    "%a %b %e %H:%M:%S %Y",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%y %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%d/%m/%y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
];

/// Converts `text`, in any format that a tool prints, to nanoseconds since 1970.
pub(crate) fn moment(text: &str) -> Option<i64> {
    let text = text.trim();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let zoned = words
        .parse::<jiff::Timestamp>()
        .ok()
        .or_else(|| strtime::parse("%Y-%m-%dT%H:%M:%S%.f%z", &words).ok()?.to_timestamp().ok());
    if let Some(time) = zoned {
        return i64::try_from(time.as_nanosecond()).ok();
    }
    LOCAL.iter().find_map(|shape| unix_ns(DateTime::strptime(shape, &words).ok()?))
}

fn unix_ns(time: DateTime) -> Option<i64> {
    i64::try_from(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_nanosecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::moment;

    #[test]
    fn moments_are_read_in_every_shape_that_a_tool_prints() {
        let zoned = moment("2026-11-21T10:19:20.792+0000").expect("elbencho");
        assert_eq!(zoned, 1_795_256_360_792_000_000);
        for text in [
            "Sat Nov 21 21:34:35 2026",
            "Sat Mar  2 02:17:43 2013",
            "02/28/2017 12:13:13",
            "11/21/26 21:34:45",
            "21/11/2026 21:34:45",
        ] {
            assert!(moment(text).is_some(), "{text}");
        }
        assert_eq!(moment("yesterday"), None);
        // Without a zone, the digits stay as they are printed, whatever the zone of this host is.
        assert_eq!(moment("Sat Nov 21 10:19:20 2026"), moment("2026-11-21T10:19:20.000+0000"));
    }
}
