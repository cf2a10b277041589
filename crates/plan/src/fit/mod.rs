//! Scales a study to a budget of time and space.
//!
//! [`fit`] gives up as little as it can, in this order; each step is taken only as far as needed, and the next one
//! only if it is not enough.
//!
//! 1. Points with more tasks or nodes than the budget are given up.
//! 2. **Space**: files, trees and tables become smaller, by powers of two and alike on each target. A size stays if a
//!    cache would hold the smaller files. If that is not enough, workloads whose files the page cache would hold
//!    bypass it, and then the largest values of swept sizes, tasks and nodes are given up.
//! 3. **Time**: durations become shorter, and what ends by volume moves less. A pass keeps [`PASS_SECONDS_MIN`].
//! 4. Points of sweeps are given up evenly, by halving the longest sweep of each workload. The ends stay, and so do
//!    points that a claim, a commitment or a published figure names. What is not a number, such as a target, is not
//!    thinned.
//! 5. Repetitions, down to [`crate::SHORT_PASSES_MIN`], the fewest of which a difference is shown.
//! 6. Pauses, warm-ups and early rounds.
//! 7. The page cache is bypassed as above, the largest of swept sizes, tasks and nodes are given up, and at last the
//!    points that were named.
//! 8. Workloads that do not fit even so: those that keep the files of one that is too costly large, else all that are too
//!    costly alone, else the most costly one. What is left is scaled anew from step 2.
//!
//! Afterwards durations are extended again as far as there is time. The study itself is changed, by values as `--set`
//! takes them, and read again: the result is a valid plan of the same kind, and its case ids, seeds and order are those
//! of the study. A value that a sweep names is never changed.

mod cost;
mod error;
mod levels;
mod limits;
mod thinning;
mod told;
mod workload;

pub use self::cost::Cost;
pub use self::error::FitError;
pub use self::limits::{FOOTPRINT_MIN, PASS_SECONDS_MIN, TRANSFERS_MIN};

use std::collections::BTreeSet;

use self::levels::{Candidate, Levels, Scaler, Study};
use crate::cases::scaling::{Budget, Range, Scaling};
use crate::study::workloads;
use crate::{Case, Plan, RunEnvironment};

/// The study that `plan` was read from, scaled to `budget`: `plan` itself if it fits. `nodes` are those of the run, as
/// in [`crate::study::Options`]. What was given up is [`Plan::scaling`].
///
/// ```
/// use plan::{Budget, Nanos, RunEnvironment};
/// let text = r#"
///     [protocol]
///     repetitions = 5
///     [[target]]
///     name = "disk"
///     directory = "/mnt/disk"
///     [[workload]]
///     name = "tasks"
///     phases = ["read"]
///     transfer = "4KiB"
///     size = "1GiB"
///     order = "random"
///     direct = true
///     fill = true
///     tasks = "1..64 times 2"
///     duration = "20s"
/// "#;
/// let plan = plan::study::read("tasks.toml".as_ref(), text)?;
/// let budget = Budget { time: Some(Nanos::secs(120)), ..Budget::default() };
/// let scaled = plan::fit(&plan, 1, &budget, &RunEnvironment::default())?;
/// let scaling = scaled.scaling.expect("it takes twelve minutes as written");
/// assert_eq!(scaling.to_string(), "scaled to 2 min: sizes ÷ 4, times ÷ 6.7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors if the plan is not of a study, or with the least budget that works.
pub fn fit(plan: &Plan, nodes: u32, budget: &Budget, environment: &RunEnvironment) -> Result<Plan, FitError> {
    if budget.is_unlimited() {
        return Ok(plan.clone());
    }
    levels::source(plan)?;
    let capped = capped(plan, budget)?;
    let mut left = capped.clone();
    let forms = |left: &Plan| scaled(plan, (&capped, left), nodes, budget, environment);
    loop {
        match forms(&left) {
            Err(Unfit { error, costly, .. }) if error.is_too_small() => {
                let before = left.cases.len();
                left.keep_cases(|case| !costly.contains(&case.group));
                thinning::drop_without_data(&capped, &mut left);
                if left.cases.is_empty() || left.cases.len() == before {
                    return one_alone(&capped, forms).unwrap_or(Err(*error));
                }
            }
            Err(unfit) => return Err(*unfit.error),
            Ok(mut found) => {
                for gone in found.scaling.iter_mut().flat_map(|scaling| &mut scaling.gone) {
                    if let Some(Err(Unfit { error, .. })) = alone(&capped, gone, forms)
                        && let FitError::TooSmall { time, space, .. } = *error
                    {
                        gone.push_str(&format!(" (alone it takes at least --time {time} --space {space})"));
                    }
                }
                return Ok(found);
            }
        }
    }
}

/// The form of one workload alone. `None` if it reads the data of another one.
fn alone(
    capped: &Plan,
    group: &str,
    forms: impl Fn(&Plan) -> Result<Plan, Unfit>,
) -> Option<Result<Plan, Unfit>> {
    let mut left = capped.clone();
    left.keep_cases(|case| case.group == group);
    thinning::drop_without_data(capped, &mut left);
    (!left.cases.is_empty()).then(|| forms(&left))
}

/// The workload that fits alone with the most points, else the error of the one that needs the least alone. `None` if
/// each reads the data of another one.
fn one_alone(
    capped: &Plan,
    forms: impl Fn(&Plan) -> Result<Plan, Unfit> + Copy,
) -> Option<Result<Plan, FitError>> {
    let groups: BTreeSet<&str> = capped.cases.iter().map(|case| case.group.as_str()).collect();
    let all = groups.into_iter().filter_map(|group| alone(capped, group, forms));
    let (fitting, unfit): (Vec<_>, Vec<_>) = all.partition(Result::is_ok);
    let most = fitting.into_iter().flatten().max_by_key(|scaled| scaled.cases.len());
    let least = unfit.into_iter().filter_map(Result::err).min_by(|a, b| a.share.total_cmp(&b.share));
    most.map(Ok).or(least.map(|unfit| Err(*unfit.error)))
}

/// Why no form of some points fits a budget.
struct Unfit {
    error: Box<FitError>,
    /// The workloads that have to be given up.
    costly: Vec<String>,
    /// Of the budget's time or space the larger share that it takes with everything given up.
    share: f64,
}

impl From<FitError> for Unfit {
    fn from(error: FitError) -> Self {
        Self { error: Box::new(error), costly: Vec::new(), share: f64::INFINITY }
    }
}

/// The form of `left`, the workloads of `capped` that are left of `plan`, that fits the budget.
fn scaled(
    plan: &Plan,
    (capped, left): (&Plan, &Plan),
    nodes: u32,
    budget: &Budget,
    environment: &RunEnvironment,
) -> Result<Plan, Unfit> {
    let (path, text, overrides) = levels::source(plan)?;
    let written = workloads(text, &overrides);
    let points = plan.cases.len();
    let study = Study { path, text, overrides, nodes, plan: capped, left, points };
    let scaler = Scaler::new(study, &written, *budget, environment);
    let found = if Cost::of(left, environment).fits(budget) {
        Candidate { plan: left.clone(), levels: Levels::default(), settings: Vec::new() }
    } else {
        scaler.search().map_err(|error| Unfit {
            error: Box::new(error),
            costly: scaler.costly(),
            share: scaler.share(),
        })?
    };
    if found.plan.cases.len() == plan.cases.len() && found.settings.is_empty() {
        return Ok(plan.clone());
    }
    let scaling = scaling(plan, &found, budget, &scaler);
    let mut scaled = found.plan;
    // The source says what the user wrote, and the commitments are what the study says of them.
    scaled.source.clone_from(&plan.source);
    scaled.criteria.clone_from(&plan.criteria);
    scaled.destroy_data_on.clone_from(&plan.destroy_data_on);
    Ok(Plan { scaling: Some(scaling), ..scaled })
}

/// The plan without the points that have more tasks or nodes than the budget.
fn capped(plan: &Plan, budget: &Budget) -> Result<Plan, FitError> {
    let fits = |case: &Case| {
        budget.tasks.is_none_or(|most| case.workload.tasks <= most)
            && budget.nodes.is_none_or(|most| case.workload.nodes <= most)
    };
    let mut capped = plan.clone();
    capped.keep_cases(fits);
    thinning::drop_without_data(plan, &mut capped);
    if !capped.cases.is_empty() {
        return Ok(capped);
    }
    let words = |tasks: Option<u32>, nodes: Option<u32>| {
        let options = [("--tasks", tasks), ("--nodes", nodes)];
        let options = options.into_iter().filter_map(|(option, most)| Some(format!("{option} {}", most?)));
        options.collect::<Vec<_>>().join(" ")
    };
    // The fewest of what is limited, among the cases that keep the other limit if there are some.
    let keeps = |case: &&Case, tasks: Option<u32>, nodes: Option<u32>| {
        tasks.is_none_or(|most| case.workload.tasks <= most)
            && nodes.is_none_or(|most| case.workload.nodes <= most)
    };
    let fewest = |of: fn(&Case) -> u32, tasks: Option<u32>, nodes: Option<u32>| {
        let kept = plan.cases.iter().filter(|case| keeps(case, tasks, nodes)).map(of).min();
        kept.or_else(|| plan.cases.iter().map(of).min())
    };
    let of_tasks = budget.tasks.and_then(|_| fewest(|case| case.workload.tasks, None, budget.nodes));
    let of_nodes =
        budget.nodes.and_then(|_| fewest(|case| case.workload.nodes, of_tasks.max(budget.tasks), None));
    Err(FitError::NoCases {
        budget: words(budget.tasks, budget.nodes),
        least: words(of_tasks.max(budget.tasks), of_nodes.max(budget.nodes)),
    })
}

/// What `found` gave up of `plan`.
fn scaling(plan: &Plan, found: &Candidate, budget: &Budget, scaler: &Scaler<'_>) -> Scaling {
    let left = |group: &str| found.plan.cases.iter().any(|case| case.group == group);
    let mut gone: Vec<String> = Vec::new();
    for case in &plan.cases {
        if !left(&case.group) && !gone.contains(&case.group) {
            gone.push(case.group.clone());
        }
    }
    let kept: Vec<(&Case, &Case)> = told::pairs(plan, &found.plan).collect();
    let repetitions: Vec<_> = kept.iter().map(|(was, is)| (was.repetitions, is.repetitions)).collect();
    let fewer = repetitions.iter().any(|(was, is)| is < was);
    let range =
        |of: fn(&(u32, u32)) -> u32| Range::of(repetitions.iter().filter(|(was, is)| is < was).map(of));
    let (direct, kept_sizes) = scaler.caching(found.levels);
    Scaling {
        budget: *budget,
        points_of: plan.cases.len(),
        points: found.plan.cases.len(),
        sizes: Range::of(kept.iter().filter_map(|(was, is)| told::smaller(was, is))),
        times: Range::of(kept.iter().filter_map(|(was, is)| told::shorter(was, is))),
        repetitions: range(|(was, _)| *was).zip(range(|(_, is)| *is)).filter(|_| fewer),
        preparation: told::preparation(&kept),
        direct,
        kept_sizes,
        assumed: scaler.is_partly_assumed(&found.plan),
        gone,
        untold: told::untold(plan, &found.plan),
        settings: found.settings.clone(),
    }
}
