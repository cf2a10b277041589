//! Pages of comparisons, and curves, by noise of many kinds: how often something is told of storage that does not
//! differ, and how large a difference has to be to be told.

use std::fmt::Write as _;

use analysis::statistics::{DIFFERENCE_LEAST, Family, Model, Sample, Summary, difference, lack_of_fit};
use analysis::sweeps::sweet_spot;

use super::draw::Random;
use super::{FALSE_MAX, by_chance, percent};

/// Repetitions on each side, or of each point.
const REPETITIONS: [usize; 4] = [3, 5, 6, 10];
/// Comparisons on a page.
pub(crate) const COMPARED: [usize; 3] = [1, 6, 66];
/// Points of a curve.
const POINTS: [usize; 2] = [8, 24];

/// Where a sample stands on its page or curve: how far along (0 to 1), and on which side.
#[derive(Clone, Copy)]
struct At {
    along: f64,
    second: bool,
}

/// The logarithms of the rates of one sample.
type Draw = fn(&mut Random, At, usize) -> Vec<f64>;

/// What limits are to hold for a noise.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Independent repetitions of one mode.
    OneMode,
    /// Independent repetitions of two modes: what is obvious has its condition.
    TwoModes,
    /// Repetitions that are not independent: no rule for independent ones keeps its level.
    Dependent,
}

struct Noise {
    name: &'static str,
    kind: Kind,
    draw: Draw,
}

fn each(random: &mut Random, n: usize, mut of: impl FnMut(&mut Random) -> f64) -> Vec<f64> {
    (0..n).map(|_| of(random)).collect()
}

fn modes(random: &mut Random, n: usize, factor: f64, share: f64) -> Vec<f64> {
    each(random, n, |random| {
        0.005 * random.normal() + if random.uniform() < share { factor.ln() } else { 0.0 }
    })
}

/// Values with this autocorrelation.
fn chain(random: &mut Random, n: usize, autocorrelation: f64) -> Vec<f64> {
    let mut state = random.normal();
    let fresh = (1.0 - autocorrelation * autocorrelation).sqrt();
    each(random, n, |random| {
        let now = 0.02 * state;
        state = autocorrelation * state + fresh * random.normal();
        now
    })
}

const NOISES: [Noise; 18] = [
    Noise {
        name: "2 %",
        kind: Kind::OneMode,
        draw: |random, _, n| each(random, n, |one| 0.02 * one.normal()),
    },
    Noise {
        name: "20 %",
        kind: Kind::OneMode,
        draw: |random, _, n| each(random, n, |one| 0.2 * one.normal()),
    },
    Noise {
        name: "2 %, second side 10 %",
        kind: Kind::OneMode,
        draw: |random, at, n| {
            let noise = if at.second { 0.1 } else { 0.02 };
            each(random, n, |one| noise * one.normal())
        },
    },
    Noise {
        name: "2 %, second side 10 % in half of the figures",
        kind: Kind::OneMode,
        draw: |random, at, n| {
            let noise = if at.second && at.along < 0.5 { 0.1 } else { 0.02 };
            each(random, n, |one| noise * one.normal())
        },
    },
    Noise {
        name: "0.2 to 20 %, growing",
        kind: Kind::OneMode,
        draw: |random, at, n| each(random, n, |one| 0.002 * 100_f64.powf(at.along) * one.normal()),
    },
    Noise {
        name: "2 %, the last 20 %",
        kind: Kind::OneMode,
        draw: |random, at, n| {
            let noise = if at.along >= 1.0 { 0.2 } else { 0.02 };
            each(random, n, |one| noise * one.normal())
        },
    },
    Noise {
        name: "2 %, half 20 %",
        kind: Kind::OneMode,
        draw: |random, at, n| {
            let noise = if at.along < 0.5 { 0.02 } else { 0.2 };
            each(random, n, |one| noise * one.normal())
        },
    },
    Noise {
        // Student's with three degrees of freedom.
        name: "heavy tails, 2 %",
        kind: Kind::OneMode,
        draw: |random, _, n| {
            each(random, n, |one| {
                let squares: f64 = (0..3).map(|_| one.normal().powi(2)).sum();
                0.02 * one.normal() / (squares / 3.0).sqrt()
            })
        },
    },
    Noise {
        name: "skewed (exponential), 5 %",
        kind: Kind::OneMode,
        draw: |random, _, n| each(random, n, |one| 0.05 * (1.0 - one.uniform()).ln()),
    },
    Noise {
        name: "2 %, one in ten half as fast",
        kind: Kind::TwoModes,
        draw: |random, _, n| {
            each(random, n, |one| 0.02 * one.normal() + if one.uniform() < 0.1 { 0.5_f64.ln() } else { 0.0 })
        },
    },
    Noise {
        name: "2 %, in steps of 2 %",
        kind: Kind::OneMode,
        draw: |random, _, n| each(random, n, |one| 0.02 * one.normal().round()),
    },
    Noise { name: "two modes ×1.3", kind: Kind::TwoModes, draw: |random, _, n| modes(random, n, 1.3, 0.5) },
    Noise { name: "two modes ×4", kind: Kind::TwoModes, draw: |random, _, n| modes(random, n, 4.0, 0.5) },
    Noise { name: "two modes ×10", kind: Kind::TwoModes, draw: |random, _, n| modes(random, n, 10.0, 0.5) },
    Noise {
        name: "two modes ×1.3, one in five",
        kind: Kind::TwoModes,
        draw: |random, _, n| modes(random, n, 1.3, 0.2),
    },
    Noise {
        name: "2 %, each half like the one before",
        kind: Kind::Dependent,
        draw: |random, _, n| chain(random, n, 0.5),
    },
    Noise {
        name: "2 %, slower by 1 % each time",
        kind: Kind::Dependent,
        draw: |random, at, n| {
            let first = if at.second { n } else { 0 };
            let mut place = first as f64;
            each(random, n, |one| {
                place += 1.0;
                0.02 * one.normal() - 0.01 * place
            })
        },
    },
    Noise {
        name: "2 %, each side 2 % (runs differ)",
        kind: Kind::Dependent,
        draw: |random, _, n| {
            let of_side = 0.02 * random.normal();
            each(random, n, |one| of_side + 0.02 * one.normal())
        },
    },
];

/// What was told on pages of one noise.
struct Page {
    noise: &'static Noise,
    repetitions: usize,
    compared: usize,
    shown: u64,
    obvious: u64,
}

/// What was told of curves of one noise.
struct Curves {
    noise: &'static Noise,
    points: usize,
    repetitions: usize,
    bent: u64,
    spots: u64,
}

/// Comparisons whose power is counted; pages have as many as are compared.
const POWER_DRAWS: usize = 400;

/// What was told where nothing differs.
pub(crate) struct Pages {
    trials: usize,
    pages: Vec<Page>,
    curves: Vec<Curves>,
}

fn rates(logarithms: &[f64]) -> Vec<f64> {
    logarithms.iter().map(|one| 100.0 * one.exp()).collect()
}

/// Each difference of a page of such samples that is told: whether it is shown, else it is obvious.
fn told(sides: &[Vec<Vec<f64>>; 2]) -> Vec<Option<bool>> {
    let [before, after] = [0, 1].map(|side| sides[side].iter().map(Vec::as_slice).collect::<Vec<_>>());
    let family = Family::of_samples(before.len(), &before, &after);
    let of_pair = |(one, other): (&&[f64], &&[f64])| {
        let found = difference(one, other, family).expect("rates are positive");
        found.is_stated().then(|| found.is_shown())
    };
    before.iter().zip(&after).map(of_pair).collect()
}

fn page(
    noise: &'static Noise,
    repetitions: usize,
    compared: usize,
    trials: usize,
    random: &mut Random,
) -> Page {
    let mut counted = Page { noise, repetitions, compared, shown: 0, obvious: 0 };
    for _ in 0..trials {
        let mut side = |second| {
            let along = |place| place as f64 / (compared - 1).max(1) as f64;
            (0..compared)
                .map(|place| rates(&(noise.draw)(random, At { along: along(place), second }, repetitions)))
                .collect::<Vec<_>>()
        };
        let told = told(&[side(false), side(true)]);
        counted.shown += u64::from(told.contains(&Some(true)));
        counted.obvious += u64::from(told.contains(&Some(false)));
    }
    counted
}

fn curves(
    noise: &'static Noise,
    points: usize,
    repetitions: usize,
    trials: usize,
    random: &mut Random,
) -> Curves {
    let mut counted = Curves { noise, points, repetitions, bent: 0, spots: 0 };
    for _ in 0..trials {
        let mut sample = |place: usize| {
            let at = At { along: place as f64 / (points - 1) as f64, second: false };
            let all = Summary::of(&rates(&(noise.draw)(random, at, repetitions))).expect("values");
            Sample {
                x: (place + 1) as f64,
                y: all.median,
                mean: all.mean,
                repetitions,
                deviation: all.deviation_sample,
            }
        };
        let samples: Vec<Sample> = (0..points).map(&mut sample).collect();
        // What is stated of a curve is stated of one that is not flat.
        let bent = lack_of_fit(&samples, Model::Flat) == Some(true);
        counted.bent += u64::from(bent);
        counted.spots += u64::from(bent && sweet_spot(&samples).is_some());
    }
    counted
}

/// The share of differences of `effect` that are told, on pages of `compared`.
pub(crate) fn power(noise: f64, effect: f64, repetitions: usize, compared: usize, seed: u64) -> f64 {
    let random = &mut Random(seed);
    let (mut found, mut of) = (0, 0);
    while of < POWER_DRAWS {
        let mut side = |factor: f64| {
            let mut sample = || rates(&each(random, repetitions, |one| noise * one.normal() + factor.ln()));
            (0..compared).map(|_| sample()).collect::<Vec<_>>()
        };
        let told = told(&[side(1.0), side(1.0 + effect)]);
        found += told.iter().filter(|one| one.is_some()).count();
        of += told.len();
    }
    found as f64 / of as f64
}

/// Draws this many pages and curves of each noise.
pub(crate) fn pages(trials: usize, seed: u64) -> Pages {
    static ALL: [Noise; NOISES.len()] = NOISES;
    let mut random = Random(seed);
    let (mut pages, mut of_curves) = (Vec::new(), Vec::new());
    for noise in &ALL {
        for repetitions in REPETITIONS {
            pages.extend(COMPARED.map(|compared| page(noise, repetitions, compared, trials, &mut random)));
            of_curves.extend(POINTS.map(|points| curves(noise, points, repetitions, trials, &mut random)));
        }
    }
    Pages { trials, pages, curves: of_curves }
}

impl Page {
    /// Whether what is shown, and what is obvious, keeps its limit.
    fn holds(&self, trials: usize) -> bool {
        let within = |count| by_chance(count, trials as u64, FALSE_MAX);
        let shown = self.noise.kind == Kind::Dependent || within(self.shown);
        shown && (self.noise.kind != Kind::OneMode || within(self.obvious))
    }
}

impl Curves {
    /// Curves of fewer than five repetitions, and of repetitions that depend on each other, have no limit.
    fn holds(&self, trials: usize) -> bool {
        self.noise.kind == Kind::Dependent
            || self.repetitions < DIFFERENCE_LEAST
            || by_chance(self.bent.max(self.spots), trials as u64, FALSE_MAX)
    }
}

impl Pages {
    /// The rows whose limits do not hold.
    pub(crate) fn broken_limits(&self) -> Vec<String> {
        let pages = self.pages.iter().filter(|one| !one.holds(self.trials));
        let curves = self.curves.iter().filter(|one| !one.holds(self.trials));
        let of_page = |one: &Page| {
            format!("page: {}, {} a side, {} comparisons", one.noise.name, one.repetitions, one.compared)
        };
        let of_curve = |one: &Curves| {
            format!("curve: {}, {} repetitions, {} points", one.noise.name, one.repetitions, one.points)
        };
        pages.map(of_page).chain(curves.map(of_curve)).collect()
    }

    /// The tables as contained in `docs/VALIDATION.md`.
    pub(crate) fn markdown(&self) -> String {
        let share = |count: u64| percent(count as f64 / self.trials as f64);
        let mut text = format!("{} pages and curves of each row.\n\n| noise | a side |", self.trials);
        for compared in COMPARED {
            let _ = write!(text, " {compared}: shown, obvious |");
        }
        for points in POINTS {
            let _ = write!(text, " {points} points: not flat, sweet spot |");
        }
        let _ = writeln!(text, "\n|---|---:|{}", "---:|".repeat(COMPARED.len() + POINTS.len()));
        for (pages, curves) in self.pages.chunks(COMPARED.len()).zip(self.curves.chunks(POINTS.len())) {
            let _ = write!(text, "| {} | {} |", pages[0].noise.name, pages[0].repetitions);
            for one in pages {
                let can_show = one.repetitions >= DIFFERENCE_LEAST;
                let shown = if can_show { share(one.shown) } else { "–".to_owned() };
                let _ = write!(text, " {shown}, {} |", share(one.obvious));
            }
            for one in curves {
                let _ = write!(text, " {}, {} |", share(one.bent), share(one.spots));
            }
            text.push('\n');
        }
        text
    }
}
