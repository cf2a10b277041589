//! What was built: release, commit, target, features.

#[cfg(feature = "planted-faults")]
macro_rules! features {
    () => {
        "planted-faults"
    };
}
#[cfg(not(feature = "planted-faults"))]
macro_rules! features {
    () => {
        "none"
    };
}

/// As in `0.1.0 (commit 0123456789ab, x86_64-unknown-linux-gnu, features: none)`.
pub(crate) const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("IOPROOF_COMMIT"),
    ", ",
    env!("IOPROOF_TARGET"),
    ", features: ",
    features!(),
    ")"
);
