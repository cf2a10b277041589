//! What differs between a study and its scaled form, and what can no longer be told.

use std::collections::HashMap;

use super::workload::clock_of;
use crate::cases::scaling::{Untold, UntoldKind};
use crate::{Case, Claim, Expectation, Phase, Plan, Selector, Side};

/// Each case that is left, with what it was.
pub(super) fn pairs<'p>(of: &'p Plan, left: &'p Plan) -> impl Iterator<Item = (&'p Case, &'p Case)> {
    let was: HashMap<&str, &Case> = of.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    left.cases.iter().filter_map(move |is| Some((*was.get(is.id.as_str())?, is)))
}

/// The amount of a case that scaling lowers.
fn amount(case: &Case) -> u64 {
    case.workload.work.kind().amount(&case.workload)
}

/// The power of two by which the amount is smaller. `None` if it is not.
pub(super) fn smaller(was: &Case, is: &Case) -> Option<u64> {
    let (was, is) = (amount(was), amount(is));
    // A size is rounded to whole transfers, so that the quotient may be above the power of two.
    (is < was).then(|| 1 << (was / is.max(1)).max(2).ilog2())
}

/// The factor by which the time or the number of operations of a pass is smaller. `None` if it is not.
pub(super) fn shorter(was: &Case, is: &Case) -> Option<f64> {
    let of = |case: &Case| {
        let operations = case.workload.operations.map(|operations| operations as f64);
        operations.or(clock_of(case).map(|clock| clock.0 as f64))
    };
    let (was, is) = (of(was)?, of(is)?);
    (is < was).then_some(was / is)
}

/// The parts of the preparation that were given up, in words.
pub(super) fn preparation(kept: &[(&Case, &Case)]) -> Vec<String> {
    let any = |differs: fn(&Case, &Case) -> bool| kept.iter().any(|(was, is)| differs(was, is));
    let parts = [
        ("no pauses", any(|was, is| is.delay < was.delay)),
        ("no warm-ups", any(|was, is| is.protocol.warm_up < was.protocol.warm_up)),
        ("fewer preconditionings", any(|was, is| is.protocol.precondition < was.protocol.precondition)),
        ("one round in each repetition", any(|was, is| is.protocol.rounds < was.protocol.rounds)),
    ];
    parts.into_iter().filter(|(_, is_given_up)| *is_given_up).map(|(words, _)| words.to_owned()).collect()
}

/// Whether a figure of the case is no longer about the same data, or was reached in another way. Fewer repetitions and
/// shorter passes only make it less sure, which the statistics say.
fn is_of_something_else(was: &Case, is: &Case) -> Option<String> {
    let (one, other) = (&was.workload, &is.workload);
    let direct = |case: &Case| case.workload.work.kind().is_direct(&case.workload);
    let protocol = |case: &Case| (case.protocol.warm_up, case.protocol.precondition, case.protocol.rounds);
    match () {
        () if direct(was) != direct(is) => {
            Some("it was measured with direct instead of buffered I/O".to_owned())
        }
        () if amount(was) != amount(is) => smaller(was, is).map(|factor| match one.work.is_transfers() {
            true => format!("its files are smaller, {} instead of {}", other.footprint(), one.footprint()),
            false => format!("what it works on is smaller, ÷ {factor}"),
        }),
        () if protocol(was) != protocol(is) => {
            Some("warm-ups, preconditionings or early rounds were given up".to_owned())
        }
        () => None,
    }
}

/// The statements of `of` that the cases of `left` can no longer tell.
pub(super) fn untold(of: &Plan, left: &Plan) -> Vec<Untold> {
    let kept: HashMap<&str, (&Case, &Case)> =
        pairs(of, left).map(|(was, is)| (was.id.as_str(), (was, is))).collect();
    let lost = Lost { of, kept: &kept };
    let mut all: Vec<Untold> = Vec::new();
    let mut add = |kind, name: &str, why: Option<String>| {
        let is_known = |one: &Untold| one.kind == kind && one.name == name;
        if let Some(why) = why.filter(|_| !all.iter().any(is_known)) {
            all.push(Untold { kind, name: name.to_owned(), why });
        }
    };
    let criteria = &of.criteria;
    for claim in &criteria.claims {
        add(UntoldKind::Claim, &claim.id, lost.claim(claim));
    }
    for commitment in &criteria.commitments {
        let why = lost.points(&[&commitment.figures]).or_else(|| lost.others(&commitment.figures));
        add(UntoldKind::Commitment, &commitment.name, why);
    }
    for published in &criteria.published {
        let why = lost.points(&[&published.figures]).or_else(|| lost.others(&published.figures));
        add(UntoldKind::Published, &published.id, why);
    }
    for expectation in &criteria.expectations {
        add(UntoldKind::Expectation, &expectation.name, lost.expectation(expectation));
    }
    all
}

struct Lost<'a> {
    of: &'a Plan,
    kept: &'a HashMap<&'a str, (&'a Case, &'a Case)>,
}

impl Lost<'_> {
    /// How many of the figures that `sides` select were given up, in words. Each side needs all of its figures.
    fn points(&self, sides: &[&Selector]) -> Option<String> {
        let mut selected: Vec<(&Case, Phase)> = Vec::new();
        for one in sides.iter().flat_map(|side| self.of.selected(side)) {
            if !selected.iter().any(|known| (&known.0.id, known.1) == (&one.0.id, one.1)) {
                selected.push(one);
            }
        }
        let lost: Vec<&(&Case, Phase)> =
            selected.iter().filter(|(case, _)| !self.kept.contains_key(case.id.as_str())).collect();
        match (lost.as_slice(), selected.len()) {
            ([], _) => None,
            ([(case, phase)], 1) => Some(format!("its only figure, {phase} of {}, was given up", case.id)),
            ([_], all) => Some(format!("one of its {all} figures was given up")),
            (lost, all) => Some(format!("{} of its {all} figures were given up", lost.len())),
        }
    }

    /// How the selected figures are of something else.
    fn others(&self, figures: &Selector) -> Option<String> {
        let selected = self.of.selected(figures);
        let mut kept = selected.iter().filter_map(|(case, _)| self.kept.get(case.id.as_str()));
        kept.find_map(|(was, is)| is_of_something_else(was, is))
    }

    /// A published claim is about the published sizes; a claim of the user's own is about what is measured.
    fn claim(&self, claim: &Claim) -> Option<String> {
        let right = match &claim.right {
            Side::Measured(selector) => Some(selector),
            Side::Value(_) | Side::OperationsPerSecond(_) => None,
        };
        let sides = || std::iter::once(&claim.left).chain(right);
        let is_published = claim.text.is_empty();
        let others = || sides().filter(|_| is_published).find_map(|side| self.others(side));
        self.points(&sides().collect::<Vec<_>>()).or_else(others)
    }

    /// An expectation can be told as long as one figure is left that it is about.
    fn expectation(&self, expectation: &Expectation) -> Option<String> {
        let is_about = |case: &Case| {
            let random = Some(case.workload.order.is_random());
            let agrees = |phase: &Phase| expectation.agrees(&case.target, case, *phase, random);
            case.phases.iter().filter(|phase| phase.is_result()).any(agrees)
        };
        let mut about = self.of.cases.iter().filter(|case| is_about(case)).peekable();
        about.peek()?;
        let is_gone = about.all(|case| !self.kept.contains_key(case.id.as_str()));
        is_gone.then(|| "all points that it is about were given up".to_owned())
    }
}
