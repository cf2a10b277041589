//! The part of a file that belongs to one task, and the order in which it is visited.

use crate::placement::geometry::mix;
use crate::{Bytes, Geometry, Permutation};

/// The part of a file that belongs to one task: the offsets of its transfers.
///
/// `at` maps the number of a transfer to its offset and costs a few instructions, so that no
/// list of offsets is ever built.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    part: TransferRegion,
    way: VisitOrder,
    /// Number of transfers in one pass.
    transfers: u64,
}

/// The location of a task's transfers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TransferRegion {
    pub(crate) geometry: Geometry,
    /// Distance between a task's blocks of consecutive segments.
    pub(crate) segment_stride: u64,
    /// Where the task's block starts within a segment.
    pub(crate) block_start: u64,
}

/// The order in which transfers are visited.
#[derive(Debug, Clone, Copy)]
pub(crate) enum VisitOrder {
    Forward,
    Backward,
    Strided {
        stride: u64,
    },
    Same,
    /// The permutation of all transfers of the file, and the task's first index in it.
    Random {
        order: Permutation,
        first: u64,
    },
    Blocks(RandomBlocks),
}

/// Blocks of a file in random order, drawn with replacement; a later pass continues the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomBlocks {
    pub(crate) seed: u64,
    /// Whole blocks in the file.
    pub(crate) blocks: u64,
    /// Bytes of a block.
    pub(crate) bytes: u64,
}

impl RandomBlocks {
    /// The offset in bytes of the block at index `draw` of the sequence.
    ///
    /// Source: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), scaled
    /// to the number of blocks as by Lemire ("Fast random integer generation in an interval", TOMACS 2019).
    #[inline]
    #[must_use]
    pub fn at(&self, draw: u64) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let drawn = mix(self.seed.wrapping_add((draw.wrapping_add(1)).wrapping_mul(STEP)));
        let block = (u128::from(drawn) * u128::from(self.blocks)) >> 64;
        u64::try_from(block).unwrap_or(0) * self.bytes
    }
}

/// Equal steps from offset to offset, so that a hot loop needs no division. All additions wrap: a backward step is a
/// large number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The first offset.
    pub first: u64,
    /// Added after each transfer.
    pub step: u64,
    /// Added in addition after each group of `group` transfers.
    pub skip: u64,
    /// Number of transfers in a group.
    pub group: u64,
    /// Total number of transfers.
    pub transfers: u64,
}

impl TransferRegion {
    /// The offset of transfer number `position` in ascending order.
    #[inline]
    fn at(&self, position: u64) -> u64 {
        let per_block = self.geometry.transfers_per_block();
        let (segment, within) = (position / per_block, position % per_block);
        segment * self.segment_stride + self.block_start + within * self.geometry.transfer.0
    }

    /// Distance between consecutive positions if all are equally spaced: transfers of one block, or blocks of one
    /// transfer. [`crate::WorkloadSpec::validate`] only allows strides in these cases.
    fn distance(&self) -> u64 {
        if self.geometry.transfers_per_block() == 1 { self.segment_stride } else { self.geometry.transfer.0 }
    }
}

/// The position of a strided walk over `all` positions at visit `index`.
///
/// Lap `n` visits the positions `n`, `n + stride`, `n + 2 stride` and so on. If the stride does not divide the number
/// of positions, the first laps are longer by one visit.
fn strided(index: u64, stride: u64, all: u64) -> u64 {
    let (short, longer_laps) = (all / stride, all % stride);
    let in_longer = longer_laps * (short + 1);
    if index < in_longer {
        let (lap, visit) = (index / (short + 1), index % (short + 1));
        return lap + visit * stride;
    }
    let (lap, visit) = ((index - in_longer) / short, (index - in_longer) % short);
    longer_laps + lap + visit * stride
}

impl Region {
    pub(crate) const fn new(part: TransferRegion, way: VisitOrder, transfers: u64) -> Self {
        Self { part, way, transfers }
    }

    /// Number of transfers in one pass, which [`crate::WorkloadSpec::transfer_limit`] may limit.
    #[inline]
    #[must_use]
    pub fn transfers(&self) -> u64 {
        self.transfers
    }

    /// Bytes of one transfer.
    #[inline]
    #[must_use]
    pub fn transfer(&self) -> Bytes {
        self.part.geometry.transfer
    }

    /// The offset in bytes of transfer `index`, which must be below [`Region::transfers`].
    #[inline]
    #[must_use]
    pub fn at(&self, index: u64) -> u64 {
        let all = self.part.geometry.transfers_per_task();
        match &self.way {
            VisitOrder::Random { order, first } => order.at(first + index) * self.transfer().0,
            VisitOrder::Forward => self.part.at(index),
            // Starts at the end of the task's whole part, even if a limit shortens the pass.
            VisitOrder::Backward => self.part.at(all - 1 - index),
            VisitOrder::Strided { stride } => self.part.at(strided(index, *stride, all)),
            VisitOrder::Same => self.part.at(0),
            VisitOrder::Blocks(blocks) => {
                let per_block = self.part.geometry.transfers_per_block();
                blocks.at(index / per_block) + index % per_block * self.transfer().0
            }
        }
    }

    /// Any order except a random one as equal steps, in two sections. For random blocks, these are the steps within
    /// the first section, in which each group is a block. The second section is empty except for strides that do not
    /// divide the part, whose last laps are shorter.
    #[must_use]
    pub fn steps(&self) -> Option<[Steps; 2]> {
        let TransferRegion { geometry, segment_stride, .. } = self.part;
        let (transfer, per_block) = (geometry.transfer.0, geometry.transfers_per_block());
        let gap = segment_stride.wrapping_sub(geometry.block.0);
        let first = self.at(0);
        let one = |step: u64, skip: u64, group: u64| {
            let steps = Steps { first, step, skip, group, transfers: self.transfers };
            Some([steps, Steps { transfers: 0, ..steps }])
        };
        match self.way {
            VisitOrder::Random { .. } => None,
            VisitOrder::Forward => one(transfer, gap, per_block),
            VisitOrder::Backward => one(transfer.wrapping_neg(), gap.wrapping_neg(), per_block),
            VisitOrder::Same => one(0, 0, u64::MAX),
            VisitOrder::Blocks(_) => one(transfer, 0, per_block),
            VisitOrder::Strided { stride } => Some(self.laps(stride)),
        }
    }

    fn laps(&self, stride: u64) -> [Steps; 2] {
        let (all, distance) = (self.part.geometry.transfers_per_task(), self.part.distance());
        let (short, longer_laps) = (all / stride, all % stride);
        // Back from the end of a lap to the start of the next one.
        let lap = |first: u64, visits: u64, transfers: u64| Steps {
            first: self.part.block_start + first * distance,
            step: stride.wrapping_mul(distance),
            skip: distance.wrapping_sub(visits.wrapping_mul(stride).wrapping_mul(distance)),
            group: visits.max(1),
            transfers,
        };
        let in_longer = longer_laps * (short + 1);
        let longer = lap(0, short + 1, in_longer.min(self.transfers));
        let rest = lap(longer_laps, short, self.transfers.saturating_sub(in_longer));
        if in_longer == 0 { [rest, Steps { transfers: 0, ..rest }] } else { [longer, rest] }
    }

    /// The random blocks, if the order is [`RandomBlocks`].
    #[inline]
    #[must_use]
    pub fn random_blocks(&self) -> Option<RandomBlocks> {
        match self.way {
            VisitOrder::Blocks(blocks) => Some(blocks),
            _ => None,
        }
    }

    /// The random order, if it is one: the permutation and the task's first index in it.
    #[inline]
    #[must_use]
    pub fn random(&self) -> Option<(Permutation, u64)> {
        match self.way {
            VisitOrder::Random { order, first } => Some((order, first)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Region, Steps};
    use crate::{Bytes, Geometry, Order, Phase, Placement, Sharing, WorkloadSpec};

    fn region(order: Order, tasks: u32, per_block: u64, segments: u64, shared: bool) -> Vec<Region> {
        let geometry = Geometry { transfer: Bytes(512), block: Bytes(512 * per_block), segments };
        let mut spec = WorkloadSpec::new("w", "dir/file", geometry);
        (spec.tasks, spec.order) = (tasks, order);
        spec.files.sharing = if shared { Sharing::Shared } else { Sharing::PerTask };
        let workload = spec.validate().expect("valid");
        (0..tasks).map(|task| Placement::new(&workload).region(task, Phase::Write, 0)).collect()
    }

    #[test]
    fn random_blocks_come_from_the_whole_file_and_are_read_in_order() {
        let geometry = Geometry { transfer: Bytes(512), block: Bytes(1024), segments: 500 };
        let mut spec = WorkloadSpec::new("w", "dir/file", geometry);
        for own in [true, false] {
            (spec.tasks, spec.order) = (2, Order::RandomBlocks { seed: 7, blocks: 10, own });
            let workload = spec.clone().validate().expect("valid");
            let placement = Placement::new(&workload);
            assert_eq!(placement.file_bytes(), Bytes(10 * 1024), "of the file, not of what is read");
            let [one, other] = [0, 1].map(|task| offsets(&placement.region(task, Phase::Read, 0)));
            assert_eq!(one == other, !own);
            assert!(one.chunks(2).all(|block| block[0] % 1024 == 0 && block[1] == block[0] + 512));
            let distinct: BTreeSet<u64> = one.iter().copied().collect();
            assert_eq!((one.len(), distinct.len(), one.iter().max()), (1000, 20, Some(&(10 * 1024 - 512))));
        }
        spec.order = Order::RandomBlocks { seed: 7, blocks: 0, own: true };
        assert_eq!(spec.validate().expect_err("no block").field, "block");
    }

    fn offsets(region: &Region) -> Vec<u64> {
        (0..region.transfers()).map(|index| region.at(index)).collect()
    }

    fn walked(region: &Region) -> Vec<u64> {
        let walk = |steps: Steps| {
            let mut next = steps.first;
            (1..=steps.transfers).map(move |count| {
                let here = next;
                next = next.wrapping_add(steps.step);
                if count % steps.group == 0 {
                    next = next.wrapping_add(steps.skip);
                }
                here
            })
        };
        region.steps().expect("not random").into_iter().flat_map(walk).collect()
    }

    proptest! {
        #[test]
        fn backward_is_forward_from_its_end(
            tasks in 1_u32..5, per_block in 1_u64..9, segments in 1_u64..6, shared: bool,
        ) {
            let forward = region(Order::Sequential, tasks, per_block, segments, shared);
            let backward = region(Order::Backward, tasks, per_block, segments, shared);
            for (forward, backward) in forward.iter().zip(&backward) {
                let mut reversed = offsets(backward);
                prop_assert_eq!(walked(backward), reversed.clone());
                reversed.reverse();
                prop_assert_eq!(offsets(forward), reversed);
                prop_assert_eq!(walked(forward), offsets(forward));
            }
        }

        #[test]
        fn strides_visit_each_transfer_once_lap_by_lap(
            tasks in 1_u32..5, count in 1_u64..80, stride in 1_u64..40, blocks: bool, shared: bool,
        ) {
            let (per_block, segments) = if blocks { (1, count) } else { (count, 1) };
            let forward = region(Order::Sequential, tasks, per_block, segments, shared);
            let strided = region(Order::Strided { stride }, tasks, per_block, segments, shared);
            for (forward, strided) in forward.iter().zip(&strided) {
                let rising = offsets(forward);
                let expected: Vec<u64> = (0..stride)
                    .flat_map(|lap| (lap..count).step_by(usize::try_from(stride).expect("small")))
                    .map(|position| rising[usize::try_from(position).expect("small")])
                    .collect();
                prop_assert_eq!(&expected, &offsets(strided));
                prop_assert_eq!(&expected, &walked(strided));
                prop_assert_eq!(expected.iter().collect::<BTreeSet<_>>().len() as u64, count);
            }
        }

        #[test]
        fn the_same_place_is_each_task_s_first(
            tasks in 1_u32..5, per_block in 1_u64..9, segments in 1_u64..6, shared: bool,
        ) {
            let forward = region(Order::Sequential, tasks, per_block, segments, shared);
            let same = region(Order::Same, tasks, per_block, segments, shared);
            for (forward, same) in forward.iter().zip(&same) {
                prop_assert_eq!(offsets(same), vec![forward.at(0); offsets(forward).len()]);
                prop_assert_eq!(walked(same), offsets(same));
            }
        }

        #[test]
        fn a_limit_cuts_every_order_short_and_changes_no_visit(
            count in 2_u64..60, stride in 1_u64..20, limit in 1_u64..60,
        ) {
            let limit = limit.min(count);
            for order in [Order::Sequential, Order::Backward, Order::Strided { stride }, Order::Same] {
                let whole = region(order, 1, count, 1, true).remove(0);
                let cut = Region { transfers: limit, ..whole };
                let expected: Vec<u64> = (0..limit).map(|index| whole.at(index)).collect();
                prop_assert_eq!(&expected, &walked(&cut));
            }
        }
    }

    #[test]
    fn four_transfers_in_strides_of_seventeen_are_a_lap_each() {
        let strided = region(Order::Strided { stride: 17 }, 1, 4, 1, true).remove(0);
        assert_eq!(offsets(&strided), [0, 512, 1024, 1536]);
    }

    #[test]
    fn a_fill_for_one_place_writes_all_of_the_file() {
        let geometry = Geometry { transfer: Bytes(512), block: Bytes(2048), segments: 1 };
        let mut spec = WorkloadSpec::new("w", "dir/file", geometry);
        spec.order = Order::Same;
        let workload = spec.validate().expect("valid");
        let fill = Placement::new(&workload).region(0, Phase::Fill, 0);
        assert_eq!(offsets(&fill), [0, 512, 1024, 1536]);
    }
}
