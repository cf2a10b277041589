//! What a report states about the layouts that were created for a run.

use plan::{FileSystem, FileSystemKind, Layout, Recipe};
use record::{CommandEnd, CommandRun, Fact, LayoutFinding, LayoutLifetime, Run};

use crate::common;

fn ran(command: String, printed: Option<&str>) -> CommandRun {
    let (purpose, output) = ("a step".to_owned(), String::new());
    let printed = printed.map(str::to_owned);
    CommandRun { purpose, command, status: CommandEnd::Exited(0), output, took_ns: 2_000_000, printed }
}

/// Twelve cards with one file system each. The last mount has wrong values, and one option was ignored.
pub(crate) fn with_layouts() -> Run {
    let mut run = common::operations::single();
    let devices: Vec<String> = (0..12).map(|card| format!("/dev/nvme{card}n1")).collect();
    let file_system =
        FileSystem { kind: FileSystemKind::Xfs, make_options: vec![], mount_options: "noatime".to_owned() };
    run.manifest.plan.layouts = vec![Layout {
        name: "cards".to_owned(),
        title: "one XFS each".to_owned(),
        stands_for: "XVM".to_owned(),
        devices: devices.clone(),
        mount_point: "/p3700".into(),
        recipe: Recipe::PerDevice { file_system },
    }];
    let make =
        devices.iter().map(|device| ran(format!("mkfs.xfs -f -K {device}"), Some("as printed (a-cmd)")));
    let mount =
        ran("mount /dev/nvme11n1 /p3700/11".to_owned(), Some("corrected: printed as nvme0n1 (a-cmd)"));
    let finding = |wanted: &str, found: &str| LayoutFinding {
        subject: "/p3700/0".to_owned(),
        property: "mount options".to_owned(),
        wanted: Some(wanted.to_owned()),
        found: Fact::Known(found.to_owned()),
        source: "/proc/self/mountinfo".to_owned(),
    };
    let broken =
        CommandRun { status: CommandEnd::Exited(1), ..ran("mkfs.xfs /dev/nvme0n1".to_owned(), None) };
    run.layouts = vec![
        LayoutLifetime {
            layout: "cards".to_owned(),
            created: make.chain([mount]).collect(),
            findings: vec![finding("noatime", "rw,relatime")],
            devices: run.manifest.host.devices.clone(),
            destroyed_unix_ns: Some(1),
            destroyed: vec![ran("umount /p3700/0".to_owned(), None)],
            ..LayoutLifetime::default()
        },
        LayoutLifetime {
            layout: "cards".to_owned(),
            created: vec![broken],
            not_created: Some("mkfs.xfs failed".to_owned()),
            ..LayoutLifetime::default()
        },
    ];
    run
}

#[test]
fn layouts_are_told_with_commands_findings_and_devices() {
    let run = with_layouts();
    let text = report::Study::of(&run)
        .text_in_full(report::Screen::PLAIN)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for words in [
        "one XFS each (stands for XVM)",
        "recipe per-device over 12 devices: /dev/nvme0n1,",
        "dismantled by 1 command",
        "mkfs.xfs -f -K /dev/nvme0n1 as printed (a-cmd) well",
        "… 10 more like these",
        "corrected: printed as nvme0n1",
        "Not as requested: · /p3700/0: mount options rw,relatime, wanted noatime",
        "hardware queues",
        "it could not be made: mkfs.xfs failed",
        "exit status 1",
    ] {
        assert!(
            text.contains(words),
            "nothing says {words:?} in\n{}",
            report::Study::of(&run).text_in_full(report::Screen::PLAIN)
        );
    }
    let json: serde_json::Value = serde_json::from_str(&report::Study::of(&run).json()).expect("JSON");
    assert_eq!(json["layouts"][0]["created"].as_array().map(Vec::len), Some(13), "all of them");
    assert_eq!(
        (&json["layouts"][0]["state"], &json["layouts"][1]["state"]),
        (&"dismantled".into(), &"not made".into())
    );
    let plain = report::Study::of(&common::operations::single()).text_in_full(report::Screen::PLAIN);
    assert!(!plain.contains("Commands as they were run"), "a run without layouts has no such section");
}
