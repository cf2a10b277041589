//! What options of IOR mean here, and what is refused.

use dialect::ior::{Format, Launcher, ParsedCommand, help, parse, reference};
use dialect::{Compat, ToolError};
use plan::{
    Advice, Backend, Bytes, Existing, Keep, Nanos, Order, Phase, Placement, PlanSource, ReadFrom, Sharing,
    Workload,
};
use proptest::prelude::{Strategy, any, prop_assert_eq, prop_oneof, proptest};
use proptest::{collection, sample};

fn ask(line: &str) -> Result<ParsedCommand, ToolError> {
    ask_with(line, Launcher::default())
}

fn ask_with(line: &str, launcher: Launcher) -> Result<ParsedCommand, ToolError> {
    parse(&line.split_whitespace().collect::<Vec<_>>(), launcher)
}

fn workload(line: &str) -> Workload {
    ask(line).unwrap_or_else(|error| panic!("{line}: {error}")).plan.cases[0].workload.clone()
}

fn refusal(line: &str) -> String {
    match ask(line) {
        Ok(_) => panic!("{line} should be refused"),
        Err(error) => error.to_string(),
    }
}

/// The meaning that `--explain` shows for the option with this long name.
fn meaning(line: &str, name: &str) -> String {
    let asked = ask(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let note = asked.notes.iter().find(|note| note.name == name);
    note.unwrap_or_else(|| panic!("{line} has no {name}: {:?}", asked.notes)).meaning.clone()
}

#[test]
fn defaults_are_those_of_ior() {
    let asked = ask("ior").expect("accepted");
    let case = &asked.plan.cases[0];
    assert_eq!(case.phases, [Phase::Write, Phase::Read]);
    assert_eq!(case.repetitions, 1);
    let workload = &case.workload;
    assert_eq!(workload.geometry.transfer, Bytes::kib(256));
    assert_eq!((workload.geometry.block, workload.geometry.segments), (Bytes::mib(1), 1));
    assert_eq!(workload.files.targets, [std::path::PathBuf::from("testFile")]);
    assert_eq!(workload.files.sharing, Sharing::Shared);
    assert_eq!((workload.files.existing, workload.files.keep), (Existing::Replace, Keep::Never));
    assert_eq!((workload.tasks, workload.backend, workload.direct), (1, Backend::Psync, false));
    assert_eq!(asked.output.format, Format::Text);
    assert!(!workload.files.fill, "a missing file is an error, as in IOR");
}

#[test]
fn letters_and_values_may_be_written_in_every_way_that_ior_takes() {
    let spelled = [
        "ior -C -g -e -b 1m -t 64k -i 5",
        "ior -Cge -b1m -t=64k -i5",
        "ior -Cgeb 1m -t64K -i=5",
        "ior -eCgb1MiB -t 64kb -i 5",
        "ior -O reorderTasksConstant=1,INTRATESTBARRIERS=1,fsync=true -O blockSize=1m,transferSize=64k -i5",
    ];
    let first = ask(spelled[0]).expect("accepted").plan.cases;
    for line in &spelled[1..] {
        assert_eq!(ask(line).unwrap_or_else(|error| panic!("{line}: {error}")).plan.cases, first, "{line}");
    }
}

#[test]
fn a_later_option_goes_before_an_earlier_one() {
    assert_eq!(workload("ior -t 64k -O transferSize=32k").geometry.transfer, Bytes::kib(32));
    assert_eq!(workload("ior -O transferSize=32k -t 64k").geometry.transfer, Bytes::kib(64));
}

#[test]
fn phases_are_those_that_were_asked_for() {
    let phases = |line: &str| ask(line).expect("accepted").plan.cases[0].phases.clone();
    assert_eq!(phases("ior -w"), [Phase::Write]);
    assert_eq!(phases("ior -r"), [Phase::Read]);
    assert_eq!(phases("ior -W"), [Phase::CheckWrite]);
    assert_eq!(phases("ior -R"), [Phase::Read, Phase::CheckRead]);
    assert_eq!(phases("ior -O writeFile=0"), [Phase::Write, Phase::Read]);
    assert_eq!(phases("ior -w -W -r -R"), [Phase::Write, Phase::CheckWrite, Phase::Read, Phase::CheckRead]);
}

#[test]
fn tasks_come_from_the_line_then_from_the_launcher() {
    let launcher = Launcher { tasks: Some(4), ..Launcher::default() };
    let tasks =
        |line: &str, launcher| ask_with(line, launcher).expect("accepted").plan.cases[0].workload.tasks;
    assert_eq!(tasks("ior", Launcher::default()), 1);
    assert_eq!(tasks("ior -N 132", Launcher::default()), 132);
    assert_eq!(tasks("ior", launcher), 4);
    assert_eq!(tasks("ior -N 2", launcher), 2);
    assert_eq!(tasks("ior -N -1", launcher), 4);
    assert_eq!(tasks("ior -N 0", launcher), 4);
}

#[test]
fn a_task_reads_what_the_next_one_wrote() {
    let shift =
        |line: &str, launcher| ask_with(line, launcher).expect("accepted").plan.cases[0].workload.read_from;
    let one = Launcher { tasks: Some(6), ..Launcher::default() };
    let three = Launcher { tasks: Some(6), nodes: Some(3), ..Launcher::default() };
    assert_eq!(shift("ior -C", one), ReadFrom::Shift { tasks: 1 });
    assert_eq!(shift("ior -C -Q 4", one), ReadFrom::Shift { tasks: 4 });
    assert_eq!(shift("ior -C -Q 6", one), ReadFrom::Same);
    // Over nodes it goes to the next node, so that no cache of the own one answers.
    assert_eq!(shift("ior -C", three), ReadFrom::Shift { tasks: 2 });
    assert_eq!(shift("ior -C -Q 2", three), ReadFrom::Shift { tasks: 4 });
    assert_eq!(shift("ior -r", one), ReadFrom::Same);
    let random = |line: &str| match shift(line, one) {
        ReadFrom::Shuffle { at_least, seed, reseed } => (at_least, seed, reseed),
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(random("ior -Z"), (1, 0, false));
    assert_eq!(random("ior -Z -X 5 -Q 2"), (2, 5, false));
    assert_eq!(random("ior -Z -X -5"), (1, (-5_i64).cast_unsigned(), true));
    assert!(meaning("ior -N 6 -C", "reorderTasksConstant").contains("task t + 1"));
    assert!(meaning("ior -C", "reorderTasksConstant").contains("its own data"));
}

#[test]
fn files_are_named_as_ior_names_them() {
    let names = |line: &str, repetition| -> Vec<String> {
        let workload = workload(line);
        let slots = Placement::new(&workload).files(repetition);
        slots.iter().map(|slot| slot.path.display().to_string()).collect()
    };
    assert_eq!(names("ior -N 3 -F -o a", 0), ["a.00000000", "a.00000001", "a.00000002"]);
    assert_eq!(names("ior -N 3 -F -o a@b", 0), ["a.00000000", "b.00000001", "a.00000002"]);
    assert_eq!(names("ior -N 2 -F -u -o s/a", 0), ["s/0/a.00000000", "s/1/a.00000001"]);
    assert_eq!(names("ior -N 2 -F -m -i 2 -o a", 1), ["a.00000000.1", "a.00000001.1"]);
    assert_eq!(names("ior -N 2 -m -i 3 -o a", 2), ["a.2"]);
    assert_eq!(names("ior -N 2 -F -y -o m", 0), ["m0/data.00000000", "m0/data.00000001"]);
    let two_nodes = Launcher { tasks: Some(4), nodes: Some(2), ..Launcher::default() };
    let asked = ask_with("ior -F -y -o m", two_nodes).expect("accepted");
    let path = |task| Placement::new(&asked.plan.cases[0].workload).file(task, Phase::Write, 0).path;
    assert_eq!((path(1), path(2)), ("m0/data.00000001".into(), "m1/data.00000002".into()));
    assert_eq!(names("ior -N 2 -o a@b", 0), ["a"]);
    assert!(ask("ior -o a@b").expect("accepted").warnings[0].contains("require -F"));
    assert!(meaning("ior -N 2 -u -o a", "uniqueDir").contains("no effect without -F"));
}

#[test]
fn every_letter_with_a_meaning_here_reaches_the_plan() {
    let case = |line: &str| ask(line).expect("accepted").plan.cases[0].clone();
    assert!(workload("ior -B").direct && workload("ior --posix.odirect").direct);
    assert!(workload("ior -O useO_DIRECT=1").direct && !workload("ior -B -O useO_DIRECT=0").direct);
    assert_eq!(case("ior -d 2").delay, Nanos::secs(2));
    assert_eq!(case("ior -d 1.9").delay, Nanos::secs(1), "IOR cuts the fraction off");
    assert!(case("ior -r -z-k").workload.order.is_random(), "IOR ignores a dash among letters");
    assert_eq!(case("ior -a DUMMY --dummy.delay-xfer=5").workload.backend, Backend::Null);
    assert_eq!(case("ior -T 3").time_limit, Some(Nanos::secs(180)));
    assert_eq!(workload("ior -j 5").outlier, Some(Nanos::secs(5)));
    assert_eq!(workload("ior -E").files.existing, Existing::Reuse);
    assert_eq!(workload("ior -k -K").files.keep, Keep::Always);
    assert_eq!(workload("ior -K").files.keep, Keep::OnError);
    assert!(workload("ior -p").files.preallocate);
    assert!(workload("ior -q").quit_on_error && workload("ior -x").single_attempt);
    assert!(workload("ior -Y").sync.per_write && workload("ior -e").sync.at_close);
    assert!(workload("ior -g").barriers && workload("ior -m").files.file_per_repetition);
    assert_eq!(workload("ior -G 271").signature, 271);
    assert_eq!(workload("ior -G -1").signature, u64::MAX);
    assert_eq!(workload("ior -O minTimeDuration=60").duration, Some(Nanos::secs(60)));
    assert_eq!(workload("ior -O stoneWallingWearOutIterations=9").transfer_limit, Some(9));
    assert_eq!(workload("ior -a mmap").backend, Backend::Mmap);
    assert_eq!(workload("ior -a DUMMY").backend, Backend::Null);
    assert_eq!(workload("ior -a aio").backend, Backend::Libaio { depth: 128 });
    assert_eq!(
        workload("ior -a AIO --aio.max-pending=32 --aio.granularity=8").backend,
        Backend::Libaio { depth: 32 }
    );
}

#[test]
fn random_blocks_are_those_of_the_file_as_it_is() {
    let blocks = std::fs::metadata("Cargo.toml").expect("the file of the crate").len() / 64;
    let order = |line: &str| workload(&format!("ior -r -b 64 -t 32 -s 1000 -o Cargo.toml {line}")).order;
    assert_eq!(order("-z -z"), Order::RandomBlocks { seed: 0, blocks, own: true });
    assert_eq!(order("-zz --random-offset-seed=5"), Order::RandomBlocks { seed: 5, blocks, own: false });
    // Before it is there, it is as the test before leaves it.
    let directory = tempfile::tempdir().expect("a directory");
    let script = directory.path().join("script");
    let tests = "IOR START\nblockSize=4k\ntransferSize=1k\nsegmentCount=3\nkeepFile=1\nwriteFile=1\nreadFile=0\nRUN\n\
                 writeFile=0\nreadFile=1\nrandomOffset=2\nRUN\nIOR STOP\n";
    std::fs::write(&script, tests).expect("written");
    let asked = ask(&format!("ior -o not-there -f {}", script.display())).expect("accepted");
    assert_eq!(asked.plan.cases[1].workload.order, Order::RandomBlocks { seed: 0, blocks: 3, own: true });
}

#[test]
fn memory_is_held_by_size_by_share_and_by_task() {
    let launcher = Launcher { tasks: Some(4), memory_bytes: Some(1000), ..Launcher::default() };
    let held = |line: &str| ask_with(line, launcher).map(|asked| asked.plan.cases[0].workload.memory_hog);
    assert_eq!(held("ior -M 2g"), Ok(Bytes::gib(2)));
    assert_eq!(held("ior -M 75%"), Ok(Bytes(750)));
    assert_eq!(held("ior -O memoryPerTask=1k"), Ok(Bytes::kib(4)));
    assert!(refusal("ior -M 75%").contains("memory of this node is unknown"));
    assert!(refusal("ior -M 101%").contains("0% to 100%"));
}

#[test]
fn what_is_refused_says_why_and_what_to_do() {
    let refused = [
        ("ior -c", "collective buffering needs MPI-IO"),
        ("ior -a MPIIO", "ioproof supports POSIX, MMAP, DUMMY and AIO; use -a POSIX"),
        ("ior -a hdf5", "HDF5"),
        ("ior -a NCMPI", "PnetCDF"),
        ("ior -a S3", "object store"),
        ("ior -a DFS", "DAOS"),
        ("ior -a foo", "is not an API of IOR"),
        ("ior -V", "file views"),
        ("ior -J 4k", "HDF5"),
        ("ior -n", "HDF5"),
        ("ior -U hints", "hints are for MPI-IO"),
        ("ior --posix.lustre.stripecount=4", "lfs setstripe"),
        ("ior -O savePerOpDataCSV=x", "ioproof report"),
        ("ior -z --randomPrefill=2m", "-z -E"),
        ("ior -C -Z", "choose one"),
        ("ior -z -z", "visits each offset once"),
        ("ior -w -r -z -z", "for reading an existing file"),
        ("ior -r -z -z -o not-there", "write it first"),
        ("ior -r -z -z -b 1g -o Cargo.toml", "less than one block"),
        ("ior -O stoneWallingWearOut=1", "-D 30"),
        ("ior -w -D 1 -O stoneWallingStatusFile=x", "-k"),
        ("ior -y", "add -F"),
        ("ior -D 1 -O minTimeDuration=1", "duration"),
        ("ior -a MMAP -B", "page cache"),
        ("ior --compat=3.3 -O summaryFormat=CSV", "since 4.0"),
    ];
    for (line, reason) in refused {
        assert!(refusal(line).contains(reason), "{line}: {}", refusal(line));
    }
}

#[test]
fn a_directive_that_says_no_asks_for_nothing() {
    let line = "ior -O collective=0,useFileView=0,setAlignment=0,hintsFileName=,individualDataSets=false,gpuDirect=0";
    assert!(meaning(line, "collective").contains("turned off"));
}

#[test]
fn slips_of_the_pen_are_named_with_what_was_meant() {
    let wrong = [
        ("ior -t 16m -b 1m", "-b 1m -t 16m: the block of 1048576 bytes is not a multiple"),
        ("ior -b 1000", "-b 1000 -t 256k (default)"),
        ("ior -t 0", "moves nothing"),
        ("ior -t 1.5m -b 3m", "1536k"),
        ("ior -s 0", "-s 0 -b 1m (default)"),
        ("ior -t abc", "is not a size"),
        ("ior -O keepfiles=1", "did you mean keepFile?"),
        ("ior --posix.odirct", "did you mean --posix.odirect?"),
        ("ior -posix.odirect", "did you mean --posix.odirect?"),
        ("ior -L", "did you mean -l?"),
        ("ior -w file", "-o file"),
        ("ior -w -o -v", "-o: needs a value"),
        ("ior -i", "-i: needs a value, as in -i 3"),
        ("ior -i x", "is not a whole number"),
        ("ior -D 1.5", "has a fraction"),
        ("ior -F -o a@", "has an empty name"),
        ("ior -l f", "is not a packet type"),
        ("ior -O keepFile=yes", "neither 0 nor 1"),
        ("ior -O keepFile", "keepFile=1"),
        ("ior -O summaryFormat=foo", "default, JSON or CSV"),
        ("ior -f /no/such/script", "cannot read the script"),
        ("ior -N -5", "is not a number of tasks"),
        ("ior --", "not an option of IOR"),
    ];
    for (line, words) in wrong {
        assert!(refusal(line).contains(words), "{line}: {}", refusal(line));
    }
}

#[test]
fn zero_repetitions_are_one_with_a_warning() {
    let asked = ask("ior -i 0").expect("accepted");
    assert_eq!(asked.plan.cases[0].repetitions, 1);
    assert_eq!(asked.warnings, ["too few test repetitions. Using value of 1."]);
}

#[test]
fn ioproofs_own_options_stand_anywhere() {
    let asked = ask("ior --explain -w --verify -F --out=run --fadvise as-published -o a --yes --compat 3.3")
        .expect("accepted");
    assert!(asked.extras.explain && asked.extras.yes);
    assert_eq!(asked.compat, Compat::V3_3);
    assert_eq!(asked.extras.out.as_deref(), Some(std::path::Path::new("run")));
    let workload = &asked.plan.cases[0].workload;
    assert!(workload.verify);
    assert_eq!(workload.advice, Advice::AsPublished);
    let names: Vec<&str> = asked.notes.iter().map(|note| note.name.as_str()).collect();
    assert_eq!(
        names,
        ["writeFile", "filePerProc", "testFile", "explain", "verify", "out", "fadvise", "yes", "compat"]
    );
    let asked = ask("ior --destroy-data-on S1 -o /dev/x").expect("accepted");
    assert_eq!(asked.plan.destroy_data_on, ["S1"]);
}

#[test]
fn output_and_dry_run_are_told_apart_from_the_plan() {
    let asked =
        ask("ior -O summaryFormat=json,summaryFile=out.json --warningAsErrors --dryRun").expect("accepted");
    assert_eq!(asked.output.format, Format::Json);
    assert_eq!(asked.output.file.as_deref(), Some(std::path::Path::new("out.json")));
    assert!(asked.output.warnings_as_errors && asked.dry_run);
    for line in ["ior -h", "ior --help -t 16m -b 1m"] {
        let asked = ask(line).expect("accepted");
        assert!(asked.show_help && asked.plan.cases.is_empty());
    }
    assert!(ask("ior --version").expect("accepted").show_version);
    let shown = help().to_string();
    assert!(shown.contains("-b 16m") && shown.contains("--explain"), "{shown}");
}

fn script(text: &str) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("tests.ior");
    std::fs::write(&path, text).expect("written");
    let path = path.to_str().expect("a path").to_owned();
    (directory, path)
}

#[test]
fn settings_of_a_script_persist_from_test_to_test() {
    let text = "IOR START\n  testFile=q\n  transferSize=32\n  blockSize=32k # small\n  repetitions=8\nRUN\n\
                # more\n  transferSize=64\n  segmentcount=2\nrun\n  blockSize=1M\nRUN\n  keepFile=0\nIOR STOP\n";
    let (_directory, path) = script(text);
    let asked = parse(&["ior", "-k", "-w", "-f", &path, "-F"], Launcher::default()).expect("accepted");
    let cases = &asked.plan.cases;
    let sizes: Vec<(u64, u64, u64)> = cases
        .iter()
        .map(|case| case.workload.geometry)
        .map(|geometry| (geometry.transfer.0, geometry.block.0, geometry.segments))
        .collect();
    assert_eq!(sizes, [(32, 32 << 10, 1), (64, 32 << 10, 2), (64, 1 << 20, 2)]);
    for case in cases {
        assert_eq!((case.repetitions, case.phases.as_slice()), (8, [Phase::Write].as_slice()));
        assert_eq!(case.workload.files.keep, Keep::Always);
        assert_eq!(case.workload.files.sharing, Sharing::PerTask, "-F stands after -f");
    }
    let unused = asked.notes.last().expect("notes");
    assert!(unused.written.starts_with("keepFile=0") && unused.meaning.contains("last RUN"), "{unused:?}");
    let note = asked.notes.iter().find(|note| note.written.starts_with("transferSize=64")).expect("a note");
    assert!(note.written.ends_with("(tests.ior:8)") && note.meaning.contains("64 bytes"), "{note:?}");
}

#[test]
fn a_wrong_line_of_a_script_is_named() {
    for (text, words) in [
        ("IOR START\nfoo=1\nRUN\n", "foo=1 (tests.ior:2): is not an option of IOR"),
        ("IOR START\ngarbage\nRUN\n", "garbage (tests.ior:2): is not a directive"),
        ("IOR START\ntransferSize=x\nRUN\n", "transferSize=x (tests.ior:2): \"x\" is not a size"),
        ("IOR START\ntransferSize=1m\n", "has no RUN"),
    ] {
        let (_directory, path) = script(text);
        let error = parse(&["ior", "-f", &path], Launcher::default()).expect_err("wrong").to_string();
        assert!(error.contains(words) && error.contains("tests.ior"), "{error}");
    }
}

#[test]
fn the_question_keeps_the_line_and_its_meaning() {
    let asked = ask("ior -w -b 4m --explain").expect("accepted");
    let PlanSource::Dialect { tool, arguments, notes, .. } = &asked.plan.source else {
        panic!("no dialect");
    };
    assert_eq!(tool, "ior");
    assert_eq!(arguments, &["ior", "-w", "-b", "4m", "--explain"]);
    assert_eq!(notes, &asked.notes);
    assert_eq!(
        notes[1].meaning,
        "contiguous bytes of each task in a segment: 4194304 bytes = 4 MiB (4.19 MB)"
    );
}

/// Run with `UPDATE_DOCS=1` to write the table into the page again.
#[test]
fn the_page_on_ior_has_every_option() {
    crate::page::has("IOR.md", &reference());
}

/// Pieces from which lines are put together that come near to real ones.
const PIECES: [&str; 42] = [
    "-w",
    "-r",
    "-C",
    "-Z",
    "-z",
    "-F",
    "-b",
    "1m",
    "-t",
    "64k",
    "-b1m",
    "-t=0",
    "-s",
    "18446744073709551615",
    "-i",
    "-1",
    "-N",
    "0",
    "4294967295",
    "-o",
    "a@b",
    "@",
    "-O",
    "keepFile=1",
    "keepFile=1,,fsync=1",
    "=",
    "-O=",
    "-G=-9223372036854775808",
    "-D",
    "-f",
    "/dev/null",
    "-M",
    "100%",
    "--",
    "-",
    "--=",
    "-vvvvvvv",
    "-Cgé",
    "--aio.max-pending=0",
    "--tasks-per-rank",
    "--tasks-per-rank=4294967295",
    "-aAIO",
];

/// Such a piece, or any text at all.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => sample::select(&PIECES[..]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(
        words in collection::vec(word(), 0..12),
        node_of in collection::vec(any::<u32>(), 0..6),
        tasks in any::<Option<u32>>(), nodes in any::<Option<u32>>(), memory_bytes in any::<Option<u64>>(),
    ) {
        let _ = parse(&words, Launcher { node_of: &node_of, names: &[], tasks, nodes, memory_bytes });
    }

    #[test]
    fn a_line_and_its_directives_give_the_same_plan(
        transfer in 1_u64..64, blocks in 1_u64..64, segments in 1_u64..64, tasks in 1_u32..64, shared: bool,
    ) {
        let (transfer, block) = (transfer * 512, transfer * blocks * 512);
        let options = format!(
            "ior -t {transfer} -b {block} -s {segments} -N {tasks} {}", if shared { "" } else { "-F" }
        );
        let directives = format!(
            "ior -O transferSize={transfer},blockSize={block},segmentCount={segments},numTasks={tasks},filePerProc={}",
            u8::from(!shared)
        );
        let (options, directives) = (ask(&options).expect("accepted"), ask(&directives).expect("accepted"));
        prop_assert_eq!(options.plan.cases, directives.plan.cases);
    }
}
