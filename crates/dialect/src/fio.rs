//! Cross-checks by fio: converts a case to a command line of fio, and fio's output to a pass of that
//! case.
//!
//! The options are those in fio's HOWTO. Both tools get the same conditions: the file exists (`overwrite`), its
//! pages stay in the page cache (`invalidate=0`), the kernel gets no advice (`fadvise_hint=0`), random offsets
//! differ from pass to pass (`randrepeat=0`), and a write ends when the data is on the device (`end_fsync`).

use std::path::{Path, PathBuf};

use plan::{Backend, Case, Nanos, Order, Phase, Plan, PlanError, PlanSource, Rival, Sharing, WorkloadSpec};
use record::{PhaseKey, PhaseRecord};

use crate::import::{Format, ImportError, Text, import};

/// The name of the tool and of its program.
pub const PROGRAM: &str = "fio";
/// The oldest release whose JSON has latencies in nanoseconds and rates in bytes.
pub const OLDEST: (u32, u32) = (3, 0);

/// The release printed by `fio --version`, for example `3.33` from `fio-3.33`.
#[must_use]
pub fn release(printed: &str) -> Option<&str> {
    printed.trim().strip_prefix("fio-").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a release is at least [`OLDEST`].
#[must_use]
pub fn is_new_enough(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= OLDEST
}

/// Whether `fio --enghelp` lists the engine.
#[must_use]
pub fn has_engine(printed: &str, engine: &str) -> bool {
    printed.lines().any(|line| line.trim() == engine)
}

/// fio's engine that uses the same system calls as `backend`; `None` if a comparison with fio has none.
#[must_use]
pub const fn engine(backend: Backend) -> Option<&'static str> {
    match backend {
        Backend::Psync => Some("psync"),
        Backend::Uring { .. } => Some("io_uring"),
        Backend::Libaio { .. } => Some("libaio"),
        _ => None,
    }
}

/// Returns the plan with each of its `own` cases followed by the same case for fio, whose release is
/// `release` and whose path is `program`.
///
/// # Errors
/// Errors if fio has no equivalent for one of the cases.
pub fn beside(
    own: Vec<Case>,
    directory: PathBuf,
    seed: u64,
    program: PathBuf,
    release: &str,
) -> Result<Plan, PlanError> {
    let (mut cases, mut rivals) = (Vec::with_capacity(2 * own.len()), Vec::with_capacity(own.len()));
    for case in own {
        let id = format!("{}-{PROGRAM}", case.id);
        let theirs = Case {
            id: id.clone(),
            // Its figures are never shown in the same row as ours.
            group: id,
            title: format!("{}, by {PROGRAM}", case.title),
            in_turn: true,
            stated: Some(stated(&case)),
            not_printed: Some(std::collections::BTreeSet::new()),
            ..case.clone()
        };
        rivals.push(Rival {
            own: case.id.clone(),
            case: theirs.id.clone(),
            command_line: command_line(&program, &case)?,
        });
        cases.extend([case, theirs]);
    }
    let tool = format!("{PROGRAM} {release}");
    let title = format!("Cross-check of {} with {tool}", directory.display());
    Ok(Plan::new(title, PlanSource::CrossCheck { directory, tool, program, rivals }, seed, cases))
}

/// Converts `case`, with a single write or read phase, to a command line of the fio at `program`.
///
/// # Errors
/// Errors if fio has no equivalent for it.
pub fn command_line(program: &Path, case: &Case) -> Result<Vec<String>, PlanError> {
    let unsaid = |what: &str| {
        let next = "use writes or reads of one file, for a fixed time, with psync or io_uring";
        PlanError::new("case", format!("fio has no equivalent for {what}, in the case {}", case.id), next)
    };
    let spec = WorkloadSpec::from(case.workload.clone());
    let rw = match (&case.phases[..], spec.order) {
        ([Phase::Write], Order::Sequential) => "write",
        ([Phase::Read], Order::Sequential) => "read",
        ([Phase::Write], Order::Random { .. }) => "randwrite",
        ([Phase::Read], Order::Random { .. }) => "randread",
        _ => return Err(unsaid("the phases and the order")),
    };
    let [target] = &spec.files.targets[..] else { return Err(unsaid("the files")) };
    let (true, Sharing::Shared, 1) = (spec.work.is_transfers(), spec.files.sharing, spec.geometry.segments)
    else {
        return Err(unsaid("the files"));
    };
    let target = target.to_str().ok_or_else(|| unsaid("a path that is not UTF-8"))?;
    // fio would take the rest for a comment and write a different file. Line ends would break its output.
    if target.contains(|c: char| matches!(c, '#' | ';') || c.is_control()) {
        let message =
            format!("fio cannot use a path with `#`, `;` or control characters, as in the case {}", case.id);
        return Err(PlanError::new("case", message, "use a directory without them"));
    }
    let engine = engine(spec.backend).ok_or_else(|| unsaid("the backend"))?;
    let time = spec.duration.ok_or_else(|| unsaid("the end condition"))?;
    let program = program.to_str().ok_or_else(|| unsaid("a program whose path is not UTF-8"))?;
    // In sequential order each task has its own block of the file; in random order each task accesses the
    // whole file.
    let in_order = spec.order == Order::Sequential;
    let block = spec.geometry.block.0;
    let size = if in_order { block } else { case.workload.footprint().0 };
    let mut words = vec![
        program.to_owned(),
        format!("--name={}", case.id),
        // fio takes a colon for the end of a name. A backslash is only special directly before a colon.
        format!("--filename={}", target.replace(':', "\\:")),
        format!("--rw={rw}"),
        format!("--bs={}", spec.geometry.transfer.0),
        format!("--size={size}"),
        format!("--direct={}", u8::from(spec.direct)),
        format!("--ioengine={engine}"),
        format!("--iodepth={}", spec.backend.depth()),
        format!("--numjobs={}", spec.tasks),
    ];
    if in_order && spec.tasks > 1 {
        words.push(format!("--offset_increment={block}"));
    }
    words.extend(["--thread", "--group_reporting", "--time_based"].map(str::to_owned));
    words.push(format!("--runtime={}", runtime(time)));
    words.extend(["--overwrite=1", "--invalidate=0", "--fadvise_hint=0"].map(str::to_owned));
    if !in_order {
        words.push("--randrepeat=0".to_owned());
    }
    if spec.sync.at_close {
        words.push("--end_fsync=1".to_owned());
    }
    words.push("--output-format=json+".to_owned());
    Ok(words)
}

/// Formats a duration as `3s`, or in milliseconds if it is not a whole number of seconds.
fn runtime(time: Nanos) -> String {
    match time.0 % Nanos::secs(1).0 {
        0 => format!("{}s", time.0 / Nanos::secs(1).0),
        _ => format!("{}ms", time.0 / Nanos::millis(1).0),
    }
}

/// The conditions of fio's case, which are the same as those of `case`.
fn stated(case: &Case) -> String {
    let workload = &case.workload;
    let jobs = if workload.tasks == 1 { "1 job".to_owned() } else { format!("{} jobs", workload.tasks) };
    let words = [
        format!("{} {}", workload.geometry.transfer, workload.order_name()),
        if workload.direct { "direct" } else { "buffered" }.to_owned(),
        format!("{PROGRAM} {}", engine(workload.backend).unwrap_or_default()),
        format!("depth {}", workload.backend.depth()),
        jobs,
    ];
    words.join(", ")
}

/// Parses what fio `printed` about the pass `key` of a case of [`beside`], which began at `started_unix_ns`.
/// `source` is the name of the text.
///
/// # Errors
/// Errors if it is not fio's output about one job with one phase.
pub fn pass(
    printed: &[u8],
    source: &str,
    key: &PhaseKey,
    started_unix_ns: i64,
) -> Result<PhaseRecord, ImportError> {
    let text = Text { name: source, bytes: printed };
    let mut phases = import(&[text], Format::named("fio-json"), started_unix_ns)?.phases;
    let of_phase = phases.iter().position(|one| one.phase.key.phase == key.phase);
    let (Some(place), 1) = (of_phase, phases.len()) else {
        return Err(ImportError::Unusable {
            file: source.to_owned(),
            line: 1,
            what: format!("this is not the output of one job with a phase {}", key.phase),
            next: "see its command line in the record".to_owned(),
        });
    };
    let mut found = phases.swap_remove(place);
    found.phase.key = key.clone();
    found.latency.iter_mut().for_each(|row| row.key = key.clone());
    found.printed.iter_mut().for_each(|row| row.key = key.clone());
    found.warnings.iter_mut().for_each(|row| row.key = Some(key.clone()));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::{Backend, Bytes, Case, Geometry, Nanos, Order, Phase, Sharing, WorkloadSpec};

    use super::{beside, command_line, has_engine, is_new_enough, pass, release};

    fn case(phase: Phase, change: impl Fn(&mut WorkloadSpec)) -> Case {
        let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::mib(16), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "/mnt/a:b/file", geometry);
        (spec.files.sharing, spec.duration, spec.direct) = (Sharing::Shared, Some(Nanos::secs(3)), true);
        change(&mut spec);
        Case::new("rand-read-d32", spec.validate().expect("valid"), vec![phase])
    }

    fn line(case: &Case) -> String {
        command_line(Path::new("/usr/bin/fio"), case).expect("fio can be asked").join(" ")
    }

    #[test]
    fn a_case_is_said_in_fio_s_words_with_equal_values() {
        let random = case(Phase::Read, |spec| {
            spec.order = Order::Random { seed: 1 };
            spec.backend = Backend::Uring { depth: 32, required: true };
        });
        assert_eq!(
            line(&random),
            "/usr/bin/fio --name=rand-read-d32 --filename=/mnt/a\\:b/file --rw=randread --bs=4096 --size=16777216 \
             --direct=1 --ioengine=io_uring --iodepth=32 --numjobs=1 --thread --group_reporting --time_based \
             --runtime=3s --overwrite=1 --invalidate=0 --fadvise_hint=0 --randrepeat=0 --output-format=json+"
        );
        // Each task has a block of its own, one behind the other.
        let several = case(Phase::Write, |spec| {
            (spec.tasks, spec.backend, spec.direct) = (8, Backend::Psync, false);
            (spec.sync.at_close, spec.duration) = (true, Some(Nanos::millis(2500)));
        });
        assert_eq!(
            line(&several),
            "/usr/bin/fio --name=rand-read-d32 --filename=/mnt/a\\:b/file --rw=write --bs=4096 --size=16777216 \
             --direct=0 --ioengine=psync --iodepth=1 --numjobs=8 --offset_increment=16777216 --thread \
             --group_reporting --time_based --runtime=2500ms --overwrite=1 --invalidate=0 --fadvise_hint=0 \
             --end_fsync=1 --output-format=json+"
        );
        // At random each task goes through the whole file, as ours do.
        let everywhere = case(Phase::Write, |spec| {
            (spec.tasks, spec.backend) = (8, Backend::Psync);
            spec.order = Order::Random { seed: 1 };
        });
        let line = line(&everywhere);
        assert!(line.contains("--rw=randwrite") && line.contains("--size=134217728"), "{line}");
        assert!(line.contains("--numjobs=8") && !line.contains("offset"), "{line}");
    }

    #[test]
    fn what_fio_cannot_say_is_refused() {
        let refused = [
            case(Phase::Mixed, |spec| spec.read_percent = 50),
            case(Phase::Read, |spec| (spec.backend, spec.direct) = (Backend::Mmap, false)),
            case(Phase::Read, |spec| spec.order = Order::Backward),
            case(Phase::Read, |spec| spec.files.sharing = Sharing::PerTask),
            case(Phase::Read, |spec| spec.duration = None),
            case(Phase::Read, |spec| spec.files.targets.push("/mnt/other".into())),
        ];
        for (place, case) in refused.iter().enumerate() {
            assert!(case.workload.work.is_transfers());
            assert!(command_line(Path::new("/usr/bin/fio"), case).is_err(), "{place}");
        }
    }

    #[test]
    fn a_path_is_said_so_that_fio_takes_it_as_it_is() {
        let asked = |target: &str| {
            let case = case(Phase::Read, |spec| spec.files.targets = vec![target.into()]);
            command_line(Path::new("/usr/bin/fio"), &case).map(|words| words[2].clone()).ok()
        };
        // What fio 3.33 makes of them is the path again.
        assert_eq!(asked(r"/a\b:c d").as_deref(), Some(r"--filename=/a\b\:c d"));
        assert_eq!(asked(r"/a\:b").as_deref(), Some(r"--filename=/a\\:b"));
        assert_eq!((asked("/a#1/file"), asked("/a;b/file")), (None, None));
    }

    #[test]
    fn releases_and_engines_are_read_as_fio_prints_them() {
        assert_eq!(release("fio-3.33\n"), Some("3.33"));
        assert_eq!(release("fio-3.37-78-gd5ec\n"), Some("3.37-78-gd5ec"));
        assert_eq!(release("elbencho 3"), None);
        assert!(is_new_enough("3.0") && is_new_enough("3.37-78-gd5ec") && is_new_enough("4.1"));
        assert!(!is_new_enough("2.21"));
        let listed = "Available IO engines:\n\tpsync\n\tpvsync2\n\tio_uring_cmd\n";
        assert!(
            has_engine(listed, "psync") && !has_engine(listed, "io_uring") && !has_engine(listed, "pvsync")
        );
    }

    #[test]
    fn fio_s_case_stands_behind_ours_and_says_the_same() {
        let own = case(Phase::Read, |spec| spec.order = Order::Random { seed: 1 });
        let plan = beside(vec![own.clone()], "/mnt".into(), 1, "/usr/bin/fio".into(), "3.33").expect("said");
        let ids: Vec<_> = plan.cases.iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["rand-read-d32", "rand-read-d32-fio"]);
        assert_ne!(plan.cases[0].group, plan.cases[1].group);
        assert_eq!(plan.cases[1].workload, own.workload);
        assert_eq!(
            plan.cases[1].conditions(Phase::Read),
            "read, 4 KiB random, direct, fio psync, depth 1, 1 job"
        );
        let plan::PlanSource::CrossCheck { rivals, tool, .. } = plan.source else {
            panic!("another question")
        };
        assert_eq!((tool.as_str(), rivals[0].case.as_str()), ("fio 3.33", "rand-read-d32-fio"));
    }

    #[test]
    fn what_fio_prints_becomes_the_pass_that_was_asked_for() {
        let printed = r#"note: something
{"fio version": "fio-3.33", "timestamp": 1, "jobs": [{"jobname": "x", "error": 0, "job options": {"rw": "read"},
 "read": {"io_bytes": 8192, "bw_bytes": 4096, "bw": 4, "iops": 1, "runtime": 2000, "total_ios": 2,
          "clat_ns": {"min": 5, "max": 9, "mean": 7, "stddev": 1, "N": 2, "bins": {"5": 1, "9": 1}}},
 "write": {"io_bytes": 0, "bw_bytes": 0, "bw": 0, "iops": 0, "runtime": 0, "total_ios": 0}}]}"#;
        let key = record::PhaseKey { case: "x-fio".into(), repetition: 4, phase: Phase::Read };
        let found = pass(printed.as_bytes(), "fio, pass 4", &key, 17).expect("fio's JSON");
        assert_eq!(
            (found.phase.read_bytes, found.phase.reads, found.phase.wall_ns),
            (8192, 2, 2_000_000_000)
        );
        assert_eq!(found.phase.started_unix_ns, 17);
        assert!(found.phase.key == key && !found.latency.is_empty() && !found.printed.is_empty());
        assert!(
            found.latency.iter().all(|row| row.key == key) && found.printed.iter().all(|row| row.key == key)
        );
        let wrong = record::PhaseKey { phase: Phase::Write, ..key };
        assert!(pass(printed.as_bytes(), "fio, pass 4", &wrong, 17).is_err());
    }
}
