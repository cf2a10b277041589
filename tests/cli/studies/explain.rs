//! `--explain` and the preflight checks: what the user is told before anything is written.

use std::os::unix::fs::symlink;

use crate::desk::{Desk, assert_says, names, run, tree};

/// The line of study A for one card, as printed.
const TEST_1: &str = "-a POSIX -B -e -t 1m -b 1m -s 10000 -N 6 -C -F";
/// The line for twelve cards, as printed.
const TEST_2: &str = "-a POSIX -B -e -t 1m -b 1m -s 10000 -N 132 -C -F -k \
                      -o 0/0@1/1@2/2@3/3@4/4@5/5@6/6@7/7@8/8@9/9@10/10@11/11";

/// The output of `ior OPTIONS --explain`.
fn explained(desk: &Desk, options: &str) -> String {
    run(&desk.ioproof("ior").args(options.split_whitespace()).arg("--explain")).expect_code(0).stdout
}

/// The line of `text` that starts with an option and its long name.
fn line_of<'t>(text: &'t str, written: &str, name: &str) -> &'t str {
    let has = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let option: Vec<&str> = written.split(' ').chain([name]).collect();
        words.starts_with(&option)
    };
    text.lines().find(has).unwrap_or_else(|| panic!("no line on {written} ({name}) in\n{text}"))
}

/// The explanation refuses the same options as the run.
#[test]
fn an_explanation_refuses_options_as_the_run_does() {
    let (desk, _) = Desk::with_data();
    for end in ["--yes", "--explain"] {
        let refused =
            run(&desk.ioproof(&format!("run --quick . --destroy-data-on SER123 {end}"))).expect_code(3);
        assert_says(&refused.stderr, &["--destroy-data-on SER123", "this run uses no such device"]);
        assert_eq!(refused.stdout, "", "{end}");
        let refused = run(&desk.ioproof(&format!("run --quick . --out data {end}")));
        assert_ne!(refused.code, Some(0), "{end}");
        assert_eq!(refused.stdout, "", "{end}");
        assert_says(&refused.stderr, &["data"]);
    }
}

#[test]
fn lines_that_only_read_are_told_so() {
    let (desk, data) = Desk::with_data();
    let file = data.join("file").display().to_string();
    let text = explained(&desk, &format!("-a POSIX -r -t 1m -b 4m -o {file}"));
    assert_says(&text, &["existing files are read, and nothing is written", "stay as they are"]);
    assert_says(&text, &[&format!("! {file} does not exist")]);
    for wrong in ["replaced", "removed", " free, "] {
        assert!(!text.contains(wrong), "{wrong} in\n{text}");
    }
    std::fs::write(&file, vec![1; 4 << 20]).expect("written");
    let text = explained(&desk, &format!("-a POSIX -r -t 1m -b 4m -o {file}"));
    assert!(!text.contains("does not exist"), "{text}");
}

#[test]
fn a_wear_out_is_predicted_by_its_clock() {
    let desk = Desk::new();
    let text = explained(&desk, "-a POSIX -w -F -N 16 -t 1m -b 1m -s 620000 -D 300 -O stoneWallingWearOut=1");
    assert_says(&text, &["write: 5 min to 10 min by the clock", "from fixed durations"]);
}

#[test]
fn a_rate_by_hand_and_an_earlier_run_are_what_is_predicted_from() {
    let (desk, _) = Desk::with_data();
    let study = "[[target]]\nname = \"t\"\ndirectory = \"data\"\n\
                 [[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\nsize = \"32MiB\"\n";
    let _ = run(&desk.study(study)).expect_code(0);
    let record = desk.record().display().to_string();
    let report = run(&desk.ioproof(&format!("report {record} --full"))).expect_code(0).stdout;
    assert_says(&report, &["× the predicted", "from an assumed"]);
    let explain =
        |basis: &str| run(&desk.ioproof(&format!("run study.toml --explain {basis}"))).expect_code(0).stdout;
    assert_says(&explain(&format!("--like {record}")), &[&format!("from run {record}")]);
    let given = explain("--expect 64MB/s --expect write=16MB/s");
    assert_says(&given, &["about 2.6 s, from rates given by hand"]);
}

#[test]
fn rates_by_hand_and_runs_that_predict_nothing_are_told() {
    let (desk, _) = Desk::with_data();
    let study = "[[target]]\nname = \"t\"\ndirectory = \"data\"\n\
                 [[workload]]\nname = \"w\"\nphases = [\"read\"]\nfill = true\ntransfer = \"4KiB\"\nsize = \"1MiB\"\n";
    std::fs::write(desk.path("study.toml"), study).expect("a study");
    let explain = |basis: &str| run(&desk.ioproof(&format!("run study.toml --explain {basis}")));
    for (basis, words) in [
        ("--expect write=1GB/s", ["write: the study has no such phase", "it has fill, read"]),
        ("--expect read=1GB/s --expect read=2GB/s", ["read twice", "omit one"]),
        ("--expect 1GB/s --expect 2GB/s", ["all phases twice", "omit one"]),
        ("--expect fill=1000/s", ["fill", "in bytes"]),
    ] {
        assert_says(&explain(basis).expect_code(2).stderr, &words);
    }
    // 1 MiB is filled before the reads.
    let given = explain("--expect fill=1MiB/s --expect read=1MiB/s").expect_code(0).stdout;
    assert_says(&given, &["about 2.0 s, from rates given by hand"]);
    // For an estimate, a run that only writes is similar to the fill, and a run with objects is similar to nothing.
    let other = "[[target]]\nname = \"t\"\ndirectory = \"data\"\n\
                 [[workload]]\nname = \"o\"\nwork = \"objects\"\ntasks = 1\nprecreated = 5\nsteps = 5\n";
    std::fs::write(desk.path("other.toml"), other).expect("a study");
    let _ = run(&desk.ioproof("run other.toml --yes --out record")).expect_code(0);
    let text = explain("--like record").expect_code(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&text, &["from an assumed", "nothing in run record is close to this study"]);
}

#[test]
fn a_wall_time_that_is_cut_is_told() {
    let (desk, _) = Desk::with_data();
    let study = "[[target]]\nname = \"t\"\ndirectory = \"data\"\n[[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\nsize = \"1GiB\"\n";
    std::fs::write(desk.path("study.toml"), study).expect("a study");
    let made = run(&desk.ioproof("batch study.toml --slurm --expect 1B/s --out jobs")).expect_code(0);
    assert_says(&made.stderr, &["run.sh: The time of 720 h, the maximum that is requested, is SHORTER"]);
}

#[test]
fn a_probe_measures_a_little_of_the_study_and_leaves_only_its_record() {
    let (desk, data) = Desk::with_data();
    let study = |direct: bool| {
        format!(
            "[[target]]\nname = \"t\"\ndirectory = \"data\"\n[[workload]]\nname = \"w\"\n\
             sharing = [\"shared\", \"per-task\"]\ntransfer = [\"4KiB\", \"8KiB\"]\nsize = \"256MiB\"\n\
             backend = \"libaio\"\ndepth = 2\ndirect = {direct}\n"
        )
    };
    std::fs::write(desk.path("study.toml"), study(true)).expect("a study");
    let shown = run(&desk.ioproof("run study.toml --explain --probe")).expect_code(0);
    assert_says(&shown.stderr, &["probing data: 2 cases in passes of 300 ms"]);
    let records = names(&desk.path("ioproof-runs"));
    assert_eq!(records.len(), 1, "its record is kept: {records:?}");
    let text = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // Each of the four cases is similar to one of the two that were probed.
    assert_says(&text, &[&format!("from run ioproof-runs/{}", records[0])]);
    assert!(!text.contains("assumed"), "{text}");
    assert_eq!(names(&data), ["mine"]);
    // The rate at which the page cache absorbs the first writes says nothing about the rest.
    std::fs::write(desk.path("study.toml"), study(false)).expect("a study");
    let refused = run(&desk.ioproof("run study.toml --explain --probe")).expect_code(4);
    assert_says(&refused.stderr, &["--probe: nothing in this study can be probed", "--expect"]);
}

#[test]
fn printed_lines_run_unchanged_and_each_option_is_told_with_its_meaning() {
    let desk = Desk::new();
    let text = explained(&desk, TEST_1);
    let meanings = [
        ("-a POSIX", "api", "pread"),
        ("-B", "useO_DIRECT", "O_DIRECT"),
        ("-e", "fsync", "after a task's last write"),
        ("-t 1m", "transferSize", "1048576 bytes"),
        ("-b 1m", "blockSize", "1048576 bytes"),
        ("-s 10000", "segmentCount", "62.9 GB"),
        ("-N 6", "numTasks", "6 tasks"),
        ("-C", "reorderTasksConstant", "t + 1"),
        ("-F", "filePerProc", "one file for each"),
    ];
    for (written, name, meaning) in meanings {
        let line = line_of(&text, written, name);
        assert!(line.contains(meaning), "{line:?} does not say {meaning:?}");
    }
    let text = explained(&desk, TEST_2);
    assert_says(&text, &["the files are kept", "132 tasks", "12 targets", "11 on each target"]);
}

#[test]
fn a_program_called_ior_takes_the_line_in_either_case() {
    let desk = Desk::new();
    for name in ["ior", "IOR"] {
        let link = desk.path(name);
        symlink(env!("CARGO_BIN_EXE_ioproof"), &link).expect("a link");
        let line = TEST_1.split_whitespace().chain(["--explain"]);
        let called = testbed::Program::new(&link).args(line).current_dir(desk.path(""));
        assert_says(&run(&called).expect_code(0).stdout, &["6 tasks", "62.9 GB"]);
    }
}

#[test]
fn a_block_that_is_no_multiple_is_refused_with_both_options() {
    let desk = Desk::new();
    let refused = run(&desk.ior("-t 16m -b 1m")).expect_code(2);
    assert_says(&refused.stderr, &["-b 1m", "-t 16m", "1048576", "16777216", "multiple"]);
    assert_eq!(names(&desk.path("")), [""; 0], "nothing was touched");
}

#[test]
fn a_transfer_of_nothing_is_refused() {
    let desk = Desk::new();
    let refused = run(&desk.ior("-t 0 -b 1m")).expect_code(2);
    assert_says(&refused.stderr, &["-t 0", "moves nothing", "at least 1 byte"]);
    assert_eq!(names(&desk.path("")), [""; 0], "nothing was touched");
}

/// The number after `before` in `text`.
fn number_after(text: &str, before: &str) -> u64 {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, rest) = flat.split_once(before).unwrap_or_else(|| panic!("no {before:?} in\n{text}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number after {before:?} in\n{text}"))
}

#[test]
fn a_phase_that_is_too_short_is_told_with_the_segments_that_would_do() {
    let desk = Desk::new();
    let line = |segments: u64| format!("-B -t 1m -b 1m -s {segments} -o f");
    let short = explained(&desk, &line(10));
    assert_says(&short, &["too short for a rate"]);
    let enough = number_after(&short, "raise -s to ");
    let longer = explained(&desk, &line(enough));
    assert!(!longer.contains("too short"), "-s {enough} is still too short:\n{longer}");
}

#[test]
fn volumes_that_do_not_fit_are_told_with_the_segments_that_would() {
    let desk = Desk::new();
    // 264 tasks × 16 MiB × 10,000 = 44.3 TB, but study A had 24 TB.
    let line = |segments: u64| format!("-B -e -F -t 16m -b 16m -s {segments} -N 264 -o f");
    let large = explained(&desk, &line(10_000_000));
    assert_says(&large, &["44.3 PB", "free", "would fit"]);
    let fits = number_after(&large, "free: -s ");
    let smaller = explained(&desk, &line(fits));
    assert!(!smaller.contains("would fit"), "-s {fits} does not fit:\n{smaller}");
    assert_says(&large, &["predicted"]);
}

#[test]
fn the_volumes_of_study_a_are_predicted() {
    let desk = Desk::new();
    let volumes = [
        ("-t 16m -b 16m -s 10000 -N 132", "22.1 TB"),
        ("-t 16m -b 16m -s 10000 -N 264", "44.3 TB"),
        ("-t 1m -b 1m -s 1000 -N 33", "34.6 GB"),
    ];
    for (sizes, volume) in volumes {
        let text = explained(&desk, &format!("-B -F {sizes} -o f"));
        assert_says(&text, &[volume, "predicted"]);
    }
}

#[test]
fn tasks_that_do_not_divide_over_the_targets_are_told_their_bound_before_the_run() {
    let desk = Desk::new();
    let targets = TEST_2.split_whitespace().last().expect("the targets");
    for (tasks, bound) in [(33, "91.7 %"), (66, "91.7 %"), (99, "91.7 %")] {
        let text = explained(&desk, &format!("-F -t 1m -b 1m -s 10 -N {tasks} -o {targets}"));
        assert_says(&text, &[&format!("{tasks} tasks over 12 targets: at most {bound} of the sum")]);
    }
    for tasks in [132, 264] {
        let text = explained(&desk, &format!("-F -t 1m -b 1m -s 10 -N {tasks} -o {targets}"));
        assert_says(&text, &[&format!("{tasks} tasks over 12 targets: all of the sum")]);
    }
}

#[test]
fn explaining_writes_nothing() {
    let desk = Desk::new();
    let data = desk.path("data");
    std::fs::create_dir(&data).expect("a directory");
    std::fs::write(data.join("file"), vec![7; 1 << 20]).expect("a file");
    let study = "[[target]]\nname = \"t\"\npath = \"data/file\"\n\
                 [[workload]]\nname = \"w\"\ntransfer = \"4k\"\nsize = \"1m\"\n";
    std::fs::write(desk.path("study.toml"), study).expect("a study");
    let before = tree(&desk.path(""));
    let lines = [
        "ior -w -W -r -R -t 4k -b 1m -o data/file --explain",
        "ior -w -r -t 4k -b 1m -o data/file -O summaryFile=summary --explain --out record",
        "ior -w -r -t 4k -b 1m -o data/file --dryRun",
        "run study.toml --explain --out record",
        "run --quick data --explain --out record",
    ];
    for line in lines {
        let text = run(&desk.ioproof(line)).expect_code(0).stdout;
        assert!(text.contains("predicted"), "{line}:\n{text}");
        assert_eq!(tree(&desk.path("")), before, "{line} wrote something");
    }
}
