//! Statements of studies, tested on own figures by the rules that the study file fixes beforehand.

use std::collections::HashSet;

use plan::{Claim, Plan, Quantity, Relation, Selector, Side};
use record::{Library, PublishedUnit};

use crate::grounds::Grounds;
use crate::quantities::{Amounts, Measured};
use crate::subject::{Subject, subjects};
use crate::{ClaimVerdict, Curve, Doubt, Figure, RateOf, Standing};

/// What own data say of the statements of `plan`, and of those that no rule tests though they are of the same
/// studies.
///
/// A statement with several rules holds if all of them do. A side is greater or less if it is so
/// by more than the tolerance and, where repetitions give the sides intervals (95 % confidence of
/// the median, from order statistics), if the intervals do not overlap.
///
/// Nothing is said of a selection of which a part was not measured, nor by figures that `doubts`
/// disqualify: a best or smallest value rests on its figure, all other quantities on every figure
/// that they are taken from.
#[must_use]
pub fn claims(
    plan: &Plan,
    figures: &[Figure],
    curves: &[Curve],
    doubts: &[Doubt],
    library: &Library,
) -> Vec<ClaimVerdict> {
    let subjects = subjects(plan, figures);
    let amounts = Amounts { subjects: &subjects, curves, grounds: Grounds::new(plan, figures, doubts) };
    let mut verdicts = Vec::new();
    let mut seen = HashSet::new();
    for rule in &plan.terms.claims {
        if seen.insert(rule.id.as_str()) {
            let rules: Vec<&Claim> = plan.terms.claims.iter().filter(|one| one.id == rule.id).collect();
            verdicts.push(tested(&rules, &amounts, library));
        }
    }
    verdicts.extend(untested(plan, library, &seen));
    verdicts
}

/// The verdict on one statement by all of its rules.
fn tested(rules: &[&Claim], amounts: &Amounts<'_>, library: &Library) -> ClaimVerdict {
    let known = library.claim(&rules[0].id);
    let outcomes: Vec<(Standing, String)> = rules.iter().map(|rule| outcome(rule, amounts)).collect();
    let any = |wanted| outcomes.iter().any(|(standing, _)| *standing == wanted);
    let standing = match () {
        () if any(Standing::DoesNotHold) => Standing::DoesNotHold,
        () if any(Standing::NotTested) => Standing::NotTested,
        () => Standing::Holds,
    };
    let text = rules.iter().map(|rule| &rule.text).find(|text| !text.is_empty());
    // What several rules lack is said once.
    let mut said = HashSet::new();
    let evidence: Vec<&str> =
        outcomes.iter().map(|(_, evidence)| evidence.as_str()).filter(|one| said.insert(*one)).collect();
    let study = known.and_then(|claim| library.study(&claim.study));
    ClaimVerdict {
        id: rules[0].id.clone(),
        text: text.cloned().or_else(|| known.map(|claim| claim.text.clone())).unwrap_or_default(),
        source: study.map(record::Study::cited).unwrap_or_default(),
        standing,
        evidence: evidence.join("; "),
        relation: match rules {
            [only] => Some(only.relation),
            _ => None,
        },
    }
}

/// The other statements of the studies of which `plan` tests some. Who only sets a published figure beside own ones
/// asks for none of them.
fn untested(plan: &Plan, library: &Library, seen: &HashSet<&str>) -> Vec<ClaimVerdict> {
    let ruled = plan.terms.claims.iter().filter_map(|rule| library.claim(&rule.id));
    let studies: HashSet<&str> = ruled.map(|claim| claim.study.as_str()).collect();
    let missing = library.claims.iter().filter(|claim| studies.contains(claim.study.as_str()));
    let missing = missing.filter(|claim| !seen.contains(claim.id.as_str()));
    let verdict = |claim: &record::PublishedClaim| ClaimVerdict {
        id: claim.id.clone(),
        text: claim.text.clone(),
        source: library.study(&claim.study).map(record::Study::cited).unwrap_or_default(),
        standing: Standing::NotTested,
        evidence: match claim.check.as_str() {
            "" | "-" => "no rule in this study tests it".to_owned(),
            check => format!("no rule in this study tests it; it would need: {check}"),
        },
        relation: None,
    };
    missing.map(verdict).collect()
}

/// One rule.
fn outcome(rule: &Claim, amounts: &Amounts<'_>) -> (Standing, String) {
    let (left, right) =
        match (side(rule, &Side::Measured(rule.left.clone()), amounts), side(rule, &rule.right, amounts)) {
            (Ok(left), Ok(right)) => told_apart(rule, left, right.times(rule.factor)),
            (Err(missing), _) | (_, Err(missing)) => return (Standing::NotTested, missing),
        };
    let room = rule.tolerance * right.value.abs();
    let unit = unit_of(rule.quantity, &left);
    let sign = match left.value.total_cmp(&right.value) {
        std::cmp::Ordering::Greater => ">",
        std::cmp::Ordering::Less => "<",
        std::cmp::Ordering::Equal => "=",
    };
    let shown = |side: &Measured| match side.what.as_str() {
        "" => unit(side.value),
        what => format!("{} ({what})", unit(side.value)),
    };
    let factor = if rule.factor == 1.0 { String::new() } else { format!(" × {}", rule.factor) };
    let right_shown = match factor.is_empty() {
        true => shown(&right),
        false => format!("{}{factor}", shown(&right.times(1.0 / rule.factor))),
    };
    let evidence = format!("{} {sign} {right_shown}", shown(&left));
    let (beyond, apart) = match rule.relation {
        Relation::Greater => (left.value > right.value + room, left.low() > right.high()),
        Relation::Less => (left.value < right.value - room, left.high() < right.low()),
        Relation::Equal => {
            let equal = (left.value - right.value).abs() <= room;
            let standing = if equal { Standing::Holds } else { Standing::DoesNotHold };
            return (
                standing,
                format!("{evidence}, equal within {} %: {}", percent(rule.tolerance), yes(equal)),
            );
        }
    };
    let repeated = left.interval.is_some() || right.interval.is_some();
    match (beyond, apart) {
        (true, true) if repeated => (Standing::Holds, evidence),
        (true, _) if !repeated => (Standing::Holds, format!("{evidence}, from single runs")),
        (true, _) => (Standing::DoesNotHold, format!("{evidence}, but no difference beyond the scatter")),
        (false, _) if rule.tolerance > 0.0 => (
            Standing::DoesNotHold,
            format!("{evidence}; to be {} by more than {} %", word(rule.relation), percent(rule.tolerance)),
        ),
        (false, _) => (Standing::DoesNotHold, format!("{evidence}; to be {}", word(rule.relation))),
    }
}

/// Both sides, with the workloads that the rule names where their labels are alike without.
fn told_apart(rule: &Claim, left: Measured, right: Measured) -> (Measured, Measured) {
    let Side::Measured(of_right) = &rule.right else { return (left, right) };
    if left.what != right.what {
        return (left, right);
    }
    let named = |selector: &Selector, side: Measured| match &selector.workload {
        Some(workload) => Measured { what: format!("{workload}: {}", side.what), ..side },
        None => side,
    };
    (named(&rule.left, left), named(of_right, right))
}

fn side(rule: &Claim, side: &Side, amounts: &Amounts<'_>) -> Result<Measured, String> {
    match side {
        Side::Value(value) => Ok(Measured {
            value: *value,
            interval: None,
            what: String::new(),
            setting: None,
            by: Vec::new(),
            counts: RateOf::Bytes,
        }),
        Side::Measured(selector) => {
            amounts.of(rule.quantity, selector).map_err(|reason| format!("{}: {reason}", name_of(selector)))
        }
    }
}

/// How values of a quantity are written. A swept value is written as its axis is.
fn unit_of(quantity: Quantity, left: &Measured) -> impl Fn(f64) -> String + use<> {
    let (setting, counts) = (left.setting.clone(), left.counts);
    move |value| match quantity {
        Quantity::BestRate | Quantity::LowestRate | Quantity::TypicalRate => match counts {
            RateOf::Bytes => PublishedUnit::BytesPerSecond.text(value),
            RateOf::Operations => PublishedUnit::OperationsPerSecond.text(value),
        },
        Quantity::Variation
        | Quantity::RepetitionSpread
        | Quantity::CpuShare
        | Quantity::VariationBeyond
        | Quantity::SlowestShare => PublishedUnit::Fraction.text(value),
        Quantity::RSquared => format!("R² = {value:.4}"),
        Quantity::Latency => PublishedUnit::Seconds.text(value / 1e9),
        Quantity::BestAt | Quantity::Knee | Quantity::PlateauFrom | Quantity::Reaches90 => {
            crate::quantities::on_axis(setting.as_ref(), value)
        }
    }
}

/// The selected figures in words.
fn name_of(selector: &Selector) -> String {
    let parts =
        [selector.workload.clone(), selector.target.clone(), selector.phase.map(|phase| phase.to_string())];
    let settings = selector.at.iter().map(ToString::to_string);
    let words: Vec<String> = parts.into_iter().flatten().chain(settings).collect();
    if words.is_empty() { "all figures".to_owned() } else { words.join(", ") }
}

/// What tells a figure apart within a study: target, phase and settings, and the workload where
/// there is no target.
pub(crate) fn label(subject: &Subject<'_>) -> String {
    let case = subject.case;
    let settings = case.settings.iter().filter(|setting| setting.key != "target").map(ToString::to_string);
    let place = if case.target.is_empty() { &case.group } else { &case.target };
    let phase = subject.figure.phase.to_string();
    let words: Vec<String> = [place.clone(), phase].into_iter().chain(settings).collect();
    words.join(", ")
}

fn percent(share: f64) -> f64 {
    (share * 1000.0).round() / 10.0
}

const fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}

const fn word(relation: Relation) -> &'static str {
    match relation {
        Relation::Greater => "greater",
        Relation::Less => "less",
        Relation::Equal => "equal",
    }
}
