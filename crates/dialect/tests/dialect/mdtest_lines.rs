//! Published command lines of mdtest are accepted as what they are, or refused with a reason that is right.

use dialect::ior::Launcher;
use dialect::{ParsedCommand, ToolError, tool};
use plan::{Bytes, Case, Nanos, Phase};

/// What the shells of the publications would have put in place of their variables.
const VARIABLES: [(&str, &str); 3] = [("$Directories", "8"), ("$NUMFILES", "100"), ("$DIRECTORY", "/data")];

/// The line that a talk of 2017 printed with its figures.
const TALK: &str = "/ghome/oehmes/mpi/bin/mdtest-pcmpi9131-existingdir -d /gpfs/fs2-1m-mel/shared/mdtest-ec -i 1 \
                    -n 35000 -F -w 0 -Z -p 8";

fn ask(line: &str, tasks: u32) -> Result<ParsedCommand, ToolError> {
    let mut line = line.to_owned();
    for (variable, value) in VARIABLES {
        line = line.replace(variable, value);
    }
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let is_mdtest = |word: &String| word.rsplit('/').next().is_some_and(|name| name.starts_with("mdtest"));
    // `MDTEST 1` is a function of a shell script: its first word is a number of processes.
    let start = words.iter().position(is_mdtest).unwrap_or(1);
    (tool("mdtest").expect("a tool").parse)(
        &words[start..],
        Launcher { tasks: Some(tasks), ..Launcher::default() },
    )
}

fn published(number: usize, tasks: u32) -> Result<ParsedCommand, ToolError> {
    let table = include_str!("mdtest/command_lines.tsv");
    let row = table.lines().nth(number + 1).expect("a row");
    ask(row.split('\t').next().expect("a line"), tasks)
}

/// Tasks, items of each, phases, and bytes of a file.
fn what(case: &Case) -> (u32, u64, Vec<Phase>, Bytes) {
    let tree = case.workload.work.tree().expect("a tree");
    (case.workload.tasks, tree.items_per_task(), case.phases.clone(), tree.write_bytes)
}

#[test]
fn io500_makes_empty_files_and_reads_others_back() {
    let asked = published(0, 40).expect("accepted");
    let case = &asked.plan.cases[0];
    assert_eq!(what(case), (40, 1_000_000, vec![Phase::TreeCreate, Phase::FileCreate], Bytes(0)));
    let tree = case.workload.work.tree().expect("a tree");
    assert!(tree.own_trees && tree.sync_all && tree.shift == 1);
    assert_eq!(
        case.workload.stonewall.map(|wall| (wall.deadline, wall.wear_out)),
        Some((Nanos::secs(300), true))
    );

    let asked = published(1, 40).expect("accepted");
    let case = &asked.plan.cases[0];
    assert_eq!(what(case), (40, 1_000_000, vec![Phase::FileRead], Bytes(3901)));
    assert!(case.workload.verify && !case.workload.work.tree().expect("a tree").own_trees);
    // The status file of the run before is not here.
    assert!(
        asked.warnings.iter().any(|warning| warning.contains("stonewalling status")),
        "{:?}",
        asked.warnings
    );
}

#[test]
fn vendors_measure_trees_of_one_level() {
    let asked = published(2, 16).expect("accepted");
    let case = &asked.plan.cases[0];
    let tree = case.workload.work.tree().expect("a tree");
    let files = [Phase::FileCreate, Phase::FileStat, Phase::FileRead, Phase::FileRemove];
    let phases = [&[Phase::TreeCreate][..], &files, &[Phase::TreeRemove]].concat();
    assert_eq!(what(case), (16, 8 * 1024, phases, Bytes(4096)));
    assert!(tree.sync && tree.leaf_only && tree.read_bytes == Bytes(4096));

    let asked = published(3, 32).expect("accepted");
    let case = &asked.plan.cases[0];
    assert_eq!(what(case), (32, 960_000, vec![Phase::DirectoryStat, Phase::FileStat], Bytes(0)));
    assert_eq!(case.repetitions, 6);
    assert!(case.workload.work.tree().expect("a tree").random.is_some());
}

#[test]
fn daos_is_refused_and_told_the_way() {
    let error = published(4, 30).expect_err("no DAOS").to_string();
    assert!(error.contains("DAOS") && error.contains("dfuse"), "{error}");
}

#[test]
fn scripts_run() {
    let asked = published(5, 4).expect("accepted");
    let (tasks, items, phases, _) = what(&asked.plan.cases[0]);
    assert_eq!((tasks, items, phases.len(), asked.plan.cases[0].repetitions), (4, 100, 10, 3));

    let asked = published(6, 1).expect("accepted");
    let phases =
        vec![Phase::TreeCreate, Phase::FileCreate, Phase::FileStat, Phase::FileRemove, Phase::TreeRemove];
    assert_eq!(what(&asked.plan.cases[0]), (1, 1, phases, Bytes(0)));
}

#[test]
fn the_line_of_the_talk_runs_as_it_was_printed() {
    for (line, in_target) in [(TALK.to_owned(), false), (format!("{TALK} --compat 1.9"), true)] {
        let asked = ask(&line, 14).expect("accepted");
        let case = &asked.plan.cases[0];
        let (tasks, items, phases, bytes) = what(case);
        assert_eq!((tasks, u64::from(tasks) * items, bytes), (14, 490_000, Bytes(0)));
        assert_eq!(phases.len(), 6);
        assert_eq!(case.delay, Nanos::secs(8));
        assert_eq!(case.workload.work.tree().expect("a tree").in_target, in_target);
    }
}
