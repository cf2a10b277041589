//! Memory for pages, where direct transfers want it.

/// Buffers start at multiples of this, which is no less than what any block device asks of direct transfers.
const ALIGNMENT: usize = 4096;

/// Memory for one page or several: aligned, zero at first, and there only once it is touched.
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
    /// So many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        // A little more than asked for, so that an aligned piece of the length is in it. The memory is never
        // moved, since the vector never grows.
        let memory = vec![0; bytes + ALIGNMENT];
        let start = memory.as_ptr().align_offset(ALIGNMENT);
        Self { memory, start, length: bytes }
    }

    /// All of it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    /// All of it, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
