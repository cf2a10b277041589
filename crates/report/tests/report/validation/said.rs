//! The statements of a report, read from its public results. Only this module knows their types.

use analysis::{
    RateName,
    comparisons::{ClaimVerdict, Comparison},
    figures::Figure,
    findings::Findings,
    gate::{Because, Gate, Judgement, Stated, Table, Value as Cell},
    statistics::Contrast,
};
use plan::Relation;
use record::Run;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Kind {
    Best,
    LayerOverhead,
    Scaling,
    Consistency,
    SweetSpot,
    Knee,
    Dips,
    Plateau,
    Slope,
    WeakSlope,
    Saturation,
    Crossover,
    SlowNode,
    SlowDevice,
    Uneven,
    Dispersion,
    ProcessLimit,
    Placement,
    ClaimGreater,
    ClaimEqual,
    Pass,
    Fail,
    Compared,
    LayerLoss,
    Overlay,
    CrossCheck,
    ChangedWithin,
    ChangedOver,
    JobSums,
    JobTimes,
    JobSpread,
}

/// The quantity that an interval refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum IntervalOf {
    Change,
    Median,
    MoreNodes,
    SeekTime,
    DiskRate,
}

impl IntervalOf {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Change => "change between two runs",
            Self::Median => "median of one figure",
            Self::MoreNodes => "rate on more nodes than were measured",
            Self::SeekTime => "seek time",
            Self::DiskRate => "rate without seek time",
        }
    }
}

impl Kind {
    pub(crate) const ALL: [Self; 31] = [
        Self::Best,
        Self::LayerOverhead,
        Self::Scaling,
        Self::Consistency,
        Self::SweetSpot,
        Self::Knee,
        Self::Dips,
        Self::Plateau,
        Self::Slope,
        Self::WeakSlope,
        Self::Saturation,
        Self::Crossover,
        Self::SlowNode,
        Self::SlowDevice,
        Self::Uneven,
        Self::Dispersion,
        Self::ProcessLimit,
        Self::Placement,
        Self::ClaimGreater,
        Self::ClaimEqual,
        Self::Pass,
        Self::Fail,
        Self::Compared,
        Self::LayerLoss,
        Self::Overlay,
        Self::CrossCheck,
        Self::ChangedWithin,
        Self::ChangedOver,
        Self::JobSums,
        Self::JobTimes,
        Self::JobSpread,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Best => "best of a sweep is ahead",
            Self::LayerOverhead => "tax of a target",
            Self::Scaling => "scaling over devices",
            Self::Consistency => "most consistent target",
            Self::SweetSpot => "sweet spot",
            Self::Knee => "knee",
            Self::Dips => "dips",
            Self::Plateau => "plateau",
            Self::Slope => "slope of a line",
            Self::WeakSlope => "slope over nodes",
            Self::Saturation => "saturation over nodes",
            Self::Crossover => "crossover of layers",
            Self::SlowNode => "slow node",
            Self::SlowDevice => "slow device",
            Self::Uneven => "uneven devices",
            Self::Dispersion => "onset of dispersion",
            Self::ProcessLimit => "process limit",
            Self::Placement => "placement for reads",
            Self::ClaimGreater => "claim: greater",
            Self::ClaimEqual => "claim: equal",
            Self::Pass => "commitment: PASS",
            Self::Fail => "commitment: FAIL",
            Self::Compared => "two runs compared",
            Self::LayerLoss => "loss of a layer",
            Self::Overlay => "lines of a sweep apart",
            Self::CrossCheck => "ratio to another tool",
            Self::ChangedWithin => "change within a pass",
            Self::ChangedOver => "change over passes",
            Self::JobSums => "sums over jobs",
            Self::JobTimes => "faster at the same jobs",
            Self::JobSpread => "more consistent at the same jobs",
        }
    }
}

/// The direction of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// More, or yes.
    Up,
    /// Less, or no.
    Down,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Said {
    pub(crate) kind: Kind,
    /// A target, a node, a setting or a name.
    pub(crate) subject: String,
    pub(crate) way: Way,
}

const fn way(up: bool) -> Way {
    if up { Way::Up } else { Way::Down }
}

/// All statements about `figures` in `findings`.
pub(crate) fn what_is_said(findings: &Findings, figures: &[Figure]) -> Vec<Said> {
    let mut all = Vec::new();
    let mut say =
        |kind, subject: &str, up| all.push(Said { kind, subject: subject.to_owned(), way: way(up) });
    let of = |place: usize| figures[place].target.as_str();
    for (figure, one) in said(&findings.best) {
        if one.gain.is_some_and(|gain| gain > 0.0) {
            let value = |place: usize| figures[place].settings.last().and_then(|one| one.value.on_axis());
            say(Kind::Best, of(figure), value(figure) > one.runner_up.and_then(value));
        }
    }
    for stated in findings.taxes.iter().filter(|one| !is_few(one)) {
        let (figure, reference) = (stated.figure(), stated.inputs[1]);
        // Up means that the later target is faster.
        let turned = of(reference) > of(figure);
        if let Some(one) = stated.says().filter(|one| one.share != 0.0) {
            say(Kind::LayerOverhead, of(figure), (one.share < 0.0) != turned);
        }
    }
    for (figure, one) in said(&findings.scaling) {
        // The share is a value. It counts as stated to be above or below 1 only if its interval excludes 1.
        match one.interval {
            Some((low, _)) if low > 1.0 => say(Kind::Scaling, of(figure), true),
            Some((_, high)) if high < 1.0 => say(Kind::Scaling, of(figure), false),
            _ => {}
        }
    }
    for (figure, _) in said(&findings.consistency).filter(|(_, one)| one.steadiest) {
        say(Kind::Consistency, of(figure), true);
    }
    for (figure, curve) in said(&findings.shapes) {
        let shape = &curve.curve.shape;
        for (kind, stated) in [
            (Kind::SweetSpot, shape.sweet_spot.is_some()),
            (Kind::Knee, shape.knee.is_some()),
            (Kind::Dips, shape.dips.is_some()),
            (Kind::Plateau, shape.plateau.is_some()),
        ] {
            if stated {
                say(kind, of(figure), true);
            }
        }
    }
    for (figure, one) in said(&findings.shapes) {
        if let Some(line) = &one.line {
            say(Kind::Slope, of(figure), line.slope > 0.0);
        }
    }
    for one in findings.weak_scaling.iter().filter_map(Stated::says) {
        if let Some(line) = &one.line {
            say(Kind::WeakSlope, &one.target, line.slope > 0.0);
        }
        if one.saturation.is_some() {
            say(Kind::Saturation, &one.target, true);
        }
    }
    for one in findings.layer_crossovers.iter().filter_map(Stated::says).filter(|one| one.nodes.is_some()) {
        say(Kind::Crossover, &one.targets[0], true);
    }
    for node in findings
        .nodes
        .iter()
        .filter_map(Stated::says)
        .flat_map(|one| &one.nodes)
        .filter(|node| node.slow == Some(true))
    {
        say(Kind::SlowNode, &node.node, true);
    }
    for (_, one) in said(&findings.devices).filter(|(_, one)| one.slow == Some(true)) {
        say(Kind::SlowDevice, &one.place.to_string(), true);
    }
    for (figure, _) in said(&findings.members).filter(|(_, one)| one.uneven == Some(true)) {
        say(Kind::Uneven, of(figure), true);
    }
    for (figure, _) in said(&findings.dispersion).filter(|(_, one)| one.onset.is_some()) {
        say(Kind::Dispersion, of(figure), true);
    }
    for (figure, _) in said(&findings.process_limits).filter(|(_, one)| one.flat) {
        say(Kind::ProcessLimit, of(figure), true);
    }
    for (figure, _) in said(&findings.placements).filter(|(_, one)| one.for_reads == Some(true)) {
        say(Kind::Placement, of(figure), true);
    }
    for (figure, one) in findings.layers.iter().flat_map(|stack| said(stack)) {
        if let Some(loss) = one.loss {
            say(Kind::LayerLoss, of(figure), loss > 0.0);
        }
    }
    for (_, one) in said(&findings.overlays) {
        say(Kind::Overlay, &one.fixed[1], one.difference < 0.0);
    }
    for (_, one) in said(&findings.cross_checks).filter(|(_, one)| one.difference.is_stated()) {
        say(Kind::CrossCheck, &one.case, one.difference.outcome == Contrast::Higher);
    }
    for (figure, one) in said(&findings.changes) {
        let kind = if one.series == "passes" { Kind::ChangedOver } else { Kind::ChangedWithin };
        say(kind, of(figure), one.change.after > one.change.before);
    }
    let contrasts = Table::of(&findings.matrix_tables.contrasts);
    let verdict = contrasts.columns.iter().position(|column| column.key == "verdict").expect("a column");
    for row in &contrasts.rows {
        let Cell::Text(word) = &row.cells[verdict] else { continue };
        let (kind, up) = match word.as_str() {
            "more" => (Kind::JobSums, true),
            "less" => (Kind::JobSums, false),
            "slower" => (Kind::JobTimes, true),
            "faster" => (Kind::JobTimes, false),
            "more consistent is b" => (Kind::JobSpread, true),
            "more consistent is a" => (Kind::JobSpread, false),
            _ => continue,
        };
        // Rows without figures belong to published systems.
        if let Some(&figure) = row.figures.first() {
            say(kind, of(figure), up);
        }
    }
    let told = |one: &&ClaimVerdict| matches!(one.judgement, Judgement::Holds | Judgement::DoesNotHold);
    for one in findings.claims.iter().filter_map(Stated::says).filter(told) {
        let kind = match one.relation {
            Some(Relation::Equal) => Kind::ClaimEqual,
            _ => Kind::ClaimGreater,
        };
        say(kind, &one.id, one.judgement == Judgement::Holds);
    }
    for one in findings.verdicts.iter().filter_map(Stated::says) {
        match one.judgement {
            Judgement::Holds => say(Kind::Pass, "", true),
            Judgement::DoesNotHold => say(Kind::Fail, "", true),
            _ => {}
        }
    }
    all.sort();
    all.dedup();
    all
}

/// The intervals in `findings`: the quantity, the target, the number of points, and both ends.
pub(crate) fn intervals(
    findings: &Findings,
    figures: &[Figure],
) -> Vec<(IntervalOf, String, usize, (f64, f64))> {
    let mut all = Vec::new();
    for (figure, one) in said(&findings.extrapolations) {
        let points = findings.weak_scaling.iter().filter_map(Stated::says);
        let points =
            points.filter(|series| series.target == figures[figure].target).map(|one| one.points.len());
        if let Some((half, n)) = one.half_width.zip(points.max()) {
            let ends = (one.rate - half, one.rate + half);
            all.push((IntervalOf::MoreNodes, figures[figure].target.clone(), n, ends));
        }
    }
    for (figure, one) in said(&findings.seeks) {
        if let Some(line) = one.line() {
            let (at, half) = (line.positioning_ns, line.positioning_half_ns);
            let of = |of, ends| (of, figures[figure].target.clone(), one.points.len(), ends);
            all.extend([
                of(IntervalOf::SeekTime, (at - half, at + half)),
                of(IntervalOf::DiskRate, line.interval),
            ]);
        }
    }
    all
}

/// The contents of statements, each with its figure. Withheld statements are omitted.
fn said<T>(all: &[Stated<T>]) -> impl Iterator<Item = (usize, &T)> {
    all.iter().filter_map(|one| Some((one.figure(), one.says()?)))
}

/// Whether it is a value of too few repetitions to conclude anything from.
fn is_few<T>(stated: &Stated<T>) -> bool {
    stated.reasons.iter().any(|one| one.because == Because::TooFew)
}

/// The statements in a comparison of two runs.
pub(crate) fn what_comparison_says(compared: &[Comparison]) -> Vec<Said> {
    let stated = |one: &&Comparison| matches!(one.difference.outcome, Contrast::Higher | Contrast::Lower);
    compared
        .iter()
        .filter(stated)
        .map(|one| Said {
            kind: Kind::Compared,
            subject: one.case.clone(),
            way: way(one.difference.outcome == Contrast::Higher),
        })
        .collect()
}

/// The rates of two runs, compared where the audit allows it.
pub(crate) fn rates_compared(before: &Run, after: &Run) -> Vec<Comparison> {
    let of = |run: &Run| {
        let figures = analysis::figures::figures(run, RateName::ByWall);
        let doubts = analysis::findings::findings(run, &figures).audit;
        (figures, doubts)
    };
    let [first, second] = [before, after].map(of);
    let paired = analysis::comparisons::paired(
        &[Gate::new(&before.manifest.plan, &first.0, &first.1)],
        &[Gate::new(&after.manifest.plan, &second.0, &second.1)],
    );
    let all = paired.into_iter().flat_map(|one| one.comparisons);
    all.filter(|one| one.operation.is_none() && !one.transferring && !one.is_withheld()).collect()
}

/// Where the document has statements of each kind: the list, and the field that must not be null, or must be true or
/// this word.
const IN_DOCUMENT: [(Kind, &str, &str, &str); 20] = [
    (Kind::Best, "/statements/best", "/gain", ""),
    (Kind::LayerOverhead, "/statements/tax", "/share", ""),
    (Kind::SweetSpot, "/statements/curve", "/sweet_spot", ""),
    (Kind::Knee, "/statements/curve", "/knee", ""),
    (Kind::Dips, "/statements/curve", "/dips_period", ""),
    (Kind::Plateau, "/statements/curve", "/plateau_from", ""),
    (Kind::WeakSlope, "/statements/weak_scaling", "/slope_per_second", ""),
    (Kind::Saturation, "/statements/weak_scaling", "/full_at_per_second", ""),
    (Kind::Crossover, "/statements/crossover", "/nodes", ""),
    (Kind::SlowDevice, "/statements/member", "/slow", "true"),
    (Kind::Uneven, "/statements/member_set", "/uneven", "true"),
    (Kind::Dispersion, "/statements/dispersion", "/onset", ""),
    (Kind::ProcessLimit, "/statements/process_limit", "/limited_by_processes", "true"),
    (Kind::Placement, "/statements/placement", "/for", "what is mostly read"),
    (Kind::LayerLoss, "/statements/layer", "/loss", ""),
    (Kind::Overlay, "/statements/overlay", "/difference", ""),
    (Kind::ClaimGreater, "/statements/claim", "/standing", "holds"),
    (Kind::ClaimGreater, "/statements/claim", "/standing", "does not hold"),
    (Kind::Pass, "/statements/commitment", "/judgement", "PASS"),
    (Kind::Fail, "/statements/commitment", "/judgement", "FAIL"),
];

/// The kinds for which the JSON document has a statement.
pub(crate) fn kinds_in_document(document: &Value) -> Vec<Kind> {
    let stated = |(kind, list, at, word): &&(Kind, &str, &str, &str)| {
        let list = document.pointer(list).and_then(Value::as_array).into_iter().flatten();
        let few = |one: &&Value| {
            let mut because = one.pointer("/because").and_then(Value::as_array).into_iter().flatten();
            because.any(|one| one["reason"] == Because::TooFew.name())
        };
        // As in the findings: a tax of too few repetitions is a value that says nothing.
        let told = list.filter(|one| *kind != Kind::LayerOverhead || !few(one));
        let mut values = told.filter_map(|one| one.pointer(at)).filter(|value| !value.is_null());
        values.any(|value| {
            let is = value.as_bool().map_or(value.as_str(), |is| Some(if is { "true" } else { "false" }));
            word.is_empty() || is == Some(*word)
        })
    };
    let mut kinds: Vec<Kind> = IN_DOCUMENT.iter().filter(stated).map(|(kind, ..)| *kind).collect();
    kinds.dedup();
    kinds
}

/// The kinds that are stated either in the findings or in the document, but not in both.
pub(crate) fn apart(stated: &[Said], document: &Value) -> Vec<Kind> {
    let there = kinds_in_document(document);
    let known = IN_DOCUMENT.iter().map(|(kind, ..)| *kind);
    // A claim of equality is in the same field of the document.
    let is_said = |kind: Kind| {
        stated
            .iter()
            .any(|one| one.kind == kind || kind == Kind::ClaimGreater && one.kind == Kind::ClaimEqual)
    };
    let mut apart: Vec<Kind> = known.filter(|kind| is_said(*kind) != there.contains(kind)).collect();
    apart.dedup();
    apart
}
