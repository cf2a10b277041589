//! Determines to which devices a transfer goes, according to the layout of its file.

use std::collections::BTreeSet;

use crate::model::{Layout, Model};
use crate::simulation::parts::drive::Piece;
use crate::simulation::parts::station::{READ, WRITE};

/// How the files of a layout are distributed over its devices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Striping {
    /// Number of devices of the group; for a local layout, on each node.
    devices: u32,
    /// Number of devices that store a file.
    stripe: u32,
    /// Number of bytes on one device before the next one follows.
    chunk: u64,
    copies: u32,
    parity: u32,
}

impl Striping {
    /// Creates the striping of `layout`, which must be one of `model`'s.
    pub(crate) fn new(model: &Model, layout: &Layout) -> Self {
        let devices = model.group(&layout.devices).map_or(1, |group| group.count);
        let (stripe, chunk) = layout.striping(devices);
        let chunk = chunk.map_or(u64::MAX, |chunk| chunk.0);
        Self { devices, stripe, chunk, copies: layout.copies, parity: layout.parity }
    }

    /// The pieces of a transfer of `bytes` at `offset` of file number `file`, each with its device.
    pub(crate) fn pieces(
        &self,
        file: u64,
        offset: u64,
        bytes: u64,
        direction: usize,
        pieces: &mut Vec<(u32, Piece)>,
    ) {
        pieces.clear();
        let (stripe, devices) = (u64::from(self.stripe), u64::from(self.devices));
        let data = stripe - u64::from(self.parity);
        // Files use one group of devices after another. When the groups repeat, each begins at the next
        // device.
        let taken = file.wrapping_mul(stripe);
        let (first, begins_at) = (taken % devices, taken / devices);
        let device = |place: u64| narrow((first + (place + begins_at) % stripe) % devices);
        let chunk = self.chunk;
        let (begin, end) = (offset / chunk, (offset + bytes.max(1) - 1) / chunk);
        if begin == end && self.parity == 0 && self.copies == 1 {
            let place = (file, begin / data * chunk.min(1 << 40) + offset % chunk);
            return pieces.push((device(begin % data), Piece::new(direction, bytes, place, false)));
        }
        if self.parity == 0 && self.copies == 1 {
            return self.spread(file, (offset, bytes), direction, pieces);
        }
        let stripe_bytes = chunk.saturating_mul(data);
        let whole_stripes = offset.is_multiple_of(stripe_bytes) && bytes.is_multiple_of(stripe_bytes);
        let modifies = self.parity > 0 && direction == WRITE && !whole_stripes;
        for number in begin..=end {
            let (row, column) = (number / data, number % data);
            let (from, until) = (offset.max(number * chunk), (offset + bytes).min((number + 1) * chunk));
            let piece = Piece::new(direction, until - from, (file, row * chunk + from % chunk), modifies);
            // The parity moves from row to row, so that all devices store a part of it.
            let turn = if self.parity > 0 { row } else { 0 };
            let device = |place: u64| device(place + turn);
            match direction {
                READ => {
                    let copy = if self.copies > 1 { (row + column) % u64::from(self.copies) } else { 0 };
                    self.add(pieces, narrow((u64::from(device(column)) + copy) % devices), piece);
                }
                _ => {
                    for copy in 0..u64::from(self.copies) {
                        self.add(pieces, narrow((u64::from(device(column)) + copy) % devices), piece);
                    }
                    // For a full row it is written once, with the last chunk.
                    if self.parity > 0 && (modifies || column + 1 == data) {
                        for parity in 0..u64::from(self.parity) {
                            self.add(pieces, device(data + parity), piece);
                        }
                    }
                }
            }
        }
    }

    /// The pieces of several chunks without parity or copies: one for each device, with all of its chunks.
    fn spread(
        &self,
        file: u64,
        (offset, bytes): (u64, u64),
        direction: usize,
        pieces: &mut Vec<(u32, Piece)>,
    ) {
        let (stripe, devices, chunk) = (u64::from(self.stripe), u64::from(self.devices), self.chunk);
        let (first, begins_at) = (file.wrapping_mul(stripe) % devices, file.wrapping_mul(stripe) / devices);
        let (number, end) = (offset / chunk, offset + bytes);
        let (mut row, mut column) = (number / stripe, number % stripe);
        let mut turn = (column + begins_at) % stripe;
        let (mut from, mut chunk_at, mut longer) = (offset, number * chunk, 0);
        while from < end {
            let until = chunk_at.saturating_add(chunk).min(end);
            if pieces.len() < self.stripe as usize {
                let device = first + turn;
                let device = if device < devices { device } else { device - devices };
                let place = (file, row * chunk + (from - chunk_at));
                pieces.push((narrow(device), Piece::new(direction, until - from, place, false)));
                turn = if turn + 1 < stripe { turn + 1 } else { 0 };
                (row, column) = if column + 1 < stripe { (row, column + 1) } else { (row + 1, 0) };
            } else {
                pieces[longer].1.bytes += until - from;
                longer = if longer + 1 < pieces.len() { longer + 1 } else { 0 };
            }
            (from, chunk_at) = (until, until);
        }
    }

    /// The most pieces that a transfer has.
    pub(crate) fn pieces_at_most(&self) -> u64 {
        u64::from(self.stripe) * u64::from(self.copies)
    }

    /// Number of bytes after which a page cache that gathers at least `least` of them writes: without parity, as many;
    /// with parity, whole stripes.
    pub(crate) fn gathered(&self, least: u64) -> u64 {
        let data = u64::from(self.stripe) - u64::from(self.parity);
        match self.parity {
            0 => least,
            _ => least.next_multiple_of(self.chunk.saturating_mul(data).min(1 << 40)),
        }
    }

    /// The bytes of a file after which it is on the same devices again, at the same places of its stripes; 1 if all of it
    /// is on one device.
    pub(crate) fn cycle(&self) -> u64 {
        if self.stripe == 1 && self.copies == 1 {
            return 1;
        }
        let row = self.chunk.saturating_mul(u64::from(self.stripe) - u64::from(self.parity));
        // The parity and the copies that are read move from row to row.
        let rows = if self.parity > 0 { u64::from(self.stripe) } else { u64::from(self.copies) };
        row.saturating_mul(rows)
    }

    /// The first of the devices that store file number `file`, or 0 if these are all devices.
    pub(crate) fn first_device_of_part(&self, file: u64) -> u32 {
        let devices = u64::from(self.devices.max(1));
        if self.stripe >= self.devices {
            0
        } else {
            narrow(file.wrapping_mul(u64::from(self.stripe)) % devices)
        }
    }

    /// Adds `piece`, or extends the piece that the device already has.
    fn add(&self, pieces: &mut Vec<(u32, Piece)>, device: u32, piece: Piece) {
        match pieces.iter_mut().find(|(there, _)| *there == device) {
            Some((_, longer)) => longer.bytes += piece.bytes,
            None => pieces.push((device, piece)),
        }
    }

    /// Bytes that the devices move for each byte of a write or a read, in transfers of `bytes`.
    pub(crate) fn amplification(&self, direction: usize, bytes: u64) -> f64 {
        let mut pieces = Vec::new();
        self.pieces(0, 0, bytes, direction, &mut pieces);
        let moved: u64 = pieces.iter().map(|(_, piece)| piece.bytes * (1 + u64::from(piece.modifies))).sum();
        moved as f64 / bytes.max(1) as f64
    }

    /// The devices that store the first `files` files.
    pub(crate) fn devices_of(&self, files: u64) -> BTreeSet<u32> {
        let devices = u64::from(self.devices);
        let each = u64::from(self.stripe).saturating_mul(u64::from(self.copies)).min(devices);
        // Files begin at multiples of the stripe, so all positions have occurred after as many files as
        // there are devices.
        let mut found = BTreeSet::new();
        for file in 0..files.min(devices) {
            if found.len() as u64 == devices {
                break;
            }
            let first = file * u64::from(self.stripe);
            found.extend((0..each).map(|place| narrow((first + place) % devices)));
        }
        found
    }

    /// Number of devices that store a file, without its copies.
    pub(crate) fn devices_of_file(&self) -> u32 {
        self.stripe
    }

    /// Maximum size of a file on devices of `size` bytes.
    pub(crate) fn file_capacity(&self, size: u64) -> u64 {
        // Copies of a chunk are on the devices that follow it. If the file is on all devices, these store
        // the file as well.
        let shared = (u64::from(self.stripe) * u64::from(self.copies)).div_ceil(u64::from(self.devices));
        size / shared.max(1) * u64::from(self.stripe - self.parity)
    }

    /// Number of the first `files` files that have a part on the device with most of them.
    pub(crate) fn files_of_fullest_device(&self, files: u64) -> u64 {
        let places = u128::from(files) * u128::from(self.stripe) * u128::from(self.copies);
        u64::try_from(places.div_ceil(u128::from(self.devices))).unwrap_or(u64::MAX).min(files)
    }

    /// Number of bytes of data that fit on all devices of `size` bytes.
    pub(crate) fn capacity(&self, size: u64) -> u64 {
        let data = u128::from(size) * u128::from(self.devices) * u128::from(self.stripe - self.parity);
        let all = u128::from(self.stripe) * u128::from(self.copies);
        u64::try_from(data / all.max(1)).unwrap_or(u64::MAX)
    }
}

/// Converts a device number, which is below the number of devices.
fn narrow(device: u64) -> u32 {
    u32::try_from(device).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::Striping;
    use crate::simulation::parts::station::{READ, WRITE};

    proptest! {
        #[test]
        fn all_bytes_go_to_devices_of_the_file(
            devices in 1_u32..20, stripe in 1_u32..20, parity in 0_u32..4, copies in 1_u32..3,
            chunk in 1_u64..5, file in 0_u64..9, offset in 0_u64..40, bytes in 1_u64..60,
        ) {
            let stripe = stripe.min(devices);
            let parity = parity.min(stripe - 1);
            let copies = if parity > 0 { 1 } else { copies.min(devices) };
            let striping = Striping { devices, stripe, chunk, copies, parity };
            let mut pieces = Vec::new();
            striping.pieces(file, offset, bytes, READ, &mut pieces);
            // One transfer is as many of single bytes.
            let mut single = BTreeMap::new();
            for at in offset..offset + bytes {
                let mut piece = Vec::new();
                striping.pieces(file, at, 1, READ, &mut piece);
                let (device, piece) = piece[0];
                let (place, count) = single.entry(device).or_insert((piece.place, 0));
                (*place, *count) = ((*place).min(piece.place), *count + 1);
            }
            let together: BTreeMap<_, _> =
                pieces.iter().map(|(device, piece)| (*device, (piece.place, piece.bytes))).collect();
            // Of copies, another one is read in each row.
            if copies == 1 && parity == 0 {
                prop_assert_eq!(together, single);
            }
            prop_assert_eq!(pieces.iter().map(|(_, piece)| piece.bytes).sum::<u64>(), bytes);
            prop_assert!(pieces.iter().all(|(device, _)| *device < devices));
            striping.pieces(file, offset, bytes, WRITE, &mut pieces);
            let written: u64 = pieces.iter().map(|(_, piece)| piece.bytes).sum();
            prop_assert!(written >= bytes * u64::from(copies));
            prop_assert!(parity > 0 || written == bytes * u64::from(copies));
        }
    }

    #[test]
    fn a_full_stripe_writes_its_parity_once_and_a_part_of_it_reads_first() {
        let raid = Striping { devices: 10, stripe: 10, chunk: 64 << 10, copies: 1, parity: 2 };
        assert!((raid.amplification(WRITE, 512 << 10) - 1.25).abs() < 1e-12);
        // One chunk and two of parity, each read and written.
        assert!((raid.amplification(WRITE, 4096) - 6.0).abs() < 1e-12);
        assert!((raid.amplification(READ, 4096) - 1.0).abs() < 1e-12);
    }
}
