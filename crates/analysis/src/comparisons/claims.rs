//! Claims of studies, tested on own figures with the rules that the study file fixes in advance.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use plan::{Bytes, Claim, Plan, Quantity, Relation, Selector, Side, UntoldKind};
use record::{Library, PublishedUnit};

use crate::audit::AuditIssue;
use crate::comparisons::claim_verdict::{ClaimVerdict, source};
use crate::comparisons::quantities::{Amounts, Measured};
use crate::comparisons::unruled::{Beside, unruled};
use crate::figures::{Figure, RateOf};
use crate::gate::{Gate, Judgement, condition};
use crate::statistics::{Contrast, DIFFERENCE_LEAST, Settled, bounds, difference::difference, settled_by};
use crate::sweeps::{Curve, on_axis};

/// The verdicts on the claims of `plan`, followed by the claims of the same studies that no rule tests.
///
/// A claim with several rules holds if all of them hold. A side counts as greater or less if [`difference`] shows a
/// difference by more than the tolerance, with all rules forming one family. Both sides count as equal if the
/// interval of their ratio lies within the tolerance. A value is compared with [`bounds`]. Quantities that are
/// derived from many figures, such as a knee or a variation, are derived from each pass separately for that. What is
/// neither shown nor refuted cannot be told.
///
/// Nothing is stated if a part of the selection was not measured, or for figures that `doubts` disqualify. A best or
/// smallest value only rests on its own figure, every other quantity on all figures that it is taken from.
#[must_use]
pub fn claims(
    plan: &Plan,
    figures: &[Figure],
    curves: &[Curve],
    doubts: &[AuditIssue],
    library: &Library,
) -> Vec<ClaimVerdict> {
    claim_verdicts(&Gate::new(plan, figures, doubts), Beside::default(), curves, library)
}

/// The same as [`claims`] for the figures of a gate, with the statements `beside` that judge claims without a rule;
/// tested claims come first.
pub(crate) fn claim_verdicts(
    gate: &Gate<'_>,
    beside: Beside<'_>,
    curves: &[Curve],
    library: &Library,
) -> Vec<ClaimVerdict> {
    let (plan, amounts) = (gate.plan, Amounts { gate, curves });
    let family = plan.criteria.claims.len();
    let mut verdicts = Vec::new();
    let mut seen = HashSet::new();
    for rule in &plan.criteria.claims {
        if seen.insert(rule.id.as_str()) {
            let rules: Vec<&Claim> = plan.criteria.claims.iter().filter(|one| one.id == rule.id).collect();
            verdicts.push(tested(&rules, &amounts, family, library));
        }
    }
    verdicts.extend(unruled(gate, beside, library, &seen));
    verdicts.sort_by_key(|one| one.judgement == Judgement::NotTested);
    verdicts
}

/// The verdict on one claim from all of its rules.
fn tested(rules: &[&Claim], amounts: &Amounts<'_>, family: usize, library: &Library) -> ClaimVerdict {
    let known = library.claim(&rules[0].id);
    let scaling = amounts.gate.plan.scaling.as_ref();
    let given_up = scaling.and_then(|scaling| scaling.untold(UntoldKind::Claim, &rules[0].id));
    let mut outcomes: Vec<(Judgement, String, Vec<usize>)> = match given_up {
        Some(why) => vec![(Judgement::NotTested, why, Vec::new())],
        None => rules.iter().map(|rule| outcome(rule, amounts, family)).collect(),
    };
    let any = |wanted| outcomes.iter().any(|one| one.0 == wanted);
    let judgement = match () {
        () if any(Judgement::DoesNotHold) => Judgement::DoesNotHold,
        () if any(Judgement::NotTested) => Judgement::NotTested,
        () if any(Judgement::CannotTell) => Judgement::CannotTell,
        () => Judgement::Holds,
    };
    let text = rules.iter().map(|rule| &rule.text).find(|text| !text.is_empty());
    // The deciding rule comes first; a shortage that several rules share is reported once.
    outcomes.sort_by_key(|one| one.0 != judgement);
    let mut evidence: Vec<String> = Vec::new();
    let mut figures = BTreeSet::new();
    for (_, said, by) in outcomes {
        if !evidence.contains(&said) {
            evidence.push(said);
        }
        figures.extend(by);
    }
    ClaimVerdict {
        id: rules[0].id.clone(),
        text: text.cloned().or_else(|| known.map(|claim| claim.text.clone())).unwrap_or_default(),
        source: known.map(|claim| source(claim, library)).unwrap_or_default(),
        judgement,
        simulated: amounts.gate.simulated,
        evidence,
        relation: match rules {
            [only] => Some(only.relation),
            _ => None,
        },
        figures: figures.into_iter().collect(),
    }
}

/// The outcome of one rule, tested as one of `family` comparisons.
fn outcome(rule: &Claim, amounts: &Amounts<'_>, family: usize) -> (Judgement, String, Vec<usize>) {
    let counts = match rule.right {
        Side::OperationsPerSecond(_) => Some(RateOf::Operations),
        Side::Measured(_) | Side::Value(_) => None,
    };
    let measured = |selector: &Selector| {
        let missing =
            |(judgement, reason)| (judgement, format!("{}: {reason}", name_of(selector)), Vec::new());
        amounts.of(rule.quantity, selector, counts).map_err(missing)
    };
    let right = match &rule.right {
        Side::Value(_) | Side::OperationsPerSecond(_) => None,
        Side::Measured(selector) => Some(measured(selector)),
    };
    let (mut left, mut right) = match (measured(&rule.left), right.transpose()) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(missing), _) | (_, Err(missing)) => return missing,
    };
    tell_apart(rule, &mut left, right.as_mut());
    let compared = Compared { rule, left: &left, right: right.as_ref(), family };
    let (judgement, because) = compared.outcome();
    let small = match &rule.right {
        Side::Measured(right) => amounts.small_transfer([&rule.left, right]),
        Side::Value(_) | Side::OperationsPerSecond(_) => None,
    };
    let unit = unit_of(rule.quantity, &left, small);
    let shown = |side: &Measured| match side.what.as_str() {
        "" => unit(side.value),
        what => format!("{} ({what})", unit(side.value)),
    };
    let value = compared.right_value();
    let sign = match (judgement, left.value.total_cmp(&(value * rule.factor))) {
        // A relation sign would state something that was not shown.
        (Judgement::CannotTell | Judgement::NotTested, _) => "against",
        (_, Ordering::Greater) => ">",
        (_, Ordering::Less) => "<",
        (_, Ordering::Equal) => "=",
    };
    let right_shown = right.as_ref().map_or_else(|| unit(value), shown);
    let factor = if rule.factor == 1.0 { String::new() } else { format!(" × {}", rule.factor) };
    let by = [Some(&left), right.as_ref()].into_iter().flatten().flat_map(|side| side.by.clone()).collect();
    (judgement, format!("{} {sign} {right_shown}{factor}{because}", shown(&left)), by)
}

/// Both sides of a rule.
struct Compared<'a> {
    rule: &'a Claim,
    left: &'a Measured,
    /// `None` if the left side is compared with a value.
    right: Option<&'a Measured>,
    family: usize,
}

/// An interval that is no wider than this is a single value, apart from rounding.
const EQUAL_WITHIN: f64 = 1e-6;

impl Compared<'_> {
    fn right_value(&self) -> f64 {
        match (&self.rule.right, self.right) {
            (Side::Value(value) | Side::OperationsPerSecond(value), _) => *value,
            (_, Some(right)) => right.value,
            (_, None) => f64::NAN,
        }
    }

    /// The contrast between `base` + left and `base` + right × `factor`, the interval of their ratio − 1, and the
    /// condition of an obvious difference or what would tell one.
    fn contrast(&self, base: f64, factor: f64) -> (Contrast, Option<(f64, f64)>, String) {
        // The best of several may be the best by chance, so each of them counts as a comparison.
        let family = self.family * self.left.among.max(self.right.map_or(1, |right| right.among));
        let left: Vec<f64> = self.left.passes.iter().map(|value| base + value).collect();
        let Some(right) = self.right else {
            let promised = base + self.right_value() * factor;
            let interval = bounds(&left, family);
            let contrast = match interval {
                None => Contrast::TooFew,
                Some((low, _)) if low > promised => Contrast::Higher,
                Some((_, high)) if high < promised => Contrast::Lower,
                Some(_) => Contrast::NotShown,
            };
            let of_ratio = interval.map(|(low, high)| (low / promised - 1.0, high / promised - 1.0));
            return (contrast, of_ratio, String::new());
        };
        let right: Vec<f64> = right.passes.iter().map(|value| base + value * factor).collect();
        match difference(&right, &left, family) {
            Some(found) => {
                let more = match found.is_stated() {
                    true if found.is_obvious() => format!(", {}", condition(&found)),
                    true => String::new(),
                    false => settled_by(&right, &left, family)
                        .filter(|one| {
                            one.repetitions > DIFFERENCE_LEAST || found.outcome == Contrast::NotShown
                        })
                        .map_or_else(String::new, |one| settled_words(one, base == 0.0 && factor == 1.0)),
                };
                (found.outcome, found.interval, more)
            }
            None => (Contrast::TooFew, None, String::new()),
        }
    }

    /// What is added to both sides before they are compared. Shares near 0 have logarithms that scatter without end, so
    /// 1 + the share is compared, as in the table of consistency.
    const fn base(&self) -> f64 {
        match self.rule.quantity {
            Quantity::Variation | Quantity::RepetitionSpread | Quantity::VariationBeyond => 1.0,
            _ => 0.0,
        }
    }

    /// The verdict, and the text that follows both sides.
    fn outcome(&self) -> (Judgement, String) {
        let Claim { relation, factor, tolerance, .. } = *self.rule;
        let wanted = match relation {
            Relation::Greater => Contrast::Higher,
            Relation::Less => Contrast::Lower,
            Relation::Equal => return self.equal(),
        };
        let margin = if relation == Relation::Greater { 1.0 + tolerance } else { 1.0 - tolerance };
        let (contrast, _, condition) = self.contrast(self.base(), factor * margin);
        match contrast {
            shown if shown == wanted => (Judgement::Holds, condition),
            Contrast::TooFew => (Judgement::CannotTell, self.too_few() + &condition),
            Contrast::NotShown => {
                (Judgement::CannotTell, format!(", a difference within the scatter{condition}"))
            }
            _ if tolerance > 0.0 => {
                let by = percent(tolerance);
                let should = format!("; should be {} by more than {by} %", word_of(relation));
                (Judgement::DoesNotHold, should + &condition)
            }
            _ => (Judgement::DoesNotHold, format!("; should be {}{condition}", word_of(relation))),
        }
    }

    fn equal(&self) -> (Judgement, String) {
        let Some((low, high)) = self.contrast(0.0, self.rule.factor).1 else {
            return (Judgement::CannotTell, self.too_few());
        };
        let tolerance = self.rule.tolerance.max(EQUAL_WITHIN);
        let within = format!(", equal within {} %", percent(self.rule.tolerance));
        match () {
            () if low >= -tolerance && high <= tolerance => (Judgement::Holds, format!("{within}: yes")),
            () if low > tolerance || high < -tolerance => (Judgement::DoesNotHold, format!("{within}: no")),
            () => {
                let interval = format!("{:+} % to {:+} %", percent(low), percent(high));
                (Judgement::CannotTell, format!("{within}: the difference may be {interval}"))
            }
        }
    }

    /// The reason why no test is made.
    fn too_few(&self) -> String {
        let sides = [Some(self.left), self.right];
        let fewest = sides.into_iter().flatten().map(|side| side.passes.len()).min().unwrap_or_default();
        let on_each = if self.right.is_some() { " on each side" } else { "" };
        let are = if fewest == 1 { "is" } else { "are" };
        match fewest {
            0 => ", which do not have a value for each repetition".to_owned(),
            few if few < DIFFERENCE_LEAST => {
                format!(": {DIFFERENCE_LEAST} repetitions{on_each} are needed, but there {are} {few}")
            }
            _ => ": a repetition has no value above 0".to_owned(),
        }
    }
}

/// Adds the workload names of the rule to the labels of both sides if the labels are otherwise equal.
fn tell_apart(rule: &Claim, left: &mut Measured, right: Option<&mut Measured>) {
    let (Side::Measured(of_right), Some(right)) = (&rule.right, right) else { return };
    if left.what == right.what {
        for (selector, side) in [(&rule.left, left), (of_right, right)] {
            let workload = selector.workload.iter();
            side.what = workload.map(|workload| format!("{workload}: ")).chain([side.what.clone()]).collect();
        }
    }
}

/// Returns the formatter for values of a quantity. A swept value is formatted like its axis.
/// Rates of transfers of the size `small` are said in transfers.
fn unit_of(quantity: Quantity, left: &Measured, small: Option<Bytes>) -> impl Fn(f64) -> String + use<> {
    let (setting, counts) = (left.setting.clone(), left.counts);
    move |value| match quantity {
        Quantity::BestRate | Quantity::LowestRate | Quantity::TypicalRate => match (counts, small) {
            (RateOf::Bytes, Some(size)) => {
                format!("{} IOPS", PublishedUnit::Count.text(value / size.0 as f64))
            }
            _ => counts.text(value),
        },
        Quantity::Variation
        | Quantity::RepetitionSpread
        | Quantity::CpuShare
        | Quantity::VariationBeyond
        | Quantity::SlowestShare => PublishedUnit::Fraction.text(value),
        Quantity::RSquared => format!("R² = {value:.4}"),
        Quantity::Latency => PublishedUnit::Seconds.text(value / 1e9),
        Quantity::BestAt | Quantity::Knee | Quantity::PlateauFrom | Quantity::Reaches90 => {
            setting.as_ref().map_or_else(|| value.to_string(), |one| on_axis(one, value).to_string())
        }
    }
}

/// Describes the selected figures.
fn name_of(selector: &Selector) -> String {
    let names = [selector.workload.clone(), selector.target.clone()].into_iter().flatten();
    let phase = selector.phase.map(|phase| phase.to_string());
    let words: Vec<String> = names.chain(phase).chain(selector.at.iter().map(ToString::to_string)).collect();
    if words.is_empty() { "all figures".to_owned() } else { words.join(", ") }
}

/// `; 12 repetitions a side would tell 9 %`.
/// The change is named where it is that of the two figures beside it.
fn settled_words(settled: Settled, is_of_figures: bool) -> String {
    let what = if is_of_figures { format!("{} %", percent(settled.change)) } else { "this".to_owned() };
    format!("; {} repetitions a side would tell {what}", settled.repetitions)
}

fn percent(share: f64) -> f64 {
    (share * 1000.0).round() / 10.0
}

const fn word_of(relation: Relation) -> &'static str {
    match relation {
        Relation::Greater => "greater",
        Relation::Less => "less",
        Relation::Equal => "equal",
    }
}
