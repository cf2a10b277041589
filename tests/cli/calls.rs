//! The system calls that the program makes on its items, as words.

use std::path::Path;

use testbed::{Call, Trace};

/// Calls on items and on their data, for [`testbed::Strace::calls`].
pub(crate) const OF_ITEMS: &str =
    "newfstatat,statx,openat,lseek,read,write,close,fsync,unlinkat,mkdirat,mknodat,renameat,renameat2";
/// Flags of every `openat` by the runtime that have no effect on the file system, or on one without planted links.
const OWN_FLAGS: [&str; 3] = ["O_CLOEXEC", "O_LARGEFILE", "O_NOFOLLOW"];

/// The calls on files below `directory`, ordered by task; tasks are ordered by when they begin: `openat 0_0/file-1
/// O_RDWR|O_CREAT 0664`, `write 100`. Paths are as passed to the call, starting from `directory`.
pub(crate) fn below(trace: &Trace, directory: &Path) -> Vec<String> {
    let is_below = |call: &&Call| {
        call.path.as_deref().is_some_and(|path| path != directory && path.starts_with(directory))
    };
    trace.calls.iter().filter(is_below).map(|call| in_words(call, directory)).collect()
}

fn in_words(call: &Call, directory: &Path) -> String {
    let arguments: Vec<&str> = call.arguments.iter().map(String::as_str).collect();
    let shown = |name: &str| {
        let name = name.trim_matches('"');
        let start = format!("{}/", directory.file_name().expect("a name").to_string_lossy());
        name.split_once(&start).map_or(name, |(_, rest)| rest).to_owned()
    };
    let flags =
        |flags: &str| flags.split('|').filter(|flag| !OWN_FLAGS.contains(flag)).collect::<Vec<_>>().join("|");
    // strace shows a path that is relative to an open directory together with that directory.
    let whole = |at: &str, name: &str| match at.starts_with("AT_FDCWD") {
        true => shown(name),
        false => format!("{at} {}", shown(name)),
    };
    match (call.name.as_str(), &arguments[..]) {
        ("newfstatat", [at, name, _, flags]) => format!("stat {} {flags}", whole(at, name)),
        ("openat", [at, name, given, mode @ ..]) => {
            format!("open {} {} {}", whole(at, name), flags(given), mode.concat()).trim_end().to_owned()
        }
        ("unlinkat", [at, name, "0"]) => format!("unlink {}", whole(at, name)),
        ("unlinkat", [at, name, _]) => format!("rmdir {}", whole(at, name)),
        ("mkdirat", [at, name, mode]) => format!("mkdir {} {mode}", whole(at, name)),
        ("mknodat", [at, name, mode, ..]) => format!("mknod {} {mode}", whole(at, name)),
        ("renameat" | "renameat2", [at, from, to_at, to, ..]) => {
            format!("rename {} {}", whole(at, from), whole(to_at, to))
        }
        ("lseek", [_, offset, ..]) => format!("lseek {offset}"),
        ("read" | "write", [.., bytes]) => format!("{} {bytes}", call.name),
        _ => call.name.clone(),
    }
}
