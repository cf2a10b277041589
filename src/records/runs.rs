//! `ioproof runs`: lists, tags and prunes the records in directories, and shows a figure of them over time.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use record::{Collection, TaggedRun, Tags};
use report::{OverTime, RunsList, Screen};

use crate::arguments::values;
use crate::console::exit::{Exit, Failure, with_causes};
use crate::console::{confirm, print, print_line, screen};
use crate::records;
use crate::records::report::{Output, names};

/// `ioproof runs`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").args(["format", "json"]))]
pub(crate) struct RunsArguments {
    /// Directories with records directly in them, or records.
    #[arg(value_name = "DIR", default_value = "ioproof-runs")]
    directories: Vec<PathBuf>,
    #[command(flatten)]
    filter: RunsFilter,
    /// Show this figure of the selected runs over time, and the runs with which its level changed: `read.rate`,
    /// `write.latency`, `CASE read.p99`.
    #[arg(long, value_name = "[CASE ]PHASE.QUANTITY", value_parser = values::figure)]
    figure: Option<plan::FigureName>,
    /// Output format.
    #[arg(long, default_value = "text")]
    format: RunsFormat,
    /// Same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of the terminal.
    #[arg(long, value_name = "FILE", requires = "form")]
    output: Option<PathBuf>,
    /// Give the selected runs this tag; may be repeated. A run with a tag is not pruned.
    #[arg(long, value_name = "TAG", value_parser = values::tag, conflicts_with_all = ["figure", "prune"])]
    set_tag: Vec<String>,
    /// Take this tag from the selected runs; may be repeated.
    #[arg(long, value_name = "TAG", value_parser = values::tag, conflicts_with_all = ["figure", "prune"])]
    remove_tag: Vec<String>,
    /// Remove the selected records, after showing them. Signed and tagged ones are only removed if named by --run;
    /// damaged, running and unfinished ones, and those with files of others, never.
    #[arg(long, conflicts_with_all = ["figure", "form", "last"])]
    prune: bool,
    /// With --prune: keep the newest N of the selected runs.
    #[arg(long, value_name = "N", requires = "prune")]
    keep_last: Option<usize>,
    /// With --prune: remove without asking.
    #[arg(long, short, requires = "prune")]
    yes: bool,
}

/// Which runs are selected: those that every given filter selects.
#[derive(Debug, Args)]
pub(crate) struct RunsFilter {
    /// Only the run with this directory name or id; may be repeated.
    #[arg(long, value_name = "NAME")]
    run: Vec<String>,
    /// Only runs of studies whose title contains this text; `*` stands for any text.
    #[arg(long, value_name = "TEXT")]
    study: Option<String>,
    /// Only runs on this host; `*` stands for any text.
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Only runs with this tag.
    #[arg(long, value_name = "TAG", value_parser = values::tag)]
    tag: Option<String>,
    /// Only runs started at this time or later: 2026-11-30, or 2026-11-30T14:00. Without a time zone it is UTC.
    #[arg(long, value_name = "DATE", value_parser = values::since)]
    since: Option<i64>,
    /// Only runs started before the end of this day or minute.
    #[arg(long, value_name = "DATE", value_parser = values::until)]
    until: Option<i64>,
    /// Only runs in this state: complete, interrupted, failed, killed, running, damaged or unreadable.
    #[arg(long, value_name = "STATE",
          value_parser = clap::builder::PossibleValuesParser::new(record::EntryState::NAMES))]
    state: Option<String>,
    /// Only the newest N of the runs that the other filters select.
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

impl RunsFilter {
    /// As the library takes it.
    pub(crate) fn filter(&self) -> record::RunFilter {
        let Self { run, study, host, tag, since, until, state, last } = self;
        record::RunFilter {
            runs: run.clone(),
            study: study.clone(),
            host: host.clone(),
            tag: tag.clone(),
            since: *since,
            until: *until,
            state: state.clone(),
            last: *last,
        }
    }
}

/// The forms of a list of runs, and of a figure over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunsFormat {
    /// A table for a terminal.
    Text,
    /// JSON for programs.
    Json,
    /// One row for each run.
    Csv,
    /// With --figure: one self-contained page with a chart.
    Html,
}

/// Does with the selected runs what the arguments say.
pub(crate) fn run(arguments: &RunsArguments) -> Result<Exit, Failure> {
    let mut all = Vec::new();
    // A record that is reached by several names is one.
    let mut known = HashSet::new();
    let mut is_new = |path: &Path| known.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    for directory in &arguments.directories {
        let mut one = Collection::read(directory)?;
        one.entries.retain(|entry| is_new(&entry.path));
        one.half_removed.retain(|path| is_new(path));
        all.push(one);
    }
    let selected = arguments.filter.filter().select(all.iter().flat_map(|one| &one.entries))?;
    let is_missing = |name: &&String| !selected.iter().any(|one| one.is_called(name));
    if let Some(missing) = arguments.filter.run.iter().find(is_missing) {
        return Err(Failure::usage(format!("no selected run has the name or the id `{missing}`")));
    }
    if arguments.prune {
        return prune(arguments, &selected, all.iter().flat_map(|one| &one.half_removed));
    }
    if !arguments.set_tag.is_empty() || !arguments.remove_tag.is_empty() {
        return tag(arguments, &selected);
    }
    let format = if arguments.json { RunsFormat::Json } else { arguments.format };
    let paths: Vec<PathBuf> = selected.iter().map(|one| one.entry.path.clone()).collect();
    if let Some(name) = &arguments.figure {
        let open = |path: &Path| records::one(path).map_err(|failure| with_causes(&failure.error));
        let found = OverTime::of(&selected, name, open).map_err(Failure::usage)?;
        written(arguments, format, &paths, |out, screen| match format {
            RunsFormat::Text => Ok(out.write_all(found.text(screen).as_bytes())?),
            RunsFormat::Json => Ok(out.write_all(found.json().as_bytes())?),
            RunsFormat::Csv => Ok(out.write_all(found.csv().as_bytes())?),
            RunsFormat::Html => Ok(found.html(out)?),
        })?;
        return Ok(if found.is_empty() { Exit::Usage } else { Exit::Success });
    }
    if format == RunsFormat::Html {
        return Err(Failure::usage("a list has no page; add --figure, or use --format text, json or csv"));
    }
    let list = RunsList {
        directories: &arguments.directories,
        runs: &selected,
        all: all.iter().map(|one| one.entries.len()).sum(),
        others: all.iter().map(|one| one.others).sum(),
        half_removed: all.iter().map(|one| one.half_removed.len()).sum(),
    };
    written(arguments, format, &paths, |out, screen| {
        let text = match format {
            RunsFormat::Text | RunsFormat::Html => list.text(screen),
            RunsFormat::Json => list.json(),
            RunsFormat::Csv => list.csv(),
        };
        Ok(out.write_all(text.as_bytes())?)
    })?;
    Ok(Exit::Success)
}

/// Writes the output of `write` where the user wants it.
fn written(
    arguments: &RunsArguments,
    format: RunsFormat,
    runs: &[PathBuf],
    write: impl FnOnce(&mut dyn Write, Screen) -> anyhow::Result<()>,
) -> Result<(), Failure> {
    match &arguments.output {
        Some(path) => {
            Output::new(runs, path)?.write(path, |out| write(out, Screen::PLAIN))?;
            Output::done(path).map_or(Ok(()), |done| print_line(&done))
        }
        // What is for programs is not changed for a terminal.
        None if format != RunsFormat::Text => {
            Output::Standard.write(Path::new("-"), |out| write(out, Screen::PLAIN))
        }
        None => {
            let mut text = Vec::new();
            write(&mut text, screen()).map_err(Failure::usage)?;
            print(&String::from_utf8_lossy(&text))
        }
    }
}

/// Changes the tags of the selected runs.
fn tag(arguments: &RunsArguments, selected: &[TaggedRun<'_>]) -> Result<Exit, Failure> {
    let of = |one: &TaggedRun<'_>| Some((one.collection(), one.entry.start.as_ref()?.run_id.clone()));
    let runs: Vec<(PathBuf, String)> = selected.iter().filter_map(of).collect();
    for of_place in runs.chunk_by(|(one, _), (other, _)| one == other) {
        Tags::change(&of_place[0].0, |tags| {
            for (_, run_id) in of_place {
                arguments.remove_tag.iter().for_each(|tag| tags.remove(run_id, tag));
                arguments.set_tag.iter().for_each(|tag| tags.add(run_id, tag));
            }
        })?;
    }
    let set = (!arguments.set_tag.is_empty()).then(|| format!("set {}", arguments.set_tag.join(", ")));
    let removed =
        (!arguments.remove_tag.is_empty()).then(|| format!("removed {}", arguments.remove_tag.join(", ")));
    let done: Vec<String> = set.into_iter().chain(removed).collect();
    print_line(&format!("{} of {}", done.join(" and "), count(runs.len())))?;
    if runs.len() < selected.len() {
        print_line(&format!("{} cannot be read and has no tags", count(selected.len() - runs.len())))?;
    }
    Ok(Exit::Success)
}

fn count(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

/// Removes the selected records that may be removed, if the user agrees, and ends removals that were killed.
fn prune<'a>(
    arguments: &RunsArguments,
    selected: &[TaggedRun<'_>],
    half_removed: impl Iterator<Item = &'a PathBuf>,
) -> Result<Exit, Failure> {
    if arguments.filter.filter().is_empty() && arguments.keep_last.is_none() {
        return Err(Failure::usage(
            "say which runs to prune, for example with --until DATE or --keep-last N",
        ));
    }
    let reports = names();
    let half_removed: Vec<&PathBuf> = half_removed.collect();
    for path in &half_removed {
        print_line(&format!("to remove: {}  whose removal was killed", path.display()))?;
    }
    // Those that were killed or failed are no baselines.
    let complete = selected.iter().enumerate().rev().filter(|(_, one)| one.entry.state.is_complete());
    let first_kept = match arguments.keep_last {
        None | Some(0) => selected.len(),
        Some(keep) => complete.map(|(place, _)| place).nth(keep - 1).unwrap_or(0),
    };
    let (old, newest) = selected.split_at(first_kept);
    let is_named = |one: &TaggedRun<'_>| arguments.filter.run.iter().any(|name| one.is_called(name));
    let checked = record::in_parallel(old, |one| match one.protection().filter(|_| !is_named(one)) {
        Some(why) => Err(format!("{why}; --run names it")),
        None => one.entry.removable(&reports).map(drop),
    });
    let (mut doomed, mut bytes) = (Vec::new(), 0);
    for (one, checked) in old.iter().zip(checked) {
        match checked {
            Ok(()) => {
                let size = plan::Bytes(one.entry.bytes);
                print_line(&format!("to remove: {}  {size}", one.entry.path.display()))?;
                bytes += one.entry.bytes;
                doomed.push(one);
            }
            Err(why) => print_line(&format!("kept: {}: {why}", one.entry.path.display()))?,
        }
    }
    if !newest.is_empty() {
        print_line(&format!("kept: the newest {}", count(newest.len())))?;
    }
    if doomed.is_empty() && half_removed.is_empty() {
        print_line("nothing to remove")?;
        return Ok(Exit::Success);
    }
    let rest = match half_removed.len() {
        0 => String::new(),
        rest => format!(", and the rest of {}", count(rest)),
    };
    let what = format!("{}, {}{rest}", count(doomed.len()), plan::Bytes(bytes));
    if !arguments.yes && !confirm(&format!("Remove {what}?"), false)? {
        print_line("nothing was removed; --yes removes them without asking")?;
        return Ok(Exit::Refused);
    }
    let mut all_gone = true;
    for path in half_removed {
        if let Err(error) = record::finish_removal(path, &reports) {
            print_line(&format!("not removed: {error}"))?;
            all_gone = false;
        }
    }
    for one in &doomed {
        // It is checked again: it was shown some time ago.
        let removed = one.entry.removable(&reports).map_err(anyhow::Error::msg);
        let removed = removed.and_then(|record| Ok(record.remove(&reports)?));
        let path = one.entry.path.display();
        match removed {
            Ok(()) => forget(one)?,
            Err(error) => {
                print_line(&format!("not removed: {path}: {}", with_causes(&error)))?;
                all_gone = false;
            }
        }
    }
    if all_gone {
        print_line(&format!("removed {what}"))?;
    }
    Ok(if all_gone { Exit::Success } else { Exit::Record })
}

/// Removes the tags of a run that was named and is gone.
fn forget(one: &TaggedRun<'_>) -> Result<(), Failure> {
    match &one.entry.start {
        Some(start) if !one.tags.is_empty() => {
            Ok(Tags::change(&one.collection(), |tags| tags.forget(&start.run_id))?)
        }
        _ => Ok(()),
    }
}
