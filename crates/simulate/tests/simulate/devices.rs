//! Devices with fixed service times, their limits and their troubles, against closed forms.

use plan::{Backend, Phase, Sharing};

use crate::bench::{in_order, is_close, machine, noisy, phase, random_for, reads, writes};

/// Devices that serve a request in 1 ms, or move 100 MB/s, with more keys of the layout and more tables.
fn disks(count: u32, layout: &str, more: &str) -> String {
    format!(
        r#"
        node = {{ processors = 64 }}

        [[device]]
        name = "disk"
        count = {count}
        read = {{ time = "1ms" }}
        write = {{ time = "2ms" }}

        [[device]]
        name = "stream"
        count = {count}
        read = {{ rate = "100MB/s" }}
        write = {{ rate = "100MB/s" }}

        [[layout]]
        name = "here"
        {layout}

        {more}
        "#
    )
}

const DISK: &str = "devices = \"disk\"";
const STREAM: &str = "devices = \"stream\"";

fn trouble(of: &str) -> String {
    format!("[[trouble]]\ndevices = \"disk\"\n{of}")
}

#[test]
fn of_a_mixture_reads_and_writes_have_their_shares_of_the_time() {
    let mut spec = random_for(400, 4);
    spec.read_percent = 70;
    let simulated = phase(&mut machine(&disks(1, DISK, ""), 1), spec, Phase::Mixed, 0);
    is_close("rate", simulated.transfers_per_second(), 1.0 / (0.7 * 1e-3 + 0.3 * 2e-3));
    is_close("reads", simulated.outcome.reads as f64 / simulated.transfers(), 0.7);
    is_close("writes", simulated.outcome.writes as f64 / simulated.transfers(), 0.3);
    assert_eq!(simulated.device_requests(), [simulated.outcome.reads, simulated.outcome.writes]);
    simulated.holds_little(4.0);
}

#[test]
fn nothing_is_served_in_a_stall_however_long_the_queue_is() {
    // Of 100 s ten without service; a queue of 640 ms hides no stall of 500 ms.
    for (depth, stall) in [
        (1, "at = \"20s\"\nlength = \"10s\""),
        (64, "at = \"20s\"\nlength = \"10s\""),
        (640, "at = \"2s\"\nlength = \"500ms\"\nevery = \"5s\""),
        (1, "at = \"2s\"\nlength = \"500ms\"\nevery = \"5s\""),
    ] {
        let model = disks(1, DISK, &trouble(&format!("kind = \"stall\"\n{stall}")));
        let mut spec = random_for(100, 1);
        spec.backend = Backend::Uring { depth, required: true };
        let simulated = reads(&model, spec);
        is_close(&format!("{stall} at depth {depth}"), simulated.transfers(), 90_000.0 + f64::from(depth));
    }
}

#[test]
fn a_stripe_is_as_fast_as_its_slowest_member_and_files_of_their_own_are_not() {
    let slow = "[[trouble]]\nkind = \"slow\"\ndevices = \"stream\"\nmembers = [2]\nshare = 0.5\n";
    let striped = format!("{STREAM}\nchunk = \"64KiB\"");
    let whole = |more| reads(&disks(4, &striped, more), in_order(256 << 10, 64 << 20, 1));
    is_close("four equal ones", whole("").bytes_per_second(), 400e6);
    is_close("one slow", whole(slow).bytes_per_second(), 200e6);
    let mut spec = in_order(256 << 10, 1 << 30, 4);
    spec.duration = Some(plan::Nanos::secs(10));
    is_close("apart", reads(&disks(4, STREAM, slow), spec).bytes_per_second(), 350e6);
}

#[test]
fn no_device_moves_more_than_its_limit_in_any_second() {
    const LIMITED: &str = "[[device]]\nname = \"ssd\"\nslots = 8\nread = { time = \"85us\" }\nwrite = { time = \"40us\" }\n\
                           limits = { write_bandwidth = \"520MB/s\", write_iops = 24_000 }\n";
    let model = disks(1, "devices = \"ssd\"", LIMITED);
    for (transfer, block, tasks, most) in
        [(32 << 20, 128 << 20, 64, 520e6), (4096, 4 << 20, 64, 24_000.0 * 4096.0)]
    {
        let simulated = writes(&model, in_order(transfer, block, tasks));
        let all: u64 = simulated.devices.iter().map(|(_, sample)| sample.counters.write_bytes).sum();
        assert_eq!(all, block * u64::from(tasks), "every byte is counted once");
        for (_, sample) in &simulated.devices {
            let seconds = sample.length_ns as f64 / 1e9;
            let rate = sample.counters.write_bytes as f64 / seconds;
            assert!(rate <= most * (1.0 + 1e-6), "{rate} B/s in {seconds} s, limit {most} B/s");
            assert!(sample.counters.busy_ns as f64 / 1e9 <= seconds);
        }
    }
}

#[test]
fn with_barriers_all_files_are_closed_after_the_last_transfer() {
    let slow = "[[trouble]]\nkind = \"slow\"\ndevices = \"stream\"\nmembers = [1]\nshare = 0.5\n";
    for barriers in [true, false] {
        let mut spec = in_order(256 << 10, 64 << 20, 2);
        (spec.barriers, spec.sync.at_close) = (barriers, true);
        let tasks = writes(&disks(2, STREAM, slow), spec).outcome.tasks;
        is_close("the slow one", tasks[1].io_end_ns as f64, 2.0 * tasks[0].io_end_ns as f64);
        let closed = if barriers { tasks[1].io_end_ns } else { tasks[0].io_end_ns };
        assert_eq!((tasks[0].close_start_ns, tasks[1].close_start_ns), (closed, tasks[1].io_end_ns));
    }
}

#[test]
fn a_rate_that_changes_adds_up_over_the_hour() {
    let model = disks(1, DISK, &trouble("kind = \"drift\"\nshare = -0.5"));
    is_close("transfers", reads(&model, random_for(3600, 1)).transfers(), 0.75 * 3600.0 * 1000.0);
}

#[test]
fn a_cache_that_is_warm_serves_its_share_from_the_second_repetition_on() {
    let model = disks(1, DISK, &trouble("kind = \"warming\"\nshare = 0.6"));
    let rate = |repetition| {
        let mut machine = machine(&model, 1);
        phase(&mut machine, random_for(100, 1), Phase::Read, repetition).transfers_per_second()
    };
    is_close("cold", rate(0), 1000.0);
    is_close("warm", rate(1), 1000.0 / 0.4);
}

#[test]
fn a_throttle_lets_a_burst_pass_and_then_its_rate() {
    let burst = "[[trouble]]\nkind = \"burst\"\ndevices = \"stream\"\nsize = \"900MB\"\nrate = \"10MB/s\"\n";
    // 90 MB/s leave the bucket: it is empty after 10 s and 1,000 MB.
    let seconds = |bytes: u64| reads(&disks(1, STREAM, burst), in_order(512_000, bytes, 1)).seconds();
    is_close("before", seconds(512_000_000), 5.12);
    is_close("beyond", seconds(1_536_000_000), 10.0 + 53.6);
}

#[test]
fn noise_is_the_scatter_of_repetitions() {
    let scatter = |noise: f64| {
        let mut machine = noisy(&disks(1, DISK, ""), noise, 7);
        let mut rate = |repetition| {
            let spec = in_order(4096, 8 * 4096, 1);
            phase(&mut machine, spec, Phase::Read, repetition).transfers_per_second().ln()
        };
        let all: Vec<f64> = (0..40_000).map(&mut rate).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        (all.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / all.len() as f64).sqrt()
    };
    assert!(scatter(0.0) < 1e-9);
    is_close("scatter", scatter(0.05), 0.05);
}

#[test]
fn each_limit_is_a_rate() {
    let limits = |limit: &str| {
        disks(1, DISK, "").replacen(
            "write = { time = \"2ms\" }",
            &format!("write = {{ time = \"2ms\" }}\nslots = 64\nlimits = {{ {limit} }}"),
            1,
        )
    };
    let rate = |limit: &str| reads(&limits(limit), random_for(50, 32));
    is_close("none", rate("").transfers_per_second(), 32_000.0);
    let limited = rate("read_iops = 5000.0");
    is_close("operations", limited.transfers_per_second(), 5000.0);
    is_close("a device at its limit is busy", limited.busy(0), 1.0);
    is_close("bytes", rate("read_bandwidth = \"8.192MB/s\"").transfers_per_second(), 2000.0);
    is_close("the other direction", rate("write_iops = 5.0").transfers_per_second(), 32_000.0);
}

#[test]
fn the_narrowest_place_on_the_way_sets_the_rate() {
    let model = |adapter: &str, link: &str, device: &str| {
        format!(
            r#"
            node = {{ count = 4, processors = 8, bandwidth = "{adapter}" }}

            [[link]]
            name = "fabric"
            bandwidth = "{link}"

            [[device]]
            name = "disk"
            count = 8
            slots = 4
            read = {{ time = "1us" }}
            write = {{ time = "1us" }}
            limits = {{ write_bandwidth = "{device}" }}

            [[layout]]
            name = "here"
            devices = "disk"
            through = ["fabric"]
            "#
        )
    };
    let rate = |adapter, link, device| {
        let mut spec = in_order(1 << 20, 4 << 30, 32);
        spec.duration = Some(plan::Nanos::secs(20));
        writes(&model(adapter, link, device), spec).bytes_per_second()
    };
    is_close("adapters", rate("100MB/s", "1GB/s", "1GB/s"), 400e6);
    is_close("link", rate("1GB/s", "300MB/s", "1GB/s"), 300e6);
    is_close("devices", rate("1GB/s", "10GB/s", "25MB/s"), 200e6);
}

#[test]
fn parity_of_part_of_a_stripe_costs_reads_and_writes() {
    let layout = format!("{DISK}\nchunk = \"64KiB\"\nparity = 2");
    let mut spec = random_for(200, 1);
    spec.files.sharing = Sharing::Shared;
    let one = writes(&disks(10, &layout, ""), spec.clone());
    let count = one.outcome.writes;
    assert_eq!(one.device_requests(), [3 * count, 3 * count]);
    // Three devices at once, each reads and then writes.
    is_close("one task", one.transfers_per_second(), 1000.0 / 3.0);
    // All devices busy: ten of them have three times 3 ms to do for each transfer.
    spec.backend = Backend::Uring { depth: 512, required: true };
    is_close("full", writes(&disks(10, &layout, ""), spec).transfers_per_second(), 10_000.0 / 9.0);
}

#[test]
fn a_full_stripe_is_written_with_its_parity_alone() {
    let layout = format!("{STREAM}\nchunk = \"64KiB\"\nparity = 2");
    let simulated = writes(&disks(10, &layout, ""), in_order(512 << 10, 128 << 20, 1));
    is_close("rate", simulated.bytes_per_second(), 800e6);
    let moved: u64 = simulated.devices.iter().map(|(_, one)| one.counters.write_bytes).sum();
    is_close("bytes at the devices", moved as f64, 1.25 * simulated.outcome.write_bytes as f64);
}

#[test]
fn copies_are_written_all_and_read_once() {
    let layout = format!("{DISK}\ncopies = 3");
    let spec = || random_for(100, 12);
    let written = writes(&disks(4, &layout, ""), spec());
    assert_eq!(written.device_requests(), [0, 3 * written.outcome.writes]);
    is_close("writes", written.transfers_per_second(), 4.0 * 500.0 / 3.0);
    let read = reads(&disks(4, &layout, ""), spec());
    assert_eq!(read.device_requests(), [read.outcome.reads, 0]);
    is_close("reads", read.transfers_per_second(), 4000.0);
}
