//! Caches as vessels that fill and empty at known rates.

use plan::{Backend, Case, Existing, Nanos, Order, Phase, ReadFrom, SyncRule};

use runner::Machine;

use crate::bench::{
    Simulated, in_order, is_close, machine, machine_beside, machine_for, phase, phase_on, random_for, reads,
    writes,
};

const WRITE_CACHE: &str = r#"
    node = { processors = 4 }

    [[device]]
    name = "disk"
    read = { rate = "1GB/s" }
    write = { rate = "1GB/s" }
    write_cache = { size = "900MB", drain = "100MB/s" }

    [[layout]]
    name = "here"
    devices = "disk"
"#;

#[test]
fn a_write_cache_takes_writes_until_it_is_full() {
    let seconds = |bytes: u64| writes(WRITE_CACHE, in_order(512_000, bytes, 1)).seconds();
    // 900 MB/s stay: it is full after 1 s and 1,000 MB.
    is_close("before", seconds(512_000_000), 0.512);
    is_close("beyond", seconds(3_072_000_000), 1.0 + 20.72);
    is_close("reads pass it", reads(WRITE_CACHE, in_order(512_000, 3_072_000_000, 1)).seconds(), 3.072);
}

const PAGE_CACHE: &str = r#"
    node = { processors = 4, cache = { size = "1GiB", dirty = "450MB", rate = "1GB/s" } }

    [[device]]
    name = "disk"
    read = { rate = "100MB/s" }
    write = { rate = "100MB/s" }

    [[layout]]
    name = "here"
    devices = "disk"
"#;

#[test]
fn writes_wait_for_the_disk_once_too_much_waits_to_be_written() {
    let write = |bytes, at_close| {
        let mut spec = in_order(512_000, bytes, 1);
        (spec.direct, spec.sync) = (false, SyncRule { at_close, per_write: false });
        writes(PAGE_CACHE, spec)
    };
    // 900 MB/s stay: the limit is reached after 0.5 s and 500 MB.
    is_close("before", write(256_000_000, false).seconds(), 0.256);
    is_close("beyond", write(1_536_000_000, false).seconds(), 0.5 + 10.36);
    let synced = write(1_536_000_000, true);
    is_close("with the sync", synced.outcome.wall_ns as f64 / 1e9, 15.36);
}

#[test]
fn reads_at_random_find_the_share_of_the_file_that_is_in_memory() {
    for (file, share) in [(512_u64 << 20, 1.0), (2 << 30, 0.5), (4 << 30, 0.25)] {
        let mut spec = in_order(65_536, file, 1);
        (spec.direct, spec.order) = (false, Order::Random { seed: 3 });
        let mut machine = machine(PAGE_CACHE, 2);
        spec.sync.at_close = true;
        phase(&mut machine, spec.clone(), Phase::Write, 0);
        let read = phase(&mut machine, spec, Phase::Read, 0);
        let from_disk = read.device_requests()[0] as f64;
        assert!(share < 1.0 || from_disk == 0.0, "{from_disk} reads of a file that is in memory");
        if share < 1.0 {
            is_close("reads of the disk", from_disk / read.transfers(), 1.0 - share);
        }
        let each = 65_536.0 * (share / 1e9 + (1.0 - share) / 100e6);
        is_close("rate", read.transfers_per_second(), 1.0 / each);
    }
}

#[test]
fn a_pass_in_order_over_more_than_the_memory_finds_nothing_there() {
    let mut spec = in_order(1 << 20, 2 << 30, 1);
    (spec.direct, spec.sync.at_close) = (false, true);
    let mut machine = machine(PAGE_CACHE, 2);
    phase(&mut machine, spec.clone(), Phase::Write, 0);
    is_close("rate", phase(&mut machine, spec, Phase::Read, 0).bytes_per_second(), 100e6);
}

#[test]
fn a_case_on_one_node_has_the_same_figures_beside_one_on_more_nodes() {
    let model =
        PAGE_CACHE.replace("node = {", "node = { count = 4, bandwidth = \"50MB/s\", request_time = \"5us\",");
    let mut shifted = in_order(65_536, 64 << 20, 2);
    (shifted.direct, shifted.read_from, shifted.sync.at_close) = (false, ReadFrom::Shift { tasks: 1 }, true);
    let mut mixed = random_for(2, 8);
    mixed.read_percent = 60;
    let wide = plan::WorkloadSpec { nodes: 4, ..random_for(1, 4) };
    for (spec, phases) in [(shifted, vec![Phase::Write, Phase::Read]), (mixed, vec![Phase::Mixed])] {
        let [alone, beside] =
            [machine_for(&model, &spec), machine_beside(&model, &spec, &wide)].map(|mut machine| {
                let of = |one: Phase| {
                    let one = phase_on(&mut machine, spec.clone(), 1, one, 0);
                    let sum: u64 = one.outcome.series.iter().map(|one| one.latency_sum_ns).sum();
                    (one.transfers(), one.outcome.io_ns, sum, one.device_requests())
                };
                phases.iter().copied().map(of).collect::<Vec<_>>()
            });
        assert_eq!(alone, beside);
    }
}

#[test]
fn consecutive_writes_are_gathered_whatever_their_size() {
    // A disk needs 12 ms to begin elsewhere, and the files of all tasks are on one.
    let seeking = PAGE_CACHE.replace(
        "write = { rate = \"100MB/s\" }",
        "write = { time = \"12ms\", next_time = \"0ns\", rate = \"100MB/s\" }",
    );
    let rate = |transfer: u64, order: Order| {
        let mut spec = in_order(transfer, 192 << 20, 4);
        (spec.direct, spec.order, spec.sync.at_close) = (false, order, true);
        let one = writes(&seeking, spec);
        one.transfers() * transfer as f64 / (one.outcome.wall_ns as f64 / 1e9)
    };
    let large = rate(1 << 20, Order::Sequential);
    for transfer in [4 << 10, 64 << 10, 384 << 10] {
        let small = rate(transfer, Order::Sequential);
        assert!((small / large - 1.0).abs() < 0.05, "{transfer} B: {small} B/s, 1 MiB: {large} B/s");
    }
    let random = rate(64 << 10, Order::Random { seed: 1 });
    assert!(random < large / 5.0, "{random} B/s");
}

#[test]
fn reads_in_order_are_read_ahead_and_each_byte_once() {
    for (transfer, depth) in [(4 << 10, 1), (64 << 10, 8), (96 << 10, 1), (4 << 20, 1), (64 << 10, 64)] {
        let mut spec = in_order(transfer, 192 << 20, 2);
        spec.direct = false;
        if depth > 1 {
            spec.backend = Backend::Uring { depth, required: true };
        }
        let read = reads(PAGE_CACHE, spec.clone());
        let from_disk: u64 = read.devices.iter().map(|(_, sample)| sample.counters.read_bytes).sum();
        is_close(&format!("{transfer} B, {depth} in flight"), from_disk as f64, f64::from(2 * (192 << 20)));
        is_close("all of the disk", read.bytes_per_second(), 100e6);
        // The file is read again and again.
        spec.duration = Some(Nanos::secs(10));
        is_close("several times", reads(PAGE_CACHE, spec).bytes_per_second(), 100e6);
    }
}

#[test]
fn reads_in_order_of_what_is_in_memory_end() {
    for transfer in [4 << 10, 768_000, 4 << 20] {
        let mut spec = in_order(transfer, transfer * 64, 1);
        (spec.direct, spec.sync.at_close) = (false, true);
        let mut machine = machine(PAGE_CACHE, 2);
        phase(&mut machine, spec.clone(), Phase::Write, 0);
        let read = phase(&mut machine, spec, Phase::Read, 0);
        assert_eq!((read.transfers(), read.device_requests()[0]), (64.0, 0), "{transfer} B");
    }
}

#[test]
fn a_device_has_written_what_it_could_when_a_phase_ends_and_goes_on_in_the_next() {
    let mut spec = in_order(512_000, 256_000_000, 1);
    spec.direct = false;
    let written = |phase: &Simulated| -> f64 {
        phase.devices.iter().map(|(_, sample)| sample.counters.write_bytes as f64).sum()
    };
    spec.files.existing = Existing::Reuse;
    let mut machine = machine(PAGE_CACHE, 2);
    let first = phase(&mut machine, spec.clone(), Phase::Write, 0);
    is_close("0.256 s at 100 MB/s", written(&first), 25.6e6);
    // 230.4 MB wait still: 219.6 MB more may, and 9/10 of what is written adds to them, as far as the limit.
    let mut more = in_order(512_000, 1_024_000_000, 1);
    (more.direct, more.files.existing) = (false, Existing::Reuse);
    let second = phase(&mut machine, more, Phase::Write, 1);
    is_close("until the limit and beyond", second.seconds(), 0.244 + (1024.0 - 244.0) / 100.0);
    is_close("of both", written(&second), second.seconds() * 100e6);
}

#[test]
fn files_that_are_removed_take_along_what_was_not_written() {
    let mut spec = in_order(512_000, 256_000_000, 1);
    spec.direct = false;
    let reads_after = |removed: bool| {
        let mut machine = machine(PAGE_CACHE, 2);
        phase(&mut machine, spec.clone(), Phase::Write, 0);
        if removed {
            machine.files_removed(&Case::new("a", spec.clone().validate().expect("valid"), Vec::new()));
        }
        phase(&mut machine, in_order(512_000, 10_240_000, 1), Phase::Read, 0).seconds()
    };
    is_close("behind the writes", reads_after(false), 2.304 + 0.1024);
    is_close("alone", reads_after(true), 0.1024);
}

#[test]
fn a_node_copies_what_it_reads_whether_it_was_in_memory_or_not() {
    let slow = PAGE_CACHE.replace("rate = \"1GB/s\"", "rate = \"50MB/s\"");
    let mut spec = in_order(512_000, 256_000_000, 1);
    spec.direct = false;
    for repetition in 0..2 {
        let mut machine = machine(&slow, 2);
        let seconds: Vec<f64> = (0..=repetition)
            .map(|pass| phase(&mut machine, spec.clone(), Phase::Read, pass).seconds())
            .collect();
        is_close("by the copies", *seconds.last().expect("a pass"), 5.12);
    }
}

#[test]
fn a_file_has_no_more_bytes_to_be_written_than_its_size() {
    let mut spec = in_order(512_000, 51_200_000, 1);
    (spec.direct, spec.duration) = (false, Some(Nanos::secs(10)));
    let written = writes(PAGE_CACHE, spec);
    is_close("all in memory", written.bytes_per_second(), 1e9);
}

#[test]
fn caches_are_written_before_they_are_dropped() {
    let mut spec = in_order(512_000, 256_000_000, 1);
    spec.direct = false;
    let mut machine = machine(PAGE_CACHE, 2);
    phase(&mut machine, spec.clone(), Phase::Write, 0);
    machine.drop_caches();
    is_close("from the disk alone", phase(&mut machine, spec, Phase::Read, 0).seconds(), 2.56);
}
