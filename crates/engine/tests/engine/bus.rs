//! The failure mode specific to memory mappings: SIGBUS.

use std::time::Duration;

use engine::{Controls, EngineError, PhaseJob, SingleProcess};
use plan::{Backend, Nanos, Phase};

use crate::bed::{Bed, with};

#[test]
fn a_file_that_is_cut_under_a_mapping_is_an_error_and_no_crash() {
    let bed = Bed::new();
    let spec = bed.spec("file", 4096, 256);
    crate::bed::run(&with(&spec, |_| {}), Phase::Fill).expect("filled");
    let workload = with(&spec, |spec| {
        spec.backend = Backend::Mmap;
        spec.duration = Some(Nanos::secs(3600));
    });
    let controls = Controls::new();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            while controls.progress().transfers < 1000 {
                std::thread::sleep(Duration::from_millis(1));
            }
            let file = std::fs::File::options().write(true).open(bed.path("file")).expect("opens");
            file.set_len(8192).expect("cut");
        });
        engine::run(&PhaseJob::new(&workload, Phase::Read, 0), &SingleProcess, &controls)
    });
    match outcome {
        Err(EngineError::Transfer { offset, errno, .. }) => {
            assert!(offset >= 8192);
            assert_eq!(errno.name(), Some("EIO"));
        }
        other => panic!("{other:?}"),
    }
}
