//! A fixed request rate (open loop): a delayed request is timed from when it should have started.

use std::time::{Duration, Instant};

use testbed::{FileSystem, LoopDevice, Testbed, skipped};

use crate::desk::{Desk, assert_near, measured, wait_for};

/// Of 10,000 writes, those that fall into a freeze of two seconds wait: the first for two seconds, the last not at
/// all. 1000 wait for more than one second, and 100 for more than 1.9 seconds.
#[test]
fn measured_writes_that_wait_for_a_frozen_file_system_are_counted_from_their_intended_start() {
    const PER_SECOND: f64 = 1000.0;
    const ALL: f64 = 10_000.0;
    if skipped(Testbed::available()) {
        return;
    }
    measured(|_| {
        let device = LoopDevice::builder().file_system(FileSystem::Xfs).build().expect("a device");
        let desk = Desk::new();
        let file = device.mount_point().expect("mounted").join("file");
        let study = format!(
            "[[target]]\nname = \"t\"\npath = \"{}\"\n[[workload]]\nname = \"w\"\nphases = [\"write\"]\n\
         transfer = \"4k\"\nsize = \"64m\"\nrate = {PER_SECOND}\nduration = \"10s\"\n",
            file.display()
        );
        let mut running = desk.study(&study).spawn().expect("it starts");
        wait_for(&mut running, "the first write", || {
            std::fs::metadata(&file).is_ok_and(|file| file.len() > 0)
        });
        std::thread::sleep(Duration::from_secs(2));
        let start = Instant::now();
        let frozen = device.freeze().expect("frozen");
        std::thread::sleep(Duration::from_secs(2));
        frozen.thaw().expect("thawed");
        let stood_still = start.elapsed().as_secs_f64();
        let _ = running.wait().expect("it ends").expect_code(0);

        let report = desk.report();
        let figure = report.figure("write");
        let latency = |measure: &str, percentile: &str| {
            let all = figure["latency"].as_array().expect("a list");
            let found = all.iter().find(|one| one["measure"] == measure);
            found.unwrap_or_else(|| panic!("no {measure} in {figure:#}"))[percentile]
                .as_f64()
                .expect("a number")
                / 1e9
        };
        assert_near("transfers", latency("response", "transfers") * 1e9, ALL, 0.01);
        assert_near("p90", latency("response", "p90_ns"), stood_still - ALL * 0.1 / PER_SECOND, 0.05);
        assert_near("p99", latency("response", "p99_ns"), stood_still - ALL * 0.01 / PER_SECOND, 0.05);
        // The system call itself was frozen only once, for the write in flight.
        assert!(latency("service", "p99_ns") < 0.1, "{figure:#}");
        assert!(latency("service", "maximum_ns") > 1.5, "{figure:#}");
    });
}
