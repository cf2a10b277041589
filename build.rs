//! Finds the commit that is built, for `--version`: from git, or from `COMMIT`, which `git archive` fills in.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Digits of the commit.
const DIGITS: usize = 12;

fn main() {
    let own = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&own);
    let sources = sources(root);
    let commits = git(root, &["rev-parse", "--git-path", "logs/HEAD"]).map(|path| root.join(path));
    let watched = sources.iter().map(|place| root.join(place)).chain([root.join("COMMIT")]).chain(commits);
    // Cargo would take a file that is missing for a change.
    for place in watched.filter(|place| place.exists()) {
        println!("cargo::rerun-if-changed={}", place.display());
    }
    let commit =
        archived(root).or_else(|| checked_out(root, &sources)).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=IOPROOF_COMMIT={commit}");
    println!("cargo::rustc-env=IOPROOF_TARGET={}", env::var("TARGET").unwrap_or_default());
}

/// What the program is built from, from the root.
fn sources(root: &Path) -> Vec<String> {
    let packages = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let names = packages.map(|package| package.file_name().to_string_lossy().into_owned());
    let parts = ["Cargo.toml", "src", "data", "third-party"];
    let of_package = |name: String| parts.map(|part| format!("crates/{name}/{part}"));
    let own = ["Cargo.toml", "Cargo.lock", "build.rs", "src", "studies"].map(str::to_owned);
    own.into_iter().chain(names.flat_map(of_package)).collect()
}

/// The commit of an archive of the sources.
fn archived(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join("COMMIT")).ok()?;
    let commit = text.trim().get(..DIGITS)?;
    commit.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| commit.to_owned())
}

/// What git prints, if it succeeds.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let done = Command::new("git").arg("-C").arg(root).args(words).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// The commit of the working tree, and whether `sources` differ from it.
fn checked_out(root: &Path, sources: &[String]) -> Option<String> {
    // Not that of a repository which only contains this directory.
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != fs::canonicalize(root).ok()? {
        return None;
    }
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let status = ["status", "--porcelain", "--untracked-files=no", "--"].into_iter();
    let changed = git(root, &status.chain(sources.iter().map(String::as_str)).collect::<Vec<_>>())?;
    let modified = if changed.is_empty() { "" } else { ", modified" };
    Some(format!("{}{modified}", commit.get(..DIGITS)?))
}
