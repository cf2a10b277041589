//! What changed between two runs, in a few lines: changes first, then what cannot be told, then what shows no change;
//! and in what the hosts differ.

use analysis::{Comparison, Contrast};
use plan::Bytes;
use record::{HostFacts, Run};

use crate::format::{compact_rate, latency, rate_in, whole};
use crate::section::{Block, only, signed};
use crate::table::{Cell, Table, Tone};
use crate::words;

/// Comparisons without a change that are named, and those of which nothing can be told.
const NAMED: usize = 3;
const UNTOLD: usize = 1;
/// What the interval of a change is called. Its confidence is that of all comparisons together.
pub(crate) const INTERVAL: &str = "99 % interval";
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

/// A comparison with what it is of.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) comparison: Comparison,
    /// The conditions of both figures.
    pub(crate) conditions: String,
    /// In what these differ; empty where they do not.
    pub(crate) differs: String,
    /// Bytes of a transfer, where it is so small that its rate is told in transfers per second.
    pub(crate) small_transfer: Option<f64>,
}

impl Compared {
    /// A value of either side in words.
    pub(crate) fn value(&self, value: f64) -> String {
        match (self.comparison.operation, self.small_transfer) {
            (Some(_), _) => latency(whole(value)),
            (None, Some(bytes)) => compact_rate(value / bytes, "IOPS"),
            (None, None) => rate_in(value, words::unit(self.comparison.phase)),
        }
    }

    fn is_stated(&self) -> bool {
        self.comparison.refused.is_none() && self.comparison.difference.is_stated()
    }

    /// Latencies follow their rates.
    fn is_rate(&self) -> bool {
        self.comparison.operation.is_none() && !self.comparison.transferring
    }
}

/// A row for each change, a few of the others, and how many more there are; then why nothing can be told of some, and
/// which figures were measured under other conditions.
pub(crate) fn blocks(comparisons: &[Compared]) -> Vec<Block> {
    let changed: Vec<&Compared> = comparisons.iter().filter(|one| one.is_stated()).collect();
    let rates = comparisons.iter().filter(|one| !one.is_stated() && one.is_rate());
    let by_outcome = analysis::grouped(rates, |one| outcome(&one.comparison).0);
    let mut rows: Vec<&Compared> = changed.iter().copied().take(CHANGES).collect();
    let mut more = Vec::new();
    if changed.len() > CHANGES {
        more.push(format!("{} more changed", changed.len() - CHANGES));
    }
    for mut same in by_outcome {
        // The largest gaps are what a reader asks for.
        let gap = |one: &Compared| one.comparison.difference.change.abs();
        same.sort_by(|one, other| gap(other).total_cmp(&gap(one)));
        let word = shown(&same[0].comparison).0;
        let named = if word == outcome(&same[0].comparison).0 { UNTOLD } else { NAMED };
        if same.len() > named {
            more.push(format!("{} more {word}", same.len() - named));
        }
        rows.extend(same.into_iter().take(named));
    }
    let mut blocks = only("", table(&rows));
    if !more.is_empty() {
        blocks.push(Block::Text(format!("and {}", more.join(", "))));
    }
    // `before: too short: took 1.2 s`: one line for each reason, with what shows it for the first figure.
    let reasons = comparisons.iter().filter(|one| one.is_rate());
    let reasons = reasons.filter_map(|one| one.comparison.refused.as_deref());
    for same in analysis::grouped(reasons, |why| why.split(": ").nth(1).unwrap_or(why)) {
        let of = if same.len() > 1 { format!(" ({} times)", same.len()) } else { String::new() };
        blocks.push(Block::Text(format!("{}{of}: {}", CANNOT_TELL.0, same[0])));
    }
    let differing = comparisons.iter().filter(|one| one.is_rate() && !one.differs.is_empty());
    for same in analysis::grouped(differing, |one| one.differs.as_str()) {
        let first = &same[0].comparison;
        let more = match same.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        blocks.push(Block::Text(format!(
            "not measured alike: {} {}{more}: {}",
            first.case, first.phase, same[0].differs
        )));
    }
    blocks
}

fn table(rows: &[&Compared]) -> Table {
    Table::of(rows.iter().map(|one| (&one.comparison, *one)))
        .left("result", |(one, _)| Cell::toned(shown(one).0, shown(one).1))
        .left("case", |(one, _)| {
            // The name of a point of a sweep has its settings, which may be folded between them.
            let case = one.case.replace(':', " ");
            match one.operation {
                Some(of) => format!("{case}, latency of {}s", of.name()),
                None if one.transferring => format!("{case} {}, transfers alone", one.phase),
                None => format!("{case} {}", one.phase),
            }
        })
        .right("before", |(one, of)| of.value(one.difference.before))
        .right("after", |(one, of)| of.value(one.difference.after))
        .right("change", |(one, _)| one.refused.is_none().then(|| signed(one.difference.change)))
        .right(INTERVAL, |(one, _)| {
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
