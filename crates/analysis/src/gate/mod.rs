//! The gate: the only way to turn figures into a statement.
//!
//! A statement rests on figures. The gate knows the doubts about each of them and applies the [policy](POLICY) of the
//! statement's kind: the statement is made, made with a mark, or withheld with the reason in its place. A [`Stated`]
//! can only be created here and only gives access to its values if it is not withheld, so no report format can show a
//! withheld value.

mod policy;
mod spread;
mod stated;
pub mod table;

use std::collections::HashMap;

use plan::{Case, Phase, Plan, Selector};
use record::Provenance;

pub(crate) use policy::median_keeps;
pub use policy::{Because, Doubts, Kind, POLICY, Policy, policy_table};
pub use spread::{LISTED_MAX, QUANTILES, Spread};
pub use stated::{Reason, Stated};
pub(crate) use stated::{condition, untold};
use stated::{decide, too_few};
pub use table::{Head, Judgement, Of, Quantity, Row, Statement, Table, Value};

pub use crate::audit::Outcome;
use crate::audit::{AuditIssue, Check, OF_PROMISES, Use};
use crate::figures::{Figure, Subject, subjects};
use crate::statistics::{Difference, Family, difference::difference};

/// The best of several figures, by the median of their first rate.
#[derive(Debug)]
pub(crate) struct Chosen<'b, 'a> {
    pub(crate) best: &'b Subject<'a>,
    pub(crate) runner_up: Option<&'b Subject<'a>>,
    /// The number of figures that were considered and are not disqualified.
    pub(crate) of: usize,
    /// Why other figures could not be considered.
    left_out: Option<Reason>,
}

/// The doubts about the figures of a study, and the rules for making statements from them.
#[derive(Debug)]
pub struct Gate<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) subjects: Vec<Subject<'a>>,
    pub(crate) figures: &'a [Figure],
    /// The doubts about each figure.
    against: Vec<Vec<Reason>>,
    /// Whether the figures come from a model.
    pub(crate) simulated: bool,
    /// The indices of the figures of each case.
    places: HashMap<&'a str, Vec<usize>>,
    /// What the figures have in common as one family.
    family: Family,
    /// The run beside which some commitments are judged.
    pub(crate) reference: Option<Beside<'a>>,
}

/// A run that commitments refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'a> {
    pub(crate) gate: &'a Gate<'a>,
    /// Its id, and the SHA-256 of its record.
    pub(crate) name: [&'a str; 2],
}

impl<'a> Gate<'a> {
    /// Creates the gate for `figures` of `plan`, with the `doubts` of the audit.
    #[must_use]
    pub fn new(plan: &'a Plan, figures: &'a [Figure], doubts: &[AuditIssue]) -> Self {
        let mut against: Vec<Vec<Reason>> = vec![Vec::new(); figures.len()];
        for doubt in doubts {
            if let Some(of_figure) = doubt.figure.and_then(|figure| against.get_mut(figure)) {
                // For this doubt, the evidence includes what would settle it.
                let evidence = match doubt.check {
                    Check::MemoryNotExcluded | Check::UnstatedCaches => {
                        format!("{}; {}", doubt.evidence, doubt.advice)
                    }
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
        let passes: Vec<Vec<f64>> = figures.iter().map(Figure::headline_of_passes).collect();
        let passes: Vec<&[f64]> = passes.iter().map(Vec::as_slice).collect();
        let family = Family::within(figures.len(), &passes);
        let subjects = subjects(plan, figures);
        Self { plan, subjects, figures, against, simulated, places, family, reference: None }
    }

    /// The same gate beside that of a reference run, which has this id and this SHA-256 of its record.
    pub(crate) fn beside(self, gate: &'a Self, name: [&'a str; 2]) -> Self {
        Self { reference: Some(Beside { gate, name }), ..self }
    }

    /// The figure at index `place` with its case.
    pub(crate) fn subject(&self, place: usize) -> Option<&Subject<'a>> {
        let found = self.subjects.binary_search_by_key(&place, |one| one.index);
        found.ok().map(|found| &self.subjects[found])
    }

    /// The reasons against making `statement` about the figure at index `place`, except the doubts of `excepted`.
    pub(crate) fn against(&self, place: usize, statement: Use, excepted: Option<Check>) -> Vec<String> {
        self.against_without(place, statement, excepted.as_slice())
    }

    fn against_without(&self, place: usize, statement: Use, excepted: &[Check]) -> Vec<String> {
        let is_excepted =
            |one: &Reason| matches!(one.because, Because::Doubted(check) if excepted.contains(&check));
        let all = self.against.get(place).into_iter().flatten().filter(|one| !is_excepted(one));
        let told = all.filter_map(|one| match one.because {
            Because::Doubted(check) if check.outcome(statement) != Outcome::Withheld => None,
            Because::Doubted(Check::MemoryNotExcluded) => Some(one.evidence.clone()),
            because => Some(format!("{}: {}", because.name(), one.evidence)),
        });
        told.collect()
    }

    /// Whether nothing disqualifies the figure at index `place`.
    pub(crate) fn is_usable(&self, place: usize) -> bool {
        let disqualifies = |one: &Reason| match one.because {
            Because::Doubted(check) => check.outcome(Use::Other) == Outcome::Withheld,
            _ => false,
        };
        !self.against.get(place).is_some_and(|all| all.iter().any(disqualifies))
    }

    /// The fastest figure of `all` that is not disqualified; the first one if several are equally fast. If all are
    /// disqualified, the fastest of them, and a statement about it is then withheld.
    pub(crate) fn best<'b>(&self, all: &[&'b Subject<'a>]) -> Option<Chosen<'b, 'a>> {
        self.best_by(all, Subject::rate)
    }

    /// The same by another rate than the first.
    pub(crate) fn best_by<'b>(
        &self,
        all: &[&'b Subject<'a>],
        rate: fn(&Subject<'a>) -> f64,
    ) -> Option<Chosen<'b, 'a>> {
        let mut among: Vec<&'b Subject<'a>> =
            all.iter().copied().filter(|one| self.is_usable(one.index)).collect();
        if among.is_empty() {
            among = all.to_vec();
        }
        among.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
        let (best, runner_up) = (*among.first()?, among.get(1).copied());
        let may_be_faster = |one: &&&Subject<'a>| {
            let least = one.figure.least_reached();
            least < 1.0 && rate(one) >= rate(best) * least
        };
        let held = among.iter().skip(2).filter(may_be_faster).count();
        let held_back = (held > 0).then(|| {
            let evidence = format!("{held} of {} figures may be faster than shown (starved)", all.len());
            Reason::new(Because::LeftOut, evidence)
        });
        let left_out = self.left_out(all.iter().map(|one| one.index)).or(held_back);
        Some(Chosen { best, runner_up, of: among.len(), left_out })
    }

    /// How many of the figures at the indices `all` were disqualified while others were usable.
    fn left_out(&self, all: impl Iterator<Item = usize>) -> Option<Reason> {
        let (usable, out): (Vec<usize>, Vec<usize>) = all.partition(|&place| self.is_usable(place));
        let first = self.against[*out.first()?].first().filter(|_| !usable.is_empty())?;
        let of = usable.len() + out.len();
        let evidence = format!("{} of {of} figures (first reason: {})", out.len(), first.because.name());
        Some(Reason::new(Because::LeftOut, evidence))
    }

    /// Returns `stated` for the remaining figures of `all` after the disqualified ones were left out, marked if there
    /// are any.
    pub(crate) fn leaving_out<T>(&self, all: impl Iterator<Item = usize>, stated: Stated<T>) -> Stated<T> {
        stated.with(self.left_out(all))
    }

    /// The difference of the rates of two figures, as one of `family` comparisons that could be stated.
    pub(crate) fn difference(
        &self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        family: usize,
    ) -> Option<Difference> {
        self.difference_of(&before.figure.headline_of_passes(), &after.figure.headline_of_passes(), family)
    }

    /// The same of any positive quantity of their passes.
    pub(crate) fn difference_of(&self, before: &[f64], after: &[f64], family: usize) -> Option<Difference> {
        difference(before, after, Family { size: family, ..self.family })
    }

    /// The difference of the rates of two figures, given by index, if it is stated and more than what slowed the
    /// program down.
    pub(crate) fn stated_difference(&self, before: usize, after: usize, family: usize) -> Option<Difference> {
        let (one, other) = self.subject(before).zip(self.subject(after))?;
        let difference = self.difference(one, other, family).filter(Difference::is_stated)?;
        (self.slower(&[after, before], difference.change) == Use::Other).then_some(difference)
    }

    /// Whether such a difference was shown.
    pub(crate) fn is_shown(&self, before: usize, after: usize, family: usize) -> bool {
        self.stated_difference(before, after, family).is_some_and(|one| one.is_shown())
    }

    /// Makes a statement of a value, by the policy of its kind.
    pub(crate) fn state<T: Statement>(&self, inputs: Vec<usize>, value: T) -> Stated<T> {
        self.state_as(Use::Other, inputs, value)
    }

    /// The same for a value whose use of its figures is `statement`.
    pub(crate) fn state_as<T: Statement>(&self, statement: Use, inputs: Vec<usize>, value: T) -> Stated<T> {
        let least =
            inputs.iter().filter_map(|&place| self.figures.get(place)).map(|one| one.counted().count());
        let few = least.min().and_then(|n| too_few(n, T::KIND.policy().least));
        self.decided(statement, inputs, few, value)
    }

    /// Makes a statement of a place in a ranking that is not told apart from `alike` others.
    pub(crate) fn state_unranked<T: Statement>(
        &self,
        inputs: Vec<usize>,
        alike: usize,
        value: T,
    ) -> Stated<T> {
        let evidence = match alike {
            0 => "not compared with others".to_owned(),
            1 => "not told apart from 1 other".to_owned(),
            _ => format!("not told apart from {alike} others"),
        };
        let reason = Reason::new(Because::WithinScatter, evidence);
        self.decided(Use::Other, inputs, Some(reason), value)
    }

    /// The same for a value that rests on only `n` repetitions of its figures.
    pub(crate) fn state_of<T: Statement>(&self, inputs: Vec<usize>, n: usize, value: T) -> Stated<T> {
        self.decided(Use::Other, inputs, too_few(n, T::KIND.policy().least), value)
    }

    /// Withholds a statement whose figures were not measured under the conditions that it is about; `why` says so.
    pub(crate) fn state_apart<T: Statement>(&self, inputs: Vec<usize>, why: &str, value: T) -> Stated<T> {
        let reason = Reason::new(Because::OtherConditions, why);
        self.decided(Use::Other, inputs, Some(reason), value)
    }

    /// Makes a statement of a difference between the rate of the first of `inputs` and that of the others.
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

    /// The same for a value whose use of its figures is `statement`.
    pub(crate) fn state_tested<T: Statement>(
        &self,
        statement: Use,
        inputs: Vec<usize>,
        difference: &Difference,
        value: T,
    ) -> Stated<T> {
        self.decided(statement, inputs, untold(T::KIND, difference), value)
    }

    /// Makes a statement of a choice among several figures, with the reason for those left out.
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

    /// The use by which doubts are weighed if the figures at `inputs` differ by `change` from others or from a
    /// number: whatever slowed the program down counts if it may explain the difference.
    pub(crate) fn weighed(&self, inputs: &[usize], change: f64) -> Use {
        let figures = inputs.iter().filter_map(|&place| self.figures.get(place));
        let least = figures.map(Figure::least_reached).fold(1.0, f64::min);
        if is_within(change, least) { Use::Compared } else { Use::Other }
    }

    /// The same if the rate of the first of `inputs` is above that of the others by `change`; the slower side is
    /// weighed.
    fn slower(&self, inputs: &[usize], change: f64) -> Use {
        let (first, others) = inputs.split_at(1.min(inputs.len()));
        self.weighed(if change < 0.0 { first } else { others }, change)
    }

    /// The cases and result phases that a selection covers, each once, with the index of the figure. The index is
    /// `None` if no counted repetition was measured.
    pub(crate) fn selected(&self, figures: &Selector) -> Vec<(&Case, Phase, Option<usize>)> {
        let place = |case: &Case, phase| {
            let measured = |figure: &Figure| figure.phase == phase && figure.counted().next().is_some();
            let mut of_case = self.places.get(case.id.as_str()).into_iter().flatten().copied();
            of_case.find(|&place| measured(&self.figures[place]))
        };
        let selected = self.plan.selected(figures).into_iter();
        selected.map(|(case, phase)| (case, phase, place(case, phase))).collect()
    }

    /// The reason why nothing can be stated about a selection: a part of it was not measured, and that part could be
    /// the best or the worst.
    pub(crate) fn incomplete(&self, selector: &Selector) -> Option<String> {
        let meant = self.selected(selector);
        let missing = meant.iter().filter(|(.., place)| place.is_none()).count();
        let verb = if missing == 1 { "was" } else { "were" };
        (missing > 0).then(|| format!("{missing} of {} figures {verb} not measured", meant.len()))
    }

    /// The reason why `figures` decide nothing: there is a doubt about one of them.
    pub(crate) fn doubtful(&self, figures: &[usize]) -> Option<String> {
        // A claim may be that something is fast, or that it is slow.
        let against = |&figure: &usize| {
            let of = |statement| self.against_without(figure, statement, &OF_PROMISES).into_iter();
            of(Use::PromiseKept).chain(of(Use::PromiseBroken)).next()
        };
        let mut reasons = figures.iter().filter_map(against);
        let first = reasons.next()?;
        let count = 1 + reasons.count();
        Some(match figures.len() {
            1 => format!("the figure is doubtful: {first}"),
            all if count == 1 => format!("one of {all} figures is doubtful: {first}"),
            all => format!("{count} of {all} figures are doubtful, first reason: {first}"),
        })
    }

    /// Applies the policy to the reasons against the inputs, followed by `more`.
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

    /// The outcome of the doubts about the figure at index `place` for a statement of `kind` about several runs.
    pub(crate) fn weigh<T>(&self, kind: Kind, statement: Use, place: usize, value: T) -> Stated<T> {
        let reasons = self.against.get(place).cloned().unwrap_or_default();
        decide((kind, statement), vec![place], reasons, value)
    }

    /// Makes a statement about a figure of the runs of one side and of those of another, with reasons other than
    /// doubts. Its reasons say which side they apply to; it lists no inputs, because figures are numbered per run.
    pub(crate) fn state_of_sides<T>(
        kind: Kind,
        sides: [&[(&Self, usize)]; 2],
        statement: Use,
        more: impl IntoIterator<Item = Reason>,
        value: T,
    ) -> Stated<T> {
        let [before, after] = sides.map(|runs| {
            let of_runs = runs.iter().filter_map(|(run, place)| run.against.get(*place));
            of_runs.flatten().cloned().collect::<Vec<Reason>>()
        });
        let has = |all: &[Reason], one: &Reason| all.iter().any(|other| other.because == one.because);
        let both =
            if sides.iter().any(|runs| runs.len() > 1) { "both sides, before" } else { "both runs, before" };
        let of = |run: &str, one: &Reason| Reason::new(one.because, format!("{run}: {}", one.evidence));
        let first = before.iter().map(|one| of(if has(&after, one) { both } else { "before" }, one));
        let second = after.iter().filter(|one| !has(&before, one)).map(|one| of("after", one));
        decide((kind, statement), Vec::new(), first.chain(second).chain(more).collect(), value)
    }

    /// The reason that runs were left out of a comparison.
    pub(crate) fn runs_left_out(evidence: &str) -> Reason {
        Reason::new(Because::LeftOut, evidence)
    }

    /// The figures of a side's runs without those that nothing may be compared with, and the reason for these. If none
    /// would be left, all are kept, and the comparison will be withheld.
    pub(crate) fn comparable<'g>(
        side: &str,
        runs: Vec<(&'g Self, usize)>,
    ) -> (Vec<(&'g Self, usize)>, Option<String>) {
        let (kept, without): (Vec<_>, Vec<_>) =
            runs.into_iter().partition(|(run, place)| run.is_usable(*place));
        let Some(&(run, place)) = without.first().filter(|_| !kept.is_empty()) else {
            return (if kept.is_empty() { without } else { kept }, None);
        };
        let why = run.against(place, Use::Other, None).into_iter().next().unwrap_or_default();
        let evidence = format!("{side}: {} of {} runs: {why}", without.len(), without.len() + kept.len());
        (kept, Some(evidence))
    }

    /// The reason that, during the slower figure, other programs used more processors and its tasks waited longer for
    /// one, if that may explain why two figures differ by `change`. If the tasks waited longer without more use by
    /// others, the cause is their own.
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
                "{side}: {others:.1} more processors were used outside this program, and its tasks waited for \
                 {waited:.2} more; repeat both on a quiet host"
            );
            Reason::new(Because::OtherConditions, evidence)
        })
    }
}

/// Whether a figure that reached at least the share `least` of its possible rate may differ by `change` for that
/// reason alone.
fn is_within(change: f64, least: f64) -> bool {
    least < 1.0 && (1.0 + change).min(1.0 / (1.0 + change)) >= least
}
