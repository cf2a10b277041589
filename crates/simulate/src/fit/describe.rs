//! Creates the model of a fit, and its description.

use plan::visible;
use record::Run;

use super::check::{Checked, direction, named};
use super::core::{Estimate, Fit, FittedDirection};
use super::network::Station;
use super::search::Joint;
use super::shape::nanos;
use super::sweep::Sweep;
use crate::model::{Bandwidth, Description, Device, Layout, Limits, Model, Node, Service, Size};

/// The name of the devices.
const DEVICES: &str = "storage";

/// The times of one direction of the model.
struct Fitted {
    writes: bool,
    service: Service,
    iops: Option<f64>,
    bandwidth: Option<Bandwidth>,
}

/// The model of `fit`, or `None` if no direction was fitted. A direction that was not measured gets the
/// parameters of the other one.
pub(super) fn model(run: &Run, sweep: &Sweep, fit: &Fit) -> Option<Model> {
    let host = &run.manifest.host;
    let target = if sweep.target.is_empty() { "*" } else { &sweep.target };
    let mut slots = fit.joint.slots;
    let fitted: Vec<Fitted> = sweep
        .directions
        .iter()
        .enumerate()
        .map(|(index, one)| {
            let (station, least) = station(sweep, fit, index);
            slots = slots.max(least);
            let rate = |pause: f64| (pause > 0.0).then(|| (1e9 / pause).round());
            Fitted {
                writes: one.writes,
                service: fit.directions[index].shape.service(station.time_ns, station.per_byte_ns),
                iops: rate(station.limit_ns),
                bandwidth: rate(station.limit_per_byte_ns).map(Bandwidth),
            }
        })
        .collect();
    let of = |writes: bool| fitted.iter().find(|one| one.writes == writes).or(fitted.first());
    let (read, write) = of(false).zip(of(true))?;
    Some(Model {
        model: Description {
            name: sweep.name(),
            source: match &run.manifest.model {
                Some(model) => {
                    format!("fitted to run {}, simulated by model {}", run.manifest.run_id, model.name)
                }
                None => format!("fitted to run {}", run.manifest.run_id),
            },
            noise: (fit.noise * 1e4).round() / 1e4,
            percentile: Some(percentile(sweep, fit)),
        },
        node: Node {
            count: sweep.nodes,
            processors: host.usable_cpus.max(1),
            memory: (host.memory_bytes > 0).then_some(Size(host.memory_bytes)),
            request_time: Some(nanos(fit.nodes.request_ns)).filter(|time| time.0 > 0),
            clock_offset: None,
            clock_drift: None,
            rows_per_second: None,
            operations_per_second: None,
            bandwidth: None,
            iops: None,
            through: Vec::new(),
            cache: None,
        },
        links: Vec::new(),
        servers: Vec::new(),
        devices: vec![Device {
            name: DEVICES.to_owned(),
            count: 1,
            slots,
            size: None,
            read: read.service.clone(),
            write: write.service.clone(),
            write_cache: None,
            limits: Limits {
                read_iops: read.iops,
                write_iops: write.iops,
                read_bandwidth: read.bandwidth,
                write_bandwidth: write.bandwidth,
            },
        }],
        metadata: Vec::new(),
        layouts: vec![Layout {
            name: "as measured".to_owned(),
            targets: vec![target.to_owned()],
            devices: DEVICES.to_owned(),
            through: Vec::new(),
            metadata: None,
            local: false,
            stripe: None,
            chunk: None,
            copies: 1,
            parity: 0,
        }],
        troubles: Vec::new(),
    })
}

/// The largest percentile that was measured in all directions. If transfers with one in flight wait for a limit most of
/// the time, the measured distribution is not that of the time in a slot, and none is described.
fn percentile(sweep: &Sweep, fit: &Fit) -> f64 {
    let of = |(index, one): (usize, &FittedDirection)| {
        let station = &fit.joint.solutions[index].station;
        let bytes = sweep.directions[index].points.first().map_or(0, |point| point.load.bytes);
        let waits = station.pause_ns(bytes) > station.service_ns(bytes);
        if waits && one.shape.variation > 0.0 { 0.0 } else { one.shape.percentile }
    };
    fit.directions.iter().enumerate().map(of).fold(100.0, f64::min)
}

/// The station of a direction, and the number of slots that it needs. If no limit was observed, the ceilings of the
/// study are used instead, and the slots must be sufficient for these.
fn station(sweep: &Sweep, fit: &Fit, index: usize) -> (Station, u32) {
    let mut station = fit.joint.solutions[index].station;
    let direction = &sweep.directions[index];
    if fit.is_saturated(index) || direction.ceilings == [None; 2] {
        return (station, 1);
    }
    let [operation, byte] = direction.ceilings.map(|rate| rate.map_or(0.0, |rate| 1e9 / rate));
    station.limit_ns = station.limit_ns.max(operation);
    station.limit_per_byte_ns = station.limit_per_byte_ns.max(byte);
    let bytes = direction.points.first().map_or(0, |point| point.load.bytes);
    // The limit is part of the measured response time.
    station.time_ns = (station.time_ns - station.pause_ns(bytes)).max(station.time_ns / 2.0);
    let slots = (station.service_ns(bytes) / station.pause_ns(bytes)).ceil().clamp(1.0, f64::from(u16::MAX));
    (station, u32::try_from(nanos(slots).0).unwrap_or(1))
}

/// The description of the model in lines: its parameters with intervals, its residuals, and its check.
pub(super) fn about(run: &Run, sweep: &Sweep, fit: &Fit, checked: &Checked) -> Vec<String> {
    let points: usize = sweep.directions.iter().map(|one| one.points.len()).sum();
    let mut lines = vec![format!(
        "{}: fitted by `ioproof model fit` to {points} points of run {}.",
        visible(&sweep.name()),
        run.manifest.run_id
    )];
    lines.push(String::new());
    lines.push("parameters, with 95 % intervals:".to_owned());
    let slots = match fit.slots() {
        (least, Some(most)) => format!("{} ({least} to {most})", fit.joint.slots),
        (least, None) => format!("{} ({least} or more)", fit.joint.slots),
    };
    lines.push(parameter_line("slots", &slots));
    lines.push(parameter_line("processor time", &format!("{} (measured)", time(fit.nodes.request_ns))));
    lines.push(parameter_line("noise", &format!("{:.2} %", fit.noise * 100.0)));
    for (index, one) in sweep.directions.iter().enumerate() {
        let name = direction(one.writes);
        let parts = fit.joint.solutions[index].parts;
        let parameter =
            |of: fn(&Station) -> f64| fit.parameter(|joint: &Joint| of(&joint.solutions[index].station));
        let mut line = |what: &str, estimate: Estimate, text: &dyn Fn(f64) -> String| {
            let Estimate { value, low, high } = estimate;
            let told = format!("{} ({} to {})", text(value), text(low), text(high));
            lines.push(parameter_line(&format!("{name}, {what}"), &told));
        };
        line("time", parameter(|station| station.time_ns), &time);
        if parts.bytes {
            line("rate", parameter(|station| 1e9 / station.per_byte_ns), &megabytes);
        }
        if parts.limits[0] {
            line("limit", parameter(|station| 1e9 / station.limit_ns), &|rate| format!("{rate:.0}/s"));
        }
        if parts.limits[1] {
            line("bandwidth", parameter(|station| 1e9 / station.limit_per_byte_ns), &megabytes);
        }
        let bytes = one.points.first().map_or(0, |point| point.load.bytes);
        let pause = |joint: &Joint| joint.solutions[index].station.pause_ns(bytes);
        let is_limited = pause(&fit.joint) > 0.0;
        match fit.others.iter().find(|other| (pause(other) > 0.0) != is_limited) {
            Some(other) if is_limited => {
                lines.push(format!("  {name}: {} slots without a limit are not excluded", other.slots));
            }
            Some(other) => {
                let limit = 1e9 / pause(other);
                lines.push(format!("  {name}: a limit of {limit:.0}/s before more slots is not excluded"));
            }
            None => {}
        }
        if !fit.is_saturated(index) {
            let stand_in = match one.ceilings {
                [None, None] => "no limit was reached: the slots are the maximum that was in flight",
                _ => "no limit was reached: that of the study is used instead",
            };
            lines.push(format!("  {name}: {stand_in}"));
        }
    }
    lines.push(match percentile(sweep, fit) {
        0.0 => {
            "  percentiles: not described, by too few transfers with one in flight or because of the limit"
                .to_owned()
        }
        known => format!("  percentiles: known up to p{known}, by the transfers with one in flight"),
    });
    if let [only] = sweep.directions.as_slice() {
        let (own, other) = (direction(only.writes), direction(!only.writes));
        lines.push(format!("  {other} were not measured: they are modelled like {own}"));
    }
    lines.push(String::new());
    lines
        .push("residuals, measured ÷ model − 1, of transfers per second and of the mean latency:".to_owned());
    for (index, one) in sweep.directions.iter().enumerate() {
        for point in &one.points {
            let simulated = fit.simulated(index, point.load, point.transfers);
            let measured = point.mean();
            let [rate, latency] =
                [0, 1].map(|which| ((measured[which] - simulated[which]).exp() - 1.0) * 100.0);
            let per_second = measured[0].exp() * 1e9;
            let what = format!("{}, {}", direction(one.writes), named(point.load));
            lines.push(format!("  {what}: {per_second:.0}/s, {rate:+.1} %, {latency:+.1} %"));
        }
    }
    lines.extend(sweep.left_out.iter().map(|one| format!("  left out: {}", visible(one))));
    lines.push(String::new());
    lines.push("check: predictions of these points by a fit without them:".to_owned());
    for held in &checked.held {
        let [value, low, high] = held.predicted;
        lines.push(format!(
            "  {}: {value:.0}/s ({low:.0} to {high:.0}), measured {:.0}/s",
            held.point, held.measured
        ));
    }
    lines.push(match &checked.refused {
        None => "  it is valid beyond the points to which it was fitted".to_owned(),
        Some(reason) => format!("  not to be used beyond the measured range: {}", visible(reason)),
    });
    lines
}

fn parameter_line(name: &str, value: &str) -> String {
    format!("  {name:<17}  {value}")
}

fn time(nanos: f64) -> String {
    format!("{:.2} µs", nanos / 1e3)
}

fn megabytes(rate: f64) -> String {
    format!("{:.1} MB/s", rate / 1e6)
}
