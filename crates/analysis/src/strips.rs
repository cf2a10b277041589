//! What the block size of a file system does to its rate, predicted from one device.

use plan::{Phase, TargetTerms};

use crate::gate::{Gate, Kind, Stated};
use crate::seek::SeekFit;
use crate::subject::Subject;
use crate::table::{Column, Of, Statement, bandwidth, bytes, count, number, share, subject, text, word};

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
    /// The prediction is from the line of [`crate::SeekTime`]; else from the straight line between the two
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
        subject(word("target", "target", "The file system.", |one| &one.target)),
        subject(word("phase", "phase", "The phase.", |one| one.phase.name())),
        bytes("block", "block", "Bytes of a block.", |one| Some(one.block)),
        count("devices", "devices", "Data devices.", |one| Some(one.devices.into())),
        number("strip_bytes", "strip, bytes", "Block ÷ devices.", |one| Some(one.strip)),
        bandwidth(
            "predicted_per_second",
            "predicted",
            "Devices × the rate of one at strips of this size.",
            |one| Some(one.predicted),
        ),
        bandwidth("measured_per_second", "measured", "The best figure of the target.", |one| one.measured),
        share("ratio", "of predicted", "Measured ÷ predicted.", |one| one.ratio),
        text("predicted_by", "predicted by", "From a fitted line, or from the sizes beside it.", |one| {
            one.predicted_by()
        }),
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
    let mut targets: Vec<_> = gate.plan.terms.targets.iter().collect();
    targets.sort_by_key(|terms| terms.fs_block);
    let of_phase = |phase| targets.iter().filter_map(move |terms| strip(gate, fits, terms, phase));
    of_phase(Phase::Write).chain(of_phase(Phase::Read)).collect()
}

fn strip(gate: &Gate<'_>, fits: &[SeekFit], terms: &TargetTerms, phase: Phase) -> Option<Stated<StripPoint>> {
    let (block, below) = (terms.fs_block?.0, terms.above.as_deref()?);
    let fit = fits.iter().find(|fit| fit.target == below && fit.phase == phase)?;
    let of_target = || gate.subjects.iter().filter(|subject| subject.case.target == terms.name);
    let devices = of_target().next().map_or(terms.devices, Subject::devices).max(1);
    let strip = block as f64 / f64::from(devices);
    let (one, by_line) = rate_at(fit, strip)?;
    let of_phase: Vec<&Subject<'_>> = of_target().filter(|subject| subject.figure.phase == phase).collect();
    let best = gate.best(&of_phase).map(|chosen| chosen.best);
    let predicted = one * f64::from(devices);
    let measured = best.map(|subject| subject.figure.bytes_per_second.median);
    let sizes = || fit.points.iter().map(|point| point.bytes);
    let point = StripPoint {
        target: terms.name.clone(),
        phase,
        block,
        devices,
        strip,
        predicted,
        by_line,
        extrapolated: !sizes().any(|size| size <= strip) || !sizes().any(|size| size >= strip),
        measured,
        ratio: measured.map(|measured| measured / predicted),
    };
    let inputs =
        best.map(|subject| subject.index).into_iter().chain(fit.points.iter().map(|point| point.figure));
    Some(gate.state(Kind::Strip, inputs.collect(), point))
}

/// The rate of one device at transfers of `bytes`, and whether it is from the line.
fn rate_at(fit: &SeekFit, bytes: f64) -> Option<(f64, bool)> {
    if let Some(line) = fit.line() {
        return Some((line.rate_at(bytes), true));
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
