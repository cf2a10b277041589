//! What each of several workloads did beside the others, what it lost to them, and what all did together.

use std::ops::Range;

use plan::{Case, Nanos};
use record::{Provenance, Run};

use crate::figures::{Gap, LatencySummary, RateOf, Subject, WhileAll, alone_in, first_of, grouped};
use crate::gate::{
    Gate, Kind, Of, Quantity, Stated, Statement, Value,
    table::{
        Column, any, bandwidth, below, count, detail, list, nanos, number, rate, seconds, share, subject,
        text, word,
    },
};
use crate::statistics::{Contrast, Difference, Summary, median, whole};

/// One of several workloads that ran at the same time, beside the same workload alone.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct Beside {
    pub concurrent: String,
    pub workload: String,
    pub others: Vec<String>,
    pub counts: RateOf,
    /// Of each repetition with a window; `None` if there is none.
    pub rates: Option<Summary>,
    /// The repetitions in whose window it completed nothing.
    pub without: usize,
    /// Alone, in the same time after its start as the window.
    pub alone: Option<f64>,
    /// From alone to beside. `None` if one of the two has no rate, or one of 0.
    pub difference: Option<Difference>,
    pub share: Option<f64>,
    pub gap: Option<Gap>,
    pub fairness: Option<f64>,
    /// p50 and p99 in nanoseconds, first alone, then beside the others.
    pub latency: [Option<[f64; 2]>; 2],
}

impl Beside {
    /// The result of the test, in words.
    #[must_use]
    pub const fn outcome(&self) -> &'static str {
        match &self.difference {
            Some(difference) => match difference.outcome {
                Contrast::Higher => "more than alone",
                Contrast::Lower => "less than alone",
                Contrast::NotShown => "no difference shown",
                Contrast::TooFew => "too few values",
            },
            None if self.without > 0 => "completed nothing",
            None => "not compared",
        }
    }

    /// `completed nothing in 1 of 5 passes while all ran`: a loss of which no number is told. `None` if it always completed
    /// something.
    #[must_use]
    pub fn starved(&self) -> Option<String> {
        let of = self.rates.filter(|_| self.without > 0)?.n;
        Some(format!("completed nothing in {} of {of} passes while all ran", self.without))
    }

    /// What it loses: 1 − rate beside ÷ rate alone. `None` if no difference is shown, because a number would suggest
    /// one.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        self.difference.filter(|one| one.outcome != Contrast::NotShown).map(|one| -one.change)
    }

    /// `completed nothing in 1 of 5 passes while all ran; longest gap at least 3 s; p50 324 µs, alone 310 µs; p99 2.2 ms,
    /// alone 1.9 ms`.
    fn words(&self) -> String {
        let gap = self.gap.map(|gap| {
            let nanos = Nanos(whole(gap.seconds() * 1e9));
            format!("longest gap {} {nanos}", gap.bound())
        });
        let [alone, beside] = self.latency;
        let of = |place: usize, name: &str| {
            let text = |all: [f64; 2]| Nanos(whole(all[place])).to_string();
            let alone = alone.map_or_else(String::new, |all| format!(", alone {}", text(all)));
            beside.map(|all| format!("{name} {}{alone}", text(all)))
        };
        let all = [self.starved(), gap, of(0, "p50"), of(1, "p99")];
        all.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// The interval of the loss, at the level of the test.
    #[must_use]
    pub fn loss_interval(&self) -> Option<(f64, f64)> {
        self.difference?.interval.map(|(low, high)| (-high, -low))
    }
}

impl Statement for Beside {
    const KIND: Kind = Kind::Beside;
    const OF: Of = Of::Figure;
    const COUNTS: Option<fn(&Self) -> RateOf> = Some(|one| one.counts);
    const CAPTION: &'static str = "Workloads at the same time, each beside the others and alone. Rates are of \
         transfers, without open and close: beside the others in the time while all ran, alone in the same time after \
         the start. Longest gap: the \
         longest time without a completed operation while all ran. Fairness: Jain's index of the rates of its tasks. \
         Latencies are those of whole passes";
    const COLUMNS: &'static [Column<Self>] = &[
        detail(subject(word("concurrent", "concurrent", "The name of the `[[concurrent]]`.", |one| {
            &one.concurrent
        }))),
        subject(word("workload", "workload", "The workload.", |one| &one.workload)),
        detail(subject(list("others", "beside", "The workloads beside it.", |one| one.others.clone()))),
        rate(
            "alone_per_second",
            "alone",
            "Median rate of its transfers alone, in the same time after its start.",
            |one| one.alone,
        ),
        rate("rate_per_second", "beside", "Median rate of its transfers while all ran.", |one| {
            Some(one.rates?.median)
        }),
        detail(rate("low_per_second", "low", "Lower end of the interval of that median.", |one| {
            Some(one.rates?.median_interval?.low)
        })),
        detail(rate("high_per_second", "high", "Upper end of the interval of that median.", |one| {
            Some(one.rates?.median_interval?.high)
        })),
        share("loss", "loses", "1 − rate beside the others ÷ rate alone; where it was told.", Self::loss),
        any(
            "interval",
            "between",
            "Interval of the loss, at the level of the test.",
            Quantity::Interval,
            |one| Value::or_none(one.loss_interval(), |(low, high)| Value::Shares(low, high)),
        ),
        text(
            "outcome_word",
            "result",
            "`less than alone`, `more than alone`, `no difference shown`, `too few values`, `completed nothing` in a \
             repetition while all ran, or `not compared`.",
            |one| one.outcome().to_owned(),
        ),
        share("share", "of all", "Its share of the bytes of all of them while all ran.", |one| one.share),
        number("fairness", "fairness", "Jain's index of the rates of its tasks, in whole passes.", |one| {
            one.fairness
        }),
        below(text(
            "in_words",
            "in words",
            "In how many repetitions it completed nothing, the longest gap and the latencies, in words.",
            Self::words,
        )),
        detail(word(
            "gap_bound",
            "gap",
            "Whether the longest gap is `at least` or `at most` so long.",
            |one| one.gap.map_or("", Gap::bound),
        )),
        detail(seconds(
            "longest_gap",
            "longest gap",
            "The longest time without a completed operation while all ran: whole intervals, else the largest latency.",
            |one| Some(one.gap?.seconds()),
        )),
        detail(nanos("alone_p50_ns", "p50 alone", "Median latency alone.", |one| Some(one.latency[0]?[0]))),
        detail(nanos("p50_ns", "p50", "Median latency beside the others.", |one| Some(one.latency[1]?[0]))),
        detail(nanos("alone_p99_ns", "p99 alone", "p99 of the latency alone.", |one| {
            Some(one.latency[0]?[1])
        })),
        detail(nanos("p99_ns", "p99", "p99 of the latency beside the others.", |one| {
            Some(one.latency[1]?[1])
        })),
        detail(number("p_value", "p", "p of the test of differences, corrected for all of them.", |one| {
            one.difference?.p_value
        })),
        detail(count("repetitions", "n", "Repetitions with a time while all ran.", |one| {
            Some(one.rates.map_or(0, |rates| rates.n as u64))
        })),
    ];

    fn part(&self) -> Option<String> {
        Some(self.concurrent.clone())
    }
}

/// All of several workloads that ran at the same time.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct AllTogether {
    pub concurrent: String,
    pub workloads: Vec<String>,
    /// The length of the window, in seconds, of each repetition that has one.
    pub windows: Option<Summary>,
    /// The sum of bytes per second in the window. `None` if one of them moves no bytes.
    pub rates: Option<Summary>,
    /// The repetitions without a figure, with the reason.
    pub left_out: Vec<String>,
}

impl Statement for AllTogether {
    const KIND: Kind = Kind::Together;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "All of them together, in the time while all ran: from the latest start of \
         transfers to the earliest end. The rate is the sum of their bytes per second";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("concurrent", "concurrent", "The name of the `[[concurrent]]`.", |one| &one.concurrent)),
        subject(list("workloads", "workloads", "The workloads.", |one| one.workloads.clone())),
        bandwidth("rate_per_second", "rate of all", "Median of the sum of their bytes per second.", |one| {
            Some(one.rates?.median)
        }),
        bandwidth("low_per_second", "low", "Lower end of the interval of that median.", |one| {
            Some(one.rates?.median_interval?.low)
        }),
        bandwidth("high_per_second", "high", "Upper end of the interval of that median.", |one| {
            Some(one.rates?.median_interval?.high)
        }),
        seconds("window", "all ran for", "Median of the time while all ran.", |one| {
            Some(one.windows?.median)
        }),
        count("repetitions", "n", "Repetitions with such a time.", |one| {
            Some(one.windows.map_or(0, |all| all.n as u64))
        }),
        below(list("left_out", "without a figure", "Repetitions without such a time, and why.", |one| {
            one.left_out.clone()
        })),
    ];
}

/// All workloads of each `[[concurrent]]` of the run, in the order of the plan. Nothing is stated of imported ones.
pub(crate) fn together(run: &Run, gate: &Gate<'_>) -> (Vec<Stated<Beside>>, Vec<Stated<AllTogether>>) {
    let own = |one: &&Subject<'_>| {
        one.case.is_concurrent(one.figure.phase) && one.figure.provenance != Provenance::Imported
    };
    let name = |one: &&Subject<'_>| one.case.concurrent.as_ref().map(|together| together.name.clone());
    let sets: Vec<Set<'_, '_>> = grouped(gate.subjects.iter().filter(own), name)
        .into_iter()
        .filter_map(|workloads| Set::of(run, gate, workloads))
        .collect();
    let family =
        sets.iter().flat_map(|set| (0..set.workloads.len()).map(move |at| set.is_compared(gate, at)));
    let family = family.filter(|is_compared| *is_compared).count();
    let beside = sets.iter().flat_map(|set| set.beside(gate, family)).collect();
    (beside, sets.iter().map(|set| set.all(gate)).collect())
}

/// The workloads of one `[[concurrent]]`.
struct Set<'b, 'a> {
    name: String,
    workloads: Vec<&'b Subject<'a>>,
    names: Vec<String>,
    /// The same workloads alone.
    alone: Vec<Option<&'b Subject<'a>>>,
    /// The rates of those alone, one for each pass.
    rates_alone: Vec<Vec<f64>>,
    /// For each repetition with a window, what each workload did in it.
    shared: Vec<Vec<&'b WhileAll>>,
    /// The repetitions without a window, with the reason.
    left_out: Vec<String>,
}

impl<'b, 'a> Set<'b, 'a> {
    fn of(run: &Run, gate: &'b Gate<'a>, workloads: Vec<&'b Subject<'a>>) -> Option<Self> {
        let first: &'b Subject<'a> = workloads.first()?;
        let name = first.case.concurrent.as_ref()?.name.clone();
        let alone = |one: &&Subject<'_>| {
            let id = &one.case.concurrent.as_ref()?.alone;
            let is_same =
                |other: &&Subject<'_>| other.case.id == *id && other.figure.phase == one.figure.phase;
            gate.subjects.iter().find(is_same)
        };
        let in_window = |one: &&'b Subject<'a>, repetition: u32| -> Option<&'b WhileAll> {
            let pass = one.figure.counted().find(|pass| pass.repetition == repetition)?;
            pass.while_all.as_ref()?.as_ref().ok()
        };
        let of_all =
            |repetition: u32| workloads.iter().map(|one| in_window(one, repetition)).collect::<Option<_>>();
        let shared: Vec<Vec<&WhileAll>> =
            first.figure.counted().filter_map(|pass| of_all(pass.repetition)).collect();
        let alone: Vec<Option<&Subject<'_>>> = workloads.iter().map(alone).collect();
        let rates_alone = |(place, one): (usize, &Option<&Subject<'_>>)| {
            let (one, window) = one.zip(typical(&shared, place))?;
            let passes = one.figure.counted().map(|pass| &*pass.phase);
            let rates = alone_in(run, &one.case.id, passes, &window);
            Some(rates.iter().map(|rate| one.figure.rate_of().get(rate)).collect())
        };
        Some(Self {
            names: workloads.iter().map(|one| workload(&name, one.case)).collect(),
            rates_alone: alone.iter().enumerate().map(|one| rates_alone(one).unwrap_or_default()).collect(),
            left_out: first.figure.apart(),
            alone,
            name,
            workloads,
            shared,
        })
    }

    /// What the workload at this place did in each window.
    fn within(&self, place: usize) -> impl Iterator<Item = &WhileAll> {
        self.shared.iter().map(move |each| each[place])
    }

    fn rates(&self, place: usize) -> Vec<f64> {
        let counts = self.workloads[place].figure.rate_of();
        self.within(place).map(|one| counts.get(&one.rate)).collect()
    }

    /// Whether a difference from the workload alone could be stated.
    fn is_compared(&self, gate: &Gate<'_>, place: usize) -> bool {
        let is_usable = |one: &Subject<'_>| gate.is_usable(one.index);
        !self.shared.is_empty()
            && is_usable(self.workloads[place])
            && self.alone[place].is_some_and(is_usable)
    }

    /// The sum of bytes per second in each window, if all workloads move bytes.
    fn sums(&self) -> Vec<f64> {
        let move_bytes = self.workloads.iter().all(|one| one.figure.rate_of() == RateOf::Bytes);
        let sum = |each: &Vec<&WhileAll>| each.iter().map(|one| one.rate.bytes_per_second).sum();
        if move_bytes { self.shared.iter().map(sum).collect() } else { Vec::new() }
    }

    fn beside(&self, gate: &Gate<'_>, family: usize) -> Vec<Stated<Beside>> {
        let sums = self.sums();
        let each = |place: usize| {
            let (own, alone) = (self.workloads[place], self.alone[place]);
            let rates = self.rates(place);
            let shares: Vec<f64> = rates.iter().zip(&sums).map(|(rate, sum)| rate / sum).collect();
            let fairness: Vec<f64> = self.within(place).filter_map(|one| one.fairness).collect();
            let rates_alone = &self.rates_alone[place];
            let difference = gate.difference_of(rates_alone, &rates, family);
            let others = self.names.iter().enumerate().filter(|(other, _)| *other != place);
            let value = Beside {
                concurrent: self.name.clone(),
                workload: self.names[place].clone(),
                others: others.map(|(_, name)| name.clone()).collect(),
                counts: own.figure.rate_of(),
                rates: Summary::of(&rates),
                without: rates.iter().filter(|rate| **rate <= 0.0).count(),
                alone: median(rates_alone),
                difference,
                share: median(&shares).filter(|share| share.is_finite()),
                gap: self.within(place).map(|one| one.gap).reduce(Gap::longer),
                fairness: median(&fairness),
                latency: [alone.and_then(latency), latency(own)],
            };
            let inputs: Vec<usize> = [Some(own), alone].into_iter().flatten().map(|one| one.index).collect();
            match difference {
                _ if self.shared.is_empty() => gate.state_apart(inputs, &self.reason(), value),
                Some(difference) => gate.state_difference(inputs, &difference, value),
                None => gate.state_of(inputs, rates.len(), value),
            }
        };
        (0..self.workloads.len()).map(each).collect()
    }

    fn all(&self, gate: &Gate<'_>) -> Stated<AllTogether> {
        let windows: Vec<f64> = self.within(0).map(WhileAll::seconds).collect();
        let value = AllTogether {
            concurrent: self.name.clone(),
            workloads: self.names.clone(),
            windows: Summary::of(&windows),
            rates: Summary::of(&self.sums()),
            left_out: self.left_out.clone(),
        };
        let inputs = self.workloads.iter().map(|one| one.index).collect();
        match self.shared.len() {
            0 => gate.state_apart(inputs, &self.reason(), value),
            n => gate.state_of(inputs, n, value),
        }
    }

    /// Why no repetition has a window.
    fn reason(&self) -> String {
        first_of(&self.left_out).unwrap_or_else(|| "no pass counts".to_owned())
    }
}

/// The name of a case within the workloads `name`: `night:backup-2` is `backup-2`.
fn workload(name: &str, case: &Case) -> String {
    let own = case.group.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
    own.unwrap_or(&case.group).to_owned()
}

/// The time after the start of the workload at `place` that is the window of the repetitions: from the median of their
/// starts to that of their ends.
fn typical(shared: &[Vec<&WhileAll>], place: usize) -> Option<Range<u64>> {
    let of = |end: fn(&WhileAll) -> u64| {
        median(&shared.iter().map(|each| end(each[place]) as f64).collect::<Vec<_>>()).map(whole)
    };
    Some(of(|one| one.window.start)?..of(|one| one.window.end)?)
}

/// p50 and p99 of the most frequent operation.
fn latency(of: &Subject<'_>) -> Option<[f64; 2]> {
    let responses = of.figure.latency.iter().filter(|one| one.measure == plan::Measure::Response);
    let most: &LatencySummary = responses.max_by_key(|one| one.count)?;
    Some([most.get("p50"), most.get("p99")])
}
