//! A distributed file system over hosts of the testbed.

use std::fs;

use testbed::{Finished, Hosts, Limits, MooseFs, Program, Testbed, skipped};

fn none() -> bool {
    skipped(MooseFs::available()) || skipped(Testbed::available())
}

fn on(shared: &MooseFs, host: usize, script: &str) -> Finished {
    let shell = Program::new("sh").args(["-c", script]).current_dir(shared.mount_point());
    shared.hosts().inside(host, &shell).run().expect("it ends")
}

#[test]
fn what_one_host_writes_the_others_read_from_all_devices() {
    if none() {
        return;
    }
    let hosts = Hosts::builder(3).devices(1, Limits::default()).build().expect("hosts");
    let shared = MooseFs::over(hosts).expect("MooseFS");
    // Larger than one chunk for each server.
    let _ = on(&shared, 0, "dd if=/dev/urandom of=file bs=1M count=200 status=none && sync").expect_code(0);
    let sums: Vec<String> =
        (0..3).map(|host| on(&shared, host, "md5sum file").expect_code(0).stdout).collect();
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
    for host in 0..3 {
        let script = format!("du -sk {}/moosefs | cut -f1", shared.storage().display());
        let kept: u64 = on(&shared, host, &script).expect_code(0).stdout.trim().parse().expect("a number");
        assert!(kept > 16 << 10, "host {host} keeps {kept} KiB");
    }
}

#[test]
fn it_is_taken_down_with_its_value() {
    if none() {
        return;
    }
    let shared = MooseFs::over(Hosts::of(1).expect("hosts")).expect("MooseFS");
    let (place, before) = (shared.mount_point(), shared.hosts().processes(0));
    assert!(before.iter().any(|process| process.name() == "mfsmaster"), "{before:?}");
    // An open file does not keep it.
    let holder = Program::new("sh").args(["-c", "exec 3>file; sleep 60"]).current_dir(&place);
    let _holder = shared.hosts().inside(0, &holder).spawn().expect("it starts");
    drop(shared);
    assert!(!place.exists());
    let alive =
        |id: u32| fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| stat.contains("(mfs"));
    assert!(!before.iter().any(|process| alive(process.id())));
}
