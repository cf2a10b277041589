//! Devices: individually, in increasing numbers, with layers above them, and a disk with seeks.

use plan::{Bytes, Criteria, Layer, Phase, Setting, SettingValue, TargetDescription};

use super::draw::{Point, Random, count};
use super::said::{IntervalOf, Kind};
use super::scenario::{RATE, Setup, Trial, by_effect, nothing, of, point, target, trial, up};

/// Twelve devices measured individually. One is slower by the effect.
pub(super) fn slow_device(setup: Setup, random: &mut Random) -> Trial {
    let device = |member: u64| {
        let rate = if member == 3 { RATE * (1.0 - setup.effect) } else { RATE };
        Point { settings: vec![count("member", member)], tasks: 1, ..point(setup, "alone", "disks", rate) }
    };
    let all: Vec<Point> = (0..12).map(device).collect();
    let slow = if setup.effect > 0.0 { of("3", up(Kind::SlowDevice)) } else { nothing(Kind::SlowDevice) };
    let uneven = if setup.effect > 0.4 { up(Kind::Uneven) } else { nothing(Kind::Uneven) };
    let targets = vec![target("disks", 12, None, Layer::Unstated)];
    trial(setup, Criteria { targets, ..Criteria::default() }, &all, vec![slow, uneven], random)
}

const SEEK_SECONDS: f64 = 8e-3;
const DISK_RATE: f64 = 160e6;

/// Random reads of eight sizes from a disk.
pub(super) fn seeks(setup: Setup) -> impl Iterator<Item = Point> {
    (0..8).map(move |step: u32| {
        let bytes = 4096 << (2 * step);
        let settings = vec![Setting { key: "transfer".to_owned(), value: SettingValue::Bytes(Bytes(bytes)) }];
        let rate = bytes as f64 / (SEEK_SECONDS + bytes as f64 / DISK_RATE);
        let of_disk = point(setup, "seek", "disk", rate);
        Point { settings, phase: Phase::Read, tasks: 1, random: Some(bytes), ..of_disk }
    })
}

pub(super) fn seek(setup: Setup, random: &mut Random) -> Trial {
    let criteria =
        Criteria { targets: vec![target("disk", 1, None, Layer::Unstated)], ..Criteria::default() };
    let made = trial(setup, criteria, &seeks(setup).collect::<Vec<_>>(), Vec::new(), random);
    let values =
        vec![(IntervalOf::SeekTime, "disk", SEEK_SECONDS * 1e9), (IntervalOf::DiskRate, "disk", DISK_RATE)];
    Trial { values, ..made }
}

/// The same number of tasks on 1, 2 and 4 devices. Each doubling of the devices is faster by the effect. Without an
/// effect reads are as fast as writes, otherwise three times as fast. The processors are always busy.
pub(super) fn devices(setup: Setup, random: &mut Random) -> Trial {
    let mut all = Vec::new();
    let mut targets = Vec::new();
    for (step, name) in [(0, "one"), (1, "two"), (2, "four")] {
        let rate = RATE * (1.0 + setup.effect).powi(step);
        let reads = if setup.effect > 0.0 { 3.0 * rate } else { rate };
        for (phase, group, rate) in [(Phase::Write, "write", rate), (Phase::Read, "read", reads)] {
            all.push(Point { phase, busy: true, ..point(setup, group, name, rate) });
        }
        let baseline = Some("one").filter(|single| *single != name);
        targets.push(target(name, 1 << step, baseline, Layer::Unstated));
    }
    let mut truths = vec![by_effect(Kind::Placement, setup.effect)];
    if setup.effect == 0.0 {
        truths.push(up(Kind::ProcessLimit));
    } else if setup.effect >= 0.1 {
        truths.push(nothing(Kind::ProcessLimit));
    }
    trial(setup, Criteria { targets, ..Criteria::default() }, &all, truths, random)
}

/// Two workloads on a device and on two layers above it. The lower layer loses the effect, the upper one nothing.
pub(super) fn layered(setup: Setup, random: &mut Random) -> Trial {
    let layer = |name: &str, above: Option<&str>| TargetDescription {
        above: above.map(str::to_owned),
        ..target(name, 1, None, Layer::Unstated)
    };
    let mut all = Vec::new();
    for group in ["large", "small"] {
        for (name, rate) in
            [("a", RATE), ("b", RATE * (1.0 - setup.effect)), ("c", RATE * (1.0 - setup.effect))]
        {
            all.push(point(setup, group, name, rate));
        }
    }
    let targets = vec![layer("a", None), layer("b", Some("a")), layer("c", Some("b"))];
    let truth = match setup.effect > 0.0 {
        true => of("b", up(Kind::LayerLoss)),
        false => nothing(Kind::LayerLoss),
    };
    trial(setup, Criteria { targets, ..Criteria::default() }, &all, vec![truth], random)
}
