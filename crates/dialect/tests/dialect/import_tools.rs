//! What each tool prints, in the form of each release that was run for it.

use dialect::import::{Imported, Text, import};
use plan::{Operation, Phase, PlanSource, Work};
use record::{PhaseRecord, Warning};

fn read(name: &str, text: &str) -> Imported {
    import(&[Text { name, bytes: text.as_bytes() }], None, 0).unwrap_or_else(|error| panic!("{error}"))
}

macro_rules! fixture {
    ($name:literal) => {
        read($name, include_str!(concat!("fixtures/import/", $name)))
    };
}

/// MiB per second of all bytes over the whole time.
fn mib_per_second(record: &PhaseRecord) -> f64 {
    record.phase.bytes() as f64 * 1e9 / record.phase.wall_ns as f64 / 1_048_576.0
}

fn per_second(record: &PhaseRecord) -> f64 {
    record.phase.transfers() as f64 * 1e9 / record.phase.wall_ns as f64
}

#[track_caller]
fn near(found: f64, wanted: f64, share: f64) {
    assert!((found / wanted - 1.0).abs() < share, "{found} instead of {wanted}");
}

fn rates(imported: &Imported, phase: Phase) -> Vec<f64> {
    let of = imported.phases.iter().filter(|record| record.phase.key.phase == phase);
    of.map(mib_per_second).collect()
}

fn means(imported: &Imported) -> Vec<u64> {
    let warnings = imported.phases.iter().flat_map(|record| &record.warnings);
    let mean = |row: &record::WarningRow| match row.warning {
        Warning::PrintedMean { iterations } => Some(iterations),
        _ => None,
    };
    warnings.filter_map(mean).collect()
}

#[test]
fn each_pass_of_ior_is_a_repetition_with_its_rate() {
    let imported = fixture!("ior-4.1.txt");
    assert_eq!(imported.tools, ["IOR 4.1.0+dev"]);
    assert_eq!((imported.node.as_deref(), imported.plan.cases.len()), (Some("vm"), 1));
    let case = &imported.plan.cases[0];
    assert_eq!(
        (case.repetitions, case.stated.as_deref(), &*case.phases),
        (3, None, &[Phase::Write, Phase::Read][..])
    );
    for (found, wanted) in rates(&imported, Phase::Write).into_iter().zip([2780.04, 3640.0, 3875.0]) {
        near(found, wanted, 1e-6);
    }
    let first = &imported.phases[0].phase;
    assert_eq!((first.write_bytes, first.writes), (64 << 20, 1024));
    assert_eq!((first.open_ns, first.close_ns, first.io_ns), (11_000, 6_000, 23_004_000));
    let json = fixture!("ior-4.1.json");
    near(rates(&json, Phase::Read)[1], 5728.5784, 1e-6);
    assert_eq!(json.plan.cases[0].repetitions, 2);
    let csv = fixture!("ior-4.0.0.csv");
    near(rates(&csv, Phase::Write)[1], 4140.9888, 1e-6);
    assert_eq!(csv.plan.cases[0].workload.tasks, 2);
}

/// Release 2.10 prints a summary alone; with `-v` its head names other columns than its rows have.
#[test]
fn a_summary_without_passes_gives_its_mean() {
    for (imported, write, read, bytes) in [
        (fixture!("ior-2.10.3.txt"), 3583.42, 15718.86, 8 << 20),
        (fixture!("ior-2.10.3-v.txt"), 1259.82, 8550.66, 16 << 20),
    ] {
        assert_eq!(imported.tools, ["IOR 2.10.3"]);
        near(rates(&imported, Phase::Write)[0], write, 1e-6);
        near(rates(&imported, Phase::Read)[0], read, 1e-6);
        assert_eq!(imported.phases[0].phase.write_bytes, bytes);
        assert_eq!(means(&imported), [2, 2]);
    }
}

#[test]
fn ior_tables_of_every_release_are_read() {
    for (imported, write) in [
        (fixture!("ior-3.0.1.txt"), 6273.0),
        (fixture!("ior-3.2.1.txt"), 1069.34),
        (fixture!("ior-3.3.0.txt"), f64::NAN),
        (fixture!("ior-4.0.0.txt"), f64::NAN),
    ] {
        assert_eq!(rates(&imported, Phase::Write).len(), 2);
        assert_eq!(rates(&imported, Phase::Read).len(), 2);
        assert!(imported.phases.iter().all(|record| record.phase.bytes() == 16 << 20));
        if write.is_finite() {
            near(rates(&imported, Phase::Write)[0], write, 1e-6);
        }
    }
}

/// Times have four decimal digits: a pass of 46 µs has a printed time of 0.0000 s, and moved its block all the same.
#[test]
fn a_pass_of_ior_whose_time_is_rounded_to_nothing_keeps_its_rate() {
    let text = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),numTasks,iter\n\
                read,17194.8346,351192.9585,0.0000,1024.0000,64.0000,0.0000,0.0000,0.0000,0.0001,1,0\n\
                read,21729.6000,445881.1726,0.0000,1024.0000,64.0000,0.0000,0.0000,0.0000,0.0000,1,1\n";
    let imported = read("f", text);
    assert_eq!(imported.phases[1].phase.read_bytes, 1 << 20);
    let [one, two] = rates(&imported, Phase::Read)[..] else { panic!("two passes") };
    near(one, 17_194.834_6, 1e-3);
    near(two, 21_729.6, 1e-3);
}

/// Releases 3.2 and 3.3 write no result into their CSV, whatever they were asked for.
#[test]
fn a_csv_of_ior_without_results_is_refused_with_the_reason() {
    let options = "Linux vm0Sun Nov 22 00:58:27 2026POSIX/scratch/fsingle-shared-fileindependent1sequentialno tasks \
                   offsets122265536 bytes4 MiB8 MiBSun Nov 22 00:58:27 2026";
    let line = "Sun Nov 22 00:58:27 2026ior -w -r -o /scratch/f -O summaryFormat=CSV";
    for text in [
        format!("IOR-3.2.0: MPI Coordinated Test of Parallel I/O\n{line}{options}"),
        format!("3.3.0{line}{options}"),
    ] {
        let refused = import(&[Text { name: "f", bytes: text.as_bytes() }], None, 0).expect_err("no result");
        let said = refused.to_string();
        assert!(
            said.contains("write no results to their CSV") && said.contains("summaryFormat=JSON"),
            "{said}"
        );
    }
}

/// The line that ioproof prints of itself has its own name before the tool's.
#[test]
fn an_output_in_iors_words_is_of_the_case_that_was_asked_for() {
    let text = include_str!("fixtures/import/ior-4.1.txt");
    let own = text
        .lines()
        .map(|line| match line.split_once(": ").filter(|(label, _)| label.starts_with("Command line")) {
            Some((label, _)) => format!("{label}: /opt/bin/ioproof ior -w -r -i 3 -t 64k -b 64m -o f\n"),
            None => format!("{line}\n"),
        })
        .collect::<String>();
    let case = &read("f", &own).plan.cases[0];
    assert_eq!((case.id.as_str(), case.stated.as_deref()), ("test0", None));
}

#[test]
fn the_rounds_of_md_workbench_are_repetitions() {
    let imported = fixture!("md-workbench-4.1.txt");
    assert_eq!(imported.tools, ["md-workbench 4.1.0+dev"]);
    let ids: Vec<&str> = imported.plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["precreate", "md-workbench", "cleanup"]);
    let case = &imported.plan.cases[1];
    let Work::Objects(objects) = &case.workload.work else { panic!("objects") };
    assert_eq!((case.workload.tasks, objects.sets, objects.precreated, objects.steps), (2, 2, 500, 200));
    assert_eq!((case.repetitions, case.stated.as_deref()), (3, None));
    let of = |phase: Phase| imported.phases.iter().filter(move |record| record.phase.key.phase == phase);
    for (record, rate) in of(Phase::Benchmark).zip([694_600.9, 742_436.8, 779_565.1]) {
        assert_eq!(record.phase.items, 3200);
        near(per_second(record), rate, 1e-3);
        assert_eq!((record.phase.read_bytes, record.phase.write_bytes), (800 * 3901, 800 * 3901));
    }
    let made = of(Phase::Precreate).next().expect("a phase");
    near(per_second(made), 408_582.5, 1e-4);
    assert_eq!((made.phase.items, made.phase.write_bytes), (2000, 2000 * 3901));
    // Smallest, quartiles, 90 and 99 %, largest.
    let creates = made.latency.iter().filter(|row| row.operation == Operation::Create);
    let counts: Vec<u64> = creates.clone().map(|row| row.count).collect();
    assert_eq!(counts, [500, 500, 500, 300, 180, 20]);
    assert_eq!(creates.map(|row| row.high_ns).max(), Some(43_154));
    assert!(
        made.printed.iter().any(|row| (row.value.as_str(), row.statistic.as_str()) == ("4.3154e-05", "max"))
    );
    let removed = of(Phase::Cleanup).next().expect("a phase");
    near(per_second(removed), 731_798.7, 1e-4);
    // Release 4.0 prints no map of nodes: tasks follow from its sets.
    assert_eq!(fixture!("md-workbench-4.0.0.txt").plan.cases[0].workload.tasks, 2);
}

/// A line that lost the last of its latencies is not one of a run that only reads.
#[test]
fn a_line_of_md_workbench_that_was_cut_off_is_refused() {
    let text = include_str!("fixtures/import/md-workbench-4.1.txt");
    let cut = text.find(" create(2.8610e-06s, 3.0994e-06s").expect("the first benchmark");
    for text in [text[..cut].to_owned(), text[..cut].replace("Args:", "Words:")] {
        let refused = import(&[Text { name: "f", bytes: text.as_bytes() }], None, 0).expect_err("cut");
        assert!(refused.to_string().contains("the latencies of every operation"), "{refused}");
    }
}

#[test]
fn means_of_mdtest_are_marked_and_say_what_they_are_over() {
    let imported = fixture!("mdtest-4.1.txt");
    near(per_second(&imported.phases[0]), 400_468.691, 1e-4);
    assert_eq!(means(&imported), [3; 6]);
    assert_eq!(imported.phases[0].phase.items, 10_000);
    let old = fixture!("mdtest-3.3.0-1.txt");
    let Work::Tree(tree) = &old.plan.cases[0].workload.work else { panic!("a tree") };
    assert_eq!((tree.depth, tree.branching, tree.directories()), (2, 2, 7));
    let said: Vec<String> = old.phases[0].warnings.iter().map(|row| row.warning.to_string()).collect();
    assert!(said.iter().any(|said| said.contains("over processes")), "{said:?}");
    let tree = old.phases.iter().find(|record| record.phase.key.phase == Phase::TreeCreate).expect("trees");
    assert_eq!(tree.phase.items, 7);
}

#[test]
fn iozone_has_its_rate_by_the_parent_and_by_the_children() {
    let imported = fixture!("iozone-3.508.txt");
    let first = &imported.phases[0].phase;
    let kib = |nanos: u64| first.bytes() as f64 / 1024.0 * 1e9 / nanos as f64;
    near(kib(first.io_ns), 6_964_371.50, 1e-4);
    near(kib(first.wall_ns), 3_726_625.75, 1e-4);
}

const AUTOMATIC: &str = "\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.489 $
\tCommand line used: iozone -a -i 0 -i 2 -n 64k -g 128k
\tOutput is in kBytes/sec
                                                              random    random     bkwd    record    stride
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread
              64       4   353000  1066042                     1879725   1207000
             128       8   400000  1100000                     2000000   1300000

iozone test complete.
";

/// The parent's time includes starting and ending the processes.
#[test]
fn iozone_says_where_the_parent_saw_far_less_than_the_children() {
    let fixture = include_str!("fixtures/import/iozone-3.508.txt");
    let line = fixture.lines().find(|line| line.contains("Parent sees throughput")).expect("a parent");
    let value = line.split_whitespace().rev().nth(1).expect("a rate");
    let said = |imported: &Imported| {
        let mut notes = imported.phases[0].warnings.iter().map(|row| row.warning.to_string());
        notes.any(|note| note.contains("times `Parent sees`"))
    };
    let children = fixture.lines().find(|line| line.contains("Children see")).expect("children");
    let equal = children.split_whitespace().rev().nth(1).expect("a rate");
    assert!(!said(&read("t", &fixture.replacen(value, equal, 1))));
    assert!(said(&read("t", &fixture.replacen(value, "123.45", 1))));
}

#[test]
fn errors_of_iozone_stay_with_the_figure_after_them() {
    let fixture = include_str!("fixtures/import/iozone-3.508.txt");
    for (line, error) in [
        ("Error in file: Found ?0? Expecting ?6d? addr 7f", record::ReportedError::WrongData),
        ("Error writing block 17, fd= 4", record::ReportedError::Failed),
        ("fsync: Input/output error", record::ReportedError::NotDurable),
    ] {
        let imported = read("t", &fixture.replacen("Children see", &format!("\n{line}\nChildren see"), 1));
        let is_it = |row: &record::WarningRow| matches!(row.warning, Warning::Reported { error: found, .. } if found == error);
        assert!(imported.phases[0].warnings.iter().any(is_it), "{line}");
    }
}

#[test]
fn iozone_tables_have_a_case_for_each_value() {
    let imported = read("a", AUTOMATIC);
    let ids: Vec<&str> = imported.plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), 8);
    assert_eq!(ids[..4], ["write-64k-4k", "rewrite-64k-4k", "random-read-64k-4k", "random-write-64k-4k"]);
    near(mib_per_second(&imported.phases[2]), 1_879_725.0 / 1024.0, 1e-4);
    let report = "\tIozone: Performance Test of File I/O\n\nExcel output is below:\n\n\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   \
                  100000  200000\n\"128\"   110000  210000\n\niozone test complete.\n";
    let imported = read("r", report);
    assert_eq!(imported.phases.len(), 4);
    near(mib_per_second(&imported.phases[3]), 210_000.0 / 1024.0, 1e-4);
}

#[test]
fn ioping_has_its_requests_and_statistics_in_every_form() {
    let text = fixture!("ioping-1.3.txt");
    let requests: u64 = text.phases[0].latency.iter().map(|row| row.count).sum();
    assert_eq!((requests, text.phases[0].phase.reads, text.phases[0].phase.read_bytes), (3, 3, 3 * 4096));
    let marked = include_str!("fixtures/import/ioping-1.3.txt").replacen("us\n", "us (fast)\n", 1);
    let marked = read("marked.txt", &marked.replacen("us\n", "us (slow)\n", 1));
    assert!(marked.phases[0].latency.iter().eq(text.phases[0].latency.iter()), "marks change nothing");
    let batch = &fixture!("ioping-batch.txt").phases[0];
    assert_eq!((batch.phase.reads, batch.phase.wall_ns), (999, 1_762_769));
    near(per_second(batch), 566_722.0, 1e-5);
    let json = &fixture!("ioping.json").phases[0];
    assert_eq!((json.phase.reads, json.phase.read_bytes, json.phase.wall_ns), (99, 405_504, 179_811));
}

/// Releases to 0.9 print how long all of it took, with the rests.
#[test]
fn ioping_before_1_0_has_its_printed_rate() {
    let statistics = "--- /mnt/b (ext4 /dev/sdb1) ioping statistics ---
20 requests completed in 19.0 s, 400 iops, 1.6 MiB/s
min/avg/max/mdev = 2.0 ms / 2.5 ms / 3.0 ms / 0.2 ms\n";
    let quiet = read("old", statistics);
    near(per_second(&quiet.phases[0]), 400.0, 1e-9);
    assert_eq!(quiet.plan.cases[0].transfer(), Some(plan::Bytes(4194)));
    let requests: String =
        (1..=20).map(|n| format!("4.0 kb from /mnt/b (ext4 /dev/sdb1): request={n} time=2.5 ms\n")).collect();
    let with_requests = read("old", &(requests + statistics));
    near(per_second(&with_requests.phases[0]), 400.0, 1e-9);
    assert_eq!(with_requests.plan.cases[0].transfer(), Some(plan::Bytes(4096)));
    let mut latency = with_requests.phases[0].latency.iter().filter(|row| row.count > 0);
    assert_eq!(latency.clone().map(|row| row.low_ns).min(), Some(2_000_000), "the printed minimum");
    assert!(latency.any(|row| row.high_ns == 3_000_000), "the printed maximum");
    let batch = read("batch", "20 50000 400 1638400 2000 2500 3000 200\n");
    near(per_second(&batch.phases[0]), 400.0, 1e-9);
    assert_eq!(batch.phases[0].phase.wall_ns, 50_000_000);
}

#[test]
fn ioping_without_requests_is_refused_and_failed_ones_are_told() {
    let text = "--- d (ext4 /dev/vda) ioping statistics ---\nno requests completed, elapsed 2.00 s\n";
    let error = import(&[Text { name: "t", bytes: text.as_bytes() }], None, 0).expect_err("nothing");
    assert!(error.to_string().starts_with("t:2: no request was completed"), "{error}");
    let text = format!("ioping: request failed: Input/output error\n{text}").replace(
        "no requests completed, elapsed 2.00 s",
        "9 requests completed in 9.00 ms, 36 KiB read, 2 failed, 1.00 k iops, 3.91 MiB/s
min/avg/max/mdev = 1.0 ms / 1.0 ms / 1.0 ms / 0 us",
    );
    let of = |row: &record::WarningRow| match &row.warning {
        Warning::Reported { error, count, .. } => Some((*error, *count)),
        _ => None,
    };
    let reported = |imported: &Imported| imported.phases[0].warnings.iter().find_map(of);
    let imported = read("t", &format!("4 KiB <<< d (ext4 /dev/vda): request=1 time=1.0 ms (warmup)\n{text}"));
    assert_eq!(reported(&imported), Some((record::ReportedError::Failed, 3)));
    let json = include_str!("fixtures/import/ioping.json").replace("\"failed\": 0", "\"failed\": 4");
    assert_eq!(reported(&read("t", &json)), Some((record::ReportedError::Failed, 4)));
}

#[test]
fn fio_has_jobs_directions_and_histograms() {
    let plus = fixture!("fio-3.33-plus.json");
    let record = &plus.phases[0];
    assert_eq!((record.phase.key.phase, plus.plan.cases[0].workload.tasks), (Phase::Mixed, 2));
    assert!(plus.plan.cases[0].workload.direct);
    for (operation, count) in [(Operation::Read, record.phase.reads), (Operation::Write, record.phase.writes)]
    {
        let rows = record.latency.iter().filter(|row| row.operation == operation);
        assert_eq!(rows.map(|row| row.count).sum::<u64>(), count);
    }
    let plain = fixture!("fio-3.33.json");
    let ids: Vec<&str> = plain.plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["seq", "again"]);
    assert_eq!((plain.phases[0].phase.write_bytes, plain.phases[1].phase.read_bytes), (2 << 20, 2 << 20));
    // Of percentiles too every request is counted once.
    assert_eq!(
        plain.phases[0].latency.iter().map(|row| row.count).sum::<u64>(),
        plain.phases[0].phase.writes
    );
    let text = fixture!("fio-normal.txt");
    let row = &text.phases[0].phase;
    assert_eq!((row.reads, row.writes, row.wall_ns), (91_694, 39_378, 284_000_000));
    assert_eq!((row.read_bytes, row.write_bytes), (91_694 * 4096, 39_378 * 4096));
}

#[test]
fn fio_has_the_same_figures_in_terse_lines() {
    let text = include_str!("fixtures/import/fio-3.33-terse.txt");
    let both = read("terse.txt", text);
    assert_eq!(both.tools, ["fio 3.33"]);
    let ids: Vec<&str> = both.plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["seq", "mix"]);
    // The first job is described before, with the size of its requests.
    let seq = &both.phases[0].phase;
    assert_eq!((seq.key.phase, seq.writes, seq.write_bytes), (Phase::Write, 512, 32 << 20));
    let mix = &both.phases[1];
    assert_eq!((mix.phase.key.phase, mix.phase.wall_ns), (Phase::Mixed, 7_000_000));
    assert_eq!((mix.phase.reads, mix.phase.read_bytes), (1989, 7956 << 10));
    let reads = mix.latency.iter().filter(|row| row.operation == Operation::Read);
    assert_eq!(reads.map(|row| row.count).sum::<u64>(), 1989);
    let printed = |label: &str| mix.printed.iter().find(|row| row.label == label).map(|row| &*row.value);
    assert_eq!((printed("read bw"), printed("read clat")), (Some("1136571"), Some("0")));
    for newer in &fixture!("fio-3.33-terse-4-5.txt").phases {
        assert_eq!((newer.phase.read_bytes, newer.phase.write_bytes), (7928 << 10, 8456 << 10));
    }
    // Beside fio's text, terse lines say the same again.
    let normal = include_str!("fixtures/import/fio-normal.txt");
    let terse = text.lines().last().expect("a line");
    for both in [format!("{terse}\n{normal}"), format!("{normal}\n{terse}\n")] {
        assert_eq!(read("both", &both).phases.len(), read("normal", normal).phases.len());
    }
    // A version with other fields is named.
    let old = terse.replacen("3;fio-3.33;", "2;", 1);
    let refused = import(&[Text { name: "f", bytes: old.as_bytes() }], None, 0).expect_err("version 2");
    assert!(
        refused.to_string().contains("terse version 2") && refused.to_string().contains("3, 4 and 5"),
        "{refused}"
    );
    let cut = &terse[..terse.len() / 2];
    let refused = import(&[Text { name: "f", bytes: cut.as_bytes() }], None, 0).expect_err("cut");
    assert!(refused.to_string().contains("fields of terse version 3"), "{refused}");
}

#[test]
fn elbencho_has_both_phases_and_the_first_worker() {
    let csv = fixture!("elbencho-full.csv");
    assert_eq!(csv.plan.cases.len(), 1);
    near(mib_per_second(&csv.phases[0]), 3086.0, 1e-6);
    assert_eq!(csv.phases[0].phase.first_done_bytes, 254 << 20);
    let json = fixture!("elbencho-full.json");
    near(mib_per_second(&json.phases[1]) * 1_048_576.0, 9_268_540_017.0, 1e-6);
    assert_eq!(json.phases[1].latency.iter().map(|row| row.count).sum::<u64>(), 4096);
}

/// A time limit ends a phase before a file is whole. It has no entries, but bytes.
#[test]
fn elbencho_in_directories_without_entries_has_transfers() {
    let csv = include_str!("fixtures/import/elbencho-full.csv").replace(",file,1,1,2,", ",dir,1,1,2,");
    let json = include_str!("fixtures/import/elbencho-full.json")
        .replace("\"path_type\":\"file\"", "\"path_type\":\"dir\"");
    for text in [csv, json] {
        let write = &read("t", &text).phases[0];
        assert_eq!((write.phase.key.phase, write.phase.writes), (Phase::Write, 4096));
        near(mib_per_second(write), 3086.0, 1e-3);
    }
}

/// Releases 1.x print times in ms, and directories or files in another order of words. Each heading is another run.
#[test]
fn elbencho_1_has_entries_and_bytes() {
    let head = "OPERATION RESULT TYPE        FIRST DONE  LAST DONE
========= ================   ==========  =========
";
    let write = "WRITE     Elapsed ms       :       1000       2000
          Files/s          :        600        500
          Throughput MiB/s :        300        250
          Total files      :        600       1000
          Total MiB        :        300        500
---
";
    let text = format!(
        "{head}DROPCACHE Elapsed ms       :       1000       2000
---
MKDIRS    Elapsed ms       :          0          2
          Dirs/s           :      21201      20000
          Dirs total       :         12         40
---
{write}{head}{write}"
    );
    let imported = read("t", &text);
    let phases: Vec<_> = imported.plan.cases.iter().map(|case| case.phases.to_vec()).collect();
    assert_eq!(phases, [vec![Phase::DirectoryCreate, Phase::FileCreate], vec![Phase::FileCreate]]);
    near(per_second(&imported.phases[0]), 20_000.0, 1e-6);
    let files = &imported.phases[1];
    near(per_second(files), 500.0, 1e-6);
    near(mib_per_second(files), 250.0, 1e-6);
    assert_eq!(files.phase.items, 1000);
    let said: Vec<String> = files.warnings.iter().map(|row| row.warning.to_string()).collect();
    assert!(said.iter().any(|said| said.contains("moved at 250.0 MiB/s")), "{said:?}");
    // A phase of less than a millisecond may have neither a time nor a rate.
    let sync = "SYNC      Elapsed ms       :          0          0\n---\n";
    let remove = "RMFILES   Elapsed ms       :          0          0\n          Files/s          :          0          0\n---\n";
    let imported = read("t", &format!("{head}{write}{remove}"));
    assert_eq!(imported.phases.len(), 1);
    assert!(imported.doubts.iter().any(|doubt| doubt.contains("RMFILES took 0 ms")), "{:?}", imported.doubts);
    let text = format!("{head}{sync}");
    let error = import(&[Text { name: "t", bytes: text.as_bytes() }], None, 0).expect_err("no measurement");
    assert!(error.to_string().starts_with("t:3: none of its phases is a measurement"), "{error}");
}

#[test]
fn elbencho_has_its_phases_in_the_text_of_the_terminal() {
    let text = fixture!("elbencho-3.1-1.txt");
    let of = |phase: Phase| {
        text.phases.iter().filter(move |record| record.phase.key.phase == phase).collect::<Vec<_>>()
    };
    near(mib_per_second(of(Phase::Write)[0]), 830.0, 1e-6);
    assert_eq!(of(Phase::Write)[0].phase.first_done_bytes, 250 << 20);
    near(mib_per_second(of(Phase::Read)[0]), 5552.0, 1e-6);
    let max = of(Phase::Write)[0].printed.iter().find(|row| row.statistic == "max").expect("a latency");
    assert_eq!((max.label.as_str(), &*max.value, max.number), ("IO latency", "10.8ms", Some(10_800.0)));
    // In directories files and directories count, and their own histogram.
    let rates = [
        (Phase::DirectoryCreate, 8163.0, 4),
        (Phase::FileCreate, 41_237.0, 32),
        (Phase::FileStat, 63_366.0, 32),
        (Phase::FileRead, 57_761.0, 32),
        (Phase::FileRemove, 57_971.0, 32),
        (Phase::DirectoryRemove, 7532.0, 4),
    ];
    for (phase, rate, items) in rates {
        let record = of(phase)[0];
        near(per_second(record), rate, 1e-3);
        assert_eq!(record.phase.items, items, "{phase}");
        assert_eq!(record.latency.iter().map(|row| row.count).sum::<u64>(), items, "{phase}");
    }
    let mixed = &of(Phase::Mixed)[0].phase;
    assert_eq!((mixed.read_bytes, mixed.write_bytes), (19 << 20, 44 << 20));
    assert!(text.plan.cases.iter().all(|case| case.stated.as_deref() == Some("conditions are not printed")));
    let cut = include_str!("fixtures/import/elbencho-3.1-1.txt").rsplit_once("---").expect("the end").0;
    let refused = import(&[Text { name: "f", bytes: cut.as_bytes() }], None, 0).expect_err("cut");
    assert!(refused.to_string().contains("`---` after the phase RWMIX30"), "{refused}");
}

#[test]
fn the_live_csv_of_elbencho_has_a_series_as_far_as_it_goes() {
    let live = fixture!("elbencho-live.csv");
    let write = &live.phases[0];
    assert_eq!((write.phase.key.phase, write.phase.wall_ns), (Phase::Write, 280_000_000));
    assert_eq!(write.phase.write_bytes, 217_120_768);
    let series: Vec<(u64, u64)> = write.series.iter().map(|row| (row.start_ns, row.bytes)).collect();
    assert_eq!((series.len(), series[0], series[6]), (7, (0, 7_602_176), (240_000_000, 63_766_528)));
    assert_eq!(write.series.iter().map(|row| row.bytes).sum::<u64>(), write.phase.write_bytes);
    let mixed = live.phases.iter().find(|record| record.phase.key.phase == Phase::Mixed).expect("mixed");
    assert_eq!((mixed.phase.read_bytes, mixed.phase.write_bytes), (16_093_184, 37_384_192));
    let made = live.phases.iter().find(|record| record.phase.key.phase == Phase::FileCreate).expect("files");
    assert_eq!(made.phase.items, 11_496);
    let said: Vec<String> = write.warnings.iter().map(|row| row.warning.to_string()).collect();
    assert!(said.iter().any(|said| said.contains("not included")), "{said:?}");
}

/// `mmdiag --iohist` prints neither tags nor threads.
#[test]
fn a_short_io_history_has_its_times_and_disks() {
    let imported = read(
        "short",
        "=== mmdiag: iohist ===\n\nI/O history:\n
 I/O start time RW    Buf type disk:sectorNum     nSec  time ms  Type  Device/NSD ID         NSD node
--------------- -- ----------- ----------------- -----  -------  ----  ------------------ ---------------
10:20:30.100000  W        data    2:7000000000      32    0.500  lcl   sdq
10:20:30.200000  R       inode    2:7000000032       8    0.250  cli   0A000001:5C000001  10.1.1.9
",
    );
    let rows: Vec<_> = imported.phases[0]
        .history
        .iter()
        .map(|row| (row.latency_ns, row.bytes, &*row.node_type, &*row.disk_uid, &*row.server, row.tag1))
        .collect();
    let cli = (250_000, 4096, "cli", "0A000001:5C000001", "10.1.1.9", None);
    assert_eq!(rows, [(500_000, 16_384, "lcl", "sdq", "", None), cli]);
}

/// Newer releases fill a column behind the thread, and leave that of the server empty where the disk is local.
#[test]
fn a_newer_io_history_is_read_with_its_comments() {
    let imported = fixture!("iohist-comment.txt");
    let rows: Vec<[&str; 4]> = imported.phases[0]
        .history
        .iter()
        .map(|row| [&*row.server, &*row.context, &*row.thread_name, &*row.comment])
        .collect();
    assert_eq!(
        rows,
        [
            ["10.36.5.160", "Prefetch", "WritebehindWorkerThread", "pdisk e1d2s03"],
            ["10.36.5.161", "Prefetch", "WritebehindWorkerThread", "retried once"],
            ["", "NSDWorker", "NSDThread", "pdisk e1d2s04"],
            ["", "Revoke", "InodeRevokeWorkerThread", ""],
            ["", "Unknown", "PaxosChallengeThread", ""],
        ]
    );
    let inode = &imported.phases[0].history[3];
    assert_eq!((inode.latency_ns, inode.tag2, &*inode.kind), (207_000, Some(6_704_210), "inode"));
}

const IOSTAT: &str = "Linux 6.1.0 (h) \t03/14/2026 \t_x86_64_\t(8 CPU)\n\n";

/// Each direction has a table, and the device is the last column.
#[test]
fn iostat_pretty_and_human_have_the_same_values() {
    let report = |at: &str, reads: &str, bytes: &str| {
        format!(
            "{at}\n     r/s     rkB/s r_await Device\n {reads} {bytes}    0.20 sda\n
     w/s     wkB/s w_await Device\n   10.00    100.00    0.30 sda\n
     f/s f_await  aqu-sz  %util Device\n    0.00    0.00    0.01   5.00 sda\n\n\n"
        )
    };
    let (first, second) = ("03/14/2026 10:00:00 AM", "03/14/2026 10:00:10 AM");
    let pretty = read(
        "t",
        &format!("{IOSTAT}{}{}", report(first, "1.00", "4.00"), report(second, "100.00", "1536.00")),
    );
    let row = &pretty.phases[0].devices[0];
    assert_eq!((pretty.plan.cases.len(), pretty.phases[0].devices.len()), (1, 1));
    assert_eq!((row.length_ns, row.reads, row.writes), (10_000_000_000, 1000, 100));
    assert_eq!((row.read_bytes, row.busy_ns), (10 * 1536 * 1024, 500_000_000));
    let human = format!("{IOSTAT}{}{}", report(first, "1.00", "4.0k"), report(second, "100.00", "1.5M"))
        .replace("  100.00    0.30", "  100.0k    0.30")
        .replace("   5.00 sda", "   5.0% sda");
    assert_eq!(read("t", &human).phases[0].devices, pretty.phases[0].devices);
}

#[test]
fn the_row_of_a_group_is_not_a_device() {
    let table = "Device            r/s     rkB/s  %util
sda            100.00    400.00  10.00
sdb            300.00   1200.00  30.00
 both          400.00   1600.00  20.00\n";
    let imported = read("t", &format!("{IOSTAT}{table}"));
    let names: Vec<&str> = imported.plan.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(names, ["iostat-sda", "iostat-sdb"]);
    assert!(
        imported.doubts.iter().any(|doubt| doubt.contains("sums of the devices")),
        "{:?}",
        imported.doubts
    );
    let only: String =
        table.lines().filter(|line| !line.starts_with("sd")).map(|line| format!("{line}\n")).collect();
    let imported = read("t", &format!("{IOSTAT}{only}"));
    assert!(!imported.plan.cases[0].knows(plan::Condition::Path));
    let notes: Vec<String> = imported.phases[0].warnings.iter().map(|row| row.warning.to_string()).collect();
    assert!(notes.iter().any(|note| note.contains("both is a group")), "{notes:?}");
}

/// sysstat 9 prints only the time of day, and moves the values of a long name to the next line.
#[test]
fn an_old_iostat_has_its_intervals_and_long_names() {
    let report = |at: &str| {
        format!(
            "Time: {at}\nDevice:         r/s     w/s   rsec/s  %util\n/dev/mapper/long-name-of-a-volume\n  20.00   30.00   160.00   0.20\n\n"
        )
    };
    let imported = read("t", &format!("{IOSTAT}{}{}", report("10:00:00 AM"), report("10:00:05 AM")));
    let row = &imported.phases[0].devices[0];
    assert_eq!(&*row.device, "/dev/mapper/long-name-of-a-volume");
    assert_eq!((row.length_ns, row.reads, row.read_bytes), (5_000_000_000, 100, 160 * 512 * 5));
}

#[test]
fn iostat_has_a_row_of_a_device_for_each_interval() {
    let timed = fixture!("iostat-x.txt");
    let devices = &timed.phases[0].devices;
    assert_eq!((timed.plan.cases[0].id.as_str(), devices.len()), ("iostat-vda", 2));
    assert_eq!(devices[0].length_ns, 1_000_000_000);
    assert_eq!((devices[0].reads, devices[0].writes), (360, 224));
    assert_eq!(devices[0].write_bytes, 247_228 * 1024);
    assert_eq!(devices[0].busy_ns, 148_000_000);
    for untimed in [fixture!("iostat-xm.txt"), fixture!("iostat-x.json")] {
        assert_eq!(untimed.phases[0].devices.len(), 1);
        let said: Vec<String> =
            untimed.phases[0].warnings.iter().map(|row| row.warning.to_string()).collect();
        assert!(said.iter().any(|said| said.contains("-t")), "{said:?}");
    }
}

#[test]
fn nsdperf_has_its_tests_with_their_histograms() {
    let imported = fixture!("nsdperf.txt");
    let first = &imported.phases[0];
    assert_eq!(
        (imported.plan.cases[0].id.as_str(), first.phase.key.phase),
        ("write-4096k-1", Phase::Exchange)
    );
    near(first.phase.bytes() as f64 * 1e9 / first.phase.wall_ns as f64, 1.9e9, 1e-9);
    assert_eq!(first.latency.iter().map(|row| row.count).sum::<u64>(), 1453);
    assert_eq!((first.latency[0].low_ns, first.latency[0].high_ns), (500_000, 1_499_999));
    let means = |record: &record::PhaseRecord| -> Vec<u64> {
        record.latency.iter().filter(|row| row.count == 0).map(|row| row.low_ns).collect()
    };
    assert_eq!(means(first), [2_200_000], "the printed mean");
    let of_two = include_str!("fixtures/import/nsdperf.txt").replacen(
        "1-1 nwrite",
        "10.99.0.3 block transmit times (average 3.1 msec, median 3 msec)\n     msec  nevents\n        3   10\n\n1-1 nwrite",
        1,
    );
    let of_two = import(&[Text { name: "f", bytes: of_two.as_bytes() }], None, 0).expect("two clients");
    assert!(means(&of_two.phases[0]).is_empty(), "each client has its own mean");
}

/// JSON ends where it ends: what another tool has printed beside it is neither lost nor mixed with it.
#[test]
fn an_output_beside_a_json_is_told_with_its_line() {
    let json = include_str!("fixtures/import/ior-4.1.json");
    let text = include_str!("fixtures/import/mdtest-4.1.txt");
    let lines = json.lines().count();
    for (both, line) in [
        (format!("{text}{json}"), 1),
        (format!("{json}\n{text}"), lines + 1),
        (format!("{json}\n{}", include_str!("fixtures/import/fio-3.33-plus.json")), lines + 1),
    ] {
        let refused =
            import(&[Text { name: "f", bytes: both.as_bytes() }], None, 0).expect_err("two outputs");
        let said = refused.to_string();
        assert!(said.contains("another output begins here"), "{said}");
        let told: usize = said.split(':').nth(1).and_then(|line| line.parse().ok()).expect("a line");
        assert!(told >= line && told < line + 12, "{said}, not {line}");
    }
}

#[test]
fn a_number_below_0_is_no_figure() {
    let text = include_str!("fixtures/import/fio-3.33.json").replace("\"iops\" : 1", "\"iops\" : -1");
    let refused =
        import(&[Text { name: "f", bytes: text.as_bytes() }], None, 0).expect_err("a negative rate");
    assert!(refused.to_string().contains("expected a number"), "{refused}");
}

/// What a text does not print has no value, whatever stands in the workload.
#[test]
fn a_condition_that_is_not_printed_is_not_made_up() {
    let fio = read(
        "fio.txt",
        "pl: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, \
         iodepth=1\nfio-3.33\nStarting 1 process\n\n\
         pl: (groupid=0, jobs=1): err= 0: pid=907: Sat Nov 28 16:13:09 2026\n  \
         read: IOPS=17.8k, BW=69.6MiB/s (73.0MB/s)(209MiB/3001msec)\n    \
         clat (usec): min=27, max=22915, avg=54.84, stdev=310.08\n    \
         issued rwts: total=53476,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\n\
         Run status group 0 (all jobs):\n",
    )
    .plan;
    let case = &fio.cases[0];
    assert_eq!((case.transfer(), case.tasks(), case.depth()), (Some(plan::Bytes(4096)), Some(1), Some(1)));
    assert_eq!((case.volume(), case.block(), case.nodes(), case.paths()), (None, None, None, None));
    let mdtest = fixture!("mdtest-4.1.txt").plan;
    assert!(matches!(mdtest.source, PlanSource::Import { zoneless: true, .. }), "{:?}", mdtest.source);
    let elbencho = fixture!("elbencho-full.csv").plan;
    assert!(matches!(elbencho.source, PlanSource::Import { zoneless: false, .. }), "{:?}", elbencho.source);
}
