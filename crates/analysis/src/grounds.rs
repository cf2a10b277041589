//! What judgements rest on: the cases that are meant, and what disqualifies their figures. Verdicts
//! on commitments and on statements use the same rules.

use std::collections::{HashMap, HashSet};

use plan::{Case, Phase, Plan, Selector};

use crate::{Check, Doubt, Figure, Use};

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
        for doubt in doubts.iter().filter(|doubt| doubt.disqualifies()) {
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

/// What commitments and statements are judged on, and what speaks against it.
#[derive(Debug)]
pub(crate) struct Grounds<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) figures: &'a [Figure],
    pub(crate) places: Places<'a>,
    disqualified: Disqualified<'a>,
}

impl<'a> Grounds<'a> {
    pub(crate) fn new(plan: &'a Plan, figures: &'a [Figure], doubts: &'a [Doubt]) -> Self {
        let (places, disqualified) = (Places::of(figures), Disqualified::by(doubts));
        Self { plan, figures, places, disqualified }
    }

    /// What speaks against the figure at `place`: each disqualifying doubt.
    pub(crate) fn against(&self, place: usize) -> Vec<String> {
        self.against_by(place, |_| true)
    }

    /// What speaks against it where it breaks a promise: not that it may be too good.
    pub(crate) fn against_breach(&self, place: usize) -> Vec<String> {
        self.against_by(place, |doubt| doubt.withholds(Use::PromiseBroken))
    }

    fn against_by(&self, place: usize, takes: impl Fn(&Doubt) -> bool) -> Vec<String> {
        let doubts = self.disqualified.of(place).iter().filter(|doubt| takes(doubt));
        let told = doubts.map(|doubt| match doubt.check {
            // What would settle it is a part of this doubt.
            Check::MemoryNotExcluded => format!("{}; {}", doubt.evidence, doubt.advice),
            check => format!("{}: {}", check.name(), doubt.evidence),
        });
        told.collect()
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
