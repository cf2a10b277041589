//! The search for the least that has to be given up.

use std::collections::HashSet;
use std::path::Path;

use super::cost::{Cost, cost, estimated, whole_up};
use super::error::{FitError, space_option, time_option};
use super::thinning::{self, Axis, Thinning, drop_without_data};
use super::workload::{PREPARATION_STEPS, ScaledWorkload};

use crate::cases::scaling::Budget;
use crate::study::{self, CASES_LIMIT, Options, Override, WrittenWorkload};
use crate::{Case, Plan, PlanSource, RunEnvironment};

/// Steps of time for each power of two: durations become shorter by 19 % a step.
const TIME_STEPS: u32 = 4;

/// How much is given up of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Levels {
    /// Sizes are divided by this power of two for the sake of space.
    sizes: u32,
    /// Whether the page cache is bypassed where it would hold smaller files.
    direct: bool,
    /// Steps of time.
    times: u32,
    /// The number of largest amounts that are given up of the workloads that need too much space.
    space_tops: u32,
    thinning: Thinning,
    /// Repetitions given up.
    repetitions: u32,
    /// Steps of preparation given up.
    preparation: u32,
}

/// A scaled form of the study.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) plan: Plan,
    pub(super) levels: Levels,
    /// What was set, as `--set` takes it.
    pub(super) settings: Vec<String>,
}

/// A study and everything that can be lowered in it.
pub(super) struct Scaler<'p> {
    study: Study<'p>,
    budget: Budget,
    environment: &'p RunEnvironment,
    workloads: Vec<ScaledWorkload<'p>>,
    axes: Vec<Vec<Axis<'p>>>,
    /// For each workload all those whose sizes are lowered alike, itself included.
    alike: Vec<Vec<usize>>,
    /// The workloads that are left.
    left: Vec<usize>,
    /// Those of them that need too much space with the smallest sizes.
    large: Vec<usize>,
    most: Levels,
}

/// Where the study was read from, and which of its points are used.
pub(super) struct Study<'p> {
    pub(super) path: &'p Path,
    pub(super) text: &'p str,
    pub(super) overrides: Vec<Override>,
    pub(super) nodes: u32,
    /// Without the points beyond the limits of tasks and nodes.
    pub(super) plan: &'p Plan,
    /// The same without the workloads that were given up.
    pub(super) left: &'p Plan,
    /// The number of all points.
    pub(super) points: usize,
}

impl<'p> Scaler<'p> {
    pub(super) fn new(
        study: Study<'p>,
        written: &'p [WrittenWorkload],
        budget: Budget,
        environment: &'p RunEnvironment,
    ) -> Self {
        let all = estimated(study.plan, environment);
        let memory = environment.memory.or(study.plan.criteria.node.memory);
        let workload = |one: &'p WrittenWorkload| {
            let scaled = ScaledWorkload::new(one, study.plan, &all, memory)?;
            Some((scaled, Axis::of(one, study.plan)))
        };
        let (workloads, axes): (Vec<_>, Vec<_>) = written.iter().filter_map(workload).unzip();
        let alike = alike(&workloads);
        let has_cases = |name: &str| study.left.cases.iter().any(|case| case.group == name);
        let left = (0..workloads.len()).filter(|&place| has_cases(&workloads[place].written.name)).collect();
        let (large, most) = (Vec::new(), Levels::default());
        let mut scaler = Self { study, budget, environment, workloads, axes, alike, left, large, most };
        scaler.most = scaler.readable(scaler.levels_max());
        if budget.space.is_some() {
            let smallest = Levels { sizes: scaler.most.sizes, direct: true, ..Levels::default() };
            let alone = scaler.alone(smallest);
            let large = alone.into_iter().filter(|(_, cost)| !cost.fits_space(&budget));
            scaler.large = large.map(|(place, _)| place).collect();
        }
        scaler
    }

    /// What each workload that is left costs alone, in the order of the study. Empty if the study cannot be read with
    /// these levels.
    fn alone(&self, levels: Levels) -> Vec<(usize, Cost)> {
        let Ok(candidate) = self.candidate(levels) else { return Vec::new() };
        let alone = |&place: &usize| {
            let mut plan = candidate.plan.clone();
            plan.keep_cases(|case| case.group == self.workloads[place].written.name);
            (place, cost(&plan, self.environment))
        };
        self.left.iter().map(alone).collect()
    }

    /// Everything given up.
    fn levels_max(&self) -> Levels {
        let left = || self.left.iter().map(|&place| &self.workloads[place]);
        let axes = || self.left.iter().map(|&place| &self.axes[place]);
        let sizes = left().map(|one| one.exponent_max).max().unwrap_or(0);
        let shortest = left().map(ScaledWorkload::shortest).fold(1.0, f64::max);
        let halvings = u32::try_from(whole_up(shortest.log2())).unwrap_or(u32::MAX);
        let tops = axes().flatten().map(Axis::tops_max).max().unwrap_or(0);
        let thinning = Thinning {
            halvings: axes().map(|axes| axes.iter().map(Axis::halvings_max).sum()).max().unwrap_or(0),
            tops,
            gives_up_named: true,
        };
        Levels {
            sizes,
            direct: true,
            times: halvings.max(sizes).saturating_mul(TIME_STEPS),
            space_tops: tops,
            thinning,
            repetitions: left().map(ScaledWorkload::spare_repetitions).max().unwrap_or(0),
            preparation: PREPARATION_STEPS,
        }
    }

    /// `most`, with as many of the largest values given up as the study can be read without: reads of what another
    /// node wrote need two nodes.
    fn readable(&self, most: Levels) -> Levels {
        let with = |tops: u32| Levels {
            space_tops: most.space_tops.min(tops),
            thinning: Thinning { tops, ..most.thinning },
            ..most
        };
        let tops = (0..=most.thinning.tops).rev().find(|tops| self.candidate(with(*tops)).is_ok());
        tops.map_or(most, with)
    }

    /// The form that gives up the least and fits the budget, in the order of [`super::fit`].
    pub(super) fn search(&self) -> Result<Candidate, FitError> {
        let for_space = self.for_space();
        let in_time = self.steps_of_time(for_space);
        let Some(found) = first(&in_time, |levels| self.fits(*levels)) else {
            return Err(self.too_small(self.least(for_space)));
        };
        // What is left of the time goes to the durations.
        let times: Vec<Levels> = (0..=found.times).map(|times| Levels { times, ..*found }).collect();
        let longest = first(&times, |levels| self.fits(*levels)).unwrap_or(found);
        self.candidate(*longest).map_err(FitError::Unreadable)
    }

    /// The least that is given up for the sake of space; all of it if that is not enough.
    fn for_space(&self) -> Levels {
        let (none, most) = (Levels::default(), self.most);
        if self.budget.space.is_none() {
            return none;
        }
        let thinned = |space_tops| Levels { sizes: most.sizes, direct: true, space_tops, ..none };
        let buffered = (0..=most.sizes).map(|sizes| Levels { sizes, ..none });
        let direct = (0..=most.sizes).map(|sizes| Levels { sizes, direct: true, ..none });
        let topped = (1..=most.space_tops).map(thinned);
        let fits = |levels: &Levels| {
            self.candidate(*levels).is_ok_and(|candidate| self.cost(&candidate).fits_space(&self.budget))
        };
        let buffered: Vec<Levels> = buffered.collect();
        let others: Vec<Levels> = direct.chain(topped).collect();
        let last = thinned(most.space_tops);
        let found = first(&buffered, fits).or_else(|| first(&others, fits)).copied().unwrap_or(last);
        // Without the largest points, the other sizes may be larger.
        let larger: Vec<Levels> = (0..=found.sizes).map(|sizes| Levels { sizes, ..found }).collect();
        first(&larger, fits).copied().unwrap_or(found)
    }

    /// Everything given up that can be, with sizes that are no smaller than space and the length of passes ask for.
    fn least(&self, for_space: Levels) -> Levels {
        Levels { sizes: for_space.sizes, ..self.most }
    }

    /// What is given up for the sake of time, step by step, beyond `least`.
    fn steps_of_time(&self, least: Levels) -> Vec<Levels> {
        let most = self.most;
        let mut steps = vec![least, Levels { times: most.times, ..least }];
        let mut add = |of: &mut dyn FnMut(&mut Levels)| {
            let mut next = steps[steps.len() - 1];
            of(&mut next);
            steps.push(next);
        };
        for halvings in least.thinning.halvings + 1..=most.thinning.halvings {
            add(&mut |levels| levels.thinning.halvings = halvings);
        }
        for fewer in 1..=most.repetitions {
            add(&mut |levels| levels.repetitions = fewer);
        }
        for step in 1..=most.preparation {
            add(&mut |levels| levels.preparation = step);
        }
        add(&mut |levels| levels.direct = true);
        for tops in least.space_tops + 1..=most.thinning.tops {
            add(&mut |levels| levels.thinning.tops = tops);
        }
        add(&mut |levels| levels.thinning.gives_up_named = true);
        steps
    }

    fn fits(&self, levels: Levels) -> bool {
        self.candidate(levels).is_ok_and(|candidate| self.is_fit(&candidate))
    }

    fn is_fit(&self, candidate: &Candidate) -> bool {
        self.cost(candidate).fits(&self.budget)
    }

    fn cost(&self, candidate: &Candidate) -> Cost {
        cost(&candidate.plan, self.environment)
    }

    pub(super) fn is_partly_assumed(&self, plan: &Plan) -> bool {
        cost(plan, self.environment).is_partly_assumed
    }

    /// The workloads to give up if the study does not fit with everything else given up. One is always left, the least
    /// costly. If one that is too costly alone is held large by others on its files, these go; else all that are too
    /// costly alone; if each fits alone, the most costly one.
    pub(super) fn costly(&self) -> Vec<String> {
        let least = self.least(self.for_space());
        let mut all = self.alone(least);
        all.sort_by(|a, b| b.1.share(&self.budget).total_cmp(&a.1.share(&self.budget)));
        let over = all.iter().filter(|(_, cost)| !cost.fits(&self.budget)).count();
        let places: Vec<usize> = all.into_iter().map(|(place, _)| place).collect();
        let over = &places[..over.max(1).min(places.len())];
        let held =
            |place: usize| self.left_alike(place).filter(move |&other| self.holds(other, place, least));
        let mut gone: Vec<usize> = over.iter().flat_map(|&place| held(place)).collect();
        if gone.is_empty() {
            gone = over.to_vec();
        }
        if places.iter().all(|place| gone.contains(place)) {
            gone.retain(|place| Some(place) != places.last());
        }
        gone.into_iter().map(|place| self.workloads[place].written.name.clone()).collect()
    }

    /// Of the budget's time or space the larger share that it takes with everything given up.
    pub(super) fn share(&self) -> f64 {
        let candidate = self.candidate(self.least(self.for_space()));
        candidate.map_or(f64::INFINITY, |candidate| self.cost(&candidate).share(&self.budget))
    }

    /// Whether `other` keeps the files that it shares with the workload at `place` larger than that one needs them.
    fn holds(&self, other: usize, place: usize, levels: Levels) -> bool {
        let used = self.exponent(place, levels);
        self.limit(other, levels) == used && self.limit(place, levels).min(self.wanted(place, levels)) > used
    }

    /// The workloads that are left and whose sizes are those of the one at `place`.
    fn left_alike(&self, place: usize) -> impl Iterator<Item = usize> {
        self.alike[place].iter().copied().filter(|other| self.left.contains(other))
    }

    fn too_small(&self, levels: Levels) -> FitError {
        let candidate = match self.candidate(levels) {
            Ok(candidate) => candidate,
            Err(error) => return FitError::Unreadable(error),
        };
        let least = self.cost(&candidate);
        let points = candidate.plan.cases.len();
        let several = |of: fn(&Case) -> u32| {
            let least = self.study.left.cases.iter().map(of).min();
            candidate.plan.cases.iter().any(|case| Some(of(case)) > least)
        };
        let mut fewer = Vec::new();
        if self.budget.tasks.is_none() && several(|case| case.workload.tasks) {
            fewer.push("--tasks");
        }
        if self.budget.nodes.is_none() && several(|case| case.workload.nodes) {
            fewer.push("--nodes");
        }
        let fewer = match fewer.as_slice() {
            [] => "; --set changes what is left".to_owned(),
            options => format!("; {} gives up points that need more", options.join(" or ")),
        };
        let kept = match self.caching(levels).1.as_slice() {
            [] => String::new(),
            names => format!("; a cache would hold smaller files of {}", names.join(", ")),
        };
        FitError::TooSmall {
            budget: self.budget.to_string(),
            time: time_option(least.seconds),
            space: space_option(least.space),
            note: format!(", for {points} of its {} points{fewer}{kept}", self.study.points),
        }
    }

    /// The study with these levels; a text if it cannot be read with them.
    pub(super) fn candidate(&self, levels: Levels) -> Result<Candidate, String> {
        let mut settings: Vec<String> = Vec::new();
        // Those that are given up have the sizes of the others on their files, so that the study can be read.
        let mut unshown: Vec<String> = Vec::new();
        for (place, workload) in self.workloads.iter().enumerate() {
            let exponent = self.exponent(place, levels);
            let name = &workload.written.name;
            let setting = |(key, value): (&str, String)| format!("workload.{name}.{key}={value}");
            if !self.left.contains(&place) {
                unshown.extend(workload.sizes(exponent).into_iter().chain(workload.filled()).map(setting));
                continue;
            }
            let factor = 2_f64.powf(f64::from(levels.times) / f64::from(TIME_STEPS));
            let mut own = workload.sizes(exponent);
            if exponent > workload.exponent_uncached {
                own.push(("direct", "true".to_owned()));
            }
            own.extend(workload.times(factor));
            let space_tops = if self.large.contains(&place) { levels.space_tops } else { 0 };
            let thinning = Thinning { tops: levels.thinning.tops.max(space_tops), ..levels.thinning };
            own.extend(thinning::settings(&self.axes[place], thinning));
            own.extend(
                workload.repetitions(levels.repetitions).map(|left| ("repetitions", left.to_string())),
            );
            own.extend(workload.preparation(levels.preparation));
            settings.extend(own.into_iter().map(setting));
        }
        let plan = self.study.read(&[&settings[..], &unshown].concat())?;
        Ok(Candidate { plan, levels, settings })
    }

    /// The exponent of the power of two by which the sizes of a workload are divided.
    fn exponent(&self, place: usize, levels: Levels) -> u32 {
        let limits = self.left_alike(place).map(|place| self.limit(place, levels));
        self.wanted(place, levels).min(limits.min().unwrap_or(0))
    }

    /// The largest exponent of a workload alone.
    fn limit(&self, place: usize, levels: Levels) -> u32 {
        let own = &self.workloads[place];
        let uncached = if levels.direct && own.can_be_direct { u32::MAX } else { own.exponent_uncached };
        own.exponent_max.min(own.exponent_caches).min(uncached)
    }

    /// The exponent without regard to caches and to the number of transfers.
    fn wanted(&self, place: usize, levels: Levels) -> u32 {
        let group = || self.left_alike(place).map(|place| &self.workloads[place]);
        let takes_time = group().any(|one| one.exponent_of_time.is_some() || one.is_filled);
        let of_time = group().filter_map(|one| one.exponent_of_time).min().unwrap_or(u32::MAX);
        let of_time = if takes_time { of_time.min(levels.times / TIME_STEPS) } else { 0 };
        levels.sizes.max(of_time)
    }

    /// The workloads that bypass the page cache at `levels`, and those whose sizes stay larger because of caches.
    pub(super) fn caching(&self, levels: Levels) -> (Vec<String>, Vec<String>) {
        let (mut direct, mut kept) = (Vec::new(), Vec::new());
        for &place in &self.left {
            let workload = &self.workloads[place];
            let name = || workload.written.name.clone();
            let exponent = self.exponent(place, levels);
            let wanted = self.wanted(place, levels).min(workload.exponent_max);
            if exponent > workload.exponent_uncached {
                direct.push(name());
            } else if wanted > workload.exponent_uncached.min(workload.exponent_caches) {
                kept.push(name());
            }
        }
        (direct, kept)
    }
}

impl Study<'_> {
    /// The study with `settings`, without the points beyond the limits.
    fn read(&self, settings: &[String]) -> Result<Plan, String> {
        let mut overrides = self.overrides.clone();
        for setting in settings {
            overrides.push(Override::parse(setting).map_err(|error| error.to_string())?);
        }
        let options = Options { overrides, cases_max: CASES_LIMIT, nodes: self.nodes };
        let whole = study::read_with(self.path, self.text, &options).map_err(|errors| {
            let first = errors.errors().first();
            first.map_or_else(|| errors.to_string(), |error| format!("{error}: {}", error.help_text()))
        })?;
        let known: HashSet<&str> = self.left.cases.iter().map(|case| case.id.as_str()).collect();
        let mut plan = whole.clone();
        plan.keep_cases(|case| known.contains(case.id.as_str()));
        drop_without_data(&whole, &mut plan);
        Ok(plan)
    }
}

/// The first of `levels`, each of which gives up more than the one before, that `fits`.
fn first(levels: &[Levels], fits: impl Fn(&Levels) -> bool) -> Option<&Levels> {
    let place = levels.partition_point(|levels| !fits(levels));
    levels.get(place).filter(|levels| fits(levels))
}

/// For each workload all those that are linked with it by the files that they share.
fn alike(workloads: &[ScaledWorkload<'_>]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..workloads.len()).collect();
    for one in 0..workloads.len() {
        for other in 0..one {
            if workloads[one].shares_files(&workloads[other]) {
                let (from, to) = (group[one], group[other]);
                group.iter_mut().filter(|of| **of == from).for_each(|of| *of = to);
            }
        }
    }
    group.iter().map(|own| (0..group.len()).filter(|place| group[*place] == *own).collect()).collect()
}

/// The file and the overrides of the study that `plan` was read from.
pub(super) fn source(plan: &Plan) -> Result<(&Path, &str, Vec<Override>), FitError> {
    let PlanSource::Study { path, text, overrides } = &plan.source else { return Err(FitError::NoStudy) };
    let overrides: Result<Vec<Override>, _> = overrides.iter().map(|one| Override::parse(one)).collect();
    let overrides = overrides.map_err(|error| FitError::Unreadable(error.to_string()))?;
    Ok((path, text, overrides))
}
