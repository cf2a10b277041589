//! `ioproof report`: the tables again, and the report in every form.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use report::{Colour, Study};

use crate::arguments::{Format, ReportArguments};
use crate::console::{colour, print, print_line};
use crate::exit::{Exit, Failure};
use crate::runs;

/// The files that stand in the run directory after `ioproof report RUNDIR`.
const FILES: [(Format, &str); 4] = [
    (Format::Html, "report.html"),
    (Format::Md, "report.md"),
    (Format::Csv, "report.csv"),
    (Format::Json, "report.json"),
];

/// What stands there besides where the run had jobs: a row for each launch and step.
const LAUNCHES: &str = "report-launches.csv";

/// Prints or writes what is asked.
pub(crate) fn run(arguments: &ReportArguments) -> Result<Exit, Failure> {
    let run = runs::open(&arguments.runs)?;
    if let Some(path) = &arguments.output {
        check_output(&arguments.runs, path)?;
    }
    let study = Study::of(&run);
    let result = match (arguments.format, &arguments.output) {
        (Some(format), Some(path)) => to_file(&study, format, path),
        (Some(format), None) => to_terminal(&study, format),
        (None, _) => to_terminal(&study, Format::Text).and_then(|()| match arguments.runs.as_slice() {
            [directory] => all_files(&study, directory),
            // Several records have no place of their own; `ioproof merge` makes one.
            _ => Ok(()),
        }),
    };
    result.map_err(|error| Failure::new(Exit::Record, error))?;
    Ok(Exit::Success)
}

/// A report may go over an older one, but not over the record that it is made of, nor on a device.
pub(crate) fn check_output(runs: &[PathBuf], path: &Path) -> Result<(), Failure> {
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    let is_report = |name: &OsStr| name == LAUNCHES || FILES.iter().any(|(_, report)| name == *report);
    let within = |run: &PathBuf| run.canonicalize().is_ok_and(|directory| real.starts_with(directory));
    let in_record = runs.iter().any(within);
    let problem = if in_record && !real.file_name().is_some_and(is_report) {
        "is a part of the record"
    } else if real.metadata().is_ok_and(|metadata| metadata.file_type().is_block_device()) {
        "is a block device"
    } else {
        return Ok(());
    };
    let message =
        format!("will not write {}, which {problem}: choose another place with --output", path.display());
    Err(Failure::new(Exit::Refused, anyhow::anyhow!(message)))
}

/// Writes `report.html` into the run directory and gives its path.
pub(crate) fn page(study: &Study<'_>, directory: &Path) -> anyhow::Result<PathBuf> {
    let path = directory.join("report.html");
    to_file(study, Format::Html, &path)?;
    Ok(path)
}

fn all_files(study: &Study<'_>, directory: &Path) -> anyhow::Result<()> {
    for (format, name) in FILES {
        let path = directory.join(name);
        to_file(study, format, &path)?;
        print_line(&format!("{}", path.display())).map_err(|failure| failure.error)?;
    }
    if let Some(text) = study.launches_csv() {
        let path = directory.join(LAUNCHES);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        print_line(&format!("{}", path.display())).map_err(|failure| failure.error)?;
    }
    Ok(())
}

fn to_terminal(study: &Study<'_>, format: Format) -> anyhow::Result<()> {
    if format == Format::Text {
        return print(&study.text(colour())).map_err(|failure| failure.error);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match write(study, format, &mut out).and_then(|()| Ok(out.flush()?)) {
        // A reader such as `head` that has seen enough is no error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        result => result.context("cannot write to the standard output"),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn to_file(study: &Study<'_>, format: Format, path: &Path) -> anyhow::Result<()> {
    let context = || format!("cannot write {}: choose another place with --output", path.display());
    let file = File::create(path).with_context(context)?;
    let mut out = BufWriter::new(file);
    write(study, format, &mut out).with_context(context)?;
    out.flush().with_context(context)
}

fn write(study: &Study<'_>, format: Format, out: &mut impl Write) -> anyhow::Result<()> {
    match format {
        Format::Text => out.write_all(study.text(Colour::Plain).as_bytes())?,
        Format::Html => study.html(out)?,
        Format::Md => out.write_all(study.markdown().as_bytes())?,
        Format::Csv => out.write_all(study.csv().as_bytes())?,
        Format::Json => study.write_json(out)?,
        Format::Openmetrics => out.write_all(study.openmetrics().as_bytes())?,
    }
    Ok(())
}
