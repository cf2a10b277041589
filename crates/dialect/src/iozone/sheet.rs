//! The reports that `-R` adds, for spreadsheets.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::case::Point;
use super::settings::{Settings, Unit};
use super::test::{THROUGHPUT_ORDER, Test};

/// The cells of single and automatic mode, by test and sizes. The heading has every record size of the
/// command line, also those larger than all files.
pub(super) fn table(settings: &Settings, cells: &[(Point, f64)]) -> String {
    let mut out = String::from("Excel output is below:\n");
    let records: BTreeSet<u64> = settings.all_records().into_iter().collect();
    for test in Test::columns() {
        let of_test: BTreeMap<(u64, u64), f64> = cells
            .iter()
            .filter(|(point, _)| point.test == test)
            .map(|(point, value)| ((point.size_kb, point.record_kb), *value))
            .collect();
        if of_test.is_empty() {
            continue;
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "\n\"{}\"\n      ", test.title());
        records.iter().for_each(|record| {
            let _ = write!(out, "  \"{record}\"");
        });
        out.push('\n');
        let sizes: BTreeSet<u64> = of_test.keys().map(|(size, _)| *size).collect();
        for size in sizes {
            let _ = write!(out, "\"{size}\"  ");
            for record in records.iter().filter(|record| **record <= size) {
                let value = of_test.get(&(size, *record)).copied().unwrap_or(0.0);
                let _ = write!(out, " {} ", value.trunc());
            }
            out.push('\n');
        }
    }
    out
}

/// The report of throughput mode: a row for each test, a column for each number of processes.
pub(super) fn throughput(settings: &Settings, rates: &[(Point, f64)], cpu: &[(Point, f64)]) -> String {
    let record = rates.first().map_or(0, |(point, _)| point.record_kb);
    let unit = if settings.unit == Unit::Operations { "ops/sec" } else { "kBytes/sec" };
    let mut out = block("Throughput report", record, unit, rates);
    if settings.show_cpu {
        out.push_str(&block("CPU utilization report", record, "CPU%", cpu));
    }
    out
}

fn block(name: &str, record: u64, unit: &str, values: &[(Point, f64)]) -> String {
    let mut out = format!(
        "\"{name} Y-axis is type of test X-axis is number of processes\"\n\"Record size = {record} kBytes \"\n\
         \"Output is in {unit}\"\n\n"
    );
    for test in THROUGHPUT_ORDER {
        let row: Vec<f64> =
            values.iter().filter(|(point, _)| point.test == test).map(|(_, value)| *value).collect();
        if let Some(facts) = test.throughput().filter(|_| !row.is_empty()) {
            let cells: String = row.iter().map(|value| format!(" {value:>10.2} ")).collect();
            // Writing to a String cannot fail.
            let _ = write!(out, "\"{}\"{cells}\n\n", facts.row);
        }
    }
    out.push('\n');
    out
}
