//! Runs that end early: Ctrl-C, `kill -9`, and what the next start finds.

use std::fs;

use rustix::process::Signal;
use testbed::{Finished, Program, Running};

use crate::desk::{Desk, SmallDisk, assert_says, events, names, run, tree, wait_for};

/// Writes a small amount, then reads until it is killed.
fn endless(desk: &Desk) -> Running {
    let study = "[[target]]\nname = \"data\"\ndirectory = \"data\"\n\
                 [[workload]]\nname = \"short\"\nphases = [\"write\"]\n\
                 transfer = \"64k\"\nsize = \"1m\"\nfsync = \"close\"\n\
                 [[workload]]\nname = \"long\"\nphases = [\"read\"]\n\
                 transfer = \"4k\"\nsize = \"1m\"\nduration = \"80s\"\n";
    let mut running = desk.study(study).spawn().expect("it starts");
    // The second case has begun once the first one is over.
    wait_for(&mut running, "the second phase", || events(desk, "case-started") == 2);
    running
}

#[test]
fn ctrl_c_ends_a_run_in_order() {
    for signal in [Signal::INT, Signal::TERM] {
        let (desk, data) = Desk::with_data();
        let running = endless(&desk);
        running.signal(signal).expect("it lives");
        let finished = running.wait().expect("it ends").expect_code(130);
        assert_says(&finished.stderr, &["interrupted", "record"]);
        assert_eq!(names(&data), ["mine"], "files and claim are gone, the user's file is not");
        let report = desk.report();
        assert_eq!(report.state(), "interrupted");
        assert!(report.rate("write") > 0.0, "the finished phase is in the record");
    }
}

/// The probe before the run installs signal handlers as well.
#[test]
fn ctrl_c_ends_a_run_in_order_after_its_probe() {
    let (desk, data) = Desk::with_data();
    let study = "[[target]]\nname = \"t\"\ndirectory = \"data\"\n[[workload]]\nname = \"w\"\nphases = [\"write\"]\n\
                 transfer = \"64k\"\nsize = \"1m\"\nduration = \"80s\"\ndirect = true\n";
    let mut running = desk.study(study).arg("--probe").spawn().expect("it starts");
    wait_for(&mut running, "the case", || events(&desk, "case-started") == 1);
    running.signal(Signal::INT).expect("it lives");
    let finished = running.wait().expect("it ends").expect_code(130);
    assert_says(&finished.stderr, &["interrupted", "record"]);
    assert_eq!(names(&data), ["mine"], "files and claim are gone, the user's file is not");
}

/// A summary of a partial run could be mistaken for that of a whole run. IOR itself dies without printing anything.
#[test]
fn ctrl_c_ends_a_tool_without_a_summary() {
    let ends = |name: &str, line: &str, row: &str| {
        let (desk, data) = Desk::with_data();
        let place = data.join("f").display().to_string();
        let mut running = desk.tool(name, &line.replace("PLACE", &place)).spawn().expect("it starts");
        wait_for(&mut running, "a repetition", || events(&desk, "phase-finished") > 2);
        running.signal(Signal::INT).expect("it lives");
        let finished = running.wait().expect("it ends").expect_code(130);
        assert_says(&finished.stdout, &[row]);
        let record = desk.record().display().to_string();
        assert_says(&finished.stderr, &["interrupted: the finished phases are in the record", &record]);
        assert_eq!(names(&data), ["mine"]);
        assert_eq!(desk.report().state(), "interrupted");
        finished.stdout
    };
    let ior = "-w -r -z -i 100000 -t 4k -b 64k -N 4 -o PLACE";
    let without = ends("ior", ior, "write");
    assert!(!without.contains("Summary of all tests"), "{without}");
    let always = ends("ior", &format!("{ior} -O summaryAlways=1"), "write");
    assert_says(&always, &["Summary of all tests"]);
    let mdtest = ends("mdtest", "-n 2000 -i 1000 -F -d PLACE", "-- started at");
    assert!(!mdtest.contains("SUMMARY rate") && !mdtest.contains("finished at"), "{mdtest}");
}

#[test]
fn a_killed_run_keeps_its_finished_phases_and_is_cleaned_up_on_request() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk);
    running.signal(Signal::KILL).expect("it lives");
    let finished = running.wait().expect("it ends");
    assert_eq!(finished.signal, Some(9));

    let text = desk.tables();
    assert_says(&text, &["killed", "1 of 2 cases finished", "64 KiB sequential write"]);
    let report = desk.report();
    assert_eq!(report.state(), "killed");
    assert_eq!(report.0["figures"].as_array().map(Vec::len), Some(1));

    let left = tree(&data);
    assert_eq!(left.len(), 3, "the user's file, the data and the claim: {left:?}");
    next_start_tells(&desk);
    assert_eq!(tree(&data), left, "telling removes nothing");

    let asked = run(&desk.ioproof("clean data")).expect_code(0).stdout;
    assert_says(&asked, &["was killed", "ioproof-data.data", "kept", "--yes"]);
    assert_eq!(tree(&data), left, "nobody agreed");
    let removed = run(&desk.ioproof("clean data --yes")).expect_code(0).stdout;
    assert_says(&removed, &["ioproof-data.data", "removed"]);
    assert_eq!(names(&data), ["mine"]);
    assert_says(&run(&desk.ioproof("clean data --yes")).expect_code(0).stdout, &["nothing to clean"]);
}

/// The claim of a killed run does not cover a file that was created later.
#[test]
fn a_file_in_the_place_of_one_that_a_killed_run_made_is_the_users() {
    let (desk, data) = Desk::with_data();
    let file = data.join("f");
    let line = format!("-w -i 100000 -t 4k -b 64k -o {}", file.display());
    let mut running = desk.ior(&line).spawn().expect("it starts");
    wait_for(&mut running, "the file", || file.exists());
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    fs::remove_file(&file).expect("removed");
    fs::write(&file, "thesis").expect("a file");
    let again = desk.ioproof(&format!("ior -w -t 4k -b 64k -o {} --out again", file.display()));
    assert_says(&run(&again).expect_code(3).stderr, &["--yes"]);
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "thesis");
}

/// When a mount is lost, its path leads to the directory below it, on another device.
#[test]
fn a_target_that_is_unmounted_in_the_middle_is_not_measured_as_what_it_was() {
    if testbed::skipped(testbed::Testbed::available()) {
        return;
    }
    let desk = Desk::new();
    let disk = SmallDisk::mount(desk.path("small"));
    let line = format!("-w -i 100000 -t 4k -b 64k -o {}", disk.path().join("f").display());
    let mut running = desk.ior(&line).spawn().expect("it starts");
    wait_for(&mut running, "two passes", || crate::desk::events(&desk, "phase-finished") > 1);
    let _ = run(&testbed::Program::new("umount").arg("-l").arg(disk.path())).expect_code(0);
    let ended = running.wait().expect("it ends").expect_code(5);
    assert_says(&ended.stderr, &["small", "on a different file system"]);
    assert_eq!(names(disk.path()), [""; 0], "nothing is left below the mount");
}

/// Both ways to start a run report what was left in a directory.
fn next_start_tells(desk: &Desk) {
    let words = ["was killed", "1 file", "ioproof clean"];
    let line = "ior -w -t 4k -b 4k -o data/other --out second";
    let by_ior = run(&desk.ioproof(line)).expect_code(0).stderr;
    assert_says(&by_ior, &words[..2]);
    let study = "[[target]]\nname = \"x\"\npath = \"data/other\"\n\
                 [[workload]]\nname = \"w\"\nphases = [\"write\"]\ntransfer = \"4k\"\nsize = \"4k\"\n";
    fs::write(desk.path("other.toml"), study).expect("a study");
    let by_run = run(&desk.ioproof("run other.toml --yes --out third")).expect_code(0).stdout;
    assert_says(&by_run, &words);
}

#[test]
fn files_that_were_there_before_a_killed_run_stay() {
    let (desk, data) = Desk::with_data();
    fs::write(data.join("f.00000000"), vec![1; 4096]).expect("a file");
    let line = format!("--yes -w -r -E -F -N 2 -i 100000 -t 4k -b 4k -o {}", data.join("f").display());
    let mut running = desk.ior(&line).spawn().expect("it starts");
    wait_for(&mut running, "a repetition", || events(&desk, "phase-finished") > 2);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let removed = run(&desk.ioproof("clean data --yes")).expect_code(0).stdout;
    assert!(removed.contains("f.00000001") && !removed.contains("f.00000000"), "{removed}");
    assert_eq!(names(&data), ["f.00000000", "mine"]);
}

#[test]
fn files_of_a_run_that_goes_on_are_left_alone() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk);
    let left = tree(&data);
    let refused = run(&desk.ioproof("clean data --yes")).expect_code(3).stdout;
    assert_says(&refused, &["is running", "its files are kept"]);
    assert_eq!(tree(&data), left);
    for line in ["ior -w -t 4k -b 4k", "ior -r -t 4k -b 4k"] {
        let line = format!("{line} -o data/ioproof-data.data --out second");
        let refused = run(&desk.ioproof(&line)).expect_code(3).stderr;
        assert_says(&refused, &["ioproof-data.data", "in use by run", "wait until"]);
    }
    assert_eq!(tree(&data), left, "a second run does not touch the files of the first");
    let _ = run(&desk.ioproof("ior -w -t 4k -b 4k -o data/other --out second")).expect_code(0);
    running.signal(Signal::INT).expect("it lives");
    let _ = running.wait().expect("it ends").expect_code(130);
    assert_eq!(names(&data), ["mine"]);
}

/// Two programs that start at the same time.
fn together(programs: [Program; 2]) -> [Finished; 2] {
    let running = programs.map(|program| program.spawn().expect("it starts"));
    running.map(|running| running.wait().expect("it ends"))
}

#[test]
fn of_two_runs_that_start_together_on_one_file_one_goes_on() {
    let study = "[[target]]\nname = \"x\"\npath = \"data/f\"\n\
                 [[workload]]\nname = \"w\"\nphases = [\"write\", \"read\"]\ntransfer = \"4k\"\n\
                 size = \"256k\"\nrepetitions = 20\nkeep = \"always\"\n";
    let ior = "ior --yes -w -r -i 20 -t 4k -b 256k -o data/f";
    let lines =
        [ior, &format!("{ior} -k"), "iozone --yes -w -i 0 -s 1m -r 4k -f data/f", "run study.toml --yes"];
    for line in lines.iter().flat_map(|line| [line; 5]) {
        let (desk, data) = Desk::with_data();
        fs::write(desk.path("study.toml"), study).expect("a study");
        let both = together(["one", "other"].map(|record| desk.ioproof(&format!("{line} --out {record}"))));
        let ended: Vec<_> = both.iter().map(|finished| finished.code).collect();
        // The second program may have started after the first one ended.
        assert!(ended.contains(&Some(0)), "{line}: {both:#?}");
        assert!(ended.iter().all(|code| [Some(0), Some(3)].contains(code)), "{line}: {both:#?}");
        for (refused, record) in both.iter().zip(["one", "other"]) {
            if refused.code == Some(3) {
                assert_says(&refused.stderr, &["in use by run"]);
                assert!(!desk.path(record).exists(), "{line}: nothing was measured");
            }
        }
        let kept: &[&str] = if *line == ior { &["mine"] } else { &["f", "mine"] };
        assert_eq!(names(&data), kept, "{line}: no claim stays");
    }
}

#[test]
fn of_two_runs_that_start_together_with_one_record_one_goes_on() {
    for _ in 0..8 {
        let (desk, data) = Desk::with_data();
        let line = |file| desk.ior(&format!("-w -t 4k -b 64k -o data/{file}"));
        let both = together([line("f"), line("g")]);
        let mut ended: Vec<_> = both.iter().map(|finished| finished.code).collect();
        ended.sort_unstable();
        assert_eq!(ended, [Some(0), Some(7)], "{both:#?}");
        assert_eq!(desk.report().state(), "complete");
        assert_eq!(names(&data), ["mine"]);
    }
}

#[test]
fn files_that_are_kept_belong_to_their_run_until_it_ends() {
    let begin = |desk: &Desk| {
        let mut running = desk.ior("-w -r -k -i 100000 -t 4k -b 64k -o data/f").spawn().expect("it starts");
        wait_for(&mut running, "a repetition", || events(desk, "phase-finished") > 2);
        running
    };
    let (desk, data) = Desk::with_data();
    let second = |out: &str| desk.ioproof(&format!("ior --yes -w -k -t 4k -b 64k -o data/f --out {out}"));
    let running = begin(&desk);
    assert_says(&run(&second("second")).expect_code(3).stderr, &["data/f", "in use by run", "wait until"]);
    let refused = run(&desk.ioproof("clean data --yes")).expect_code(3).stdout;
    assert_says(&refused, &["is running", "its files are kept"]);
    running.signal(Signal::INT).expect("it lives");
    let _ = running.wait().expect("it ends").expect_code(130);
    // A pass that is about to write has removed the file of the previous pass, as IOR does.
    let left = names(&data);
    assert!(left == ["f", "mine"] || left == ["mine"], "the claim is gone: {left:?}");

    let (desk, data) = Desk::with_data();
    let second = |out: &str| desk.ioproof(&format!("ior --yes -w -k -t 4k -b 64k -o data/f --out {out}"));
    let running = begin(&desk);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let _ = run(&second("second")).expect_code(0);
    let said = run(&desk.ioproof("clean data --yes")).expect_code(0).stdout;
    assert_says(
        &said,
        &[
            "was killed and has 1 file to keep",
            "/data/f",
            "kept, as the run was told to",
            "its claim is removed",
        ],
    );
    assert_eq!(names(&data), ["f", "mine"]);
    assert_says(&run(&desk.ioproof("clean data")).expect_code(0).stdout, &["nothing to clean"]);
}

/// In the original defect, the first claim was dropped once its file was in use, and the second run took the file for
/// the user's.
#[test]
fn what_several_killed_runs_made_under_one_name_is_found_whatever_was_cleaned_between() {
    let kill = |running: Running| {
        running.signal(Signal::KILL).expect("it lives");
        let _ = running.wait().expect("it ends");
    };
    for (existing, between) in [("replace", false), ("replace", true), ("reuse", false), ("reuse", true)] {
        let (desk, data) = Desk::with_data();
        // Written once, then read until the run is killed.
        let keys = format!("transfer = \"64k\"\nsize = \"4m\"\nexisting = \"{existing}\"\n");
        let study = format!(
            "[[target]]\nname = \"data\"\npath = \"data/f\"\n\
             [[workload]]\nname = \"short\"\nphases = [\"write\"]\n{keys}\
             [[workload]]\nname = \"long\"\nphases = [\"read\"]\nduration = \"80s\"\n{keys}"
        );
        fs::write(desk.path("study.toml"), study).expect("a study");
        let begin = |record: &str| {
            let line = format!("run study.toml --yes --out {record}");
            let mut running = desk.ioproof(&line).spawn().expect("it starts");
            let journal = desk.path(record).join("journal.jsonl");
            let text = || fs::read_to_string(&journal).unwrap_or_default();
            wait_for(&mut running, "the reads", || text().matches("case-started").count() == 2);
            running
        };
        kill(begin("one"));
        let second = begin("two");
        if between {
            let said = run(&desk.ioproof("clean data --yes")).expect_code(3).stdout;
            assert_says(&said, &["is running"]);
        }
        kill(second);
        let said = run(&desk.ioproof("clean data")).expect_code(0).stdout;
        assert_eq!(said.matches("1 file (4 MiB").count(), 1, "{existing} {between}: {said}");
        let _ = run(&desk.ioproof("clean data --yes")).expect_code(0);
        assert_eq!(names(&data), ["mine"], "{existing} {between}");
    }
}

#[test]
fn a_claim_stays_while_something_of_its_run_does() {
    let (desk, data) = Desk::with_data();
    let mut running = desk.tool("mdtest", "-n 2000 -i 1000 -F -d data").spawn().expect("it starts");
    wait_for(&mut running, "a phase", || events(&desk, "phase-finished") > 0);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let tree = data.join("test-dir.0-0");
    fs::create_dir_all(&tree).expect("a tree");
    fs::write(tree.join("notes.txt"), "of somebody").expect("a file");
    let said = run(&desk.ioproof("clean data --yes")).expect_code(3).stdout;
    assert_says(
        &said,
        &[
            "notes.txt is kept: the run did not create it",
            "test-dir.0-0 is kept: it contains something",
            "the claim",
        ],
    );
    assert!(names(&data).iter().any(|name| name.starts_with(".ioproof-claim-")));
    fs::remove_file(tree.join("notes.txt")).expect("moved away");
    assert_says(&run(&desk.ioproof("clean data --yes")).expect_code(0).stdout, &["removed"]);
    assert_eq!(names(&data), ["mine"]);
}

#[test]
fn a_claim_that_cannot_be_read_is_named_and_is_no_success() {
    let (desk, data) = Desk::with_data();
    let claim = data.join(".ioproof-claim-run@node.json");
    fs::write(&claim, "{\"run_id\": \"run\", \"fil").expect("a claim that was cut");
    for words in ["clean data", "clean data --yes", "clean ."] {
        let told = run(&desk.ioproof(words)).expect_code(3).stdout;
        assert_says(&told, &[".ioproof-claim-run@node.json", "cannot be read", "look for its files"]);
        assert!(!told.contains("nothing to clean"), "{told}");
    }
    assert_eq!(names(&data).len(), 2, "nothing is removed");
}

#[test]
fn what_a_killed_run_has_left_is_found_from_a_directory_above() {
    let (desk, data) = Desk::with_data();
    let running = endless(&desk);
    running.signal(Signal::KILL).expect("it lives");
    let _ = running.wait().expect("it ends");
    let removed = run(&desk.ioproof("clean . --yes")).expect_code(0).stdout;
    assert_says(&removed, &["ioproof-data.data", "removed"]);
    assert_eq!(names(&data), ["mine"]);
}
