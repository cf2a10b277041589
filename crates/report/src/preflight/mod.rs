//! Preview of a plan: [`preflight`] in a few lines, [`outline`] without repetition, [`explain`] in full.
//!
//! The arithmetic is in [`plan::CaseEstimate`]; this module formats it.

mod case;
mod concerns;
mod criteria;
mod jobs;
mod layouts;
mod offsets;
mod outline;
mod promises;
mod scaled;
mod sweep;
mod told;
mod works;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use plan::{
    Case, CaseEstimate, FileSystemSpace, OptionNote, Plan, PlanSource, Prediction, RunEnvironment,
    SpaceEstimate, estimates, visible,
};

pub(crate) use self::criteria::{promised, words as protocol};
pub use self::layouts::{Commands, LayoutOutlook, layouts};

use self::case::{line, memory_words, space_words};
use crate::format::names::simulated;
use crate::format::screen::Screen;
use crate::format::table::{width, wrapped};
use crate::format::{counted, decimal_bytes, duration, ends, grouped, shell_line};
use crate::section::statements::without_figures;

/// Maximum number of cases that `explain` describes; the rest is counted.
const CASES_EXPLAINED: usize = 64;

/// Maximum number of kinds of concerns shown before a run.
const CONCERNS_BEFORE: usize = 3;

/// A short preview before a run starts: cases, seconds, bytes and space, and the main concerns. [`outline`]
/// has the rest.
#[must_use]
pub fn preflight(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let (all, spaces) = estimates(plan, environment);
    let passes = plan.cases.iter().map(|case| u64::from(case.passes_max())).sum();
    let (cases, passes) = (counted(all.len() as u64, "case"), grouped(passes));
    let mut out = format!("{}\n{}", visible(&plan.title), scaled::line_of(plan, screen));
    out += &line("predicted", &predicted(&Prediction::of(&plan.cases, &all, environment)), screen);
    out += &line("cases", &format!("{cases}, passes: {passes}{}", volume(plan, &all)), screen);
    let fullest = spaces.iter().max_by(|one, other| one.share().total_cmp(&other.share()));
    let fullest = fullest.filter(|space| space.needed.0 > 0);
    out.extend(fullest.map(|space| line("space", &format!("at most {}", space_words(space)), screen)));
    let misfits = analysis::targets::fits(plan, &environment.spaces)
        .into_iter()
        .filter(|fit| !fit.fits())
        .collect::<Vec<_>>();
    out += &table_of_study(plan, ROOM, &analysis::gate::Table::planned(&misfits), false, screen);
    out + &sweep::concerns(plan, &all, CONCERNS_BEFORE, screen) + &advice(plan, environment, screen)
}

/// The lines of [`preflight`] with what was given up of `plan`, its expected duration, and the source of the estimate.
#[must_use]
pub fn prediction(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let (all, _) = estimates(plan, environment);
    scaled::line_of(plan, screen)
        + &line("predicted", &predicted(&Prediction::of(&plan.cases, &all, environment)), screen)
}

const ROOM: &str = "Slots and room, by what the study says about its targets";
const LIMITS: &str = "Expected at most, by the study's own limits";

/// Bytes written and bytes read by all passes.
fn moved(plan: &Plan, all: &[CaseEstimate]) -> (u64, u64) {
    let phases = plan.cases.iter().zip(all).flat_map(|(case, estimate)| {
        let times = u64::from(case.passes_max());
        let preparations = u64::from(estimate.preparations);
        let before =
            estimate.fill.iter().chain(&estimate.precondition).map(move |phase| (phase, preparations));
        before.chain(estimate.phases.iter().map(move |phase| (phase, times)))
    });
    phases.fold((0, 0), |(written, read): (u64, u64), (phase, times)| {
        let more = |bytes: u64| bytes.saturating_mul(times);
        let writes = phase.bytes.0 - phase.read_bytes.0.min(phase.bytes.0);
        (written.saturating_add(more(writes)), read.saturating_add(more(phase.read_bytes.0)))
    })
}

/// `; 52.8 TB written, 53.0 TB read`; the volume of passes ended by the clock depends on a rate.
fn volume(plan: &Plan, all: &[CaseEstimate]) -> String {
    let by_clock = plan.cases.iter().any(|case| case.workload.duration.is_some());
    let more = if by_clock { ", more on faster storage" } else { "" };
    match moved(plan, all) {
        (0, 0) => String::new(),
        (written, read) => {
            format!("; {} written, {} read{more}", decimal_bytes(written), decimal_bytes(read))
        }
    }
}

/// `about 4 min (3 min to 7 min), from the study's expectations`.
pub(crate) fn predicted(prediction: &Prediction) -> String {
    if prediction.seconds.high <= 0.0 && !prediction.source.is_empty() {
        return visible(&prediction.source).into_owned();
    }
    let middle = duration(prediction.seconds.middle);
    let range = match ends(prediction.seconds, duration) {
        range if range == middle => String::new(),
        range => format!(" ({range})"),
    };
    let source = match prediction.source.as_str() {
        "" => String::new(),
        source => format!(", from {}", visible(source)),
    };
    format!("about {middle}{range}{source}")
}

/// Consequences of the study's own statements, before anything is measured: its limits, and whether devices
/// and data fit. Without `full`, equal lines of several targets are merged, and limits are shown for the
/// fewest and the most nodes of the cases only.
fn of_study(plan: &Plan, spaces: &[FileSystemSpace], full: bool, screen: Screen) -> String {
    let mut limits = analysis::targets::weakest_links(plan, &[]);
    let used: BTreeSet<u32> = plan.cases.iter().map(|case| case.workload.nodes).collect();
    let ends = [used.first().copied(), used.last().copied()];
    limits.retain(|one| full || ends.contains(&Some(one.nodes)));
    let limits = analysis::gate::Table::planned(&limits);
    let room = analysis::gate::Table::planned(&analysis::targets::fits(plan, spaces));
    let node = Some(plan.criteria.node.words()).filter(|words| !words.is_empty());
    let node = node.map(|words| format!("\nEach node, as the study says: {words}\n")).unwrap_or_default();
    let (limits, room) = (
        table_of_study(plan, LIMITS, &limits, full, screen),
        table_of_study(plan, ROOM, &room, true, screen),
    );
    node + &limits + &room
}

fn table_of_study(
    plan: &Plan,
    heading: &str,
    table: &analysis::gate::Table,
    full: bool,
    screen: Screen,
) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let title = |target| {
        let described = plan.criteria.targets.iter().find(|one| one.name == target);
        described.map(|one| one.title.as_str()).filter(|title| !title.is_empty()).unwrap_or(target)
    };
    let table = without_figures(table, title);
    let table = if full { table } else { table.brief() };
    format!("\n{heading}\n{}", table.to_text("", screen))
}

/// The plan for `--explain` without repetition: common properties once, each workload with a row for cases
/// that differ in one swept key only, and concerns by kind. A plan of one case is shown in full.
#[must_use]
pub fn outline(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    if let [only] = plan.cases.as_slice()
        && only.workload.work.jobs().is_none()
    {
        return explain(plan, environment, screen);
    }
    let (all, spaces) = estimates(plan, environment);
    let cases = outline::cases(plan, &all, environment, screen);
    let (concerns, advice) =
        (sweep::concerns(plan, &all, usize::MAX, screen), advice(plan, environment, screen));
    let heading = if concerns.is_empty() && advice.is_empty() { "" } else { "\nLook at this first\n" };
    let whole = altogether(plan, (&all, &spaces), environment, false, screen);
    let (title, source) = (visible(&plan.title), source(plan, environment, screen));
    let source = source + &scaled::explained(plan, false, screen);
    format!("{title}\n{source}{cases}\nAltogether\n{whole}{heading}{concerns}{advice}")
}

/// The whole plan for `--explain --full`: each option with its meaning, then for each case sizes in both
/// units, tasks, files, targets, bounds, the first offsets, predicted volume and seconds, space,
/// memory and what should be looked at.
#[must_use]
pub fn explain(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let (all, spaces) = estimates(plan, environment);
    let mut out = format!("{}\n{}", visible(&plan.title), source(plan, environment, screen));
    out += &scaled::explained(plan, true, screen);
    let cases = plan.cases.len();
    for (number, (case, estimate)) in plan.cases.iter().zip(&all).enumerate().take(CASES_EXPLAINED) {
        let name =
            if case.title.is_empty() { case.id.clone() } else { format!("{}: {}", case.id, case.title) };
        let _ = write!(out, "\nCase {} of {cases}  {}\n", number + 1, visible(&name));
        out.push_str(&case_lines(case, estimate, environment, screen));
        out.extend(estimate.concerns.iter().map(|concern| concerns::line(plan, case, concern, screen)));
    }
    if cases > CASES_EXPLAINED {
        let _ = write!(out, "\n… and {} more cases\n", cases - CASES_EXPLAINED);
    }
    let (whole, advice) =
        (altogether(plan, (&all, &spaces), environment, true, screen), advice(plan, environment, screen));
    format!("{out}\nAltogether\n{whole}{advice}")
}

/// What commitments and claims lack to be decided by this run.
fn advice(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let plan = &*scaled::tellable(plan);
    criteria::repetitions(plan, screen)
        + &told::untold(plan, environment, screen)
        + &promises::doubtful(plan, environment, screen)
}

/// The request, each option with its meaning, and the model that the plan runs on.
fn source(plan: &Plan, environment: &RunEnvironment, screen: Screen) -> String {
    let source = match &plan.source {
        PlanSource::Quick { .. } => {
            let directories = plan.source.quick_directories().into_iter();
            let all: Vec<String> =
                directories.map(|one| visible(&one.to_string_lossy()).into_owned()).collect();
            format!("asked by      --quick {}\n", all.join(" "))
        }
        PlanSource::CrossCheck { directory, tool, .. } => {
            let directory = visible(&directory.to_string_lossy()).into_owned();
            format!("asked by      cross-check {directory}, beside {}\n", visible(tool))
        }
        PlanSource::Study { path, .. } => format!("asked by      {}\n", visible(&path.to_string_lossy())),
        PlanSource::Import { tools, .. } => format!("printed by    {}\n", visible(&tools.join(", "))),
        PlanSource::Dialect { arguments, notes, .. } => {
            let source = wrapped("asked by      ", &shell_line(arguments), screen.prose());
            format!("{source}\n{}", options(notes, screen))
        }
    };
    let model = environment.model.as_deref().map(|name| {
        let text = format!("{}: nothing of this host is measured or changed", simulated(Some(name)));
        wrapped("              ", &text, screen.prose())
    });
    source + &model.unwrap_or_default()
}

fn options(notes: &[OptionNote], screen: Screen) -> String {
    let written = notes.iter().map(|note| width(&note.written)).max().unwrap_or(0).clamp(6, 24);
    let name = notes.iter().map(|note| width(&note.name)).max().unwrap_or(0).clamp(4, 20);
    let mut out = String::new();
    for note in notes {
        let mut shown = note.written.as_str();
        if width(shown) > written {
            // A long value gets a line of its own, so that the columns stay aligned.
            let _ = writeln!(out, "  {}", visible(shown));
            shown = "";
        }
        let first = format!("  {shown:written$}  {:name$}  ", note.name);
        out.push_str(&wrapped(&first, &note.meaning, screen.prose()));
    }
    out
}

fn case_lines(case: &Case, estimate: &CaseEstimate, environment: &RunEnvironment, screen: Screen) -> String {
    let does = works::what_lines(case, estimate, environment);
    let mut out: String = does.iter().map(|(name, text)| line(name, text, screen)).collect();
    let phases = estimate.fill.iter().chain(&estimate.phases);
    out.extend(phases.map(|phase| line("predicted", &works::predicted(phase), screen)));
    out.extend(estimate.spaces.iter().map(|space| line("space", &space_words(space), screen)));
    if case::has_memory_line(case, environment) {
        out.push_str(&line("memory", &memory_words(&case.workload, environment.memory), screen));
    }
    if estimate.phases.len() > 1 || case.repetitions > 1 {
        let repetitions = counted(u64::from(case.repetitions), "repetition");
        out.push_str(&line("time", &format!("{} for {repetitions}", case::time_words(estimate)), screen));
    }
    if case.workload.work.is_transfers() {
        out.push_str(&offsets::first(case, screen));
    }
    out.extend(case.workload.work.jobs().map(|jobs| jobs::tables(jobs, screen)));
    out
}

/// All cases together: time, volume, space and seed, then the study's statements about the whole.
fn altogether(
    plan: &Plan,
    (all, spaces): (&[CaseEstimate], &[SpaceEstimate]),
    environment: &RunEnvironment,
    full: bool,
    screen: Screen,
) -> String {
    let cases = counted(all.len() as u64, "case");
    let mut lines = vec![
        ("time", predicted(&Prediction::of(&plan.cases, all, environment))),
        ("volume", format!("{cases}{}", volume(plan, all))),
    ];
    let needed = spaces.iter().filter(|space| space.needed.0 > 0);
    lines.extend(needed.map(|space| ("space", format!("at most {}", space_words(space)))));
    lines.push(("seed", plan.seed.to_string()));
    let lines: String = lines.iter().map(|(name, text)| line(name, text, screen)).collect();
    [
        lines,
        criteria::protocol(plan, screen),
        criteria::commitments(plan, screen),
        told::told(plan, environment, screen),
        of_study(plan, &environment.spaces, full, screen),
    ]
    .concat()
}
