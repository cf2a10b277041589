//! Why options that all tools of IOR have are refused.

pub(crate) const GPU: &str = "ioproof has no buffers on a GPU: leave it out";
pub(crate) const MPIIO: &str = "it belongs to MPI-IO; ioproof drives POSIX and DUMMY: leave it out";
pub(crate) const MMAP: &str = "it belongs to memory mappings; ioproof drives POSIX and DUMMY: leave it out";
pub(crate) const DELAYS: &str =
    "the DUMMY backend measures what the harness itself costs, so it adds no delays: leave it out";
pub(crate) const LOCKS: &str = "ioproof takes no lock around a transfer: leave it out";
