//! Bytes per second over time, for all spaces together and for each.

use std::collections::BTreeMap;

use plan::JobSpace;
use record::SpaceRow;

use crate::gate::{
    Kind, Of, Statement,
    table::{Column, bandwidth, count, detail, number, seconds, subject},
};
use crate::statistics::{Regression, Summary, nearest_rank};

/// Share of the active seconds over which the median is taken for the start level.
pub const START_SHARE: f64 = 0.10;
/// Share of the active seconds over which the mean is taken for the peak.
pub const PEAK_SHARE: f64 = 0.05;
/// The minimum number of seconds between start and peak for a climb.
pub const CLIMB_SECONDS_MIN: usize = 3;
/// An interval shorter than this share of the one before it is the end of a phase.
const REST_SHARE: f64 = 0.25;
/// A full day of consecutive empty seconds is a damaged record, not a stall.
const GAPS_MAX: u64 = 86_400;

/// The bytes that all jobs moved in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProfileSecond {
    /// Start of the interval, relative to the phase's common start.
    pub start_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Bytes read and written in each space, in the order of [`JobSpace::ALL`].
    pub of_spaces: [u64; 3],
}

impl ProfileSecond {
    /// Bytes in all spaces and both directions.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.of_spaces.iter().sum()
    }

    /// The same per second.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        if self.length_ns == 0 { 0.0 } else { self.bytes() as f64 / self.length_ns as f64 * 1e9 }
    }

    /// The middle of the interval, in seconds since the start of the phase.
    fn at_seconds(&self) -> f64 {
        (self.start_ns as f64 + self.length_ns as f64 / 2.0) / 1e9
    }

    const fn end_ns(&self) -> u64 {
        self.start_ns + self.length_ns
    }
}

/// The named levels of a profile, after the published wording "jumps to", "climbs steadily to", "achieves a peak of …
/// before declining again". All are for reads and writes of all spaces together.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels {
    /// Median of the first 10 % ([`START_SHARE`]) of the active intervals.
    pub start: Level,
    /// The least-squares line between start and peak, its slope in bytes per second per second, and the share of the
    /// variance that it explains. `None` if there are fewer than [`CLIMB_SECONDS_MIN`] intervals in between.
    pub climb: Option<(Level, f64, f64)>,
    /// The highest mean over consecutive intervals whose number is 5 % ([`PEAK_SHARE`]) of the active ones.
    pub peak: Level,
    /// Median of the last 10 % of the active intervals.
    pub end: Level,
    /// All bytes ÷ the time from the first to the last active interval.
    mean: Level,
}

/// A rate over a period of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Start of the period, in seconds since the start of the phase.
    pub from_seconds: f64,
    /// End of the period.
    pub to_seconds: f64,
    /// Bytes per second at the start.
    pub from_bytes_per_second: f64,
    /// Bytes per second at the end.
    pub bytes_per_second: f64,
}

impl Statement for (u32, Levels) {
    const KIND: Kind = Kind::JobProfile;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Throughput over time, reads and writes of all spaces together. Start and \
                                   end: medians of the first and last 10 % of the seconds in which anything \
                                   was moved. Peak: highest mean over 5 % of them in a row. Climbs to: the \
                                   end of the least-squares line from start to peak";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(count("pass", "pass", "Its number, from 0.", |one| Some(one.0.into()))),
        bandwidth("start", "start", "At the start.", |(_, one)| Some(one.start.bytes_per_second)),
        bandwidth(
            "climb",
            "climbs to",
            "The value of the line from start to peak at its end; empty with fewer than 3 s between them.",
            |(_, one)| Some(one.climb?.0.bytes_per_second),
        ),
        detail(number("slope", "slope", "Bytes per second that each second adds to it.", |(_, one)| {
            Some(one.climb?.1)
        })),
        number("r_squared", "R²", "R² of the line.", |(_, one)| Some(one.climb?.2)),
        bandwidth("peak", "peak", "At the peak.", |(_, one)| Some(one.peak.bytes_per_second)),
        seconds("peak_at", "from", "When it begins.", |(_, one)| Some(one.peak.from_seconds)),
        bandwidth("end", "end", "At the end.", |(_, one)| Some(one.end.bytes_per_second)),
        bandwidth("mean", "mean", "All bytes ÷ the time from the first to the last.", |(_, one)| {
            Some(one.mean.bytes_per_second)
        }),
    ];
}

/// The bytes that all jobs moved in each second of one pass, whose `rows` are given, without gaps.
#[must_use]
pub fn profile(rows: &[&SpaceRow]) -> Vec<ProfileSecond> {
    let mut at: BTreeMap<u64, ProfileSecond> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.length_ns > 0) {
        let Some(space) = JobSpace::ALL.iter().position(|space| space.name() == row.space) else { continue };
        let second = at.entry(row.start_ns).or_default();
        second.start_ns = row.start_ns;
        second.length_ns = second.length_ns.max(row.length_ns);
        second.of_spaces[space] += row.read_bytes + row.write_bytes;
    }
    let mut seconds: Vec<ProfileSecond> = Vec::with_capacity(at.len());
    for second in at.into_values() {
        let length_ns = second.length_ns;
        if let Some(last) = seconds.last_mut() {
            let is_rest = (length_ns as f64) < last.length_ns as f64 * REST_SHARE;
            if is_rest && last.end_ns() == second.start_ns {
                last.length_ns += length_ns;
                last.of_spaces.iter_mut().zip(second.of_spaces).for_each(|(sum, bytes)| *sum += bytes);
                continue;
            }
            let end_ns = last.end_ns();
            let gaps = (second.start_ns.saturating_sub(end_ns) / length_ns).min(GAPS_MAX);
            let empty =
                |gap| ProfileSecond { start_ns: end_ns + gap * length_ns, length_ns, of_spaces: [0; 3] };
            seconds.extend((0..gaps).map(empty));
        }
        seconds.push(second);
    }
    seconds
}

/// The levels of `seconds`, which are in the order of time. Returns `None` if nothing was moved.
#[must_use]
pub fn levels(seconds: &[ProfileSecond]) -> Option<Levels> {
    let is_active = |one: &ProfileSecond| one.bytes() > 0;
    let active: Vec<ProfileSecond> = seconds.iter().copied().filter(is_active).collect();
    let ends = nearest_rank(START_SHARE * 100.0, active.len() as u64);
    // Idle intervals between active ones count: a stall is part of a mean.
    let first = seconds.iter().position(is_active)?;
    let span = &seconds[first..=seconds.iter().rposition(is_active)?];
    let start = median(&active[..ends])?;
    let windows = span.windows(nearest_rank(PEAK_SHARE * 100.0, active.len() as u64)).map(mean);
    let higher =
        |best: Level, one: Level| if one.bytes_per_second > best.bytes_per_second { one } else { best };
    let peak = windows.reduce(higher)?;
    Some(Levels {
        climb: climb(span, start.to_seconds, peak.from_seconds),
        start,
        peak,
        end: median(&active[active.len() - ends..])?,
        mean: mean(span),
    })
}

fn level(of: &[ProfileSecond], bytes_per_second: f64) -> Level {
    let from = of.first().map_or(0, |one| one.start_ns);
    let to = of.last().map_or(0, ProfileSecond::end_ns);
    Level {
        from_seconds: from as f64 / 1e9,
        to_seconds: to as f64 / 1e9,
        from_bytes_per_second: bytes_per_second,
        bytes_per_second,
    }
}

fn median(of: &[ProfileSecond]) -> Option<Level> {
    let rates: Vec<f64> = of.iter().map(ProfileSecond::bytes_per_second).collect();
    Some(level(of, Summary::of(&rates)?.median))
}

/// All bytes ÷ all time.
fn mean(of: &[ProfileSecond]) -> Level {
    let bytes: f64 = of.iter().map(|one| one.bytes() as f64).sum();
    let nanos: f64 = of.iter().map(|one| one.length_ns as f64).sum();
    level(of, if nanos > 0.0 { bytes / nanos * 1e9 } else { 0.0 })
}

fn climb(span: &[ProfileSecond], from: f64, to: f64) -> Option<(Level, f64, f64)> {
    let between = span.iter().filter(|one| one.at_seconds() > from && one.at_seconds() < to);
    let (x, y): (Vec<f64>, Vec<f64>) = between.map(|one| (one.at_seconds(), one.bytes_per_second())).unzip();
    let line = Regression::of(&x, &y).filter(|_| x.len() >= CLIMB_SECONDS_MIN)?;
    let at = |x: f64| (line.slope * x + line.intercept).max(0.0);
    let level = Level {
        from_seconds: from,
        to_seconds: to,
        from_bytes_per_second: at(from),
        bytes_per_second: at(to),
    };
    Some((level, line.slope, line.r_squared))
}
