//! A short summary of the changes between two runs, and the differences between their hosts.

use analysis::comparisons::{Comparison, LimitResult, RunScatter};
use analysis::statistics::Contrast;
use plan::{Bytes, FigureQuantity};
use record::{BlockDeviceFacts, Fact, FileSystemFacts, HostFacts, Run};

use crate::format::names;
use crate::format::table::{Cell, Table, Tone};
use crate::format::{compact_rate, counted, latency, mark, percent, rate_in, whole};
use crate::report::origin::UNKNOWN_NODE;
use crate::section::{Block, only, signed};

/// Maximum number of comparisons listed without a shown change.
const UNCHANGED_LISTED: usize = 3;
/// Maximum number of undecided comparisons listed.
const UNDECIDED_LISTED: usize = 1;
/// Maximum number of values listed of which it cannot be told whether they are within their limit.
const UNTOLD_LISTED: usize = 8;
/// Maximum number of changes listed.
const CHANGES_LISTED: usize = 24;

pub(crate) const FASTER: (&str, Tone) = ("faster", Tone::Good);
pub(crate) const SLOWER: (&str, Tone) = ("slower", Tone::Bad);
/// Absence of a shown difference does not prove equality.
pub(crate) const NOT_SHOWN: (&str, Tone) = ("no change shown", Tone::Plain);
pub(crate) const TOO_FEW: (&str, Tone) = ("too few values", Tone::Doubtful);
pub(crate) const CANNOT_TELL: (&str, Tone) = ("cannot be told", Tone::Doubtful);

/// The outcome of a comparison: a higher rate is faster, a higher latency slower.
pub(crate) fn outcome(one: &Comparison) -> (&'static str, Tone) {
    if one.is_withheld() {
        return CANNOT_TELL;
    }
    match (one.difference.outcome, one.operation) {
        (Contrast::Higher, None) | (Contrast::Lower, Some(_)) => FASTER,
        (Contrast::Lower, None) | (Contrast::Higher, Some(_)) => SLOWER,
        (Contrast::NotShown, _) => NOT_SHOWN,
        (Contrast::TooFew, _) => TOO_FEW,
    }
}

/// The limit of a change.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    pub(crate) result: LimitResult,
    /// The value that is limited.
    pub(crate) name: String,
    /// The change that is allowed: `−5.0 %`.
    pub(crate) allowed: String,
    /// What would tell whether it was kept: `12 passes a side`.
    pub(crate) needs: String,
}

/// A comparison with its conditions.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    pub(crate) comparison: Comparison,
    /// The conditions of both figures.
    pub(crate) conditions: String,
    /// The conditions that differ; empty if there are none.
    pub(crate) differs: String,
    /// The transfer size, if it is so small that rates are shown in transfers per second.
    pub(crate) small_transfer: Option<f64>,
    /// The limit of the change, if it is compared with one.
    pub(crate) limit: Option<Limit>,
}

impl Compared {
    /// The outcome of the comparison, or of its limit.
    fn outcome(&self) -> (&'static str, Tone) {
        let tone = |result| match result {
            LimitResult::Worse => Tone::Bad,
            LimitResult::Untold => Tone::Doubtful,
            LimitResult::Within => Tone::Plain,
        };
        self.limit
            .as_ref()
            .map_or_else(|| outcome(&self.comparison), |one| (one.result.word(), tone(one.result)))
    }

    /// What is compared.
    fn subject(&self, is_full: bool) -> String {
        let one = &self.comparison;
        if let Some(limit) = &self.limit {
            return limit.name.clone();
        }
        // Allows a line break between the settings in the name of a sweep's point.
        let case = if is_full { one.case.clone() } else { one.case.replace(':', " ") };
        match (one.operation, one.quantity) {
            (Some(of), FigureQuantity::Percentile(percent)) => {
                format!("{case} {}, p{percent} of {}s", one.phase, of.name())
            }
            (Some(of), _) => format!("{case} {}, mean latency of {}s", one.phase, of.name()),
            (None, _) if one.transferring => format!("{case} {}, rate while transferring", one.phase),
            (None, _) => format!("{case} {}", one.phase),
        }
    }

    /// A value of either run in readable form.
    pub(crate) fn value(&self, value: f64) -> String {
        match (self.comparison.operation, self.small_transfer) {
            (Some(_), _) => latency(whole(value)),
            (None, Some(bytes)) => compact_rate(value / bytes, "IOPS"),
            (None, None) => rate_in(value, names::unit(self.comparison.phase)),
        }
    }

    /// The relative change. `None` if no change is shown, because a number would suggest one.
    pub(crate) fn change(&self) -> Option<f64> {
        let one = &self.comparison;
        let is_said = self.limit.is_some() || one.difference.outcome != Contrast::NotShown;
        (is_said && !one.is_withheld()).then_some(one.difference.change)
    }

    /// Caveats of the result: names of reasons with their evidence.
    fn caveats(&self) -> impl Iterator<Item = (&str, &str)> {
        let differs = Some(("not measured alike", &*self.differs)).filter(|(_, differs)| !differs.is_empty());
        let reasons = self.comparison.reasons.iter();
        differs.into_iter().chain(reasons.map(|one| (one.because.name(), &*one.evidence)))
    }

    fn is_stated(&self) -> bool {
        self.comparison.difference.is_stated()
    }

    /// Whether it compares rates, rather than latencies or rates while transferring.
    pub(crate) fn is_rate(&self) -> bool {
        self.comparison.operation.is_none() && !self.comparison.transferring
    }
}

/// A row for each change, a few of the others, the largest first, and the number of the rest; then each caveat once,
/// with the letter used in its rows.
pub(crate) fn blocks(comparisons: &[Compared]) -> Vec<Block> {
    let all = comparisons.iter().filter(|one| one.is_stated() || one.is_rate());
    let mut all: Vec<&Compared> = all.collect();
    all.sort_by(|one, other| other.is_stated().cmp(&one.is_stated()).then(by_size(one, other)));
    let kind = |one: &Compared| if one.is_stated() { CHANGED } else { one.outcome().0 };
    listed(&all, kind, |kind| match kind {
        CHANGED => CHANGES_LISTED,
        kind if kind == NOT_SHOWN.0 => UNCHANGED_LISTED,
        _ => UNDECIDED_LISTED,
    })
}

/// The kind of all comparisons that show a change, in either direction.
const CHANGED: &str = "changed";

/// The same for limits, in the order of their results.
pub(crate) fn limited(rows: &[&Compared], is_full: bool) -> Vec<Block> {
    let most = |kind: &str| match kind {
        _ if is_full => usize::MAX,
        kind if kind == LimitResult::Worse.word() => CHANGES_LISTED,
        kind if kind == LimitResult::Untold.word() => UNTOLD_LISTED,
        _ => UNCHANGED_LISTED,
    };
    listed(rows, |one| one.outcome().0, most)
}

/// The largest change first.
pub(crate) fn by_size(one: &Compared, other: &Compared) -> std::cmp::Ordering {
    let size = |one: &Compared| one.comparison.difference.change.ln_1p().abs();
    size(other).total_cmp(&size(one))
}

/// The rows of each kind up to `most` of it, and the number of the rest; then the caveats of these rows.
fn listed(
    all: &[&Compared],
    kind: impl Fn(&Compared) -> &'static str,
    most: impl Fn(&str) -> usize,
) -> Vec<Block> {
    let (mut rows, mut more): (Vec<&Compared>, Vec<String>) = (Vec::new(), Vec::new());
    for same in analysis::figures::grouped(all.iter().copied(), |one| kind(one)) {
        let of_all = kind(same[0]);
        let listed = most(of_all);
        if same.len() > listed {
            more.push(format!("{} more {of_all}", same.len() - listed));
        }
        rows.extend(same.into_iter().take(listed));
    }
    // Only the caveats of listed rows are explained.
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|one| one.caveats()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut blocks = only("", table(&rows, Some(&names)));
    if !more.is_empty() {
        blocks.push(Block::Text(format!("and {}", more.join(", "))));
    }
    blocks.extend(names.iter().enumerate().filter_map(|(index, name)| caveat(all, index, name)));
    blocks
}

/// A caveat with its letter, the number of figures that have it, and its evidence for the first of them.
fn caveat(all: &[&Compared], index: usize, name: &str) -> Option<Block> {
    let evidence = |one: &Compared| one.caveats().find(|(of, _)| *of == name).map(|(_, why)| why.to_owned());
    let having = || all.iter().filter_map(|one| Some((one, evidence(one)?)));
    let rates = all.iter().filter(|one| one.is_rate()).count();
    let of = match having().filter(|(one, _)| one.is_rate()).count() {
        0 | 1 => String::new(),
        every if every == rates => ", all figures".to_owned(),
        some => format!(", {}", counted(some as u64, "figure")),
    };
    let (first, why) = having().next()?;
    let (case, phase) = (&first.comparison.case, first.comparison.phase);
    Some(Block::Text(format!("{}  {name}{of}: {case} {phase}, {why}", mark(index))))
}

/// The first `most` of `all`, and the number of the rest.
pub(crate) fn first_of(mut all: Vec<String>, most: usize) -> Vec<String> {
    let more = all.len().saturating_sub(most);
    all.truncate(most);
    all.extend((more > 0).then(|| format!("and {more} more")));
    all
}

/// A row for each of `rows`. If `names` of caveats are given, each row has the letters of its caveats, else p and
/// all conditions.
pub(crate) fn table(rows: &[&Compared], names: Option<&[&str]>) -> Table {
    let is_full = names.is_none();
    let letters = |one: &Compared| {
        let place = |(name, _)| names?.iter().position(|other| *other == name);
        let mut places: Vec<usize> = one.caveats().filter_map(place).collect();
        places.sort_unstable();
        places.into_iter().map(mark).collect::<Vec<_>>().join(" ")
    };
    Table::of(rows.iter().map(|one| (&one.comparison, *one)))
        .left("result", |(_, of)| Cell::toned(of.outcome().0, of.outcome().1))
        .left("case", |(_, of)| of.subject(is_full))
        .right("before", |(one, of)| of.value(one.difference.before))
        .right("after", |(one, of)| of.value(one.difference.after))
        .right("change", |(_, of)| Cell::toned(of.change().map(signed).unwrap_or_default(), of.outcome().1))
        // The confidence is for all comparisons together.
        .right("99 % interval", |(one, _)| {
            one.difference
                .interval
                .map(|(low, high)| format!("{} … {}", signed(low).trim_end_matches(" %"), signed(high)))
        })
        .right("allowed", |(_, of)| of.limit.as_ref().map(|limit| limit.allowed.clone()))
        .left("needed", |(_, of)| of.limit.as_ref().map(|limit| limit.needs.clone()))
        .right("runs", |(one, _)| {
            one.scatter.map(|_| format!("{}, {}", one.difference.n.0, one.difference.n.1))
        })
        .right("between runs", |(one, _)| scatter(one, |of| of.between))
        .right("within", |(one, _)| scatter(one, |of| of.within))
        .right("p", |(one, _)| {
            let words = |p: f64| if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") };
            one.difference.p_value.filter(|_| is_full).map(words)
        })
        .left("!", |(_, of)| letters(of))
        .left("conditions", |(one, of)| {
            let reasons = one.reasons.iter();
            let reasons = reasons.map(|one| format!("; {}: {}", one.because.name(), one.evidence));
            is_full.then(|| format!("{}{}", of.conditions, reasons.collect::<String>()))
        })
        .done()
        .below("conditions")
        .without_empty_columns()
}

/// The scatter of both sides: `1.0 % → 1.2 %`.
fn scatter(one: &Comparison, of: impl Fn(&RunScatter) -> Option<f64>) -> Option<String> {
    let words = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    one.scatter.map(|[before, after]| format!("{} → {}", words(of(&before)), words(of(&after))))
}

/// How the hosts and programs of both runs differ.
#[derive(Debug, Default)]
pub(crate) struct HostDifferences {
    /// What is known of both and differs: `kernel 6.1.0-25 → 6.1.0-28`.
    pub(crate) differs: Vec<String>,
    /// The names of what is known of one alone, which is no difference.
    pub(crate) one_sided: Vec<&'static str>,
}

/// The differences between the hosts and programs of both runs.
pub(crate) fn differences([before, after]: [&Run; 2]) -> HostDifferences {
    let one =
        |fact: &dyn Fn(&HostFacts) -> Option<String>| [before, after].map(|run| fact(&run.manifest.host));
    let many = |fact: &dyn Fn(&BlockDeviceFacts) -> Fact<String>| {
        both_known([before, after].map(|run| run.manifest.host.devices.iter().map(fact).collect()))
    };
    let number = |number: u64| (number > 0).then_some(number);
    let file_systems = |fact: &dyn Fn(&FileSystemFacts) -> &String| {
        let fact = |one| Fact::of(Some(fact(one).clone()).filter(|text| !text.is_empty()), String::new);
        both_known([before, after].map(|run| run.manifest.host.file_systems.iter().map(fact).collect()))
    };
    let sides: [(&str, [Option<String>; 2]); 13] = [
        ("node", one(&|host| Some(host.node.clone()).filter(|node| node != UNKNOWN_NODE))),
        ("kernel", one(&|host| host.kernel.known()?.split(' ').next().map(str::to_owned))),
        ("processors", one(&|host| number(host.usable_cpus.into()).map(|cpus| cpus.to_string()))),
        ("processor model", one(&|host| host.cpu_model.known().cloned())),
        ("governor", one(&|host| host.governor.known().cloned())),
        ("memory", one(&|host| number(host.memory_bytes).map(|bytes| Bytes(bytes).to_string()))),
        ("file systems", file_systems(&|one| &one.kind)),
        ("mount options", file_systems(&|one| &one.options)),
        ("devices", many(&|one| one.model.clone())),
        ("firmware", many(&|one| one.firmware.clone())),
        ("scheduler", many(&|one| one.scheduler.clone())),
        ("read-ahead", many(&|one| one.read_ahead_bytes.clone().map(|bytes| Bytes(bytes).to_string()))),
        ("ioproof", [before, after].map(|run| Some(run.manifest.program_version.clone()))),
    ];
    let mut found = HostDifferences::default();
    for (name, sides) in sides {
        match sides {
            [Some(one), Some(other)] if one != other => found.differs.push(format!("{name} {one} → {other}")),
            [Some(_), None] | [None, Some(_)] => found.one_sided.push(name),
            _ => {}
        }
    }
    found
}

/// The known facts of each side as a list. If both sides have as many parts, those that only one of them knows are left
/// out of both lists. A side that knows no part is unknown.
fn both_known(sides: [Vec<Fact<String>>; 2]) -> [Option<String>; 2] {
    let [one, other] = &sides;
    let is_paired = one.len() == other.len();
    let list = |own: &[Fact<String>], others: &[Fact<String>]| {
        let kept = |at: usize| !is_paired || others[at].known().is_some();
        let known = own.iter().enumerate().filter(|(at, _)| kept(*at)).filter_map(|(_, fact)| fact.known());
        let known: Vec<&str> = known.map(String::as_str).collect();
        (!known.is_empty()).then(|| known.join(", "))
    };
    [list(one, other), list(other, one)]
}

#[cfg(test)]
mod tests {
    use record::Fact;

    use super::both_known;

    #[test]
    fn what_one_side_does_not_know_is_no_difference() {
        let facts = |all: &[&str]| -> Vec<Fact<String>> {
            let fact =
                |text: &&str| Fact::of(Some((*text).to_owned()).filter(|text| text != "?"), String::new);
            all.iter().map(fact).collect()
        };
        let both = |one: &[&str], other: &[&str]| {
            both_known([facts(one), facts(other)]).map(|side| side.unwrap_or_else(|| "unknown".to_owned()))
        };
        assert_eq!(both(&["a", "?"], &["b", "?"]), ["a", "b"]);
        assert_eq!(both(&["a", "?"], &["a", "b"]), ["a", "a"], "the second may be the same");
        assert_eq!(both(&["a"], &["a", "b"]), ["a", "a, b"], "there is one more");
        assert_eq!(both(&[], &["a"]), ["unknown", "a"]);
        assert_eq!(both(&["?"], &["a"]), ["unknown", "unknown"]);
    }
}
