//! Tracing the requests of a real device one by one, and cleaning up completely afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::{BlockTrace, Root};
use testbed::FileSystem;

use crate::tools::{Finally, blank, host, run, skipped, succeeds, word};

/// The tracefs directory, which is mounted for the test if necessary.
struct Tracer {
    path: PathBuf,
    _place: Option<(Finally, tempfile::TempDir)>,
}

impl Tracer {
    fn find() -> Option<Self> {
        let usual = Path::new("/sys/kernel/tracing");
        if usual.join("instances").is_dir() {
            return Some(Self { path: usual.to_owned(), _place: None });
        }
        let place = tempfile::tempdir().unwrap();
        if !succeeds("mount", &["-t", "tracefs", "tracefs", word(place.path())]) {
            println!("skipped: the kernel's tracer cannot be mounted here");
            return None;
        }
        let path = place.path().to_owned();
        let unmount = Finally::new("umount", &[word(&path)]);
        Some(Self { path, _place: Some((unmount, place)) })
    }

    fn instances(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path.join("instances")).unwrap();
        entries.flatten().map(|entry| entry.file_name().into_string().unwrap()).collect()
    }
}

#[test]
fn requests_are_told_with_their_sectors_and_times_and_nothing_is_left() {
    if skipped() {
        return;
    }
    let Some(tracer) = Tracer::find() else { return };
    let own = format!("ioproof-{}-", std::process::id());
    let device = blank().build().unwrap();
    let path = device.device();
    let devices = host().devices_under(path).unwrap();
    assert_eq!(host().sectors_of(path), Some((device.name(), 0)));

    // The leftovers of a killed run are removed when the next run starts.
    let mut gone = Command::new("true").spawn().unwrap();
    gone.wait().unwrap();
    let stale = tracer.path.join("instances").join(format!("ioproof-{}-1-0", gone.id()));
    fs::create_dir(&stale).unwrap();
    let trace = BlockTrace::start(&Root::default(), &devices, 1_000).unwrap();
    assert!(!stale.exists(), "the instance of a process that is gone");
    let name = tracer.instances().into_iter().find(|name| name.starts_with(&own)).unwrap();
    // A run in a PID namespace of its own does not see this process, and takes the instance for a leftover.
    let error = fs::remove_dir(tracer.path.join("instances").join(name)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy);

    let transfer = |from: &Path, to: &Path, at: &str, flag: &str| {
        let (from, to) = (format!("if={}", word(from)), format!("of={}", word(to)));
        let seek = format!("{}={at}", if flag == "iflag=direct" { "skip" } else { "seek" });
        run("dd", &[&from, &to, "bs=64k", "count=8", &seek, flag, "conv=notrunc", "status=none"]);
    };
    transfer(path, Path::new("/dev/null"), "16", "iflag=direct");
    transfer(Path::new("/dev/zero"), path, "32", "oflag=direct");
    let requests = trace.stop().unwrap();
    assert!(!tracer.instances().iter().any(|name| name.starts_with(&own)), "the instance is gone");

    for (writes, first) in [(false, 16), (true, 32)] {
        for number in first..first + 8 {
            let sector = number * 128;
            let found: Vec<_> =
                requests.iter().filter(|one| one.writes == writes && one.sector == sector).collect();
            let [one] = found.as_slice() else { panic!("sector {sector}: {found:?}") };
            assert_eq!((one.device.clone(), one.sectors), (device.name(), 128));
            assert!(one.completed_raw_ns > one.issued_raw_ns);
        }
    }
    let issued: Vec<u64> = requests.iter().map(|one| one.issued_raw_ns).collect();
    assert!(issued.is_sorted());

    let trace = BlockTrace::start(&Root::default(), &devices, 1_000).unwrap();
    drop(trace);
    assert!(!tracer.instances().iter().any(|name| name.starts_with(&own)), "also after a failure");
}

#[test]
fn the_sectors_of_a_file_system_are_those_of_its_device_where_it_numbers_them_so() {
    if skipped() {
        return;
    }
    let device = blank().file_system(FileSystem::Xfs).build().unwrap();
    assert_eq!(host().sectors_of(device.mount_point().unwrap()), Some((device.name(), 0)));
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    assert_eq!(host().sectors_of(memory.path()), None);
}

#[test]
fn a_host_without_a_tracer_says_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let error = BlockTrace::start(&Root::new(empty.path()), &["vda".to_owned()], 10).unwrap_err();
    assert!(error.reason.contains("mount -t tracefs"), "{}", error.reason);
}
