//! Closed loops: as many transfers are under way as there are tasks. Where service is exponential and first come,
//! first served, and delays are of any kind, the network has product form, and its rate follows exactly
//! (Baskett, Chandy, Muntz and Palacios, 1975).

use plan::Backend;

use crate::bench::{Simulated, is_close, random_for, reads};

/// A part that all transfers visit.
pub(crate) enum Part {
    /// Nobody waits for it; so many seconds in all visits of a transfer.
    Delay(f64),
    /// Seconds of service, of several at once.
    Queue { seconds: f64, slots: u32 },
}

/// Transfers per second of so many customers: the exact solution, which mean value analysis gives too, by the
/// convolution algorithm (Buzen, 1973; for several servers Reiser and Kobayashi, 1975).
fn rate(parts: &[Part], customers: u32) -> f64 {
    let all = customers as usize;
    let mut constants = vec![0.0; all + 1];
    constants[0] = 1.0;
    for part in parts {
        let mut own = vec![1.0; all + 1];
        for many in 1..=customers {
            let of_this = match part {
                Part::Delay(seconds) => seconds / f64::from(many),
                Part::Queue { seconds, slots } => seconds / f64::from(many.min(*slots)),
            };
            own[many as usize] = own[many as usize - 1] * of_this;
        }
        let both = |many: usize| (0..=many).map(|here| own[here] * constants[many - here]).sum();
        constants = (0..=all).map(both).collect();
    }
    constants[all - 1] / constants[all]
}

/// Rate and latency as theory has them.
pub(crate) fn agrees(what: &str, simulated: &Simulated, parts: &[Part], customers: u32) {
    let rate = rate(parts, customers);
    is_close(&format!("{what}: rate"), simulated.transfers_per_second(), rate);
    is_close(&format!("{what}: latency"), simulated.latency(), f64::from(customers) / rate);
    simulated.holds_little(f64::from(customers));
}

const DISK: &str = r#"
    [[device]]
    name = "disk"
    slots = SLOTS
    read = { time = "1ms", distribution = "exponential" }
    write = { time = "1ms", distribution = "exponential" }

    [[layout]]
    name = "one"
    devices = "disk"
"#;

#[test]
fn the_rates_of_textbook_networks_come_out() {
    // Two queues with one server each and the same demand: N / (N + 1) of the rate of one.
    let two = |seconds| Part::Queue { seconds, slots: 1 };
    assert!((rate(&[two(0.5), two(0.5)], 4) - 2.0 * 4.0 / 5.0).abs() < 1e-12);
    // The machine repairman: M/M/c//N with c = N never waits.
    let repair = [Part::Delay(3.0), Part::Queue { seconds: 1.0, slots: 5 }];
    assert!((rate(&repair, 5) - 5.0 / 4.0).abs() < 1e-12);
}

#[test]
fn tasks_that_compute_between_transfers_share_a_device() {
    // M/M/c//N; the processor time of a transfer is the time that a machine of the repairman works.
    for (slots, tasks) in [(1, 1), (1, 4), (1, 12), (4, 3), (4, 12)] {
        let node = "node = { processors = 64, request_time = \"2ms\" }";
        let model = format!("{node}{}", DISK.replace("SLOTS", &slots.to_string()));
        let simulated = reads(&model, random_for(400, tasks));
        let parts = [Part::Delay(2e-3), Part::Queue { seconds: 1e-3, slots }];
        agrees(&format!("{slots} slots, {tasks} tasks"), &simulated, &parts, tasks);
    }
}

#[test]
fn depth_counts_as_tasks_do() {
    let model = format!("node = {{ processors = 1 }}{}", DISK.replace("SLOTS", "4"));
    let queued = |tasks, depth| {
        let mut spec = random_for(300, tasks);
        spec.backend = Backend::Uring { depth, required: true };
        reads(&model, spec)
    };
    for (tasks, depth) in [(1, 6), (2, 3), (6, 1)] {
        let parts = [Part::Queue { seconds: 1e-3, slots: 4 }];
        agrees(&format!("{tasks} × {depth}"), &queued(tasks, depth), &parts, tasks * depth);
    }
}

#[test]
fn links_and_servers_in_a_row_are_queues_in_a_row() {
    let model = r#"
        node = { count = 2, processors = 64, request_time = "500us" }

        [[link]]
        name = "fabric"
        latency = "750us"

        [[server]]
        name = "controller"
        slots = 2
        read = { time = "900us", distribution = "exponential" }

        [[device]]
        name = "disk"
        slots = 3
        read = { time = "1ms", distribution = "exponential" }
        write = { time = "1ms" }

        [[layout]]
        name = "array"
        devices = "disk"
        through = ["fabric", "controller"]
    "#;
    for tasks in [1, 3, 8, 24] {
        let simulated = reads(model, random_for(200, tasks));
        let parts = [
            Part::Delay(500e-6),
            // There and back.
            Part::Delay(1500e-6),
            Part::Queue { seconds: 900e-6, slots: 2 },
            Part::Queue { seconds: 1e-3, slots: 3 },
        ];
        agrees(&format!("{tasks} tasks"), &simulated, &parts, tasks);
    }
}

#[test]
fn requests_that_choose_a_device_at_random_find_uneven_queues() {
    // One file striped over five devices, and so many tasks: the rate is n × N ÷ (N + n - 1) of that of one
    // device.
    let model = r#"
        node = { processors = 64 }

        [[device]]
        name = "disk"
        count = 5
        read = { time = "1ms", distribution = "exponential" }
        write = { time = "1ms" }

        [[layout]]
        name = "striped"
        devices = "disk"
        chunk = "64KiB"
    "#;
    for tasks in [1, 5, 20] {
        let mut spec = random_for(100, tasks);
        spec.files.sharing = plan::Sharing::Shared;
        let simulated = reads(model, spec);
        let parts: Vec<Part> = (0..5).map(|_| Part::Queue { seconds: 0.2e-3, slots: 1 }).collect();
        agrees(&format!("{tasks} tasks"), &simulated, &parts, tasks);
        let busy: f64 = (0..5).map(|disk| simulated.busy(disk)).sum();
        is_close("time in service", busy, simulated.transfers_per_second() * 1e-3);
    }
}

#[test]
fn others_take_their_share_of_a_device() {
    // An open stream of a share ρ beside a closed one: the closed one sees 1 - ρ of the rate (mixed networks of
    // product form), whatever its depth.
    for tasks in [1, 4] {
        let trouble = "[[trouble]]\nkind = \"load\"\ndevices = \"disk\"\nshare = 0.4\n";
        let model = format!("node = {{ processors = 8 }}{}{trouble}", DISK.replace("SLOTS", "1"));
        let simulated = reads(&model, random_for(600, tasks));
        is_close("rate", simulated.transfers_per_second(), 600.0);
        simulated.holds_little(f64::from(tasks));
    }
}
