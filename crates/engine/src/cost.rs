//! Measures the cost of the parts of the measuring loop on this machine, in nanoseconds. Each value is the
//! best of several measurements, each of which repeats the operation many times.

use std::hint::black_box;

use plan::{Bytes, Geometry, Order, Phase, Placement, WorkloadSpec};

use crate::data::check::{CheckResults, Expected, NoiseTable, check};
use crate::data::offsets::Offsets;
use crate::data::stamp::{BufferUse, DataPattern, PatternWriter};
use crate::phase::clock;
use crate::recording::histogram::BUCKETS;
use crate::recording::series::{Counts, Recorder};

/// Number of measurements, of which the best is used.
const ROUNDS: u32 = 7;
/// The number of repetitions is chosen so that a measurement takes about this long.
const ROUND_NS: f64 = 2e6;

/// Returns the best time of `once`.
fn best(mut once: impl FnMut()) -> f64 {
    let (kind, scale) = (clock::kind(), clock::scale());
    let mut round = |count: u32| {
        let start = clock::now(kind);
        for _ in 0..count {
            once();
        }
        scale.nanos(clock::now(kind) - start) as f64 / f64::from(count)
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 10 and 10 million")]
    let count = (ROUND_NS / round(10)).clamp(10.0, 1e7) as u32;
    (0..ROUNDS).map(|_| round(count)).fold(f64::INFINITY, f64::min)
}

/// Cost of recording one transfer in the histogram and the series.
#[must_use]
pub fn recording_ns() -> f64 {
    let mut counts: Vec<Counts> = vec![[[0; BUCKETS]; 2]];
    let mut recorder = Recorder::new(&mut counts[0], None);
    recorder.start(clock::scale(), 0, u64::MAX);
    let mut end = 0;
    best(|| {
        // Latencies around one microsecond, spread over several buckets.
        end += 4_000;
        recorder.add(0, black_box(2_000 + (end & 0xfff)), end);
    })
}

/// Cost of choosing the next offset in a file of a million transfers.
#[must_use]
pub fn offset_ns(random: bool) -> f64 {
    let geometry = Geometry { transfer: Bytes::kib(4), block: Bytes::gib(4), segments: 1 };
    let mut spec = WorkloadSpec::new("cost", "unused", geometry);
    if random {
        spec.order = Order::Random { seed: 1 };
    }
    let Ok(workload) = spec.validate() else { return f64::NAN };
    let mut offsets = Offsets::new(&Placement::new(&workload).region(0, Phase::Read, 0), true);
    best(|| {
        black_box(offsets.next());
    })
}

/// Creates a buffer of one transfer, and the data pattern and pattern writer that fill it.
fn pattern_buffer(transfer: usize) -> (DataPattern, Vec<u8>, PatternWriter) {
    let pattern = DataPattern::new(1, 1, transfer, BufferUse::Request);
    let mut buffer = vec![0; transfer];
    let writer = pattern.writer(&mut buffer, 0);
    (pattern, buffer, writer)
}

/// Cost of preparing a buffer of `transfer` bytes for a write.
#[must_use]
pub fn stamping_ns(transfer: Bytes) -> f64 {
    let transfer = usize::try_from(transfer.0).unwrap_or(1);
    let (pattern, mut buffer, mut writer) = pattern_buffer(transfer);
    let mut offset = 0;
    best(|| {
        offset += transfer as u64;
        writer.place(&pattern, black_box(&mut buffer), offset);
    })
}

/// Cost of checking the data of one transfer after a read.
#[must_use]
pub fn checking_ns(transfer: Bytes) -> f64 {
    let transfer = usize::try_from(transfer.0).unwrap_or(1);
    let (pattern, mut buffer, mut writer) = pattern_buffer(transfer);
    writer.place(&pattern, &mut buffer, 0);
    let table = NoiseTable::new(1);
    let expected = Expected { table: &table, file: 0, generations: Some((1, 1)) };
    let mut findings = CheckResults::default();
    best(|| check(black_box(&buffer), 0, 0, &expected, &mut findings))
}
