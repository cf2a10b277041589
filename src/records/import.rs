//! `ioproof import`: converts the output of other tools into a record.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use dialect::import::{Import, ImportError, Imported, Text};
use plan::limits::PRINTED_BYTES;
use record::{
    FORMAT_VERSION, Fact, HostFacts, Manifest, Outcome, Provenance, Recorder, Run, RunDirectory, Warning,
    WarningRow,
};
use report::Study;

use crate::arguments::ImportArguments;
use crate::console::exit::{Exit, Failure};
use crate::console::{print, screen};
use crate::records::unfinished::Unfinished;
use crate::run::ask;
use crate::run::session;

/// Reads all files, then writes their record and prints its content.
pub(crate) fn run(arguments: &ImportArguments) -> Result<Exit, Failure> {
    let started = jiff::Timestamp::now();
    let now = i64::try_from(started.as_nanosecond()).unwrap_or(i64::MAX);
    let mut import = Import::new(arguments.format, now);
    for given in &arguments.files {
        let path = in_results(given);
        let bytes = read(&path)?;
        let text = Text { name: &path.display().to_string(), bytes: &bytes };
        import.read(&text).map_err(|error: ImportError| Failure::new(Exit::Usage, error))?;
        for (case, path) in if path == *given { Vec::new() } else { of_phases(given) } {
            let text = Text { name: &path.display().to_string(), bytes: &read(&path)? };
            import.read_beside(&case, &text);
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
    let directory = session::directory(&run_id, arguments.out.as_deref());
    // It is renamed when it is complete, because a partial record is invalid.
    let unfinished = Unfinished::beside(&directory, &run_id)?;
    let place = write(unfinished.path(), imported, run_id, now)?;
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

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut read = || {
        if path.as_os_str() == "-" {
            return io::stdin().lock().take(PRINTED_BYTES + 1).read_to_end(&mut bytes);
        }
        let file = File::open(path)?;
        match file.metadata()?.len() {
            length if length > PRINTED_BYTES => Ok(usize::try_from(length).unwrap_or(usize::MAX)),
            _ => file.take(PRINTED_BYTES + 1).read_to_end(&mut bytes),
        }
    };
    let message = |error| {
        anyhow::Error::from(error).context(format!(
            "cannot read {}: give files that tools have written, or - for standard input",
            path.display()
        ))
    };
    let length = read().map_err(|error| Failure::new(Exit::Usage, message(error)))?;
    if length as u64 > PRINTED_BYTES {
        let error = anyhow::anyhow!(
            "{} has more than {}: split the output of the tools into smaller files and import these",
            if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() },
            plan::Bytes(PRINTED_BYTES)
        );
        return Err(Failure::new(Exit::Usage, error));
    }
    Ok(bytes)
}

/// Records all cases. Each phase is freed when it has been written, because histograms may be large.
fn write(directory: &Path, imported: Imported, run_id: String, now: i64) -> Result<RunDirectory, Failure> {
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
    };
    let mut recorder = Recorder::create(directory, &manifest)?.not_durable();
    for note in &imported.doubts {
        recorder.warning(&WarningRow::of_run(Warning::Import { note: note.clone() }))?;
    }
    let mut phases = imported.phases.into_iter().peekable();
    for case in &imported.plan.cases {
        recorder.case_started(&case.id)?;
        while let Some(phase) = phases.next_if(|phase| phase.phase.key.case == case.id) {
            recorder.phase_finished(&phase)?;
        }
        recorder.case_finished(&case.id)?;
    }
    // If only the start is known, the duration is unknown.
    let finished = imported.finished_unix_ns.or(imported.started_unix_ns.is_none().then_some(now));
    let place = recorder.place();
    recorder.finish_at(&Outcome::Complete, finished)?;
    Ok(place)
}

/// The host according to the texts, which contain at most its name.
fn host(imported: &Imported) -> HostFacts {
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
