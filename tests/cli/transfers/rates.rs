//! Rates compared with known values: limits enforced by the kernel, published figures, and fio.

use std::fs;

use serde_json::Value;
use testbed::{FileSystem, Limits, LoopDevice, Program, Testbed, skipped};

use crate::desk::{Desk, assert_near, assert_says, fio, measured, run};

/// One hundredth of the rates of the card in study A, 2.05 and 2.78 GB/s.
const CARD: Limits =
    Limits { read_bytes: Some(27_800_000), write_bytes: Some(20_500_000), reads: None, writes: None };

/// Test 1 in miniature: the printed command line with fewer segments, on a card a hundred times slower.
#[test]
fn measured_test_1_finds_the_rates_of_its_card_and_shows_the_published_ones_beside_them() {
    if skipped(Testbed::available()) {
        return;
    }
    measured(rates_of_the_card);
}

fn rates_of_the_card(times: u32) {
    let segments = 25 * times;
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).limits(CARD).build().expect("a card");
    let desk = Desk::new();
    let target = device.mount_point().expect("mounted").join("testFile");
    let line = format!("-a POSIX -B -e -t 1m -b 1m -s {segments} -N 6 -C -F -o {}", target.display());
    let _ = run(&desk.ior(&line)).expect_code(0);
    let report = desk.report();
    assert_near("write", report.rate("write"), 20.5e6, 0.05);
    assert_near("read", report.rate("read"), 27.8e6, 0.05);
    for (phase, published) in [("write", 2.05e9), ("read", 2.78e9)] {
        let number = &report.figure(phase)["number"];
        let device = &report.figure(phase)["devices"][0][format!("{phase}_bytes_per_second")];
        let rate = report.rate(phase);
        assert_near("what the device was seen to do", device.as_f64().expect("a rate"), rate, 0.03);
        let rows = report.0["statements"]["published"].as_array().expect("a list");
        let beside = rows.iter().find(|row| row["figure"] == *number).expect("a row");
        assert_eq!(beside["published"], published, "{phase}");
        assert_near("ratio", beside["ratio"].as_f64().expect("a number"), 0.01, 0.05);
    }
    let text = desk.tables();
    assert_says(
        &text,
        &["2.05 GB/s", "2.78 GB/s", "Test 1", &format!("with 10000 segments, here with {segments}")],
    );
}

/// Bytes and transfers per second that fio measures on a file of 160 MiB.
fn by_fio(file: &str, options: &str, direction: &str) -> (f64, f64) {
    let common = "--name=x --size=160m --direct=1 --output-format=json --ioengine=psync --filename=";
    let program = Program::new("fio").args(format!("{common}{file} {options}").split_whitespace());
    let output = run(&program).expect_code(0).stdout;
    let json: Value = serde_json::from_str(&output).expect("JSON");
    let found = &json["jobs"][0][direction];
    (found["bw_bytes"].as_f64().expect("a number"), found["iops"].as_f64().expect("a number"))
}

#[test]
fn measured_fio_finds_the_same_rates() {
    if skipped(Testbed::available()) || skipped(fio()) {
        return;
    }
    measured(|_| rates_beside_those_of_fio());
}

fn rates_beside_those_of_fio() {
    let limits = Limits { reads: Some(3000), ..Limits::bandwidth(40_000_000) };
    let device = LoopDevice::builder().file_system(FileSystem::Xfs).limits(limits).build().expect("a device");
    let desk = Desk::new();
    let file = device.mount_point().expect("mounted").join("file").display().to_string();
    let large = format!("-B -e -k -t 1m -b 160m -o {file}");
    let _ = run(&desk.ior(&format!("-w {large}"))).expect_code(0);
    let written = desk.report().rate("write");
    let (by_fio_written, _) = by_fio(&file, "--rw=write --bs=1m --end_fsync=1 --overwrite=1", "write");
    assert_near("write against fio", written, by_fio_written, 0.05);

    fs::remove_dir_all(desk.record()).expect("the first record");
    let _ = run(&desk.ior(&format!("-r {large}"))).expect_code(0);
    let (by_fio_read, _) = by_fio(&file, "--rw=read --bs=1m", "read");
    assert_near("read against fio", desk.report().rate("read"), by_fio_read, 0.05);

    fs::remove_dir_all(desk.record()).expect("the second record");
    let _ = run(&desk.ior(&format!("-r -z -B -k -t 4k -b 60m -o {file}"))).expect_code(0);
    let (_, by_fio_random) = by_fio(&file, "--rw=randread --bs=4k --time_based --runtime=5", "read");
    assert_near("random reads against fio", desk.report().transfers("read"), by_fio_random, 0.05);
    assert_near("random reads against the limit", desk.report().transfers("read"), 3000.0, 0.05);
}
