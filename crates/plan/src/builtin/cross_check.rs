//! The cases of `ioproof cross-check DIR`: the main storage measurements, in a form that other tools support
//! too.
//!
//! They are the cases of [`crate::quick`] with their own duration and repetition count. Each repetition is
//! measured once by ioproof and once by the other tool, on the same file.
//!
//! ```
//! use plan::cross_check::{CASES, Options, cases};
//! use plan::{Nanos, quick::QuickEnvironment};
//! let environment = QuickEnvironment {
//!     directory: "/mnt/scratch".into(),
//!     file_system: "ext4 on /dev/sda1".to_owned(),
//!     free_bytes: 500 << 30,
//!     memory_available_bytes: 16 << 30,
//!     direct_supported: true,
//!     logical_block_bytes: 512,
//!     seed: 1,
//!     uring: true,
//! };
//! let options = Options { environment, size: None, time: Nanos::secs(3), pairs: 6, only: Vec::new() };
//! let (cases, notes) = cases(&options)?;
//! assert_eq!((cases.len(), cases[0].repetitions), (CASES.len(), 6));
//! assert!(notes.is_empty());
//! # Ok::<(), plan::PlanError>(())
//! ```

use std::path::PathBuf;

use crate::builtin::quick::{QuickEnvironment, Route, Sizes};
use crate::{Backend, Bytes, Case, Nanos, PlanError, WorkloadSpec};

/// Minimum number of pairs: the fewest that give a two-sided 95 % interval of a median, and enough for the
/// test of differences.
pub const PAIRS_MIN: u32 = 6;
/// Maximum number of pairs: more add no information and take hours.
pub const PAIRS_MAX: u32 = 1000;
/// Default duration of one pass: well above the 2 s below which no rate is stated.
pub const TIME: Nanos = Nanos::secs(3);
/// The cases, by their names in the quick plan and in its order.
pub const CASES: [&str; 6] =
    ["seq-write", "seq-read", "rand-read-d1", "rand-read-d32", "rand-write-d1", "rand-write-d32"];

/// Parameters of a cross-check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The location; with io_uring if both tools can use it.
    pub environment: QuickEnvironment,
    /// File size; chosen to fit the location if not given.
    pub size: Option<Bytes>,
    /// Duration of each pass.
    pub time: Nanos,
    /// How often each tool measures each case.
    pub pairs: u32,
    /// Selected entries of [`CASES`]; empty for all.
    pub only: Vec<String>,
}

/// ioproof's own cases, and sentences about what was left out or replaced.
///
/// # Errors
/// Errors if a value cannot be measured, or if there is too little free space.
pub fn cases(options: &Options) -> Result<(Vec<Case>, Vec<String>), PlanError> {
    let Options { environment, size, time, pairs, only } = options;
    if !(PAIRS_MIN..=PAIRS_MAX).contains(pairs) {
        return Err(PlanError::new(
            "pairs",
            format!("{pairs} pairs are requested"),
            format!("give a number from {PAIRS_MIN} (the fewest with an interval of 95 %) to {PAIRS_MAX}"),
        ));
    }
    if time.0 == 0 || !time.0.is_multiple_of(Nanos::millis(1).0) {
        let next = "write whole milliseconds, for example 3s or 2500ms";
        return Err(PlanError::new("time", format!("not every tool can run a pass of {time}"), next));
    }
    if let Some(unknown) = only.iter().find(|one| !CASES.contains(&one.as_str())) {
        let known = format!("the cases are {}", CASES.join(", "));
        return Err(PlanError::new("case", format!("there is no case `{unknown}`"), known));
    }
    environment.enough_space()?;
    let sizes = Sizes::of(environment).wanted(*size)?;
    let route = sizes.routes()[0];
    let wanted = |id: &str| only.is_empty() || only.iter().any(|one| one == id);
    let figures = sizes.figures().into_iter().filter(|figure| wanted(figure.id));
    let all = figures.map(|figure| {
        let case = figure.case(route, *time, &sizes, environment)?;
        let mut spec = WorkloadSpec::from(case.workload.clone());
        spec.files.targets = vec![file(environment)];
        // The other tool uses the same engine: falling back to another one is not allowed.
        spec.backend = spec.backend.required();
        // A single request at a time needs no ring.
        if spec.backend.depth() == 1 {
            spec.backend = Backend::plain();
        }
        Ok(Case { workload: spec.validate()?, repetitions: *pairs, ..case })
    });
    let all = all.collect::<Result<Vec<_>, PlanError>>()?;
    // Notes about a small file do not apply to these cases.
    let notes = match route {
        Route::Buffered => vec![sizes.notes(environment).swap_remove(0)],
        Route::Direct | Route::Cached => Vec::new(),
    };
    Ok((all, notes))
}

/// The one data file. The seed in its name makes it unique in the directory.
fn file(environment: &QuickEnvironment) -> PathBuf {
    environment.directory.join(format!("ioproof-cross-check-{:016x}.data", environment.seed))
}

#[cfg(test)]
mod tests {
    use super::{CASES, Options, PAIRS_MIN, TIME, cases};
    use crate::builtin::quick::QuickEnvironment;
    use crate::{Backend, Bytes, Nanos, Placement};

    fn options() -> Options {
        let environment = QuickEnvironment {
            directory: "/mnt/scratch".into(),
            file_system: String::new(),
            free_bytes: 500 << 30,
            memory_available_bytes: 16 << 30,
            direct_supported: true,
            logical_block_bytes: 512,
            seed: 7,
            uring: true,
        };
        Options { environment, size: None, time: TIME, pairs: PAIRS_MIN, only: Vec::new() }
    }

    #[test]
    fn all_cases_are_on_one_file_that_nobody_else_has() {
        let (all, notes) = cases(&options()).expect("valid");
        assert_eq!(all.iter().map(|case| case.id.as_str()).collect::<Vec<_>>(), CASES);
        assert!(notes.is_empty());
        for case in &all {
            let files = Placement::new(&case.workload).files(0);
            assert_eq!(files.len(), 1, "{}", case.id);
            let path = files[0].path.display().to_string();
            assert_eq!(path, "/mnt/scratch/ioproof-cross-check-0000000000000007.data");
            assert!(case.workload.direct);
            assert_eq!(case.workload.duration, Some(TIME));
            assert_eq!(case.repetitions, PAIRS_MIN);
        }
        let backends: Vec<_> = all.iter().map(|case| case.workload.backend).collect();
        let uring = |depth| Backend::Uring { depth, required: true };
        assert_eq!(backends, [uring(8), uring(8), Backend::Psync, uring(32), Backend::Psync, uring(32)]);
    }

    #[test]
    fn what_was_asked_for_is_taken() {
        let options = Options {
            size: Some(Bytes::mib(100)),
            time: Nanos::millis(2500),
            pairs: 9,
            only: vec!["rand-read-d32".to_owned()],
            ..options()
        };
        let (all, _) = cases(&options).expect("valid");
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].id.as_str(), all[0].repetitions), ("rand-read-d32", 9));
        // Whole transfers of eight tasks.
        assert_eq!(all[0].workload.footprint(), Bytes::mib(96));
        assert_eq!(all[0].workload.duration, Some(Nanos::millis(2500)));
    }

    #[test]
    fn without_direct_transfers_a_note_says_so() {
        let mut options = options();
        options.environment.direct_supported = false;
        let (all, notes) = cases(&options).expect("valid");
        assert!(all.iter().all(|case| !case.workload.direct && case.id.starts_with("buffered-")));
        assert!(notes.len() == 1 && notes[0].contains("O_DIRECT"), "{notes:?}");
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_next_step() {
        let refused = |options: &Options| {
            let error = cases(options).expect_err("refused");
            format!("{}: {}", error.message, error.help)
        };
        assert!(refused(&Options { pairs: 5, ..options() }).contains("from 6"));
        assert!(refused(&Options { size: Some(Bytes::mib(15)), ..options() }).contains("16 MiB"));
        assert!(refused(&Options { time: Nanos(1_500), ..options() }).contains("2500ms"));
        assert!(refused(&Options { only: vec!["x".to_owned()], ..options() }).contains("rand-read-d32"));
    }
}
