//! `ioproof import`: converts the output of other tools into a record.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use dialect::import::{Import, ImportError, Imported, Phases};
use plan::limits::PRINTED_BYTES;
use record::{
    FORMAT_VERSION, Fact, HostFacts, Manifest, Outcome, Provenance, Recorder, Run, RunDirectory, Warning,
    WarningRow,
};
use report::Study;

use crate::arguments::values;
use crate::console::exit::{Exit, Failure};
use crate::console::{print, screen};
use crate::defaults::Defaults;
use crate::records::unfinished::Unfinished;
use crate::run::{ask, session};

/// `ioproof import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Files that tools have written, or pages with their output; `-` is standard input. The tool is recognised by the
    /// content.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Directory for the record [default: ioproof-runs/DATE-TIME-import].
    #[arg(long, value_name = "RUNDIR")]
    out: Option<PathBuf>,
    // Its description names the formats.
    #[arg(long = "as", value_name = "TOOL", value_parser = values::import_format, help = values::import_formats())]
    format: Option<dialect::import::Format>,
    /// A title for reports.
    #[arg(long)]
    title: Option<String>,
    /// Study file whose terms apply to the imported data: its commitments, claims, expectations and published figures.
    /// It needs no workload.
    #[arg(long, value_name = "STUDY")]
    terms: Option<PathBuf>,
}

/// Reads all files, then writes their record and prints its content.
pub(crate) fn run(arguments: &ImportArguments, defaults: &Defaults) -> Result<Exit, Failure> {
    let started = jiff::Timestamp::now();
    let now = i64::try_from(started.as_nanosecond()).unwrap_or(i64::MAX);
    let mut import = Import::new(arguments.format, now);
    for given in &arguments.files {
        let path = in_results(given);
        let read = |name: &str, path: &Path| import.read(name, &mut open(name, path)?);
        reading(&path, read)?;
        for (case, path) in if path == *given { Vec::new() } else { of_phases(given) } {
            reading(&path, |name, path| import.read_beside(&case, name, &mut open(name, path)?))?;
        }
    }
    let mut imported = import.finish();
    if let Some(title) = &arguments.title {
        title.clone_into(&mut imported.plan.title);
    }
    if let Some(path) = &arguments.terms {
        imported.plan = ask::with_criteria(imported.plan, path)?;
        let note = format!("the terms of {} were given at the import, after the measurement", path.display());
        imported.doubts.push(note);
    }
    let run_id = session::run_id(started, "import");
    let directory = session::directory(&run_id, arguments.out.as_deref(), defaults);
    // It is renamed when it is complete, because a partial record is invalid.
    let unfinished = Unfinished::beside(&directory, &run_id)?;
    let place = write(unfinished.path(), imported, (run_id, now), defaults)?;
    let place = unfinished.finish(&place)?;
    let run = Run::open(&place)?;
    let study = Study::of(&run);
    print(&study.text(screen()))?;
    print(&format!("\nrecord: {}\n", place.path().display()))?;
    Ok(Exit::Success)
}

/// The file with the results, if `path` is a directory with results as created by IO500.
fn in_results(path: &Path) -> PathBuf {
    let names = ["result.txt", "result_summary.txt"];
    let inside = names.map(|name| path.join(name)).into_iter().find(|file| file.is_file());
    inside.filter(|_| path.is_dir()).unwrap_or_else(|| path.to_owned())
}

/// The files in a directory of results that IO500's phases have printed, each with the name of its phase. Releases
/// before 2020 write `_` in it.
fn of_phases(directory: &Path) -> Vec<(String, PathBuf)> {
    let files = directory.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let texts =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "txt") && path.is_file());
    let phase = |path: &PathBuf| Some(path.file_stem()?.to_str()?.replace('_', "-"));
    let texts = texts.filter_map(|path| Some((phase(&path)?, path)));
    texts.filter(|(phase, _)| ["ior-", "mdtest-"].iter().any(|tool| phase.starts_with(tool))).collect()
}

/// Does `read` with a file and its name in messages.
fn reading(path: &Path, read: impl FnOnce(&str, &Path) -> Result<(), ImportError>) -> Result<(), Failure> {
    read(&path.display().to_string(), path).map_err(|error| Failure::new(Exit::Usage, error))
}

/// Opens a file, or standard input for `-`.
fn open(name: &str, path: &Path) -> Result<Box<dyn Read>, ImportError> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let unreadable = ImportError::unreadable(name);
    let file = File::open(path).map_err(&unreadable)?;
    match file.metadata().map_err(&unreadable)?.len() {
        length if length > PRINTED_BYTES => Err(ImportError::TooLong { file: name.to_owned() }),
        _ => Ok(Box::new(file)),
    }
}

/// Records all cases. Each phase is freed when it has been written, because histograms may be large.
fn write(
    directory: &Path,
    imported: Imported<Phases>,
    (run_id, now): (String, i64),
    defaults: &Defaults,
) -> Result<RunDirectory, Failure> {
    let manifest = Manifest {
        format_version: FORMAT_VERSION,
        run_id,
        provenance: Provenance::Imported,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started_unix_ns: imported.started_unix_ns.or(imported.finished_unix_ns).unwrap_or(now),
        finished_unix_ns: None,
        predicted: None,
        plan: imported.plan.clone(),
        host: host(&imported),
        cluster: None,
        model: None,
        defaults: defaults.of_run(&imported.plan, false),
    };
    let mut recorder = Recorder::create(directory, &manifest)?.not_durable();
    for note in &imported.doubts {
        recorder.warning(&WarningRow::of_run(Warning::Import { note: note.clone() }))?;
    }
    let mut phases = imported.phases.peekable();
    for case in &imported.plan.cases {
        let its = std::iter::from_fn(|| phases.next_if(|phase| phase.phase.key.case == case.id));
        recorder.case_copied(&case.id, its)?;
    }
    // If only the start is known, the duration is unknown.
    let finished = imported.finished_unix_ns.or(imported.started_unix_ns.is_none().then_some(now));
    let place = recorder.place();
    recorder.finish_at(&Outcome::Complete, finished)?;
    Ok(place)
}

/// The host according to the texts, which contain at most its name.
fn host(imported: &Imported<Phases>) -> HostFacts {
    const WHY: &str = "imported: the text does not say";
    fn unknown<T>() -> Fact<T> {
        Fact::Unknown(WHY.to_owned())
    }
    HostFacts {
        node: imported.node.clone().unwrap_or_else(|| "unknown".to_owned()),
        operating_system: unknown(),
        kernel: unknown(),
        cpu_model: unknown(),
        sockets: unknown(),
        logical_cpus: 0,
        usable_cpus: 0,
        numa_nodes: unknown(),
        governor: unknown(),
        memory_bytes: 0,
        memory_limit_bytes: None,
        transparent_hugepages: unknown(),
        clock: "unknown".to_owned(),
        batch_job: None,
        file_systems: Vec::new(),
        devices: Vec::new(),
        target_devices: Vec::new(),
        ..HostFacts::default()
    }
}
