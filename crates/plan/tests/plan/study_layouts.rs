//! Layouts in a study: what they become in a plan, and every mistake at its place.
#![expect(clippy::unwrap_used, reason = "a study that is not read as expected fails the test")]

use std::path::PathBuf;

use crate::common::{RIGHT, shown, study};
use plan::study::{Options, Override, read_with};
use plan::{Bytes, FileSystemKind, Keep, MdMetadata, Plan, Recipe};

/// Twelve cards each by itself and under md, measured by one workload.
const LAYOUTS: &str = r#"
[[layout]]
name = "per-card"
recipe = "per-device"
title = "one XFS each"
stands_for = "Test 2"
devices = ["/dev/nvme0n1", "/dev/nvme1n1", "S3P2000A"]
mount_point = "/p3700"
make_options = ["-f", "-K", "-d", "su=128k,sw=1"]

[[layout]]
name = "md"
recipe = "md"
devices = ["/dev/nvme0n1", "/dev/nvme1n1", "S3P2000A"]
mount_point = "/p3700/md"
chunk = "128KiB"
mount_options = "noatime"

[[target]]
name = "cards"
layout = "per-card"

[[target]]
name = "striped"
layout = "md"
title = "one XFS over md"
baseline = "cards"

[[workload]]
name = "write"
target = ["cards", "striped"]
sharing = "per-task"
tasks = [3, 6]
transfer = "1MiB"
size = "8MiB"
phases = ["write"]

[[workload]]
name = "read"
target = ["striped", "cards"]
sharing = "per-task"
tasks = 3
transfer = "1MiB"
size = "8MiB"
phases = ["read"]
"#;

fn with(overrides: &[&str]) -> Plan {
    let overrides = overrides.iter().map(|text| Override::parse(text).unwrap()).collect();
    let options = Options { overrides, ..Options::default() };
    read_with("study.toml".as_ref(), LAYOUTS, &options).unwrap_or_else(|errors| panic!("{}", shown(&errors)))
}

#[test]
fn the_cases_of_a_layout_stand_together() {
    let plan = with(&[]);
    let cases: Vec<(&str, &str)> =
        plan.cases.iter().map(|case| (case.layout.as_deref().unwrap(), case.id.as_str())).collect();
    let expected = [
        ("per-card", "write:target=cards:tasks=3"),
        ("per-card", "write:target=cards:tasks=6"),
        ("per-card", "read:target=cards"),
        ("md", "write:target=striped:tasks=3"),
        ("md", "write:target=striped:tasks=6"),
        ("md", "read:target=striped"),
    ];
    assert_eq!(cases, expected);
    let names: Vec<&str> = plan.layouts.iter().map(|layout| layout.name.as_str()).collect();
    assert_eq!(names, ["per-card", "md"]);
    let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(again, plan);
}

#[test]
fn a_shuffle_leaves_them_together() {
    let plan = with(&["protocol.shuffle=true", "workload.read.phases=[\"write\"]", "study.seed=5"]);
    let layouts: Vec<&str> = plan.cases.iter().filter_map(|case| case.layout.as_deref()).collect();
    assert_eq!(layouts.chunk_by(|one, next| one == next).count(), 2, "{layouts:?}");
}

#[test]
fn a_target_on_a_layout_has_its_directories_its_members_and_its_words() {
    let plan = with(&[]);
    let files = &plan.cases[0].workload.files;
    let expected =
        ["/p3700/0/ioproof-cards.data", "/p3700/1/ioproof-cards.data", "/p3700/2/ioproof-cards.data"];
    assert_eq!(files.targets, expected.map(PathBuf::from));
    assert_eq!(plan.cases[3].workload.files.targets, [PathBuf::from("/p3700/md/ioproof-striped.data")]);
    let [cards, striped] = plan.criteria.targets.as_slice() else { panic!("two targets") };
    assert_eq!(
        (cards.title.as_str(), cards.stands_for.as_str(), cards.devices),
        ("one XFS each", "Test 2", 3)
    );
    assert_eq!((striped.title.as_str(), striped.devices), ("one XFS over md", 3));
    let Recipe::PerDevice { file_system } = &plan.layouts[0].recipe else { panic!("a file system each") };
    assert_eq!(file_system.kind, FileSystemKind::Xfs);
    assert_eq!(file_system.make_options, ["-f", "-K", "-d", "su=128k,sw=1"]);
    let Recipe::Md { metadata, chunk, node, .. } = &plan.layouts[1].recipe else { panic!("an array") };
    assert_eq!(
        (*metadata, *chunk, node.as_path()),
        (MdMetadata::Plain, Bytes::kib(128), "/dev/md0".as_ref())
    );
}

#[test]
fn devices_and_places_can_be_set_on_the_command_line() {
    let plan = with(&["layout.*.devices=[\"/dev/loop7\", \"/dev/loop8\"]", "layout.md.mount_point=/mnt/md"]);
    assert!(plan.layouts.iter().all(|layout| layout.devices == ["/dev/loop7", "/dev/loop8"]));
    assert_eq!(plan.layouts[1].mount_point, PathBuf::from("/mnt/md"));
    assert_eq!(plan.criteria.targets[0].devices, 2);
    let plan = with(&["target.*.directory=/mnt/x"]);
    assert!(plan.layouts.is_empty(), "no target is on a layout any more");
    assert!(plan.cases.iter().all(|case| case.layout.is_none()));
}

#[test]
fn a_raw_layout_is_its_devices() {
    let text = RIGHT.replace("path = \"/mnt/scratch/data\"", "layout = \"disks\"").replace(
        "[[target]]",
        "[[layout]]\nname = \"disks\"\nrecipe = \"raw\"\ndevices = [\"/dev/sdy\", \"/dev/sdz\"]\n\n[[target]]",
    );
    let plan = study(&text.replace("tasks = 4", "tasks = 4\nmember = [1, 0]")).unwrap();
    assert_eq!(plan.cases[0].workload.files.targets, [PathBuf::from("/dev/sdz")]);
    assert_eq!(plan.cases[0].workload.files.keep, Keep::Always);
    assert_eq!(plan.criteria.targets[0].devices, 2);
    assert!(plan.destroy_data_on.is_empty(), "the runner gives consent for what it was asked about");
}

#[test]
fn a_volume_is_one_directory_of_its_layout() {
    let text = RIGHT.replace("path = \"/mnt/scratch/data\"", "layout = \"flash\"\nvolume = \"utility\"").replace(
        "[[target]]",
        "[[layout]]\nname = \"flash\"\nrecipe = \"lvm\"\ndevices = [\"/dev/sdy\", \"/dev/sdz\"]\nmount_point = \"/sas\"\n\
         stripe = \"128KiB\"\nvolumes = [\"data=3TB\", \"utility\"]\n\n[[target]]",
    );
    let plan = study(&text).unwrap();
    assert_eq!(plan.cases[0].workload.files.targets, [PathBuf::from("/sas/utility/ioproof-scratch.data")]);
    let Recipe::Lvm { volumes, stripe, .. } = &plan.layouts[0].recipe else { panic!("volumes") };
    assert_eq!(
        (volumes[0].size, volumes[1].size, *stripe),
        (Some(Bytes(3_000_000_000_000)), None, Bytes::kib(128))
    );
    let wrong = study(&text.replace("volume = \"utility\"", "volume = \"wokr\"")).unwrap_err();
    assert_eq!(wrong.errors()[0].help_text(), "its volumes are data, utility");
}

/// The first mistake of the study above with `part` replaced: its message, its help, and what stands at it.
fn mistake(part: &str, by: &str) -> (String, String, String) {
    assert!(LAYOUTS.contains(part), "{part}");
    let text = LAYOUTS.replacen(part, by, 1);
    let errors = study(&text).unwrap_err();
    let one = &errors.errors()[0];
    let at = text[one.place()..].lines().next().unwrap_or_default().to_owned();
    (one.message().to_owned(), one.help_text().to_owned(), at)
}

#[test]
fn mistakes_stand_at_their_places() {
    let told = [
        mistake("recipe = \"md\"", "recipe = \"mdadm\""),
        mistake("recipe = \"md\"", "recipe = \"lvm\""),
        mistake("chunk = \"128KiB\"", "chunk = \"128KiB\"\nstripe = \"1MiB\""),
        mistake("mount_point = \"/p3700/md\"", ""),
        mistake("mount_point = \"/p3700/md\"", "mount_point = \"md\""),
        mistake("\"S3P2000A\"", "\"/dev/nvme0n1\""),
        mistake("\"S3P2000A\"", "\"dev/nvme2n1\""),
        mistake("\"S3P2000A\"", "\"\""),
        mistake("layout = \"md\"", "layout = \"raid\""),
        mistake("layout = \"md\"", "layout = \"md\"\npath = \"/mnt/x\""),
        mistake("layout = \"md\"", "layout = \"md\"\nvolume = \"data\""),
        mistake("name = \"md\"", "name = \"per-card\""),
        mistake("chunk = \"128KiB\"", "file_system = \"zfs\""),
    ];
    let told: Vec<String> =
        told.iter().map(|(message, help, at)| format!("{at}\n  {message}\n  {help}")).collect();
    insta::assert_snapshot!("layout_mistakes", told.join("\n"));
}
