//! Judges commitments: whether each was kept, by how much, and with what confidence.

use plan::{
    Amount, Asked, Bound, Commitment, FigureQuantity, Over, Plan, RateName, Selector, Statistic, UntoldKind,
};

use crate::audit::{AuditIssue, Check, Outcome, Use};
use crate::comparisons::conditions::all_differences;
use crate::comparisons::flattered::flattered;
use crate::comparisons::pairs::partners;
use crate::comparisons::percentile_promise::PercentilePromise;
use crate::figures::{Figure, RepetitionFigure, first_of, values};
use crate::gate::{
    Beside, Gate, Judgement, Kind, Of, Quantity, Statement, Value, median_keeps,
    table::{Column, amount, any, below, change, detail, list, share, subject, text, word},
};
use crate::statistics::{CONFIDENCE, DIFFERENCE_LEAST, Summary, bound_least, median_bounds};

/// A commitment and its judgement.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "as its columns")]
pub struct Verdict {
    /// The index of the commitment in [`plan::Criteria::commitments`].
    pub place: usize,
    pub commitment: Commitment,
    /// What it asks for: of a part of what a reference run reached, for the figure that decided.
    pub amount: Option<Amount>,
    /// Where that amount comes from if it is a part of what a reference run reached.
    pub reference: Option<String>,
    pub judgement: Judgement,
    /// Whether the figures come from a model.
    pub simulated: bool,
    /// The figure that decided: the worst one, or the best one if one is enough.
    pub figure: Option<usize>,
    pub measured: Option<f64>,
    pub margin: Option<f64>,
    /// The unfavourable end of the confidence interval of the median, and its confidence level.
    pub bound: Option<(f64, f64)>,
    /// The favourable end of the interval. A broken commitment is missed by this value too.
    pub best: Option<f64>,
    pub because: Vec<String>,
    /// The statistic and the rate by which it is judged.
    pub judged_by: String,
    pub overrides: Vec<String>,
    pub about: Vec<usize>,
    /// For each entry of `about`, how its doubts were weighed.
    weighed: Vec<Weighed>,
}

/// What the doubts about a figure were weighed as.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Weighed {
    statement: Use,
    /// A doubt that cannot explain the amount by which the commitment is missed.
    excepted: Option<Check>,
}

impl Statement for Verdict {
    const KIND: Kind = Kind::Commitment;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str = "Each commitment, as it was fixed before the run";
    const COLUMNS: &'static [Column<Self>] = &[
        any(
            "judgement",
            "verdict",
            "`PASS`, `FAIL`, `DOUBTFUL` or `NOT TESTED`; of a simulated run `would be kept in this model`, \
             `would not be kept in this model`, `doubtful in this model` or `not tested in this model`.",
            Quantity::Judgement(&Judgement::OF_COMMITMENTS),
            |one| Value::Judgement(one.judgement, one.word()),
        ),
        subject(word("name", "commitment", "What was promised.", |one| &one.commitment.name)),
        subject(word("by", "by", "Who promised it or asked for it.", |one| &one.commitment.by)),
        subject(text("side", "", "`at least` or `at most`.", |one| side(one.commitment.bound).to_owned())),
        amount("promised", "promised", "What was promised, in `unit`.", |one| one.in_unit(one.promised())),
        amount("measured", "reached", "The figure that decided, in `unit`.", |one| one.in_unit(one.measured)),
        change(
            "margin",
            "margin",
            "Measured ÷ promised − 1, of *at most* 1 − measured ÷ promised: positive is good on either side.",
            |one| one.margin,
        ),
        amount(
            "at_worst",
            "at worst",
            "The bound on the unfavourable side, of the median or of a promised percentile, in `unit`.",
            |one| one.in_unit(one.bound.map(|(end, _)| end)),
        ),
        detail(amount("at_best", "at best", "The bound on the favourable side, in `unit`.", |one| {
            one.in_unit(one.best)
        })),
        share("confidence", "confidence", "Confidence of the bound by which it is judged.", |one| {
            one.bound.map(|(_, confidence)| confidence)
        }),
        below(list(
            "why",
            "why",
            "Why it is doubtful or was not tested, or what a median leaves to chance.",
            |one| one.because.clone(),
        )),
        below(text("concerns", "concerns", "The figures that it covers, in words.", |one| {
            selected(&one.commitment.figures, one.commitment.over)
        })),
        below(text("judged_by", "judged by", "The statistic and the rate that it is judged by.", |one| {
            one.judged_by.clone()
        })),
        below(text("reference", "reference", "The run of which a part was promised.", |one| {
            one.reference.clone().unwrap_or_default()
        })),
        below(list(
            "overrides",
            "not as in the study file",
            "What `--set` changed of the commitment, the protocol, or the workloads and targets that it is about.",
            |one| one.overrides.clone(),
        )),
        detail(text("unit", "unit", "`bytes/s`, `ops/s` or `ns`.", |one| {
            one.amount.map_or_else(String::new, |amount| amount.unit().to_owned())
        })),
    ];

    fn notes(all: &[&Self]) -> Vec<String> {
        let count = |word: &&str| {
            let count = all.iter().filter(|one| one.word() == *word).count();
            (count > 0).then(|| format!("{count} {word}"))
        };
        let counts: Vec<String> = Judgement::OF_COMMITMENTS.iter().filter_map(count).collect();
        let several = if all.len() == 1 { "" } else { "s" };
        vec![
            format!("{} commitment{several}: {}.", all.len(), counts.join(", ")),
            "Reached: the figure that decided. At worst: the bound on the unfavourable side, of the median or of a \
             promised percentile, with its confidence. A doubt of the audit keeps a figure from passing where \
             docs/AUDIT.md says \"withheld\" of a promise kept; any other doubt is only named."
                .to_owned(),
        ]
    }
}

impl Verdict {
    /// The word for the judgement.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        self.judgement.word(&Judgement::OF_COMMITMENTS, self.simulated)
    }

    /// The value of one repetition of a figure that the commitment is about, in the unit of the commitment.
    #[must_use]
    pub fn value(&self, one: &RepetitionFigure) -> Option<f64> {
        judged(&[one], &self.commitment, self.amount?)?.pop()
    }

    /// What was promised, in the unit of the commitment. `None` if it is a part of what a reference run reached and
    /// there is no such run.
    #[must_use]
    pub fn promised(&self) -> Option<f64> {
        self.amount.map(Amount::number)
    }

    /// What is promised: the amount, if it is known.
    #[must_use]
    pub fn asked(&self) -> Asked {
        self.amount.map_or(self.commitment.asked, Asked::Amount)
    }

    /// Measured ÷ committed value.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        Some(self.measured? / self.promised()?)
    }

    /// The bound of the median that the judgement rests on, and its side: the median is at least this good if the
    /// commitment was kept, and at most this good if it was missed.
    #[must_use]
    pub fn decisive_bound(&self) -> Option<(Bound, f64)> {
        let missed = self.margin.is_some_and(|margin| margin < 0.0);
        let end = if missed { self.best } else { self.bound.map(|(end, _)| end) };
        let side = match (self.commitment.bound, missed) {
            (Bound::AtLeast, false) | (Bound::AtMost, true) => Bound::AtLeast,
            (Bound::AtLeast, true) | (Bound::AtMost, false) => Bound::AtMost,
        };
        end.map(|end| (side, end))
    }

    /// How `check` affected the judgement if it casts doubt on the figure at index `place`. Returns `None` if the
    /// commitment is not about that figure.
    #[must_use]
    pub fn outcome(&self, place: usize, check: Check) -> Option<Outcome> {
        let index = self.about.iter().position(|&one| one == place)?;
        let weighed = self.weighed[index];
        let is_excepted = weighed.excepted == Some(check);
        Some(if is_excepted { Outcome::Marked } else { check.outcome(weighed.statement) })
    }

    fn in_unit(&self, value: Option<f64>) -> Value {
        Value::or_none(value.zip(self.amount), |(value, amount)| Value::amount(amount, value))
    }
}

/// `at least` or `at most`.
#[must_use]
pub const fn side(bound: Bound) -> &'static str {
    match bound {
        Bound::AtLeast => "at least",
        Bound::AtMost => "at most",
    }
}

/// The statistic and the rate by which a commitment of `plan` is judged.
#[must_use]
pub fn judged_by(plan: &Plan, commitment: &Commitment) -> String {
    let statistic = match commitment.statistic {
        Statistic::Median => "median",
        Statistic::Mean => "mean",
        Statistic::Worst => "worst repetition",
        Statistic::Best => "best repetition",
        Statistic::ConfidenceBound => "confidence bound of the median",
    };
    match (commitment.asked.percentile(), commitment.statistic) {
        (Some(percent), Statistic::ConfidenceBound) => format!("confidence bound of p{percent}"),
        (Some(percent), _) => format!("{statistic} of p{percent}, and its confidence bounds"),
        (None, _) if commitment.asked.is_of_latency() => format!("{statistic} of the mean latency"),
        (None, _) => {
            let mut selected = plan.selected(&commitment.figures).into_iter();
            let while_all = match commitment.bound {
                _ if !selected.any(|(case, phase)| case.is_concurrent(phase)) => "",
                Bound::AtLeast => " or while all ran, whichever is less",
                Bound::AtMost => " or while all ran, whichever is more",
            };
            format!("{statistic}, {}{while_all}", commitment.rate.name())
        }
    }
}

/// The least share of its operations that each pass of a workload has to complete while all workloads ran, so that its
/// latencies show what it got beside them: histograms are those of whole passes.
pub const BESIDE_MIN: f64 = 0.95;

/// The value of each of `passes` by which `commitment`, which asks for `amount`, is judged. A rate of a workload that ran
/// at the same time as others is the less favourable one of that which the commitment names, and of what stands for it
/// in the time while all ran. Returns `None` if a pass has no such value.
fn judged(passes: &[&RepetitionFigure], commitment: &Commitment, amount: Amount) -> Option<Vec<f64>> {
    let named = values(passes, amount, commitment.rate)?;
    let of_pass = |(named, pass): (f64, &&RepetitionFigure)| {
        let Some(Ok(while_all)) = &pass.while_all else { return named };
        let rate = while_all.named(commitment.rate);
        let beside = match amount {
            Amount::BytesPerSecond(_) => rate.bytes_per_second,
            Amount::OperationsPerSecond(_) => rate.transfers_per_second,
            Amount::Latency { .. } => return named,
        };
        match commitment.bound {
            Bound::AtLeast => named.min(beside),
            Bound::AtMost => named.max(beside),
        }
    };
    Some(named.into_iter().zip(passes).map(of_pass).collect())
}

/// Why the values of a workload that ran at the same time as others do not show what it got beside them.
fn not_beside(figure: &Figure, amount: Amount) -> Option<String> {
    let mut reasons = figure.apart();
    let below = |pass: &RepetitionFigure| match &pass.while_all {
        Some(Ok(while_all)) if while_all.share < BESIDE_MIN => Some(format!(
            "pass {}: {:.1} % of its operations completed while all ran, and {:.0} % are needed for a latency",
            pass.repetition + 1,
            while_all.share * 100.0,
            BESIDE_MIN * 100.0
        )),
        _ => None,
    };
    if let Amount::Latency { .. } = amount {
        reasons.extend(figure.counted().filter_map(below));
    }
    Some(format!("not shown beside the others: {}", first_of(&reasons)?))
}

/// The selected figures in words, such as `every read of deep on flash at tasks 33`.
#[must_use]
pub fn selected(selector: &Selector, over: Over) -> String {
    let which = if over == Over::Every { "every" } else { "the best" };
    let mut text = format!("{which} {}", selector.phase.map_or("result", plan::Phase::name));
    let places = [("of", &selector.workload), ("on", &selector.target)];
    text.extend(places.iter().filter_map(|(word, name)| Some(format!(" {word} {}", name.as_ref()?))));
    let at: Vec<String> = selector.at.iter().map(ToString::to_string).collect();
    if at.is_empty() { text } else { format!("{text} at {}", at.join(", ")) }
}

/// Judges every commitment of `plan`, in order.
///
/// - All cases and phases that the selector matches have to keep the commitment, or the best of them ([`Over`]). A
///   planned case that is missing from `figures` cannot have kept it.
/// - The values are those of the counted repetitions, by the rate that the commitment names; in a phase that reads
///   and writes, the latency of the slower direction counts.
/// - A median is judged by the side of the limit it is on. If its confidence bounds do not determine the side, the
///   result says so; with too few repetitions for bounds, the judgement is [`Judgement::CannotTell`] within 15 % of
///   the committed value.
/// - If only a doubtful figure keeps the commitment, the judgement is [`Judgement::CannotTell`]. A figure is doubtful
///   if it has a disqualifying doubt or too few repetitions for the confidence bound or, if the statistic is the
///   confidence bound, if the committed value lies between both bounds. The best of several figures is also doubtful
///   if it may be the best by chance: the bound of its median, corrected for their number, has to keep the commitment
///   as well. If several figures all have to keep it, one of them breaks it by a bound that is corrected for their
///   number ([`bounds`](crate::statistics::bounds)). A figure without doubts that does not keep the commitment gives
///   [`Judgement::DoesNotHold`], whatever the others are. The same is true for a figure whose doubts can only have
///   made it better ([`crate::gate::POLICY`]) and that still does not keep it.
/// - What ran while the others did not keeps no promise to a workload that runs at the same time as others: of each pass
///   the less favourable one of two rates counts, that which the commitment names and that of the time while all ran
///   ([`WhileAll`](crate::figures::WhileAll)). Without such a time, and for latencies if less than [`BESIDE_MIN`] of the
///   operations completed in it, the judgement is [`Judgement::CannotTell`] at best. Phases of such a workload that run
///   alone are not judged.
#[must_use]
pub fn verdicts(plan: &Plan, figures: &[Figure], doubts: &[AuditIssue]) -> Vec<Verdict> {
    all(&Gate::new(plan, figures, doubts))
}

/// The same as [`verdicts`] for the figures of a gate.
pub(crate) fn all(gate: &Gate<'_>) -> Vec<Verdict> {
    let commitments = gate.plan.criteria.commitments.iter().enumerate();
    let reference = gate.reference.map(|beside| References { beside, partners: partners(gate, beside.gate) });
    commitments.map(|(place, one)| verdict(gate, reference.as_ref(), place, one)).collect()
}

/// The figures of a reference run.
struct References<'g> {
    beside: Beside<'g>,
    /// For each own figure, its place in that run.
    partners: Vec<Option<usize>>,
}

impl References<'_> {
    /// What `share` of a quantity is for the figure at index `figure`, and where that comes from. An error says why it
    /// is nothing.
    fn amount(
        &self,
        gate: &Gate<'_>,
        commitment: &Commitment,
        (share, of): (f64, FigureQuantity),
        figure: usize,
    ) -> Result<(Amount, String), String> {
        let Beside { gate: other, name: [id, sha256] } = self.beside;
        let place = self.partners.get(figure).copied().flatten();
        let place = place.ok_or_else(|| format!("the reference run {id} has no such figure"))?;
        let cases = [gate.subject(figure), other.subject(place)].map(|one| one.map(|subject| subject.case));
        if let [Some(own), Some(others)] = cases
            && let differs =
                all_differences([(other.plan, others), (gate.plan, own)], gate.figures[figure].phase).told
            && !differs.is_empty()
        {
            return Err(format!("not measured as in the reference run {id}: {}", differs.join("; ")));
        }
        if let Some(why) = other.against(place, Use::PromiseKept, None).first() {
            return Err(format!("the figure of the reference run {id} is doubtful: {why}"));
        }
        let own = &other.figures[place];
        let amount = |number: f64| match of {
            FigureQuantity::Rate => own.rate_of().amount(number),
            FigureQuantity::Latency => Amount::Latency { nanos: number, percent: None },
            FigureQuantity::Percentile(percent) => Amount::Latency { nanos: number, percent: Some(percent) },
        };
        if let Some(why) = not_beside(own, amount(share)) {
            return Err(format!("the figure of the reference run {id} is doubtful: {why}"));
        }
        let passes: Vec<_> = own.counted().collect();
        if passes.len() < DIFFERENCE_LEAST {
            let n = passes.len();
            return Err(format!("the reference run {id} has n = {n} passes, {DIFFERENCE_LEAST} are needed"));
        }
        let reached = judged(&passes, commitment, amount(share));
        let reached = reached.and_then(|all| Some(Summary::of(&all)?.median));
        let reached =
            reached.ok_or_else(|| format!("the reference run {id} has no {}", wanted(commitment)))?;
        let (percent, number) = (plan::share_words(share), share * reached);
        let source = format!("{percent} of the median of run {id}, whose record has the SHA-256 {sha256}");
        Ok((amount(number), source))
    }
}

/// A figure that a commitment is about.
struct Candidate {
    figure: usize,
    /// What the commitment asks of it, and where that comes from if it is a part of what a reference run reached.
    amount: Amount,
    source: Option<String>,
    measured: f64,
    margin: f64,
    bound: Option<(f64, f64)>,
    best: Option<f64>,
    weighed: Weighed,
    doubts: Vec<String>,
    /// For a median: what it does not determine.
    by_chance: Option<String>,
}

impl Candidate {
    const fn is_doubtful(&self) -> bool {
        !self.doubts.is_empty()
    }
}

fn verdict(
    gate: &Gate<'_>,
    reference: Option<&References<'_>>,
    place: usize,
    commitment: &Commitment,
) -> Verdict {
    let (mut candidates, mut missing) = (Vec::<Candidate>::new(), Vec::new());
    let scaling = gate.plan.scaling.as_ref();
    let given_up = scaling.and_then(|scaling| scaling.untold(UntoldKind::Commitment, &commitment.name));
    let mut selected = gate.selected(&commitment.figures);
    if let Some(why) = given_up {
        // Other figures than the promised ones neither keep nor break it.
        missing.push(why);
        selected.clear();
    }
    let cases = selected.len();
    if cases == 0 {
        missing.extend(runs_alone(gate.plan, &commitment.figures));
    }
    for (case, phase, figure) in selected {
        let Some(figure) = figure else {
            missing.push(format!("{} {phase}: was not measured", case.id));
            continue;
        };
        let asked = match (commitment.asked, reference) {
            (Asked::Amount(amount), _) => Ok((amount, None)),
            (Asked::OfReference { .. }, None) => Err(NO_REFERENCE.to_owned()),
            (Asked::OfReference { share, of }, Some(reference)) => reference
                .amount(gate, commitment, (share, of), figure)
                .map(|(amount, source)| (amount, Some(source))),
        };
        let (amount, source) = match asked {
            Ok(asked) => asked,
            Err(why) => {
                missing.push(format!("{} {phase}: {why}", case.id));
                continue;
            }
        };
        match candidate(gate, (commitment, amount), figure, cases) {
            Some(mut candidate) => {
                candidate.doubts.extend(commitment.terms.unmet(case, phase));
                candidates.push(Candidate { source, ..candidate });
            }
            None => missing.push(format!("{} {phase}: has no {}", case.id, wanted(commitment))),
        }
    }
    let taken_away = commitment.terms.taken_away;
    if commitment.over == Over::Every && taken_away > 0 {
        missing
            .push(format!("--set has taken away {taken_away} of the figures that the study file promises"));
    }
    let (judgement, decider) = judge(commitment.over, &candidates, missing.is_empty());
    let because = match judgement {
        Judgement::Holds | Judgement::DoesNotHold => {
            decider.and_then(|one| one.by_chance.clone()).into_iter().collect()
        }
        Judgement::CannotTell | Judgement::NotTested => {
            reasons(commitment.over, &candidates, decider, missing)
        }
    };
    Verdict {
        place,
        commitment: commitment.clone(),
        amount: decider.map(|decider| decider.amount).or(commitment.asked.amount()),
        reference: decider.and_then(|decider| decider.source.clone()),
        judgement,
        simulated: gate.simulated,
        figure: decider.map(|decider| decider.figure),
        measured: decider.map(|decider| decider.measured),
        margin: decider.map(|decider| decider.margin),
        bound: decider.and_then(|decider| decider.bound),
        best: decider.and_then(|decider| decider.best),
        because,
        judged_by: judged_by(gate.plan, commitment),
        overrides: plan::study::overrides_of(gate.plan, commitment),
        about: candidates.iter().map(|one| one.figure).collect(),
        weighed: candidates.iter().map(|one| one.weighed).collect(),
    }
}

/// The first result that `selector` names although it is none of its set, because it runs alone.
fn runs_alone(plan: &Plan, selector: &Selector) -> Option<String> {
    let sets = plan.cases.iter().filter(|case| case.concurrent.is_some());
    let results = sets.flat_map(|case| case.phases.iter().map(move |&phase| (case, phase)));
    let mut alone = results.filter(|(case, phase)| phase.is_result() && !case.is_concurrent(*phase));
    let (case, phase) = alone.find(|(case, phase)| selector.names(case, *phase))?;
    Some(format!("{} {phase}: runs alone, before or after what runs at the same time", case.id))
}

/// A figure as one of `cases`. Returns `None` if a repetition has no value of this kind.
fn candidate(
    gate: &Gate<'_>,
    (commitment, amount): (&Commitment, Amount),
    figure: usize,
    cases: usize,
) -> Option<Candidate> {
    // If any of several figures is enough, one may keep the commitment by chance.
    let among = if commitment.over == Over::Best { cases } else { 1 };
    let counted: Vec<_> = gate.figures[figure].counted().collect();
    let values = judged(&counted, commitment, amount)?;
    if let Amount::Latency { percent: Some(percent), .. } = amount {
        return of_percentile(gate, (commitment, amount), (figure, cases), percent, &values);
    }
    let summary = Summary::of(&values)?;
    let at_least = commitment.bound == Bound::AtLeast;
    let (worst, best) = if at_least { (summary.min, summary.max) } else { (summary.max, summary.min) };
    let level = (1.0 - CONFIDENCE) / among.max(1) as f64;
    let bounds = median_bounds(&values, level);
    let bound = bounds.map(|bounds| (if at_least { bounds.low } else { bounds.high }, bounds.confidence));
    // If several figures all have to keep the commitment, one may break it by chance.
    let of_all =
        crate::statistics::bounds(&values, cases).filter(|_| commitment.over == Over::Every && cases > 1);
    let ends = of_all.or(bounds.map(|bounds| (bounds.low, bounds.high)));
    let best_end = ends.map(|(low, high)| if at_least { high } else { low });
    let measured = match commitment.statistic {
        Statistic::Median => summary.median,
        Statistic::Mean => summary.mean,
        Statistic::Worst => worst,
        Statistic::Best => best,
        Statistic::ConfidenceBound => bound.map_or(worst, |(bound, _)| bound),
    };
    let promised = amount.number();
    let margin_of = |value: f64| if at_least { value / promised - 1.0 } else { 1.0 - value / promised };
    let margin = margin_of(measured);
    let by_bound = commitment.statistic == Statistic::ConfidenceBound;
    // A bound only breaks the commitment if the other bound does so as well.
    let at_best = best_end.filter(|_| by_bound).unwrap_or(measured);
    let weighed = weighed(gate, (commitment, amount), figure, (at_best, margin));
    let mut doubts = gate.against(figure, weighed.statement, weighed.excepted);
    doubts.extend(flatters(gate, (commitment, amount), figure, (weighed, margin), &values));
    let kept_by_chance = among > 1 && margin >= 0.0;
    if bound.is_none() && (by_bound || kept_by_chance) {
        let (n, needed) = (summary.n, bound_least(level));
        let percent = CONFIDENCE * 100.0;
        doubts.push(match among {
            1 => format!("{n} repetitions give no bound of {percent:.0} % confidence: {needed} are needed"),
            _ => {
                format!("the best of {among} may keep it by chance: {needed} repetitions are needed, not {n}")
            }
        });
    } else if let Some((low, high)) = ends.filter(|_| by_bound && margin < 0.0) {
        let [low, high] = [low, high].map(|end| (end / promised - 1.0) * 100.0);
        if best_end.is_some_and(|end| margin_of(end) >= 0.0) {
            doubts.push(format!(
                "shown neither to be kept nor to be broken: the bounds of the median are {low:+.2} % and {high:+.2} % \
                 from what was promised, and more repetitions narrow them"
            ));
        }
    } else if kept_by_chance && bound.is_some_and(|(bound, _)| margin_of(bound) < 0.0) {
        doubts.push(format!("the best of {among} may keep it by chance: its bound does not keep it"));
    }
    // The best of several is judged by its bound above.
    let by_median = commitment.statistic == Statistic::Median && !kept_by_chance;
    let by_chance = match bounds {
        None if by_median && median_keeps(margin, None).is_none() => {
            let (n, needed) = (summary.n, bound_least(level));
            doubts.push(format!(
                "so close to the promise, the median of {n} may be on this side by chance: {needed} repetitions are \
                 needed"
            ));
            None
        }
        Some(ends) if by_median && (margin_of(ends.low) < 0.0) != (margin_of(ends.high) < 0.0) => {
            Some(format!("the median of {} may be on this side by chance", summary.n))
        }
        _ => None,
    };
    let (source, best) = (None, best_end);
    Some(Candidate { figure, amount, source, measured, margin, bound, best, weighed, doubts, by_chance })
}

/// The same for a promised percentile.
fn of_percentile(
    gate: &Gate<'_>,
    (commitment, amount): (&Commitment, Amount),
    (figure, cases): (usize, usize),
    percent: f64,
    values: &[f64],
) -> Option<Candidate> {
    let in_flight = gate.subject(figure).and_then(|subject| subject.case.in_flight());
    let promised = amount.number();
    let promise =
        PercentilePromise { commitment, percent, promised, figure: &gate.figures[figure], cases, in_flight };
    let settled = promise.settled(values)?;
    let weighed = weighed(gate, (commitment, amount), figure, (settled.measured, settled.margin));
    let mut doubts = gate.against(figure, weighed.statement, weighed.excepted);
    doubts.extend(flatters(gate, (commitment, amount), figure, (weighed, settled.margin), values));
    doubts.extend(settled.doubts);
    Some(Candidate {
        figure,
        amount,
        source: None,
        measured: settled.measured,
        margin: settled.margin,
        bound: settled.bound,
        best: settled.best,
        weighed,
        doubts,
        by_chance: None,
    })
}

/// What speaks against the judgement that `values` lead to: that the commitment was kept, or that the figure is fast.
fn flatters(
    gate: &Gate<'_>,
    (commitment, amount): (&Commitment, Amount),
    figure: usize,
    (weighed, margin): (Weighed, f64),
    values: &[f64],
) -> Vec<String> {
    let (is_kept, is_fast) = (margin >= 0.0, weighed.statement == Use::PromiseKept);
    let beside = not_beside(&gate.figures[figure], amount).filter(|_| is_kept || is_fast);
    let mut found: Vec<String> = beside.into_iter().collect();
    if is_kept && is_fast {
        found.extend(flattered((commitment, amount), gate.subject(figure), values));
    }
    found
}

/// Returns how the doubts about a figure are weighed, given its measured value and its margin: the share by which it
/// is on the good side of the commitment.
///
/// The columns of the policy assume a commitment to at least a given speed: whatever flatters a figure counts against
/// a figure that keeps it. For a commitment to at most a given speed, the same counts against a figure that breaks
/// it.
fn weighed(
    gate: &Gate<'_>,
    (commitment, amount): (&Commitment, Amount),
    figure: usize,
    (measured, margin): (f64, f64),
) -> Weighed {
    let is_latency = matches!(amount, Amount::Latency { .. });
    let promises_speed = (commitment.bound == Bound::AtLeast) != is_latency;
    let is_fast = (margin >= 0.0) == promises_speed;
    if is_fast {
        return Weighed { statement: Use::PromiseKept, excepted: None };
    }
    let least = gate.figures[figure].least_reached();
    // Only for a rate over the whole time is it known by how much a slowdown of the program lowers it: a single stall
    // may account for all of the worst seconds, or of the slowest operations.
    let is_over_all = matches!(commitment.rate, RateName::ByWall | RateName::ByIo);
    let excuses = is_latency || !promises_speed || !is_over_all || measured / amount.number() >= least;
    Weighed { statement: Use::PromiseBroken, excepted: (!excuses).then_some(Check::Starved) }
}

/// The judgement and the candidate that decided it. If all values keep the commitment but some are missing, a
/// commitment that every case has to keep is in doubt.
fn judge(over: Over, candidates: &[Candidate], complete: bool) -> (Judgement, Option<&Candidate>) {
    let decider = |clean_only: bool| {
        let among = candidates.iter().filter(|one| !clean_only || !one.is_doubtful());
        match over {
            Over::Every => among.min_by(|a, b| a.margin.total_cmp(&b.margin)),
            Over::Best => among.max_by(|a, b| a.margin.total_cmp(&b.margin)),
        }
    };
    let Some(any) = decider(false) else { return (Judgement::NotTested, None) };
    let doubtful = candidates.iter().find(|one| one.is_doubtful());
    match (over, decider(true)) {
        (Over::Every, Some(clean)) if clean.margin < 0.0 => (Judgement::DoesNotHold, Some(clean)),
        (Over::Best, Some(clean)) if clean.margin >= 0.0 => (Judgement::Holds, Some(clean)),
        // If the worst candidate is not doubtful itself, the doubtful one decides.
        (Over::Every, _) if doubtful.is_some() && !any.is_doubtful() => (Judgement::CannotTell, doubtful),
        _ if any.is_doubtful() || !complete => (Judgement::CannotTell, Some(any)),
        (Over::Every, _) => (Judgement::Holds, Some(any)),
        // The best candidate fails without doubt, and all others are below it.
        (Over::Best, _) => (Judgement::DoesNotHold, Some(any)),
    }
}

/// The reasons for a commitment that was not tested or is in doubt.
fn reasons(
    over: Over,
    candidates: &[Candidate],
    decider: Option<&Candidate>,
    missing: Vec<String>,
) -> Vec<String> {
    /// A few examples show what is wrong; a large study may lack thousands of figures.
    const MISSING_SHOWN: usize = 3;
    let mut reasons = decider.map(|one| one.doubts.clone()).unwrap_or_default();
    let doubtful = candidates.iter().filter(|one| one.is_doubtful()).count();
    let several = over == Over::Every && doubtful > 1;
    reasons.extend(several.then(|| format!("{doubtful} of {} figures are doubtful", candidates.len())));
    let more = missing.len().saturating_sub(MISSING_SHOWN);
    reasons.extend(missing.into_iter().take(MISSING_SHOWN));
    reasons.extend((more > 0).then(|| format!("{more} more were not measured")));
    if reasons.is_empty() {
        reasons.push("no case of the study matches it".to_owned());
    }
    reasons
}

/// Why a part of what a reference run reached is not judged.
const NO_REFERENCE: &str =
    "is a part of what a reference run reached: name it with ioproof verdict RUN --against REFERENCE";

/// Names the value that a figure lacks.
fn wanted(commitment: &Commitment) -> String {
    if commitment.asked.is_of_latency() {
        return "latencies".to_owned();
    }
    format!("rate {} in every repetition", commitment.rate.name())
}
