//! Compares figures with data sheets and limits.

use std::ops::Range;

use plan::{Amount, Bytes, Expectation, Layer, NodeList, Per, Phase, Plan};

use crate::audit::Use;
use crate::figures::{
    Figure, RepetitionFigure, Subject, bytes_of_one, grouped, in_unit_of, measured, slowest_bound, subjects,
    values,
};
use crate::gate::{
    Gate, Kind, Of, Quantity, Stated, Statement, Value, median_keeps,
    table::{Column, amount, any, below, detail, flag, share, subject, text, word},
};
use crate::statistics::{
    CONFIDENCE, PERCENTILE_LEVEL, bound_least, median, median_bounds, passes_needed, transfers_needed,
};

/// A figure compared with a data sheet or a limit.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct Expected {
    pub figure: usize,
    pub name: String,
    /// The limit for all units together.
    pub amount: Amount,
    /// The number of units; the limit of one × this is the amount.
    pub count: f64,
    pub ratio: f64,
    pub ceiling: bool,
    /// The nodes whose part of the figure is compared, as the study lists them; empty for all.
    pub nodes: String,
    /// Whether the promised latency was met. `None` if the value is promised without a latency, or none was measured.
    pub in_time: Option<bool>,
    /// The meaning of reaching it, if it is the highest grade that was reached; the meaning of missing it, if it is
    /// the easiest grade and none was reached.
    pub reached: Option<String>,
    /// Whether it is undecided if the grade is reached, because the median is too close to it.
    pub open: bool,
    pub source: String,
}

impl Expected {
    /// What was reached, in the unit of the limit.
    #[must_use]
    pub fn measured(&self) -> f64 {
        self.amount.number() * self.ratio
    }

    /// What each of several units reached on average. `None` of one.
    #[must_use]
    pub fn of_each(&self) -> Option<f64> {
        (self.count > 1.0).then(|| self.measured() / self.count)
    }

    /// Whether a grade, or the latency at which the value is promised, is missed.
    fn misses(&self) -> bool {
        let is_on_the_bad_side = match self.amount {
            Amount::Latency { .. } => self.ratio > 1.0,
            _ => self.ratio < 1.0,
        };
        self.in_time == Some(false) || self.reached.is_some() && is_on_the_bad_side
    }
}

impl Expected {
    /// The reason why a grade is left undecided.
    fn why_open(&self) -> String {
        match self.amount {
            Amount::Latency { percent: Some(percent), .. } => {
                let transfers = transfers_needed(percent, PERCENTILE_LEVEL);
                match transfers.zip(passes_needed(percent, f64::INFINITY, 1.0, PERCENTILE_LEVEL)) {
                    Some((transfers, passes)) => format!(
                        "too close to tell, or too little data: p{percent} takes at least {transfers} transfers and \
                         {passes} repetitions"
                    ),
                    None => "no number of transfers shows that none takes longer".to_owned(),
                }
            }
            _ => too_near(),
        }
    }
}

impl Statement for Expected {
    const KIND: Kind = Kind::Expected;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Reached ÷ expected";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("name", "by", "The data sheet or limit.", |one| &one.name)),
        subject(amount("expected", "expected", "For all nodes and devices together, in `unit`.", |one| {
            Value::amount(one.amount, one.amount.number())
        })),
        subject(word("nodes", "nodes", "The nodes whose part is compared; empty for all.", |one| &one.nodes)),
        amount("measured", "reached", "Median, in `unit`.", |one| Value::amount(one.amount, one.measured())),
        amount(
            "each",
            "each",
            "Measured ÷ how many units the limit covers, in `unit`; empty for one.",
            |one| Value::or_none(one.of_each(), |each| Value::amount(one.amount, each)),
        ),
        share("ratio", "ratio", "Measured ÷ expected, also for latencies.", |one| Some(one.ratio)),
        flag("ceiling", "ceiling", "Whether no figure can be above it.", |one| one.ceiling.then_some(true)),
        flag(
            "in_time",
            "in time",
            "Whether the mean latency is within the one at which the value is promised.",
            |one| one.in_time,
        ),
        below(any(
            "reached",
            "means",
            "What reaching the grade means, or missing the easiest.",
            Quantity::Text,
            |one| Value::or_none(one.reached.clone(), Value::Text),
        )),
        below(text("open", "grade", "Why it cannot be told whether the grade is reached.", |one| {
            if one.open { one.why_open() } else { String::new() }
        })),
        below(word("source", "source", "Where it is from.", |one| &one.source)),
        detail(text("unit", "unit", "`bytes/s`, `ops/s` or `ns`.", |one| one.amount.unit().to_owned())),
    ];
}

/// The statements for [`expected`]; those that reached a ceiling or a grade, or are close to one, come first.
pub(crate) fn of_gate(gate: &Gate<'_>, all: &[Expected]) -> Vec<Stated<Expected>> {
    let mut all = all.to_vec();
    all.sort_by_key(|one| one.reached.is_none() && !one.open && !(one.ceiling && one.ratio > 1.0));
    let state = |one: Expected| {
        let inputs = vec![one.figure];
        let is_of_latency = matches!(one.amount, Amount::Latency { .. }) || one.in_time == Some(false);
        let statement = match one.misses() {
            false => Use::Other,
            // A single stall may account for all of the slowest operations.
            true if is_of_latency => Use::Compared,
            true => gate.weighed(&inputs, one.ratio - 1.0),
        };
        gate.state_as(statement, inputs, one)
    };
    all.into_iter().map(state).collect()
}

/// Every figure compared with each expectation that applies to it, in the order of the figures and, for each figure,
/// in the order of the study.
///
/// An expectation applies to a figure if everything it names matches: target, phase, order, transfer size and share
/// of reads; to one of a workload beside others only if it is a ceiling. Its limit is multiplied by the nodes of the case
/// and the devices of the target. The value of the figure is its median: the rate by which it is summarised, with
/// operations and bytes converted into each other at its transfer size; or the latency of all its transfers. A mixed figure whose share of reads is in no expectation is
/// compared with an interpolation of the two that enclose it; see [`mix`].
///
/// [`Expected::reached`] is filled in for the highest grade that a figure reached: with grades of 150, 100 and 50
/// MB/s for a drive, one that moves 120 has reached 100, and one that moves 40 has missed them all. As with a
/// commitment, it is undecided whether a grade is reached if the median of fewer than five repetitions is within 15 %
/// of it, or if the bounds of the median, or of a percentile, are on both sides of it, see [`Expected::open`].
#[must_use]
pub fn expected(plan: &Plan, figures: &[Figure]) -> Vec<Expected> {
    subjects(plan, figures).iter().flat_map(|one| of_subject(one, &plan.criteria.expectations)).collect()
}

fn of_subject(subject: &Subject<'_>, expectations: &[Expectation]) -> Vec<Expected> {
    // Without the number of nodes, a limit of each node says nothing about all of them.
    let is_of_nodes = |one: &&Expectation| one.per == Per::Node || subject.layer() == Layer::NodeLocal;
    let without: Vec<Expectation>;
    let expectations = match subject.nodes() {
        Some(_) => expectations,
        None => {
            without = expectations.iter().filter(|one| !is_of_nodes(one)).cloned().collect();
            without.as_slice()
        }
    };
    let (case, figure) = (subject.case, subject.figure);
    let described = subject.target.map_or(0, |target| target.devices);
    let devices = case.members().unwrap_or(described);
    let nodes = subject.nodes().map_or(1, |nodes| u32::try_from(nodes).unwrap_or(u32::MAX));
    let in_all = |one: &Expectation| {
        let named = figure.nodes.iter().filter(|node| one.nodes.has(&node.node)).count();
        let on = if one.is_of_all_nodes() { nodes } else { u32::try_from(named).unwrap_or(u32::MAX) };
        one.in_all(on, devices, subject.layer())
    };
    let mean = measured(figure, Amount::Latency { nanos: 0.0, percent: None });
    let found = |one: &Expectation, limit: Amount| {
        // Without the number of devices, a limit of each says nothing about all of them.
        if one.per == Per::Device && devices == 0 {
            return None;
        }
        Some(Expected {
            figure: subject.index,
            name: one.name.clone(),
            amount: limit,
            count: limit.number() / one.amount.number(),
            ratio: part(figure, limit, &one.nodes)? / limit.number(),
            ceiling: one.ceiling,
            nodes: one.nodes.written().to_owned(),
            in_time: one.at_latency.and_then(|at| Some(mean? <= at.0 as f64)),
            reached: None,
            open: false,
            source: one.source.clone(),
        })
    };
    let of_some = expectations
        .iter()
        .filter(|one| !one.is_of_all_nodes() && agrees(subject, one) && one.is_of_mix(case, figure.phase));
    let named = about(subject, expectations).chain(of_some).filter(|one| concerns(one, figure));
    let mut all: Vec<(Expected, Option<&Expectation>)> =
        named.filter_map(|one| Some((found(one, in_all(one))?, Some(one)))).collect();
    all.extend(between(subject, expectations, in_all).into_iter().filter_map(|(one, limit)| {
        let name = format!("{} at {} % reads", one.name, case.workload.read_percent);
        Some((Expected { name, ceiling: false, ..found(one, limit)? }, None))
    }));
    grade(&mut all, bytes_of_one(case, figure.phase), figure);
    all.into_iter().map(|(one, _)| one).collect()
}

/// Name and nodes of each expectation none of whose nodes took part in any figure.
pub(crate) fn without_nodes(plan: &Plan, figures: &[Figure]) -> Vec<(String, String)> {
    let took_part = |one: &Expectation| {
        figures.iter().flat_map(|figure| &figure.nodes).any(|node| one.nodes.has(&node.node))
    };
    let of_some = plan.criteria.expectations.iter().filter(|one| !one.is_of_all_nodes() && !took_part(one));
    of_some.map(|one| (one.name.clone(), one.nodes.written().to_owned())).collect()
}

/// The median of a figure in the unit of `amount`: of what `nodes` moved of it, or of the whole if none are named.
/// Returns `None` if none of these nodes took part, or if what each moved is not known.
fn part(figure: &Figure, amount: Amount, nodes: &NodeList) -> Option<f64> {
    if nodes.is_empty() {
        return measured(figure, amount);
    }
    let values = part_values(&figure.counted().collect::<Vec<_>>(), figure, amount, nodes)?;
    median(&values).filter(|median| *median > 0.0)
}

/// The values of `passes` in the unit of `amount`: the rate of the whole × the share of it that `nodes` moved.
fn part_values(
    passes: &[&RepetitionFigure],
    figure: &Figure,
    amount: Amount,
    nodes: &NodeList,
) -> Option<Vec<f64>> {
    let whole = values(passes, amount, figure.rate)?;
    if nodes.is_empty() {
        return Some(whole);
    }
    let moved = |pass: &RepetitionFigure, counts: &dyn Fn(&str) -> bool| {
        let here = figure.nodes.iter().filter(|node| counts(&node.node)).flat_map(|node| &node.passes);
        let here = here.filter(|one| one.repetition == pass.repetition).map(|one| &one.rate);
        here.map(|rate| if let Amount::BytesPerSecond(_) = amount { rate.bytes } else { rate.transfers })
            .sum::<u64>()
    };
    let of_pass = |(whole, pass): (f64, &&RepetitionFigure)| {
        let (own, all) = (moved(pass, &|node| nodes.has(node)), moved(pass, &|_| true));
        (all > 0).then(|| whole * own as f64 / all as f64)
    };
    whole.into_iter().zip(passes).map(of_pass).collect()
}

/// Whether an expectation that names no phase also applies to `figure`: expectations for transfers say nothing about
/// names and messages, but no traffic exceeds the speed of a link.
fn concerns(expectation: &Expectation, figure: &Figure) -> bool {
    figure.phase.is_transfers()
        || expectation.phase.is_some()
        || (expectation.ceiling
            && matches!(expectation.amount, Amount::BytesPerSecond(_))
            && figure.bytes_per_second.median > 0.0)
}

/// Marks the hardest grade that the median of `figure` reached, separately for rates, for mean latencies and for
/// those of each percentile; the easiest one if it missed all; and those that it is too close to.
fn grade(all: &mut [(Expected, Option<&Expectation>)], transfer: Option<Bytes>, figure: &Figure) {
    let counted: Vec<_> = figure.counted().collect();
    let hardness = |one: &Expected| match one.amount {
        Amount::Latency { nanos, .. } => -nanos,
        rate => in_unit_of(rate, Amount::BytesPerSecond(0.0), transfer).unwrap_or(0.0),
    };
    let kind = |(one, grade): &(&mut Expected, &Expectation)| match one.amount {
        Amount::Latency { percent, .. } => (true, percent.map(f64::to_bits), Vec::new()),
        // Grades of the same nodes of this figure are one scale, however the study lists them.
        _ => (false, None, figure.nodes.iter().map(|node| grade.nodes.has(&node.node)).collect()),
    };
    let grades = all.iter_mut().filter_map(|(one, grade)| Some((one, (*grade)?)));
    for mut grades in grouped(grades.filter(|(_, grade)| !grade.reached.is_empty()), kind) {
        let of_latency = kind(&grades[0]).0;
        grades.sort_by(|a, b| hardness(a.0).total_cmp(&hardness(b.0)));
        let margin = |ratio: f64| if of_latency { 1.0 - ratio } else { ratio - 1.0 };
        let margins = |one: &Expected, nodes: &NodeList| {
            if let Amount::Latency { percent: Some(percent), .. } = one.amount {
                let (low, high) = percentile_ends(figure, percent);
                return Some((margin(high / one.amount.number()), margin(low / one.amount.number())));
            }
            let values = part_values(&counted, figure, one.amount, nodes)?;
            let bounds = median_bounds(&values, 1.0 - CONFIDENCE)?;
            let of = |end: f64| margin(end / one.amount.number());
            Some((of(bounds.low), of(bounds.high)))
        };
        let of_each = grades.iter().map(|(one, grade)| (margin(one.ratio), margins(one, &grade.nodes)));
        let found = Grade::of(of_each);
        for (one, _) in &mut grades[found.open.clone()] {
            one.open = true;
        }
        let means = match found.reached {
            Some(place) => grades.get_mut(place).map(|(one, grade)| (one, &grade.reached)),
            None if found.open.is_empty() => grades.first_mut().map(|(one, grade)| (one, &grade.missed)),
            None => None,
        };
        if let Some((one, words)) = means.filter(|(_, words)| !words.is_empty()) {
            one.reached = Some(words.clone());
        }
    }
}

/// The bounds of a percentile by which a commitment would be broken or kept. With too little data they leave every grade
/// open.
fn percentile_ends(figure: &Figure, percent: f64) -> (f64, f64) {
    let end = |high, ends| slowest_bound(&figure.latency, (percent, 1), high, ends);
    let (by_transfers, by_passes) = (end(true, |one| one.by_transfers), end(true, |one| one.by_passes));
    let high = by_transfers.zip(by_passes).map_or(f64::INFINITY, |(one, other)| one.max(other));
    (end(false, |one| one.by_transfers).unwrap_or(0.0), high)
}

/// How a median compares with several grades, easiest first.
pub(crate) struct Grade {
    /// The hardest grade that was reached.
    pub(crate) reached: Option<usize>,
    /// Harder grades that the median is too close to.
    pub(crate) open: Range<usize>,
}

impl Grade {
    /// For a median that is better than each grade by the share in `margins`, and whose bounds are better by the
    /// shares given with it.
    pub(crate) fn of(margins: impl Iterator<Item = (f64, Option<(f64, f64)>)>) -> Self {
        let kept: Vec<Option<bool>> = margins.map(|(margin, ends)| median_keeps(margin, ends)).collect();
        let reached = kept.iter().rposition(|kept| *kept == Some(true));
        let from = reached.map_or(0, |place| place + 1);
        let open = kept[from..].iter().take_while(|kept| kept.is_none()).count();
        Self { reached, open: from..from + open }
    }
}

/// The reason why a grade is left undecided.
pub(crate) fn too_near() -> String {
    format!("too close to tell: more repetitions are needed, at least {}", bound_least(1.0 - CONFIDENCE))
}

/// The expectations that apply to a whole figure.
pub(crate) fn about<'e>(
    subject: &Subject<'_>,
    expectations: &'e [Expectation],
) -> impl Iterator<Item = &'e Expectation> {
    let (case, phase) = (subject.case, subject.figure.phase);
    let whole = expectations.iter().filter(|one| one.is_of_all_nodes());
    whole.filter(move |one| agrees(subject, one) && one.is_of_mix(case, phase))
}

/// Whether everything that an expectation names matches, apart from the share of reads. What a workload gets beside others
/// cannot exceed a ceiling, but says nothing about a data sheet.
fn agrees(subject: &Subject<'_>, one: &Expectation) -> bool {
    // An imported case names no target; it belongs to the only target that is described.
    let target = subject.target.map_or(&subject.case.target, |one| &one.name);
    let is_for_one = |one: &Expectation| one.ceiling || !subject.figure.is_concurrent;
    is_for_one(one) && one.agrees(target, subject.case, subject.figure.phase, subject.order_is_random())
}

/// Interpolated limits of a mixed phase whose share of reads is in no expectation: one for each latency that the two
/// neighbours have in common, with the neighbour that has more writes.
fn between<'e>(
    subject: &Subject<'_>,
    expectations: &'e [Expectation],
    in_all: impl Fn(&Expectation) -> Amount,
) -> Vec<(&'e Expectation, Amount)> {
    let (phase, share) = (subject.figure.phase, subject.case.workload.read_percent);
    let agreeing = expectations.iter().filter(|one| one.is_of_all_nodes() && agrees(subject, one));
    let mixes: Vec<(u8, &Expectation)> = agreeing.filter_map(|one| Some((one.read_percent?, one))).collect();
    if phase != Phase::Mixed || mixes.iter().any(|(at, _)| *at == share) {
        return Vec::new();
    }
    let nearest = mixes.iter().map(|(at, _)| *at).filter(|&at| at < share).max();
    let limit = |&(low, one): &(u8, &'e Expectation)| {
        let above = mixes.iter().filter(|(at, other)| *at > share && other.at_latency == one.at_latency);
        let (high, other) = above.min_by_key(|(at, _)| *at)?;
        let at = f64::from(share - low) / f64::from(high - low);
        let limit = match (in_all(one), in_all(other)) {
            (Amount::OperationsPerSecond(low), Amount::OperationsPerSecond(high)) => {
                Amount::OperationsPerSecond(mix(low, high, at)?)
            }
            (Amount::BytesPerSecond(low), Amount::BytesPerSecond(high)) => {
                Amount::BytesPerSecond(mix(low, high, at)?)
            }
            _ => return None,
        };
        Some((one, limit))
    };
    mixes.iter().filter(|(at, _)| Some(*at) == nearest).filter_map(limit).collect()
}

/// The rate of a mix between two known mixes, at `share` of the way from the first to the second. The time per
/// operation, not the rate, is interpolated linearly, `1 ÷ ((1 − share) ÷ low + share ÷ high)`, because each
/// operation takes its own time whatever runs at the same time. In the data sheet of study D (650, 314, 195, 144 and
/// 117 thousand at 100, 75, 50, 25 and 0 % reads), the two outer values alone give 304, 198 and 147 thousand in
/// between; linear interpolation of the rates would give 517, 384 and 250. Returns `None` if a rate is not above 0 or
/// the share is outside 0 to 1.
#[must_use]
pub fn mix(low: f64, high: f64, share: f64) -> Option<f64> {
    (low > 0.0 && high > 0.0 && (0.0..=1.0).contains(&share))
        .then(|| 1.0 / ((1.0 - share) / low + share / high))
}
