//! The data of small files: stamped before writing, checked after reading.

use std::ops::{Deref, DerefMut};

use crate::data::buffer::{PAGE, touch};
use crate::data::check::{CheckResults, Expected, check};
use crate::data::stamp::{BufferUse, CELL, DataPattern, PatternWriter};

/// Size of the parts in which larger files are written and read.
const CHUNK: usize = 1 << 20;

/// The data patterns of files.
#[derive(Debug)]
pub(crate) struct DataPatterns {
    /// Size of a file in bytes.
    bytes: u64,
    /// The pattern for whole chunks, if there are any.
    body: Option<DataPattern>,
    /// The pattern for the rest of a file after the whole chunks.
    tail: Option<DataPattern>,
    tail_bytes: usize,
}

/// Size in bytes of the buffer for files of `bytes`.
pub(crate) fn buffer_bytes(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(CHUNK).min(CHUNK)
}

impl DataPatterns {
    /// Creates the patterns for files of `bytes`.
    pub(crate) fn new(signature: u64, generation: u16, bytes: u64) -> Self {
        let tail_bytes = usize::try_from(bytes % CHUNK as u64).unwrap_or(0);
        let pattern = |length: usize| DataPattern::new(signature, generation, length, BufferUse::Request);
        Self {
            bytes,
            body: (bytes >= CHUNK as u64).then(|| pattern(CHUNK)),
            tail: (tail_bytes > 0).then(|| pattern(tail_bytes)),
            tail_bytes,
        }
    }

    /// Size of a file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Buffers with pattern writers, in which the chunks of one file after another are prepared or read.
#[derive(Debug)]
pub(crate) struct FileBuffer {
    /// The buffer for whole chunks and for reads.
    body: (Pages, PatternWriter),
    tail: (Pages, PatternWriter),
}

/// Memory that begins at a page, as direct I/O requires.
#[derive(Debug)]
struct Pages {
    memory: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl Pages {
    fn new(bytes: usize) -> Self {
        let memory = if bytes == 0 { Vec::new() } else { vec![0; bytes + PAGE] };
        let start = if bytes == 0 { 0 } else { memory.as_ptr().align_offset(PAGE) };
        Self { memory, start, bytes }
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.bytes]
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.bytes]
    }
}

impl FileBuffer {
    /// Creates a buffer for writing files with `patterns`.
    pub(crate) fn for_writing(patterns: &DataPatterns) -> Self {
        let buffer_for = |pattern: &Option<DataPattern>, bytes: usize| match pattern {
            Some(pattern) => {
                let mut buffer = Pages::new(bytes);
                let writer = pattern.writer(&mut buffer, 0);
                (buffer, writer)
            }
            None => (Pages::new(0), PatternWriter::default()),
        };
        Self {
            body: buffer_for(&patterns.body, CHUNK),
            tail: buffer_for(&patterns.tail, patterns.tail_bytes),
        }
    }

    /// Creates a buffer for reading `bytes` of each file.
    pub(crate) fn for_reading(bytes: u64) -> Self {
        let mut buffer = Pages::new(buffer_bytes(bytes));
        touch(&mut buffer);
        Self { body: (buffer, PatternWriter::default()), tail: (Pages::new(0), PatternWriter::default()) }
    }

    /// Prepares the data of `file` from `offset` on, a multiple of the chunk size below the file's end.
    #[inline(always)]
    pub(crate) fn chunk(&mut self, patterns: &DataPatterns, file: u32, offset: u64) -> &[u8] {
        let is_tail = patterns.bytes - offset < CHUNK as u64;
        let (pattern, (buffer, writer)) =
            if is_tail { (&patterns.tail, &mut self.tail) } else { (&patterns.body, &mut self.body) };
        if let Some(pattern) = pattern {
            writer.turn_to(pattern, buffer, file);
            // Each file starts at a different place in the noise, so that no two files have much in
            // common.
            writer.place_from(pattern, buffer, u64::from(file), offset);
        }
        buffer
    }

    /// Returns the data of a file from `offset` on, which [`FileBuffer::chunk`] has prepared.
    pub(crate) fn made(&self, patterns: &DataPatterns, offset: u64) -> &[u8] {
        if patterns.bytes - offset < CHUNK as u64 { &self.tail.0 } else { &self.body.0 }
    }

    /// Returns a buffer for a read of `bytes`.
    pub(crate) fn for_read(&mut self, bytes: u64) -> &mut [u8] {
        let length = buffer_bytes(bytes).min(self.body.0.len());
        &mut self.body.0[..length]
    }

    /// Checks the first `read` bytes of the buffer against the data of a file from `offset` on. If the file
    /// continues after them, a truncated cell is skipped.
    pub(crate) fn check(
        &self,
        read: usize,
        offset: u64,
        goes_on: bool,
        task: u32,
        expected: &Expected<'_>,
        findings: &mut CheckResults,
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

    use super::{CHUNK, DataPatterns, FileBuffer};
    use crate::data::check::{CheckResults, Expected, NoiseTable};

    proptest! {
        #[test]
        fn what_a_buffer_writes_is_right_in_its_file_and_wrong_in_any_other(
            bytes in 1_u64..2000, chunks in 0_u64..3, files in proptest::collection::vec(0_u32..1000, 1..4),
        ) {
            let bytes = bytes + chunks * CHUNK as u64;
            let patterns = DataPatterns::new(7, 1, bytes);
            let table = NoiseTable::new(7);
            let mut writer = FileBuffer::for_writing(&patterns);
            let mut reader = FileBuffer::for_reading(bytes);
            for file in files {
                for (asked, wrong) in [(file, false), (file + 1, true)] {
                    let mut findings = CheckResults::default();
                    let mut offset = 0;
                    while offset < bytes {
                        let chunk = writer.chunk(&patterns, file, offset);
                        let length = chunk.len();
                        reader.for_read(bytes)[..length].copy_from_slice(chunk);
                        let expected = Expected { table: &table, file: asked, generations: Some((1, 1)) };
                        reader.check(length, offset, false, 0, &expected, &mut findings);
                        offset += length as u64;
                    }
                    // Cells too short for a stamp do not identify their file.
                    let short = u64::from(!bytes.is_multiple_of(512) && bytes % 512 < 32);
                    let all = bytes.div_ceil(512);
                    prop_assert_eq!(findings.checked_cells, all);
                    prop_assert_eq!(findings.wrong_cells, if wrong { all - short } else { 0 });
                }
            }
        }
    }
}
