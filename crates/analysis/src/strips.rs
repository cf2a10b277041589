//! What the block size of a file system does to its rate, predicted from one device.

use plan::{Phase, Plan};

use crate::seek::{SeekFit, devices};
use crate::subject::{Subject, subjects};
use crate::{Figure, SeekTime};

/// A file system that spreads each block over its devices, against what its devices say.
///
/// Source: study E, "effect of the file-system block size": a disk sees strips of a block ÷ data disks, at
/// random places, so that its rate at that size times the data disks is what the file system can reach.
#[derive(Debug, Clone, PartialEq)]
pub struct StripPoint {
    /// The target that is predicted.
    pub target: String,
    /// The target of its device.
    pub below: String,
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
    /// The best figure of the target.
    pub figure: Option<usize>,
    /// Its bytes per second.
    pub measured: Option<f64>,
    /// Measured ÷ predicted.
    pub ratio: Option<f64>,
}

/// A point for each target with [`plan::TargetTerms::fs_block`] and each phase in which the target below it
/// was measured at several sizes, in rising order of blocks.
#[must_use]
pub fn strips(plan: &Plan, figures: &[Figure], fits: &[SeekFit]) -> Vec<StripPoint> {
    of_subjects(plan, &subjects(plan, figures), fits)
}

/// As [`strips`], of figures that were looked up already.
pub(crate) fn of_subjects(plan: &Plan, subjects: &[Subject<'_>], fits: &[SeekFit]) -> Vec<StripPoint> {
    let mut points = Vec::new();
    for terms in &plan.terms.targets {
        let (Some(block), Some(below)) = (terms.fs_block, terms.above.as_deref()) else { continue };
        let of_target = || subjects.iter().filter(|subject| subject.case.target == terms.name);
        let count =
            of_target().map(|subject| devices(plan, subject.case)).next().unwrap_or(terms.devices).max(1);
        for phase in [Phase::Write, Phase::Read] {
            let mut of_device = fits.iter().filter(|fit| fit.target == below && fit.phase == phase);
            let Some(fit) = of_device.next() else { continue };
            let strip = block.0 as f64 / f64::from(count);
            let Some((one, by_line)) = rate_at(fit, strip) else { continue };
            let best = of_target().filter(|subject| subject.figure.phase == phase);
            let rate = |subject: &Subject<'_>| subject.figure.bytes_per_second.median;
            let best = best.max_by(|a, b| rate(a).total_cmp(&rate(b)));
            let predicted = one * f64::from(count);
            let measured = best.map(rate);
            let sizes = || fit.points.iter().map(|point| point.bytes);
            points.push(StripPoint {
                target: terms.name.clone(),
                below: below.to_owned(),
                phase,
                block: block.0,
                devices: count,
                strip,
                predicted,
                by_line,
                extrapolated: !sizes().any(|size| size <= strip) || !sizes().any(|size| size >= strip),
                figure: best.map(|subject| subject.index),
                measured,
                ratio: measured.map(|measured| measured / predicted),
            });
        }
    }
    points.sort_by_key(|point| (point.phase != Phase::Write, point.block));
    points
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
