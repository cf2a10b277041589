//! Files of a host: kernel files, the ledgers, and counters of servers.

use std::fs;
use std::path::{Component, Path, PathBuf};

use host::{DeviceCounters, Guard, Host, HostIdentity, Layouts, Root, tuning};
use report::Screen;

/// A file tree. Each file follows a line `== PATH`. Symbolic links are written as `== PATH -> TARGET`, with a
/// relative target.
pub(super) fn tree(input: &[u8]) {
    let place = tempfile::tempdir().expect("a directory");
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for line in input.split_inclusive(|&byte| byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"== ") {
            let name = String::from_utf8_lossy(name);
            files.push((PathBuf::from(name.trim()), Vec::new()));
        } else if let Some((_, content)) = files.last_mut() {
            content.extend_from_slice(line);
        }
    }
    for (path, content) in files.iter().take(200) {
        let Some(path) = below(place.path(), path) else { continue };
        // A mutation may name a file as a directory.
        if path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) {
            let _ = fs::write(path, content);
        }
    }
    let root = Root::new(place.path().canonicalize().expect("a directory"));
    let host = Host::new(root.clone()).with_environment(|_| None);
    let inventory = host.inventory("tsc");
    let _ = report::inventory(&inventory, Screen::PLAIN);
    let targets = [PathBuf::from("/scratch/file"), PathBuf::from("/dev/sda")];
    let mut facts = host.facts(&targets, "tsc");
    host.complete(&mut facts);
    let mut devices = Vec::new();
    for target in &targets {
        devices.extend(host.devices_under(target).unwrap_or_default());
        let _ = (host.below(target), host.sectors_of(target), host.file_system_of(target));
        let _ = host.guard().permit(target, &[]);
    }
    let _ = DeviceCounters::read(&root, &devices);
    let _ = (host.clients(&targets), host.memory_available(), host.usable_cpus(), host.fetched_bytes());
}

/// `path` below `root`, unless it contains a component that leads out of it.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let is_plain = |part: &Component| matches!(part, Component::Normal(_) | Component::RootDir);
    let whole = path.components().all(|part| is_plain(&part)) && path.as_os_str().len() < 1000;
    let path = path.strip_prefix("/").unwrap_or(path);
    (whole && !path.as_os_str().is_empty()).then(|| root.join(path))
}

/// A ledger, parsed both as a tuning ledger and as a layout ledger.
pub(super) fn ledger(input: &[u8]) {
    let place = tempfile::tempdir().expect("a directory");
    let root = Root::new(place.path());
    fs::write(place.path().join(tuning::LEDGER), input).expect("written");
    if let Ok(Some(ledger)) = tuning::Ledger::read(place.path()) {
        let _ = (ledger.is_settled(), ledger.was_cut_short());
        let _ = tuning::survey(&ledger, &root, &tuning::HostSettings::new(&root));
    }
    let _ = tuning::in_force(&root, place.path());
    let layouts = place.path().join("layouts");
    fs::create_dir(&layouts).expect("made");
    fs::write(layouts.join("one.json"), input).expect("written");
    let layouts = Layouts::new(root.clone(), place.path().to_owned(), Guard::new(root.clone()));
    for standing in layouts.standing().unwrap_or_default() {
        let _ = (standing.devices(), standing.places(), standing.is_leftover(), standing.undoing().count());
    }
    let _ = HostIdentity::of(&root);
}

/// A text with counters.
pub(super) fn counters(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let found = host::servers::counters(&text);
    assert!(found.len() <= text.len(), "{} counters in {} bytes", found.len(), text.len());
}
