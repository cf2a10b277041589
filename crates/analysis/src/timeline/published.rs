//! Published figures of the mixed analytics workload beside own ones of the same kind.

use plan::TestKind;
use record::Library;

use super::Timeline;

/// A published figure of the workload and the own one.
#[derive(Debug, Clone, PartialEq)]
pub struct JobsBeside {
    /// What it is, as in `start of the profile`.
    pub what: &'static str,
    /// The id in the library.
    pub id: String,
    /// `bytes/s`, `bytes`, `s` or empty for counts.
    pub unit: &'static str,
    /// The own value.
    pub own: f64,
    /// The published one, at full scale and on its machine.
    pub published: f64,
    /// As printed.
    pub as_published: String,
    /// Own ÷ published.
    pub ratio: f64,
}

/// Own values and the ids of what is printed of the same kind. Source: study C, "Test Bed Description" and "Data and
/// IO Throughput".
fn own(one: &Timeline) -> Vec<(&'static str, &'static str, &'static str, Option<f64>)> {
    let levels = one.profile.levels.as_ref();
    let lengths = one.lengths.as_ref();
    let input = |kind: TestKind| {
        let kinds = one.moved.kinds.iter().find(|one| one.kind == kind);
        kinds.map(|one| one.full_scale_input_bytes).filter(|&bytes| bytes > 0.0)
    };
    vec![
        ("launches", "c-wl-launched", "", Some(one.concurrency.launches as f64)),
        ("mean concurrency", "c-wl-concurrent", "", Some(one.concurrency.mean)),
        ("shortest launch", "c-wl-min-duration", "s", lengths.map(|all| all.shortest_seconds)),
        ("longest launch", "c-wl-max-duration", "s", lengths.map(|all| all.longest_seconds)),
        ("input of I/O tests, full scale", "c-data-io", "bytes", input(TestKind::Io)),
        ("input of computation, full scale", "c-data-comp", "bytes", input(TestKind::Computation)),
        ("profile, start", "c-thr-jump", "bytes/s", levels.map(|all| all.start.bytes_per_second)),
        (
            "profile, climbs to",
            "c-thr-climb",
            "bytes/s",
            levels.and_then(|all| all.climb).map(|climb| climb.bytes_per_second),
        ),
        ("profile, peak", "c-thr-peak", "bytes/s", levels.map(|all| all.peak.bytes_per_second)),
    ]
}

/// What `library` has printed of the same kind as what is known of `one`.
#[must_use]
pub fn beside_jobs(one: &Timeline, library: &Library) -> Vec<JobsBeside> {
    let beside = |(what, id, unit, own): (&'static str, &str, &'static str, Option<f64>)| {
        let (own, figure) = own.zip(library.figures.iter().find(|figure| figure.id == id))?;
        Some(JobsBeside {
            what,
            id: figure.id.clone(),
            unit,
            own,
            published: figure.value,
            as_published: figure.as_published(),
            ratio: own / figure.value,
        })
    };
    own(one).into_iter().filter_map(beside).collect()
}
