//! Finds the commit that is built, for `--version`: from git, or from `COMMIT`, which `git archive` fills in.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Digits of the commit.
const DIGITS: usize = 12;

fn main() {
    let own = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&own);
    let packages = fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let sources = packages.map(|package| package.path().join("src"));
    let commits = git(root, &["rev-parse", "--git-path", "logs/HEAD"]).map(|path| root.join(path));
    let own = ["COMMIT", "build.rs", "Cargo.lock", "src"].map(|place| root.join(place));
    // Cargo would take a file that is missing for a change.
    for place in own.into_iter().chain(sources).chain(commits).filter(|place| place.exists()) {
        println!("cargo::rerun-if-changed={}", place.display());
    }
    let commit = archived(root).or_else(|| checked_out(root)).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=IOPROOF_COMMIT={commit}");
    println!("cargo::rustc-env=IOPROOF_TARGET={}", env::var("TARGET").unwrap_or_default());
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

/// The commit of the working tree, and whether its sources differ from it.
fn checked_out(root: &Path) -> Option<String> {
    // Not that of a repository which only contains this directory.
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if fs::canonicalize(top).ok()? != fs::canonicalize(root).ok()? {
        return None;
    }
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let sources = ["src", "crates", "studies", "Cargo.toml", "Cargo.lock", "build.rs"];
    let changed =
        git(root, &[&["status", "--porcelain", "--untracked-files=no", "--"][..], &sources].concat())?;
    let modified = if changed.is_empty() { "" } else { ", modified" };
    Some(format!("{}{modified}", commit.get(..DIGITS)?))
}
