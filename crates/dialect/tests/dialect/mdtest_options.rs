//! Command lines of mdtest become the plans that mdtest would carry out, or are refused for the right
//! reason.

use dialect::ior::Launcher;
use dialect::{ParsedCommand, ToolError, tool};
use plan::{Backend, Bytes, Keep, Nanos, Phase, PlanSource, Stonewall, Tree, Workload};
use proptest::prelude::{any, prop_assert, proptest};
use proptest::sample::select;

fn parse(line: &[String], launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    (tool("mdtest").expect("a tool").parse)(line, launcher)
}

fn with(line: &str, tasks: u32) -> Result<ParsedCommand, ToolError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words, Launcher { tasks: Some(tasks), ..Launcher::default() })
}

fn ask(line: &str) -> Result<ParsedCommand, ToolError> {
    with(line, 1)
}

fn refused(line: &str) -> String {
    ask(line).expect_err(line).to_string()
}

fn workload(asked: &ParsedCommand) -> &Workload {
    &asked.plan.cases[0].workload
}

fn tree(asked: &ParsedCommand) -> &Tree {
    workload(asked).work.tree().expect("a tree")
}

const ALL: [Phase; 10] = [
    Phase::TreeCreate,
    Phase::DirectoryCreate,
    Phase::DirectoryStat,
    Phase::DirectoryRename,
    Phase::DirectoryRemove,
    Phase::FileCreate,
    Phase::FileStat,
    Phase::FileRead,
    Phase::FileRemove,
    Phase::TreeRemove,
];

#[test]
fn without_a_choice_all_phases_run_in_their_order() {
    let asked = ask("mdtest -n 10").expect("accepted");
    assert_eq!(asked.plan.cases[0].phases, ALL);
    assert_eq!(workload(&asked).files.targets, [std::path::Path::new("./out")]);
    assert_eq!((tree(&asked).items_per_task(), asked.plan.cases[0].repetitions), (10, 1));
    assert_eq!(workload(&asked).files.keep, Keep::Never);
}

#[test]
fn letters_choose_phases_and_kinds() {
    let phases = |line: &str| ask(line).expect("accepted").plan.cases[0].phases.clone();
    assert_eq!(phases("mdtest -n 1 -F -CT"), [Phase::TreeCreate, Phase::FileCreate, Phase::FileStat]);
    assert_eq!(phases("mdtest -n 1 -D -T -U"), [Phase::DirectoryStat, Phase::DirectoryRename]);
    assert_eq!(
        phases("mdtest -n 1 -D -C -E -r"),
        [Phase::TreeCreate, Phase::DirectoryCreate, Phase::DirectoryRemove, Phase::TreeRemove]
    );
    assert_eq!(phases("mdtest -n 1 -S -r"), [Phase::FileRemove, Phase::TreeRemove]);
    assert_eq!(phases("mdtest -n 1 -F -D"), ALL);
    assert_eq!(phases("mdtest -a POSIX -W 2"), [Phase::TreeCreate, Phase::TreeRemove], "without items");
    assert_eq!(phases("mdtest -n 1 -C-F"), [Phase::TreeCreate, Phase::FileCreate], "a dash says nothing");
}

#[test]
fn what_nothing_removes_stays() {
    let keep = |line: &str| workload(&ask(line).expect("accepted")).files.keep;
    assert_eq!(keep("mdtest -n 1 -C"), Keep::Always);
    assert_eq!(keep("mdtest -n 1 -T -E"), Keep::Always);
    assert_eq!(keep("mdtest -n 1 -C -r"), Keep::Never);
}

#[test]
fn values_may_be_attached_follow_an_equals_sign_or_be_the_next_word() {
    for line in ["mdtest -n 12 -w 4k -z 1 -b 2", "mdtest -n12 -w4K -z1 -b2", "mdtest -n=12 -w=4096 -z=1 -b=2"]
    {
        let asked = ask(line).expect(line);
        let tree = tree(&asked);
        assert_eq!((tree.depth, tree.branching, tree.items_per_directory), (1, 2, 4), "{line}");
        assert_eq!(tree.write_bytes, Bytes(4096), "{line}");
    }
}

#[test]
fn items_are_spread_over_directories_as_mdtest_spreads_them() {
    let items = |line: &str| {
        let asked = ask(line).expect(line);
        (tree(&asked).items_per_directory, tree(&asked).items_per_task())
    };
    // What mdtest printed and left on disk for the same lines.
    assert_eq!(items("mdtest -n 10 -z 1 -b 2"), (3, 9));
    assert_eq!(items("mdtest -n 10 -z 1 -b 2 -L"), (5, 10));
    assert_eq!(items("mdtest -I 3 -z 2 -b 2 -L"), (3, 12));
    assert_eq!(items("mdtest -n 5 -I 5"), (5, 5));
    assert!(refused("mdtest -n 10 -I 3").contains("items must be a multiple of items per directory"));
    assert!(refused("mdtest -n 12 -I 2 -z 1 -b 2").contains("6 trees"));
    assert!(refused("mdtest -n 2 -z 3 -b 3").contains("40"));
}

#[test]
fn numbers_may_have_the_suffix_of_a_size() {
    assert_eq!(tree_of("mdtest -n 6k -F").items_per_directory, 6144);
    assert_eq!(
        workload_of("mdtest -I 1k -F -W 1k -C").stonewall.expect("a deadline").deadline.0,
        1_024_000_000_000
    );
}

#[test]
fn one_case_for_each_number_of_tasks() {
    let tasks = |line: &str| {
        let asked = with(line, 8).expect(line);
        asked.plan.cases.iter().map(|case| case.workload.tasks).collect::<Vec<_>>()
    };
    assert_eq!(tasks("mdtest -n 1"), [8]);
    assert_eq!(tasks("mdtest -n 1 -f 2"), [8], "without -l mdtest takes all");
    assert_eq!(tasks("mdtest -n 1 -f 1 -l 4"), [1, 2, 3, 4]);
    assert_eq!(tasks("mdtest -n 1 -l 8 -s 3"), [1, 4, 7]);
    let error = with("mdtest -n 1 -l 9", 8).expect_err("too many").to_string();
    assert!(error.contains("there are 8 tasks") && error.contains("--tasks-per-rank"), "{error}");
}

#[test]
fn tasks_are_those_of_the_launcher() {
    let node_of = [0, 0, 1, 1];
    let launcher = Launcher { node_of: &node_of, ..Launcher::default() };
    let line = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let asked = parse(&line("mdtest -n 1 --tasks-per-rank 3"), launcher).expect("accepted");
    assert_eq!((workload(&asked).tasks, workload(&asked).nodes), (12, 2));
    let asked = parse(&line("mdtest -n 1 -f 2 -l 2"), launcher).expect("accepted");
    assert_eq!((workload(&asked).tasks, workload(&asked).nodes), (2, 1));
    let asked = ask("mdtest -n 1 --tasks-per-rank=3");
    assert_eq!(workload(&asked.expect("accepted")).tasks, 1, "the launcher's word goes first");
}

#[test]
fn every_option_of_the_work_is_in_the_plan() {
    let line = "mdtest -n 8 -u -d /a@/b -c -N 1 -R5 -y -Y -w 3901 -e 3901 -X -i 3 -p 8 -W 300 -G 7";
    let asked = with(line, 4).expect("accepted");
    let (case, workload, tree) = (&asked.plan.cases[0], workload(&asked), tree(&asked));
    assert_eq!(workload.files.targets.len(), 2);
    assert!(tree.own_trees && tree.collective && tree.sync && tree.sync_all && workload.verify);
    assert_eq!((tree.shift, tree.random, workload.signature), (1, Some(5), 7));
    assert_eq!((tree.write_bytes, tree.read_bytes), (Bytes(3901), Bytes(3901)));
    assert_eq!((case.repetitions, case.delay), (3, Nanos::secs(8)));
    assert!(workload.files.file_per_repetition);
    assert_eq!(workload.stonewall, Some(Stonewall { deadline: Nanos::secs(300), wear_out: true }));
    assert!(tree_of("mdtest -n 1 -S").shared && tree_of("mdtest -n 1 -F -k").make_node);
    assert_eq!(workload_of("mdtest -n 1 -a dummy").backend, Backend::Null);
    assert_eq!(tree_of("mdtest -n 1 -R --random-seed=9").random, Some(9));
}

fn tree_of(line: &str) -> Tree {
    tree(&ask(line).expect(line)).clone()
}

fn workload_of(line: &str) -> Workload {
    workload(&ask(line).expect(line)).clone()
}

#[test]
fn a_later_phase_goes_as_far_as_the_status_file_says() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("status");
    let line = format!("mdtest -n 1000 -F -E -T -r -x {}", path.display());
    let missing = ask(&line).expect("accepted");
    assert_eq!((workload(&missing).transfer_limit, missing.warnings.len()), (None, 1));
    std::fs::write(&path, "434").expect("written");
    assert_eq!(workload_of(&line).transfer_limit, Some(434));
    assert_eq!(workload_of(&format!("{line} -C")).transfer_limit, None, "who creates does not look");
    std::fs::write(&path, "many").expect("written");
    assert!(refused(&line).contains("does not contain a number of items"));
}

#[test]
fn what_cannot_be_done_is_refused_with_its_reason() {
    for (line, reason) in [
        ("mdtest -T", "there are no items"),
        ("mdtest -n 1 -S -u", "a shared file cannot be"),
        ("mdtest -n 1 -S -D", "only files can be shared"),
        ("mdtest -n 1 -F -k -w 10", "not open for writing"),
        ("mdtest -n 1 -F -X", "nothing is read"),
        ("mdtest -n 1 -F -w 10 -e 20", "cannot be read beyond"),
        ("mdtest -n 1 -d a@b", "add -u"),
        ("mdtest -n 1 -d a@@b -u", "has an empty name"),
        ("mdtest -n 1 -z 3 -b 0", "-b 1 or more"),
        ("mdtest -n 1 -i 0", "nothing would run"),
        ("mdtest -n 1 -l 1 -s 0", "would never increase"),
        ("mdtest -n 1 -f 2 -l 1", "greater than the last"),
        ("mdtest -n 1 -F -U", "no directories to rename"),
        ("mdtest -n abc", "is not a whole number"),
        ("mdtest -n", "needs a value, as in -n 1000"),
        ("mdtest -n 1 -w 1.5k", "1536"),
        ("mdtest -n 1 -a MPIIO", "MPI-IO"),
        ("mdtest -n 1 -a DFS", "dfuse"),
        ("mdtest -n 1 -a NONE", "is not an API of mdtest"),
        ("mdtest -n 1 --allocateBufferOnGPU=1", "no buffers on a GPU"),
        ("mdtest -n 1 -g", "lfs setstripe"),
        ("mdtest -n 1 --run-cmd-before-phase=sync", "starts no other program"),
        ("mdtest -n 1 stray", "is neither an option"),
        ("mdtest -n 1 -q", "is not an option of mdtest"),
        ("mdtest -n 1 -A", "did you mean -a?"),
        ("mdtest -n 1 --verifyread", "did you mean --verify-read?"),
        ("mdtest -n 1 --saveRankPerformanceDetail=x", "did you mean --saveRankPerformanceDetails?"),
        ("mdtest -n 1 --compat 2.9", "1.9, 3.0, 3.3 or 4.0"),
    ] {
        let error = refused(line);
        assert!(error.contains(reason) && error.starts_with("mdtest: "), "{line}: {error}");
    }
}

#[test]
fn a_branching_factor_of_nothing_is_taken_where_there_is_one_directory() {
    assert_eq!(tree_of("mdtest -I 32 -z 0 -b 0").directories(), 1);
}

#[test]
fn what_changes_nothing_is_said() {
    let asked = ask("mdtest -n 1 -t -B 1 -B --print-all-procs").expect("accepted");
    let PlanSource::Dialect { notes, .. } = &asked.plan.source else { panic!("no dialect") };
    assert_eq!(notes.len(), 5);
    assert!(notes[1..].iter().all(|note| note.meaning.starts_with("no effect: ")), "{notes:?}");
    assert_eq!(notes[2].written, "-B 1");
}

#[test]
fn the_letter_that_two_releases_understand_differently_is_explained() {
    let line = "mdtest -d /s/mdtest-ec -i 1 -n 1000 -F -w 0 -Z -p 8";
    let meaning = |line: &str| {
        let asked = ask(line).expect("accepted");
        let PlanSource::Dialect { notes, .. } = &asked.plan.source else { panic!("no dialect") };
        let note = notes.iter().find(|note| note.written == "-Z").expect("a note").meaning.clone();
        (note, tree(&asked).in_target, asked.warnings.len())
    };
    let (present, in_target, warnings) = meaning(line);
    assert!(present.contains("local patch") && present.contains("--compat 1.9"), "{present}");
    assert_eq!((in_target, warnings), (false, 1));
    let (old, in_target, warnings) = meaning(&format!("{line} --compat 1.9"));
    assert!(old.contains("rates are printed"), "{old}");
    assert_eq!((in_target, warnings), (true, 0));
}

#[test]
fn help_ends_before_anything_else_can_be_wrong() {
    let asked = ask("mdtest -h -n 1").expect("accepted");
    let help = asked.show.expect("a text");
    assert!(asked.plan.cases.is_empty());
    for word in ["-n 1000", "--showRankStatistics", "--compat RELEASE", "--run-cmd-before-phase"] {
        assert!(help.contains(word), "{word}:\n{help}");
    }
}

/// Run with `UPDATE_DOCS=1` to write the table into the page again.
#[test]
fn the_page_on_mdtest_has_every_option() {
    crate::page::has("MDTEST.md", &(tool("mdtest").expect("a tool").reference)());
}

/// Pieces from which lines are put together that come near to real ones.
const PIECES: [&str; 44] = [
    "-n",
    "10",
    "-n10",
    "-n=3",
    "-I",
    "5",
    "-z",
    "1",
    "-b",
    "2",
    "0",
    "-b0",
    "-F",
    "-D",
    "-C",
    "-T",
    "-E",
    "-r",
    "-U",
    "-u",
    "-L",
    "-S",
    "-c",
    "-k",
    "-w",
    "4k",
    "-e",
    "1.5m",
    "-X",
    "-W",
    "-x",
    "/nowhere",
    "-d",
    "a@b",
    "-R5",
    "-R",
    "-B",
    "-Z",
    "-P",
    "-l",
    "-f",
    "--compat=1.9",
    "--dataPacketType=t",
    "-18446744073709551615",
];

proptest! {
    #[test]
    fn any_line_is_a_plan_or_an_error(words in proptest::collection::vec(select(&PIECES[..]), 0..12), tasks in 1_u32..9) {
        let mut line = vec!["mdtest".to_owned()];
        line.extend(words.iter().map(|word| (*word).to_owned()));
        if let Ok(asked) = parse(&line, Launcher { tasks: Some(tasks), ..Launcher::default() }) {
            prop_assert!(asked.show.is_some() || !asked.plan.cases.is_empty());
            for case in &asked.plan.cases {
                prop_assert!(!case.phases.is_empty());
                prop_assert!(case.workload.work.tree().is_some_and(|tree| tree.items_per_task() > 0));
            }
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(words in proptest::collection::vec(".{0,12}", 0..6), dash in any::<bool>()) {
        let mut line = vec!["mdtest".to_owned()];
        line.extend(words.iter().map(|word| if dash { format!("-{word}") } else { word.clone() }));
        let _ = parse(&line, Launcher::default());
    }
}
