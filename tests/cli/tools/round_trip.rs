//! `import` can read everything that the program prints when called as another tool.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;

use serde_json::Value;

use crate::desk::{Desk, run};

/// Command lines for each tool and each of its output formats. `{}` is a directory in which `p` is a file of 1 MiB.
const LINES: &[&str] = &[
    "ior -w -r -t 64k -b 1m -i 2 -o {}/f",
    "ior -v -w -r -t 64k -b 1m -o {}/f",
    "ior --compat 3.0 -w -r -t 64k -b 1m -i 2 -o {}/f",
    "ior --compat 3.3 -w -r -t 64k -b 1m -i 2 -o {}/f",
    "ior -w -r -t 64k -b 1m -i 2 -o {}/f -O summaryFormat=JSON",
    "ior -w -r -t 64k -b 1m -i 2 -o {}/f -O summaryFormat=CSV",
    "mdtest -n 20 -i 2 -d {}/md",
    "mdtest -n 20 -F -w 10 -e 10 -d {}/md",
    "mdtest -z 2 -b 2 -I 3 -d {}/md",
    "mdtest --compat 1.9 -n 20 -d {}/md",
    "mdtest --compat 3.3 -n 20 -d {}/md",
    "md-workbench -I 30 -P 100 -D 2 -R 2 -o {}/mdw",
    "md-workbench -I 300 -P 1000 -D 2 -R 2 -o {}/mdw --print-detailed-stats",
    "ioping -C -a 0 -c 5 -i 0.01 {}/p",
    "ioping -C -a 0 -c 5 -i 0.01 -q {}/p",
    "ioping -C -a 0 -c 5 -i 0.01 -B {}/p",
    "ioping -C -a 0 -c 5 -i 0.01 -J {}/p",
    "ioping -C -a 0 -c 6 -i 0.01 -q -p 6 {}/p",
    "ioping -C -a 0 -c 5 -i 0.01 -WWW {}/p",
    "iozone -a -n 64k -g 64k -f {}/z",
    "iozone -a -n 64k -g 128k -i 0 -i 1 -R -f {}/z",
    "iozone -s 1m -r 64k -i 0 -i 1 -i 2 -O -f {}/z",
    "iozone -s 4m -r 1m -i 0 -i 1 -N -f {}/z",
    "iozone -t 2 -s 1m -r 64k -i 0 -i 1 -F {}/z1 {}/z2",
    "iozone -t 2 -s 1m -r 64k -i 0 -i 1 -R -O -F {}/z1 {}/z2",
    "gpfsperf create seq {}/g -n 4m -r 64k",
    "gpfsperf read rand {}/p -n 1m -r 64k",
    "tsqosperf write seq {}/g -n 4m -r 64k -th 2 -fsync",
];

/// Rates are printed with at least three digits, unless they come from the time of a phase in whole milliseconds or
/// of a transfer in whole microseconds.
fn rounded(line: &str) -> f64 {
    if line.contains(" -N ") || line.contains("--print-detailed-stats") { 0.2 } else { 0.01 }
}

/// Every pass of every figure of a phase appears in the output, with a rate that is in the record.
#[test]
fn what_each_tool_prints_is_read_again() {
    let mut wrong = Vec::new();
    for line in LINES {
        let desk = Desk::new();
        fs::write(desk.path("p"), vec![7; 1 << 20]).expect("a file");
        let line = line.replace("{}", &desk.path("").display().to_string());
        let words: Vec<&str> = line.split_whitespace().collect();
        let program = desk.program().args(&words).args(["--yes", "--out"]).arg(desk.record());
        let printed = run(&program).expect_code(0).stdout;
        let (text, imported) = (desk.path("printed.txt"), desk.path("imported"));
        fs::write(&text, &printed).expect("a file");
        let _ = run(&desk.ioproof("import").arg(&text).arg("--out").arg(&imported)).expect_code(0);
        let read: Vec<Value> = figures(&desk, "imported");
        let measured: Vec<Value> = figures(&desk, "record");
        if read.is_empty() {
            wrong.push(format!("{line}: nothing is read of\n{printed}"));
        }
        let mut nth: BTreeMap<&str, usize> = BTreeMap::new();
        for figure in &read {
            let phase = figure["phase"].as_str().expect("a phase");
            let nth = nth.entry(phase).or_default();
            let own = measured.iter().filter(|own| own["phase"] == phase).nth(*nth);
            *nth += 1;
            match own {
                None => wrong.push(format!("{line}: {phase} was not measured")),
                Some(own) => {
                    let (whole, found, own) = (own, rate_of(figure), rates(own));
                    let is_near = |own: &f64| (found / own - 1.0).abs() < rounded(&line);
                    let is_between = line.contains("-fsync") && to_last_close(whole).contains(&found);
                    if !(is_between || own.iter().any(is_near)) {
                        wrong.push(format!("{line}: {phase}: {found}/s is read, {own:?} are measured"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn figures(desk: &Desk, name: &str) -> Vec<Value> {
    let report = run(&desk.ioproof("report --format json").arg(desk.path(name))).expect_code(0);
    let report: Value = serde_json::from_str(&report.stdout).expect("valid JSON");
    report["figures"].as_array().expect("a list").clone()
}

/// Operations per second of a figure.
fn rate_of(figure: &Value) -> f64 {
    figure["transfers_per_second"]["median"].as_f64().expect("a number")
}

/// Rates from the first transfer to the last close lie between those over the whole time and those over transfers and
/// closes alone, since tasks may wait for processors in between.
fn to_last_close(figure: &Value) -> RangeInclusive<f64> {
    let pass = &figure["repetitions"][0];
    let value = |name: &str| pass[name].as_f64().expect("a number");
    let rate = |ns: f64| value("transfers") * 1e9 / ns;
    rate(value("wall_ns"))..=rate(value("io_ns") + value("close_ns"))
}

/// All rates in the record for a figure, in operations per second: for each time base, for each pass and for all
/// passes, without the open, and for one request after the other.
fn rates(figure: &Value) -> Vec<f64> {
    let of_pass = |pass: &Value| {
        let value = |name: &str| pass[name].as_f64().expect("a number");
        let without_open = value("transfers") * 1e9 / (value("io_ns") + value("close_ns"));
        let rates = pass["rates"].as_array().expect("a list").iter();
        let rates = rates.filter_map(|rate| rate["transfers_per_second"].as_f64());
        rates.chain([without_open]).collect::<Vec<_>>()
    };
    let passes = figure["repetitions"].as_array().expect("a list");
    let mut all: Vec<f64> = passes.iter().flat_map(of_pass).collect();
    let spread = ["mean", "median"].map(|name| figure["transfers_per_second"][name].as_f64());
    all.extend(spread.into_iter().flatten());
    let latency = figure["latency"].as_array().expect("a list");
    all.extend(latency.iter().filter_map(|one| one["mean_ns"].as_f64()).map(|ns| 1e9 / ns));
    all
}
