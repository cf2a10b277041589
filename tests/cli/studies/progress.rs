//! Progress output during a run when stderr is not a terminal.

use std::fs;

use rustix::process::Signal;

use crate::desk::{Desk, at_terminal, names, run, wait_for};

/// Six short cases.
const STUDY: &str = "[protocol]\nrepetitions = 2\n[[target]]\nname = \"data\"\ndirectory = \"data\"\n\
                     [[workload]]\nname = \"w\"\nphases = [\"write\", \"read\"]\n\
                     transfer = [\"4k\", \"64k\", \"1m\"]\ntasks = [1, 2]\nblock = \"1m\"\n";

/// The lines other than warnings, each without its time of day.
fn told(stderr: &str) -> Vec<String> {
    let is_time = |word: &str| {
        word.len() == 8 && word.chars().all(|c| c.is_ascii_digit() || c == ':') && word.contains(':')
    };
    let timed = stderr.lines().filter_map(|line| line.split_once(' '));
    timed.filter(|(time, _)| is_time(time)).map(|(_, line)| line.to_owned()).collect()
}

#[test]
fn the_record_comes_first_and_the_last_case_is_told() {
    let (desk, _) = Desk::with_data();
    let finished = run(&desk.study(STUDY)).expect_code(0);
    let lines = told(&finished.stderr);
    assert!(finished.stderr.lines().next().is_some_and(|line| line.ends_with(&lines[0])), "{lines:#?}");
    let record = desk.record();
    let record = record.file_name().expect("a name").to_string_lossy();
    assert!(lines[0].starts_with("record ") && lines[0].contains(&*record), "{lines:#?}");
    assert!(lines[0].contains("6 cases × 2, "), "{lines:#?}");
    let cases: Vec<&String> = lines.iter().filter(|line| line.starts_with("case ")).collect();
    assert!(cases[0].starts_with("case 1 of 6  w:transfer=4KiB:tasks=1  write "), "{lines:#?}");
    assert!(cases[0].contains("B/s (") && cases[0].contains("read "), "sequential transfers: {lines:#?}");
    let last = cases.last().expect("cases");
    assert!(
        last.starts_with("case 6 of 6  w:transfer=1MiB:tasks=2  write ") && last.contains("B/s"),
        "{lines:#?}"
    );
    assert_eq!((cases.len(), lines.len()), (6, 7), "a line for each case, and no other: {lines:#?}");
    assert!(!finished.stdout.contains("case 1 of 6"), "{}", finished.stdout);
}

#[test]
fn nothing_is_told_where_that_is_not_wanted() {
    let (desk, _) = Desk::with_data();
    let quiet = run(&desk.study(STUDY).args(["--quiet"])).expect_code(0);
    assert_eq!(told(&quiet.stderr), [""; 0]);
    let (desk, _) = Desk::with_data();
    let loud = run(&desk.ior("-w -b 1m -o data/file")).expect_code(0);
    assert!(told(&loud.stderr)[0].starts_with("record "), "{}", loud.stderr);
    assert!(!loud.stdout.contains("record "), "the output is the tool's: {}", loud.stdout);
    fs::remove_dir_all(desk.record()).expect("its record");
    let quiet = run(&desk.ior("-w -b 1m -o data/file --no-progress")).expect_code(0);
    assert_eq!(told(&quiet.stderr), [""; 0]);
}

#[test]
fn a_terminal_keeps_a_line_for_each_case() {
    let (desk, _) = Desk::with_data();
    let shown = at_terminal(&desk.study(STUDY), "");
    let text = shown.stdout + &shown.stderr;
    for number in 1..=6 {
        assert!(text.contains(&format!("case {number} of 6  w:")), "{text}");
    }
}

#[test]
fn ctrl_c_ends_the_measurement_of_the_instrument_between_pairs() {
    let desk = Desk::new();
    let data = desk.path("data");
    fs::create_dir(&data).expect("a directory");
    let mut running = desk.after("exec 2>told", "overhead data").spawn().expect("it starts");
    let said = || told(&fs::read_to_string(desk.path("told")).unwrap_or_default());
    wait_for(&mut running, "the first stage", || !said().is_empty());
    running.signal(Signal::INT).expect("it lives");
    let finished = running.wait().expect("it ends").expect_code(130);
    assert!(said()[0].contains("0 of 60 pairs of runs"), "{:?}", said());
    assert_eq!((finished.stdout.as_str(), names(&data).len()), ("", 0));
}
