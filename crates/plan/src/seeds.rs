//! Random choices of a plan for which no workload names a seed.

/// The seed of the choice named `name` in a plan with seed `seed`: the same pair always gives the
/// same choice, and two names give unrelated ones (FNV-1a over the name).
pub(crate) fn named_seed(seed: u64, name: &str) -> u64 {
    seed ^ name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
