//! Whether changes stayed within their limits: for a terminal, as JSON, and as JUnit XML.

use analysis::comparisons::{LimitResult, LimitResults, Limited, Needs};
use analysis::gate::Reason;
use analysis::statistics::{MANY, REPETITIONS_MOST};
use plan::{Limit, Operation};
use serde_json::{Value, json};

use super::changes::{self, Compared};
use crate::format::counted;
use crate::format::escape::xml;
use crate::format::names;
use crate::section::{Block, signed};

/// Limits and what came of them.
#[derive(Debug)]
pub(crate) struct Limits {
    limits: Vec<Limit>,
    results: LimitResults,
    /// Rows of those that could be compared, each with the index of its result.
    rows: Vec<(usize, Compared)>,
}

impl Limits {
    /// `conditions` are those of both figures of a result, in what they differ, and the size of small transfers.
    pub(crate) fn of(
        limits: &[Limit],
        results: LimitResults,
        conditions: impl Fn(&Limited) -> Option<(String, String, Option<f64>)>,
    ) -> Self {
        let row = |(place, one): (usize, &Limited)| {
            let limit = changes::Limit {
                result: one.result,
                name: one.name.clone(),
                allowed: signed(limits[one.limit].change()),
                needs: one.needs.map(|needs| needed(needs, results.is_of_runs)).unwrap_or_default(),
            };
            let comparison = one.comparison.clone()?;
            let compared = conditions(one).unwrap_or_default();
            Some((
                place,
                Compared {
                    comparison,
                    conditions: compared.0,
                    differs: compared.1,
                    small_transfer: compared.2,
                    limit: Some(limit),
                },
            ))
        };
        let rows = results.all.iter().enumerate().filter_map(row).collect();
        Self { limits: limits.to_vec(), results, rows }
    }

    /// The worst result of all.
    pub(crate) fn result(&self) -> LimitResult {
        self.results.result()
    }

    /// The limits that are about no figure, as they are written.
    pub(crate) fn without_figure(&self) -> Vec<String> {
        self.results.without_figure.iter().map(|place| self.limits[*place].to_string()).collect()
    }

    /// `1 of 12 values is worse than the limit; 3 cannot be told; 8 are within the limit`.
    pub(crate) fn heading(&self) -> String {
        let all = self.results.all.len();
        let [worse, untold, within] = LimitResult::ALL.map(|result| self.results.count(result));
        let are = |count: usize| if count == 1 { "is" } else { "are" };
        let values = counted(all as u64, "value");
        let first = match (worse, untold, all) {
            (.., 0) => return "Nothing can be judged: no figure is in both runs".to_owned(),
            (1, _, 1) => return "The value is worse than the limit".to_owned(),
            (_, 1, 1) => return "It cannot be told whether the value is within the limit".to_owned(),
            (.., 1) => return "The value is within the limit".to_owned(),
            (0, 0, _) => return format!("All {values} are within the limit"),
            (0, ..) => format!("None of {values} is shown to be worse than the limit"),
            (worse, ..) => format!("{worse} of {values} {} worse than the limit", are(worse)),
        };
        let untold = (untold > 0).then(|| format!("; {untold} cannot be told"));
        let within = (within > 0).then(|| format!("; {within} {} within the limit", are(within)));
        format!("{first}{}{}", untold.unwrap_or_default(), within.unwrap_or_default())
    }

    /// The rows of all results: `is_full` without a limit of their number.
    pub(crate) fn blocks(&self, is_full: bool) -> Vec<Block> {
        let rows: Vec<&Compared> = self.rows.iter().map(|(_, row)| row).collect();
        let mut blocks = changes::limited(&rows, is_full);
        let missing: Vec<String> = self
            .results
            .all
            .iter()
            .filter(|one| one.comparison.is_none())
            .map(|one| format!("{}: {}", one.name, one.why))
            .collect();
        if !missing.is_empty() {
            blocks.push(Block::List(changes::first_of(
                missing,
                if is_full { usize::MAX } else { MISSING_LISTED },
            )));
        }
        blocks
    }

    /// A value for each result.
    pub(crate) fn json(&self) -> Value {
        let reason = |one: &Reason| json!({ "because": one.because.name(), "evidence": one.evidence });
        let row = |one: &Limited| {
            let limit = &self.limits[one.limit];
            let found = one.comparison.as_ref().map(|compared| &compared.difference);
            let interval = found.and_then(|found| found.interval);
            let reasons = one.comparison.iter().flat_map(|compared| &compared.reasons).map(reason);
            json!({
                "limit": limit.to_string(),
                "value": one.name,
                "latency_of": one.comparison.as_ref().and_then(|one| one.operation).map(Operation::name),
                "unit": one.comparison.as_ref().map(|one| match one.operation {
                    Some(_) => "ns",
                    None => names::unit(one.phase),
                }),
                "before": found.map(|found| found.before),
                "after": found.map(|found| found.after),
                "change": one.change(),
                "change_low": interval.map(|(low, _)| low),
                "change_high": interval.map(|(_, high)| high),
                "change_allowed": limit.change(),
                "result": one.result.word(),
                "why": one.why,
                "values_needed": match one.needs {
                    Some(Needs::Values(count) | Needs::AtLeast(count)) => Some(count),
                    Some(Needs::TooMany) | None => None,
                },
                "standing": one.comparison.as_ref().map(|one| one.outcome.name()),
                "reasons": reasons.collect::<Vec<_>>(),
            })
        };
        json!({
            "result": self.result().word(),
            "worse": self.results.count(LimitResult::Worse),
            "untold": self.results.count(LimitResult::Untold),
            "within": self.results.count(LimitResult::Within),
            "all": self.results.all.iter().map(row).collect::<Vec<_>>(),
        })
    }

    /// JUnit XML, a test case for each value: what is worse is a failure; what cannot be told is an error, or is
    /// skipped if it `allows_untold`.
    pub(crate) fn junit(&self, allows_untold: bool) -> String {
        let count = |result| self.results.count(result);
        let untold = count(LimitResult::Untold);
        let (errors, skipped) = if allows_untold { (0, untold) } else { (untold, 0) };
        let mut out = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"ioproof compare\" \
             tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{skipped}\">\n",
            self.results.all.len(),
            count(LimitResult::Worse),
        );
        for (place, one) in self.results.all.iter().enumerate() {
            let (name, limit) = (xml(&one.name), xml(&self.limits[one.limit].to_string()));
            out += &format!("<testcase classname=\"{name}\" name=\"{limit}\"");
            let row = self.rows.iter().find(|(of, _)| *of == place).map(|(_, row)| row);
            let words = row.map_or_else(|| one.why.clone(), |row| sentence(row, one));
            let words = xml(&words);
            let element = match one.result {
                LimitResult::Within => {
                    out += &format!(">\n<system-out>{words}</system-out>\n</testcase>\n");
                    continue;
                }
                LimitResult::Worse => "failure",
                LimitResult::Untold if allows_untold => "skipped",
                LimitResult::Untold => "error",
            };
            out += &format!(">\n<{element} message=\"{words}\"/>\n</testcase>\n");
        }
        out + "</testsuite>\n</testsuites>\n"
    }
}

/// Values that only one side has, listed for a reader.
const MISSING_LISTED: usize = 8;

/// `99.6k IOPS → 514 IOPS, −99.5 %`, and what else is known.
fn sentence(row: &Compared, one: &Limited) -> String {
    let found = &row.comparison.difference;
    let mut words = format!("{} → {}", row.value(found.before), row.value(found.after));
    if let Some(change) = one.change() {
        words += &format!(", {}", signed(change));
    }
    if let Some((low, high)) = found.interval {
        words += &format!(" ({} … {})", signed(low), signed(high));
    }
    let limit = row.limit.as_ref();
    let needs = limit.map(|limit| limit.needs.as_str()).filter(|needs| !needs.is_empty());
    let needs = needs.map(|needs| format!("{needs} would tell"));
    let why = Some(one.why.as_str()).filter(|why| !why.is_empty()).map(str::to_owned);
    for more in why.into_iter().chain(needs) {
        words += &format!("; {more}");
    }
    words
}

/// `12 passes a side`.
fn needed(needs: Needs, is_of_runs: bool) -> String {
    let what = if is_of_runs { "runs" } else { "passes" };
    match needs {
        Needs::Values(count) => format!("{count} {what} a side"),
        Needs::AtLeast(count) if is_of_runs => format!("{count} runs a side, or {MANY} before"),
        Needs::AtLeast(count) => format!("at least {count} {what} a side"),
        Needs::TooMany => format!("more than {REPETITIONS_MOST} {what} a side"),
    }
}
