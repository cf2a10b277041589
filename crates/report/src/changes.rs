//! What changed between two runs, in a few lines: changes first, then what cannot be told, then what shows no change;
//! and in what the hosts differ.

use analysis::{Comparison, Contrast};
use plan::Bytes;
use record::{HostFacts, Run};

use crate::format::{counted, latency, rate_in, whole};
use crate::section::{Block, only, signed};
use crate::table::{Cell, Table, Tone};
use crate::words;

/// Comparisons without a change that are named, and those of which nothing can be told.
const NAMED: usize = 3;
const UNTOLD: usize = 1;
/// Changes that are named.
const CHANGES: usize = 24;

pub(crate) const FASTER: (&str, Tone) = ("faster", Tone::Good);
pub(crate) const SLOWER: (&str, Tone) = ("slower", Tone::Bad);
pub(crate) const NOT_SHOWN: (&str, Tone) = ("not shown", Tone::Plain);
pub(crate) const TOO_FEW: (&str, Tone) = ("too few values", Tone::Doubtful);
pub(crate) const CANNOT_TELL: (&str, Tone) = ("cannot be told", Tone::Doubtful);

/// What is said of a comparison: a higher rate is faster, a higher latency slower.
pub(crate) const fn outcome(one: &Comparison) -> (&'static str, Tone) {
    if one.refused.is_some() {
        return CANNOT_TELL;
    }
    match (one.difference.outcome, one.operation) {
        (Contrast::Higher, None) | (Contrast::Lower, Some(_)) => FASTER,
        (Contrast::Lower, None) | (Contrast::Higher, Some(_)) => SLOWER,
        (Contrast::NotShown, _) => NOT_SHOWN,
        (Contrast::TooFew, _) => TOO_FEW,
    }
}

/// A row for each change, a few of the others, and how many more there are.
pub(crate) fn blocks(comparisons: &[&Comparison]) -> Vec<Block> {
    let of = |stated: bool| {
        move |one: &&&Comparison| (one.refused.is_none() && one.difference.is_stated()) == stated
    };
    let changed: Vec<&Comparison> = comparisons.iter().filter(of(true)).copied().collect();
    // Latencies follow their rates; they are named where they change.
    let rates =
        comparisons.iter().filter(of(false)).filter(|one| one.operation.is_none() && !one.transferring);
    let by_outcome = analysis::grouped(rates.copied(), |one| outcome(one).0);
    let mut rows: Vec<&Comparison> = changed.iter().copied().take(CHANGES).collect();
    let mut more = Vec::new();
    if changed.len() > CHANGES {
        more.push(format!("{} more changed", changed.len() - CHANGES));
    }
    for mut same in by_outcome {
        // The largest gaps are what a reader asks for.
        same.sort_by(|one, other| other.difference.change.abs().total_cmp(&one.difference.change.abs()));
        let word = shown(same[0]).0;
        let named = if word == outcome(same[0]).0 { UNTOLD } else { NAMED };
        if same.len() > named {
            more.push(format!("{} more {word}", same.len() - named));
        }
        rows.extend(same.into_iter().take(named));
    }
    let mut blocks = only("", table(&rows));
    if !more.is_empty() {
        blocks.push(Block::Text(format!("and {}", more.join(", "))));
    }
    let mut reasons: Vec<&str> = comparisons.iter().filter_map(|one| one.refused.as_deref()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    if let Some(first) = reasons.first() {
        let others = match reasons.len() - 1 {
            0 => String::new(),
            others => format!("; and {}", counted(others as u64, "other reason")),
        };
        blocks.push(Block::Text(format!("{}: {first}{others}", CANNOT_TELL.0)));
    }
    blocks
}

fn table(rows: &[&Comparison]) -> Table {
    let value = |one: &Comparison, value: f64| match one.operation {
        Some(_) => latency(whole(value)),
        None => rate_in(value, words::unit(one.phase)),
    };
    Table::of(rows)
        .left("result", |one| Cell::toned(shown(one).0, shown(one).1))
        .left("case", |one| {
            // The name of a point of a sweep has its settings, which may be folded between them.
            let case = one.case.replace(':', " ");
            match one.operation {
                Some(of) => format!("{case}, latency of {}s", of.name()),
                None if one.transferring => format!("{case} {}, transfers alone", one.phase),
                None => format!("{case} {}", one.phase),
            }
        })
        .right("before", |one| value(one, one.difference.before))
        .right("after", |one| value(one, one.difference.after))
        .right("change", |one| one.refused.is_none().then(|| signed(one.difference.change)))
        .right("interval", |one| {
            one.difference
                .interval
                .map(|(low, high)| format!("{} … {}", signed(low).trim_end_matches(" %"), signed(high)))
        })
        .done()
}

/// A difference that is not shown is no proof that there is none.
fn shown(one: &Comparison) -> (&'static str, Tone) {
    let said = outcome(one);
    if said.0 == NOT_SHOWN.0 { ("no change shown", said.1) } else { said }
}

/// In what the hosts and programs of both runs differ: `kernel 6.1.0-25 → 6.1.0-28`.
pub(crate) fn differences([before, after]: [&Run; 2]) -> Vec<String> {
    let words = |fact: &dyn Fn(&HostFacts) -> String| [before, after].map(|run| fact(&run.manifest.host));
    let known = |fact: &record::Fact<String>| fact.known().cloned().unwrap_or_default();
    let of_devices = |host: &HostFacts, fact: &dyn Fn(&record::BlockDeviceFacts) -> String| {
        let all: Vec<String> = host.devices.iter().map(fact).filter(|words| !words.is_empty()).collect();
        all.join(", ")
    };
    let sides = [
        ("node", words(&|host| host.node.clone())),
        (
            "kernel",
            words(&|host| known(&host.kernel).split_whitespace().next().unwrap_or_default().to_owned()),
        ),
        ("processors", words(&|host| format!("{} × {}", host.usable_cpus, known(&host.cpu_model)))),
        ("governor", words(&|host| known(&host.governor))),
        ("memory", words(&|host| Bytes(host.memory_bytes).to_string())),
        (
            "file systems",
            words(&|host| {
                host.file_systems
                    .iter()
                    .map(|one| format!("{} ({})", one.kind, one.options))
                    .collect::<Vec<_>>()
                    .join(", ")
            }),
        ),
        ("devices", words(&|host| of_devices(host, &|one| known(&one.model)))),
        ("firmware", words(&|host| of_devices(host, &|one| known(&one.firmware)))),
        ("scheduler", words(&|host| of_devices(host, &|one| known(&one.scheduler)))),
        (
            "read-ahead",
            words(&|host| {
                of_devices(host, &|one| {
                    one.read_ahead_bytes.known().map(|&bytes| Bytes(bytes).to_string()).unwrap_or_default()
                })
            }),
        ),
        ("ioproof", [before, after].map(|run| run.manifest.program_version.clone())),
    ];
    let differs =
        sides.into_iter().filter(|(_, [one, other])| one != other && !(one.is_empty() || other.is_empty()));
    differs.map(|(name, [one, other])| format!("{name} {one} → {other}")).collect()
}
