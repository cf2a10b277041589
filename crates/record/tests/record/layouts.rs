//! Layouts that existed during a run.

use record::{
    BlockDeviceFacts, CommandEnd, CommandRun, Fact, LayoutEvent, LayoutFinding, LayoutLifetime, Outcome,
    Recorder, Run, merge, write_merged,
};

use crate::sample;

fn ran(command: &str, status: i32) -> CommandRun {
    CommandRun {
        purpose: "make a file system".to_owned(),
        command: command.to_owned(),
        status: CommandEnd::Exited(status),
        output: "meta-data=/dev/loop0".to_owned(),
        took_ns: 5,
        printed: Some("as printed (a-cmd-mkfs-t1)".to_owned()),
    }
}

fn finding() -> LayoutFinding {
    LayoutFinding {
        subject: "/p3700/0".to_owned(),
        property: "mount options".to_owned(),
        wanted: Some("noatime".to_owned()),
        found: Fact::Known("rw,relatime".to_owned()),
        source: "/proc/self/mountinfo".to_owned(),
    }
}

fn device() -> BlockDeviceFacts {
    let unknown = || serde_json::json!({ "unknown": "virtual" });
    let device = serde_json::json!({
        "name": "loop0", "model": unknown(), "serial": unknown(), "firmware": unknown(), "size_bytes": 1,
        "rotational": { "known": false }, "scheduler": { "known": "none" }, "hardware_queues": { "known": 2 },
        "queue_requests": unknown(), "read_ahead_bytes": unknown(), "logical_block_bytes": unknown(),
        "physical_block_bytes": unknown(), "numa_node": unknown(),
    });
    serde_json::from_value(device).expect("a device")
}

/// Records one layout that was created, inspected and removed, and another that could not be created.
fn record(recorder: &mut Recorder) {
    let created = LayoutEvent::Created { commands: vec![ran("mkfs.xfs -f /dev/loop0", 0)], error: None };
    recorder.layout("card", &created).expect("recorded");
    let (findings, devices) = (vec![finding()], vec![device()]);
    let verified = LayoutEvent::Verified { findings, file_systems: Vec::new(), devices };
    recorder.layout("card", &verified).expect("recorded");
    let destroyed = LayoutEvent::Destroyed { commands: vec![ran("umount /p3700/0", 0)], error: None };
    recorder.layout("card", &destroyed).expect("recorded");
    let failed =
        LayoutEvent::Created { commands: vec![ran("mkfs.btrfs", 1)], error: Some("no space".to_owned()) };
    recorder.layout("md", &failed).expect("recorded");
}

fn assert_told(lifetime: &[LayoutLifetime]) {
    let names: Vec<&str> = lifetime.iter().map(|one| one.layout.as_str()).collect();
    assert_eq!(names, ["card", "md"]);
    let (card, md) = (&lifetime[0], &lifetime[1]);
    assert_eq!((card.created.len(), card.findings.as_slice()), (1, [finding()].as_slice()));
    assert_eq!(card.devices, [device()]);
    assert!(card.destroyed_unix_ns.is_some() && card.not_destroyed.is_none());
    assert!(card.findings[0].differs());
    assert_eq!(md.not_created.as_deref(), Some("no space"));
    assert_eq!((md.destroyed_unix_ns, md.created[0].succeeded()), (None, false));
}

#[test]
fn a_run_tells_which_layouts_stood_and_how() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path().join("run");
    let mut recorder = Recorder::create(&directory, &sample::manifest()).expect("created");
    record(&mut recorder);
    recorder.finish(&Outcome::Interrupted).expect("finished");
    assert_told(&Run::open(&directory).expect("readable").layouts);
    let (mut again, _) = Recorder::resume(&directory).expect("resumed");
    again.layout("card", &LayoutEvent::Created { commands: Vec::new(), error: None }).expect("recorded");
    let run = Run::open(&directory).expect("readable");
    assert_told(&run.layouts[..2]);
    assert_eq!(run.layouts[2].layout, "card", "it stood a second time");
}

#[test]
fn merged_runs_keep_the_layouts_of_all() {
    let place = tempfile::tempdir().expect("a directory");
    let run = |name: &str| {
        let mut manifest = sample::manifest();
        manifest.run_id = name.to_owned();
        let directory = place.path().join(name);
        let mut recorder = Recorder::create(&directory, &manifest).expect("created");
        record(&mut recorder);
        recorder.finish(&Outcome::Complete).expect("finished");
        Run::open(&directory).expect("readable")
    };
    let whole = merge(vec![run("a"), run("b")]).expect("merged");
    assert_eq!(whole.layouts.len(), 4);
    let directory = place.path().join("whole");
    write_merged(&whole, &[], &directory).expect("written");
    let again = Run::open(&directory).expect("readable");
    assert_eq!(again.layouts, whole.layouts);
    assert_told(&again.layouts[2..]);
}
