//! Validation of jobs; each mistake comes with its place.

use std::collections::BTreeMap;

use super::extent::Extents;
use super::{Action, JobSpace, JobTest, Jobs, LAUNCHES_MAX, PAGE_BYTES, ROWS_MAX, Step, TableOrder};
use crate::text::nearest::nearest;
use crate::{Backend, PlanError};

/// Limit on kinds of job.
const TESTS_MAX: usize = 256;
/// Limit on steps.
const STEPS_MAX: usize = 64;
/// Limit on threads; no machine has more processors.
const THREADS_MAX: u32 = 4096;

/// A mistake in the jobs of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobProblem {
    /// Index in [`Jobs::tables`], if it is about a table.
    pub table: Option<usize>,
    /// Index in [`Jobs::tests`], if it is about a test.
    pub test: Option<usize>,
    /// Index of the step in the test, if it is about a step.
    pub step: Option<usize>,
    /// The mistake, with the key of a study; see [`PlanError::field`].
    pub error: PlanError,
}

/// Where a mistake is.
type ProblemPosition = (Option<usize>, Option<usize>, Option<usize>);

impl Jobs {
    /// Rejects jobs that cannot be launched as `tasks` on `nodes`.
    pub(crate) fn check(&self, tasks: u32, nodes: u32, backend: Backend) -> Result<(), PlanError> {
        if let Some(problem) = self.problems().into_iter().next() {
            return Err(problem.error);
        }
        if nodes != 1 {
            return Err(PlanError::new(
                "nodes",
                format!("jobs cannot run on {nodes} nodes"),
                "run them on one node",
            ));
        }
        if !backend.capabilities().jobs {
            return Err(PlanError::new(
                "backend",
                format!("jobs cannot use the backend {}", backend.name()),
                "jobs read and write with system calls: leave `backend` and `depth` out",
            ));
        }
        let launches = self.launch_count();
        if u64::from(tasks) != launches {
            return Err(PlanError::new(
                "tasks",
                format!("{tasks} tasks do not match {launches} launches"),
                "each launch is one task: leave `tasks` out",
            ));
        }
        Ok(())
    }

    /// Number of launches, without listing them.
    #[must_use]
    pub fn launch_count(&self) -> u64 {
        let of = |test: &JobTest| u64::from(test.streams) * u64::from(test.rounds);
        self.tests.iter().map(of).fold(0, u64::saturating_add)
    }

    /// All independent mistakes; empty if the jobs can be launched.
    #[must_use]
    pub fn problems(&self) -> Vec<JobProblem> {
        let mut found = Problems::default();
        self.check_whole(&mut found);
        if !found.all.is_empty() {
            return found.all;
        }
        self.check_tables(&mut found);
        self.check_outputs(&mut found);
        self.check_circle(&mut found);
        let permanent = self.permanent();
        for (place, test) in self.tests.iter().enumerate() {
            self.check_test(place, test, &mut found);
            self.check_inputs(place, test, &permanent, &mut found);
            self.check_changes(place, test, &mut found);
        }
        found.all
    }

    /// Mistakes that would make the other checks slow or meaningless.
    fn check_whole(&self, found: &mut Problems) {
        let (least, most) = PAGE_BYTES;
        if self.page_bytes < least || self.page_bytes > most || !self.page_bytes.0.is_power_of_two() {
            let help = format!("give a power of two from {least} to {most}");
            let message = format!("pages of {} are not supported", self.page_bytes);
            found.add((None, None, None), "page", message, help);
        }
        if self.tests.is_empty() {
            found.add((None, None, None), "tests", "there is nothing to launch", "name at least one test");
        }
        if self.tests.len() > TESTS_MAX {
            let message = format!("{} tests are too many", self.tests.len());
            found.add((None, None, None), "tests", message, format!("give at most {TESTS_MAX}"));
        }
        let mut launches = 0_u64;
        for (place, test) in self.tests.iter().enumerate() {
            let at = (None, Some(place), None);
            let before = launches;
            launches = launches.saturating_add(u64::from(test.streams) * u64::from(test.rounds));
            if before <= LAUNCHES_MAX && launches > LAUNCHES_MAX {
                let key = if test.streams >= test.rounds { "streams" } else { "rounds" };
                let message = format!(
                    "{} streams of {} rounds of test `{}` make more than {LAUNCHES_MAX} launches",
                    test.streams, test.rounds, test.name
                );
                found.add(at, key, message, "lower `streams` or `rounds`");
            }
            if test.streams == 0 || test.rounds == 0 {
                let key = if test.streams == 0 { "streams" } else { "rounds" };
                found.add(at, key, format!("test `{}` is never launched", test.name), "give 1 or more");
            }
            if test.steps.is_empty() || test.steps.len() > STEPS_MAX {
                let message = format!("test `{}` has {} steps", test.name, test.steps.len());
                found.add(at, "step", message, format!("give 1 to {STEPS_MAX} steps, as [[test.step]]"));
            }
        }
    }

    fn check_tables(&self, found: &mut Problems) {
        for (place, table) in self.tables.iter().enumerate() {
            let at = (Some(place), None, None);
            found.rows(at, &table.name, (table.rows, table.groups));
            if self.tables[..place].iter().any(|other| other.name == table.name) {
                let message = format!("two tables are called `{}`", table.name);
                found.add(at, "name", message, "table names must be unique");
            }
        }
        for (place, test) in self.tests.iter().enumerate() {
            if self.tests[..place].iter().any(|other| other.name == test.name) {
                let message = format!("two tests are called `{}`", test.name);
                found.add((None, Some(place), None), "name", message, "test names must be unique");
            }
        }
    }

    /// Checks that names of outputs are unique.
    fn check_outputs(&self, found: &mut Problems) {
        let mut permanent: BTreeMap<&str, &str> = BTreeMap::new();
        for test in &self.tests {
            let left = test.outputs().filter(|output| output.space == JobSpace::Permanent);
            left.for_each(|output| {
                permanent.entry(&output.table).or_insert(&test.name);
            });
        }
        for (place, test) in self.tests.iter().enumerate() {
            let mut own: Vec<&str> = Vec::new();
            for (step, output) in
                test.steps.iter().enumerate().filter_map(|(at, step)| Some((at, step.action.output()?)))
            {
                let name = output.table.as_str();
                let other = permanent.get(name).filter(|maker| **maker != test.name);
                let message = if own.contains(&name) {
                    format!("two steps of test `{}` write the table `{name}`", test.name)
                } else if self.tables.iter().any(|table| table.name == name) {
                    format!("the table `{name}` exists before the first launch")
                } else if let Some(maker) = other {
                    format!("test `{maker}` leaves a table `{name}` in permanent space")
                } else {
                    own.push(name);
                    continue;
                };
                found.add((None, Some(place), Some(step)), "output", message, "give it a name of its own");
            }
        }
    }

    fn check_circle(&self, found: &mut Problems) {
        for (place, test) in self.tests.iter().enumerate() {
            if test.after.contains(&test.name) {
                let message = format!("test `{0}` waits for itself: {0} → {0}", test.name);
                found.add((None, Some(place), None), "after", message, "remove it from its own `after`");
            }
        }
        let circle = self.order().circle;
        let (Some(&first), Some(&next)) = (circle.first(), circle.get(1)) else { return };
        let name = |place: usize| self.tests[place].name.as_str();
        let round: Vec<&str> = circle.iter().chain([&first]).map(|&place| name(place)).collect();
        let message = format!("the tests depend on each other in a cycle: {}", round.join(" → "));
        if self.tests[first].after.iter().any(|one| one == name(next)) {
            let help = format!(
                "remove the dependency of `{}` on `{}`, or break the cycle elsewhere",
                name(first),
                name(next)
            );
            found.add((None, Some(first), None), "after", message, help);
            return;
        }
        // It waits for the tests whose output a step reads.
        let made: Vec<&str> = self.tests[next].outputs().map(|output| output.table.as_str()).collect();
        let steps = self.tests[first].steps.iter();
        let reads = |step: &Step| step.action.inputs().find(|input| made.contains(input)).map(str::to_owned);
        let (step, table) =
            steps.enumerate().find_map(|(at, step)| Some((at, reads(step)?))).unwrap_or_default();
        let key = self.tests[first].steps[step].action.key_of(&table);
        let help = format!(
            "`{table}` is written by `{}`: let another test read it, or write it elsewhere",
            name(next)
        );
        found.add((None, Some(first), Some(step)), key, message, help);
    }

    /// Checks one test by itself.
    fn check_test(&self, place: usize, test: &JobTest, found: &mut Problems) {
        for name in &test.after {
            if self.test(name).is_none() {
                let names = self.tests.iter().map(|test| test.name.as_str());
                let message = format!("test `{}` waits for `{name}`, which is not launched", test.name);
                let help = meant(name, names, "name a test of this workload, or leave it out");
                found.add((None, Some(place), None), "after", message, help);
            }
        }
        for (number, step) in test.steps.iter().enumerate() {
            let at = (None, Some(place), Some(number));
            if step.threads == 0 || step.threads > THREADS_MAX {
                let message = format!("a step cannot have {} threads", step.threads);
                found.add(at, "threads", message, format!("give a number from 1 to {THREADS_MAX}"));
            }
            let nothing = |number: u64| number == 0;
            let empty = match &step.action {
                Action::Generate { rows, groups, output, .. } => {
                    found.rows(at, &output.table, (*rows, *groups));
                    None
                }
                Action::Scan { keep_millionths, .. } => {
                    (*keep_millionths > 1_000_000).then_some(("keep", "more than all rows"))
                }
                Action::Update { share_millionths: 0, .. } => Some(("share", "no pages")),
                Action::Update { share_millionths, .. } => {
                    (*share_millionths > 1_000_000).then_some(("share", "more than all pages"))
                }
                Action::Index { lookups, .. } => nothing(*lookups).then_some(("lookups", "no rows")),
                Action::Append { rows, .. } if *rows > ROWS_MAX => {
                    Some(("rows", "more rows than a table can have"))
                }
                Action::Append { rows, .. } => nothing(*rows).then_some(("rows", "no rows")),
                Action::Regression { operations, .. }
                | Action::Factorisation { operations, .. }
                | Action::Fourier { operations, .. }
                | Action::Simulation { operations }
                | Action::Shuffle { operations, .. } => {
                    nothing(*operations).then_some(("operations", "no operations"))
                }
                Action::Summarise { .. } | Action::Sort { .. } | Action::Merge { .. } => None,
            };
            if let Some((key, message)) = empty {
                let message = format!("this step of test `{}` asks for {message}", test.name);
                found.add(at, key, message, "give an amount above 0, at most the whole");
            }
        }
    }

    /// Checks that each step's inputs exist when it runs.
    fn check_inputs(&self, place: usize, test: &JobTest, permanent: &Extents, found: &mut Problems) {
        let mut known = permanent.clone();
        let mut wrong = Vec::new();
        test.walk(&mut known, |number, known| {
            let (action, at) = (&test.steps[number].action, (None, Some(place), Some(number)));
            for input in action.inputs() {
                wrong.extend(
                    self.unreadable(test, number, input)
                        .map(|(message, help)| (at, action.key_of(input), message, help)),
                );
                let order = known.get(input).map(|extent| extent.order);
                if matches!(action, Action::Merge { .. }) && order == Some(TableOrder::Number) {
                    let message = format!("a merge needs inputs sorted by key, and `{input}` is not sorted");
                    let help =
                        format!("sort `{input}` in an earlier step, or create it with `sorted = true`");
                    wrong.push((at, action.key_of(input), message, help));
                }
            }
        });
        wrong.into_iter().for_each(|(at, key, message, help)| found.add(at, key, message, help));
    }

    /// The reason why `test` cannot read `input` in a step, and how to fix it.
    fn unreadable(&self, test: &JobTest, number: usize, input: &str) -> Option<(String, String)> {
        let writes = |step: &Step| step.action.output().is_some_and(|output| output.table == input);
        if self.tables.iter().any(|table| table.name == input) || test.steps[..number].iter().any(writes) {
            return None;
        }
        if test.steps[number..].iter().any(writes) {
            let message = format!("test `{}` reads `{input}` before it writes it", test.name);
            return Some((message, "put the step that writes it first".to_owned()));
        }
        let maker = self.tests.iter().find(|other| other.steps.iter().any(writes));
        let Some(maker) = maker else {
            let tables = self.tables.iter().map(|table| table.name.as_str());
            let outputs = self.tests.iter().flat_map(JobTest::outputs).map(|output| output.table.as_str());
            let message = format!("test `{}` reads `{input}`, a table that nothing creates", test.name);
            let otherwise = "add a [[table]] with this name, or write it in an earlier step";
            return Some((message, meant(input, tables.chain(outputs), otherwise)));
        };
        let output = maker.outputs().find(|output| output.table == input)?;
        if output.space != JobSpace::Permanent {
            let message = format!(
                "`{input}` is in {} space of test `{}`, and is removed with it",
                output.space, maker.name
            );
            return Some((message, "write it with space = \"permanent\", or make a copy here".to_owned()));
        }
        if maker.streams < test.streams {
            let message = format!(
                "test `{}` has {} streams, but `{}` writes `{input}` for only {}",
                test.name, test.streams, maker.name, maker.streams
            );
            return Some((message, format!("give `{}` as many streams", maker.name)));
        }
        None
    }

    /// Checks that a table changed in place belongs to one test.
    fn check_changes(&self, place: usize, test: &JobTest, found: &mut Problems) {
        for (number, step) in test.steps.iter().enumerate() {
            let Some(table) = step.action.changes() else { continue };
            let user = self.tests.iter().find(|other| {
                let reads = other.steps.iter().any(|step| step.action.inputs().any(|input| input == table));
                other.name != test.name && reads
            });
            if let Some(user) = user {
                let message = format!("test `{}` changes `{table}`, which `{}` uses", test.name, user.name);
                let help = "the result would depend on which test runs first: give each its own table";
                found.add((None, Some(place), Some(number)), "table", message, help);
            }
        }
    }
}

impl Action {
    /// The key of a study that names the table `input`.
    #[must_use]
    pub fn key_of(&self, input: &str) -> &'static str {
        match self {
            Self::Merge { left, .. } if left == input => "left",
            Self::Merge { .. } => "right",
            Self::Append { .. } | Self::Update { .. } => "table",
            _ => "input",
        }
    }
}

/// The name that was probably meant, or else `otherwise`.
fn meant<'n>(name: &str, names: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    match nearest(name, names) {
        Some(meant) => format!("did you mean `{meant}`? Otherwise {otherwise}"),
        None => otherwise.to_owned(),
    }
}

#[derive(Default)]
struct Problems {
    all: Vec<JobProblem>,
}

impl Problems {
    fn add(
        &mut self,
        at: ProblemPosition,
        key: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (table, test, step) = at;
        self.all.push(JobProblem { table, test, step, error: PlanError::new(key, message, help) });
    }

    /// Checks the numbers of rows and keys of a table.
    fn rows(&mut self, at: ProblemPosition, name: &str, (rows, groups): (u64, u64)) {
        if rows == 0 || rows > ROWS_MAX {
            let message = format!("table `{name}` cannot have {rows} rows");
            self.add(at, "rows", message, format!("give 1 to {ROWS_MAX} rows at this scale"));
        } else if groups == 0 || groups > rows {
            let message = format!("table `{name}` cannot have {groups} different keys in {rows} rows");
            self.add(at, "groups", message, "give at least 1, and at most one for each row");
        }
    }
}
