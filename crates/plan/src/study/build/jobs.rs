//! `[[table]]` and `[[test]]` as the jobs of a workload.

use crate::jobs::{Action, Output, ROW_BYTES, Step, TableOrder};
use crate::study::error::StudyError;
use crate::study::keys::{STEP, of_step};
use crate::study::names::{unique, unknown};
use crate::study::table::document::Document;
use crate::study::table::values::{Fields, Point, Span, Values};
use crate::text::visible::shown;
use crate::{JobProblem, JobSpace, JobTable, JobTest, Jobs, TestKind};

/// Minimum number of rows of a table at any scale: those of a page of the smallest size.
const ROWS_MIN: u64 = 511;
/// Default share of distinct keys.
const DISTINCT: f64 = 0.1;
const BILLION: f64 = 1e9;

/// The tables and tests of a study.
#[derive(Debug)]
pub(super) struct JobDefinitions<'f> {
    tables: &'f [Fields],
    tests: &'f [Fields],
    /// Whether each of them is valid on its own.
    sound: bool,
    /// Whether there may be others that could not be read.
    partial: bool,
}

impl<'f> JobDefinitions<'f> {
    /// Checks each table and test on its own, and that each is used.
    pub(super) fn read(document: &'f Document, errors: &mut Vec<StudyError>) -> Self {
        let (tables, tests) = (document.many("table"), document.many("test"));
        let before = errors.len();
        names(tables, "table", errors);
        names(tests, "test", errors);
        for fields in tables.iter().filter(|fields| fields.sound()) {
            errors.extend(amount_mistakes(fields, true));
        }
        for test in tests {
            for step in test.tables("step").iter().filter(|step| step.sound()) {
                errors.extend(step_mistakes(step));
            }
            for name in test.texts("after").unwrap_or_default() {
                let known = tests.iter().filter_map(|test| test.text("name"));
                if !document.partial && !known.clone().any(|one| one == name) {
                    errors.push(unknown("test", name, test.span("after"), known));
                }
            }
        }
        let all_sound = tables.iter().chain(tests).all(Fields::sound);
        let jobs =
            Self { tables, tests, sound: all_sound && errors.len() == before, partial: document.partial };
        if jobs.sound {
            errors.extend(jobs.unused(document));
        }
        jobs
    }

    /// Unused tables and tests.
    fn unused(&self, document: &Document) -> Vec<StudyError> {
        let launched = |fields: &Fields| fields.word("work") == Some("jobs");
        if !document.many("workload").iter().any(launched) && !document.partial {
            let idle = |fields: &Fields, key: Option<&str>| {
                let (span, what) = match key {
                    Some(key) => (fields.key_span(key), format!("`{key}`")),
                    None => (fields.header(), format!("this [[{}]]", fields.name())),
                };
                let message = format!("{what} would do nothing here");
                let help = "it needs a [[workload]] with work = \"jobs\"; otherwise leave it out";
                StudyError::new(span, "without effect", message, help)
            };
            let whole = self.tables.iter().chain(self.tests).take(1).map(|fields| idle(fields, None));
            let spaces = document.many("target").iter().flat_map(|target| {
                let given = ["work", "utility"].into_iter().filter(|key| target.has(key));
                given.map(|key| idle(target, Some(key))).collect::<Vec<_>>()
            });
            return whole.chain(spaces).collect();
        }
        let reads = |name: &str| {
            let steps = self.tests.iter().flat_map(|test| test.tables("step"));
            let keys = ["input", "left", "right", "table"];
            steps.into_iter().any(|step| keys.iter().any(|key| step.text(key) == Some(name)))
        };
        let idle = self.tables.iter().filter(|table| table.text("name").is_some_and(|name| !reads(name)));
        idle.map(|table| {
            let message = format!("no test reads table `{}`", table.text_or_empty("name"));
            StudyError::new(
                table.span("name"),
                "without effect",
                message,
                "name it in a step, or leave it out",
            )
        })
        .collect()
    }

    /// The jobs of the workload `fields`, from `jobs` without tables and tests.
    pub(super) fn jobs(
        &self,
        fields: &Point<'_>,
        mut jobs: Jobs,
        errors: &mut Vec<StudyError>,
    ) -> Option<Jobs> {
        if self.tests.is_empty() && !self.partial {
            let help =
                "add one, with `name`, `kind` and at least one [[test.step]]; docs/JOBS.md has an example";
            let message = "there is nothing to launch: the study has no [[test]]";
            errors.push(StudyError::new(fields.header(), "no jobs", message, help));
        }
        let chosen = self.chosen(fields, errors)?;
        if !self.sound || chosen.is_empty() {
            return None;
        }
        let scale = Scale { billionths: jobs.scale_billionths };
        let tests: Option<Vec<JobTest>> =
            chosen.iter().map(|test| scale.test(test, &jobs, &chosen)).collect();
        jobs.tests = tests?;
        let used: Vec<&Fields> =
            self.tables.iter().filter(|table| jobs.replicas(&table.text_or_empty("name")) > 0).collect();
        jobs.tables = used.iter().filter_map(|table| scale.table(table)).collect();
        let problems = jobs.problems();
        let sound = problems.is_empty();
        errors.extend(problems.into_iter().map(|one| self.located(fields, &chosen, &used, one)));
        sound.then_some(jobs)
    }

    /// The tests that a workload names, or all of them.
    fn chosen(&self, fields: &Point<'_>, errors: &mut Vec<StudyError>) -> Option<Vec<&'f Fields>> {
        let Some(wanted) = fields.texts("tests") else { return Some(self.tests.iter().collect()) };
        let named = |name: &str| self.tests.iter().find(|test| test.text("name") == Some(name));
        for (place, name) in wanted.iter().enumerate() {
            let span = || fields.span("tests");
            if named(name).is_none() && !self.partial && !self.tests.is_empty() {
                let known = self.tests.iter().filter_map(|test| test.text("name"));
                errors.push(unknown("test", name, span(), known));
                return None;
            }
            if wanted[..place].contains(name) {
                let message = format!("test `{}` is named twice", shown(name));
                let help = "a test is launched again by its `streams` and `rounds`";
                errors.push(StudyError::new(span(), "in here", message, help));
                return None;
            }
        }
        // In the order of the file, not of the names.
        let is_wanted =
            |test: &&Fields| test.text("name").is_some_and(|name| wanted.iter().any(|one| one == name));
        Some(self.tests.iter().filter(is_wanted).collect())
    }

    /// A mistake at the place where it was written.
    fn located(
        &self,
        fields: &Point<'_>,
        chosen: &[&Fields],
        used: &[&Fields],
        problem: JobProblem,
    ) -> StudyError {
        let error = &problem.error;
        let mut help = error.help.clone();
        let place = |of: &dyn Fn(&str) -> (bool, Span)| {
            let stand_in = match error.field {
                "rows" => "size",
                "groups" => "distinct",
                other => other,
            };
            let (given, span) = of(error.field);
            if given { span } else { of(stand_in).1 }
        };
        let span = match (problem.table, problem.test, problem.step) {
            (Some(table), _, _) => place(&|key| (used[table].has(key), used[table].span(key))),
            (None, Some(test), Some(step)) => {
                let step = &chosen[test].tables("step")[step];
                if let Some(input) = step.text(error.field)
                    && let Some(maker) = self.left_out(input, chosen)
                {
                    help = format!("`{input}` is written by test `{maker}`: add that test to `tests`");
                }
                place(&|key| (step.has(key), step.span(key)))
            }
            (None, Some(test), None) => place(&|key| (chosen[test].has(key), chosen[test].span(key))),
            _ => fields.span(error.field),
        };
        StudyError::new(span, "here", &error.message, help)
    }

    /// The test that creates the table `name` for others and is not among the `chosen` ones.
    fn left_out(&self, name: &str, chosen: &[&Fields]) -> Option<String> {
        let makes = |test: &&Fields| {
            let leaves =
                |step: &Fields| step.text("output") == Some(name) && step.word("space") == Some("permanent");
            test.tables("step").iter().any(leaves) && !chosen.iter().any(|one| std::ptr::eq(*one, *test))
        };
        self.tests.iter().find(makes).map(|test| test.text_or_empty("name"))
    }
}

fn names(all: &[Fields], noun: &str, errors: &mut Vec<StudyError>) {
    let mut seen = Vec::new();
    for fields in all {
        if let Some(name) = fields.text("name") {
            unique(&mut seen, name, fields.span("name"), noun, errors);
        }
    }
}

/// Keys that a step does not use, and required keys that it lacks.
fn step_mistakes(step: &Fields) -> Vec<StudyError> {
    const ALWAYS: [&str; 3] = ["do", "threads", "memory"];
    let Some(action) = step.word("do") else { return Vec::new() };
    let (heeded, needed) = of_step(action);
    let mut errors = Vec::new();
    for key in step.keys().filter(|key| !ALWAYS.contains(key) && !heeded.contains(key)) {
        let message = format!("`{key}` would do nothing here");
        let help = format!("do = \"{action}\" uses {}; leave it out", listed(heeded));
        errors.push(StudyError::new(step.key_span(key), "without effect", message, help));
    }
    for key in needed.iter().filter(|key| !step.has(key)) {
        let message = format!("a step with do = \"{action}\" has no `{key}`");
        errors.push(StudyError::new(
            step.span("do"),
            format!("`{key}` is missing"),
            message,
            STEP.allowed(key),
        ));
    }
    if heeded.contains(&"space") && step.has("space") && !step.has("output") {
        let message = "`space` would do nothing here";
        let help = "it says where `output` is stored; name an `output`, or leave it out";
        errors.push(StudyError::new(step.key_span("space"), "without effect", message, help));
    }
    if heeded.contains(&"rows") {
        errors.extend(amount_mistakes(step, heeded.contains(&"groups")));
    }
    errors
}

fn listed(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// The error in the numbers of rows and keys of a table or step, at scale 1.
fn amount_mistakes(fields: &Fields, keyed: bool) -> Option<StudyError> {
    let both = [("rows", "size"), ("groups", "distinct")]
        .into_iter()
        .find(|(one, other)| fields.has(one) && fields.has(other));
    if let Some((one, other)) = both {
        let message = format!("both `{one}` and `{other}` say how many there are");
        let error = StudyError::new(
            fields.key_span(other),
            "and here",
            message,
            format!("give `{one}` or `{other}`"),
        );
        return Some(error.and(fields.key_span(one), "here"));
    }
    let Some(rows) = rows(fields) else {
        let message = "the number of rows is not given";
        let help = "give `rows`, or `size` in bytes";
        return Some(StudyError::new(fields.header(), "no number of rows", message, help));
    };
    if rows == 0 {
        let message = format!("{} bytes are too few for a row", fields.count("size").unwrap_or(0));
        let help = format!("a row has {ROW_BYTES} bytes: give at least that");
        return Some(StudyError::new(fields.span("size"), "too small", message, help));
    }
    let groups = fields.count("groups").filter(|groups| keyed && *groups > rows)?;
    let message = format!("{groups} different keys are more than {rows} rows can have");
    Some(StudyError::new(fields.span("groups"), "too many", message, "give at most one for each row"))
}

/// Rows at scale 1.
fn rows(fields: &Fields) -> Option<u64> {
    fields.count("rows").or_else(|| fields.count("size").map(|bytes| bytes / ROW_BYTES))
}

/// The nearest count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "amounts are positive, and those above what a count holds become the largest"
)]
fn to_count(amount: f64) -> u64 {
    amount.round() as u64
}

/// A share in parts of 1,000,000.
fn millionths(share: f64) -> u32 {
    u32::try_from(to_count(share * 1e6)).unwrap_or(u32::MAX)
}

/// The factor that everything is multiplied by.
#[derive(Debug, Clone, Copy)]
struct Scale {
    billionths: u64,
}

impl Scale {
    fn times(self, count: u64) -> u64 {
        let product = u128::from(count) * u128::from(self.billionths) + 500_000_000;
        u64::try_from(product / 1_000_000_000).unwrap_or(u64::MAX)
    }

    /// Numbers of rows and distinct keys.
    fn rows_and_groups(self, fields: &Fields) -> Option<(u64, u64)> {
        let whole = rows(fields)?;
        let rows = self.times(whole).max(whole.min(ROWS_MIN));
        let groups = match fields.count("groups") {
            Some(groups) => self.times(groups),
            None => to_count(rows as f64 * fields.number("distinct").unwrap_or(DISTINCT)),
        };
        Some((rows, groups.clamp(1, rows)))
    }

    fn table(self, fields: &Fields) -> Option<JobTable> {
        let (rows, groups) = self.rows_and_groups(fields)?;
        Some(JobTable { name: fields.text_or_empty("name"), rows, groups, order: order(fields) })
    }

    fn test(self, fields: &Fields, jobs: &Jobs, chosen: &[&Fields]) -> Option<JobTest> {
        let kind = fields.word("kind")?;
        let kind = TestKind::ALL.into_iter().find(|one| one.name() == kind)?;
        let steps: Option<Vec<Step>> =
            fields.tables("step").iter().map(|step| self.step(step, fields, jobs)).collect();
        // A test that is not launched cannot be a dependency.
        let launched = |name: &&String| chosen.iter().any(|test| test.text("name") == Some(name));
        let after = fields.texts("after").unwrap_or_default();
        Some(JobTest {
            title: fields.text_or_empty("title"),
            streams: fields.count_u32("streams")?,
            rounds: fields.count_u32("rounds")?,
            after: after.iter().filter(launched).cloned().collect(),
            memory_max: fields.bytes("memory_max"),
            ..JobTest::new(fields.text("name")?, kind, steps?)
        })
    }

    fn step(self, step: &Fields, test: &Fields, jobs: &Jobs) -> Option<Step> {
        let threads = step.count_u32("threads").or_else(|| test.count_u32("threads"))?;
        let memory = step.bytes("memory").or_else(|| test.bytes("memory"))?;
        let action = self.action(step)?;
        Some(Step { action, threads, memory: memory.max(jobs.memory_min(threads)) })
    }

    fn action(self, step: &Fields) -> Option<Action> {
        let text = |key: &str| step.text(key).map(str::to_owned);
        let output = output(step);
        let operations = || {
            let scaled = step.number("operations")? * (self.billionths as f64 / BILLION);
            Some(to_count(scaled).max(1))
        };
        Some(match step.word("do")? {
            "generate" => {
                let (rows, groups) = self.rows_and_groups(step)?;
                Action::Generate { output: output?, rows, groups, order: order(step) }
            }
            "scan" => {
                let keep_millionths = millionths(step.number("keep").unwrap_or(1.0));
                Action::Scan { input: text("input")?, output, keep_millionths }
            }
            "summarise" => Action::Summarise { input: text("input")?, output },
            "sort" => Action::Sort { input: text("input")?, output: output? },
            "merge" => Action::Merge { left: text("left")?, right: text("right")?, output },
            "index" => {
                let lookups = self.times(step.count("lookups")?).max(1);
                Action::Index { input: text("input")?, lookups }
            }
            "append" => Action::Append { table: text("table")?, rows: self.times(rows(step)?).max(1) },
            "update" => {
                let share_millionths = millionths(step.number("share")?);
                Action::Update { table: text("table")?, share_millionths }
            }
            "regression" => Action::Regression { input: text("input")?, operations: operations()? },
            "factorisation" => Action::Factorisation { input: text("input"), operations: operations()? },
            "fourier" => Action::Fourier { input: text("input"), operations: operations()? },
            "simulation" => Action::Simulation { operations: operations()? },
            _ => Action::Shuffle { input: text("input"), operations: operations()? },
        })
    }
}

fn order(fields: &Fields) -> TableOrder {
    if fields.flag("sorted") { TableOrder::Key } else { TableOrder::Number }
}

fn output(step: &Fields) -> Option<Output> {
    let word = step.word("space").unwrap_or("work");
    let space = JobSpace::ALL.into_iter().find(|space| space.name() == word)?;
    step.text("output").map(|table| Output { table: table.to_owned(), space })
}
