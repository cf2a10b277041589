//! Fuzz targets: one for each reader of text or bytes that the program did not write itself.
//!
//! A [`Target`] hands an input to a reader as the program would, and uses what was read as the program would: it
//! renders plans, errors and reports. It panics if a property of the reader does not hold.
//!
//! - `scripts/fuzz.sh` searches for inputs that panic, hang or take too much memory, guided by coverage.
//! - `cargo test --workspace --test corpus` runs the inputs of the corpus, which found something once or reach
//!   much of the code.
//!
//! ```
//! let target = fuzz::target("study").expect("a target");
//! target.check(b"[[target]]\nname = 1\n");
//! ```

mod targets;

use std::alloc::System;
use std::path::{Path, PathBuf};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

pub use targets::TARGETS;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Bytes that one input may make the program allocate in all, beside [`ALLOCATED_PER_BYTE`]. A study of 10,000 cases
/// with its preview takes a fifth of it.
const ALLOCATED_FREE: usize = 1 << 30;
/// The same for each byte of the input.
const ALLOCATED_PER_BYTE: usize = 16 << 10;

/// A reader of foreign input.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name on the command line, and of its directory in the corpus.
    pub name: &'static str,
    /// What it reads.
    pub about: &'static str,
    /// Directories of the project, or files, that are inputs as they are.
    pub seeds: &'static [&'static str],
    run: fn(&[u8]),
}

impl Target {
    /// Runs the target with `input`.
    ///
    /// # Panics
    /// If the reader panics, if a property does not hold, or if it allocates more than its limit.
    pub fn check(&self, input: &[u8]) {
        let region = Region::new(ALLOCATOR);
        (self.run)(input);
        let allocated = region.change().bytes_allocated;
        let allowed = ALLOCATED_FREE.saturating_add(input.len().saturating_mul(ALLOCATED_PER_BYTE));
        assert!(
            allocated <= allowed,
            "an input of {} bytes makes it allocate {allocated} bytes",
            input.len()
        );
    }

    /// Its inputs: those of the corpus, and the seeds.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let corpus = [format!("crates/fuzz/corpus/{}", self.name)];
        let places = corpus.iter().map(String::as_str).chain(self.seeds.iter().copied());
        let mut files: Vec<PathBuf> = places.flat_map(|place| files(&root().join(place))).collect();
        files.sort();
        files
    }
}

/// The root of the project.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// `place` if it is a file, and the files in it if it is a directory.
fn files(place: &Path) -> Vec<PathBuf> {
    let inside = std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    inside.chain([place.to_owned()]).filter(|path| path.is_file()).collect()
}

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
