//! Messages for users who made a small mistake.

use std::fs;

use rustix::process::Signal;

use crate::desk::{Desk, assert_says, run, wait_for};

const STUDY: &str = "[protocol]\nphase_min = \"1ms\"\n[[target]]\nname = \"d\"\ndirectory = \".\"\n\
    [[workload]]\nname = \"w\"\nsize = \"1MiB\"\ntransfer = \"64KiB\"\nphases = [\"write\"]\n";

#[test]
fn help_is_given_however_it_is_asked_for() {
    let desk = Desk::new();
    for command in ["iozone", "gpfsperf", "ior", "mdtest", "md-workbench", "ioping", "run", "report"] {
        let of_option = run(&desk.ioproof(&format!("{command} --help"))).expect_code(0).stdout;
        let of_word = run(&desk.ioproof(&format!("help {command}"))).expect_code(0).stdout;
        assert!(of_option.starts_with("Usage: ") || of_option.contains("\n\nUsage: "), "{of_option}");
        assert_eq!(of_option, of_word);
    }
    let all = run(&desk.ioproof("help")).expect_code(0).stdout;
    assert_says(&all, &["Usage: ioproof <COMMAND>", "studies"]);
}

#[test]
fn options_of_other_places_lead_to_theirs() {
    let desk = Desk::new();
    for (command, told) in [
        ("run s.toml --html", "`ioproof report RUNDIR --format html`"),
        ("run s.toml --duration=3s", "--set 'workload.*.duration=VALUE'"),
        ("run s.toml --phase-min 3s", "--set 'workload.*.phase_min=VALUE'"),
        ("run s.toml --drop-caches", "drop_caches=VALUE'"),
        ("report --csv record", "use --format csv"),
        ("rnu s.toml", "did you mean `run`?"),
    ] {
        let said = run(&desk.ioproof(command)).expect_code(2).stderr;
        assert_says(&said, &[told]);
        assert_eq!(said.matches("tip: ").count(), 1, "{said}");
    }
    let said = run(&desk.ioproof("run s.toml --zorro")).expect_code(2).stderr;
    assert!(!said.contains("--set"), "{said}");
}

#[test]
fn a_range_with_its_step_written_otherwise_is_told_how_to_write_it() {
    let study = STUDY.replace("phases", "tasks = \"1..64 x2\"\nphases");
    let said = run(&Desk::new().study(&study)).expect_code(2).stderr;
    assert_says(&said, &["has no step", "\"1..64 times 2\""]);
    let study = STUDY.replace("phases", "tasks = \"1-64\"\nphases");
    let said = run(&Desk::new().study(&study)).expect_code(2).stderr;
    assert_says(&said, &["cannot be \"1-64\"", "\"1..64 times 2\""]);
}

#[test]
fn a_study_of_devices_is_told_how_to_run_in_a_directory() {
    let desk = Desk::new();
    let said = run(&desk.ioproof("run cuny-uv300 --on . --explain")).expect_code(2).stderr;
    assert_says(&said, &["--set 'target.*.directory="]);
}

/// `COLUMNS` sets the line width for output to a pipe.
#[test]
fn help_and_lists_are_as_wide_as_their_reader() {
    let desk = Desk::new();
    let lines = [
        "ior --help",
        "mdtest --help",
        "iozone --help",
        "gpfsperf --help",
        "md-workbench --help",
        "ioping --help",
        "host check",
        "host facts",
        "reference list",
        "reference claims",
        "reference studies",
        "reference misprints",
        "reference show b-ws-nvme-write-max",
        "studies",
    ];
    for line in lines {
        for columns in [80, 100] {
            let text = run(&desk.ioproof(line).env("COLUMNS", columns.to_string())).expect_code(0).stdout;
            // A word is never broken, so that addresses can be copied.
            let one_word = |line: &str| !line.trim().contains(' ') || line.contains("://");
            let wide = |line: &&str| line.chars().count() > columns && !one_word(line);
            assert_eq!(text.lines().find(wide), None, "{line} at {columns}");
        }
    }
}

#[test]
fn without_commitments_a_verdict_is_no_failure_and_nothing_to_ask_for() {
    let desk = Desk::new();
    let said = run(&desk.study(STUDY).arg("--verdict")).expect_code(2).stderr;
    assert_says(&said, &["the study has no commitment"]);
    let _ = run(&desk.study(STUDY)).expect_code(0);
    let _ = run(&desk.ioproof("verdict").arg(desk.record())).expect_code(0);
}

#[test]
fn a_run_that_is_compared_with_itself_is_told() {
    let desk = Desk::new();
    let _ = run(&desk.study(STUDY)).expect_code(0);
    let said = run(&desk.ioproof("compare").args([desk.record(), desk.record()])).expect_code(0).stderr;
    assert_says(&said, &["is given twice, or is part of two of the records"]);
    let _ = run(&desk.ioproof("run study.toml --yes --out again")).expect_code(0);
    let runs = || [desk.record(), desk.path("again")];
    let other = run(&desk.ioproof("compare").args(runs())).expect_code(0).stderr;
    assert!(!other.contains("is given twice"), "{other}");
    let _ = run(&desk.ioproof("merge both").args(runs())).expect_code(0);
    let said = run(&desk.ioproof("compare again both")).expect_code(0).stderr;
    assert_says(&said, &["is given twice, or is part of two of the records"]);
}

/// Anything that such a run measures later would be missing from the merge.
#[test]
fn a_run_that_is_still_going_on_is_not_merged() {
    let desk = Desk::new();
    let _ = run(&desk.study(STUDY)).expect_code(0);
    let study = STUDY.replace("name = \"w\"", "name = \"long\"\nduration = \"60s\"");
    fs::write(desk.path("long.toml"), study).expect("a study");
    let mut running = desk.ioproof("run long.toml --yes --out going").spawn().expect("it starts");
    wait_for(&mut running, "the start of the case", || {
        fs::read_to_string(desk.path("going/journal.jsonl")).is_ok_and(|all| all.contains("case-started"))
    });
    let refused = run(&desk.ioproof("merge both going").arg(desk.record())).expect_code(2);
    assert_says(&refused.stderr, &["still in progress", "wait for its end"]);
    let refused = run(&desk.ioproof("run --yes --resume going")).expect_code(3);
    assert_says(&refused.stderr, &["it is still running in process ", "wait for it to end"]);
    assert!(!desk.path("both").exists());
    running.signal(Signal::INT).expect("it is told to end");
    let _ = running.wait().expect("it ends");
}

#[test]
fn a_record_that_is_not_there_is_told_with_where_to_find_one() {
    let desk = Desk::new();
    for command in ["verdict", "report", "history", "check"] {
        let said = run(&desk.ioproof(&format!("{command} nosuch"))).expect_code(7).stderr;
        assert_says(&said, &["nosuch does not exist; name the directory of a run", "ioproof-runs"]);
    }
}

/// No file system accepts such a name.
#[test]
fn overlong_names_are_cut_in_messages() {
    let desk = Desk::new();
    let name = "x".repeat(5000);
    for command in ["verdict NAME", "run NAME", "NAME", "ior -w -o NAME", "report --NAME"] {
        let refused = run(&desk.ioproof(&command.replace("NAME", &name)));
        assert!(refused.code != Some(0) && refused.stderr.len() < 2000, "{command}: {}", refused.stderr);
        assert_says(&refused.stderr, &["x… (5"]);
    }
}

#[test]
fn a_report_named_by_a_dash_goes_to_standard_output() {
    let desk = Desk::new();
    let _ = run(&desk.study(STUDY)).expect_code(0);
    let report = |words: &str| run(&desk.ioproof(&format!("report --format csv {words}")).arg(desk.record()));
    let written = report("--output -").expect_code(0).stdout;
    assert_eq!(written, report("").expect_code(0).stdout);
    assert!(!desk.path("-").exists());
    let refused = report("--output /dev/full").expect_code(3).stderr;
    assert_says(&refused, &["/dev/full, which is a device", "`-` for the standard output"]);
}

/// A problem that prevents a run from starting is reported before anything else is printed.
#[test]
fn a_run_that_cannot_begin_says_so_first() {
    let desk = Desk::new();
    fs::create_dir(desk.path("full")).expect("a directory");
    fs::write(desk.path("full/mine"), "stays").expect("a file");
    fs::write(desk.path("s.toml"), STUDY).expect("a study");
    for line in
        ["run s.toml --yes --out full", "ior -t 4k -b 4k -o f --out full", "mdtest -n 1 -d t --out full"]
    {
        let refused = run(&desk.ioproof(line)).expect_code(7);
        assert_says(&refused.stderr, &["full: it is not empty"]);
        assert_eq!(refused.stdout, "", "{line}");
    }
    // Even root cannot create a file there, which only an attempt reveals.
    let refused = run(&desk.ioproof("ior -t 4k -b 4k -o /sys/f"));
    assert_ne!(refused.code, Some(0));
    assert!(!refused.stderr.contains(".ioproof-claim"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    // A device that belongs to another study.
    let refused =
        run(&desk.ioproof("run s.toml --yes --destroy-data-on /dev/loop0 --out new")).expect_code(3);
    assert_says(&refused.stderr, &["--destroy-data-on /dev/loop0", "this run uses no such device"]);
    assert!(!desk.path("new").exists());
}

#[test]
fn manual_pages_and_completions_have_the_options_of_tools() {
    let desk = Desk::new();
    let _ = run(&desk.ioproof("generate .")).expect_code(0);
    let read = |path: &str| fs::read_to_string(desk.path(path)).expect("written");
    for (tool, option, about) in [
        ("ior", "\\fB\\-b 16m\\fR", "contiguous bytes per task"),
        ("mdtest", "\\fB\\-F\\fR", "files only"),
        ("gpfsperf", "\\fB\\-th THREADS\\fR", "threads of each process"),
        ("iozone", "\\fB\\-+m FILE\\fR", "client list"),
    ] {
        let page = read(&format!("man/ioproof-{tool}.1"));
        assert_says(&page, &[option, about, "REFUSED"]);
    }
    let bash = read("completions/ioproof.bash");
    let run = bash.split("ioproof__subcmd__run)").nth(1).and_then(|rest| rest.lines().nth(1));
    assert_says(run.unwrap_or(&bash), &["latency", "layers", "--on"]);
    let of_ior = bash.split("ioproof__subcmd__ior)").nth(1).and_then(|rest| rest.lines().nth(1));
    assert_says(of_ior.unwrap_or(&bash), &["--explain", "--verify", "-b", "--posix.odirect"]);
}

#[test]
fn words_of_other_tools_are_answered_with_those_of_studies() {
    let desk = Desk::new();
    let study = "[[target]]\nname = \"a\"\ndirectory = \".\"\n\
        [[workload]]\nname = \"w\"\nbs = \"4k\"\nnumjobs = 4\nruntime = \"3s\"\nphases = [\"randread\"]\n\
        [[commitment]]\nname = \"c\"\nworkload = \"w\"\nphase = \"read\"\nstatistic = \"p99\"\n\
        latency_at_most = \"1ms\"\n";
    let told = run(&desk.study(study)).expect_code(2).stderr;
    let hints = [
        "write for example transfer = \"4KiB\"",
        "write for example tasks = 4",
        "write for example duration = \"30s\"",
        "write for example phases = [\"read\"] with order = \"random\"",
        "write for example percentile = 99",
    ];
    assert_says(&told, &hints);
}
