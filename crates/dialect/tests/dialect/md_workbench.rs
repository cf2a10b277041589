//! Command lines of md-workbench become plans, and its lines are printed from records.

use dialect::ior::Launcher;
use dialect::{ParsedCommand, ToolError, tool};
use plan::{Backend, Bytes, Keep, Measure, Nanos, Objects, Operation, Phase, PlanSource, Work};
use proptest::prelude::{prop_assert, proptest};
use proptest::sample::select;
use record::{HistoryRow, LatencyRow, Manifest, PhaseKey, PhaseRecord, PhaseRow, Run, TaskRow};

fn parse(line: &[String], launcher: Launcher<'_>) -> Result<ParsedCommand, ToolError> {
    (tool("md-workbench").expect("a tool").parse)(line, launcher)
}

fn ask(line: &str) -> Result<ParsedCommand, ToolError> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    parse(&words, Launcher { node_of: &[0, 0], ..Launcher::default() })
}

fn objects(asked: &ParsedCommand, case: usize) -> Objects {
    match &asked.plan.cases[case].workload.work {
        Work::Objects(objects) => objects.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_defaults_are_those_of_its_help() {
    let asked = ask("md-workbench").expect("accepted");
    let (case, objects) = (&asked.plan.cases[0], objects(&asked, 0));
    assert_eq!((objects.sets, objects.precreated, objects.steps, objects.offset), (10, 3000, 1000, 1));
    assert_eq!((objects.object_bytes, objects.waiting_ppm, objects.read_only), (Bytes(3901), 0, false));
    let of = |case: &plan::Case| (case.phases[0], case.repetitions);
    let cases: Vec<(Phase, u32)> = asked.plan.cases.iter().map(of).collect();
    assert_eq!(cases, [(Phase::Precreate, 1), (Phase::Benchmark, 3), (Phase::Cleanup, 1)]);
    assert_eq!((case.workload.tasks, case.workload.nodes, objects.in_target), (2, 1, true));
    assert_eq!(case.workload.files.keep, Keep::Never);
}

#[test]
fn every_option_is_in_the_plan() {
    let line = "md-workbench -D 2 -I=200 -P500 -o /x -S 4k -R 5 -t 0.5 -w 30 -W -X -O 3 -G 7 -a dummy --tasks-per-rank 4";
    let asked = ask(line).expect("accepted");
    let (case, sets) = (&asked.plan.cases[1], objects(&asked, 1));
    assert_eq!((sets.sets, sets.precreated, sets.steps, sets.offset), (2, 500, 200, 3));
    assert_eq!((sets.object_bytes, sets.waiting_ppm), (Bytes(4096), 500_000));
    let workload = &case.workload;
    assert_eq!((case.repetitions, workload.tasks, workload.signature, workload.verify), (5, 8, 7, true));
    let wall = workload.stonewall.expect("a deadline");
    assert_eq!((wall.deadline, wall.wear_out, workload.backend), (Nanos::secs(30), true, Backend::Null));
    let phases = |line: &str| ask(line).expect(line).plan.cases[0].phases.clone();
    assert_eq!(phases("md-workbench -1"), [Phase::Precreate]);
    assert_eq!(phases("md-workbench -3 --start-item=2"), [Phase::Cleanup]);
    assert_eq!(phases("md-workbench -2 --start-item=2"), [Phase::Benchmark]);
    let adaptive = ask("md-workbench -T -R 1").expect("accepted");
    let rests: Vec<u32> = (1..adaptive.plan.cases.len() - 1)
        .map(|case| objects(&adaptive, case))
        .map(|o| o.waiting_ppm / 10_000)
        .collect();
    assert_eq!(rests, [0, 6, 12, 25, 50, 100, 200, 400]);
}

#[test]
fn numbers_may_have_the_suffix_of_a_size() {
    let objects = objects(&ask("md-workbench -I 1k -P 2k -S 1k").expect("accepted"), 0);
    assert_eq!((objects.steps, objects.precreated, objects.object_bytes.0), (1024, 2048, 1024));
}

#[test]
fn what_cannot_be_done_is_refused_with_its_reason() {
    for (line, reason) in [
        ("md-workbench -2", "run a command line with -1 first"),
        ("md-workbench -3 --run-info-file=Cargo.toml", "no line such as `pos: 9`"),
        ("md-workbench -R 0", "no round would run"),
        ("md-workbench -I 0", "no step"),
        ("md-workbench -W", "-w 30"),
        ("md-workbench -D 0", "-D"),
        ("md-workbench -t much", "0 to 1000"),
        ("md-workbench --start-item=3", "would not be created"),
        ("md-workbench --latency-all", "-L lat"),
        ("md-workbench -a MPIIO", "-a POSIX"),
        ("md-workbench --read_only", "did you mean --read-only?"),
        ("md-workbench --compat 3.0", "give 4.0"),
        ("md-workbench -i 3", "did you mean -I?"),
    ] {
        let error = ask(line).expect_err(line).to_string();
        assert!(error.contains(reason) && error.starts_with("md-workbench: "), "{line}: {error}");
    }
    let asked = ask("md-workbench -v --process-reports --run-info-file=x").expect("accepted");
    let PlanSource::Dialect { notes, .. } = &asked.plan.source else { panic!("no dialect") };
    assert!(notes.iter().all(|note| note.meaning.starts_with("no effect: ")), "{notes:?}");
    assert!(ask("md-workbench -h").expect("accepted").show.expect("a text").contains("-P 3000"));
}

/// Run with `UPDATE_DOCS=1` to write the table into the page again.
#[test]
fn the_page_has_every_option() {
    crate::page::has("MD_WORKBENCH.md", &(tool("md-workbench").expect("a tool").reference)());
}

const MOMENT: i64 = 1_795_256_360;

fn manifest(asked: &ParsedCommand) -> Manifest {
    let mut manifest = crate::common::manifest(asked.plan.clone());
    manifest.started_unix_ns = MOMENT * 1_000_000_000;
    manifest.finished_unix_ns = Some(MOMENT * 1_000_000_000);
    manifest
}

/// A phase of two tasks that took `longest` nanoseconds and 90 % of them.
fn record(
    phase: Phase,
    repetition: u32,
    items: u64,
    bytes: u64,
    longest: u64,
    operations: &[Operation],
) -> PhaseRecord {
    let case = if phase == Phase::Benchmark { "md-workbench" } else { phase.name() };
    let key = PhaseKey { case: case.into(), repetition, phase };
    let task = |task: u32, end: u64| TaskRow {
        node: "node".into(),
        io_end_ns: end,
        close_start_ns: end,
        close_end_ns: end,
        transfers: items / 2,
        ..TaskRow::new(key.clone(), task)
    };
    // One in four of each latency, so that the quartiles are known.
    let count = items / operations.len() as u64 / 4;
    let bucket = |operation: Operation, ns: u64| LatencyRow {
        key: key.clone(),
        operation,
        measure: Measure::Response,
        low_ns: ns,
        high_ns: ns,
        count,
    };
    let latency =
        operations.iter().flat_map(|&of| [1000, 2000, 4000, 43_154].map(|ns| bucket(of, ns))).collect();
    PhaseRecord {
        tasks: vec![task(0, longest), task(1, longest / 10 * 9)],
        latency,
        ..PhaseRecord::new(PhaseRow {
            wall_ns: longest,
            io_ns: longest,
            read_bytes: bytes / 2,
            write_bytes: bytes - bytes / 2,
            items,
            ..PhaseRow::new(key)
        })
    }
}

fn render(line: &str) -> String {
    render_with_wall(line, None)
}

/// As printed of phases in which the deadline was seen after so many nanoseconds.
fn render_with_wall(line: &str, seen: Option<u64>) -> String {
    let asked = ask(line).expect("accepted");
    let manifest = manifest(&asked);
    let mut printer = (tool("md-workbench").expect("a tool").printer)(&asked.plan).expect("its own");
    let mut out = printer.header(&manifest);
    let all = [Operation::Read, Operation::Stat, Operation::Create, Operation::Remove];
    let mut records = Vec::new();
    // The times are those of the sample's rates.
    records.push(record(Phase::Precreate, 0, 2000, 2000 * 3901, 4_894_971, &[Operation::Create]));
    for round in 0..3 {
        records.push(record(Phase::Benchmark, round, 3200, 800 * 2 * 3901, 4_606_962, &all));
        records.last_mut().expect("the last").phase.stonewall_ns = seen;
    }
    records.push(record(Phase::Cleanup, 0, 2000, 0, 2_732_992, &[Operation::Remove]));
    for record in &records {
        out.push_str(&printer.phase(record));
    }
    out + &printer.finish(&Run::in_memory(manifest, records))
}

/// The text without its digits: what a parser goes by.
fn shape(line: &str) -> String {
    let mut out = String::new();
    for word in line.split(' ') {
        let bare: String = word.chars().filter(|c| !(c.is_ascii_digit() || "+-.".contains(*c))).collect();
        out.push_str(&bare);
        out.push(' ');
    }
    out
}

#[test]
fn lines_have_the_shape_and_the_figures_of_the_sample() {
    let printed = render("md-workbench -D 2 -I 200 -P 500 -o /shm/mdw");
    let sample = include_str!("md_workbench/sample.txt");
    assert_eq!(printed.lines().count(), sample.lines().count(), "{printed}");
    for (ours, theirs) in printed.lines().zip(sample.lines()) {
        assert_eq!(shape(ours), shape(theirs), "{ours}\n{theirs}");
    }
    for words in [
        "Args: md-workbench \"-D\" \"2\" \"-I\" \"200\" \"-P\" \"500\" \"-o\" \"/shm/mdw\"",
        "MD-Workbench total objects: 4400 workingset size: 7.441 MiB (version: 4.1.0+ioproof-0.1.0)",
        "balance:90.0 stddev:0.0 rate:409399.8 iops/s dsets: 4 objects:2000 rate:817.165 dset/s rate:408582.6 obj/s \
         tp:1520.0 MiB/s op-max:4.3154e-05s (0 errs) create(1.0000e-06s, 1.0000e-06s, 2.0000e-06s, 4.0000e-06s, \
         4.3154e-05s, 4.3154e-05s, 4.3154e-05s)",
        "rate:694600.9 iops/s objects:800 rate:173650.2 obj/s tp:1292.1 MiB/s",
        "rate:733262.3 iops/s objects:2000 dsets: 4 rate:731798.7 obj/s rate:1463.597 dset/s",
    ] {
        assert!(printed.contains(words), "{words}\n{printed}");
    }
}

#[test]
fn other_forms_are_printed_where_they_are_asked_for() {
    let quiet = render("md-workbench -D 2 -I 200 -P 500 -q");
    assert!(
        !quiet.contains("errs") && !quiet.contains("MD-Workbench") && !quiet.contains("Total"),
        "{quiet}"
    );
    let table = render("md-workbench -D 2 -I 200 -P 500 --print-detailed-stats");
    for row in [
        "phase\t\td name\tcreate\tdelete\tob nam\tcreate\tread\tstat\tdelete\tt_inc_b\tt_no_bar\tthp\tmax_t",
        "precreate \t4\t0\t2000\t0\t0\t0\t0.005s\t0.005s\t1520.04 MiB/s 4.3154e-05",
        "benchmark \t0\t0\t800\t800\t800\t800\t0.005s\t0.005s\t1292.06 MiB/s 4.3154e-05",
        "cleanup \t0\t4\t0\t0\t0\t2000\t0.003s\t0.003s\t0.00 MiB/s 4.3154e-05",
    ] {
        assert!(table.lines().any(|line| line == row), "{row}\n{table}");
    }
    let waiting = render("md-workbench -D 2 -I 200 -P 100 -t 0.5 -w 1 -W");
    assert!(waiting.contains("WARNING: num > precreate"), "{waiting}");
    assert!(waiting.contains("s waiting_factor:0.50 (0 errs) stonewall-iter:200 read("), "{waiting}");
    // As md-workbench 4.1 prints them: any rest has its factor, to two digits of its single precision.
    for (factor, printed) in [("0.001", "0.00"), ("0.005", "0.00"), ("0.006", "0.01"), ("1e-9", "0.00")] {
        let text = render(&format!("md-workbench -D 2 -I 200 -P 500 -t={factor}"));
        assert!(text.contains(&format!("s waiting_factor:{printed} (0 errs)")), "{factor}: {text}");
    }
    assert!(!render("md-workbench -D 2 -I 200 -P 500 -t=0").contains("waiting_factor"));
    let small = ask("md-workbench -2 --start-item=2 -t 0.001").expect("accepted");
    let Work::Objects(objects) = &small.plan.cases[0].workload.work else { panic!("no objects") };
    assert_eq!(objects.rest_ns(1_000_000), 1_000, "a thousandth of the step");
}

#[test]
fn a_deadline_is_told_where_it_fell_and_the_steps_that_tasks_agreed_on() {
    let (fell, ended_before) = (Some(1_000_100_000), Some(4_606_962));
    for (words, seen, wear_out, steps) in [
        ("-w 1", fell, false, true),
        ("-w 1 -W", fell, true, true),
        ("-w 1", ended_before, false, false),
        ("-w 1 -W", ended_before, false, true),
        ("", None, false, false),
    ] {
        let printed = render_with_wall(&format!("md-workbench -D 2 -I 200 -P 500 {words}"), seen);
        let line = printed.contains("stonewall wear out 1.000100s (200 iter)");
        assert_eq!(
            (line, printed.contains("stonewall wear out")),
            (wear_out, wear_out),
            "{words}\n{printed}"
        );
        assert_eq!(printed.contains("(0 errs) stonewall-iter:200 read("), steps, "{words}\n{printed}");
    }
}

/// A line that is run again finds where the one before has ended, and writes the files that it names.
#[test]
fn a_line_leaves_where_it_has_ended_and_its_latencies() {
    let left = |line: &str, records: &[PhaseRecord]| {
        let asked = ask(line).expect(line);
        let mut printer = (tool("md-workbench").expect("a tool").printer)(&asked.plan).expect("its own");
        for record in records {
            printer.phase(record);
        }
        printer.side_files(&Run::in_memory(manifest(&asked), records.to_vec()))
    };
    let round = |repetition| {
        let all = [Operation::Read, Operation::Stat, Operation::Create, Operation::Remove];
        let mut round = record(Phase::Benchmark, repetition, 3200, 0, 4_606_962, &all);
        let row = |task, operation| HistoryRow {
            task,
            start_ns: 93_000,
            latency_ns: 46_015,
            ..HistoryRow::new(round.phase.key.clone(), operation)
        };
        round.history = vec![row(0, Operation::Create), row(1, Operation::Create), row(0, Operation::Read)];
        round
    };
    let rounds = [round(0), round(1)];
    let position = |line: &str| match &left(line, &rounds)[..] {
        [(path, text)] => Some((path.display().to_string(), text.clone())),
        [] => None,
        more => panic!("{more:?}"),
    };
    let line = "md-workbench -D 2 -I 200 -P 500 -R 2";
    let status = |pos: u64| Some(("md-workbench.status".to_owned(), format!("pos: {pos}\n")));
    assert_eq!(position(&format!("{line} -1 -2")), status(400));
    assert_eq!(position(&format!("{line} -2 --start-item=7")), status(407));
    assert_eq!(position(&format!("{line} -2 --start-item=7 --read-only")), status(7));
    assert_eq!(position(&format!("{line} -1 -2 -w 1 -W")), status(400), "as many as the first task has done");
    assert_eq!(position(line), None, "what is removed has no place to go on from");
    let named = position(&format!("{line} -1 -2 --run-info-file=x")).map(|(path, _)| path);
    assert_eq!(named.as_deref(), Some("x"));

    let files = left(&format!("{line} -t 0.5 -L lat"), &rounds);
    let names: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    assert_eq!(names[..2], ["lat-0.50-0-create.csv", "lat-0.50-0-delete.csv"]);
    assert_eq!(names[4..6], ["lat-0.50-1-create.csv", "lat-0.50-1-delete.csv"]);
    assert_eq!(files[0].1, "time,runtime\n0.0000930,4.6015e-05\n");
    assert_eq!(files[1].1, "time,runtime\n");
    let files = left(&format!("{line} -L lat --latency-all"), &rounds);
    assert_eq!(files[0].0.display().to_string(), "lat-0.00-0-create-all.csv");
    assert_eq!(files[0].1.lines().count(), 3, "of both tasks");
}

const PIECES: [&str; 24] = [
    "-D",
    "2",
    "-I",
    "5",
    "-P7",
    "-R=1",
    "-1",
    "-2",
    "-3",
    "-T",
    "-t",
    "0.5",
    "-w",
    "-W",
    "-q",
    "-X",
    "-S",
    "1.5k",
    "0",
    "--read-only",
    "--print-detailed-stats",
    "-o",
    "x",
    "-v",
];

proptest! {
    #[test]
    fn any_line_is_a_plan_or_an_error(words in proptest::collection::vec(select(&PIECES[..]), 0..10)) {
        let mut line = vec!["md-workbench".to_owned()];
        line.extend(words.iter().map(|word| (*word).to_owned()));
        if let Ok(asked) = parse(&line, Launcher::default()) {
            prop_assert!(asked.plan.cases.iter().all(|case| !case.phases.is_empty()));
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(words in proptest::collection::vec(".{0,12}", 0..6)) {
        let mut line = vec!["md-workbench".to_owned()];
        line.extend(words);
        let _ = parse(&line, Launcher::default());
    }
}
