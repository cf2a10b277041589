//! Combines the tables of a study into a plan.

mod concurrent;
mod criteria;
mod data;
mod jobs;
mod layout;
mod protocol;
mod target;
mod work;
mod workload;

use std::path::Path;

use self::criteria::{KnownNames, criteria};
use self::jobs::JobDefinitions;
use self::layout::Layouts;
use self::target::{NO_TARGET, Targets};
use self::work::WorkloadContext;
use self::workload::Draft;
use crate::cases::rules::{node_local_rule, server_memory_rule};
use crate::seeds::named_seed;
use crate::study::error::StudyError;
use crate::study::keys::WORKLOAD;
use crate::study::names::unique;
use crate::study::options::{CASES_LIMIT, Options};
use crate::study::table::document::Document;
use crate::study::table::sweep::{Axes, case_count};
use crate::study::table::values::{Fields, Point, Values};
use crate::{Case, Criteria, Layout, Permutation, Plan, PlanError, PlanSource, Setting, SettingValue};

/// Limit on ids, which become part of file names; Linux limits those to 255 bytes.
const ID_BYTES_MAX: usize = 200;

/// The plan of `document`; `None`, or additional `errors`, if it is invalid.
pub(super) fn plan(
    path: &Path,
    text: &str,
    document: &Document,
    options: &Options,
    errors: &mut Vec<StudyError>,
) -> Option<Plan> {
    let seed = document.study.count("seed")?;
    let workloads = document.many("workload");
    let layouts = Layouts::read(document.many("layout"), document.partial, errors);
    let mut targets = Targets::read(document.many("target"), &layouts, document.partial, errors);
    let jobs = JobDefinitions::read(document, errors);
    let mut names = Vec::new();
    for fields in workloads {
        if let Some(name) = fields.text("name") {
            unique(&mut names, name, fields.span("name"), "workload", errors);
        }
    }
    errors.extend(protocol::idle(&document.protocol, workloads));
    let counted = errors.len();
    let too_many = too_many(workloads, options, errors);
    if too_many.is_some() || errors.len() > counted {
        errors.extend(too_many);
        return None;
    }
    let axes: Vec<Axes> = workloads.iter().map(|fields| Axes::of(fields, &WORKLOAD, errors)).collect();
    for (fields, axes) in workloads.iter().zip(&axes).filter(|(fields, _)| of_members(fields)) {
        axes.points(fields).for_each(|point| targets.divide(&point));
    }
    let context = WorkloadContext { seed, nodes: options.nodes, jobs: &jobs };
    let mut drafts = Vec::new();
    for (fields, axes) in workloads.iter().zip(&axes) {
        let mut point_errors = PointErrors::default();
        for point in axes.points(fields) {
            let mut own = Vec::new();
            let draft = draft(&point, &targets, &document.protocol, context, &mut own);
            point_errors.add(&point, own);
            drafts.extend(draft);
        }
        point_errors.report(errors);
    }
    data::settle(&mut drafts, errors);
    let cases = cases(&drafts, &document.protocol, errors);
    if document.protocol.flag("interleaved") {
        errors.extend(cases.iter().find_map(|case| no_turns(case, &document.protocol)));
    }
    // If a workload is missing, others would appear to read unwritten data.
    if errors.is_empty() {
        data::check(&drafts, &cases, &document.protocol, errors);
    }
    let together = concurrent::cases(document.many("concurrent"), &cases, errors);
    let all: Vec<Case> = cases.iter().chain(&together).cloned().collect();
    let criteria = if errors.is_empty() {
        let overrides = options.overrides.as_slice();
        let known = KnownNames::of_study(&targets, workloads, &axes, &all, overrides);
        criteria(document, targets.descriptions(), &known, errors)
    } else {
        Criteria::default()
    };
    let title = document.study.text("title").map_or_else(
        || path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        str::to_owned,
    );
    let overrides = options.overrides.iter().map(ToString::to_string).collect();
    let source = PlanSource::Study { path: path.to_owned(), text: text.to_owned(), overrides };
    let cases = if document.protocol.flag("shuffle") { shuffled(cases, seed) } else { cases };
    let mut cases = by_layout(cases);
    if document.protocol.flag("interleaved") {
        take_turns(&mut cases);
    }
    for group in together.chunk_by(|case, next| next.runs_with(case)) {
        let place = cases.iter().rposition(|case| case.layout == group[0].layout);
        let place = place.map_or(cases.len(), |last| last + 1);
        cases.splice(place..place, group.iter().cloned());
    }
    let stands = |layout: &Layout| cases.iter().any(|case| case.layout.as_deref() == Some(&layout.name));
    let layouts = layouts.sound.into_iter().filter(stands).collect();
    Some(Plan { criteria, layouts, ..Plan::new(title, source, seed, cases) })
}

/// The criteria of `document` for the figures of `plan`.
pub(super) fn criteria_about(plan: &Plan, document: &Document, errors: &mut Vec<StudyError>) -> Criteria {
    let targets = match plan.criteria.targets.as_slice() {
        [] => target::described(document.many("target")),
        targets => targets.to_vec(),
    };
    criteria(document, targets, &KnownNames::of_plan(plan), errors)
}

/// The keys that select members of a target.
const MEMBERS: [&str; 2] = ["member", "members"];

/// Whether a workload uses only some members of its target.
fn of_members(fields: &Fields) -> bool {
    MEMBERS.iter().any(|key| fields.has(key))
        || fields.sweeps().iter().any(|sweep| MEMBERS.contains(&sweep.key))
}

/// Rejects more cases than allowed, before any of them is built.
fn too_many(workloads: &[Fields], options: &Options, errors: &mut Vec<StudyError>) -> Option<StudyError> {
    let counts: Vec<u64> = workloads.iter().map(|fields| case_count(fields, errors)).collect();
    let total = counts.iter().fold(0_u64, |sum, &count| sum.saturating_add(count));
    if total <= options.cases_max.min(CASES_LIMIT) {
        return None;
    }
    let (largest, _) = workloads.iter().zip(&counts).max_by_key(|(_, count)| **count)?;
    let sweep = largest.sweeps().iter().max_by_key(|sweep| sweep.count());
    let span = sweep.map_or_else(|| largest.header(), |sweep| sweep.span.clone());
    let (fewer, message) = ("sweep fewer values, or use larger steps", |most: u64| {
        format!("the study has {} cases, more than {}", grouped(total), grouped(most))
    });
    if total > CASES_LIMIT {
        let help = format!("{fewer}; or split it into several studies");
        return Some(StudyError::new(span, "swept here", message(CASES_LIMIT), help));
    }
    let help = format!("{fewer}; or agree to that many when asked, or with --yes");
    let error = StudyError::new(span, "swept here", message(options.cases_max), help);
    Some(error.of_many_cases(total))
}

/// Groups digits, as in `1,000,000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// One point as a workload, if it is valid.
fn draft<'f>(
    point: &Point<'f>,
    targets: &'f Targets,
    protocol: &Fields,
    context: WorkloadContext<'_>,
    errors: &mut Vec<StudyError>,
) -> Option<Draft<'f>> {
    let target = match work::kind(point) {
        Some(own) if own.word.0 == "rpc" => &*NO_TARGET,
        _ => targets.of(point, errors)?,
    };
    if !point.fields().sound() {
        return None;
    }
    let mut draft = Draft::read(point.clone(), target, context, errors)?;
    let jobs = draft.spec.work.jobs().is_some();
    if let Some(stonewall) = protocol::stonewall(point, protocol).filter(|_| !jobs) {
        draft.spec.stonewall = Some(stonewall);
    }
    Some(draft)
}

/// The cases of all drafts; fewer than `drafts` if `errors` were added.
fn cases(drafts: &[Draft<'_>], protocol: &Fields, errors: &mut Vec<StudyError>) -> Vec<Case> {
    let mut cases = Vec::with_capacity(drafts.len());
    for workload in drafts.chunk_by(|one, next| std::ptr::eq(one.fields.fields(), next.fields.fields())) {
        let mut point_errors = PointErrors::default();
        for draft in workload {
            let mut own = Vec::new();
            cases.extend(case(draft, protocol, &mut own));
            point_errors.add(&draft.fields, own);
        }
        point_errors.report(errors);
    }
    cases
}

fn case(draft: &Draft<'_>, protocol: &Fields, errors: &mut Vec<StudyError>) -> Option<Case> {
    let fields = &draft.fields;
    let group = draft.spec.name.clone();
    let mut settings = fields.settings();
    let id = id(&group, &settings);
    // A measurement of one of several devices is not a figure of all of them.
    for key in MEMBERS {
        let count = fields.given(key).and_then(|_| fields.count(key));
        if let Some(count) = count.filter(|_| !settings.iter().any(|one| one.key == key)) {
            settings.push(Setting { key: key.to_owned(), value: SettingValue::Count(count) });
        }
    }
    let mut spec = draft.spec.clone();
    spec.name.clone_from(&id);
    let workload = spec.validate().map_err(|error| errors.push(located(fields, &error))).ok()?;
    let mut case = Case {
        title: fields.text_or_empty("title"),
        group,
        target: draft.target.description.name.clone(),
        layout: draft.target.layout.clone(),
        settings,
        ..Case::new(id, workload, draft.phases.clone())
    };
    protocol::apply(&mut case, fields, protocol, errors);
    let description = &draft.target.description;
    for rule in [node_local_rule(&case, description), server_memory_rule(&case, description)] {
        errors.extend(rule.err().map(|error| located(fields, &error)));
    }
    Some(case)
}

/// The id `NAME:tasks=33:transfer=1MiB`; with the number of the point if that would be too long.
fn id(group: &str, settings: &[Setting]) -> String {
    let mut id = group.to_owned();
    for Setting { key, value } in settings {
        id.extend([":", key, "=", &value.exact()]);
    }
    if id.len() <= ID_BYTES_MAX {
        return id;
    }
    // The hash distinguishes points with equal prefixes.
    let mut end = ID_BYTES_MAX - 17;
    while !id.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}~{:016x}", &id[..end], named_seed(0, &id))
}

/// The cases in an order drawn from `seed`.
fn shuffled(cases: Vec<Case>, seed: u64) -> Vec<Case> {
    let order = Permutation::new(cases.len() as u64, named_seed(seed, "shuffle"));
    let mut numbered: Vec<(u64, Case)> = (0..).map(|index| order.at(index)).zip(cases).collect();
    numbered.sort_by_key(|(place, _)| *place);
    numbered.into_iter().map(|(_, case)| case).collect()
}

/// The cases grouped by layout, in order of first use: only one layout is in place at a time, and its data is
/// lost with it.
fn by_layout(cases: Vec<Case>) -> Vec<Case> {
    let mut stretches: Vec<(Option<String>, Vec<Case>)> = Vec::new();
    for case in cases {
        match stretches.iter_mut().find(|(layout, _)| *layout == case.layout) {
            Some((_, stretch)) => stretch.push(case),
            None => stretches.push((case.layout.clone(), vec![case])),
        }
    }
    stretches.into_iter().flat_map(|(_, stretch)| stretch).collect()
}

/// Interleaves the cases of each layout.
fn take_turns(cases: &mut [Case]) {
    for stretch in cases.chunk_by_mut(|one, next| one.layout == next.layout) {
        stretch.iter_mut().skip(1).for_each(|case| case.in_turn = true);
    }
}

/// The error if `case` cannot be interleaved with others: the preparation before its first pass would be lost
/// by the later passes, or would disturb the other cases.
fn no_turns(case: &Case, protocol: &Fields) -> Option<StudyError> {
    let what = match &case.workload.work {
        work if !work.is_transfers() && work.has_target() => "work other than transfers and requests",
        _ if case.protocol.wipe => "`wipe`",
        _ if case.protocol.precondition > 0 => "`precondition`",
        _ if case.workload.memory_hog.get() > 0 => "`memory_hog`",
        _ => return None,
    };
    let message = format!("`{}` has {what} and cannot be interleaved with others", case.id);
    let help =
        "leave one of the two out; `shuffle` is another way to separate slow changes from what is swept";
    Some(StudyError::new(protocol.span("interleaved"), "interleaved", message, help))
}

/// Mistakes at the points of one workload: shown once, with the point.
#[derive(Debug, Default)]
struct PointErrors {
    points: u64,
    failed: u64,
    /// Whether all failed points have the same mistakes as the first one.
    alike: bool,
    first: Vec<StudyError>,
    at: String,
}

impl PointErrors {
    fn add(&mut self, point: &Point<'_>, errors: Vec<StudyError>) {
        self.points += 1;
        if errors.is_empty() {
            return;
        }
        self.failed += 1;
        if self.failed == 1 {
            let settings: Vec<String> = point.settings().iter().map(ToString::to_string).collect();
            (self.alike, self.first, self.at) = (true, errors, settings.join(", "));
        } else {
            self.alike &= self.first == errors;
        }
    }

    fn report(self, errors: &mut Vec<StudyError>) {
        // A mistake at every point is unrelated to the sweep.
        if self.failed == self.points && self.alike {
            errors.extend(self.first);
            return;
        }
        let others = match self.failed.saturating_sub(1) {
            0 => String::new(),
            1 => ", and another point is wrong".to_owned(),
            others => format!(", and {others} other points are wrong"),
        };
        let note = format!(" (at {}{others})", self.at);
        errors.extend(self.first.into_iter().map(|error| error.adding(&note)));
    }
}

/// A value that cannot be measured, at the place where it was written. A [`PlanError`] names a field of
/// [`crate::WorkloadSpec`] or a key; keys are named like fields, except for alternatives to another key.
fn located(fields: &Point<'_>, error: &PlanError) -> StudyError {
    let stand_in = match error.field {
        "block" | "segments" => "size",
        "duration" => "stonewall",
        "tasks" => "tasks_per_node",
        "size" => "block",
        "ends" => "processes",
        "bind" => "client_processors",
        other => other,
    };
    let key = if fields.has(error.field) || !fields.has(stand_in) { error.field } else { stand_in };
    let label = if fields.has(key) { format!("this `{key}`") } else { "in this workload".to_owned() };
    let located = StudyError::new(fields.span(key), label, &error.message, &error.help);
    let against = match error.field {
        "block" => "transfer",
        "nodes" => "tasks",
        "operations" if fields.has("stonewall") => "stonewall",
        "operations" => "duration",
        "duration" => "stonewall",
        "direct" | "single_attempt" => "backend",
        _ => return located,
    };
    match fields.has(against) && against != key {
        true => located.and(fields.span(against), format!("against this `{against}`")),
        false => located,
    }
}
