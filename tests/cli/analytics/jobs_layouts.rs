//! The published matrix of jobs (`studies/sas-mixed-analytics.toml`) on two layouts of real devices: three file
//! systems on three devices, and one file system on a single device that is slower than each of those.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use testbed::{Limits, LoopDevice, Testbed, skipped};

use crate::desk::{Desk, allow_commands, assert_says, run};

/// Time limit for both matrices, for a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(900);
/// Number of launches in the published workload.
const LAUNCHES: usize = 101;
/// Room for what the matrix keeps in a work space.
const DEVICE_BYTES: u64 = 3 << 30;
/// The throttle of the slow device, in bytes per second for each direction.
const SLOW: u64 = 30_000_000;

/// The ready-made study, with these layouts in place of the published ones.
fn study(three: &[PathBuf], one: &Path, mounts: &Path) -> String {
    let ready = Path::new(env!("CARGO_MANIFEST_DIR")).join("studies/sas-mixed-analytics.toml");
    let text = fs::read_to_string(ready).expect("the ready study");
    let (head, rest) = text.split_once("\n[[layout]]").expect("its layout");
    let (_, tests) = rest.split_once("\n[[workload]]").expect("its workload");
    let quoted: Vec<String> = three.iter().map(|path| format!("\"{}\"", path.display())).collect();
    let layout = |name: &str, devices: &str| {
        format!(
            "\n[[layout]]\nname = \"{name}\"\nrecipe = \"per-device\"\ndevices = [{devices}]\nfile_system = \"ext4\"\n\
             mount_point = \"{}\"\n",
            mounts.join(name).display()
        )
    };
    let target = |name: &str, layout: &str, units: u32| {
        format!("\n[[target]]\nname = \"{name}\"\nlayout = \"{layout}\"\nrack_units = {units}\n")
    };
    [
        head,
        &layout("three", &quoted.join(", ")),
        &layout("one", &format!("\"{}\"", one.display())),
        &target("flash", "three", 4),
        &target("array", "one", 84),
        "\n[[workload]]",
        tests,
    ]
    .concat()
}

/// The matrix runs on both layouts, the report shows it next to the published tables, and nothing is left behind.
#[test]
fn the_published_matrix_runs_on_two_layouts_and_stands_beside_the_published_tables() {
    if skipped(Testbed::available()) {
        return;
    }
    let device = || LoopDevice::builder().bytes(DEVICE_BYTES).build().expect("a device");
    let three: Vec<LoopDevice> = (0..3).map(|_| device()).collect();
    let mut one = device();
    one.limit(Limits::bandwidth(SLOW)).expect("limited");
    let desk = Desk::new();
    let paths: Vec<PathBuf> = three.iter().map(|one| one.device().to_owned()).collect();
    let study = study(&paths, one.device(), &desk.path("mnt"));
    let program = desk.study(&study).arg("--state").arg(desk.path("state")).limit(LIMIT);
    let program = program.args(["--set", "workload.mix.scale=0.00002", "--set", "test.*.memory=32MiB"]);
    let consents = paths.iter().map(PathBuf::as_path).chain([one.device()]);
    let program = consents.fold(program, |program, device| program.arg("--destroy-data-on").arg(device));
    let _ = run(&allow_commands(&program)).expect_code(0);
    assert!(!desk.path("mnt").exists(), "the layouts are taken down");

    let report = desk.report().0;
    let rows = |kind: &str| -> Vec<Value> {
        let all = report["statements"][kind].as_array().expect("a list").iter();
        all.filter(|row| !row["figure"].is_null()).cloned().collect()
    };
    let systems: Vec<Value> = rows("job_sums").iter().map(|row| row["system"].clone()).collect();
    assert_eq!(systems, ["flash", "array"]);
    for row in rows("job_sums") {
        assert_eq!((&row["launches"], &row["asked"]), (&LAUNCHES.into(), &LAUNCHES.into()), "{row}");
    }
    for row in rows("job_ratios") {
        let number = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"));
        assert!(number("range") > 0.0 && number("deviation") > 0.0);
    }
    let contrasts = rows("job_contrast");
    assert!(
        contrasts.iter().all(|row| row["system"] == "array" && row["against"] == "flash"),
        "{contrasts:?}"
    );
    assert!(contrasts.len() >= 4, "{contrasts:?}");
    let text = desk.tables();
    // Tables 1 and 2 as printed, the errors in them, and the finding that the third delta is a misprint.
    assert_says(&text, &["1208", "1269", "1.12", "0.345", "2.65", "1.15", "0.035", "2.15", "0.152"]);
}
