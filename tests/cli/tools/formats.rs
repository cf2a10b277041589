//! IOR's output in its three formats and in older layouts, as scripts parse it.

use serde_json::Value;

use crate::desk::{Desk, run};

const LINE: &str = "-w -r -t 4k -b 64k -s 4 -N 2 -i 3 -o f";

fn output(options: &str) -> String {
    let desk = Desk::new();
    run(&desk.ior(&format!("{LINE} {options}"))).expect_code(0).stdout
}

/// The columns of the rows that start with `operation`, up to the summary.
fn rows<'t>(text: &'t str, operation: &str) -> Vec<Vec<&'t str>> {
    let results = text.lines().take_while(|line| !line.starts_with("Summary of all tests"));
    let columns = results.map(|line| line.split_whitespace().collect::<Vec<_>>());
    columns.filter(|columns| columns.first() == Some(&operation)).collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

#[test]
fn text_has_a_row_of_eleven_columns_for_each_phase() {
    let text = output("");
    assert!(text.starts_with("IOR-4.1.0"), "{text}");
    for operation in ["write", "read"] {
        let rows = rows(&text, operation);
        assert_eq!(rows.len(), 3, "{operation}: {text}");
        for (iteration, columns) in rows.iter().enumerate() {
            assert_eq!(columns.len(), 11, "{columns:?}");
            assert!(columns[1..10].iter().all(|column| number(column) >= 0.0));
            let mib = 2.0 * 4.0 * 64.0 / 1024.0;
            let by_total = mib / number(columns[9]);
            // The printed time has six digits.
            assert!((number(columns[1]) / by_total - 1.0).abs() < 0.05, "{columns:?}");
            assert_eq!(columns[10], iteration.to_string());
        }
    }
    let summary = text.split("Summary of all tests:").nth(1).expect("a summary");
    let mut lines = summary.lines().skip(1);
    let header: Vec<&str> = lines.next().expect("a header").split_whitespace().collect();
    assert_eq!(header[..4], ["Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)"]);
    let write: Vec<&str> = lines.next().expect("a row").split_whitespace().collect();
    assert_eq!((write[0], write.len()), ("write", header.len()));
    assert!(number(write[1]) >= number(write[3]) && number(write[3]) >= number(write[2]));
}

#[test]
fn older_shapes_have_the_lines_that_older_scripts_look_for() {
    for (release, columns) in [("3.0", 9), ("3.3", 11)] {
        let text = output(&format!("--compat {release}"));
        assert_eq!(rows(&text, "write")[0].len(), columns, "{release}");
        for start in ["Max Write: ", "Max Read: "] {
            let line = text.lines().find_map(|line| line.strip_prefix(start)).expect("a line");
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!((words[1], words[3]), ("MiB/sec", "MB/sec)"), "{line}");
            let (mib, mb) = (number(words[0]), number(words[2].trim_start_matches('(')));
            assert!((mb / mib / 1.048_576 - 1.0).abs() < 0.001, "{line}");
        }
    }
}

#[test]
fn json_is_valid_and_has_its_results_where_scripts_look_for_them() {
    let json: Value = serde_json::from_str(&output("-O summaryFormat=JSON")).expect("valid JSON");
    let results = json["tests"][0]["Results"].as_array().expect("a list");
    assert_eq!(results.len(), 6);
    assert!(results.iter().all(|row| row["bwMiB"].as_f64() > Some(0.0)));
    let operations: Vec<&str> = results.iter().filter_map(|row| row["access"].as_str()).collect();
    assert_eq!(operations, ["write", "read"].repeat(3));
    assert_eq!(json["tests"][0]["Parameters"]["transferSize"], 4096);
    assert_eq!(json["summary"].as_array().map(Vec::len), Some(2));
    assert!(json["summary"][0]["bwMaxMIB"].as_f64() >= json["summary"][0]["bwMeanMIB"].as_f64());
}

#[test]
fn csv_has_twelve_columns() {
    let text = output("-O summaryFormat=CSV");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    assert_eq!((header.len(), header[0], header[1]), (12, "access", "bw(MiB/s)"));
    let rows: Vec<_> = lines.collect();
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_eq!(row.len(), 12);
        assert!(["write", "read"].contains(&row[0]) && number(row[1]) > 0.0, "{row:?}");
        assert_eq!(row[10], "2", "tasks");
    }
}

#[test]
fn the_summary_goes_into_a_file_where_that_is_asked_for() {
    let desk = Desk::new();
    let finished =
        run(&desk.ior(&format!("{LINE} -O summaryFile=out.json -O summaryFormat=JSON"))).expect_code(0);
    assert!(!finished.stdout.contains("bwMiB"), "{}", finished.stdout);
    let text = std::fs::read_to_string(desk.path("out.json")).expect("the file");
    assert!(serde_json::from_str::<Value>(&text).is_ok_and(|json| json["tests"].is_array()), "{text}");
}

#[test]
fn what_does_not_apply_is_refused_with_the_reason() {
    let desk = Desk::new();
    for (options, reason) in [("-a MPIIO", "MPIIO"), ("-a HDF5", "HDF5"), ("-c", "MPI-IO"), ("-q4", "-q")] {
        let finished = run(&desk.ior(&format!("{options} -w -t 4k -b 4k -o f")));
        if options == "-q4" {
            // -q takes no value: what follows it is a separate option.
            assert_eq!(finished.code, Some(2), "{}", finished.stderr);
        } else {
            assert!(finished.expect_code(2).stderr.contains(reason));
        }
    }
    assert_eq!(crate::desk::names(&desk.path("")), [""; 0], "nothing was touched");
}
