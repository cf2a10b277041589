//! IO500 with its configuration file: results, records, files left behind, and resuming after an interruption; and
//! the find phase as a kind of work.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use testbed::{Launch, Program, Scratch, Strace, Testbed, skipped};

use crate::desk::{Desk, SmallDisk, assert_says, run, tree, wait_for};

/// Small enough to run in a second, and therefore invalid.
const CONFIG: &str = "\
[global]
datadir = data
resultdir = results
timestamp-datadir = FALSE
timestamp-resultdir = FALSE
[debug]
stonewall-time = 1
[ior-easy]
blockSize = 16m
[mdtest-easy]
n = 150
[mdworkbench]
precreatePerSet = 4
filesPerProc = 3
[ior-hard]
segmentCount = 100
[mdtest-hard]
n = 220
";

/// Phases of the standard mode, in order.
const PHASES: [&str; 14] = [
    "ior-easy-write",
    "mdtest-easy-write",
    "timestamp",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
    "ior-rnd4K-easy-read",
];

/// Runs wait for `sync(2)`, and therefore for everything else that was written on the host.
const PATIENT: Duration = Duration::from_secs(400);

fn desk() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("config.ini"), CONFIG).expect("written");
    desk
}

fn io500(desk: &Desk, words: &str) -> Program {
    desk.ioproof("io500").args(words.split_whitespace()).limit(PATIENT)
}

/// The value of a key in a section of the result file.
fn value(desk: &Desk, section: &str, key: &str) -> String {
    let text = fs::read_to_string(desk.path("results/result.txt")).expect("a result");
    let after =
        text.split(&format!("\n[{section}]\n")).nth(1).unwrap_or_else(|| panic!("no [{section}] in\n{text}"));
    let lines = after.lines().take_while(|line| !line.starts_with('['));
    let mut pairs = lines.filter_map(|line| line.split_once(" = "));
    let found = pairs.find(|(name, _)| name.trim() == key);
    found.unwrap_or_else(|| panic!("no {key} in [{section}] of\n{text}")).1.to_owned()
}

/// A run with every phase has its results and its record, and leaves no file behind.
fn assert_whole(desk: &Desk, phases: &[&str]) {
    let summary = fs::read_to_string(desk.path("results/result_summary.txt")).expect("a summary");
    let told: Vec<&str> = summary.lines().filter_map(|line| line.get(9..29)).map(str::trim).collect();
    for phase in phases {
        assert!(told.contains(phase), "{phase} in\n{summary}");
        if *phase != "timestamp" {
            let score: f64 = value(desk, phase, "score").parse().expect("a number");
            assert!(score > 0.0, "{phase}: {score}");
        }
    }
    assert!(!desk.path("data").exists(), "what the run has made is removed");
    let verified = run(&io500(desk, "config.ini --verify results/result.txt")).expect_code(8);
    assert_says(&verified.stdout, &["[OK] But this is an invalid run!"]);
    assert_eq!(desk.report().state(), "complete");
}

#[test]
fn a_run_has_the_results_of_all_phases_and_a_record_of_each() {
    let desk = desk();
    let ran = run(&io500(&desk, "config.ini --out record --mode=extended")).expect_code(0);
    assert_says(
        &ran.stdout,
        &[
            "IO500 version ioproof-",
            "(extended)",
            "[SCORE ] Bandwidth",
            "[SCOREX]",
            "a submission has to come from",
        ],
    );
    let extended =
        ["mdworkbench-create", "find-easy", "find-hard", "mdworkbench-bench", "mdworkbench-delete"];
    assert_whole(&desk, &[&PHASES[..], &extended[..]].concat());
    // Names that match *01* and have the size of mdtest-hard files: 101 and 201 out of 220, and none of the older,
    // empty files.
    assert_eq!(
        (value(&desk, "find", "found"), value(&desk, "find-hard", "total-files")),
        ("2".into(), "220".into())
    );
    assert_eq!(value(&desk, "find-easy", "found"), "1");
    // Four objects in each of ten sets.
    let all = 1 + 150 + 1 + 220 + 40;
    assert_eq!(value(&desk, "find", "total-files"), all.to_string());
    for name in
        ["ior-hard-read.txt", "mdtest-easy-stat.csv", "mdworkbench-bench.txt", "find.csv", "config.ini"]
    {
        assert!(desk.path("results").join(name).is_file(), "{name}");
    }
    assert_says(&desk.tables(), &["ior-hard-write", "mdtest-hard-stat", "names/s", "IO500"]);
    // The scores come first, with the reason why they are invalid, followed by every phase.
    let answer = run(&desk.ioproof("report --format text").arg(desk.record())).expect_code(0).stdout;
    let total = value(&desk, "SCORE", "SCORE");
    let digits: f64 = total.trim_end_matches(" [INVALID]").parse().expect("a number");
    assert_says(
        &answer,
        &["IO500 standard", "IO500 extended", "invalid by its rules in", "mdtest-hard-delete"],
    );
    let report = desk.report();
    let scores = &report.0["statements"]["benchmark_score"];
    assert_eq!(scores[0]["total"].as_f64(), Some(digits), "{scores}");
    assert_eq!((&scores[0]["valid"], &scores[1]["mode"]), (&false.into(), &"extended".into()), "{scores}");
}

#[test]
fn processes_of_a_launcher_do_the_phases_together() {
    for (available, launch) in
        [(Launch::open_mpi_available(), Launch::open_mpi(2)), (Launch::mpich_available(), Launch::mpich(2))]
    {
        if skipped(available) {
            continue;
        }
        let desk = desk();
        let _ = run(&launch.start(&io500(&desk, "config.ini --out record"))).expect_code(0);
        assert_whole(&desk, &PHASES);
        let text = fs::read_to_string(desk.path("results/result.txt")).expect("a result");
        assert!(text.starts_with("[run]\nprocs           = 2\n"), "{text}");
        // Each of the two tasks has files 101 and 201.
        assert_eq!(value(&desk, "find", "found"), "4");
        assert_eq!(value(&desk, "find", "total-files"), (2 + 300 + 1 + 440).to_string());
    }
}

#[test]
fn a_run_that_was_killed_or_interrupted_goes_on_with_the_phase_that_it_was_in() {
    for signal in [Signal::KILL, Signal::INT] {
        let (desk, memory) = (desk(), Scratch::in_memory().expect("a directory"));
        let data = memory.path().join("data");
        // Long enough to be interrupted during this phase.
        let config = CONFIG
            .replace("datadir = data", &format!("datadir = {}", data.display()))
            .replace("n = 220", "n = 100000000")
            .replace("stonewall-time = 1", "stonewall-time = 2");
        fs::write(desk.path("config.ini"), config).expect("written");
        let mut running = io500(&desk, "config.ini --out record").spawn().expect("it starts");
        let tree = data.join("mdtest-hard/test-dir.0-0");
        // No timeout, as in the program itself: `sync(2)` comes first.
        while !tree.exists() {
            assert!(!running.has_ended().expect("a state"), "it ended before the files of mdtest-hard");
            std::thread::sleep(Duration::from_millis(5));
        }
        running.signal(signal).expect("it lives");
        let ended = running.wait().expect("it ends");
        assert_says(&ended.stderr, &["record record; after an interruption, resume with --resume record"]);
        if signal == Signal::INT {
            assert_says(&ended.expect_code(130).stderr, &["interrupted", "--resume record"]);
        }
        let elsewhere = run(&io500(&desk, "config.ini --resume results")).expect_code(2);
        assert_says(&elsewhere.stderr, &["results has no interrupted run", "name the record"]);
        let anew = run(&io500(&desk, "config.ini --yes --out record")).expect_code(3);
        assert_says(&anew.stderr, &["record.phases has the phases of an interrupted run", "--resume record"]);
        let before = value(&desk, "ior-easy-write", "score");
        let named = if signal == Signal::INT { "record" } else { "record.phases" };
        let ran = run(&io500(&desk, &format!("config.ini --resume {named}"))).expect_code(0);
        assert!(!ran.stdout.contains("errors in this phase"), "{}", ran.stdout);
        assert_whole(&desk, &PHASES);
        assert!(!data.exists());
        assert_eq!(value(&desk, "ior-easy-write", "score"), before, "a phase that had ended is not repeated");
        let again = run(&io500(&desk, "config.ini --resume record")).expect_code(2);
        assert_says(&again.stderr, &["is complete"]);
    }
}

#[test]
fn files_of_others_and_results_of_earlier_runs_are_not_touched_unasked() {
    let desk = desk();
    fs::create_dir_all(desk.path("data/mdtest-easy")).expect("directories");
    fs::write(desk.path("data/mdtest-easy/mine"), "stays").expect("a file");
    let refused = run(&io500(&desk, "config.ini --out record")).expect_code(3);
    assert_says(&refused.stderr, &["data/mdtest-easy contains files", "--cleanup", "--yes"]);
    assert!(!desk.path("results").exists(), "nothing is made before the question");
    fs::remove_dir_all(desk.path("data")).expect("removed");
    fs::create_dir(desk.path("results")).expect("a directory");
    fs::write(desk.path("results/result.txt"), "of another run").expect("a file");
    let refused = run(&io500(&desk, "config.ini --out record")).expect_code(3);
    assert_says(&refused.stderr, &["results/result.txt exists", "--yes"]);
    let text = fs::read_to_string(desk.path("results/result.txt")).expect("a result");
    assert_eq!(text, "of another run");
    assert!(!desk.path("data").exists(), "a run that was refused leaves nothing");
    fs::write(desk.path("taken"), "").expect("a file");
    for (key, value) in [("datadir = data", "datadir = taken"), ("resultdir = results", "resultdir = taken")]
    {
        fs::write(desk.path("config.ini"), CONFIG.replace(key, value)).expect("written");
        let refused = run(&io500(&desk, "config.ini --out record --yes")).expect_code(7);
        assert_says(&refused.stderr, &["taken", "choose another place"]);
        assert!(!desk.path("data").exists() && !desk.path("record.phases").exists(), "nothing is left");
    }
}

#[test]
fn a_full_disk_ends_the_run_which_goes_on_when_there_is_room() {
    let desk = desk();
    if skipped(Testbed::available()) {
        return;
    }
    let disk = SmallDisk::mount(desk.path("disk"));
    fs::write(desk.path("config.ini"), CONFIG.replace("datadir = data", "datadir = disk/data"))
        .expect("written");
    let full = run(&io500(&desk, "config.ini --out record")).expect_code(5);
    assert_says(&full.stderr, &["ior-easy-write failed", "--resume record", "no space left on device"]);
    let told = fs::read_to_string(desk.path("results/result.txt")).expect("a result");
    assert!(!told.contains("[mdtest-easy-write]"), "what follows has no sense:\n{told}");
    let more = Program::new("mount").args(["-o", "remount,size=200m"]).arg(disk.path());
    let _ = run(&more).expect_code(0);
    let _ = run(&io500(&desk, "config.ini --out record --resume record")).expect_code(0);
    assert!(value(&desk, "ior-easy-write", "score").parse::<f64>().expect("a number") > 0.0);
    assert_eq!((desk.report().state(), disk.path().join("data").exists()), ("complete", false));
}

#[test]
fn what_a_killed_run_has_left_is_named_cleaned_up_or_gone_on_with() {
    for cleans in [false, true] {
        let desk = desk();
        let mut running = io500(&desk, "config.ini --out record").spawn().expect("it starts");
        wait_for(&mut running, "the third phase", || desk.path("record.phases/ior-hard-write").exists());
        running.signal(Signal::KILL).expect("it lives");
        let _ = running.wait().expect("it ends");
        for record in ["record", "record.phases"] {
            let told = run(&desk.ioproof("report").arg(record)).expect_code(7).stderr;
            assert_says(&told, &["--resume record", "ioproof clean"]);
        }
        let told = run(&desk.ioproof("clean data")).expect_code(0).stdout;
        assert_says(&told, &["was killed", "ior_file_easy", "kept"]);
        if cleans {
            let _ = run(&desk.ioproof("clean data --yes")).expect_code(0);
            assert!(!desk.path("data").exists(), "{:?}", tree(&desk.path("data")));
        } else {
            let _ = run(&io500(&desk, "config.ini --resume record")).expect_code(0);
            assert_eq!((desk.report().state(), desk.path("data").exists()), ("complete", false));
        }
    }
}

#[test]
fn a_run_killed_while_it_claims_a_directory_is_cleaned_up() {
    if skipped(Strace::available()) {
        return;
    }
    for claimed in ["data", "data/ior-easy", "data/mdtest-easy", "data/ior-hard", "data/mdtest-hard"] {
        let desk = desk();
        let strace = Strace::new().calls("renameat").only_path(desk.path(claimed));
        let killed = strace.inject("renameat", "signal=KILL").run(&io500(&desk, "config.ini --out record"));
        assert_eq!(killed.expect("a trace").finished.signal, Some(9), "{claimed}");
        let left = tree(&desk.path(claimed)).into_keys();
        let left: Vec<_> =
            left.filter(|path| path.extension().is_some_and(|end| end == "unfinished")).collect();
        assert_eq!(left.len(), 1, "{claimed}: {left:?}");
        fs::write(desk.path("data/mine"), "stays").expect("a file");
        let _ = run(&desk.ioproof("clean data --yes")).expect_code(0);
        let left: Vec<_> = tree(&desk.path("data")).into_keys().collect();
        assert_eq!(left, [desk.path("data/mine")], "{claimed}");
    }
}

#[test]
fn a_removal_that_was_interrupted_has_no_result_and_the_run_goes_on() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = desk();
    // The program names it like this when it removes it, after all files.
    let last = "data/mdtest-easy/test-dir.0-0";
    let strace = Strace::new().calls("unlinkat").only_path(last).inject("unlinkat", "signal=KILL");
    let killed = strace.run(&io500(&desk, "config.ini --out record")).expect("a trace").finished;
    assert_eq!(killed.signal, Some(9), "{}", killed.stderr);
    assert!(desk.path("record.phases/mdtest-easy-delete").exists());
    let resumed = run(&io500(&desk, "config.ini --resume record")).expect_code(0).stdout;
    assert_says(&resumed, &["ERROR INVALID it was interrupted after it had begun to remove files"]);
    let again = run(&io500(&desk, "config.ini --resume record")).expect_code(2).stderr;
    assert_says(&again, &["is complete"]);
    assert_eq!((desk.report().state(), desk.path("data").exists()), ("complete", false));
}

#[test]
fn a_run_killed_while_it_removes_its_directories_is_cleaned_up() {
    if skipped(Strace::available()) {
        return;
    }
    let desk = desk();
    let strace = Strace::new().calls("rmdir").inject("rmdir", "signal=KILL");
    let killed = strace.run(&io500(&desk, "config.ini --out record")).expect("a trace");
    assert_eq!(killed.finished.signal, Some(9));
    assert!(desk.path("data/ior-easy").exists(), "{:?}", killed.calls);
    let _ = run(&desk.ioproof("clean data --yes")).expect_code(0);
    assert!(tree(&desk.path("data")).is_empty(), "{:?}", tree(&desk.path("data")));
}

#[test]
fn what_cannot_be_is_told_before_anything_is_made() {
    let desk = desk();
    for (more, told) in [
        ("[ior-hard]\napi = HDF5\n", "HDF5"),
        ("[find]\nexternal-script = ./own.sh\n", "commands from a configuration file are not run"),
        ("[ior-easy]\ntransferSize = 3m\n", "-t"),
        ("[ior-easy]\nblocksize = 2x\n", "2x"),
    ] {
        fs::write(desk.path("config.ini"), format!("{CONFIG}{more}")).expect("written");
        let refused = run(&io500(&desk, "config.ini --out record")).expect_code(2);
        assert_says(&refused.stderr, &[told]);
    }
    fs::write(desk.path("config.ini"), CONFIG).expect("written");
    let explained = run(&io500(&desk, "config.ini --explain")).expect_code(0);
    assert_says(&explained.stdout, &["./mdtest --dataPacketType=timestamp -n 220", "nothing was written"]);
    let there = |name: &str| desk.path(name).exists();
    assert!(!there("data") && !there("results") && !there("record") && !there("record.phases"));
}

#[test]
fn a_dry_run_and_a_clean_up_do_what_they_say() {
    let desk = desk();
    let ran = run(&io500(&desk, "config.ini --dry-run --out record")).expect_code(0);
    assert_says(&ran.stdout, &["DRY RUN MODE ACTIVATED", "[SCORE ]"]);
    assert!(!desk.path("data").exists() && !desk.path("record").exists());
    let files = |name: &str| fs::read_dir(desk.path(name)).map_or(0, Iterator::count);
    let line = "mdtest -n 220 -w 3901 -F -C -N 1 -d data/mdtest-hard --out made";
    fs::create_dir_all(desk.path("data/mdtest-hard")).expect("directories");
    let _ = run(&desk.ioproof(line)).expect_code(0);
    assert!(files("data/mdtest-hard") > 0);
    let ran = run(&io500(&desk, "config.ini --cleanup --yes --out record")).expect_code(0);
    assert_says(&ran.stdout, &["mdtest-hard-delete"]);
    assert!(!desk.path("data/mdtest-hard").exists(), "{}", ran.stdout);
}

/// A tree with files of two sizes, created before and after a time stamp.
fn plant(directory: &Path) -> u64 {
    let mut all = 0;
    for (round, name) in ["old", "new"].into_iter().enumerate() {
        for depth in 0..4 {
            let mut path = directory.join(name);
            (0..depth).for_each(|level| path.push(format!("d{level}")));
            fs::create_dir_all(&path).expect("directories");
            for file in 0..30 {
                let bytes = if file % 3 == 0 { 100 } else { 7 };
                fs::write(path.join(format!("file{file:03}")), vec![0; bytes]).expect("a file");
                all += 1;
            }
        }
        if round == 0 {
            fs::write(directory.join("mark"), "").expect("a file");
            all += 1;
            std::thread::sleep(Duration::from_millis(30));
        }
    }
    std::os::unix::fs::symlink("old", directory.join("link01")).expect("a link");
    all + 1
}

#[test]
fn a_search_counts_every_name_once_however_many_tasks_there_are() {
    let desk = Desk::new();
    let here = desk.path("here");
    fs::create_dir(&here).expect("a directory");
    let all = plant(&here);
    let study = |tasks: u32| {
        format!(
            "[[target]]\nname = \"here\"\ndirectory = \"{0}\"\n[[workload]]\nname = \"find\"\n\
             work = \"find\"\ntasks = {tasks}\nmatching = \"*01*\"\nfind_bytes = 100\nnewer_than = \"{0}/mark\"\n",
            here.display()
        )
    };
    for tasks in [1, 3, 40] {
        let _ = fs::remove_dir_all(desk.record());
        let _ = run(&desk.study(&study(tasks))).expect_code(0);
        let report = desk.report();
        let number = |key: &str| report.figure("find")[key].as_u64();
        // Of the names that match *01*, file012, file015 and file018 have 100 bytes; four directories are newer than
        // the time stamp.
        assert_eq!((number("names_searched"), number("names_found")), (Some(all), Some(12)), "{tasks} tasks");
    }
    let find = Program::new("find").args([&*here.display().to_string(), "-newer"]);
    let find = find.arg(here.join("mark")).args(["-size", "100c", "-name", "*01*"]);
    assert_eq!(run(&find).expect_code(0).stdout.lines().count(), 12, "find(1) says the same");
    for (wrong, told) in [("matching = \"a?\"", "matching"), ("newer_than = \"none\"", "none")] {
        let key = wrong.split(' ').next().expect("a key");
        let text: String =
            study(1).lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect();
        let _ = fs::remove_dir_all(desk.record());
        let ran = run(&desk.study(&format!("{text}{wrong}\n")));
        assert_ne!(ran.code, Some(0));
        assert_says(&format!("{}{}", ran.stderr, ran.stdout), &[told]);
    }
}

#[test]
fn published_results_are_imported_with_their_scores_and_what_contradicts_them() {
    let desk = desk();
    let printed = include_str!("../../../crates/dialect/tests/dialect/io500/run_result.txt");
    let (before, after) = printed.split_once("\n[ior-easy-read]").expect("the phase");
    let (head, rest) = after.split_once("score           = ").expect("its result");
    let doctored = format!("{before}\n[ior-easy-read]{head}score           = 9{rest}");
    for (name, text, agreement) in [("theirs", printed, "agrees"), ("doctored", &doctored, "differs")] {
        fs::write(desk.path("result.txt"), text).expect("written");
        let shown = run(&desk.ioproof("import result.txt --out").arg(desk.path(name))).expect_code(0).stdout;
        assert_says(&shown, &["IO500 standard", "IO500 extended", "invalid by its rules"]);
        let json = run(&desk.ioproof("report --format json").arg(desk.path(name))).expect_code(0).stdout;
        let report: Value = serde_json::from_str(&json).expect("a report");
        let checks = report["statements"]["printed_check"].as_array().expect("a list").iter();
        let mut bandwidths =
            checks.filter(|one| one["evidence"].as_str().is_some_and(|text| text.contains("bandwidth")));
        assert!(
            bandwidths.all(|one| one["agreement"] == agreement),
            "{name}: {}",
            report["statements"]["printed_check"]
        );
    }
}

/// The phases of the benchmark print their errors into files of their own, beside the results.
#[test]
fn errors_that_a_phase_of_published_results_printed_stay_with_it() {
    let desk = desk();
    let printed = include_str!("../../../crates/dialect/tests/dialect/io500/run_result.txt");
    fs::create_dir(desk.path("theirs")).expect("a directory");
    fs::write(desk.path("theirs/result.txt"), printed).expect("written");
    let failed = "ior WARNING: fsync() failed, errno 9, Bad file descriptor\n".repeat(480);
    fs::write(desk.path("theirs/ior_easy_write.txt"), failed).expect("written");
    let _ = run(&desk.ioproof("import theirs --out record")).expect_code(0);
    let json = run(&desk.ioproof("check --json record")).stdout;
    let told = "the tool itself reports a failed fsync 480 times";
    assert_eq!(json.matches(told).count(), 1, "{json}");
}
