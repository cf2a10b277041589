//! What IOR, mdtest and md-workbench have in common: options and interfaces without an effect here, and their format
//! for the space of a file system.

pub(crate) mod space;

use crate::options::{Spec, Takes};

const GPU: &str = "ioproof has no buffers on a GPU: leave it out";
const MPIIO: &str = "it belongs to MPI-IO; ioproof supports POSIX and DUMMY: leave it out";
const MMAP: &str = "it belongs to memory mappings; ioproof supports POSIX and DUMMY: leave it out";
const DELAYS: (&str, &str) =
    ("a delay of DUMMY", "the DUMMY backend measures the overhead of the harness, so it adds no delays");
const LOCKS: &str = "ioproof takes no lock around a transfer: leave it out";

const fn refused<Key: Copy>(
    key: Key,
    words: &'static [&'static str],
    takes: Takes,
    why: &'static str,
    with_directives: bool,
) -> Spec<Key> {
    let spec = Spec::refused(key, "", words, takes, why);
    if with_directives { spec.directives(words) } else { spec }
}

const fn explained<Key: Copy>(
    key: Key,
    words: &'static [&'static str],
    takes: Takes,
    about: (&'static str, &'static str),
    with_directives: bool,
) -> Spec<Key> {
    let spec = Spec::explained(key, "", words, takes, about);
    if with_directives { spec.directives(words) } else { spec }
}

/// Options of all three tools, as `key`. IOR also has them as directives.
pub(crate) const fn common<Key: Copy>(key: Key, with_directives: bool) -> [Spec<Key>; 5] {
    let delays =
        &["dummy.delay-create", "dummy.delay-close", "dummy.delay-sync", "dummy.delay-xfer"] as &[_];
    [
        refused(key, &["posix.rangelocks"], Takes::Nothing, LOCKS, with_directives),
        refused(key, &["gpuDirect"], Takes::Nothing, GPU, with_directives),
        refused(key, &["allocateBufferOnGPU", "gpuMemoryFlags"], Takes::Value("1"), GPU, with_directives),
        explained(key, &["dummy.delay-only-rank0"], Takes::Nothing, DELAYS, with_directives),
        explained(key, delays, Takes::Value("1"), DELAYS, with_directives),
    ]
}

/// Options of interfaces that mdtest and md-workbench cannot use, as `key`.
pub(crate) const fn interfaces<Key: Copy>(key: Key) -> [Spec<Key>; 3] {
    let flags =
        &["mpiio.showHints", "mpiio.preallocate", "mpiio.useStridedDatatype", "mpiio.useFileView"] as &[_];
    [
        refused(key, flags, Takes::Nothing, MPIIO, false),
        refused(key, &["mpiio.hintsFileName"], Takes::Value("FILE"), MPIIO, false),
        refused(key, &["mmap.madv_dont_need", "mmap.madv_pattern"], Takes::Nothing, MMAP, false),
    ]
}

/// Why the interface `api` (of `-a`) is not supported, or `None` if IOR does not know it either.
pub(crate) fn missing_library(api: &str) -> Option<&'static str> {
    Some(match api.to_ascii_uppercase().as_str() {
        "MPIIO" => "it needs MPI-IO",
        "HDF5" => "it needs the HDF5 library over MPI-IO",
        "NCMPI" => "it needs the PnetCDF library over MPI-IO",
        "S3" | "S3-4C" | "S3_PLUS" | "S3_EMC" | "S3-LIBS3" => "it needs an object store",
        "HDFS" => "it needs a Hadoop file system",
        "RADOS" | "CEPHFS" => "it needs the Ceph libraries",
        "DFS" | "DAOS" => "it needs the DAOS library",
        "IME" | "GFARM" | "BFS" | "CHFS" | "FINCHFS" | "PMDK" | "LIBNFS" | "MADFS" | "NCMPIO" => {
            "it needs that system's own client library"
        }
        _ => return None,
    })
}
