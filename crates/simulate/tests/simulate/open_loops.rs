//! Open loops: transfers are due at even times, whatever the system does.

use plan::{Backend, Pace};

use crate::bench::{Simulated, is_close, random_for, reads};

/// Transfers that are due so many times a second on one server of 1,000 a second.
fn paced(seconds: u64, rate: f64, tasks: u32, depth: u32) -> Simulated {
    let model = r#"
        node = { processors = 64 }

        [[device]]
        name = "disk"
        read = { time = "1ms", distribution = "exponential" }
        write = { time = "1ms" }

        [[layout]]
        name = "one"
        devices = "disk"
    "#;
    let mut spec = random_for(seconds, tasks);
    spec.pace = Some(Pace { transfers_per_second: rate });
    spec.backend = Backend::Uring { depth, required: true };
    reads(model, spec)
}

/// Of D/M/1: the probability that a transfer has to wait, σ = exp(-(1 - σ) μ ÷ λ).
pub(crate) fn waits(utilisation: f64) -> f64 {
    (0..1000).fold(0.5, |sigma: f64, _| (-(1.0 - sigma) / utilisation).exp())
}

#[test]
fn even_arrivals_wait_as_in_d_m_1() {
    for (rate, tasks, depth) in [(300.0, 1, 1), (600.0, 1, 64), (600.0, 16, 16), (800.0, 64, 8)] {
        let simulated = paced(4000, rate, tasks, depth);
        is_close("rate", simulated.transfers_per_second(), rate);
        // The time from the due start is exponential with this mean (Kleinrock, Queueing Systems, 1975, 6.4).
        let mean = 1e-3 / (1.0 - waits(rate / 1000.0));
        is_close("latency", simulated.latency(), mean);
        is_close("p50", simulated.percentile(0.5), mean * 2.0_f64.ln());
        is_close("p99", simulated.percentile(0.99), mean * 100.0_f64.ln());
        // What is under way at the device, by its own counters.
        let queued: u64 = simulated.devices.iter().map(|(_, one)| one.counters.queue_time_ns).sum();
        if depth > 1 {
            is_close("queue", queued as f64 / 1e9 / simulated.seconds(), rate * mean);
        }
        is_close("time in service", simulated.busy(0), rate / 1000.0);
    }
}

#[test]
fn a_rate_above_what_a_device_gives_is_not_reached_and_its_latency_grows() {
    let simulated = paced(1000, 1250.0, 4, 8);
    is_close("rate", simulated.transfers_per_second(), 1000.0);
    // After t seconds the last transfer was due 0.2 t before.
    is_close("latency", simulated.latency(), 0.2 * 1000.0 / 2.0);
    let due = 1250.0 * 1000.0;
    is_close("unstarted", simulated.outcome.unstarted as f64, due - simulated.transfers());
}
