//! `ioproof report`: prints the tables, and writes the report in any format.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use record::{Replacement, RunDirectory};
use report::{Screen, Study};

use crate::console::exit::{Exit, Failure, with_causes};
use crate::console::{complain, print, print_line, screen};
use crate::records;

/// `ioproof report`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("form").args(["format", "json"]))]
pub(crate) struct ReportArguments {
    /// Run directories. Several are shown as one study: equal cases become repetitions.
    #[arg(value_name = "RUNDIR", required = true)]
    runs: Vec<PathBuf>,
    /// Produce only this format [default: print the answer and write html, md, csv and json into RUNDIR].
    #[arg(long)]
    format: Option<Format>,
    /// Print all tables instead of only the answer.
    #[arg(long)]
    full: bool,
    /// Same as --format json.
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to this file instead of the terminal.
    #[arg(long, value_name = "FILE", requires = "form")]
    output: Option<PathBuf>,
}

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The answer for a terminal; with --full, all tables.
    Text,
    /// One self-contained page with charts.
    Html,
    /// Markdown tables.
    Md,
    /// One row for each figure and repetition.
    Csv,
    /// Everything, for programs.
    Json,
    /// Metrics for a monitoring system, as OpenMetrics text.
    Openmetrics,
}

/// The files that `ioproof report RUNDIR` writes to the run directory.
const FILES: [(Format, &str); 4] = [
    (Format::Html, PAGE),
    (Format::Md, "report.md"),
    (Format::Csv, "report.csv"),
    (Format::Json, "report.json"),
];

/// Additional file for runs with jobs, which has a row for each launch and step.
const LAUNCHES: &str = "report-launches.csv";

/// Prints or writes the report.
pub(crate) fn run(arguments: &ReportArguments) -> Result<Exit, Failure> {
    let place = match arguments.runs.as_slice() {
        [directory] => Some(records::hold(directory)?),
        _ => None,
    };
    let run = records::open_in(place.as_ref(), &arguments.runs)?;
    let study = Study::of(&run);
    let format = arguments.format.or_else(|| arguments.json.then_some(Format::Json));
    let text = |screen| if arguments.full { study.text_in_full(screen) } else { study.text(screen) };
    match (format, &arguments.output) {
        (Some(format), Some(path)) => {
            Output::new(&arguments.runs, path)?.write(path, |out| match format {
                Format::Text => Ok(out.write_all(text(Screen::PLAIN).as_bytes())?),
                format => write(&study, format, out),
            })?
        }
        (Some(Format::Text), None) => print(&text(screen()))?,
        (Some(format), None) => to_standard_output(|out| write(&study, format, out))?,
        (None, _) => {
            print(&text(screen()))?;
            // Several records have no common directory; `ioproof merge` creates one.
            if let Some(place) = &place {
                all_files(&study, place)?;
            }
        }
    }
    records::exit(&run, Exit::Success)
}

/// The names of all files that are written into run directories beside the record.
pub(crate) fn names() -> Vec<&'static str> {
    FILES.iter().map(|(_, name)| *name).chain([LAUNCHES]).collect()
}

/// The destination of a report.
pub(crate) enum Output {
    /// `-`: the standard output.
    Standard,
    /// A file that replaces an existing one when it is complete, and follows no link. The directory may belong to
    /// another user, and the older report is kept if there is no space for the new one.
    File(Replacement),
}

impl Output {
    /// Begins the file at `path`; `-` is the standard output. A report may replace an older one or
    /// another file, but not the records of `runs`
    /// from which it is made or of any other run, a link, a pipe or a device.
    pub(crate) fn new(runs: &[PathBuf], path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::Standard);
        }
        let refuse = |problem: &str| {
            let message = format!(
                "will not write {}, which {problem}: choose another place, or `-` for the standard output",
                path.display()
            );
            Err(Failure::new(Exit::Refused, anyhow::anyhow!(message)))
        };
        let is_report = |name: &OsStr| name == LAUNCHES || FILES.iter().any(|(_, report)| name == *report);
        let directories: Vec<PathBuf> = runs.iter().filter_map(|run| run.canonicalize().ok()).collect();
        // The directory that contains the name itself, not the target of a link.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let there = path.symlink_metadata().ok();
        let Some(name) = path.file_name().filter(|_| !path.is_dir() || path.is_symlink()) else {
            return refuse("is a directory");
        };
        if let Some(kind) = there.as_ref().map(Metadata::file_type).filter(|kind| !kind.is_file()) {
            return refuse(match kind {
                kind if kind.is_symlink() => "is a symbolic link",
                kind if kind.is_fifo() => "is a named pipe",
                kind if kind.is_socket() => "is a socket",
                _ => "is a device",
            });
        }
        let is_there = there.is_some();
        let in_record = |parent: PathBuf| {
            directories.iter().any(|directory| parent.starts_with(directory)) || record::is_in_record(&parent)
        };
        if is_there && !is_report(name) && parent.canonicalize().is_ok_and(in_record) {
            return refuse("is part of the record of a run");
        }
        Ok(Self::File(Replacement::new(parent, Path::new(name))?))
    }

    /// Writes the output of `write`: either all of it or nothing.
    pub(crate) fn write(
        self,
        path: &Path,
        write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> Result<(), Failure> {
        match self {
            Self::Standard => to_standard_output(write),
            Self::File(file) => {
                let file = buffered(file, write)
                    .map_err(|error| Failure::new(Exit::Record, not_written(path, error)))?;
                Ok(file.finish()?)
            }
        }
    }

    /// What a command prints when the output at `path` is complete; `None` if that is on the standard output.
    pub(crate) fn done(path: &Path) -> Option<String> {
        (path != Path::new("-")).then(|| format!("wrote {}", path.display()))
    }
}

fn buffered<W: Write>(
    file: W,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<W> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    Ok(out.into_inner().map_err(io::IntoInnerError::into_error)?)
}

fn not_written(path: &Path, error: impl Into<anyhow::Error>) -> anyhow::Error {
    error.into().context(format!("cannot write {}: choose another place", path.display()))
}

/// The page that is written into the directory of each run.
pub(crate) const PAGE: &str = "report.html";

/// Writes [`PAGE`] into the run directory.
pub(crate) fn page(study: &Study<'_>, place: &RunDirectory) -> Result<(), Failure> {
    in_run(place, PAGE, |out| write(study, Format::Html, out)).map(drop)
}

fn in_run(
    place: &RunDirectory,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> Result<PathBuf, Failure> {
    let path = place.path().join(name);
    Output::File(Replacement::new(place, Path::new(name))?).write(&path, write)?;
    Ok(path)
}

/// Writes the reports into the run directory. The answer has been printed: if the directory cannot be written, that is
/// only said, because it may be an archive or belong to someone else.
fn all_files(study: &Study<'_>, place: &RunDirectory) -> Result<(), Failure> {
    for (format, name) in FILES {
        match in_run(place, name, |out| write(study, format, out)) {
            Err(failure) if failure.exit == Exit::Record => {
                complain(&format!(
                    "ioproof: the reports were not written into the run directory: {}; `--format` with `--output` writes \
                     one elsewhere",
                    with_causes(&failure.error)
                ));
                return Ok(());
            }
            written => print_line(&written?.display().to_string())?,
        }
    }
    if let Some(text) = study.launches_csv() {
        let path = in_run(place, LAUNCHES, |out| Ok(out.write_all(text.as_bytes())?))?;
        print_line(&path.display().to_string())?;
    }
    Ok(())
}

fn to_standard_output(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| Ok(out.flush()?)) {
        // It is not an error if the reader stops early, for example `head`.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        result => result
            .context("cannot write to the standard output")
            .map_err(|error| Failure::new(Exit::Record, error)),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn write(study: &Study<'_>, format: Format, mut out: &mut dyn Write) -> anyhow::Result<()> {
    match format {
        Format::Text => out.write_all(study.text(Screen::PLAIN).as_bytes())?,
        Format::Html => study.html(&mut out)?,
        Format::Md => out.write_all(study.markdown().as_bytes())?,
        Format::Csv => out.write_all(study.csv().as_bytes())?,
        Format::Json => study.write_json(&mut out)?,
        Format::Openmetrics => out.write_all(study.openmetrics().as_bytes())?,
    }
    Ok(())
}
