//! Runs every input of the corpus, as `scripts/fuzz.sh` would, without searching for more.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use fuzz::TARGETS;

/// A hang, not a measure of speed: an input takes milliseconds.
const PATIENCE: Duration = Duration::from_mins(2);

#[test]
fn no_input_of_the_corpus_panics_hangs_or_takes_much_memory() {
    let mut count = 0;
    for target in TARGETS {
        for path in target.inputs() {
            let input = std::fs::read(&path).expect("an input");
            let (done, ends) = mpsc::channel();
            let run = std::thread::spawn(move || {
                target.check(&input);
                let _ = done.send(());
            });
            match ends.recv_timeout(PATIENCE) {
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    panic!("{}: {} does not end", target.name, path.display())
                }
                _ => assert!(run.join().is_ok(), "{}: {} panics", target.name, path.display()),
            }
            count += 1;
        }
    }
    assert!(count > 100, "only {count} inputs were found");
}

#[test]
fn every_directory_of_the_corpus_belongs_to_a_target() {
    let corpus = fuzz::root().join("crates/fuzz/corpus");
    let names = std::fs::read_dir(corpus).expect("the corpus").flatten().map(|entry| entry.file_name());
    let unknown: Vec<_> = names.filter(|name| fuzz::target(&name.to_string_lossy()).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    for target in TARGETS {
        for seed in target.seeds {
            assert!(Path::exists(&fuzz::root().join(seed)), "{}: no {seed}", target.name);
        }
    }
}
