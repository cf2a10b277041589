//! Studies of jobs: tables, tests and their steps.
#![expect(clippy::unwrap_used, reason = "a study that cannot be read fails the test")]

use std::path::Path;

use crate::common::{shown, study};
use plan::jobs::{Action, Output, TableOrder};
use plan::study::{Options, Override, read_with};
use plan::{Bytes, JobSpace, Jobs, Keep, Nanos, Phase, Plan, TestKind, Work};

const MATTER: &str = r#"
[[table]]
name = "sales"
size = "128MB"
distinct = "1 %"

[[table]]
name = "items"
rows = 10000
groups = 5000
sorted = true

[[test]]
name = "extract"
title = "A tenth of the sales, sorted"
kind = "io"
streams = 3
rounds = 2
threads = 2
memory = "32MiB"
memory_max = "256MiB"

[[test.step]]
do = "scan"
input = "sales"
output = "some"
keep = "10 %"

[[test.step]]
do = "sort"
input = "some"
output = "sorted"
space = "permanent"
threads = 4
memory = "1MiB"

[[test]]
name = "model"
kind = "computation"
after = ["extract"]
step = [
    { do = "merge", left = "sorted", right = "items", output = "joined", space = "utility" },
    { do = "regression", input = "joined", operations = 3e9 },
    { do = "index", input = "items", lookups = 2000 },
    { do = "generate", output = "own", rows = 1000, groups = 10 },
    { do = "append", table = "own", rows = 100 },
    { do = "update", table = "own", share = 0.25 },
    { do = "shuffle", operations = 1000000 },
]
"#;
const WORKLOAD: &str = "[[workload]]\nname = \"w\"\nwork = \"jobs\"\n";
const TARGET: &str = "[[target]]\nname = \"disk\"\ndirectory = \"/mnt/disk\"\n";

fn text(keys: &str) -> String {
    format!("[study]\nseed = 7\n{TARGET}{WORKLOAD}{keys}\n{MATTER}")
}

fn read(text: &str) -> Plan {
    study(text).unwrap_or_else(|errors| panic!("{}", shown(&errors)))
}

fn jobs(plan: &Plan) -> &Jobs {
    plan.cases[0].workload.work.jobs().unwrap()
}

fn refused(text: &str) -> String {
    let said = shown(&study(text).unwrap_err());
    said.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "")
}

#[test]
fn jobs_are_what_their_tables_and_tests_say() {
    let keys = "page = \"64KiB\"\nconcurrency = 3\ndirect = true\nfsync = \"close\"\nfree_percent = 10\n\
                launch_limit = \"2h\"\nkeep = \"on-error\"\nfile_per_repetition = true\n";
    let plan = read(&text(keys));
    let case = &plan.cases[0];
    assert_eq!(case.phases, [Phase::Load, Phase::Jobs]);
    assert_eq!((case.workload.tasks, case.workload.nodes), (7, 1), "a task for each launch");
    assert_eq!(case.workload.files.targets, [Path::new("/mnt/disk"); 3]);
    assert_eq!((case.workload.files.keep, case.workload.files.file_per_repetition), (Keep::OnError, true));
    let jobs = jobs(&plan);
    assert_eq!((jobs.page_bytes, jobs.scale_billionths, jobs.seed), (Bytes::kib(64), 1_000_000_000, 7));
    assert_eq!((jobs.concurrency, jobs.direct, jobs.sync), (3, true, true));
    assert_eq!((jobs.free_percent_min, jobs.launch_limit), (10, Some(Nanos::secs(7200))));
    let tables: Vec<_> =
        jobs.tables.iter().map(|one| (one.name.as_str(), one.rows, one.groups, one.order)).collect();
    assert_eq!(
        tables,
        [("sales", 1_000_000, 10_000, TableOrder::Number), ("items", 10_000, 5_000, TableOrder::Key)]
    );
    let extract = &jobs.tests[0];
    assert_eq!((extract.kind, extract.streams, extract.rounds), (TestKind::Io, 3, 2));
    assert_eq!(
        (extract.memory_max, extract.title.as_str()),
        (Some(Bytes::mib(256)), "A tenth of the sales, sorted")
    );
    let scan = &extract.steps[0];
    assert_eq!((scan.threads, scan.memory), (2, Bytes::mib(32)), "those of the test");
    let output = |table: &str, space| Output { table: table.to_owned(), space };
    let some = Some(output("some", JobSpace::Work));
    assert_eq!(
        scan.action,
        Action::Scan { input: "sales".to_owned(), output: some, keep_millionths: 100_000 }
    );
    let sort = &extract.steps[1];
    assert_eq!(
        sort.action,
        Action::Sort { input: "some".to_owned(), output: output("sorted", JobSpace::Permanent) }
    );
    assert_eq!((sort.threads, sort.memory), (4, Bytes::mib(2)), "32 pages of 64 KiB at least");
    let model = &jobs.tests[1];
    assert_eq!((model.streams, model.rounds, model.after.as_slice()), (1, 1, &["extract".to_owned()][..]));
    let does: Vec<&str> = model.steps.iter().map(|step| step.action.name()).collect();
    assert_eq!(does, ["merge", "regression", "index", "generate", "append", "update", "shuffle"]);
    assert_eq!(
        model.steps[1].action,
        Action::Regression { input: "joined".to_owned(), operations: 3_000_000_000 }
    );
    assert_eq!(model.steps[5].action, Action::Update { table: "own".to_owned(), share_millionths: 250_000 });
    assert_eq!(model.steps[6].action, Action::Shuffle { input: None, operations: 1_000_000 });
}

#[test]
fn everything_but_memory_is_scaled_down_to_a_page() {
    let plan = read(&text("scale = [0.5, 0.0001, 3]\npage = [\"64KiB\", \"1MiB\"]\n"));
    let of = |case: usize| plan.cases[case].workload.work.jobs().unwrap();
    let all = |jobs: &Jobs| {
        let lookups = jobs.tests[1].steps.iter().find_map(|step| match step.action {
            Action::Index { lookups, .. } => Some(lookups),
            _ => None,
        });
        let operations = jobs.tests[1].steps.iter().find_map(|step| match step.action {
            Action::Regression { operations, .. } => Some(operations),
            _ => None,
        });
        (
            jobs.tables[0].rows,
            jobs.tables[0].groups,
            jobs.tables[1].rows,
            jobs.tables[1].groups,
            lookups.unwrap(),
            operations.unwrap(),
        )
    };
    assert_eq!(all(of(0)), (500_000, 5_000, 5_000, 2_500, 1_000, 1_500_000_000));
    assert_eq!(all(of(1)), all(of(0)), "the rows are the same whatever a page is");
    assert_eq!(all(of(2)), (511, 5, 511, 1, 1, 300_000), "a page of rows at least");
    assert_eq!(all(of(4)), (3_000_000, 30_000, 30_000, 15_000, 6_000, 9_000_000_000));
    assert_eq!(of(2).tests[0].steps[0].memory, Bytes::mib(32));
    assert_eq!(of(3).tests[0].steps[0].memory, Bytes::mib(32), "24 pages of 1 MiB fit");
    let small = read(&text("scale = 1e-9\n").replace("rows = 10000\ngroups = 5000", "rows = 3"));
    assert_eq!(
        (jobs(&small).tables[1].rows, jobs(&small).tables[1].groups),
        (3, 1),
        "no more than are written"
    );
}

#[test]
fn some_of_the_tests_are_launched_with_the_tables_that_they_read() {
    let plan = read(&text("tests = [\"extract\"]\n"));
    let names = |jobs: &Jobs| jobs.tables.iter().map(|table| table.name.clone()).collect::<Vec<_>>();
    assert_eq!((jobs(&plan).tests.len(), names(jobs(&plan))), (1, vec!["sales".to_owned()]));
    let said = refused(&text("tests = [\"model\"]\n"));
    assert!(said.contains("`sorted` is written by test `extract`: add that test to `tests`"), "{said}");
    let said = refused(&text("tests = [\"modell\"]\n"));
    assert!(said.contains("there is no test `modell`") && said.contains("did you mean \"model\"?"), "{said}");
    let said = refused(&text("tests = [\"extract\", \"extract\"]\n"));
    assert!(said.contains("test `extract` is named twice"), "{said}");
    // An order among tests that are not launched is no mistake.
    let alone = text("tests = [\"model\"]\n").replace("left = \"sorted\"", "left = \"items\"");
    assert!(jobs(&read(&alone)).tests[0].after.is_empty());
}

#[test]
fn tables_and_tests_are_set_from_outside() {
    let set = ["table.sales.rows=2000", "test.*.streams=5", "workload.w.tests=[\"extract\"]"];
    let overrides = set.iter().map(|one| Override::parse(one).unwrap()).collect();
    let options = Options { overrides, ..Options::default() };
    let plan = read_with(Path::new("s.toml"), &text(""), &options).unwrap();
    assert_eq!((jobs(&plan).tables[0].rows, jobs(&plan).tests[0].streams), (2000, 5));
}

#[test]
fn a_directory_from_outside_is_that_of_all_spaces() {
    let text = text("").replace(TARGET, &format!("{TARGET}work = \"/w\"\nutility = \"/u\"\n"));
    let spaces = |set: &[&str]| {
        let overrides = set.iter().map(|one| Override::parse(one).unwrap()).collect();
        let options = Options { overrides, ..Options::default() };
        let plan = read_with(Path::new("s.toml"), &text, &options).unwrap();
        let all = &plan.cases[0].workload.files.targets;
        all.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(spaces(&[]), "/mnt/disk /w /u");
    assert_eq!(spaces(&["target.*.directory=/x"]), "/x /x /x");
    assert_eq!(spaces(&["target.*.directory=/x", "target.*.utility=/y"]), "/x /x /y");
}

#[test]
fn each_space_has_its_directory() {
    let spaces = |target: &str| {
        let plan = read(&text("").replace("directory = \"/mnt/disk\"\n", target));
        let all = &plan.cases[0].workload.files.targets;
        all.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(spaces("directory = \"/a\"\nwork = \"/b\"\n"), "/a /b /b");
    assert_eq!(spaces("directory = \"/a\"\nwork = \"/b\"\nutility = \"/c\"\n"), "/a /b /c");
    assert_eq!(spaces("directory = \"/a\"\nutility = \"/c\"\n"), "/a /a /c");
    assert_eq!(spaces("paths = [\"/a\", \"/b\", \"/c\", \"/d\"]\n"), "/a /b /c");
    assert_eq!(spaces("paths = [\"/a\", \"/b\"]\n"), "/a /b /b");
    let lvm = "\n[[layout]]\nname = \"five\"\nrecipe = \"lvm\"\nstripe = \"128KiB\"\ndevices = [\"/dev/loop0\", \"/dev/loop1\"]\n\
               mount_point = \"/sas\"\nvolumes = [\"data=1GB\", \"work=1GB\", \"util\"]\n[[target]]\nname = \"t\"\n";
    let on = |keys: &str| text("").replace(TARGET, &format!("{lvm}layout = \"five\"\n{keys}"));
    let plan = |keys: &str| {
        let plan = read(&on(keys));
        plan.cases[0]
            .workload
            .files
            .targets
            .iter()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(plan(""), "/sas/data /sas/work /sas/util");
    assert_eq!(plan("volume = \"data\"\n"), "/sas/data /sas/data /sas/data");
    assert_eq!(
        plan("volume = \"work\"\nwork = \"util\"\nutility = \"data\"\n"),
        "/sas/work /sas/util /sas/data"
    );
    assert_eq!(plan("utility = \"/scratch\"\n"), "/sas/data /sas/work /scratch");
    let said = refused(&on("work = \"wrok\"\n"));
    assert!(
        said.contains("layout `five` has no volume `wrok`") && said.contains("did you mean \"work\"?"),
        "{said}"
    );
    let per_device = on("")
        .replace("\"lvm\"\nstripe = \"128KiB\"", "\"per-device\"")
        .replace("volumes = [\"data=1GB\", \"work=1GB\", \"util\"]\n", "");
    let targets = read(&per_device).cases[0].workload.files.targets.clone();
    assert_eq!(targets, [Path::new("/sas/0"), Path::new("/sas/1"), Path::new("/sas/1")]);
}

#[test]
fn a_step_that_is_misspelt_is_shown_with_its_place() {
    let wrong =
        text("").replace("do = \"merge\"", "do = \"merg\"").replace("do = \"scan\"", "do = \"scann\"");
    insta::assert_snapshot!(shown(&study(&wrong).unwrap_err()));
}

#[test]
fn every_mistake_is_told_with_the_next_step() {
    let step = "[[test.step]]\ndo = \"sort\"";
    for (part, by, words) in [
        ("input = \"sales\"", "input = \"sails\"", "reads `sails`, a table that nothing creates"),
        ("input = \"sales\"", "input = \"items\"", "no test reads table `sales`"),
        ("input = \"some\"", "left = \"some\"", "`left` would do nothing here"),
        ("input = \"some\"", "", "a step with do = \"sort\" has no `input`"),
        ("output = \"sorted\"\nspace", "space", "has no `output`"),
        ("input = \"some\"", "inptu = \"some\"", "did you mean `input`?"),
        ("output = \"sorted\"", "output = \"some\"", "two steps of test `extract` write the table `some`"),
        ("output = \"sorted\"", "output = \"items\"", "the table `items` exists before the first launch"),
        ("output = \"some\"\nkeep", "space = \"work\"\nkeep", "it says where `output` is stored"),
        ("space = \"permanent\"\n", "", "write it with space = \"permanent\""),
        ("left = \"sorted\"", "left = \"sales\"", "a merge needs inputs sorted by key"),
        ("sorted = true\n", "", "create it with `sorted = true`"),
        ("after = [\"extract\"]", "after = [\"extrakt\"]", "did you mean \"extract\"?"),
        ("after = [\"extract\"]", "after = [\"model\"]", "model → model"),
        ("threads = 2\n", "threads = 2\nafter = [\"model\"]\n", "extract → model → extract"),
        ("rounds = 2", "rounds = 4000", "make more than 4096 launches"),
        ("rounds = 2", "rounds = 0", "a whole number from 1 to 4096"),
        ("size = \"128MB\"", "size = 100", "100 bytes are too few for a row"),
        ("size = \"128MB\"", "size = \"128MB\"\nrows = 5", "both `rows` and `size`"),
        ("size = \"128MB\"\n", "", "the number of rows is not given"),
        ("groups = 5000", "groups = 50000", "50000 different keys are more than 10000 rows"),
        ("distinct = \"1 %\"", "distinct = \"1 %\"\ngroups = 3", "both `groups` and `distinct`"),
        ("share = 0.25", "share = 0", "asks for no pages"),
        ("share = 0.25", "share = 25", "`share` cannot be 25"),
        ("operations = 3e9", "operations = 0", "`operations` cannot be 0"),
        ("kind = \"io\"", "kind = \"i/o\"", "\"computation\", \"memory\", \"io\""),
        ("kind = \"io\"\n", "", "[[test]] has no `kind`"),
        ("name = \"model\"", "name = \"extract\"", "two tests are called `extract`"),
        ("name = \"items\"", "name = \"sales\"", "two tables are called `sales`"),
        (step, "[[test.stop]]\ndo = \"sort\"", "[[test]] has no key `stop`"),
        ("work = \"jobs\"", "work = \"jobs\"\ntasks = 4", "leave it out where work = \"jobs\""),
        ("work = \"jobs\"", "work = \"jobs\"\nscale = 0", "`scale` cannot be 0"),
        ("work = \"jobs\"", "work = \"jobs\"\npage = \"32KiB\"", "a power of two from 64 KiB to 1 MiB"),
        ("work = \"jobs\"", "work = \"jobs\"\nbackend = \"uring\"", "leave `backend` and `depth` out"),
        ("work = \"jobs\"", "work = \"jobs\"\nfsync = \"each\"", "write fsync = \"close\""),
        ("work = \"jobs\"", "work = \"jobs\"\nnodes = 2", "nodes"),
        ("work = \"jobs\"", "work = \"jobs\"\nphases = [\"jobs\"]", "put \"load\" first, or write existing"),
        ("work = \"jobs\"", "work = \"jobs\"\nphases = [\"jobs\", \"load\"]", "put \"load\" first"),
        ("work = \"jobs\"", "work = \"jobs\"\nphases = [\"load\", \"write\"]", "has no phase \"write\""),
        ("directory = \"/mnt/disk\"", "device = \"/dev/sdx\"", "create a file system on it"),
        (
            "work = \"jobs\"",
            "transfer = \"1MiB\"\nsize = \"1MiB\"",
            "it needs a [[workload]] with work = \"jobs\"",
        ),
    ] {
        assert!(text("").contains(part), "{part}");
        let said = refused(&text("").replacen(part, by, 1));
        assert!(said.contains(words), "{by}: {words}\n{said}");
    }
    let none = refused(&format!("{TARGET}{WORKLOAD}"));
    assert!(none.contains("the study has no [[test]]") && none.contains("add one, with `name`"), "{none}");
    let changed = MATTER
        .replace("input = \"items\"", "input = \"sales\"")
        .replace("do = \"append\", table = \"own\"", "do = \"append\", table = \"sales\"");
    let said = refused(&format!("{TARGET}{WORKLOAD}{changed}"));
    assert!(said.contains("test `model` changes `sales`, which `extract` uses"), "{said}");
    let spaces =
        format!("{TARGET}work = \"/w\"\n[[workload]]\nname = \"w\"\ntransfer = \"1MiB\"\nsize = \"1MiB\"\n");
    let said = refused(&spaces);
    assert!(said.contains("`work` would do nothing here"), "{said}");
}

#[test]
fn a_plan_of_jobs_can_be_stored() {
    let plan = read(&text(""));
    let stored = serde_json::to_string(&plan.cases[0]).unwrap();
    let back: plan::Case = serde_json::from_str(&stored).unwrap();
    assert!(matches!(&back.workload.work, Work::Jobs(read) if read == jobs(&plan)));
}
