//! ioping: the lines of statistics, and the requests before them.

use record::PrintedRow;

use super::printout::{Found, Printout, Values};
use crate::printed::{Printed, PrintedCheck, short};

/// What is counted: that of the requests, and with the pauses between them.
const KINDS: [&str; 2] = ["", " generated"];

/// Requests ÷ time = iops, size ÷ time = speed, requests × mean = time.
pub(super) fn totals(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| KINDS.into_iter().flat_map(|kind| of_kind(values, kind)).collect())
}

fn of_kind(values: &Values<'_>, kind: &str) -> Vec<PrintedCheck> {
    let of =
        |label: &str, statistic: &str| values.find(&format!("{label}{kind}"), statistic).and_then(rounded);
    // Releases to 0.9 print no size, and the time with the rests; their raw statistics are in us.
    let time = values.find(&format!("time{kind}"), "total");
    let is_raw = time.is_some_and(|row| row.unit == "ns" && row.value.bytes().all(|c| c.is_ascii_digit()));
    let (time, size) = (time.and_then(rounded), of("size", "total"));
    let Some(seconds) = time.map(|ns| ns.times(1e-9)).filter(|_| is_raw || size.is_some()) else {
        return Vec::new();
    };
    let requests = of("requests", "total");
    let compare = |rule, printed: Option<Printed>, computed: Option<Printed>| {
        let (printed, computed) = (printed?, computed?);
        let evidence = format!("{} by the others, printed {}", short(computed.value), short(printed.value));
        Some(PrintedCheck::of(rule, printed, computed, 0.0, evidence))
    };
    let mean = values.find("request time", "mean").and_then(rounded).filter(|_| kind.is_empty());
    let all = requests.zip(mean).map(|(requests, mean)| requests.by(mean.times(1e-9)));
    let found = [
        compare(
            "iops = requests ÷ time",
            of("iops", ""),
            requests.and_then(|requests| requests.over(seconds)),
        ),
        compare("speed = size ÷ time", of("speed", ""), size.and_then(|size| size.over(seconds))),
        compare("time = requests × mean", all.map(|_| seconds), all),
    ];
    found.into_iter().flatten().collect()
}

/// The statistics of the requests, if all of them are printed.
pub(super) fn requests(printout: &Printout<'_>) -> Vec<Found> {
    printout.of_passes(|values| {
        let is_single = |row: &&&PrintedRow| row.label == "request time" && row.statistic == "single";
        let singles: Vec<Printed> =
            values.rows.iter().filter(is_single).filter_map(|row| rounded(row)).collect();
        let count = values.find("requests", "total").and_then(|row| row.number);
        if singles.is_empty() || count != Some(singles.len() as f64) {
            return Vec::new();
        }
        let n = singles.len() as f64;
        let mean = singles.iter().map(|one| one.value).sum::<f64>() / n;
        let squares = singles.iter().map(|one| (one.value - mean).powi(2)).sum::<f64>();
        let half_digit = singles.iter().map(|one| one.half_digit).fold(0.0, f64::max);
        let by_value = |a: &Printed, b: &Printed| a.value.total_cmp(&b.value);
        let computed = [
            ("min", singles.iter().copied().min_by(by_value)),
            ("max", singles.iter().copied().max_by(by_value)),
            ("mean", Some(Printed { value: mean, half_digit })),
            (
                "standard deviation",
                Some(Printed { value: (squares / n).sqrt(), half_digit: 2.0 * half_digit }),
            ),
        ];
        let check = |(statistic, computed): (&str, Option<Printed>)| {
            let (printed, computed) = (rounded(values.find("request time", statistic)?)?, computed?);
            let evidence = format!(
                "{statistic}: {} ns by {n} requests, printed {} ns",
                short(computed.value),
                short(printed.value)
            );
            Some(PrintedCheck::of("statistics of all requests", printed, computed, 0.0, evidence))
        };
        computed.into_iter().filter_map(check).collect()
    })
}

/// The number of `row` with what may be missing of it: further digits are rounded or cut off.
fn rounded(row: &PrintedRow) -> Option<Printed> {
    let end = row.value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(row.value.len());
    let digits = Printed::parse(&row.value[..end])?;
    let value = row.number?;
    let unit = if digits.value == 0.0 { 1.0 } else { value / digits.value };
    // Counts below 1,000, and sizes that are a whole number of their unit, are exact.
    let is_whole =
        row.unit.is_empty() && end == row.value.len() || row.unit == "bytes" && !row.value.contains('.');
    Some(Printed { value, half_digit: if is_whole { 0.0 } else { 2.0 * digits.half_digit * unit } })
}
