//! `ioproof import`: converts the output of other tools into a record.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use dialect::import::{ImportError, Imported, Text, import};
use plan::limits::PRINTED_BYTES;
use record::{
    FORMAT_VERSION, Fact, HostFacts, Manifest, Outcome, Provenance, RecordError, Recorder, Run, Warning,
    WarningRow,
};
use report::Study;

use crate::arguments::ImportArguments;
use crate::console::exit::{Exit, Failure};
use crate::console::{print, screen};
use crate::run::ask;
use crate::run::session;

/// Suffix of the name of a directory that becomes a record when it is complete.
const UNFINISHED: &str = ".part";

/// Reads all files, then writes their record and prints its content.
pub(crate) fn run(arguments: &ImportArguments) -> Result<Exit, Failure> {
    let mut files = Vec::with_capacity(arguments.files.len());
    for path in arguments.files.iter().map(|path| in_results(path)) {
        let path = &path;
        files.push((path.display().to_string(), read(path)?));
    }
    let texts: Vec<Text<'_>> = files.iter().map(|(name, bytes)| Text { name, bytes }).collect();
    let started = jiff::Timestamp::now();
    let now = i64::try_from(started.as_nanosecond()).unwrap_or(i64::MAX);
    let mut imported = import(&texts, arguments.format, now)
        .map_err(|error: ImportError| Failure::new(Exit::Usage, error))?;
    drop(texts);
    drop(files);
    if let Some(title) = &arguments.title {
        title.clone_into(&mut imported.plan.title);
    }
    if let Some(path) = &arguments.terms {
        imported.plan = ask::with_criteria(imported.plan, path)?;
        let note = format!("the terms of {} were given at the import, after the measurement", path.display());
        imported.doubts.push(note);
    }
    let run_id = session::run_id(started, "import");
    let named = session::directory(&run_id, arguments.out.as_deref());
    // An empty directory may also be given as `.` or by a link.
    let directory = fs::canonicalize(&named).unwrap_or(named);
    // It is renamed when it is complete, because a partial record is invalid.
    let unfinished = beside(&directory, &run_id)?;
    make(&unfinished).map_err(|error| {
        let error = anyhow::Error::from(error)
            .context(format!("cannot create the directory {} for the record", unfinished.display()));
        Failure::new(Exit::Record, error)
    })?;
    let written = write(&unfinished, imported, run_id, now).and_then(|()| {
        fs::rename(&unfinished, &directory).map_err(|error| {
            let error = anyhow::Error::from(error).context(format!(
                "cannot rename the record to {}: choose a directory that does not exist yet with --out",
                directory.display()
            ));
            Failure::new(Exit::Record, error)
        })
    });
    written.inspect_err(|_| {
        // The first error is the one to report.
        let _ = fs::remove_dir_all(&unfinished);
    })?;
    let run = Run::open(&directory)?;
    let study = Study::of(&run);
    print(&study.text(screen()))?;
    print(&format!("\nrecord: {}\n", directory.display()))?;
    Ok(Exit::Success)
}

/// The file with the results, if `path` is a directory with results as created by IO500.
fn in_results(path: &Path) -> PathBuf {
    let names = ["result.txt", "result_summary.txt"];
    let inside = names.map(|name| path.join(name)).into_iter().find(|file| file.is_file());
    inside.filter(|_| path.is_dir()).unwrap_or_else(|| path.to_owned())
}

/// The temporary directory for the record of `directory`, which must be empty or missing. It is on the
/// same file system, so that it can be renamed.
fn beside(directory: &Path, run_id: &str) -> Result<PathBuf, Failure> {
    let mut entries = fs::read_dir(directory).ok().into_iter().flatten();
    if entries.next().is_some() {
        return Err(RecordError::NotEmpty { path: directory.to_owned() }.into());
    }
    Ok(directory.with_file_name(unfinished_name(run_id, &host_name(), std::process::id())))
}

/// Creates the temporary directory. Removes what imports of this host that have ended have left next to
/// it.
fn make(unfinished: &Path) -> io::Result<()> {
    let parent = unfinished.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs::create_dir_all(parent)?;
    // A directory that can be written is not necessarily readable.
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = |metadata: fs::Metadata| {
            metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw()
        };
        if entry.file_name().to_str().is_some_and(has_ended) && entry.metadata().is_ok_and(is_ours) {
            // The next import tries it again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    // It must not exist, since it could be a link to another place.
    fs::create_dir(unfinished)
}

/// The name of the temporary directory, which contains the run, the host and the process.
fn unfinished_name(run_id: &str, host: &str, process: u32) -> String {
    format!(".{run_id}@{host}.{process}{UNFINISHED}")
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Whether `name` is that of a temporary directory of an import on this host whose process has ended.
fn has_ended(name: &str) -> bool {
    let host = host_name();
    let of_process = || {
        let (run_id, rest) = name.strip_prefix('.')?.strip_suffix(UNFINISHED)?.split_once('@')?;
        let process: u32 = rest.strip_prefix(&host)?.strip_prefix('.')?.parse().ok()?;
        is_run_id(run_id).then_some(process)
    };
    of_process().is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
}

/// Whether a text has the form of [`session::run_id`] for an import: `20261126-171847-import-cbbaa9`.
fn is_run_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        [date, time, "import", random] => {
            digits(date, 8)
                && digits(time, 6)
                && random.len() == 6
                && random.bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        _ => false,
    }
}

fn read(path: &PathBuf) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let result = match path.as_os_str() == "-" {
        true => io::stdin().lock().take(PRINTED_BYTES + 1).read_to_end(&mut bytes),
        false => File::open(path).and_then(|file| file.take(PRINTED_BYTES + 1).read_to_end(&mut bytes)),
    };
    let message = |error| {
        anyhow::Error::from(error).context(format!(
            "cannot read {}: give files that tools have written, or - for standard input",
            path.display()
        ))
    };
    let length = result.map_err(|error| Failure::new(Exit::Usage, message(error)))?;
    if length as u64 > PRINTED_BYTES {
        let error = anyhow::anyhow!(
            "{} has more than {}: split the output of the tools into smaller files and import these",
            path.display(),
            plan::Bytes(PRINTED_BYTES)
        );
        return Err(Failure::new(Exit::Usage, error));
    }
    Ok(bytes)
}

/// Records all cases. Each phase is freed when it has been written, because histograms may be large.
fn write(directory: &Path, imported: Imported, run_id: String, now: i64) -> Result<(), Failure> {
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
    let _ = recorder.finish_at(&Outcome::Complete, finished)?;
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::{has_ended, host_name, unfinished_name};

    /// A number that no process has, because Linux assigns at most 2^22.
    const NOBODY: u32 = u32::MAX;

    #[test]
    fn only_directories_of_ended_imports_of_this_host_are_removed() {
        let (run_id, host) = ("20261126-171847-import-cbbaa9", host_name());
        assert!(has_ended(&unfinished_name(run_id, &host, NOBODY)));
        assert!(!has_ended(&unfinished_name(run_id, &host, std::process::id())), "it goes on");
        assert!(!has_ended(&unfinished_name(run_id, "elsewhere", NOBODY)));
        for other in ["photos-import-2", "20261126-171847-run-cbbaa9", "20261126-171847-import-photos"] {
            assert!(!has_ended(&unfinished_name(other, &host, NOBODY)), "{other}");
        }
        assert!(!has_ended(".photos-import-2.part"));
    }
}
