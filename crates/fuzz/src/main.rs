//! The executable for `scripts/fuzz.sh`. Built with `--cfg fuzzing`, it runs libFuzzer on the target named in
//! `IOPROOF_FUZZ`, or lists all targets with their inputs if the variable is not set. Otherwise it runs one target on
//! files: `TARGET FILE...`.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod guided {
    use std::sync::OnceLock;

    use fuzz::{TARGETS, Target};

    static CHOSEN: OnceLock<&Target> = OnceLock::new();

    libfuzzer_sys::fuzz_target!(init: choose(), |bytes: &[u8]| {
        CHOSEN.get().expect("chosen at the start").check(bytes);
    });

    #[expect(clippy::print_stdout, reason = "the list is its output")]
    fn choose() {
        let name = std::env::var("IOPROOF_FUZZ").unwrap_or_default();
        let Some(target) = fuzz::target(&name) else {
            for target in TARGETS {
                let inputs = target.inputs();
                let inputs: Vec<_> = inputs.iter().map(|path| path.to_string_lossy()).collect();
                println!("{} {}", target.name, inputs.join(","));
            }
            std::process::exit(i32::from(!name.is_empty()));
        };
        CHOSEN.get_or_init(|| target);
        // The panic hook of libFuzzer aborts the process on every panic.
        let ends = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !record::is_contained(info) {
                ends(info);
            }
        }));
    }
}

#[cfg(not(fuzzing))]
fn main() {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let target = fuzz::target(&name).expect("arguments: TARGET FILE...");
    for file in words {
        target.check(&std::fs::read(&file).expect("a file that can be read"));
    }
}
