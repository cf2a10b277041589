//! Workloads that run at the same time.

use crate::common::{shown, study};
use plan::study::{Options, Override, overrides_of, read_criteria, read_with};
use plan::{Case, Commitment, Nanos, Plan};
use std::path::Path;

const WORKLOADS: &str = "
[protocol]
repetitions = 3

[[target]]
name = \"a\"
directory = \"/data/a\"

[[target]]
name = \"b\"
directory = \"/data/b\"

[[workload]]
name = \"checkpoint\"
target = \"a\"
phases = [\"write\"]
transfer = \"1MiB\"
size = \"1GiB\"
tasks = 4
duration = \"20s\"

[[workload]]
name = \"restart\"
title = \"Restart of a job\"
target = \"b\"
phases = [\"read\"]
transfer = \"1MiB\"
size = \"1GiB\"
tasks = 2
fill = true
duration = \"20s\"

[[workload]]
name = \"both-phases\"
target = \"b\"
transfer = \"1MiB\"
size = \"1GiB\"
";

fn read(table: &str) -> Plan {
    study(&format!("{WORKLOADS}{table}")).unwrap_or_else(|errors| panic!("{}", shown(&errors)))
}

fn refused(workloads: &str, table: &str) -> String {
    let text = shown(&study(&format!("{workloads}{table}")).expect_err("a mistake"));
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "")
}

const BOTH: &str = "[[concurrent]]\nname = \"both\"\nworkloads = [\"checkpoint\", \"restart\"]\n";

#[test]
fn each_runs_alone_and_then_beside_the_others() {
    let plan = read(&format!("{BOTH}title = \"Restart beside checkpoint\"\nstarts = [\"0s\", \"5s\"]\n"));
    let ids: Vec<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["checkpoint", "restart", "both-phases", "both:checkpoint", "both:restart"]);
    let case = &plan.cases[4];
    let together = case.concurrent.as_ref().expect("one of several");
    assert_eq!((together.name.as_str(), together.alone.as_str()), ("both", "restart"));
    assert_eq!(together.start, Nanos::secs(5));
    assert_eq!(case.title, "Restart beside checkpoint: Restart of a job");
    assert_eq!((case.group.as_str(), case.workload.name.as_str()), ("both:restart", "both:restart"));
    let alone = &plan.cases[1];
    assert_eq!((&case.workload.files, case.repetitions), (&alone.workload.files, alone.repetitions));
    assert_eq!(plan.blocks().collect::<Vec<_>>(), [0..1, 1..2, 2..3, 3..5]);
}

#[test]
fn two_tables_follow_each_other_and_stay_apart() {
    let plan = read(&format!("{BOTH}{}", BOTH.replace("\"both\"", "\"again\"")));
    assert_eq!(plan.blocks().collect::<Vec<_>>(), [0..1, 1..2, 2..3, 3..5, 5..7]);
}

#[test]
fn other_tables_select_one_of_them_by_its_name() {
    let promise = "[[commitment]]\nname = \"p\"\nworkload = \"both:restart\"\nstatistic = \"median\"\nbandwidth_at_least = \"1GB/s\"\n";
    let plan = read(&format!("{BOTH}{promise}"));
    let selected = plan.selected(&plan.criteria.commitments[0].figures);
    assert_eq!(selected.iter().map(|(case, _)| case.id.as_str()).collect::<Vec<_>>(), ["both:restart"]);
}

const PROMISE_TO_EACH: &str = "[[commitment]]\nname = \"p\"\nworkload = \"both\"\nstatistic = \"median\"\nbandwidth_at_least = \"1GB/s\"\n";

#[test]
fn their_common_name_selects_all_of_them() {
    let plan = read(&format!("{BOTH}{PROMISE_TO_EACH}"));
    let selected = |promised: &Commitment| {
        let selected = plan.selected(&promised.figures);
        selected.iter().map(|(case, _)| case.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(selected(&plan.criteria.commitments[0]), ["both:checkpoint", "both:restart"]);
    let later = read_criteria(Path::new("c.toml"), PROMISE_TO_EACH, &plan).expect("it is known");
    assert_eq!(selected(&later.commitments[0]), ["both:checkpoint", "both:restart"]);
}

#[test]
fn without_a_name_a_promise_is_about_what_runs_alone() {
    let to_all = PROMISE_TO_EACH.replace("workload = \"both\"\n", "");
    let plan = read(&format!("{BOTH}{to_all}"));
    let selected = plan.selected(&plan.criteria.commitments[0].figures);
    let of_set = selected.iter().filter(|(case, _)| case.concurrent.is_some()).count();
    assert_eq!((selected.len() > 2, of_set), (true, 0));
}

/// What a workload does beside others is that of its table.
#[test]
fn an_override_of_a_workload_concerns_what_it_does_beside_others() {
    let text = format!("{WORKLOADS}{BOTH}{PROMISE_TO_EACH}");
    for (set, concerned) in [("restart", true), ("checkpoint", true), ("both-phases", false)] {
        let overrides = vec![Override::parse(&format!("workload.{set}.size=64MiB")).expect("an override")];
        let options = Options { overrides, ..Options::default() };
        let plan =
            read_with(Path::new("s.toml"), &text, &options).unwrap_or_else(|e| panic!("{}", shown(&e)));
        let of_promise = overrides_of(&plan, &plan.criteria.commitments[0]);
        assert_eq!(!of_promise.is_empty(), concerned, "{set}");
        let one = &options.overrides[0];
        let concerns = plan.cases.iter().filter(|case| one.concerns(case)).map(|case| case.id.clone());
        let expected =
            if concerned { vec![set.to_owned(), format!("both:{set}")] } else { vec![set.to_owned()] };
        assert_eq!(concerns.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn on_one_target_each_has_files_of_its_own() {
    let on_one = WORKLOADS.replace("target = \"b\"\nphases", "target = \"a\"\nphases");
    let plan = study(&format!("{on_one}{BOTH}")).unwrap_or_else(|errors| panic!("{}", shown(&errors)));
    let targets: Vec<String> =
        plan.cases[3..].iter().map(|case| case.workload.files.targets[0].display().to_string()).collect();
    assert_eq!(targets, ["/data/a/ioproof-a.data", "/data/a/ioproof-a-restart.data"]);
}

#[test]
fn a_workload_may_run_beside_itself() {
    let plan = read(&BOTH.replace("restart", "checkpoint"));
    let cases: Vec<(&str, String)> = plan.cases[3..]
        .iter()
        .map(|case| (case.id.as_str(), case.workload.files.targets[0].display().to_string()))
        .collect();
    assert_eq!(cases[0], ("both:checkpoint", "/data/a/ioproof-a.data".to_owned()));
    assert_eq!(cases[1], ("both:checkpoint-2", "/data/a/ioproof-a-checkpoint-2.data".to_owned()));
    let together = plan.cases[4].concurrent.as_ref().expect("one of several");
    assert_eq!(together.alone, "checkpoint");
}

#[test]
fn cases_that_are_left_without_the_others_go_too() {
    let mut plan = read(BOTH);
    plan.keep_cases(|case: &Case| case.id != "both:restart");
    assert!(plan.cases.iter().all(|case| case.concurrent.is_none()));
}

#[test]
fn mistakes_say_what_is_wrong_and_what_to_do() {
    let with = |change: fn(&str) -> String| refused(WORKLOADS, &change(BOTH));
    for (change, told) in [
        ((|both| both.replace(", \"restart\"", "")) as fn(&str) -> String, "`both` has 1 workloads"),
        (|both| both.replace("restart", "restar"), "did you mean \"restart\"?"),
        (|both| both.replace("restart", "both-phases"), "has the phases write, read"),
        (|both| both.replace("\"both\"", "\"restart\""), "`restart` is the name of a workload, too"),
        (|both| format!("{both}{both}"), "two [[concurrent]] tables are called `both`"),
        (|both| format!("{both}starts = [\"0s\"]\n"), "1 starts for 2 workloads"),
        (|both| format!("{both}starts = [\"1s\", \"2s\"]\n"), "no workload begins at the start"),
        (|both| format!("{both}starts = [\"0s\", \"soon\"]\n"), "write it as \"5s\""),
        (|both| format!("{both}starts = [\"0s\", \"20s\"]\n"), "`both:checkpoint` ends after 20 s"),
    ] {
        let text = with(change);
        assert!(text.contains(told), "{told}: {text}");
    }
    for (from, to, told) in [
        (
            "target = \"b\"\nphases = [\"read\"]",
            "target = \"a\"\nphases = [\"write\"]\nkeep = \"always\"",
            "use the same `/data/a",
        ),
        ("tasks = 2\n", "tasks = [1, 2]\n", "`restart` is swept"),
        ("tasks = 2\n", "tasks = 2\nrepetitions = 5\n", "different numbers of passes"),
        ("tasks = 2\n", "tasks = 2\nuntil = \"steady\"\nrepetitions = 9\n", "ends by `until`"),
        ("tasks = 2\n", "tasks = 2\nmemory_hog = \"1GiB\"\n", "has `memory_hog`"),
    ] {
        let text = refused(&WORKLOADS.replacen(from, to, 1), BOTH);
        assert!(text.contains(told), "{told}: {text}");
    }
}
