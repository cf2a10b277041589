//! The clocks of a model's nodes.

use plan::{Phase, WorkloadSpec};
use runner::Machine;

use crate::bench::{machine, machine_for, phase, random_for};

#[test]
fn clocks_lie_evenly_between_the_first_and_the_last_and_drift_with_the_time() {
    let node = "[node]\ncount = 5\nclock_offset = \"8ms\"\nclock_drift = 1e-4\nthrough = [\"net\"]\n";
    let rest = "[[link]]\nname = \"net\"\nlatency = \"30us\"\n\
        [[device]]\nname = \"disk\"\nread = { time = \"1ms\" }\nwrite = { time = \"1ms\" }\n\
        [[layout]]\nname = \"one\"\ndevices = \"disk\"\n";
    let mut described = machine(&format!("{node}{rest}"), 1);
    let offsets = |machine: &simulate::SimulatedMachine| {
        machine.clocks().iter().map(|clock| clock.offset_ns).collect::<Vec<_>>()
    };
    assert_eq!(offsets(&described), [0, 2_000_000, 4_000_000, 6_000_000, 8_000_000]);
    assert!(described.clocks()[1..].iter().all(|clock| clock.error_ns == 30_000));
    let _ = phase(&mut described, random_for(10, 5), Phase::Read, 0);
    // 100 µs in each second.
    let drifted = offsets(&described)[4] - 8_000_000;
    let elapsed = described.elapsed().as_nanos() as f64;
    assert!(elapsed >= 1e10 && (drifted as f64 - elapsed * 1e-4).abs() <= 1.0, "{drifted}");
    // A run on fewer nodes has the clocks of those, whatever other cases it has.
    let two = WorkloadSpec { nodes: 2, ..random_for(1, 2) };
    assert_eq!(offsets(&machine_for(&format!("{node}{rest}"), &two)), [0, 2_000_000]);
    let alone = "node = { count = 5 }\n";
    assert!(machine(&format!("{alone}{rest}"), 1).clocks().is_empty(), "one clock");
}
