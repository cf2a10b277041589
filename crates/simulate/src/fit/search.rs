//! Least squares: finds the times of a station and its number of slots that are closest to the
//! measurement.
//!
//! The sum of squares is that of the logarithms of rates and mean latencies, so that relative errors count equally at
//! each point. For each number of slots and each set of limits, the logarithms of the times are determined with the
//! simplex method (Nelder and Mead, "A Simplex Method for Function Minimization", The Computer Journal 7, 1965). Of
//! these sets the one with the lowest Bayesian information criterion is used (Schwarz, "Estimating the Dimension of a
//! Model", Annals of Statistics 6, 1978), so that a limit is only included if the points require it.

use super::network::{Load, Nodes, Station, rate};

/// Maximum number of steps of the simplex method.
const STEPS_MAX: usize = 150;
/// The method ends when the corners of the simplex differ by less than this share of their sum of
/// squares.
const TOLERANCE: f64 = 1e-7;
/// Minimum uncertainty of a residual: the width of a latency bucket, and effects at the edges of phases.
pub(super) const FLOOR: f64 = 0.003;
/// Numbers of slots up to this one are tried one by one, larger ones in steps of a tenth.
const SLOTS_ONE_BY_ONE: u32 = 64;
/// Sets and numbers of slots whose criterion differs by less than this are equally good (Raftery,
/// "Bayesian Model Selection in Social Research", Sociological Methodology 25, 1995: weak evidence).
pub(super) const AS_GOOD: f64 = 2.0;

/// A point, with the error of the closed form there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Observation {
    pub(super) load: Load,
    /// Logarithms of transfers per nanosecond and of nanoseconds per transfer.
    pub(super) measured: [f64; 2],
    /// Logarithms of simulated ÷ closed form, for both.
    pub(super) correction: [f64; 2],
}

/// Which parts a station has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    /// Whether there is a time for each byte, which needs different transfer sizes.
    pub(super) bytes: bool,
    /// Whether there is a limit of transfers per second, and one of bytes per second.
    pub(super) limits: [bool; 2],
}

impl Parts {
    fn count(self) -> usize {
        1 + [self.bytes, self.limits[0], self.limits[1]].into_iter().filter(|there| *there).count()
    }

    /// The station with these logarithms.
    fn station(self, logarithms: &[f64]) -> Station {
        let mut next = logarithms.iter().map(|value| value.exp());
        let mut take = |there: bool| if there { next.next().unwrap_or(0.0) } else { 0.0 };
        Station {
            time_ns: take(true),
            per_byte_ns: take(self.bytes),
            limit_ns: take(self.limits[0]),
            limit_per_byte_ns: take(self.limits[1]),
        }
    }

    fn logarithms(self, station: &Station) -> Vec<f64> {
        let all = [
            (true, station.time_ns),
            (self.bytes, station.per_byte_ns),
            (self.limits[0], station.limit_ns),
            (self.limits[1], station.limit_per_byte_ns),
        ];
        all.into_iter().filter(|(there, _)| *there).map(|(_, value)| value.max(1e-6).ln()).collect()
    }
}

/// Whether there is a rate limit in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    No,
    /// If the information criterion favours it.
    Perhaps,
    Yes,
}

/// The best station for a number of slots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Solution {
    pub(super) parts: Parts,
    pub(super) station: Station,
    /// Sum of the squares of logarithms.
    pub(super) squares: f64,
    /// The information criterion; lower is better.
    criterion: f64,
}

/// The points of one direction.
pub(super) struct Measured<'a> {
    pub(super) observations: &'a [Observation],
    /// Squared coefficient of variation of the time in a slot.
    pub(super) variation: f64,
}

/// A solution with the same number of slots for all directions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Joint {
    pub(super) slots: u32,
    /// The range of numbers of slots that fit equally well.
    pub(super) as_good: [u32; 2],
    /// The solutions, in the order of the directions.
    pub(super) solutions: Vec<Solution>,
}

impl Joint {
    /// The parts of each direction.
    pub(super) fn parts(&self) -> Vec<Parts> {
        self.solutions.iter().map(|one| one.parts).collect()
    }

    /// Whether there is a rate limit in any direction.
    pub(super) fn has_limit(&self) -> bool {
        self.solutions.iter().any(|one| one.parts.limits != [false, false])
    }
}

/// Logarithms of the rate and of the latency, including the correction for the point.
pub(super) fn predicted(
    nodes: &Nodes,
    station: &Station,
    slots: u32,
    variation: f64,
    at: &Observation,
) -> [f64; 2] {
    let rate = rate(nodes, station, slots, variation, at.load);
    let latency = f64::from(at.load.in_flight()) / rate;
    [rate.ln() + at.correction[0], latency.ln() + at.correction[1]]
}

/// The numbers of slots to try for up to `in_flight` transfers.
fn slots_tried(in_flight: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (1..=in_flight.min(SLOTS_ONE_BY_ONE)).collect();
    let mut next = SLOTS_ONE_BY_ONE + 1;
    while next < in_flight {
        all.push(next);
        next += (next / 10).max(1);
    }
    if all.last() != Some(&in_flight) {
        all.push(in_flight);
    }
    all
}

/// The best number of slots with its stations, using only the closed form.
pub(super) fn search(nodes: &Nodes, directions: &[Measured<'_>], limited: Limited) -> Option<Joint> {
    let all = directions.iter().flat_map(|one| one.observations);
    let most = all.map(|one| one.load.in_flight()).max()?;
    let tried = slots_tried(most).into_iter().map(|slots| {
        let solutions: Option<Vec<Solution>> =
            directions.iter().map(|one| any_parts(nodes, one, slots, limited)).collect();
        Some((slots, solutions?))
    });
    let tried: Vec<(u32, Vec<Solution>)> = tried.collect::<Option<_>>()?;
    best(tried)
}

/// The best number of slots near that of `from`, with the same parts. The search starts at its times.
pub(super) fn search_near(nodes: &Nodes, directions: &[Measured<'_>], from: &Joint) -> Option<Joint> {
    let mut near: Vec<u32> = vec![from.slots.saturating_sub(1).max(1), from.slots, from.slots + 1];
    near.extend(from.as_good);
    near.sort_unstable();
    near.dedup();
    let tried = near.into_iter().map(|slots| (slots, at_slots(nodes, directions, slots, &from.solutions)));
    best(tried.collect())
}

/// The stations of `from` for this number of slots. The search starts at its times.
pub(super) fn at_slots(
    nodes: &Nodes,
    directions: &[Measured<'_>],
    slots: u32,
    from: &[Solution],
) -> Vec<Solution> {
    let solution = |(one, was): (&Measured<'_>, &Solution)| {
        minimum(nodes, one, slots, was.parts, &was.parts.logarithms(&was.station), 0.05)
    };
    directions.iter().zip(from).map(solution).collect()
}

/// The information criterion for comparing several explanations of the same points; lower is better.
pub(super) fn criterion(solutions: &[Solution]) -> f64 {
    solutions.iter().map(|one| one.criterion).sum()
}

/// The best of several numbers of slots, or the lowest of those that fit equally well.
fn best(tried: Vec<(u32, Vec<Solution>)>) -> Option<Joint> {
    let least = tried.iter().map(|(_, all)| criterion(all)).min_by(f64::total_cmp)?;
    let within = |more: f64| tried.iter().filter(move |(_, all)| criterion(all) <= least + more);
    let good: Vec<u32> = within(AS_GOOD).map(|(slots, _)| *slots).collect();
    let as_good = [*good.first()?, *good.last()?];
    let (slots, solutions) = within(AS_GOOD / 10.0).next()?.clone();
    Some(Joint { slots, as_good, solutions })
}

/// The set of parts with the lowest criterion.
fn any_parts(nodes: &Nodes, measured: &Measured<'_>, slots: u32, limited: Limited) -> Option<Solution> {
    let first = measured.observations.first()?;
    let bytes = measured.observations.iter().any(|one| one.load.bytes != first.load.bytes);
    let sets: &[[bool; 2]] = match (limited, bytes) {
        (Limited::No, _) => &[[false, false]],
        (Limited::Perhaps, false) => &[[false, false], [true, false]],
        (Limited::Perhaps, true) => &[[false, false], [true, false], [false, true], [true, true]],
        (Limited::Yes, false) => &[[true, false]],
        (Limited::Yes, true) => &[[true, false], [false, true], [true, true]],
    };
    let solutions = sets.iter().map(|limits| {
        let parts = Parts { bytes, limits: *limits };
        let start = parts.logarithms(&guess(nodes, measured.observations, parts));
        minimum(nodes, measured, slots, parts, &start, 0.2)
    });
    solutions.min_by(|a, b| a.criterion.total_cmp(&b.criterion))
}

/// The start of the search: the latency of the points with least in flight, and the highest rates.
fn guess(nodes: &Nodes, observations: &[Observation], parts: Parts) -> Station {
    let least = observations.iter().map(|one| one.load.in_flight()).min().unwrap_or(1);
    let low = || observations.iter().filter(|one| one.load.in_flight() == least);
    let time = |one: &Observation| (one.measured[1].exp() - nodes.request_ns).max(1.0);
    let small = low().min_by_key(|one| one.load.bytes);
    let large = low().max_by_key(|one| one.load.bytes);
    let mut station = Station { time_ns: small.map_or(1.0, time), ..Station::default() };
    if let (true, Some(small), Some(large)) = (parts.bytes, small, large) {
        let more = (large.load.bytes - small.load.bytes).max(1) as f64;
        station.per_byte_ns = ((time(large) - time(small)) / more).max(station.time_ns * 1e-6);
        station.time_ns -= station.per_byte_ns * small.load.bytes as f64;
        station.time_ns = station.time_ns.max(time(small) * 0.01);
    }
    let highest = |of: &dyn Fn(&Observation) -> f64| observations.iter().map(of).fold(0.0, f64::max);
    if parts.limits[0] {
        station.limit_ns = 1.0 / highest(&|one| one.measured[0].exp());
    }
    if parts.limits[1] {
        station.limit_per_byte_ns = 1.0 / highest(&|one| one.measured[0].exp() * one.load.bytes as f64);
    }
    if parts.limits != [false, false] {
        // The limit is part of the latency.
        let pause = small.map_or(0.0, |one| station.pause_ns(one.load.bytes));
        station.time_ns = (station.time_ns - pause).max(station.time_ns * 0.05);
    }
    station
}

/// The least-squares solution for these parts, starting at `start`.
fn minimum(
    nodes: &Nodes,
    measured: &Measured<'_>,
    slots: u32,
    parts: Parts,
    start: &[f64],
    step: f64,
) -> Solution {
    let squares = |logarithms: &[f64]| {
        let station = parts.station(logarithms);
        let residuals = measured.observations.iter().flat_map(|one| {
            let predicted = predicted(nodes, &station, slots, measured.variation, one);
            [one.measured[0] - predicted[0], one.measured[1] - predicted[1]]
        });
        residuals.map(|residual| residual * residual).sum::<f64>()
    };
    let (logarithms, squares) = simplex(start, step, squares);
    Solution { parts, station: parts.station(&logarithms), squares: 0.0, criterion: 0.0 }
        .with(squares, measured.observations.len())
}

impl Solution {
    /// The solution with these squares over `points` points, each of which has a rate and a latency.
    pub(super) fn with(self, squares: f64, points: usize) -> Self {
        let n = (2 * points) as f64;
        let criterion = n * (squares / n + FLOOR * FLOOR).ln() + self.parts.count() as f64 * n.ln();
        Self { squares, criterion, ..self }
    }
}

/// The position and value of the minimum that the simplex method finds from `start`.
fn simplex(start: &[f64], step: f64, value: impl Fn(&[f64]) -> f64) -> (Vec<f64>, f64) {
    let size = start.len();
    let at = |place: Vec<f64>| {
        let found = value(&place);
        (place, if found.is_finite() { found } else { f64::MAX })
    };
    let mut corners: Vec<(Vec<f64>, f64)> = vec![at(start.to_vec())];
    for index in 0..size {
        let mut place = start.to_vec();
        place[index] += step;
        corners.push(at(place));
    }
    for _ in 0..STEPS_MAX {
        corners.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (least, most) = (corners[0].1, corners[size].1);
        if most - least <= TOLERANCE * (most.abs() + FLOOR * FLOOR) {
            break;
        }
        let middle: Vec<f64> = (0..size)
            .map(|index| corners[..size].iter().map(|(place, _)| place[index]).sum::<f64>() / size as f64)
            .collect();
        let along = |share: f64| {
            let worst = &corners[size].0;
            at(middle.iter().zip(worst).map(|(middle, worst)| middle + share * (middle - worst)).collect())
        };
        let reflected = along(1.0);
        let better = if reflected.1 < least {
            let expanded = along(2.0);
            Some(if expanded.1 < reflected.1 { expanded } else { reflected })
        } else if reflected.1 < corners[size - 1].1 {
            Some(reflected)
        } else {
            let contracted = along(if reflected.1 < most { 0.5 } else { -0.5 });
            (contracted.1 < most.min(reflected.1)).then_some(contracted)
        };
        match better {
            Some(corner) => corners[size] = corner,
            None => {
                let best = corners[0].0.clone();
                for corner in &mut corners[1..] {
                    let place = corner.0.iter().zip(&best).map(|(place, best)| best + 0.5 * (place - best));
                    *corner = at(place.collect());
                }
            }
        }
    }
    corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    corners.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::{Limited, Measured, Observation, search, simplex};
    use crate::fit::network::{Load, Nodes, Station, rate};

    #[test]
    fn the_simplex_finds_the_lowest_place() {
        let (place, value) =
            simplex(&[0.0, 0.0], 0.5, |at| (at[0] - 3.0).powi(2) + 4.0 * (at[1] + 1.0).powi(2));
        assert!((place[0] - 3.0).abs() < 1e-2 && (place[1] + 1.0).abs() < 1e-2 && value < 1e-3, "{place:?}");
    }

    fn observed(
        nodes: &Nodes,
        station: &Station,
        slots: u32,
        variation: f64,
        loads: &[Load],
    ) -> Vec<Observation> {
        let of = |load: &Load| {
            let rate = rate(nodes, station, slots, variation, *load);
            let latency = f64::from(load.in_flight()) / rate;
            Observation { load: *load, measured: [rate.ln(), latency.ln()], correction: [0.0; 2] }
        };
        loads.iter().map(of).collect()
    }

    #[test]
    fn exact_points_give_back_slots_and_times() {
        let nodes = Nodes { request_ns: 4_000.0, processors: 8 };
        let depths: Vec<Load> =
            (0..7).map(|power| Load { tasks: 4, depth: 1 << power, bytes: 4096 }).collect();
        for (slots, variation) in [(6, 0.0), (13, 0.0), (9, 1.0), (24, 0.4)] {
            let station = Station { time_ns: 90_000.0, ..Station::default() };
            let observations = observed(&nodes, &station, slots, variation, &depths);
            let measured = Measured { observations: &observations, variation };
            let found = search(&nodes, &[measured], Limited::Perhaps).expect("points");
            assert_eq!(found.slots, slots);
            let time = found.solutions[0].station.time_ns;
            assert!((time / 90_000.0 - 1.0).abs() < 0.01, "{slots} {variation}: {time}");
            assert!(!found.has_limit(), "{slots} {variation}");
        }
    }

    #[test]
    fn a_limit_below_what_the_slots_give_is_found() {
        let nodes = Nodes { request_ns: 4_000.0, processors: 8 };
        let loads: Vec<Load> = (0..7)
            .flat_map(|power| {
                [4096, 65_536, 1 << 20].map(|bytes| Load { tasks: 1, depth: 1 << power, bytes })
            })
            .collect();
        let station =
            Station { time_ns: 80_000.0, per_byte_ns: 0.5, limit_ns: 9_000.0, limit_per_byte_ns: 0.4 };
        let observations = observed(&nodes, &station, 32, 0.0, &loads);
        let measured = Measured { observations: &observations, variation: 0.0 };
        let found = search(&nodes, &[measured], Limited::Perhaps).expect("points").solutions[0].station;
        for (found, expected) in [
            (found.time_ns, station.time_ns),
            (found.per_byte_ns, station.per_byte_ns),
            (found.limit_ns, station.limit_ns),
            (found.limit_per_byte_ns, station.limit_per_byte_ns),
        ] {
            assert!((found / expected - 1.0).abs() < 0.03, "{found}, expected {expected}");
        }
    }
}
