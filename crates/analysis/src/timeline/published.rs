//! Published figures of the mixed analytics workload beside own ones of the same kind.

use plan::TestKind;
use record::Library;

use super::Timeline;
use super::full_timer::whole;
use crate::gate::Kind;
use crate::headline::RateOf;
use crate::table::{Column, Of, Quantity, Statement, Value};

/// A published figure of the workload and the own one.
#[derive(Debug, Clone, PartialEq)]
pub struct JobsBeside {
    /// What it is, as in `start of the profile`.
    pub what: &'static str,
    /// The id in the library.
    pub id: String,
    /// The own value.
    pub own: f64,
    /// The published one, at full scale and on its machine.
    pub published: f64,
    /// Both in their unit.
    shown: [Value; 2],
    /// As printed.
    pub as_published: String,
    /// Own ÷ published.
    pub ratio: f64,
}

impl Statement for JobsBeside {
    const KIND: Kind = Kind::JobPublished;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str =
        "Published figures of the mixed analytics workload, at full scale and on its machine, and own ones";
    const COLUMNS: &'static [Column<Self>] = &[
        Column::text("what", |one: &Self| one.what.to_owned(), "What it is.").subject(),
        Column::new("own", "own", Quantity::Amount, |one: &Self| one.shown[0].clone(), "The own value."),
        Column::new(
            "published",
            "published",
            Quantity::Amount,
            |one: &Self| one.shown[1].clone(),
            "The published one.",
        ),
        Column::number("ratio", |one: &Self| Some(one.ratio), "Own ÷ published.").headed("own ÷ published"),
        Column::text("as_published", |one: &Self| one.as_published.clone(), "As printed.")
            .headed("as printed"),
        Column::text("id", |one: &Self| one.id.clone(), "Its id in the library.").detail(),
    ];
}

/// What it is, the id of what is printed, its kind of value, and the own one.
type Own = (&'static str, &'static str, fn(f64) -> Value, Option<f64>);

/// Own values and the ids of what is printed of the same kind. Source: study C, "Test Bed Description" and "Data and
/// IO Throughput".
fn own(one: &Timeline) -> Vec<Own> {
    let rate: fn(f64) -> Value = |value| Value::Rate(value, RateOf::Bytes);
    let bytes: fn(f64) -> Value = |value| Value::Bytes(whole(value));
    let levels = one.profile.levels.as_ref();
    let lengths = one.lengths.as_ref();
    let input = |kind: TestKind| {
        let kinds = one.moved.kinds.iter().find(|one| one.kind == kind);
        kinds.map(|one| one.full_scale_input_bytes).filter(|&bytes| bytes > 0.0)
    };
    vec![
        ("launches", "c-wl-launched", Value::Number, Some(one.concurrency.launches as f64)),
        ("mean concurrency", "c-wl-concurrent", Value::Number, Some(one.concurrency.mean)),
        ("shortest launch", "c-wl-min-duration", Value::Seconds, lengths.map(|(all, _)| all.min)),
        ("longest launch", "c-wl-max-duration", Value::Seconds, lengths.map(|(all, _)| all.max)),
        ("input of I/O tests, full scale", "c-data-io", bytes, input(TestKind::Io)),
        ("input of computation, full scale", "c-data-comp", bytes, input(TestKind::Computation)),
        ("profile, start", "c-thr-jump", rate, levels.map(|all| all.start.bytes_per_second)),
        (
            "profile, climbs to",
            "c-thr-climb",
            rate,
            levels.and_then(|all| all.climb).map(|climb| climb.bytes_per_second),
        ),
        ("profile, peak", "c-thr-peak", rate, levels.map(|all| all.peak.bytes_per_second)),
    ]
}

/// What `library` has printed of the same kind as what is known of `one`.
#[must_use]
pub fn beside_jobs(one: &Timeline, library: &Library) -> Vec<JobsBeside> {
    let beside = |(what, id, of, own): Own| {
        let (own, figure) = own.zip(library.figures.iter().find(|figure| figure.id == id))?;
        Some(JobsBeside {
            what,
            id: figure.id.clone(),
            own,
            published: figure.value,
            shown: [of(own), of(figure.value)],
            as_published: figure.as_published(),
            ratio: own / figure.value,
        })
    };
    own(one).into_iter().filter_map(beside).collect()
}
