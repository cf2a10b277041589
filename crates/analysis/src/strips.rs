//! What the block size of a file system does to its rate, predicted from one device.

use plan::Phase;

use crate::gate::{Gate, Kind, Stated};
use crate::seek::{SeekFit, devices};
use crate::subject::Subject;
use crate::table::{Column, Of, Statement, Value};
use crate::{RateOf, SeekTime};

/// A file system that spreads each block over its devices, against what its devices say.
///
/// Source: study E, "effect of the file-system block size": a disk sees strips of a block ÷ data disks, at
/// random places, so that its rate at that size times the data disks is what the file system can reach.
#[derive(Debug, Clone, PartialEq)]
pub struct StripPoint {
    /// The target that is predicted.
    pub target: String,
    /// The phase.
    pub phase: Phase,
    /// Bytes of a block.
    pub block: u64,
    /// Data devices.
    pub devices: u32,
    /// Block ÷ devices.
    pub strip: f64,
    /// Bytes per second: devices × the rate of one at strips of this size.
    pub predicted: f64,
    /// The prediction is from the line of [`SeekTime`]; else from the straight line between the two
    /// neighbouring times.
    pub by_line: bool,
    /// The strip is smaller or larger than any size that was measured on the device.
    pub extrapolated: bool,
    /// Bytes per second of the best figure of the target.
    pub measured: Option<f64>,
    /// Measured ÷ predicted.
    pub ratio: Option<f64>,
}

impl Statement for StripPoint {
    const KIND: Kind = Kind::Strip;
    const OF: Of = Of::Nothing;
    const CAPTION: &'static str = "What the block size of a file system makes of its devices: predicted is devices × \
                                   the rate of one at strips of block ÷ devices";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("target", |one: &Self| one.target.clone(), "The file system.").subject(),
        Column::text("phase", |one: &Self| one.phase.name().to_owned(), "The phase.").subject(),
        Column::bytes("block", |one| Some(one.block), "Bytes of a block."),
        Column::count("devices", |one| Some(one.devices.into()), "Data devices."),
        Column::number("strip_bytes", |one: &Self| Some(one.strip), "Block ÷ devices.")
            .headed("strip, bytes"),
        Column::rate(
            "predicted_per_second",
            |one: &Self| Value::Rate(one.predicted, RateOf::Bytes),
            "Devices × the rate of one at strips of this size.",
        )
        .headed("predicted"),
        Column::rate(
            "measured_per_second",
            |one: &Self| Value::or_none(one.measured, |rate| Value::Rate(rate, RateOf::Bytes)),
            "The best figure of the target.",
        )
        .headed("measured"),
        Column::share("ratio", |one: &Self| one.ratio, "Measured ÷ predicted.").headed("of predicted"),
        Column::text(
            "predicted_by",
            |one| one.predicted_by(),
            "From a fitted line, or from the sizes beside it.",
        ),
    ];
}

impl StripPoint {
    fn predicted_by(&self) -> String {
        let by = if self.by_line { "seek time and rate" } else { "the sizes beside it" };
        if self.extrapolated { format!("{by}, beyond what was measured") } else { by.to_owned() }
    }
}

/// A point for each target with [`plan::TargetTerms::fs_block`] and each phase in which the target below it
/// was measured at several sizes, in rising order of blocks.
#[must_use]
pub(crate) fn strips(gate: &Gate<'_>, fits: &[SeekFit]) -> Vec<Stated<StripPoint>> {
    let plan = gate.plan;
    let mut points = Vec::new();
    for terms in &plan.terms.targets {
        let (Some(block), Some(below)) = (terms.fs_block, terms.above.as_deref()) else { continue };
        let of_target = || gate.subjects.iter().filter(|subject| subject.case.target == terms.name);
        let count =
            of_target().map(|subject| devices(plan, subject.case)).next().unwrap_or(terms.devices).max(1);
        for phase in [Phase::Write, Phase::Read] {
            let mut of_device = fits.iter().filter(|fit| fit.target == below && fit.phase == phase);
            let Some(fit) = of_device.next() else { continue };
            let strip = block.0 as f64 / f64::from(count);
            let Some((one, by_line)) = rate_at(fit, strip) else { continue };
            let best = of_target().filter(|subject| subject.figure.phase == phase);
            let rate = |subject: &Subject<'_>| subject.figure.bytes_per_second.median;
            let best = gate.best(&best.collect::<Vec<_>>()).map(|chosen| chosen.best);
            let predicted = one * f64::from(count);
            let measured = best.map(rate);
            let sizes = || fit.points.iter().map(|point| point.bytes);
            let point = StripPoint {
                target: terms.name.clone(),
                phase,
                block: block.0,
                devices: count,
                strip,
                predicted,
                by_line,
                extrapolated: !sizes().any(|size| size <= strip) || !sizes().any(|size| size >= strip),
                measured,
                ratio: measured.map(|measured| measured / predicted),
            };
            let figures = best.map(|subject| subject.index).into_iter();
            let inputs = figures.chain(fit.points.iter().map(|point| point.figure)).collect();
            points.push((block.0, gate.state(Kind::Strip, inputs, point), phase));
        }
    }
    points.sort_by_key(|(block, _, phase)| (*phase != Phase::Write, *block));
    points.into_iter().map(|(_, point, _)| point).collect()
}

/// The rate of one device at transfers of `bytes`, and whether it is from the line.
fn rate_at(fit: &SeekFit, bytes: f64) -> Option<(f64, bool)> {
    if let Ok(line) = &fit.fit {
        return Some((SeekTime::rate_at(line, bytes), true));
    }
    // Times, not rates, are straight between two sizes.
    let after = fit.points.iter().position(|point| point.bytes >= bytes)?;
    let high = fit.points[after];
    if high.bytes <= bytes {
        return Some((high.bytes_per_second, false));
    }
    let low = fit.points[after.checked_sub(1)?];
    let share = (bytes - low.bytes) / (high.bytes - low.bytes);
    let time_ns = low.time_ns + share * (high.time_ns - low.time_ns);
    Some((bytes / time_ns * 1e9, false))
}
