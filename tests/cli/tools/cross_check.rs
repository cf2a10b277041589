//! `ioproof cross-check DIR`: the same cases run by ioproof and by fio, alternating, in one record.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use testbed::{
    Effect, Fault, FileSystem, Finished, Limits, LoopDevice, Program, Programme, ProgrammedFs, Strace,
    Testbed, When, skipped,
};

use crate::desk::{
    Desk, assert_near, assert_says, at_terminal, events, fio, measured, names, run, tree, wait_for,
};

/// Passes too short for a rate, used where the results do not matter.
const SHORT: &str = "--size 16MiB --time 200ms --case rand-read-d1";

/// `cross-check` on `directory` with these options, recorded on the desk.
fn cross_check(desk: &Desk, directory: &Path, options: &str) -> Program {
    let program = desk.ioproof("cross-check").arg(directory);
    program.args(options.split_whitespace()).arg("--out").arg(desk.record())
}

/// `program` with this script in place of fio on its path; `REAL` in the script is the real fio of this machine.
fn with_fio(desk: &Desk, program: Program, script: &str) -> Program {
    let bin = desk.path("bin");
    fs::create_dir_all(&bin).expect("a directory");
    let own = std::env::var("PATH").expect("a path");
    let real = own.split(':').map(|directory| Path::new(directory).join("fio")).find(|fio| fio.is_file());
    let real = real.unwrap_or_else(|| "/no/fio".into()).display().to_string();
    let place = bin.join("fio");
    fs::write(&place, format!("#!/bin/sh\n{}\n", script.replace("REAL", &real))).expect("a script");
    fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).expect("a script that runs");
    program.env("PATH", format!("{}:{own}", bin.display()))
}

/// The statements about the cases.
fn checks(desk: &Desk) -> Vec<Value> {
    desk.report().0["statements"]["cross_check"].as_array().expect("a list").clone()
}

fn interval(check: &Value) -> (f64, f64) {
    let end = |place: usize| check["ratio_interval"][place].as_f64().expect("a number");
    (end(0), end(1))
}

/// A device of known rate, with a user's file on it.
fn throttled() -> (LoopDevice, PathBuf) {
    let limits = Limits { reads: Some(2000), ..Limits::bandwidth(40_000_000) };
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).limits(limits).build().expect("a device");
    let directory = device.mount_point().expect("mounted").to_owned();
    fs::write(directory.join("mine"), "stays").expect("a file");
    (device, directory)
}

#[test]
fn measured_both_tools_find_the_rate_of_the_device_and_no_difference_is_made_of_it() {
    if skipped(Testbed::available()) || skipped(fio()) {
        return;
    }
    measured(|times| {
        let (_device, directory) = throttled();
        let desk = Desk::new();
        let before = tree(&directory);
        let options = format!("--size 64MiB --time {}ms --case rand-read-d32", 2100 * times);
        let finished = run(&cross_check(&desk, &directory, &options)).expect_code(0);
        assert_eq!(tree(&directory), before, "the data file and the claim are gone, the user's file is not");
        assert_says(&finished.stdout, &["ioproof and fio 3", "rand-read-d32", "IOPS", "record", "report"]);
        assert!(finished.stdout.lines().count() <= 15, "{}", finished.stdout);

        let all = checks(&desk);
        assert_eq!(all.len(), 1);
        let (low, high) = interval(&all[0]);
        assert!(low <= 1.0 && 1.0 <= high, "{:#}", all[0]);
        assert_eq!((&all[0]["pairs"], &all[0]["change"]), (&6.into(), &Value::Null));
        for key in ["operations_per_second", "other_operations_per_second"] {
            assert_near(key, all[0][key].as_f64().expect("a number"), 2000.0, 0.1);
        }
    });
}

#[test]
fn measured_a_difference_that_is_there_is_stated() {
    if skipped(Testbed::available()) || skipped(fio()) {
        return;
    }
    measured(|times| {
        let (_device, directory) = throttled();
        let desk = Desk::new();
        let options = format!("--size 64MiB --time {}ms --case rand-read-d1", 2100 * times);
        // Far below what the other tool reaches even on a busy machine.
        let slower = "case \"$*\" in *--name=*) exec REAL --rate_iops=200 \"$@\";; esac; exec REAL \"$@\"";
        let program = with_fio(&desk, cross_check(&desk, &directory, &options), slower);
        let finished = run(&program).expect_code(0);
        assert_says(&finished.stdout, &["differs: ioproof", "% higher"]);
        let all = checks(&desk);
        let (low, _) = interval(&all[0]);
        assert!(low > 1.5, "{:#}", all[0]);
        assert_near("fio", all[0]["other_operations_per_second"].as_f64().expect("a number"), 200.0, 0.05);
        assert!(all[0]["change"].as_f64().expect("stated") > 1.5, "{:#}", all[0]);
    });
}

#[test]
fn both_are_in_one_record_where_none_passes_for_the_other_and_short_passes_state_nothing() {
    if skipped(fio()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let before = tree(&data);
    let finished = run(&cross_check(&desk, &data, SHORT)).expect_code(0);
    assert_says(&finished.stdout, &["withheld: ", "too short"]);
    assert_eq!(tree(&data), before);

    let report = desk.report().0;
    assert_eq!(report["run"]["state"], "complete");
    let figures = report["figures"].as_array().expect("figures");
    let of = |figure: &Value| (figure["case"].clone(), figure["provenance"].clone());
    let found: Vec<_> = figures.iter().map(of).collect();
    let expected = [("rand-read-d1", "measured"), ("rand-read-d1-fio", "imported")];
    assert_eq!(found, expected.map(|(case, from)| (case.into(), from.into())));
    assert_says(figures[1]["conditions"].as_str().expect("words"), &["4 KiB random", "fio psync"]);
    assert!(figures.iter().all(|figure| figure["repetitions"].as_array().is_some_and(|all| all.len() == 6)));
    let check = &report["statements"]["cross_check"][0];
    assert_eq!(check["outcome"], "withheld");
    assert_eq!((&check["difference"], &check["ratio"]), (&Value::Null, &Value::Null));
    assert_says(check["command_line"].as_str().expect("it is told"), &["--rw=randread", "--size=16777216"]);
    // The report makes no other statement about both tools together.
    for kind in ["best", "iops", "consistency"] {
        assert_eq!(report["statements"][kind].as_array().map_or(0, Vec::len), 0, "{kind}");
    }
    // The tools alternate in the order ours, theirs, theirs, ours, and so on.
    let starts = |place: usize| -> Vec<i64> {
        let all = figures[place]["repetitions"].as_array().expect("a list").iter();
        all.map(|one| one["started_unix_ns"].as_i64().expect("a moment")).collect()
    };
    let ours_first: Vec<bool> = starts(0).iter().zip(starts(1)).map(|(own, other)| *own < other).collect();
    assert_eq!(ours_first, [true, false, true, false, true, false]);

    let text = desk.tables();
    assert_says(&text, &["Beside another tool", "--name=rand-read-d1", "imported"]);
}

#[test]
fn ctrl_c_ends_fio_too_and_keeps_what_was_measured() {
    if skipped(fio()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let before = tree(&data);
    let program = cross_check(&desk, &data, "--size 16MiB --time 10s --case rand-read-d1");
    // The script writes its process ID when it begins to measure, and then becomes fio.
    let log = desk.path("log");
    let script = format!("case \"$*\" in *--name=*) echo $$ >'{}';; esac; exec REAL \"$@\"", log.display());
    let mut running = with_fio(&desk, program, &script).spawn().expect("it starts");
    wait_for(&mut running, "fio", || fs::read_to_string(&log).is_ok_and(|text| text.ends_with('\n')));
    let process = fs::read_to_string(&log).expect("its number").trim().to_owned();
    running.signal(Signal::INT).expect("it runs");
    let ended = running.wait().expect("it ends").expect_code(130);
    assert_says(&ended.stderr, &["interrupted"]);
    assert!(!Path::new("/proc").join(process).exists(), "fio goes on");
    assert_eq!(tree(&data), before);
    let report = desk.report();
    assert_eq!(report.state(), "interrupted");
    assert_eq!(events(&desk, "phase-finished"), 2, "the fill and our first pass");
    // A record is not consent to run the program that it names.
    let refused = run(&desk.ioproof("run --yes --resume").arg(desk.record())).expect_code(2);
    assert_says(&refused.stderr, &["a cross-check cannot be resumed"]);
}

#[test]
fn fio_ends_with_an_ioproof_that_is_killed() {
    if skipped(fio()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let log = desk.path("log");
    let script = format!(
        "case \"$*\" in *--name=*) echo $$ >'{}'; exec sleep 600;; esac; exec REAL \"$@\"",
        log.display()
    );
    let mut running = with_fio(&desk, cross_check(&desk, &data, SHORT), &script).spawn().expect("it starts");
    wait_for(&mut running, "fio", || fs::read_to_string(&log).is_ok_and(|text| text.ends_with('\n')));
    let process = fs::read_to_string(&log).expect("its number").trim().to_owned();
    running.signal(Signal::KILL).expect("it runs");
    let _ = running.wait().expect("it ends");
    let stat = Path::new("/proc").join(&process).join("stat");
    let goes_on = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    let ended = (0..500).any(|_| {
        sleep(Duration::from_millis(10));
        !goes_on()
    });
    let _ = Program::new("kill").arg(&process).run();
    assert!(ended, "process {process} goes on");
}

#[test]
fn what_a_fio_leaves_running_is_not_waited_for_and_who_takes_its_processors_is_told() {
    if skipped(fio()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let log = desk.path("log");
    let script = format!(
        "case \"$*\" in *--name=*) sleep 100 & echo $! >>'{}'; timeout 2 sh -c 'while :; do :; done' &;; esac; \
         exec REAL \"$@\"",
        log.display()
    );
    let program = cross_check(&desk, &data, "--size 16MiB --time 1s --case rand-read-d1");
    let _ = run(&with_fio(&desk, program, &script)).expect_code(0);
    let left = fs::read_to_string(&log).expect("their numbers");
    let ended = run(&Program::new("kill").args(left.lines()));
    let _ = ended.expect_code(0);
    let report = desk.report().0;
    let theirs =
        report["figures"].as_array().expect("figures").iter().find(|one| one["provenance"] == "imported");
    let audit = report["audit"].as_array().expect("an audit");
    let told = audit.iter().any(|doubt| {
        theirs.is_some_and(|one| doubt["figure"] == one["number"])
            && doubt["evidence"].as_str().is_some_and(|text| text.contains("others used"))
    });
    assert!(told, "{audit:#?}");
}

#[test]
fn a_fio_that_fails_in_the_middle_is_told_in_its_own_words() {
    if skipped(fio()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let before = tree(&data);
    let count = desk.path("count");
    let script = format!(
        "case \"$*\" in *--name=*) echo x >>'{0}'; [ $(wc -l <'{0}') -lt 3 ] || \
         {{ echo 'fio: the cable is loose' >&2; exit 1; }};; esac; exec REAL \"$@\"",
        count.display()
    );
    let failed = run(&with_fio(&desk, cross_check(&desk, &data, SHORT), &script)).expect_code(5);
    assert_says(&failed.stderr, &["fio 3", "failed", "the cable is loose"]);
    assert_eq!(tree(&data), before);
    let report = desk.report();
    assert_eq!(report.state(), "failed");
    let figures = report.0["figures"].as_array().expect("figures");
    let passes: Vec<usize> =
        figures.iter().map(|figure| figure["repetitions"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(passes, [3, 2], "what was measured before is kept");
}

#[test]
fn an_io_error_of_the_trial_of_direct_transfers_is_not_taken_for_a_missing_ability() {
    if skipped(fio()) {
        return;
    }
    let assert_told = |desk: &Desk, data: &Path, before: &[String], finished: Finished| {
        let told = finished.expect_code(5).stderr;
        assert_says(&told, &[&data.display().to_string(), "Input/output error", "check the file system"]);
        assert_eq!(names(data), before);
        assert!(!desk.record().exists());
    };
    if !skipped(Strace::available()) {
        let (desk, data) = Desk::with_data();
        let strace = Strace::new().calls("openat").only_path(&data).inject("openat", "error=EIO:when=1");
        let trace = strace.run(&cross_check(&desk, &data, SHORT)).expect("a trace");
        assert!(trace.calls.iter().any(|call| call.injected && call.has("O_DIRECT")), "{:?}", trace.calls);
        assert_told(&desk, &data, &["mine".to_owned()], trace.finished);
    }
    // A file system in user space does not tell the kernel which direct transfers it takes, so they are tried.
    if !skipped(ProgrammedFs::available()) {
        let faults = vec![Fault::on_write(When::Always, Effect::EIO)];
        let programme = Programme { faults, ..Programme::default() };
        let disk = ProgrammedFs::builder().programme(programme).mount().expect("a file system");
        let desk = Desk::new();
        assert_told(&desk, disk.path(), &[], run(&cross_check(&desk, disk.path(), SHORT)));
    }
}

#[test]
fn what_cannot_be_checked_is_refused_before_anything_is_written() {
    let (desk, data) = Desk::with_data();
    let before = tree(&data);
    let refused = |program: &Program, code: i32, words: &[&str]| {
        assert_says(&run(program).expect_code(code).stderr, words);
        assert_eq!(tree(&data), before);
        assert!(!desk.record().exists());
    };
    let bare = cross_check(&desk, &data, SHORT).env("PATH", desk.path("nothing"));
    refused(&bare, 4, &["fio is not on the PATH", "install"]);
    let own = |script: &str| with_fio(&desk, cross_check(&desk, &data, SHORT), script);
    refused(&own("echo fio-2.21"), 4, &["fio 2.21", "3.0 or later"]);
    refused(&own("echo elbencho 3"), 4, &["is not fio", "elbencho 3"]);
    let engines =
        "case \"$1\" in --version) echo fio-3.33;; *) echo 'Available IO engines:'; echo sync;; esac";
    refused(&own(engines), 4, &["fio 3.33", "no engine psync"]);
    if skipped(fio()) {
        return;
    }
    refused(&cross_check(&desk, &data, "--size 1MiB"), 2, &["too small", "16 MiB"]);
    refused(&cross_check(&desk, &data, "--size 9999TiB"), 4, &["free", "write less"]);
    refused(&cross_check(&desk, &data, "--pairs 5"), 2, &["6..=1000"]);
    refused(&cross_check(&desk, &desk.path("missing"), SHORT), 4, &["missing", "does not exist"]);
    refused(&cross_check(&desk, Path::new("/proc"), SHORT), 4, &["/proc"]);
    let explained = run(&cross_check(&desk, &data, SHORT).arg("--explain")).expect_code(0).stdout;
    assert_says(&explained, &["rand-read-d1-fio: ", "--runtime=200ms", "--ioengine=psync"]);
    assert!(tree(&data) == before && !desk.record().exists());

    fs::create_dir(desk.record()).expect("a directory");
    fs::write(desk.record().join("mine"), "stays").expect("a file");
    let taken = run(&cross_check(&desk, &data, SHORT)).expect_code(7);
    assert_says(&taken.stderr, &["not empty"]);
    assert_eq!(tree(&data), before);
}

#[test]
fn its_plan_is_shown_and_agreed_to_before_anything_is_written() {
    if skipped(fio()) {
        return;
    }
    let (desk, data) = Desk::with_data();
    let declined = at_terminal(&cross_check(&desk, &data, SHORT), "n\\n").expect_code(0).stdout;
    assert_says(
        &declined,
        &["Cross-check of ", "predicted", "space", "in alternation", "Start?", "not started"],
    );
    assert_eq!(names(&data), ["mine"]);
    assert!(!desk.record().exists());
    let agreed = at_terminal(&cross_check(&desk, &data, SHORT).arg("--yes"), "").expect_code(0).stdout;
    assert!(!agreed.contains("Start?"), "{agreed}");
}
