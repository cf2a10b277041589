//! Fuzz targets: one for each parser of text or bytes that the program did not write itself.
//!
//! A [`Target`] passes an input to a parser in the same way as the program, and uses the result in the same way: it
//! renders plans, errors and reports. It panics if a property of the parser does not hold.
//!
//! - `scripts/fuzz.sh` searches for inputs that panic, hang or take too much memory, guided by coverage.
//! - `cargo test --workspace --test corpus` runs the inputs of the corpus, which once found a bug or cover much
//!   of the code.
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

/// Total bytes that the program may allocate for one input, in addition to [`ALLOCATED_PER_BYTE`]. A study of 10,000
/// cases with its preview needs a fifth of it.
const ALLOCATED_FREE: usize = 1 << 30;
/// Additional bytes that may be allocated per byte of the input.
const ALLOCATED_PER_BYTE: usize = 16 << 10;

/// A parser of untrusted input.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name on the command line, which is also the name of its directory in the corpus.
    pub name: &'static str,
    /// What it parses.
    pub about: &'static str,
    /// Files of the project, or directories of files, that are used as inputs unchanged.
    pub seeds: &'static [&'static str],
    run: fn(&[u8]),
}

impl Target {
    /// Runs the target on `input`.
    ///
    /// # Panics
    /// The parser panics, a property does not hold, or more memory than the limit is allocated.
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

    /// All inputs: those of the corpus, and the seeds.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let corpus = [format!("crates/fuzz/corpus/{}", self.name)];
        let places = corpus.iter().map(String::as_str).chain(self.seeds.iter().copied());
        let mut files: Vec<PathBuf> = places.flat_map(|place| files(&root().join(place))).collect();
        files.sort();
        files
    }
}

/// The root directory of the project.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// `place` if it is a file, or the files in it if it is a directory.
fn files(place: &Path) -> Vec<PathBuf> {
    let inside = std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    inside.chain([place.to_owned()]).filter(|path| path.is_file()).collect()
}

/// The target with this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
