//! The buckets of printed histograms, of which there may be millions.

use plan::Operation;

/// A bucket of a printed histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) operation: Operation,
    pub(super) low_ns: u64,
    pub(super) high_ns: u64,
    pub(super) count: u64,
}

/// Buckets in their order. Consecutive ones are near each other, so that they take few bytes as differences: numbers of
/// 7 bits a byte, the lowest first, of which all but the last have their highest bit set.
#[derive(Debug, Clone, Default)]
pub(super) struct Buckets {
    runs: Vec<Run>,
}

/// Consecutive buckets of one operation.
#[derive(Debug, Clone)]
struct Run {
    operation: Operation,
    packed: Vec<u8>,
    last_low_ns: u64,
}

impl Buckets {
    pub(super) fn push(&mut self, bucket: Bucket) {
        let Bucket { operation, low_ns, high_ns, count } = bucket;
        if self.runs.last().is_none_or(|run| run.operation != operation) {
            self.runs.push(Run { operation, packed: Vec::new(), last_low_ns: 0 });
        }
        let Some(run) = self.runs.last_mut() else { return };
        pack(&mut run.packed, low_ns.wrapping_sub(run.last_low_ns));
        pack(&mut run.packed, high_ns.wrapping_sub(low_ns));
        pack(&mut run.packed, count);
        run.last_low_ns = low_ns;
    }

    /// Whether there are buckets of `operation`.
    pub(super) fn has(&self, operation: Operation) -> bool {
        self.runs.iter().any(|run| run.operation == operation)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Bucket> {
        self.runs.iter().flat_map(|run| {
            let (mut rest, mut low_ns) = (run.packed.as_slice(), 0_u64);
            std::iter::from_fn(move || {
                low_ns = low_ns.wrapping_add(unpack(&mut rest)?);
                let high_ns = low_ns.wrapping_add(unpack(&mut rest)?);
                Some(Bucket { operation: run.operation, low_ns, high_ns, count: unpack(&mut rest)? })
            })
        })
    }

    /// Replaces the outer edges of the buckets of one operation by its minimum and maximum. A minimum of zero and
    /// [`u64::MAX`] stand for ones that are not known.
    pub(super) fn bound(&mut self, operation: Operation, min: u64, max: u64) {
        let mut all: Vec<Bucket> = self.iter().collect();
        let mut buckets: Vec<&mut Bucket> =
            all.iter_mut().filter(|bucket| bucket.operation == operation && bucket.count > 0).collect();
        for bucket in &mut buckets {
            bucket.low_ns = bucket.low_ns.clamp(min.min(max), max);
            bucket.high_ns = bucket.high_ns.clamp(bucket.low_ns, max);
        }
        if let Some(first) = buckets.iter_mut().min_by_key(|bucket| bucket.low_ns).filter(|_| min > 0) {
            first.low_ns = min;
        }
        if let Some(last) = buckets.iter_mut().max_by_key(|bucket| bucket.high_ns).filter(|_| max < u64::MAX)
        {
            last.high_ns = max;
        }
        *self = all.into_iter().collect();
    }
}

impl Extend<Bucket> for Buckets {
    fn extend<I: IntoIterator<Item = Bucket>>(&mut self, buckets: I) {
        buckets.into_iter().for_each(|bucket| self.push(bucket));
    }
}

impl FromIterator<Bucket> for Buckets {
    fn from_iter<I: IntoIterator<Item = Bucket>>(buckets: I) -> Self {
        let mut all = Self::default();
        all.extend(buckets);
        all.runs.iter_mut().for_each(|run| run.packed.shrink_to_fit());
        all
    }
}

fn pack(packed: &mut Vec<u8>, mut number: u64) {
    let lowest = |number: u64| number.to_le_bytes()[0];
    while number > 0x7f {
        packed.push(lowest(number) | 0x80);
        number >>= 7;
    }
    packed.push(lowest(number));
}

fn unpack(packed: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = packed.split_first()?;
        *packed = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use plan::Operation;
    use proptest::prelude::*;

    use super::{Bucket, Buckets};

    proptest! {
        #[test]
        fn buckets_are_what_they_were(
            all in proptest::collection::vec((any::<bool>(), any::<u64>(), any::<u64>(), any::<u64>()), 0..20),
            small in proptest::collection::vec((0_u64..300, 0_u64..300, 0_u64..300), 0..20),
        ) {
            let operation = |is_read| if is_read { Operation::Read } else { Operation::Write };
            let all = all.into_iter().map(|(is_read, low_ns, high_ns, count)| Bucket {
                operation: operation(is_read), low_ns, high_ns, count
            });
            let small = small.into_iter().map(|(low_ns, high_ns, count)| Bucket {
                operation: Operation::Stat, low_ns, high_ns, count
            });
            let all: Vec<Bucket> = all.chain(small).collect();
            let packed: Buckets = all.iter().copied().collect();
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), all);
        }
    }
}
