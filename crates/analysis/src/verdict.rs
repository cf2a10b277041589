//! Commitments, judged: was what was promised kept, by how much, and how sure is that?

use plan::{Amount, Bound, Commitment, Over, Plan, Statistic};

use crate::amount::values;
use crate::grounds::{Grounds, selected};
use crate::{
    CONFIDENCE, Doubt, Figure, Judgement, RepetitionFigure, Summary, Verdict, bound_least, median_bounds,
};

/// Every commitment of `plan`, in order.
///
/// - All cases and phases that the selector takes have to keep it, or the best of them
///   ([`Over`]). One that was planned and is not among `figures` cannot have kept it.
/// - Values are those of the repetitions that count, by the commitment's own rate; in a phase that
///   reads and writes the slower direction's latency counts.
/// - The margin is measured ÷ promised − 1, and 1 − measured ÷ promised where less is better: a positive margin is
///   good on either side.
/// - What keeps a commitment only by a doubtful figure is [`Judgement::Doubtful`]: one with a
///   disqualifying doubt, or with too few repetitions for the confidence bound. So is the best of
///   several that may be so by chance: the bound of its median, corrected for their number, has to keep it as well. A figure without doubts that does not keep it is a [`Judgement::Fail`],
///   whatever the others are. So is one that may only have been
///   too good ([`crate::POLICY`]) and does not keep it even so.
#[must_use]
pub fn verdicts(plan: &Plan, figures: &[Figure], doubts: &[Doubt]) -> Vec<Verdict> {
    let study = Study(Grounds::new(plan, figures, doubts));
    plan.terms
        .commitments
        .iter()
        .enumerate()
        .map(|(place, commitment)| study.verdict(place, commitment))
        .collect()
}

struct Study<'a>(Grounds<'a>);

/// A figure that a commitment is about.
struct Candidate {
    figure: usize,
    measured: f64,
    margin: f64,
    bound: Option<(f64, f64)>,
    doubts: Vec<String>,
}

impl Study<'_> {
    fn verdict(&self, commitment_place: usize, commitment: &Commitment) -> Verdict {
        let mut candidates = Vec::new();
        let mut missing = Vec::new();
        let selected = selected(self.0.plan, &commitment.figures);
        let among = if commitment.over == Over::Best { selected.len() } else { 1 };
        for (case, phase) in selected {
            let place = self.0.places.get(case, phase);
            let judged = place.map(|place| (place, self.0.figures[place].counted().collect::<Vec<_>>()));
            match judged {
                Some((place, counted)) if !counted.is_empty() => {
                    match self.candidate(commitment, place, &counted, among) {
                        Some(candidate) => candidates.push(candidate),
                        None => missing.push(format!("{} {phase}: has no {}", case.id, wanted(commitment))),
                    }
                }
                _ => missing.push(format!("{} {phase}: was not measured", case.id)),
            }
        }
        let (judgement, decider) = judge(commitment.over, &candidates, missing.is_empty());
        let because = match judgement {
            Judgement::Pass | Judgement::Fail => Vec::new(),
            Judgement::Doubtful | Judgement::NotTested => {
                reasons(commitment.over, &candidates, decider, missing)
            }
        };
        let decider = decider.map(|place| &candidates[place]);
        Verdict {
            commitment: commitment_place,
            judgement,
            figure: decider.map(|decider| decider.figure),
            measured: decider.map(|decider| decider.measured),
            margin: decider.map(|decider| decider.margin),
            bound: decider.and_then(|decider| decider.bound),
            because,
        }
    }

    /// The figure as one of `among` that are enough; none where a repetition has no value of the kind.
    fn candidate(
        &self,
        commitment: &Commitment,
        place: usize,
        counted: &[&RepetitionFigure],
        among: usize,
    ) -> Option<Candidate> {
        let values = values(counted, commitment.amount, commitment.rate)?;
        let summary = Summary::of(&values)?;
        let at_least = commitment.bound == Bound::AtLeast;
        let (worst, best) = if at_least { (summary.min, summary.max) } else { (summary.max, summary.min) };
        let level = (1.0 - CONFIDENCE) / among.max(1) as f64;
        let bound = median_bounds(&values, level)
            .map(|bounds| (if at_least { bounds.low } else { bounds.high }, bounds.confidence));
        let measured = match commitment.statistic {
            Statistic::Median => summary.median,
            Statistic::Mean => summary.mean,
            Statistic::Worst => worst,
            Statistic::Best => best,
            Statistic::ConfidenceBound => bound.map_or(worst, |(bound, _)| bound),
        };
        let promised = number(commitment.amount);
        let margin_of = |value: f64| if at_least { value / promised - 1.0 } else { 1.0 - value / promised };
        let margin = margin_of(measured);
        let mut doubts = match margin < 0.0 {
            true => self.0.against_breach(place),
            false => self.0.against(place),
        };
        let by_bound = commitment.statistic == Statistic::ConfidenceBound;
        let kept_by_chance = among > 1 && margin >= 0.0;
        if bound.is_none() && (by_bound || kept_by_chance) {
            doubts.push(too_few(summary.n, bound_least(level), among));
        } else if kept_by_chance && bound.is_some_and(|(bound, _)| margin_of(bound) < 0.0) {
            doubts.push(format!("the best of {among} may keep it by chance: its bound does not"));
        }
        Some(Candidate { figure: place, measured, margin, bound, doubts })
    }
}

/// The judgement and the candidate that decided it. With all values kept but some missing, what
/// every case had to keep is in doubt.
fn judge(over: Over, candidates: &[Candidate], complete: bool) -> (Judgement, Option<usize>) {
    let lowest = |clean_only: bool| {
        let among = candidates.iter().enumerate().filter(|(_, one)| !clean_only || one.doubts.is_empty());
        among.min_by(|a, b| a.1.margin.total_cmp(&b.1.margin)).map(|(place, _)| place)
    };
    let highest = |clean_only: bool| {
        let among = candidates.iter().enumerate().filter(|(_, one)| !clean_only || one.doubts.is_empty());
        among.max_by(|a, b| a.1.margin.total_cmp(&b.1.margin)).map(|(place, _)| place)
    };
    let (any, clean) = match over {
        Over::Every => (lowest(false), lowest(true)),
        Over::Best => (highest(false), highest(true)),
    };
    let Some(any) = any else { return (Judgement::NotTested, None) };
    let kept = |place: usize| candidates[place].margin >= 0.0;
    match (over, clean) {
        (Over::Every, Some(clean)) if !kept(clean) => (Judgement::Fail, Some(clean)),
        (Over::Every, _) => {
            let first_doubtful = candidates.iter().position(|one| !one.doubts.is_empty());
            match first_doubtful {
                // The doubtful one decides where the worst is not doubtful itself.
                Some(doubtful) if candidates[any].doubts.is_empty() => (Judgement::Doubtful, Some(doubtful)),
                Some(_) => (Judgement::Doubtful, Some(any)),
                None if complete => (Judgement::Pass, Some(any)),
                None => (Judgement::Doubtful, Some(any)),
            }
        }
        (Over::Best, Some(clean)) if kept(clean) => (Judgement::Pass, Some(clean)),
        (Over::Best, _) if !candidates[any].doubts.is_empty() => (Judgement::Doubtful, Some(any)),
        // The best fails without doubt, and all others are below it.
        (Over::Best, _) if complete => (Judgement::Fail, Some(any)),
        (Over::Best, _) => (Judgement::Doubtful, Some(any)),
    }
}

/// What is told of a commitment that was not tested or is in doubt.
fn reasons(
    over: Over,
    candidates: &[Candidate],
    decider: Option<usize>,
    missing: Vec<String>,
) -> Vec<String> {
    let mut reasons: Vec<String> = decider.map(|place| candidates[place].doubts.clone()).unwrap_or_default();
    if over == Over::Every {
        let doubtful = candidates.iter().filter(|one| !one.doubts.is_empty()).count();
        if doubtful > 1 {
            reasons.push(format!("{doubtful} of {} figures are doubtful", candidates.len()));
        }
    }
    // A few examples tell what is wrong; a large study may miss thousands.
    const MISSING_SHOWN: usize = 3;
    let more = missing.len().saturating_sub(MISSING_SHOWN);
    reasons.extend(missing.into_iter().take(MISSING_SHOWN));
    if more > 0 {
        reasons.push(format!("{more} more were not measured"));
    }
    if reasons.is_empty() {
        reasons.push("no case of the study is meant by it".to_owned());
    }
    reasons
}

fn too_few(n: usize, needed: usize, among: usize) -> String {
    match among {
        1 => format!(
            "{n} repetitions give no bound of {:.0} % confidence: {needed} are needed",
            CONFIDENCE * 100.0
        ),
        _ => format!("the best of {among} may keep it by chance: {needed} repetitions are needed, not {n}"),
    }
}

/// The value that a figure lacks.
fn wanted(commitment: &Commitment) -> String {
    match commitment.amount {
        Amount::Latency { .. } => "latencies".to_owned(),
        Amount::BytesPerSecond(_) | Amount::OperationsPerSecond(_) => {
            format!("rate {} in every repetition", commitment.rate.name())
        }
    }
}

fn number(amount: Amount) -> f64 {
    match amount {
        Amount::BytesPerSecond(value) | Amount::OperationsPerSecond(value) => value,
        Amount::Latency { nanos, .. } => nanos,
    }
}
