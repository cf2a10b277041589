//! `ioproof report`: the tables again, and the report in every form.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use anyhow::Context;
use record::Run;
use report::Colour;

use crate::arguments::{Format, ReportArguments};
use crate::console::print;
use crate::exit::{Exit, Failure};

/// The files that stand in the run directory after `ioproof report RUNDIR`.
const FILES: [(Format, &str); 4] = [
    (Format::Html, "report.html"),
    (Format::Md, "report.md"),
    (Format::Csv, "report.csv"),
    (Format::Json, "report.json"),
];

/// Prints or writes what is asked.
pub(crate) fn run(arguments: &ReportArguments) -> Result<Exit, Failure> {
    let run = Run::open(&arguments.run)?;
    if let Some(path) = &arguments.output {
        check_output(&run, path)?;
    }
    let result = match (arguments.format, &arguments.output) {
        (Some(format), Some(path)) => to_file(&run, format, path),
        (Some(format), None) => to_terminal(&run, format),
        (None, _) => to_terminal(&run, Format::Text).and_then(|()| all_files(&run)),
    };
    result.map_err(|error| Failure::new(Exit::Record, error))?;
    Ok(Exit::Success)
}

/// A report may go over an older one, but not over the record that it is made of, nor on a device.
fn check_output(run: &Run, path: &Path) -> Result<(), Failure> {
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    let is_report = |name: &OsStr| FILES.iter().any(|(_, report)| name == *report);
    let in_record = run.directory.canonicalize().is_ok_and(|directory| real.starts_with(directory));
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
pub(crate) fn page(run: &Run) -> anyhow::Result<std::path::PathBuf> {
    let path = run.directory.join("report.html");
    to_file(run, Format::Html, &path)?;
    Ok(path)
}

fn all_files(run: &Run) -> anyhow::Result<()> {
    for (format, name) in FILES {
        let path = run.directory.join(name);
        to_file(run, format, &path)?;
        print(&format!("{}\n", path.display())).map_err(|failure| failure.error)?;
    }
    Ok(())
}

/// The tables, in colour where a person looks at them and has not said no (<https://no-color.org>).
pub(crate) fn tables(run: &Run) -> String {
    let coloured = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
    report::text_in(run, if coloured { Colour::Ansi } else { Colour::Plain })
}

fn to_terminal(run: &Run, format: Format) -> anyhow::Result<()> {
    if format == Format::Text {
        return print(&tables(run)).map_err(|failure| failure.error);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match write(run, format, &mut out).and_then(|()| Ok(out.flush()?)) {
        // A reader such as `head` that has seen enough is no error.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        result => result.context("cannot write to the standard output"),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn to_file(run: &Run, format: Format, path: &Path) -> anyhow::Result<()> {
    let context = || format!("cannot write {}: choose another place with --output", path.display());
    let file = File::create(path).with_context(context)?;
    let mut out = BufWriter::new(file);
    write(run, format, &mut out).with_context(context)?;
    out.flush().with_context(context)
}

fn write(run: &Run, format: Format, out: &mut impl Write) -> anyhow::Result<()> {
    match format {
        Format::Text => out.write_all(report::text(run).as_bytes())?,
        Format::Html => report::html(run, out)?,
        Format::Md => out.write_all(report::markdown(run).as_bytes())?,
        Format::Csv => out.write_all(report::csv(run).as_bytes())?,
        Format::Json => out.write_all(report::json(run).as_bytes())?,
        Format::Openmetrics => out.write_all(report::openmetrics(run).as_bytes())?,
    }
    Ok(())
}
