//! The bytes of small files: stamped before they are written, compared after they were read.

use crate::check::{Expected, Findings, check};
use crate::stamp::{CELL, Ink, Pen};

/// A file of more bytes is written and read in several calls.
const CHUNK: usize = 1 << 20;

/// What files are written with.
#[derive(Debug)]
pub(crate) struct Inks {
    /// Bytes of a file.
    bytes: u64,
    /// For whole chunks, where there is one.
    body: Option<Ink>,
    /// For what is left of a file behind them.
    tail: Option<Ink>,
    tail_bytes: usize,
}

/// Bytes of the buffer for files of `bytes`.
pub(crate) fn buffer_bytes(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(CHUNK).min(CHUNK)
}

impl Inks {
    /// For files of `bytes`.
    pub(crate) fn new(signature: u64, generation: u16, bytes: u64) -> Self {
        let tail_bytes = usize::try_from(bytes % CHUNK as u64).unwrap_or(0);
        let ink = |length: usize| Ink::new(signature, generation, length);
        Self {
            bytes,
            body: (bytes >= CHUNK as u64).then(|| ink(CHUNK)),
            tail: (tail_bytes > 0).then(|| ink(tail_bytes)),
            tail_bytes,
        }
    }

    /// Bytes of a file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Buffers with pens, in which the chunks of one file after the other are made, or read.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Whole chunks, and what is read.
    body: (Vec<u8>, Pen),
    tail: (Vec<u8>, Pen),
}

impl Desk {
    /// For files that are written with `inks`.
    pub(crate) fn for_writing(inks: &Inks) -> Self {
        let sheet = |ink: &Option<Ink>, bytes: usize| match ink {
            Some(ink) => {
                let mut buffer = vec![0; bytes];
                let pen = ink.pen(&mut buffer, 0);
                (buffer, pen)
            }
            None => (Vec::new(), Pen::default()),
        };
        Self { body: sheet(&inks.body, CHUNK), tail: sheet(&inks.tail, inks.tail_bytes) }
    }

    /// For files of which `bytes` are read.
    pub(crate) fn for_reading(bytes: u64) -> Self {
        let mut buffer = vec![0; buffer_bytes(bytes)];
        crate::buffer::touch(&mut buffer);
        Self { body: (buffer, Pen::default()), tail: (Vec::new(), Pen::default()) }
    }

    /// The bytes of `file` from `offset` on, which is a multiple of a chunk below its end.
    #[inline(always)]
    pub(crate) fn chunk(&mut self, inks: &Inks, file: u32, offset: u64) -> &[u8] {
        let is_tail = inks.bytes - offset < CHUNK as u64;
        let (ink, (buffer, pen)) =
            if is_tail { (&inks.tail, &mut self.tail) } else { (&inks.body, &mut self.body) };
        if let Some(ink) = ink {
            pen.turn_to(ink, buffer, file);
            // Each file begins elsewhere in the noise, so that no two have much in common.
            pen.place_from(ink, buffer, u64::from(file), offset);
        }
        buffer
    }

    /// The bytes of a file from `offset` on, which [`Desk::chunk`] has made ready.
    pub(crate) fn made(&self, inks: &Inks, offset: u64) -> &[u8] {
        if inks.bytes - offset < CHUNK as u64 { &self.tail.0 } else { &self.body.0 }
    }

    /// Room for what is read.
    pub(crate) fn room(&mut self, bytes: u64) -> &mut [u8] {
        let length = buffer_bytes(bytes).min(self.body.0.len());
        &mut self.body.0[..length]
    }

    /// Compares the first `read` bytes of the buffer with those of a file from `offset` on. Where the file
    /// goes on behind them, a cell that was cut is left out.
    pub(crate) fn check(
        &self,
        read: usize,
        offset: u64,
        goes_on: bool,
        task: u32,
        expected: &Expected<'_>,
        findings: &mut Findings,
    ) {
        let length = if goes_on { read - read % CELL } else { read };
        if length > 0 {
            check(&self.body.0[..length], offset, task, expected, findings);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{CHUNK, Desk, Inks};
    use crate::check::{Expected, Findings, NoiseTable};

    proptest! {
        #[test]
        fn what_a_desk_writes_is_right_in_its_file_and_wrong_in_any_other(
            bytes in 1_u64..2000, chunks in 0_u64..3, files in proptest::collection::vec(0_u32..1000, 1..4),
        ) {
            let bytes = bytes + chunks * CHUNK as u64;
            let inks = Inks::new(7, 1, bytes);
            let table = NoiseTable::new(7);
            let mut desk = Desk::for_writing(&inks);
            let mut reader = Desk::for_reading(bytes);
            for file in files {
                for (asked, wrong) in [(file, false), (file + 1, true)] {
                    let mut findings = Findings::default();
                    let mut offset = 0;
                    while offset < bytes {
                        let chunk = desk.chunk(&inks, file, offset);
                        let length = chunk.len();
                        reader.room(bytes)[..length].copy_from_slice(chunk);
                        let expected = Expected { table: &table, file: asked, generations: Some((1, 1)) };
                        reader.check(length, offset, false, 0, &expected, &mut findings);
                        offset += length as u64;
                    }
                    // Cells that are too short for a stamp say nothing of their file.
                    let short = u64::from(!bytes.is_multiple_of(512) && bytes % 512 < 32);
                    let all = bytes.div_ceil(512);
                    prop_assert_eq!(findings.checked_cells, all);
                    prop_assert_eq!(findings.wrong_cells, if wrong { all - short } else { 0 });
                }
            }
        }
    }
}
