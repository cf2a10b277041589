//! Memory for pages, aligned for direct transfers.

/// Alignment of buffers, which is at least what any block device requires for direct transfers.
const ALIGNMENT: usize = 4096;

/// Memory for one or more pages: aligned, zeroed, allocated on first touch.
///
/// ```
/// let mut buffer = jobs::PageBuffer::new(65_536);
/// assert_eq!((buffer.bytes_mut().len(), buffer.bytes_mut().as_ptr() as usize % 4096), (65_536, 0));
/// ```
#[derive(Debug)]
pub struct PageBuffer {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl PageBuffer {
    /// Creates a buffer of `bytes` bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        // A little more than requested, so that it contains an aligned range of that length. The memory is
        // never moved, because the vector never grows.
        let memory = vec![0; bytes + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        Self { memory, start, length: bytes }
    }

    /// The whole buffer.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    /// The whole buffer, mutable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
