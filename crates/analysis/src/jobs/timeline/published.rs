//! Published figures of the mixed analytics workload, compared with own values of the same kind.

use plan::TestKind;
use record::Library;

use super::Timeline;
use super::launch_timer::whole;
use crate::figures::RateOf;
use crate::gate::{
    Kind, Of, Quantity, Statement, Value,
    table::{Column, any, detail, number, subject, word},
};

/// A published figure of the workload, at full scale and on its own machine, with the own value.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedJobComparison {
    what: &'static str,
    id: &'static str,
    own: Value,
    published: Value,
    as_published: String,
    /// Own ÷ published.
    ratio: f64,
}

impl Statement for PublishedJobComparison {
    const KIND: Kind = Kind::JobPublished;
    const OF: Of = Of::Figure;
    const CAPTION: &'static str =
        "Published figures of the mixed analytics workload, at full scale and on its machine, and own ones";
    const COLUMNS: &'static [Column<Self>] = &[
        subject(word("what", "what", "The quantity.", |one| one.what)),
        any("own", "own", "The own value.", Quantity::Amount, |one| one.own.clone()),
        any("published", "published", "The published one.", Quantity::Amount, |one| one.published.clone()),
        number("ratio", "own ÷ published", "Own ÷ published.", |one| Some(one.ratio)),
        word("as_published", "as printed", "As printed.", |one| &one.as_published),
        detail(word("id", "id", "Its id in the library.", |one| one.id)),
    ];
}

/// A description, the id of the published figure, its kind of value, and the own value.
type OwnValue = (&'static str, &'static str, fn(f64) -> Value, Option<f64>);

/// The published figures in `library` for which `one` has a value of the same kind. Source: study C, "Test Bed
/// Description" and "Data and IO Throughput".
pub(crate) fn beside_jobs(one: &Timeline, library: &Library) -> Vec<PublishedJobComparison> {
    let rate: fn(f64) -> Value = |value| Value::Rate(value, RateOf::Bytes);
    let bytes: fn(f64) -> Value = |value| Value::Bytes(whole(value));
    let levels = one.levels.as_ref();
    let lengths = one.lengths.as_ref();
    let climb = levels.and_then(|all| all.climb).map(|(line, ..)| line.bytes_per_second);
    let input = |kind: TestKind| {
        let of_kind = one.kinds.iter().find(|one| one.kind == kind);
        of_kind.and_then(|one| one.full_scale_input_bytes).filter(|&bytes| bytes > 0.0)
    };
    let beside = |(what, id, of, own): OwnValue| {
        let (own, figure) = own.zip(library.figure(id))?;
        let (published, as_published) = (of(figure.value), figure.as_published());
        Some(PublishedJobComparison {
            what,
            id,
            own: of(own),
            published,
            as_published,
            ratio: own / figure.value,
        })
    };
    let known: [OwnValue; 9] = [
        ("launches", "c-wl-launched", Value::Number, Some(one.concurrency.launches as f64)),
        ("mean concurrency", "c-wl-concurrent", Value::Number, Some(one.concurrency.mean)),
        ("shortest launch", "c-wl-min-duration", Value::Seconds, lengths.map(|(all, _)| all.min)),
        ("longest launch", "c-wl-max-duration", Value::Seconds, lengths.map(|(all, _)| all.max)),
        ("input of I/O tests, full scale", "c-data-io", bytes, input(TestKind::Io)),
        ("input of computation, full scale", "c-data-comp", bytes, input(TestKind::Computation)),
        ("profile, start", "c-thr-jump", rate, levels.map(|all| all.start.bytes_per_second)),
        ("profile, climbs to", "c-thr-climb", rate, climb),
        ("profile, peak", "c-thr-peak", rate, levels.map(|all| all.peak.bytes_per_second)),
    ];
    known.into_iter().filter_map(beside).collect()
}
