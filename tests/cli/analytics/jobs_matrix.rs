//! Jobs in a run: a matrix of processes on real directories, including processes that fail, and what the matrix
//! leaves behind.

use std::fs;
use std::path::Path;

use record::{LaunchRow, Run};
use rustix::process::Signal;
use testbed::{FileSystem, LoopDevice, Running, Testbed};

use crate::desk::{Desk, assert_says, names, run, wait_for};

/// A scan and a sort of 8 MB in two streams and two rounds, followed by a job that sums them up.
const MATTER: &str = r#"
[[table]]
name = "sales"
size = "8MB"
groups = 1000

[[test]]
name = "extract"
kind = "io"
streams = 2
rounds = 2
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

/// A job that does not end by itself any time soon.
const LONG: &str = r#"
[[test]]
name = "long"
kind = "memory"
memory = "8MiB"

[[test.step]]
do = "shuffle"
operations = 1e12
"#;

fn study(directory: &Path, keys: &str, matter: &str) -> String {
    let directory = directory.display();
    format!(
        "[[target]]\nname = \"disk\"\ndirectory = \"{directory}\"\n\n[[workload]]\nname = \"jobs\"\nwork = \"jobs\"\n\
         page = \"64KiB\"\n{keys}\n{matter}"
    )
}

/// The launches of the matrix in a record.
fn launches(desk: &Desk) -> Vec<LaunchRow> {
    let record = Run::open(&desk.record()).expect("a record");
    let case = record.cases().first().cloned().expect("a case");
    record.launches(&case).iter().filter(|row| row.key.phase == plan::Phase::Jobs).cloned().collect()
}

fn outcomes(rows: &[LaunchRow], test: &str) -> Vec<String> {
    rows.iter().filter(|row| row.test == test).map(|row| row.outcome.to_string()).collect()
}

/// Processes on this host that the program launched in a directory of `desk`.
fn control_groups(run_id: &str) -> usize {
    let text =
        run(&testbed::Program::new("find").args(["/sys/fs/cgroup", "-name", &format!("ioproof-{run_id}")]));
    text.stdout.lines().count()
}

#[test]
fn a_matrix_runs_in_its_order_and_is_accounted_for() {
    let (desk, data) = Desk::with_data();
    let finished = run(&desk.study(&study(&data, "concurrency = 2\n", MATTER))).expect_code(0);
    assert_says(&finished.stdout, &["record"]);
    let rows = launches(&desk);
    assert_eq!(rows.len(), 5);
    assert!(rows.iter().all(|row| row.outcome == "complete"), "{rows:?}");
    for row in &rows {
        let at_once =
            rows.iter().filter(|other| other.start_ns <= row.start_ns && row.start_ns < other.end_ns);
        assert!(at_once.count() <= 2, "{rows:?}");
        let cpu_ns = row.user_cpu_ns + row.system_cpu_ns;
        // Accounting of the group begins when the process joins it. The start-up time may be missing, in ticks of a
        // few milliseconds.
        assert!(row.group_cpu_ns.is_none_or(|group| group <= cpu_ns + 20_000_000), "{row:?}");
        assert!(row.start_cost_ns > 0 && row.peak_memory_bytes > 0);
    }
    let last = rows.iter().find(|row| row.test == "total").expect("it is there");
    let before = rows.iter().filter(|row| row.test == "extract").map(|row| row.end_ns).max();
    assert!(
        before.is_some_and(|end_ns| end_ns <= last.start_ns),
        "it comes after all that leave what it reads"
    );
    let record = Run::open(&desk.record()).expect("a record");
    let case = record.cases()[0].clone();
    let (steps, spaces) = (record.steps(&case), record.spaces(&case));
    let of_matrix = |phase: &plan::Phase| *phase == plan::Phase::Jobs;
    let read: u64 = spaces.iter().filter(|row| of_matrix(&row.key.phase)).map(|row| row.read_bytes).sum();
    let moved: u64 =
        rows.iter().map(|row| row.permanent_read_bytes + row.work_read_bytes + row.utility_read_bytes).sum();
    assert_eq!(read, moved, "seconds add up to launches");
    assert_eq!(steps.iter().filter(|row| of_matrix(&row.key.phase)).count(), 9);
    let stream_of = |launch: u32| rows.iter().find(|row| row.launch == launch).map_or(9, |row| row.stream);
    let extract = |row: &&record::StepRow| row.test == "extract" && row.action == "sort";
    let sums: Vec<(u32, &str)> =
        steps.iter().filter(extract).map(|row| (stream_of(row.launch), row.checksum.as_str())).collect();
    let of_stream = |stream| sums.iter().filter(move |(one, _)| *one == stream).map(|(_, sum)| *sum);
    assert!(of_stream(0).all(|sum| sum == of_stream(0).next().unwrap_or_default()), "{sums:?}");
    assert_ne!(of_stream(0).next(), of_stream(1).next(), "each stream has data of its own");
    assert_eq!(names(&data), ["mine"]);
    assert_eq!(control_groups(&record.manifest.run_id), 0);
}

#[test]
fn a_job_that_runs_out_of_memory_is_marked_and_the_rest_completes() {
    let probe = host::RunGroups::make(&host::Root::default(), "probe-of-cli");
    let keeps = probe.keeps_memory();
    probe.remove().expect("an empty group");
    if !keeps {
        let _ = testbed::skipped(Err("the memory controller cannot be used".to_owned()));
        return;
    }
    let (desk, data) = Desk::with_data();
    let hungry = "[[test]]\nname = \"hungry\"\nkind = \"memory\"\nmemory = \"256MiB\"\nmemory_max = \"24MiB\"\n\
                  [[test.step]]\ndo = \"shuffle\"\noperations = 1e8\n\
                  [[test]]\nname = \"behind\"\nkind = \"memory\"\nafter = [\"hungry\"]\n\
                  [[test.step]]\ndo = \"simulation\"\noperations = 1e6\n";
    let finished = run(&desk.study(&study(&data, "", &format!("{MATTER}{hungry}")))).expect_code(5);
    assert_says(&finished.stderr, &["2 launches of jobs are not complete"]);
    let rows = launches(&desk);
    assert_eq!(outcomes(&rows, "hungry"), ["out-of-memory"], "{rows:?}");
    assert_eq!(outcomes(&rows, "behind"), ["skipped"]);
    assert!(outcomes(&rows, "extract").iter().chain(&outcomes(&rows, "total")).all(|one| one == "complete"));
    assert_eq!(names(&data), ["mine"]);
}

#[test]
fn one_that_takes_too_long_is_ended() {
    let (desk, data) = Desk::with_data();
    let _ = run(&desk.study(&study(&data, "launch_limit = \"1s\"\n", LONG))).expect_code(5);
    assert_eq!(outcomes(&launches(&desk), "long"), ["too-long"]);
}

#[test]
fn too_little_space_is_told_before_anything_starts() {
    if testbed::skipped(Testbed::available()) {
        return;
    }
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).build().expect("a file system");
    let place = device.mount_point().expect("mounted");
    let desk = Desk::new();
    let large = MATTER.replace("8MB", "2TB");
    let finished = run(&desk.study(&study(place, "", &large))).expect_code(4);
    assert_says(&finished.stderr, &["jobs need more space", "needs", "free", "lower the scale"]);
    assert_eq!(names(place), Vec::<String>::new());
}

/// A run with a single job that continues until it is killed.
fn endless(desk: &Desk, data: &Path) -> Running {
    let matter = format!("{MATTER}{LONG}");
    let mut running = desk.study(&study(data, "", &matter)).spawn().expect("it starts");
    wait_for(&mut running, "a launch in work space", || {
        data.join("jobs.0-0").join("work").join("launch.4").exists()
    });
    running
}

#[test]
fn ctrl_c_ends_all_jobs_and_leaves_nothing() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk, &data);
    let jobs = running.processes();
    running.signal(Signal::INT).expect("it lives");
    let finished = running.wait().expect("it ends").expect_code(130);
    assert_says(&finished.stderr, &["interrupted"]);
    assert!(!finished.stdout.contains("failed jobs"), "nothing has failed: {}", finished.stdout);
    assert_says(&finished.stdout, &["launches were interrupted in pass 0"]);
    assert!(jobs.iter().all(|job| job.name().is_empty() || !is_alive(job)), "no process is left");
    assert_eq!(names(&data), ["mine"]);
    assert!(outcomes(&launches(&desk), "long").iter().all(|one| one == "stopped"));
}

fn is_alive(job: &testbed::Process) -> bool {
    job.variable("PATH").is_some()
}

#[test]
fn after_a_killed_run_no_process_is_left_and_clean_removes_the_rest() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk, &data);
    let jobs = running.processes();
    assert!(!jobs.is_empty(), "there is a job");
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let run_id = Run::open(&desk.record()).expect("a record").manifest.run_id.clone();
    let cleaned = run(&desk.ioproof("clean data --yes")).expect_code(0);
    assert_says(&cleaned.stdout, &["was killed", "removed"]);
    assert!(jobs.iter().all(|job| !is_alive(job)), "no process is left");
    assert_eq!(names(&data), ["mine"]);
    assert_eq!(control_groups(&run_id), 0);
}

#[test]
fn leftovers_are_in_the_way_and_a_resumed_run_removes_its_own() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk, &data);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let other = study(&data, "", MATTER);
    fs::write(desk.path("other.toml"), other).expect("a study");
    let refused = run(&desk.ioproof("run other.toml --yes --out second")).expect_code(3);
    assert_says(&refused.stderr, &["jobs.0-0", "ioproof clean"]);
    let mut again = desk.ioproof("run --yes --resume record").spawn().expect("it starts");
    wait_for(&mut again, "the tables again", || crate::desk::events(&desk, "phase-finished") > 1);
    again.signal(Signal::INT).expect("it lives");
    let _ = again.wait().expect("it ends").expect_code(130);
    assert_eq!(names(&data), ["mine"]);
}
