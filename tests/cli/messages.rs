//! What is said to somebody who wrote something slightly wrong.

use crate::desk::{Desk, assert_says, run};

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
        ("report --csv record", "write --format csv"),
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
}

#[test]
fn without_commitments_a_verdict_is_no_failure_and_nothing_to_ask_for() {
    let desk = Desk::new();
    let said = run(&desk.study(STUDY).arg("--verdict")).expect_code(2).stderr;
    assert_says(&said, &["nothing is promised"]);
    let _ = run(&desk.study(STUDY)).expect_code(0);
    let _ = run(&desk.ioproof("verdict").arg(desk.record())).expect_code(0);
}

#[test]
fn a_run_that_is_compared_with_itself_is_told() {
    let desk = Desk::new();
    let _ = run(&desk.study(STUDY)).expect_code(0);
    let said = run(&desk.ioproof("compare").args([desk.record(), desk.record()])).expect_code(0).stderr;
    assert_says(&said, &["both are the run"]);
}
