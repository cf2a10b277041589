//! A matrix of jobs whose program is killed, or whose record runs out of disk space: the record keeps every launch
//! that ended before another one started.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plan::Phase;
use record::{LaunchRow, Run, RunState, Warning};
use rustix::process::Signal;
use testbed::{FileSystem, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, SmallDisk, assert_says, events, names, run, wait_for};

/// Twenty-four short launches in three streams, three at a time, followed by a job that sums them up.
const MATTER: &str = r#"
[[table]]
name = "sales"
size = "1MB"
groups = 100

[[test]]
name = "extract"
kind = "io"
streams = 3
rounds = 8
memory = "8MiB"

[[test.step]]
do = "scan"
input = "sales"
output = "some"
keep = "50 %"

[[test.step]]
do = "sort"
input = "some"
output = "sorted"
space = "permanent"

[[test]]
name = "total"
kind = "io"
memory = "8MiB"

[[test.step]]
do = "summarise"
input = "sorted"
"#;
/// Number of launches in the whole matrix.
const LAUNCHES: usize = 25;
/// The longest time to wait for launches.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the program is killed before it is allowed to finish.
const KILLS: u32 = 4;
/// The program is killed while fewer than this many launches have ended, so that the matrix is not yet finished.
const ENDED_MAX: u64 = 16;
/// The longest time before a kill during which the directories are not looked at.
const BLIND_US: u64 = 20_000;

fn study(data: &Path) -> String {
    format!(
        "[[target]]\nname = \"disk\"\ndirectory = \"{}\"\n\n[[workload]]\nname = \"jobs\"\nwork = \"jobs\"\n\
         page = \"64KiB\"\nconcurrency = 3\n{MATTER}",
        data.display()
    )
}

/// Pseudo-random numbers from a seed. Their values do not matter, but the sequence must be reproducible.
fn drawn(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    *seed >> 33
}

/// The launches whose own directories exist and were made after `since`. A directory is made before its launch starts
/// and removed after the launch ends. Directories left by a killed program are older. A directory may be gone by the
/// time its age is read. It still existed when the names were read, which happens all at once, so it counts if an
/// earlier look found it to be new (`seen`).
fn standing(data: &Path, since: SystemTime, seen: &BTreeSet<u32>) -> BTreeSet<u32> {
    let entries = fs::read_dir(data.join("jobs.0-0/work")).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_prefix("launch.")?.parse().ok();
    let launches = entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry)));
    let is_new = |launch: &u32, entry: &fs::DirEntry| match entry.metadata().and_then(|one| one.created()) {
        Ok(at) => at >= since,
        Err(_) => seen.contains(launch),
    };
    let launches: Vec<(u32, fs::DirEntry)> = launches.collect();
    launches.iter().filter(|(launch, entry)| is_new(launch, entry)).map(|(launch, _)| *launch).collect()
}

/// Watches the directories of launches until the given number have ended, and returns those that ended before another
/// one started.
fn witnessed(data: &Path, since: SystemTime, most: usize) -> BTreeSet<u32> {
    let (mut seen, mut ended, mut kept) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let start = Instant::now();
    while ended.len() < most && start.elapsed() < PATIENCE {
        let now = standing(data, since, &seen);
        // A directory that exists now, but did not when those were gone, belongs to a launch that started after they
        // ended.
        if now.iter().any(|launch| !seen.contains(launch)) {
            kept.extend(ended.iter().copied());
        }
        seen.extend(now.iter().copied());
        ended = seen.difference(&now).copied().collect();
        thread::sleep(Duration::from_millis(1));
    }
    kept
}

/// The launches of the matrix that `run` keeps from an interrupted attempt.
fn kept(run: &Run, attempt: u32) -> Vec<LaunchRow> {
    let of = run.interrupted.iter().filter(|pass| pass.attempt == attempt && pass.key.phase == Phase::Jobs);
    of.flat_map(|pass| pass.launches.clone()).collect()
}

fn numbers(rows: &[LaunchRow]) -> BTreeSet<u32> {
    rows.iter().map(|row| row.launch).collect()
}

#[test]
fn kill_at_any_moment_keeps_every_launch_that_ended_before_another_started() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let mut seed = u64::from(now.subsec_nanos());
    let said = format!("seed {seed}");
    let (desk, data) = Desk::with_data();
    let mut before: Vec<Vec<LaunchRow>> = Vec::new();
    for attempt in 1..=KILLS {
        let program = match attempt {
            1 => desk.study(&study(&data)),
            _ => desk.ioproof("run --yes --resume record"),
        };
        // The launches that load tables have directories with the same names.
        let loads = events(&desk, "phase-finished");
        let since = SystemTime::now();
        let mut running = program.spawn().expect("it starts");
        wait_for(&mut running, "the matrix", || {
            events(&desk, "phase-finished") > loads && !standing(&data, since, &BTreeSet::new()).is_empty()
        });
        let most = usize::try_from(drawn(&mut seed) % ENDED_MAX).expect("small");
        let seen = witnessed(&data, since, most);
        thread::sleep(Duration::from_micros(drawn(&mut seed) % BLIND_US));
        running.signal(Signal::KILL).expect("it lives");
        let _ = running.wait().expect("it ends");

        let run = Run::open(&desk.record()).expect("a record");
        assert!(run.damage.iter().all(|one| one.what.contains("is incomplete")), "{said}: {:?}", run.damage);
        let rows = kept(&run, attempt);
        assert_eq!(numbers(&rows).len(), rows.len(), "{said}: one is there twice: {rows:?}");
        assert!(
            numbers(&rows).is_superset(&seen),
            "{said}: {seen:?} had ended, {:?} are kept",
            numbers(&rows)
        );
        for row in rows.iter().filter(|row| row.round > 0) {
            let is_before = |one: &&LaunchRow| (one.stream, one.round + 1) == (row.stream, row.round);
            assert!(rows.iter().any(|one| is_before(&one)), "{said}: {row:?} is without what came before");
        }
        for (number, then) in (1..).zip(&before) {
            assert_eq!(&kept(&run, number), then, "{said}: attempt {number} after attempt {attempt}");
        }
        before.push(rows);
        let case = run.manifest.plan.cases[0].id.clone();
        assert!(run.launches(&case).iter().all(|row| row.key.phase == Phase::Load), "{said}: none counts");
    }
    shows(&desk, &before);

    let _ = run(&desk.ioproof("run --yes --resume record")).expect_code(0);
    let whole = Run::open(&desk.record()).expect("a record");
    assert_eq!((whole.state.clone(), whole.damage.as_slice()), (RunState::Complete, &[][..]), "{said}");
    let case = whole.cases()[0].clone();
    let counted: Vec<LaunchRow> =
        whole.launches(&case).iter().filter(|row| row.key.phase == Phase::Jobs).cloned().collect();
    assert_eq!((numbers(&counted).len(), counted.len()), (LAUNCHES, LAUNCHES), "{said}: each once");
    for (number, then) in (1..).zip(&before) {
        assert_eq!(&kept(&whole, number), then, "{said}: attempt {number} at the end");
    }
    assert_eq!(names(&data), ["mine"], "{said}");
    let passes = desk.report().0["statements"]["job_pass"].clone();
    assert_eq!(passes.as_array().map(Vec::len), Some(1), "{said}: one pass counts");
    assert_eq!(passes[0]["complete"], LAUNCHES, "{said}");
}

/// Every form of the report lists the launches of `attempts`, and no figure is computed from them.
fn shows(desk: &Desk, attempts: &[Vec<LaunchRow>]) {
    let report = desk.report();
    assert_eq!(report.state(), "killed");
    let of_matrix = |one: &&serde_json::Value| one["phase"] == "jobs" && one["step"].is_null();
    let timers: Vec<_> =
        report.0["statements"]["full_timer"].as_array().expect("a list").iter().filter(of_matrix).collect();
    let found: Vec<usize> = timers.chunk_by(|a, b| a["attempt"] == b["attempt"]).map(<[_]>::len).collect();
    let expected: Vec<usize> = attempts.iter().map(Vec::len).filter(|count| *count > 0).collect();
    assert_eq!(found, expected);
    assert_eq!(report.0["statements"]["job_sums"].as_array().map(Vec::len), Some(0));
    assert_eq!(report.0["statements"]["job_pass"].as_array().map(Vec::len), Some(0));
    let written = run(&desk.ioproof("report --full record")).expect_code(0).stdout;
    let launches = fs::read_to_string(desk.record().join("report-launches.csv")).expect("written");
    let rows = launches.lines().filter(|line| line.contains(",extract,") && line.contains(",jobs,"));
    let steps = 2;
    let extracts: usize =
        attempts.iter().map(|rows| rows.iter().filter(|row| row.test == "extract").count()).sum();
    assert_eq!(rows.count(), extracts * (1 + steps), "a row for each launch and each of its steps");
    if extracts > 0 {
        let of = format!("of {LAUNCHES} launches had ended");
        assert_says(&written, &[&of]);
        for file in ["report.html", "report.md"] {
            assert_says(&fs::read_to_string(desk.record().join(file)).expect("written"), &[&of]);
        }
    }
}

#[test]
fn a_full_disk_under_the_record_ends_the_matrix_and_what_was_kept_stays() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let small = SmallDisk::mount(desk.path("small"));
    let record = small.path().join("record");
    fs::write(desk.path("study.toml"), study(&data)).expect("written");
    let mut running = desk.ioproof("run study.toml --yes --out small/record").spawn().expect("it starts");
    let journal = || fs::read_to_string(record.join("journal.jsonl")).unwrap_or_default();
    let has_one = |line: &str| line.contains("\"launches-ended\"") && line.contains("\"phase\":\"jobs\"");
    wait_for(&mut running, "an end in the matrix", || journal().lines().any(has_one));
    // Fills the space that is left on the disk of the record.
    let mut filler = fs::File::create(small.path().join("filler")).expect("created");
    while filler.write_all(&[1; 4096]).is_ok() {}
    let finished = running.wait().expect("it ends").expect_code(7);
    assert_says(&finished.stderr, &["journal.jsonl", "No space left", "free some space"]);
    assert_eq!(names(&data), ["mine"], "what ran was ended and removed");
    let run_then = Run::open(&record).expect("a record");
    assert_eq!(run_then.damage, []);
    let rows = kept(&run_then, 1);
    assert!(!rows.is_empty() && rows.len() < LAUNCHES, "{rows:?}");

    drop(filler);
    fs::remove_file(small.path().join("filler")).expect("removed");
    let again = desk.ioproof("run --yes --resume small/record").spawn().expect("it starts");
    let _ = again.wait().expect("it ends");
    let whole = Run::open(&record).expect("a record");
    assert_eq!((whole.state.clone(), kept(&whole, 1)), (RunState::Complete, rows));
}

/// The published study mounts its work space with `noatime` (study C).
#[test]
fn a_work_mount_with_times_of_access_is_warned_about() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().file_system(FileSystem::Ext4).build().expect("a device");
    let mount = device.mount_point().expect("mounted");
    let desk = Desk::new();
    let warned = || {
        let _ = fs::remove_dir_all(desk.record());
        let _ = run(&desk.study(&study(mount))).expect_code(0);
        let run = Run::open(&desk.record()).expect("a record");
        run.warnings.iter().any(|row| {
            matches!(&row.warning, Warning::AccessTimes { mount_point, .. }
            if Path::new(mount_point) == mount)
        })
    };
    assert!(!warned(), "it is mounted with noatime");
    let remount = Program::new("mount").args(["-o", "remount,strictatime"]).arg(mount);
    let _ = run(&remount).expect_code(0);
    assert!(warned());
}
