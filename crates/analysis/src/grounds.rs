//! What judgements rest on: the cases that are meant, and what disqualifies their figures. Verdicts
//! on commitments and on statements use the same rules.

use std::collections::{HashMap, HashSet};

use plan::{Case, Phase, Plan, RateName, Role, Selector, Stopping};

use crate::settled::{Settled, settled};
use crate::{Check, Doubt, Figure};

/// The cases and result phases that a selection is about, each once.
pub(crate) fn selected<'a>(plan: &'a Plan, figures: &Selector) -> Vec<(&'a Case, Phase)> {
    let mut seen = HashSet::new();
    plan.cases
        .iter()
        .flat_map(|case| case.phases.iter().map(move |&phase| (case, phase)))
        .filter(|(case, phase)| phase.is_result() && figures.takes(case, *phase))
        .filter(|(case, phase)| seen.insert((case.id.as_str(), *phase)))
        .collect()
}

/// Where the figure of a case and phase stands.
#[derive(Debug)]
pub(crate) struct Places<'a>(HashMap<(&'a str, Phase), usize>);

impl<'a> Places<'a> {
    pub(crate) fn of(figures: &'a [Figure]) -> Self {
        let places = figures.iter().enumerate();
        Self(places.map(|(place, figure)| ((figure.case.as_ref(), figure.phase), place)).collect())
    }

    /// None where it was not measured.
    pub(crate) fn get(&self, case: &Case, phase: Phase) -> Option<usize> {
        self.0.get(&(case.id.as_str(), phase)).copied()
    }
}

/// The doubts that disqualify a figure, by its place.
#[derive(Debug)]
struct Disqualified<'a>(HashMap<usize, Vec<&'a Doubt>>);

impl<'a> Disqualified<'a> {
    fn by(doubts: &'a [Doubt]) -> Self {
        let mut of_figure: HashMap<usize, Vec<&Doubt>> = HashMap::new();
        for doubt in doubts.iter().filter(|doubt| doubt.disqualifies) {
            if let Some(figure) = doubt.figure {
                of_figure.entry(figure).or_default().push(doubt);
            }
        }
        Self(of_figure)
    }

    /// Empty where nothing speaks against it.
    fn of(&self, figure: usize) -> &[&'a Doubt] {
        self.0.get(&figure).map_or(&[], Vec::as_slice)
    }
}

/// Why the repetitions of a figure are not those that its protocol asks for: the case ended before
/// all were there, or never met the rule that should end it. Settling is judged by the rate that
/// the runner settles by.
pub(crate) fn unfinished(case: &Case, figure: &Figure) -> Option<String> {
    let recorded: Vec<_> =
        figure.repetitions.iter().filter(|one| case.role(one.repetition) == Role::Recorded).collect();
    let (n, asked) = (recorded.len(), case.repetitions);
    let rate = |one: &&crate::RepetitionFigure| Some(figure.rate_of().get(&one.rates.get(RateName::ByWall)?));
    let values: Vec<f64> = recorded.iter().filter_map(rate).collect();
    let goes_on = || settled(&values, case.protocol.stopping) == Settled::GoOn;
    match case.protocol.stopping {
        Stopping::Count => {
            (n < asked as usize).then(|| format!("unfinished: {n} of {asked} repetitions were measured"))
        }
        Stopping::Interval { share, .. } => goes_on().then(|| {
            let share = share * 100.0;
            format!("not settled: no interval of the median within {share} % after {n} repetitions")
        }),
        Stopping::Steady { .. } => goes_on().then(|| format!("not steady after {n} repetitions")),
    }
}

/// What commitments and statements are judged on, and what speaks against it.
#[derive(Debug)]
pub(crate) struct Grounds<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) figures: &'a [Figure],
    pub(crate) places: Places<'a>,
    disqualified: Disqualified<'a>,
    cases: HashMap<&'a str, &'a Case>,
}

impl<'a> Grounds<'a> {
    pub(crate) fn new(plan: &'a Plan, figures: &'a [Figure], doubts: &'a [Doubt]) -> Self {
        let (places, disqualified) = (Places::of(figures), Disqualified::by(doubts));
        let cases = plan.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        Self { plan, figures, places, disqualified, cases }
    }

    /// What speaks against the figure at `place`: each disqualifying doubt, and that it was not
    /// finished.
    pub(crate) fn against(&self, place: usize) -> Vec<String> {
        self.against_by(place, |_| true)
    }

    /// What speaks against it where it breaks a promise: not that it may be too good.
    pub(crate) fn against_breach(&self, place: usize) -> Vec<String> {
        self.against_by(place, |doubt| !doubt.check.can_only_raise_figures())
    }

    fn against_by(&self, place: usize, takes: impl Fn(&Doubt) -> bool) -> Vec<String> {
        let doubts = self.disqualified.of(place).iter().filter(|doubt| takes(doubt));
        let told = doubts.map(|doubt| match doubt.check {
            // What would settle it is a part of this doubt.
            Check::MemoryNotExcluded => format!("{}; {}", doubt.evidence, doubt.advice),
            check => format!("{}: {}", check.name(), doubt.evidence),
        });
        let figure = &self.figures[place];
        let case = self.cases.get(&*figure.case);
        told.chain(case.and_then(|case| unfinished(case, figure))).collect()
    }

    /// Whether the audit doubts the figure at `place` by `check`.
    pub(crate) fn is_doubted(&self, place: usize, check: Check) -> bool {
        self.disqualified.of(place).iter().any(|doubt| doubt.check == check)
    }

    /// Why nothing can be said of a selection: a part of it was not measured, which could be the
    /// best or the worst.
    pub(crate) fn incomplete(&self, selector: &Selector) -> Option<String> {
        let meant = selected(self.plan, selector);
        let lacks = |&&(case, phase): &&(&Case, Phase)| {
            let place = self.places.get(case, phase);
            place.is_none_or(|place| self.figures[place].counted().next().is_none())
        };
        let missing = meant.iter().filter(lacks).count();
        let verb = if missing == 1 { "was" } else { "were" };
        (missing > 0).then(|| format!("{missing} of {} figures {verb} not measured", meant.len()))
    }

    /// Why `figures` decide nothing: something speaks against one of them.
    pub(crate) fn doubtful(&self, figures: &[usize]) -> Option<String> {
        let mut reasons = figures.iter().filter_map(|&figure| self.against(figure).into_iter().next());
        let first = reasons.next()?;
        let count = 1 + reasons.count();
        Some(match figures.len() {
            1 => format!("the figure is doubtful: {first}"),
            all if count == 1 => format!("one of {all} figures is doubtful: {first}"),
            all => format!("{count} of {all} figures are doubtful, as one for {first}"),
        })
    }
}

/// Why each of `figures` may not be compared, in their order: the first thing that speaks against it, by the doubts that
/// disqualify it or because it was not finished; none where nothing does.
#[must_use]
pub fn refusals(plan: &Plan, figures: &[Figure], doubts: &[Doubt]) -> Vec<Option<String>> {
    let grounds = Grounds::new(plan, figures, doubts);
    (0..figures.len()).map(|place| grounds.against(place).into_iter().next()).collect()
}
