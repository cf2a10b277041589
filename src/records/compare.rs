//! `ioproof compare`: compares two runs, the runs of two sides, or a run with itself.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use plan::Limit;
use record::{Collection, Provenance, Run};
use report::{Itself, LimitResult, Pair, Screen, Study};

use crate::console::exit::{Exit, Failure};
use crate::console::{complain, print, print_line, screen};
use crate::records;
use crate::records::report::Output;

/// `ioproof compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The baseline run; with --earlier the run to compare with those before it.
    #[arg(value_name = "BEFORE", required_unless_present = "base")]
    before: Option<PathBuf>,
    /// The run to compare with the baseline.
    #[arg(value_name = "AFTER", required_unless_present_any = ["against_itself", "base", "earlier"])]
    after: Option<PathBuf>,
    /// Several baseline runs. A run is then one value of each figure, the median of its passes, so that what changes
    /// from run to run counts.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "with", conflicts_with = "before")]
    base: Vec<PathBuf>,
    /// The runs to compare with those of --base.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "base")]
    with: Vec<PathBuf>,
    /// Compare the one run that is given with the last runs in DIR that were started before it, with the same plan on the
    /// same host. A single run is told apart from twenty or more.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["after", "base", "against_itself"])]
    earlier: Option<PathBuf>,
    /// How many earlier runs are compared with at most.
    #[arg(long, value_name = "N", default_value_t = 30, requires = "earlier",
          value_parser = clap::value_parser!(u32).range(1..))]
    last: u32,
    /// Judge a change by this limit; may be given several times. As in "read.rate drops by more than 5 %", "*.p99 rises
    /// by more than 20 %" or "small tasks=4 write.latency rises by more than 10 %": PHASE.QUANTITY, or the name of a case
    /// before it. * stands for every phase, and for any part of a name; QUANTITY is rate, latency (the mean) or a
    /// percentile. The exit status is 0 if every value is within its limit, 8 if one is beyond it, and 10 if neither can
    /// be told.
    #[arg(long, value_name = "LIMIT")]
    fail_if: Vec<Limit>,
    /// Judge all rates and mean latencies: none may become worse by more than the margin. Adds to the limits
    /// of --fail-if.
    #[arg(long)]
    verdict: bool,
    /// The margin, in percent [default: 5]; implies --verdict.
    #[arg(long, value_name = "PERCENT", value_parser = margin)]
    margin: Option<f64>,
    /// Exit with status 0, not 10, if it cannot be told of some values whether they are within the limit.
    #[arg(long)]
    allow_untold: bool,
    /// Compare each figure of BEFORE with itself N times, using its own repetitions, and print how often a difference
    /// is reported although there is none: by the test of differences, by the best of five and by the mean of three.
    /// Nothing is measured: BEFORE must have ten repetitions for each comparison.
    #[arg(long, value_name = "N",
          conflicts_with_all = ["after", "full", "verdict", "margin", "fail_if", "base", "allow_untold"],
          value_parser = clap::value_parser!(u32).range(1..))]
    against_itself: Option<u32>,
    /// Output format [default: text, or that of the ending of --output].
    #[arg(long)]
    format: Option<CompareFormat>,
    /// Print every comparison with its conditions instead of only the changes.
    #[arg(long)]
    full: bool,
    /// Write to this file instead of the terminal; may be given several times. Results of limits are printed as well.
    #[arg(long, value_name = "FILE")]
    output: Vec<PathBuf>,
}

/// A percentage above 0 and below 100.
fn margin(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end().parse().ok();
    let percent = number.filter(|percent: &f64| *percent >= 0.001 && *percent < 100.0);
    percent.ok_or_else(|| "a margin is a percentage from 0.001 and below 100, such as 5".to_owned())
}

/// The forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// A table for a terminal.
    Text,
    /// A Markdown table; with limits a short summary, as for a pull request.
    Md,
    /// JSON for programs.
    Json,
    /// The HTML report of BEFORE, with AFTER drawn as dotted lines in its charts.
    Html,
    /// JUnit XML: a test case for each value that has a limit.
    Junit,
}

/// Prints the changes between two sides that exceed the scatter, or judges them by limits.
pub(crate) fn run(arguments: &CompareArguments) -> Result<Exit, Failure> {
    if let Some(times) = arguments.against_itself {
        let path = sides(arguments)?.0;
        let before = records::one(&path[0])?;
        let itself = report::against_itself(&before, times as usize).map_err(Failure::usage)?;
        show(arguments, &path, false, |format, screen| form_of_itself(&itself, format, screen))?;
        return records::exit(&before, Exit::Success);
    }
    let runs = match (&arguments.earlier, &arguments.before) {
        (Some(directory), Some(run)) => earlier(directory, run, arguments.last as usize)?,
        _ => {
            let (before, after) = sides(arguments)?;
            [open(&before)?, open(&after)?]
        }
    };
    let limits = limits(arguments);
    check(&runs, !limits.is_empty())?;
    if !limits.is_empty() {
        // Nothing is judged, and no file says so, if a record is not what was signed.
        for run in runs.iter().flatten() {
            records::exit(run, Exit::Success)?;
        }
    }
    let pair = report::compare([&runs[0], &runs[1]], &limits);
    if !limits.is_empty() && pair.is_of_one_text() {
        return Err(Failure::usage(
            "all values of both sides are equal: the same text was imported twice, and cannot differ from itself",
        ));
    }
    let unknown = pair.limits_without_figure();
    let is_asked = |limit: &&String| arguments.fail_if.iter().any(|one| one.to_string() == **limit);
    if let Some(limit) = unknown.iter().find(is_asked) {
        return Err(Failure::usage(no_figure(limit, &pair)));
    }
    let paths: Vec<PathBuf> = runs.iter().flatten().map(|run| run.directory.clone()).collect();
    let judges = !limits.is_empty();
    if arguments.allow_untold && !judges {
        return Err(Failure::usage("--allow-untold is about limits: give --verdict, --margin or --fail-if"));
    }
    show(arguments, &paths, judges, |format, screen| {
        form(&runs, &pair, &limits, (arguments, format), screen)
    })?;
    let mut exit = pair.result().map_or(Exit::Success, |result| of_result(result, arguments.allow_untold));
    for run in runs.iter().flatten() {
        exit = records::exit(run, exit)?;
    }
    Ok(exit)
}

/// The paths of both sides; of the second none if a run is compared with itself.
fn sides(arguments: &CompareArguments) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Failure> {
    match (&arguments.before, &arguments.after) {
        (None, _) => Ok((arguments.base.clone(), arguments.with.clone())),
        (Some(before), Some(after)) => Ok((vec![before.clone()], vec![after.clone()])),
        (Some(before), None) if arguments.against_itself.is_some() => Ok((vec![before.clone()], Vec::new())),
        (Some(_), None) => Err(Failure::usage("AFTER is missing: name the run after the change")),
    }
}

fn open(paths: &[PathBuf]) -> Result<Vec<Run>, Failure> {
    paths.iter().map(|path| records::one(path.as_path())).collect()
}

/// The last runs in `directory` before the run at `path`, of the same plan and host, and that run.
fn earlier(directory: &Path, path: &Path, most: usize) -> Result<[Vec<Run>; 2], Failure> {
    let run = records::one(path)?;
    let paths = Collection::earlier_of_same(directory, &run.manifest, most)?;
    if paths.is_empty() {
        return Err(Failure::usage(format!(
            "{} has no complete run of the same plan and host that was started before {}: `ioproof runs {0}` lists what \
             there is",
            directory.display(),
            run.manifest.run_id
        )));
    }
    Ok([open(&paths)?, vec![run]])
}

/// The limits of changes, each once; none if changes are only shown.
fn limits(arguments: &CompareArguments) -> Vec<Limit> {
    let of_all = (arguments.verdict || arguments.margin.is_some())
        .then(|| Limit::of_all(arguments.margin.unwrap_or(MARGIN_PERCENT)));
    let mut all: Vec<Limit> = Vec::new();
    for limit in arguments.fail_if.iter().cloned().chain(of_all.into_iter().flatten()) {
        if !all.contains(&limit) {
            all.push(limit);
        }
    }
    all
}

/// By how much figures may become worse if `--verdict` is given without a limit.
const MARGIN_PERCENT: f64 = 5.0;

/// Refuses runs between which a difference is no change.
fn check(runs: &[Vec<Run>; 2], judges: bool) -> Result<(), Failure> {
    let mut known: Vec<&str> = Vec::new();
    for run in runs.iter().flatten() {
        let own: Vec<&str> = ids(run).collect();
        if let Some(id) = own.iter().find(|id| known.contains(id)) {
            let problem = format!(
                "the run {id} is given twice, or is part of two of the records, and cannot differ from itself: name \
                 runs before and after a change"
            );
            match judges || runs.iter().any(|side| side.len() > 1) {
                true => return Err(Failure::usage(problem)),
                false => complain(&problem),
            }
        }
        known.extend(own);
    }
    let is_simulated = |run: &Run| run.manifest.provenance == Provenance::Simulated;
    let simulated = runs.each_ref().map(|side| side.iter().filter(|run| is_simulated(run)).count());
    if let Some(side) = (0..2).find(|&side| simulated[side] > 0 && simulated[side] < runs[side].len()) {
        let side = ["before", "after"][side];
        return Err(Failure::usage(format!(
            "some of the runs {side} are simulated and some are not: name runs of one kind"
        )));
    }
    if judges && (simulated[0] > 0) != (simulated[1] > 0) {
        return Err(Failure::usage(
            "--verdict and --fail-if judge what became worse, but one side is simulated, so a difference is the error \
             of the model; omit --verdict and --fail-if",
        ));
    }
    Ok(())
}

/// The ids of the run and of those from which it was merged.
pub(super) fn ids(run: &Run) -> impl Iterator<Item = &str> {
    let parts = run.parts.iter().map(|part| part.run_id.as_str());
    std::iter::once(run.manifest.run_id.as_str()).chain(parts)
}

fn no_figure(limit: &str, pair: &Pair<'_>) -> String {
    /// A reader finds the pattern in a few names.
    const LISTED: usize = 6;
    let mut all = pair.figures();
    let more = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    let listed = match (all.is_empty(), more) {
        (true, _) => "the runs have no figure in common".to_owned(),
        (false, 0) => format!("the figures are {}", all.join(", ")),
        (false, more) => format!("the figures are {}, and {more} more", all.join(", ")),
    };
    format!(
        "--fail-if {limit:?} is about no figure of either run: {listed}; latencies have {}, and what the study promises",
        report::percentiles()
    )
}

fn of_result(result: LimitResult, allows_untold: bool) -> Exit {
    match result {
        LimitResult::Worse => Exit::NotKept,
        LimitResult::Untold if allows_untold => {
            complain(
                "allowed by --allow-untold: of some values it cannot be told whether they are within the limit",
            );
            Exit::Success
        }
        LimitResult::Untold => Exit::Untold,
        LimitResult::Within => Exit::Success,
    }
}

/// Prints the output, or writes it to the files that the user names. If changes are judged, the result is printed in
/// either case.
fn show(
    arguments: &CompareArguments,
    runs: &[PathBuf],
    judges: bool,
    shown: impl Fn(CompareFormat, Screen) -> Result<String, Failure>,
) -> Result<(), Failure> {
    for path in &arguments.output {
        let text = shown(arguments.format.map_or_else(|| by_ending(path), Ok)?, Screen::PLAIN)?;
        Output::new(runs, path)?.write(path, |out| Ok(out.write_all(text.as_bytes())?))?;
        Output::done(path).filter(|_| judges).map_or(Ok(()), |done| print_line(&done))?;
    }
    let is_printed = arguments.output.iter().any(|path| path == Path::new("-"));
    match arguments.format.filter(|_| arguments.output.is_empty()) {
        _ if is_printed || (!arguments.output.is_empty() && !judges) => Ok(()),
        format => print(&shown(format.unwrap_or(CompareFormat::Text), screen())?),
    }
}

/// The form that belongs to the ending of a file.
fn by_ending(path: &Path) -> Result<CompareFormat, Failure> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("md") => Ok(CompareFormat::Md),
        Some("json") => Ok(CompareFormat::Json),
        Some("html" | "htm") => Ok(CompareFormat::Html),
        Some("xml") => Ok(CompareFormat::Junit),
        Some("txt") => Ok(CompareFormat::Text),
        _ => Err(Failure::usage(format!(
            "{}: the ending names no form: use .txt, .md, .json, .html or .xml (JUnit), or give --format",
            path.display()
        ))),
    }
}

fn form_of_itself(itself: &Itself<'_>, format: CompareFormat, screen: Screen) -> Result<String, Failure> {
    match format {
        CompareFormat::Text => Ok(itself.text(screen)),
        CompareFormat::Md => Ok(itself.markdown()),
        CompareFormat::Json => Ok(itself.json()),
        CompareFormat::Html | CompareFormat::Junit => Err(Failure::usage(
            "comparing a run with itself has no HTML report and no JUnit file; use --format text, md or json",
        )),
    }
}

fn form(
    runs: &[Vec<Run>; 2],
    pair: &Pair<'_>,
    limits: &[Limit],
    (arguments, format): (&CompareArguments, CompareFormat),
    screen: Screen,
) -> Result<String, Failure> {
    Ok(match format {
        CompareFormat::Text if arguments.full => pair.text_in_full(screen),
        CompareFormat::Text => pair.text(screen),
        CompareFormat::Md => pair.markdown(),
        CompareFormat::Json => pair.json(),
        CompareFormat::Junit => pair.junit(arguments.allow_untold).ok_or_else(|| {
            Failure::usage("a JUnit file has the results of limits: give --verdict, or --fail-if LIMIT")
        })?,
        CompareFormat::Html => {
            let [[before], [after]] = runs.each_ref().map(Vec::as_slice) else {
                return Err(Failure::usage(
                    "the HTML report has one run on each side; use --format text, md, json or junit",
                ));
            };
            let mut page = Vec::new();
            let written = Study::of(before).beside(Study::of(after), limits).html(&mut page);
            let text = written.map_err(anyhow::Error::from).and_then(|()| Ok(String::from_utf8(page)?));
            text.map_err(|error| Failure::new(Exit::Record, error))?
        }
    })
}
