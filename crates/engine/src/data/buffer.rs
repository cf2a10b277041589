//! Memory of a phase: page-aligned, zeroed, and allocated on first touch.

#![expect(unsafe_code, reason = "anonymous mappings")]

use std::ptr::NonNull;

use plan::Bytes;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::{EngineError, Errno};

/// Alignment of buffers: the page size of x86-64, which is at least what any block device requires for
/// direct I/O.
pub(crate) const PAGE: usize = 4096;

/// A private anonymous mapping.
#[derive(Debug)]
pub(crate) struct Arena {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the arena owns its mapping; moving it to another thread moves that ownership.
unsafe impl Send for Arena {}
// SAFETY: a shared arena gives out no references to its memory; `pieces` takes it by `&mut`.
unsafe impl Sync for Arena {}

impl Arena {
    /// Maps `bytes` (at least one page) for `what`. No page is touched yet.
    pub(crate) fn new(bytes: usize, what: &'static str) -> Result<Self, EngineError> {
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        // SAFETY: a new mapping at an address that the kernel chooses disturbs nothing.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        };
        let start = mapped.map(|start| NonNull::new(start.cast::<u8>()));
        match start {
            Ok(Some(start)) => Ok(Self { start, bytes }),
            Ok(None) => Err(memory(what, bytes, Errno(libc::ENOMEM))),
            Err(errno) => Err(memory(what, bytes, errno.into())),
        }
    }

    /// Advises the kernel not to use huge pages, for memory of which only a small part is touched.
    pub(crate) fn sparse(self) -> Self {
        // SAFETY: the range is our mapping, and the advice does not change its contents. A kernel
        // without huge pages refuses it, which is as good.
        let _ =
            unsafe { rustix::mm::madvise(self.start.as_ptr().cast(), self.bytes, Advice::LinuxNoHugepage) };
        self
    }

    /// The whole mapping.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is ours alone, readable, writable, zero-initialised by the kernel,
        // `bytes` long, and borrowed for as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }

    /// Returns `count` values of `T` at multiples of `stride` bytes.
    ///
    /// # Panics
    /// Panics if they do not fit into the memory, or if `T` does not fit into the stride.
    pub(crate) fn pieces<T: Plain>(&mut self, count: usize, stride: usize) -> Vec<&mut T> {
        assert!(size_of::<T>() <= stride && stride.is_multiple_of(align_of::<T>()));
        assert!(count.checked_mul(stride).is_some_and(|needed| needed <= self.bytes));
        let start = self.start.as_ptr();
        (0..count)
            .map(|index| {
                // SAFETY: the pieces lie inside of the mapping and apart from each other (both
                // asserted above), are aligned (the mapping is by pages, the stride by T), hold
                // zeros, which `Plain` allows, and borrow the arena.
                unsafe { &mut *start.add(index * stride).cast::<T>() }
            })
            .collect()
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no reference into it outlives the arena. Unmapping a
        // whole mapping cannot fail.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Types for which any bytes, including zeros, are a valid value.
///
/// # Safety
/// Every bit pattern must be valid and there must be no padding.
pub(crate) unsafe trait Plain {}
// SAFETY: integers have no invalid bit patterns.
unsafe impl Plain for u32 {}
// SAFETY: arrays have those of their elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

fn memory(what: &'static str, bytes: usize, errno: Errno) -> EngineError {
    EngineError::Memory { what, size: Bytes(bytes as u64), errno }
}

/// Touches each page of `buffer`, so that no page fault happens during the measured time.
pub(crate) fn touch(buffer: &mut [u8]) {
    for page in buffer.chunks_mut(PAGE) {
        // Keeps the optimiser from removing a store of zero to memory that is already zero.
        std::hint::black_box(&mut page[0]);
        page[0] = std::hint::black_box(0);
    }
}

/// Memory held to keep it from the page cache (IOR's `-M`).
///
/// ```
/// let hog = engine::MemoryHog::hold(plan::Bytes::mib(1))?;
/// assert_eq!(hog.held(), plan::Bytes::mib(1));
/// # Ok::<(), engine::EngineError>(())
/// ```
#[derive(Debug)]
pub struct MemoryHog {
    arena: Arena,
}

impl MemoryHog {
    /// Allocates `size` and touches every page of it. The memory is freed when the value is dropped.
    ///
    /// # Errors
    /// Errors if less memory than `size` is free.
    pub fn hold(size: Bytes) -> Result<Self, EngineError> {
        let bytes = usize::try_from(size.0).unwrap_or(usize::MAX - PAGE);
        crate::system::limits::memory(size.0, 1, "the memory hog")?;
        let mut arena = Arena::new(bytes, "the memory hog")?;
        for (number, page) in arena.bytes_mut().chunks_mut(PAGE).enumerate() {
            // The kernel cannot merge pages with different contents.
            page[..8].copy_from_slice(&number.to_le_bytes());
        }
        Ok(Self { arena })
    }

    /// The amount of memory held, in whole pages.
    #[must_use]
    pub fn held(&self) -> Bytes {
        Bytes(self.arena.bytes as u64)
    }
}
