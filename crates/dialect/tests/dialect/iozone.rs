//! IOzone's command line and output, against lines that are published and outputs of the program itself.
//!
//! The outputs under `iozone/` are of IOzone 3.471 and 3.508 on tmpfs, without the lists of contributors.
//! A record with made-up times is printed for the same command line; with all numbers alike, the two texts
//! are the same.

use dialect::ior::Launcher;
use dialect::{ParsedCommand, ToolError};
use plan::{Backend, Case, Existing, Keep, Order, Phase, Sharing, Spread};
use proptest::prelude::{prop_assert, proptest};
use proptest::sample::select;
use record::{PhaseKey, PhaseRecord, PhaseRow, Run, RunState, TaskRow};

fn ask_under(line: &str, launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    (dialect::tool("iozone").expect("known").parse)(&words, launcher)
}

fn ask(line: &str) -> Result<ParsedCommand, ToolError> {
    ask_under(line, Launcher::default())
}

fn cases(line: &str) -> Vec<Case> {
    ask(line).unwrap_or_else(|error| panic!("{line}: {error}")).plan.cases
}

fn refusal(line: &str) -> String {
    ask(line).expect_err(line).to_string()
}

/// A client list with `each` lines for each of `hosts`.
fn list(hosts: &[&str], each: usize) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("clients");
    let line = |host: &&str| format!("{host} /scratch/{host} /usr/local/bin/iozone\n").repeat(each);
    std::fs::write(&path, hosts.iter().map(line).collect::<String>()).expect("written");
    let path = path.display().to_string();
    (directory, path)
}

#[test]
fn published_lines_are_taken() {
    let (_kept, list) = list(&["localhost"], 4);
    let lines = [
        format!("iozone -i 2 -w -c -O -I -r 4K -s 64m -t 4 -+n -+m {list}"),
        format!("./iozone -i2 -c -O -w -r 4K -s 32G -t 4 -+n -+m {list}"),
        format!("/opt/iozone/bin/iozone -+m {list} -+h node -C -w -c -e -i 0 -+n -r 64k -s 2g -t 2"),
        "iozone -i 0 -i 1 -i 2 -e -c -t 4 -s 1668m -r 4m -F ./iozone.1 ./iozone.2 ./iozone.3 ./iozone.4"
            .to_owned(),
        format!("iozone -+m {list} -f /shared/testfile -a -R -O"),
        "iozone -t 2 -i 0 -i 1 -s 16m -r 64k -F z1 z2".to_owned(),
    ];
    for line in &lines {
        assert!(!cases(line).is_empty(), "{line}");
    }
    let random = cases(&lines[0]);
    assert_eq!(random.iter().map(|case| case.phases[0]).collect::<Vec<_>>(), [Phase::Read, Phase::Write]);
    for case in &random {
        let workload = &case.workload;
        assert!(workload.direct && matches!(workload.order, Order::Random { .. }), "{}", case.id);
        assert_eq!((workload.tasks, workload.files.keep), (4, Keep::Always));
        assert_eq!(workload.files.existing, Existing::Reuse, "the files of an earlier line are read");
        assert_eq!(workload.files.targets[3].to_str(), Some("/scratch/localhost/iozone.DUMMY.3"));
        assert!(!workload.sync.at_close, "-c alone times the close without a sync");
    }
}

/// Study E: 19 nodes with 4 processes each.
#[test]
fn a_list_of_many_nodes_needs_a_launcher_and_is_compared_with_it() {
    let names: Vec<String> = (0..19).map(|node| format!("client{node:02}")).collect();
    let hosts: Vec<&str> = names.iter().map(String::as_str).collect();
    let (_kept, list) = list(&hosts, 4);
    let line = format!("/usr/local/bin/iozone -i 0 -i 1 -O -t 76 -r 4k -s 32g -+m {list}");
    let told = refusal(&line);
    assert!(told.contains("srun -N 19 --ntasks-per-node=4") && told.contains("mpirun -np 76"), "{told}");

    let node_of: Vec<u32> = (0..76).map(|rank| rank / 4).collect();
    let launcher = Launcher { node_of: &node_of, names: &names, ..Launcher::default() };
    let asked = ask_under(&line, launcher).expect("the launcher has them all");
    assert!(asked.warnings.is_empty(), "{:?}", asked.warnings);
    let slugs: Vec<&str> = asked.plan.cases.iter().map(|case| case.group.as_str()).collect();
    assert_eq!(slugs, ["write", "rewrite", "read", "reread"]);
    for case in &asked.plan.cases {
        let workload = &case.workload;
        assert_eq!((workload.tasks, workload.nodes), (76, 19));
        assert_eq!(workload.spread, Spread::Ranks { tasks_per_rank: 1 });
        assert_eq!((workload.files.sharing, workload.files.exact_names), (Sharing::PerTask, true));
        assert_eq!(workload.bytes().0, 76 << 35);
        assert_eq!(workload.files.targets[75].to_str(), Some("/scratch/client18/iozone.DUMMY.75"));
    }

    let others = vec!["elsewhere".to_owned()];
    let here = vec![0; 76];
    let launcher = Launcher { node_of: &here, names: &others, ..Launcher::default() };
    let said =
        ask_under(&line, launcher).expect("where they run is the launcher's to say").warnings.join("\n");
    assert!(
        said.contains("names 19 hosts") && said.contains("client07") && said.contains("elsewhere"),
        "{said}"
    );

    let few = Launcher { node_of: &here[..10], names: &others, ..Launcher::default() };
    let error = ask_under(&line, few).expect_err("ten carry ten").to_string();
    assert!(error.contains("--tasks-per-rank 8"), "{error}");
}

/// Its calls show an fsync after every test that writes; the rate has it with -e alone, and a close with -c.
#[test]
fn a_sync_that_was_not_asked_for_is_outside_of_the_time() {
    let of = |options: &str| {
        let workload = cases(&format!("iozone -i 0 -s 64k -r 4k {options}")).swap_remove(0).workload;
        (workload.sync.at_close, workload.sync_after)
    };
    assert_eq!(
        [of(""), of("-e"), of("-c"), of("-c -e")],
        [(false, true), (true, false), (false, false), (true, false)]
    );
}

/// Tests of the program follow at once: what the one before has read or written is in the processor's caches.
#[test]
fn a_test_begins_with_the_caches_that_the_one_before_leaves() {
    let primed: Vec<u8> =
        cases("iozone -i 0 -i 1 -s 64k -r 4k").iter().map(|case| case.workload.primed).collect();
    assert_eq!(primed, [1, 3, 1, 2], "write, rewrite, read, reread");
}

#[test]
fn an_empty_word_is_passed_over() {
    let words = ["iozone", "", "-i", "0", "-s", "64k", ""].map(str::to_owned);
    let asked = (dialect::tool("iozone").expect("known").parse)(&words, Launcher::default());
    assert_eq!(asked.expect("as without it").plan.cases.len(), 2);
}

#[test]
fn every_test_is_the_workload_that_its_name_says() {
    let all = cases("iozone -E -s 1m -r 64k");
    let of = |slug: &str| {
        let case = all.iter().find(|case| case.group == slug).unwrap_or_else(|| panic!("no {slug}"));
        (case.phases[0], case.workload.order, case.workload.backend)
    };
    let (write, read, psync) = (Phase::Write, Phase::Read, Backend::Psync);
    assert_eq!(of("write"), (write, Order::Sequential, psync));
    assert_eq!(of("backward-read"), (read, Order::Backward, psync));
    assert_eq!(of("record-rewrite"), (write, Order::Same, psync));
    assert_eq!(of("stride-read"), (read, Order::Strided { stride: 17 }, psync));
    assert_eq!(of("fwrite"), (write, Order::Sequential, Backend::Stdio));
    assert_eq!(of("refread"), (read, Order::Sequential, Backend::Stdio));
    assert!(matches!(of("random-write"), (Phase::Write, Order::Random { .. }, Backend::Psync)));
    // Without -i the extension tests are not among them, as in IOzone.
    let extension = cases("iozone -E -s 1m -r 64k -i 0 -i 9 -i 10 -i 11 -i 12");
    let vectored = extension.iter().find(|case| case.group == "preadv").expect("asked for");
    assert_eq!(vectored.workload.backend, Backend::Vectored { pieces: 16 });
    assert_eq!(vectored.workload.transfers(), 1, "16 records with one call");
    let first = &all[0].workload.files;
    assert_eq!((first.existing, first.keep), (Existing::Replace, Keep::Never));
    assert!(all[1..].iter().all(|case| case.workload.files.existing == Existing::Reuse));
    assert!(all.iter().all(|case| case.workload.files.targets == first.targets), "one file for all tests");
}

#[test]
fn what_several_options_say_together_is_settled_or_refused() {
    assert_eq!(cases("iozone -l 2 -u 4 -i 0 -+n -s 1m").len(), 3);
    assert_eq!(cases("iozone -az -n 32m -g 32m -i 0 -+n").len(), 13);
    assert_eq!(cases("iozone -a -n 32m -g 32m -i 0 -+n").len(), 9);
    assert_eq!(cases("iozone -+k -t 4 -s 4m -r 1m -i 0 -+n")[0].workload.bytes().0, 4 << 20);
    let mapped = cases("iozone -B -s 64k");
    assert!(mapped.iter().all(|case| case.workload.backend == Backend::Mmap), "no fwrite, no fread");
    let direct = cases("iozone -I -s 64k -i 0 -i 6");
    assert_eq!(
        direct.iter().map(|case| case.workload.direct).collect::<Vec<_>>(),
        [true, true, false, false]
    );
    let queued = cases("iozone -k 8 -s 64k -i 0");
    assert!(queued.iter().all(|case| case.workload.backend == Backend::Uring { depth: 8, required: true }));
    // 10 kB are two whole records of 4 kB.
    assert_eq!(cases("iozone -s 10k -r 4k -i 0")[0].workload.transfers(), 2);
    for (line, word) in [
        ("iozone -s 4k -r 64k", "larger than the file"),
        ("iozone -s 1.5g", "is not a size"),
        ("iozone -s 0", "moves nothing"),
        ("iozone -i 13", "from 0 to 12"),
        ("iozone -i -4", "from 0 to 12"),
        ("iozone -ix", "from 0 to 12"),
        ("iozone -t 2 -N", "throughput mode"),
        ("iozone -t 3 -F a b", "names 2 files for 3 processes"),
        ("iozone -B -I", "page cache"),
        ("iozone -+E -i 0", "only read"),
        ("iozone -i 9", "no test remains"),
        ("iozone -y 64k -q 4k -a", "swap them"),
        ("iozone -a -s 2", "no record size of automatic mode fits"),
        ("iozone -X file", "not supported"),
        ("iozone -+t", "ioproof rpc"),
        ("iozone -W", "lock"),
        ("iozone file", "is not an option"),
        ("iozone -+foo", "not an option of IOzone"),
        ("iozone -s", "needs a value"),
        ("iozone -+m /does/not/exist -t 2", "cannot be read"),
    ] {
        let told = refusal(line);
        assert!(told.starts_with("iozone: -") || line == "iozone file", "{told}");
        assert!(told.contains(word), "{line}: {told}");
    }
}

/// A record of `case` in which task t took t + 1 ms for its bytes, with times that are exact.
fn record_of(case: &Case) -> PhaseRecord {
    let key = PhaseKey { case: case.id.as_str().into(), repetition: 0, phase: case.phases[0] };
    let workload = &case.workload;
    let transfers = workload.transfers_per_task();
    let bytes = transfers * workload.geometry.transfer.0;
    let task = |task: u32| {
        let end = 1_000_000 * (u64::from(task) + 1);
        TaskRow {
            node: "node".into(),
            io_end_ns: end,
            close_start_ns: end,
            close_end_ns: end + 1_000_000,
            bytes,
            transfers,
            ..TaskRow::new(key.clone(), task)
        }
    };
    let all = u64::from(workload.tasks);
    let writes = case.phases[0] == Phase::Write;
    let row = PhaseRow {
        wall_ns: 1_000_000 * (all + 1),
        io_ns: 1_000_000 * all,
        close_ns: 1_000_000,
        read_bytes: if writes { 0 } else { bytes * all },
        write_bytes: if writes { bytes * all } else { 0 },
        reads: if writes { 0 } else { transfers * all },
        writes: if writes { transfers * all } else { 0 },
        first_done_ns: 1_000_000,
        user_cpu_ns: 1_000_000,
        ..PhaseRow::new(key.clone())
    };
    PhaseRecord { tasks: (0..workload.tasks).map(task).collect(), ..PhaseRecord::new(row) }
}

/// The output of a run of `line` in which every phase took what [`record_of`] says.
fn printed(line: &str) -> String {
    printed_of(line, RunState::Complete)
}

/// The same of a run that came so far.
fn printed_of(line: &str, state: RunState) -> String {
    let asked = ask(line).expect("taken");
    let mut printer = (dialect::tool("iozone").expect("known").printer)(&asked.plan).expect("of this plan");
    let mut run = Run::in_memory(crate::common::manifest(asked.plan.clone()), Vec::new());
    run.state = state;
    let mut out = printer.header(&run.manifest);
    for case in &asked.plan.cases {
        out.push_str(&printer.phase(&record_of(case)));
    }
    out + &printer.finish(&run)
}

/// Lines from the first one that is not of the machine on, with all numbers alike and runs of blanks as
/// one: IOzone's columns move where a number is longer than its column.
fn shape(text: &str) -> Vec<String> {
    let body = text.split_once("Run began").expect("a head").1;
    let kept = body.lines().skip(1).filter(|line| !line.contains("Command line used"));
    kept.map(|line| {
        let words = line.split(' ').filter(|word| !word.is_empty());
        let alike = |word: &str| match word.trim_matches(|letter| "\"\t".contains(letter)).parse::<f64>() {
            Ok(_) => "#".to_owned(),
            Err(_) => word.to_owned(),
        };
        words.map(alike).collect::<Vec<_>>().join(" ")
    })
    .collect()
}

#[test]
fn what_is_not_complete_is_not_called_so() {
    for line in ["iozone -i 0 -s 64k -r 16k -R", "iozone -i 0 -s 64k -r 16k -t 2 -R"] {
        assert!(printed(line).contains("iozone test complete."), "{line}");
        for state in [RunState::Interrupted, RunState::Failed { message: "no space".to_owned() }] {
            let text = printed_of(line, state);
            assert!(!text.contains("complete") && text.ends_with('\n'), "{text}");
        }
    }
}

#[test]
fn what_is_printed_has_the_shape_of_iozone_s_output() {
    for (line, theirs) in [
        ("iozone -t 2 -i 0 -i 1 -s 16m -r 64k -F z1 z2", include_str!("iozone/throughput_3_508.txt")),
        ("iozone -a -n 64k -g 128k -y 4k -q 16k -f t -R", include_str!("iozone/auto_3_471.txt")),
        (
            "iozone -E -s 64k -r 4k -i 0 -i 1 -i 2 -i 3 -i 4 -i 5 -i 6 -i 7 -i 9 -i 10 -i 11 -i 12 -f t",
            include_str!("iozone/extension_3_471.txt"),
        ),
        ("iozone -s 4m -r 64k -i 0 -i 1 -+n -O -f t", include_str!("iozone/operations_3_471.txt")),
        (
            "iozone -t 1 -i 0 -i 1 -i 2 -i 3 -i 5 -i 6 -i 7 -i 8 -i 9 -i 10 -s 1m -r 64k -R -+u -O",
            include_str!("iozone/all_throughput_3_471.txt"),
        ),
    ] {
        pretty(&shape(&printed(line)), &shape(theirs), line);
    }
}

fn pretty(ours: &[String], theirs: &[String], line: &str) {
    for (number, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        assert_eq!(ours, theirs, "{line}: line {number}");
    }
    assert_eq!(ours.len(), theirs.len(), "{line}");
}

/// The heading has the sizes of all records, whatever the files: 3.414 with `-a -g 1m -R` and others.
#[test]
fn the_report_has_a_column_for_each_record_size() {
    let heading = |line: &str| {
        let text = printed(line);
        let report = text.split_once("\"Writer report\"\n").expect("a report").1;
        report
            .lines()
            .next()
            .expect("a heading")
            .split_whitespace()
            .map(|word| word.replace('"', ""))
            .collect()
    };
    let sizes = |line: &str| -> Vec<String> { heading(line) };
    let all =
        [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384].map(|size: u32| size.to_string());
    assert_eq!(sizes("iozone -a -g 128 -i 0 -R"), all);
    assert_eq!(sizes("iozone -a -g 128 -y 16 -i 0 -R"), all[2..]);
    assert_eq!(sizes("iozone -a -g 128 -+x 3 -i 0 -R").last().map(String::as_str), Some("8748"));
    assert_eq!(sizes("iozone -a -g 128 -r 8 -r 16 -i 0 -R"), ["8", "16"]);
    assert_eq!(sizes("iozone -s 128 -i 0 -R"), ["4"]);
}

/// As 3.414 does with `-a -n 32m -g 32m -y 4k`.
#[test]
fn limits_of_records_also_hold_for_large_files() {
    let count = |line: &str| cases(line).len();
    assert_eq!(count("iozone -a -s 32m -i 0 -+n"), 9);
    assert_eq!(count("iozone -a -s 32m -y 4k -i 0 -+n"), 13);
    assert_eq!(count("iozone -a -s 32m -q 32k -i 0 -+n"), 4);
}

/// IOzone reads the digits at the beginning. `-i4-` runs test 4.
#[test]
fn what_follows_the_number_of_a_test_has_no_effect_and_is_told() {
    let asked = ask("iozone -i0 -i4- -s 64k").expect("taken");
    let groups: Vec<&str> = asked.plan.cases.iter().map(|case| case.group.as_str()).collect();
    assert_eq!(groups, ["write", "rewrite", "record-rewrite"]);
    assert_eq!(asked.warnings.len(), 1, "{:?}", asked.warnings);
    assert!(asked.warnings[0].starts_with("-i 4-: \"-\" has no effect"), "{:?}", asked.warnings);
}

#[test]
fn figures_are_those_of_the_record() {
    let text = printed("iozone -t 2 -i 0 -+n -s 1024 -r 64 -c");
    let value = |name: &str| {
        let line =
            text.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {text}"));
        let number = line.split_once('=').expect("a value").1.split_whitespace().next().expect("a number");
        number.parse::<f64>().expect("a number")
    };
    // 1024 kB in 1 and 2 ms, and 1 ms for each close, which -c counts.
    assert!((value("Children see") - (1024.0 / 0.002 + 1024.0 / 0.003)).abs() < 0.01, "{text}");
    assert!((value("Parent sees") - 2048.0 / 0.003).abs() < 0.01, "{text}");
    assert_eq!(value("Max throughput"), 512_000.0);
    // When the first was done the second had half of it.
    assert_eq!(value("Min xfer"), 512.0);
    let all = printed("iozone -t 2 -i 0 -+n -s 1024 -r 64 -x -O");
    assert!(all.contains("Min xfer \t\t\t\t\t=      16.00 ops"), "{all}");
    let table = printed("iozone -s 1024 -r 64 -i 0 -+n");
    assert!(table.contains("            1024      64  1024000        0"), "{table}");
    let micros = printed("iozone -s 1024 -r 64 -i 0 -+n -N");
    assert!(micros.contains("            1024      64       62        0"), "{micros}");
}

/// Run with `UPDATE_DOCS=1` to write the table into the page again.
#[test]
fn the_page_on_iozone_has_every_option() {
    crate::page::has("IOZONE.md", &(dialect::tool("iozone").expect("known").reference)());
}

const PIECES: [&str; 30] = [
    "-a", "-A", "-t", "2", "-s", "64k", "1m", "-r", "4", "-i", "0", "2", "12", "-F", "a", "b", "-+n", "-+m",
    "-O", "-E", "-I", "-cew", "-j5", "-+p", "50", "-u", "-l", "-x", "-+", "-",
];

proptest! {
    #[test]
    fn no_line_makes_the_reader_panic(words in proptest::collection::vec(select(&PIECES[..]), 0..9), other in ".{0,8}") {
        let line = format!("iozone {} {other}", words.join(" "));
        match ask(&line) {
            Ok(asked) => prop_assert!(asked.show.is_some() || !asked.plan.cases.is_empty()),
            Err(error) => prop_assert!(!error.reason.is_empty()),
        }
    }
}
