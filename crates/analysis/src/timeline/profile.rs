//! Bytes per second over time, of all spaces together and of each.

use std::collections::BTreeMap;

use plan::JobSpace;
use record::SpaceRow;

use crate::gate::Kind;
use crate::headline::RateOf;
use crate::table::{Column, Of, Statement, Value};
use crate::{Regression, Summary};

/// Share of the active seconds that the start level is the median of.
pub const START_SHARE: f64 = 0.10;
/// Share of the active seconds that the peak is the mean of.
pub const PEAK_SHARE: f64 = 0.05;
/// With fewer seconds between start and peak nothing climbs.
pub const CLIMB_SECONDS_MIN: usize = 3;
/// An interval shorter than this share of the one before it is the rest of a phase.
const REST_SHARE: f64 = 0.25;
/// A day of empty seconds in a row is a damaged record, not a stall.
const GAPS_MAX: u64 = 86_400;

/// What jobs moved over time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profile {
    /// In the order of time, without gaps.
    pub seconds: Vec<ProfileSecond>,
    /// Start, climb, peak and end; none where nothing was moved.
    pub levels: Option<Levels>,
}

/// What all jobs moved in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProfileSecond {
    /// The interval starts this long after the phase's common start.
    pub start_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Bytes read from each space, in the order of [`JobSpace::ALL`].
    pub read_bytes: [u64; 3],
    /// Bytes written to each.
    pub write_bytes: [u64; 3],
}

impl ProfileSecond {
    /// Bytes of all spaces in either direction.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read_bytes.iter().chain(&self.write_bytes).sum()
    }

    /// The same for each second.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { self.bytes() as f64 / self.length_ns as f64 * 1e9 }
    }

    /// The middle of the interval, in seconds since the phase's start.
    #[must_use]
    pub fn at_seconds(&self) -> f64 {
        (self.start_ns as f64 + self.length_ns as f64 / 2.0) / 1e9
    }

    const fn end_ns(&self) -> u64 {
        self.start_ns + self.length_ns
    }
}

/// The named levels of a profile, after the published words "jumps to", "climbs steadily to", "achieves a peak of …
/// before declining again". All are of reads and writes of all spaces together.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Median of the first 10 % ([`START_SHARE`]) of the active intervals.
    pub start: Level,
    /// Between start and peak; none with fewer than [`CLIMB_SECONDS_MIN`] intervals there.
    pub climb: Option<Climb>,
    /// The highest mean over as many intervals in a row as are 5 % ([`PEAK_SHARE`]) of the active ones.
    pub peak: Level,
    /// Median of the last 10 % of the active intervals.
    pub end: Level,
    /// All bytes ÷ the time from the first to the last active interval.
    pub mean_bytes_per_second: f64,
}

const fn rate(bytes_per_second: f64) -> Value {
    Value::Rate(bytes_per_second, RateOf::Bytes)
}

impl Statement for (u32, Levels) {
    const KIND: Kind = Kind::JobProfile;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Throughput over time, reads and writes of all spaces together. Start and end: medians of the \
                                   first and last 10 % of the seconds in which anything was moved. Peak: highest mean over \
                                   5 % of them in a row. Climbs to: the end of the line of least squares between";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::count("pass", |one: &Self| Some(one.0.into()), "Its number, from 0.").subject(),
        Column::rate("start", |one: &Self| rate(one.1.start.bytes_per_second), "At the start."),
        Column::rate(
            "climb",
            |one: &Self| Value::or_none(one.1.climb, |climb| rate(climb.bytes_per_second)),
            "The line between start and peak at its end; nothing with fewer than 3 s between them.",
        )
        .headed("climbs to"),
        Column::number(
            "slope",
            |one: &Self| Some(one.1.climb?.slope),
            "Bytes per second that each second adds to it.",
        )
        .detail(),
        Column::number("r_squared", |one: &Self| Some(one.1.climb?.r_squared), "R² of the line.")
            .headed("R²"),
        Column::rate("peak", |one: &Self| rate(one.1.peak.bytes_per_second), "At the peak."),
        Column::seconds("peak_at", |one: &Self| Some(one.1.peak.from_seconds), "When it begins.")
            .headed("from"),
        Column::rate("end", |one: &Self| rate(one.1.end.bytes_per_second), "At the end."),
        Column::rate(
            "mean",
            |one: &Self| rate(one.1.mean_bytes_per_second),
            "All bytes ÷ the time from the first to the last.",
        ),
    ];
}

/// A rate that was kept for some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// In seconds since the phase's start.
    pub from_seconds: f64,
    /// Its end.
    pub to_seconds: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
}

/// The line of least squares between start and peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Climb {
    /// Where the line begins, in seconds since the phase's start.
    pub from_seconds: f64,
    /// Where it ends: before the peak.
    pub to_seconds: f64,
    /// The line at its begin.
    pub from_bytes_per_second: f64,
    /// The line at its end: what it climbs to.
    pub bytes_per_second: f64,
    /// Bytes per second that each second adds; below 0 where it falls.
    pub slope: f64,
    /// Share of the variance that the line explains.
    pub r_squared: f64,
}

/// The profile of `rows`, which are of one pass.
#[must_use]
pub fn profile<'a>(rows: impl Iterator<Item = &'a SpaceRow>) -> Profile {
    let mut at: BTreeMap<u64, ProfileSecond> = BTreeMap::new();
    for row in rows.filter(|row| row.length_ns > 0) {
        let Some(space) = JobSpace::ALL.iter().position(|space| space.name() == row.space) else { continue };
        let second = at.entry(row.start_ns).or_default();
        second.start_ns = row.start_ns;
        second.length_ns = second.length_ns.max(row.length_ns);
        second.read_bytes[space] += row.read_bytes;
        second.write_bytes[space] += row.write_bytes;
    }
    let mut seconds: Vec<ProfileSecond> = Vec::with_capacity(at.len());
    for second in at.into_values() {
        let Some(last) = seconds.last_mut() else {
            seconds.push(second);
            continue;
        };
        let is_rest = (second.length_ns as f64) < last.length_ns as f64 * REST_SHARE;
        if is_rest && last.end_ns() == second.start_ns {
            join(last, &second);
            continue;
        }
        let (mut start_ns, length_ns) = (last.end_ns(), second.length_ns);
        for _ in 0..(second.start_ns.saturating_sub(start_ns) / length_ns).min(GAPS_MAX) {
            seconds.push(ProfileSecond { start_ns, length_ns, ..ProfileSecond::default() });
            start_ns += length_ns;
        }
        seconds.push(second);
    }
    Profile { levels: levels(&seconds), seconds }
}

fn join(one: &mut ProfileSecond, rest: &ProfileSecond) {
    one.length_ns += rest.length_ns;
    for space in 0..one.read_bytes.len() {
        one.read_bytes[space] += rest.read_bytes[space];
        one.write_bytes[space] += rest.write_bytes[space];
    }
}

/// The levels of `seconds`, which stand in the order of time; none where nothing was moved.
#[must_use]
pub fn levels(seconds: &[ProfileSecond]) -> Option<Levels> {
    let active: Vec<&ProfileSecond> = seconds.iter().filter(|one| one.bytes() > 0).collect();
    let (first, last) = (active.first()?, active.last()?);
    let ends = count(START_SHARE, active.len());
    let (start, end) = (median(&active[..ends])?, median(&active[active.len() - ends..])?);
    // Idle intervals between active ones count: a stall is part of a mean.
    let span: Vec<&ProfileSecond> = seconds
        .iter()
        .filter(|one| one.start_ns >= first.start_ns && one.start_ns <= last.start_ns)
        .collect();
    let windows = span.windows(count(PEAK_SHARE, active.len()));
    let peak = windows
        .map(mean)
        .reduce(|best, one| if one.bytes_per_second > best.bytes_per_second { one } else { best })?;
    Some(Levels {
        climb: climb(&span, start.to_seconds, peak.from_seconds),
        start,
        peak,
        end,
        mean_bytes_per_second: mean(&span).bytes_per_second,
    })
}

/// A share of `n`, at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a count is between 0 and the count"
)]
fn count(share: f64, n: usize) -> usize {
    ((share * n as f64).ceil() as usize).clamp(1, n.max(1))
}

fn level(of: &[&ProfileSecond], bytes_per_second: f64) -> Level {
    let from = of.first().map_or(0, |one| one.start_ns);
    let to = of.last().map_or(0, |one| one.end_ns());
    Level { from_seconds: from as f64 / 1e9, to_seconds: to as f64 / 1e9, bytes_per_second }
}

fn median(of: &[&ProfileSecond]) -> Option<Level> {
    let rates: Vec<f64> = of.iter().map(|one| one.bytes_per_second()).collect();
    Some(level(of, Summary::of(&rates)?.median))
}

/// All bytes ÷ all time.
fn mean(of: &[&ProfileSecond]) -> Level {
    let bytes: f64 = of.iter().map(|one| one.bytes() as f64).sum();
    let nanos: f64 = of.iter().map(|one| one.length_ns as f64).sum();
    level(of, if nanos > 0.0 { bytes / nanos * 1e9 } else { 0.0 })
}

fn climb(span: &[&ProfileSecond], from: f64, to: f64) -> Option<Climb> {
    let between: Vec<&&ProfileSecond> =
        span.iter().filter(|one| one.at_seconds() > from && one.at_seconds() < to).collect();
    if between.len() < CLIMB_SECONDS_MIN {
        return None;
    }
    let x: Vec<f64> = between.iter().map(|one| one.at_seconds()).collect();
    let y: Vec<f64> = between.iter().map(|one| one.bytes_per_second()).collect();
    let line = Regression::of(&x, &y)?;
    let at = |x: f64| line.slope * x + line.intercept;
    Some(Climb {
        from_seconds: from,
        to_seconds: to,
        from_bytes_per_second: at(from).max(0.0),
        bytes_per_second: at(to).max(0.0),
        slope: line.slope,
        r_squared: line.r_squared,
    })
}
