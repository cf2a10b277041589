//! The sequence of a task's offsets, and its mixture of reads and writes.

use plan::{Permutation, RandomBlocks, Region, Steps};

/// Yields the offsets of a region pass by pass. Needs no list and, except in random order, no division.
#[derive(Debug, Clone, Copy)]
pub struct Offsets {
    random: Option<Permutation>,
    /// In random order: the bytes of a transfer. Otherwise: the distance to the next offset, which may
    /// be negative.
    step: u64,
    /// In random order: the next index and the end index. Otherwise: the next offset, and the number of
    /// transfers left in the stretch and in the group.
    next: u64,
    end: u64,
    left: u64,
    group_left: u64,
    /// Distance added after a group, in addition to the step.
    skip: u64,
    group: u64,
    /// In random order: the first index of a pass.
    first: u64,
    /// If blocks are visited in random order: the blocks, each of which is a group, and the number of
    /// the next one.
    blocks: Option<RandomBlocks>,
    draw: u64,
    /// Otherwise: the two stretches of a pass, and the number of the next one.
    stretches: [Steps; 2],
    stretch: u8,
    /// Number of passes begun after the first.
    pass: u64,
    /// The order of the first pass. If later passes have different orders, theirs are derived from it.
    order: Option<Permutation>,
}

impl Offsets {
    /// Creates the offsets of `region`. If the region is the `whole` of what the task may visit, each pass
    /// in random order has its own order. If it is only a part, every pass must visit the same part.
    #[must_use]
    pub fn new(region: &Region, whole: bool) -> Self {
        let nothing = Steps { first: 0, step: 0, skip: 0, group: 1, transfers: 0 };
        let mut offsets = Self {
            random: None,
            step: region.transfer().0,
            next: 0,
            end: 0,
            left: 0,
            group_left: 0,
            skip: 0,
            group: 1,
            first: 0,
            blocks: region.random_blocks(),
            draw: 0,
            stretches: region.steps().unwrap_or([nothing; 2]),
            stretch: 0,
            pass: 0,
            order: None,
        };
        if let Some((order, first)) = region.random() {
            (offsets.random, offsets.first, offsets.end) = (Some(order), first, first + region.transfers());
            offsets.order = Some(order).filter(|_| whole);
        }
        offsets.rewind();
        offsets
    }

    fn rewind(&mut self) {
        if self.random.is_some() {
            self.next = self.first;
        } else {
            self.set_out(0);
        }
    }

    /// Begins a stretch.
    fn set_out(&mut self, stretch: u8) {
        let steps = self.stretches[usize::from(stretch)];
        (self.next, self.left, self.stretch) = (steps.first, steps.transfers, stretch + 1);
        (self.step, self.skip) = (steps.step, steps.skip);
        (self.group, self.group_left) = (steps.group, steps.group);
        self.draw = 1;
    }

    /// Returns the start of the next group, after the last step of the current one.
    #[inline(always)]
    fn next_group(&mut self) -> u64 {
        let Some(blocks) = &self.blocks else { return self.next.wrapping_add(self.skip) };
        self.draw += 1;
        blocks.at(self.draw - 1)
    }

    /// Begins the next stretch or pass. A random order changes with each pass.
    #[cold]
    #[inline(never)]
    fn go_on(&mut self) {
        if self.stretch == 1 && self.stretches[1].transfers > 0 {
            return self.set_out(1);
        }
        self.pass += 1;
        if self.blocks.is_some() {
            // The last pass may have ended within a block.
            if self.group_left != self.group {
                self.next = self.next_group();
            }
            (self.left, self.group_left) = (self.stretches[0].transfers, self.group);
            return;
        }
        if let Some(order) = &self.order {
            self.random = Some(order.rekeyed(self.pass));
        }
        self.rewind();
    }

    /// Whether the next offset begins another pass or, if the region is strided, another round within a
    /// pass.
    #[inline(always)]
    pub(crate) fn at_end_of_stretch(&self) -> bool {
        if self.random.is_some() { self.next == self.end } else { self.left == 0 }
    }

    /// Returns the next offset in bytes.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        if self.at_end_of_stretch() {
            self.go_on();
        }
        let next = self.next;
        if let Some(order) = &self.random {
            self.next = next + 1;
            return order.at(next) * self.step;
        }
        self.left -= 1;
        self.next = next.wrapping_add(self.step);
        self.group_left -= 1;
        if self.group_left == 0 {
            self.group_left = self.group;
            self.next = self.next_group();
        }
        next
    }
}

/// Chooses reads and writes so that every hundred transfers contain exactly the share of reads, spread as
/// evenly as possible.
#[derive(Debug, Clone, Copy)]
pub struct Mixture {
    read_percent: u8,
    /// Always below 100. A transfer is a read if adding the read percentage makes this overflow.
    level: u8,
}

impl Mixture {
    /// Creates the mixture of `task`. Tasks start with different levels, so that they do not all write at
    /// the same time.
    #[must_use]
    pub fn new(read_percent: u8, task: u32) -> Self {
        // 37 is coprime to 100, so the first hundred tasks all start with different levels.
        Self { read_percent, level: (u64::from(task) * 37 % 100) as u8 }
    }

    /// Whether the next transfer is a write.
    #[inline(always)]
    pub fn next_writes(&mut self) -> bool {
        let level = self.level + self.read_percent;
        let reads = level >= 100;
        self.level = if reads { level - 100 } else { level };
        !reads
    }
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Geometry, Order, Phase, Placement, Sharing, WorkloadSpec};
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{Mixture, Offsets};

    proptest! {
        #[test]
        fn the_stream_is_the_region_pass_after_pass(
            tasks in 1_u32..5, per_block in 1_u64..6, segments in 1_u64..6, way in 0_usize..6, shared: bool, seed: u64,
            limit: Option<u8>,
        ) {
            let stride = seed % 7 + 1;
            let orders =
                [Order::Sequential, Order::Random { seed }, Order::Backward, Order::Same, Order::Strided { stride },
                 Order::RandomBlocks { seed, blocks: stride, own: true }];
            let (order, random) = (orders[way], way == 1);
            let per_block = if way == 4 && segments > 1 { 1 } else { per_block };
            let geometry = Geometry { transfer: Bytes(47_008), block: Bytes(47_008 * per_block), segments };
            let mut spec = WorkloadSpec::new("w", "f", geometry);
            spec.tasks = tasks;
            spec.files.sharing = if shared { Sharing::Shared } else { Sharing::PerTask };
            spec.order = order;
            spec.transfer_limit = limit.map(|limit| u64::from(limit) % (per_block * segments) + 1);
            let workload = spec.validate().expect("valid");
            let whole = workload.transfers_per_pass() == geometry.transfers_per_task();
            let mut passes: Vec<Vec<u64>> = vec![Vec::new(); 3];
            let blocks = way == 5;
            for task in 0..tasks {
                let region = Placement::new(&workload).region(task, Phase::Write, 0);
                let mut stream = Offsets::new(&region, whole);
                for (number, pass) in passes.iter_mut().enumerate() {
                    for index in 0..region.transfers() {
                        let begins = index == 0 && number > 0;
                        let strided = way == 4 && index > 0;
                        prop_assert!(stream.at_end_of_stretch() == begins || strided);
                        let offset = stream.next();
                        if let Some(blocks) = region.random_blocks() {
                            let groups = region.transfers().div_ceil(per_block);
                            let draw = number as u64 * groups + index / per_block;
                            prop_assert_eq!(offset, blocks.at(draw) + index % per_block * 47_008);
                        } else if number == 0 || !random {
                            prop_assert_eq!(offset, region.at(index));
                        }
                        pass.push(offset);
                    }
                }
            }
            // Where blocks are not drawn, every pass of all tasks together visits the same offsets.
            for pass in passes.iter_mut().filter(|_| !blocks) {
                pass.sort_unstable();
            }
            prop_assert!(blocks || (passes[0] == passes[1] && passes[0] == passes[2]));
        }

        #[test]
        fn any_hundred_transfers_hold_the_share(percent in 0_u8..=100, task: u32) {
            let mut mixture = Mixture::new(percent, task);
            let writes: Vec<bool> = (0..1_000).map(|_| mixture.next_writes()).collect();
            for window in writes.windows(100) {
                let reads = window.iter().filter(|&&writes| !writes).count();
                prop_assert_eq!(reads, usize::from(percent));
            }
        }
    }
}
