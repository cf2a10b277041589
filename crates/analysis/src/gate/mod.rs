//! The gate: the only way from figures to a statement.
//!
//! A statement rests on figures. The gate knows what speaks against each of them, and applies the [policy](POLICY) of the
//! statement's kind: it is made, made with a mark, or withheld with the reason in its place. A [`Stated`] can only be
//! made here, and gives its values only where it is not withheld, so no form of a report can show what was withheld.

mod policy;
mod spread;
mod stated;
pub mod table;

use std::collections::{HashMap, HashSet};

use plan::{Case, Phase, Plan, Selector};
use record::Provenance;

pub(crate) use policy::median_keeps;
pub use policy::{Because, Doubts, Kind, POLICY, Policy, policy_table};
pub use spread::{LISTED_MAX, QUANTILES, Spread};
pub(crate) use stated::untold;
pub use stated::{Reason, Stated};
use stated::{decide, too_few};
pub use table::{Head, Judgement, Of, Quantity, Row, Statement, Table, Value};

pub(crate) use crate::audit::Outcome;
use crate::audit::{AuditIssue, Check, Use};
use crate::figures::{Figure, Subject, subjects};
use crate::statistics::{Difference, difference::difference};

/// The best of several figures by the median of their first rate.
#[derive(Debug)]
pub(crate) struct Chosen<'b, 'a> {
    pub(crate) best: &'b Subject<'a>,
    pub(crate) runner_up: Option<&'b Subject<'a>>,
    /// Figures that were looked at and are not disqualified.
    pub(crate) of: usize,
    /// Why others could not be looked at.
    left_out: Option<Reason>,
}

/// What speaks against the figures of a study, and the rules by which statements are made of them.
#[derive(Debug)]
pub struct Gate<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) subjects: Vec<Subject<'a>>,
    pub(crate) figures: &'a [Figure],
    /// What speaks against each figure.
    against: Vec<Vec<Reason>>,
    /// Whether a model gave the figures.
    pub(crate) simulated: bool,
    /// The figures of each case.
    places: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Gate<'a> {
    /// Of `figures` of `plan`, of which the audit says `doubts`.
    #[must_use]
    pub fn new(plan: &'a Plan, figures: &'a [Figure], doubts: &[AuditIssue]) -> Self {
        let mut against: Vec<Vec<Reason>> = vec![Vec::new(); figures.len()];
        for doubt in doubts {
            if let Some(of_figure) = doubt.figure.and_then(|figure| against.get_mut(figure)) {
                // What would settle it is a part of this doubt.
                let evidence = match doubt.check {
                    Check::MemoryNotExcluded => format!("{}; {}", doubt.evidence, doubt.advice),
                    _ => doubt.evidence.clone(),
                };
                of_figure.push(Reason::new(Because::Doubted(doubt.check), evidence));
            }
        }
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, figure) in figures.iter().enumerate() {
            places.entry(&figure.case).or_default().push(place);
        }
        let simulated = figures.iter().any(|figure| figure.provenance == Provenance::Simulated);
        Self { plan, subjects: subjects(plan, figures), figures, against, simulated, places }
    }

    /// The figure at `place` with its case.
    pub(crate) fn subject(&self, place: usize) -> Option<&Subject<'a>> {
        let found = self.subjects.binary_search_by_key(&place, |one| one.index);
        found.ok().map(|found| &self.subjects[found])
    }

    /// What speaks against `statement` of the figure at `place`, but for the doubts of `excepted`.
    pub(crate) fn against(&self, place: usize, statement: Use, excepted: Option<Check>) -> Vec<String> {
        let all = self.against.get(place).into_iter().flatten();
        let all = all.filter(|one| excepted.is_none_or(|check| one.because != Because::Doubted(check)));
        let told = all.filter_map(|one| match one.because {
            Because::Doubted(check) if check.outcome(statement) != Outcome::Withheld => None,
            Because::Doubted(Check::MemoryNotExcluded) => Some(one.evidence.clone()),
            because => Some(format!("{}: {}", because.name(), one.evidence)),
        });
        told.collect()
    }

    /// Whether nothing disqualifies the figure at `place`.
    pub(crate) fn is_usable(&self, place: usize) -> bool {
        let disqualifies = |one: &Reason| match one.because {
            Because::Doubted(check) => check.outcome(Use::Other) == Outcome::Withheld,
            _ => false,
        };
        !self.against.get(place).is_some_and(|all| all.iter().any(disqualifies))
    }

    /// The fastest of `all`, of those that are not disqualified; of two that are as fast the first. Where all are
    /// disqualified the fastest of them, of which a statement is then withheld.
    pub(crate) fn best<'b>(&self, all: &[&'b Subject<'a>]) -> Option<Chosen<'b, 'a>> {
        let mut among: Vec<&'b Subject<'a>> =
            all.iter().copied().filter(|one| self.is_usable(one.index)).collect();
        if among.is_empty() {
            among = all.to_vec();
        }
        among.sort_by(|one, other| other.rate().total_cmp(&one.rate()));
        let (best, runner_up) = (*among.first()?, among.get(1).copied());
        let may_be_faster = |one: &&&Subject<'_>| {
            let least = one.figure.least_reached();
            least < 1.0 && one.rate() >= best.rate() * least
        };
        let held = among.iter().skip(2).filter(may_be_faster).count();
        let held_back = (held > 0).then(|| {
            let evidence =
                format!("{held} of {} figures may be faster than they show, as starved", all.len());
            Reason::new(Because::LeftOut, evidence)
        });
        let left_out = self.left_out(all.iter().map(|one| one.index)).or(held_back);
        Some(Chosen { best, runner_up, of: among.len(), left_out })
    }

    /// How many of the figures at `all` could not be looked at, where others could.
    fn left_out(&self, all: impl Iterator<Item = usize>) -> Option<Reason> {
        let (usable, out): (Vec<usize>, Vec<usize>) = all.partition(|&place| self.is_usable(place));
        let first = self.against[*out.first()?].first().filter(|_| !usable.is_empty())?;
        let of = usable.len() + out.len();
        let evidence = format!("{} of {of} figures, as one for {}", out.len(), first.because.name());
        Some(Reason::new(Because::LeftOut, evidence))
    }

    /// `stated` of what is left of the figures at `all` without those that are disqualified: marked where there are any.
    pub(crate) fn leaving_out<T>(&self, all: impl Iterator<Item = usize>, stated: Stated<T>) -> Stated<T> {
        stated.with(self.left_out(all))
    }

    /// How the rates of two figures differ, one of `family` comparisons of which any could be stated.
    pub(crate) fn difference(
        &self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        family: usize,
    ) -> Option<Difference> {
        difference(&before.figure.headline_of_passes(), &after.figure.headline_of_passes(), family)
    }

    /// Whether the rates of two figures, by their places, were shown to differ, by more than what held the program back.
    pub(crate) fn is_stated(&self, before: usize, after: usize, family: usize) -> bool {
        let both = self.subject(before).zip(self.subject(after));
        let difference = both.and_then(|(one, other)| self.difference(one, other, family));
        difference
            .is_some_and(|one| one.is_stated() && self.slower(&[after, before], one.change) == Use::Other)
    }

    /// A statement of a value, by the policy of its kind.
    pub(crate) fn state<T: Statement>(&self, inputs: Vec<usize>, value: T) -> Stated<T> {
        self.state_as(Use::Other, inputs, value)
    }

    /// The same of a value that states `statement` of its figures.
    pub(crate) fn state_as<T: Statement>(&self, statement: Use, inputs: Vec<usize>, value: T) -> Stated<T> {
        let least =
            inputs.iter().filter_map(|&place| self.figures.get(place)).map(|one| one.counted().count());
        let few = least.min().and_then(|n| too_few(n, T::KIND.policy().least));
        self.decided(statement, inputs, few, value)
    }

    /// A statement of a rank that no test bears out.
    pub(crate) fn state_unranked<T: Statement>(&self, inputs: Vec<usize>, value: T) -> Stated<T> {
        let reason = Reason::new(Because::WithinScatter, "the order may be chance");
        self.decided(Use::Other, inputs, Some(reason), value)
    }

    /// A statement of a comparison of what was not measured at the same points.
    pub(crate) fn state_apart<T: Statement>(&self, inputs: Vec<usize>, value: T) -> Stated<T> {
        let reason = Reason::new(Because::OtherConditions, "no point of one side was measured on the other");
        self.decided(Use::Other, inputs, Some(reason), value)
    }

    /// A statement of a difference between the rate of the first of `inputs` and that of the others.
    pub(crate) fn state_difference<T: Statement>(
        &self,
        inputs: Vec<usize>,
        difference: &Difference,
        value: T,
    ) -> Stated<T> {
        let is_stated = difference.is_stated();
        let statement = if is_stated { self.slower(&inputs, difference.change) } else { Use::Other };
        self.state_tested(statement, inputs, difference, value)
    }

    /// The same of a value that states `statement` of its figures.
    pub(crate) fn state_tested<T: Statement>(
        &self,
        statement: Use,
        inputs: Vec<usize>,
        difference: &Difference,
        value: T,
    ) -> Stated<T> {
        self.decided(statement, inputs, untold(T::KIND, difference), value)
    }

    /// A statement of a choice among several, with what was left out.
    pub(crate) fn state_choice<T: Statement>(
        &self,
        chosen: &Chosen<'_, '_>,
        difference: Option<&Difference>,
        value: T,
    ) -> Stated<T> {
        let inputs =
            std::iter::once(chosen.best.index).chain(chosen.runner_up.map(|one| one.index)).collect();
        let stated = match difference {
            Some(difference) => self.state_difference(inputs, difference, value),
            None => self.state(inputs, value),
        };
        stated.with(chosen.left_out.clone())
    }

    /// As what doubts weigh where the figures at `inputs` are by `change` away from others, or from a number: what held the
    /// program back counts as far as that may be why.
    pub(crate) fn weighed(&self, inputs: &[usize], change: f64) -> Use {
        let figures = inputs.iter().filter_map(|&place| self.figures.get(place));
        let least = figures.map(Figure::least_reached).fold(1.0, f64::min);
        if is_within(change, least) { Use::Compared } else { Use::Other }
    }

    /// The same of the rate of the first of `inputs`, which is by `change` above that of the others: of the slower side.
    fn slower(&self, inputs: &[usize], change: f64) -> Use {
        let (first, others) = inputs.split_at(1.min(inputs.len()));
        self.weighed(if change < 0.0 { first } else { others }, change)
    }

    /// The cases and result phases that a selection is about, each once, with the place of the figure; none where no
    /// repetition that counts was measured.
    pub(crate) fn selected(&self, figures: &Selector) -> Vec<(&Case, Phase, Option<usize>)> {
        let mut seen = HashSet::new();
        let place = |case: &Case, phase| {
            let measured = |figure: &Figure| figure.phase == phase && figure.counted().next().is_some();
            let mut of_case = self.places.get(case.id.as_str()).into_iter().flatten().copied();
            of_case.find(|&place| measured(&self.figures[place]))
        };
        let cases = self.plan.cases.iter();
        cases
            .flat_map(|case| case.phases.iter().map(move |&phase| (case, phase)))
            .filter(|(case, phase)| phase.is_result() && figures.takes(case, *phase))
            .filter(|(case, phase)| seen.insert((case.id.as_str(), *phase)))
            .map(|(case, phase)| (case, phase, place(case, phase)))
            .collect()
    }

    /// Why nothing can be said of a selection: a part of it was not measured, which could be the best or the worst.
    pub(crate) fn incomplete(&self, selector: &Selector) -> Option<String> {
        let meant = self.selected(selector);
        let missing = meant.iter().filter(|(.., place)| place.is_none()).count();
        let verb = if missing == 1 { "was" } else { "were" };
        (missing > 0).then(|| format!("{missing} of {} figures {verb} not measured", meant.len()))
    }

    /// Why `figures` decide nothing: something speaks against one of them.
    pub(crate) fn doubtful(&self, figures: &[usize]) -> Option<String> {
        // A claim may be that something is fast, or that it is slow.
        let against = |&figure: &usize| {
            let of = |statement| self.against(figure, statement, None).into_iter();
            of(Use::PromiseKept).chain(of(Use::PromiseBroken)).next()
        };
        let mut reasons = figures.iter().filter_map(against);
        let first = reasons.next()?;
        let count = 1 + reasons.count();
        Some(match figures.len() {
            1 => format!("the figure is doubtful: {first}"),
            all if count == 1 => format!("one of {all} figures is doubtful: {first}"),
            all => format!("{count} of {all} figures are doubtful, as one for {first}"),
        })
    }

    /// Applies the policy: what speaks against the inputs, then `more`.
    fn decided<T: Statement>(
        &self,
        statement: Use,
        inputs: Vec<usize>,
        more: Option<Reason>,
        value: T,
    ) -> Stated<T> {
        let of_inputs = inputs.iter().filter_map(|&place| self.against.get(place)).flatten().cloned();
        let reasons = of_inputs.chain(more).collect();
        decide((T::KIND, statement), inputs, reasons, value)
    }

    /// A statement about a figure of one run and one of another, with what speaks against it beside the doubts. Its
    /// reasons say which run they are of; it names no inputs, since figures are numbered by run.
    pub(crate) fn state_of_two_runs<T>(
        kind: Kind,
        runs: [(&Self, usize); 2],
        statement: Use,
        more: Option<Reason>,
        value: T,
    ) -> Stated<T> {
        let [before, after] =
            runs.map(|(gate, place)| gate.against.get(place).map_or(&[][..], Vec::as_slice));
        let has = |all: &[Reason], one: &Reason| all.iter().any(|other| other.because == one.because);
        let of = |run: &str, one: &Reason| Reason::new(one.because, format!("{run}: {}", one.evidence));
        let first =
            before.iter().map(|one| of(if has(after, one) { "both runs, before" } else { "before" }, one));
        let second = after.iter().filter(|one| !has(before, one)).map(|one| of("after", one));
        decide((kind, statement), Vec::new(), first.chain(second).chain(more).collect(), value)
    }

    /// That beside the figure that did worse more processors were used by others, and its tasks waited for more, where
    /// that may be why two figures differ by `change`. What the tasks waited for more, and others did not use, is their
    /// own doing.
    pub(crate) fn busier_host(
        runs: [(&Self, usize); 2],
        change: f64,
        is_later_worse: bool,
    ) -> Option<Reason> {
        let (worse, better) = (runs[usize::from(is_later_worse)], runs[usize::from(!is_later_worse)]);
        let (gate, place) = worse;
        let (worse, better) = (gate.subject(place)?, better.0.subject(better.1)?);
        let (busy, quiet) = (worse.figure.contention()?, better.figure.contention()?);
        let (others, waited) = (busy.0 - quiet.0, busy.1 - quiet.1);
        let tasks = worse.case.workload.tasks.min(better.case.workload.tasks).max(1);
        let lost = others.min(waited) / f64::from(tasks);
        let is_not_quiet = |one: &Reason| one.because == Because::Doubted(Check::NotQuiet);
        let may_be_why = lost > 0.0
            && gate.against.get(place)?.iter().any(is_not_quiet)
            && is_within(change, (1.0 - lost).max(0.0).powi(2));
        may_be_why.then(|| {
            let side = if is_later_worse { "after" } else { "before" };
            let evidence = format!(
                "{side}: {others:.1} processors more were used beside the program, and its tasks waited for {waited:.2} \
                 more; repeat both on a quiet host"
            );
            Reason::new(Because::OtherConditions, evidence)
        })
    }
}

/// Whether a figure that reached at least the share `least` of what it could may differ by `change` for that alone.
fn is_within(change: f64, least: f64) -> bool {
    least < 1.0 && (1.0 + change).min(1.0 / (1.0 + change)) >= least
}
