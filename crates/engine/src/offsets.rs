//! The stream of a task's offsets, and which of its transfers read.

use plan::{Permutation, Region};

/// Yields a region's offsets pass after pass, without a list and, in sequential order, without a
/// division.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offsets {
    random: Option<Permutation>,
    transfer: u64,
    /// Random order: the next index and the one after the last. Sequential order: the next offset,
    /// and the number of blocks and transfers left.
    next: u64,
    end: u64,
    left: u64,
    block_left: u64,
    /// Sequential order: from the end of a block to the start of the next.
    skip: u64,
    /// What a pass begins with.
    first: u64,
    per_pass: u64,
    per_block: u64,
    /// How many passes have begun beyond the first.
    pass: u64,
    /// The order of the first pass, from which those of later passes are made, if they differ.
    order: Option<Permutation>,
}

impl Offsets {
    /// The stream of `region`. Where that is the `whole` of what the task could visit, each pass in
    /// random order has an order of its own; a part of it must be the same part in every pass.
    pub(crate) fn new(region: &Region, whole: bool) -> Self {
        let transfer = region.transfer().0;
        let per_pass = region.transfers();
        let mut offsets = Self {
            random: None,
            transfer,
            next: 0,
            end: 0,
            left: 0,
            block_left: 0,
            skip: 0,
            first: 0,
            per_pass,
            per_block: 1,
            pass: 0,
            order: None,
        };
        if let Some((order, first)) = region.random() {
            (offsets.random, offsets.first, offsets.end) = (Some(order), first, first + per_pass);
            offsets.order = Some(order).filter(|_| whole);
        } else if let Some((stride, start, per_block)) = region.steps() {
            (offsets.first, offsets.per_block) = (start, per_block);
            offsets.skip = stride.wrapping_sub(per_block * transfer);
        }
        offsets.rewind();
        offsets
    }

    fn rewind(&mut self) {
        self.next = self.first;
        self.left = self.per_pass;
        self.block_left = self.per_block;
    }

    /// Begins another pass, in another order where the order is random.
    #[cold]
    #[inline(never)]
    fn next_pass(&mut self) {
        self.pass += 1;
        if let Some(order) = &self.order {
            self.random = Some(order.rekeyed(self.pass));
        }
        self.rewind();
    }

    /// Whether the next offset begins a pass beyond the first.
    #[inline(always)]
    pub(crate) fn at_end_of_pass(&self) -> bool {
        if self.random.is_some() { self.next == self.end } else { self.left == 0 }
    }

    /// The next offset.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        if self.at_end_of_pass() {
            self.next_pass();
        }
        let next = self.next;
        if let Some(order) = &self.random {
            self.next = next + 1;
            return order.at(next) * self.transfer;
        }
        self.left -= 1;
        self.next = next + self.transfer;
        self.block_left -= 1;
        if self.block_left == 0 {
            self.block_left = self.per_block;
            self.next = self.next.wrapping_add(self.skip);
        }
        next
    }
}

/// Chooses reads and writes so that each hundred transfers holds exactly the share of reads, as
/// evenly spread as it can be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mixture {
    read_percent: u8,
    /// Below 100; a transfer reads when adding the share carries over.
    level: u8,
}

impl Mixture {
    /// The mixture of `task`. Tasks begin at different places, so that they do not all write at
    /// the same moment.
    pub(crate) fn new(read_percent: u8, task: u32) -> Self {
        // 37 has no divisor in common with 100: the first hundred tasks all begin elsewhere.
        Self { read_percent, level: (u64::from(task) * 37 % 100) as u8 }
    }

    /// Whether the next transfer writes.
    #[inline(always)]
    pub(crate) fn next_writes(&mut self) -> bool {
        let level = self.level + self.read_percent;
        let reads = level >= 100;
        self.level = if reads { level - 100 } else { level };
        !reads
    }
}

#[cfg(test)]
mod tests {
    use plan::{Bytes, Geometry, Order, Phase, Placement, Sharing, WorkloadSpec};
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{Mixture, Offsets};

    proptest! {
        #[test]
        fn the_stream_is_the_region_pass_after_pass(
            tasks in 1_u32..5, per_block in 1_u64..6, segments in 1_u64..6, random: bool, shared: bool, seed: u64, limit: Option<u8>,
        ) {
            let geometry = Geometry { transfer: Bytes(47_008), block: Bytes(47_008 * per_block), segments };
            let mut spec = WorkloadSpec::new("w", "f", geometry);
            spec.tasks = tasks;
            spec.files.sharing = if shared { Sharing::Shared } else { Sharing::PerTask };
            spec.order = if random { Order::Random { seed } } else { Order::Sequential };
            spec.transfer_limit = limit.map(|limit| u64::from(limit) % (per_block * segments) + 1);
            let workload = spec.validate().expect("valid");
            let whole = workload.transfers_per_pass() == geometry.transfers_per_task();
            let mut passes: Vec<Vec<u64>> = vec![Vec::new(); 3];
            for task in 0..tasks {
                let region = Placement::new(&workload).region(task, Phase::Write, 0);
                let mut stream = Offsets::new(&region, whole);
                for (number, pass) in passes.iter_mut().enumerate() {
                    for index in 0..region.transfers() {
                        prop_assert_eq!(stream.at_end_of_pass(), index == 0 && number > 0);
                        let offset = stream.next();
                        if number == 0 || !random {
                            prop_assert_eq!(offset, region.at(index));
                        }
                        pass.push(offset);
                    }
                }
            }
            // Whatever the order, every pass of all tasks together visits the same offsets.
            for pass in &mut passes {
                pass.sort_unstable();
            }
            prop_assert_eq!(&passes[0], &passes[1]);
            prop_assert_eq!(&passes[0], &passes[2]);
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
