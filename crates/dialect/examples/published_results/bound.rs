//! The printed values that others bind, by tool: how much a value may vary within the rounding of all of them.

use analysis::printed::Printed;
use plan::Case;
use record::{PrintedRow, io500};

/// A printed value among all of its output.
pub(crate) struct Of<'a> {
    pub(crate) row: &'a PrintedRow,
    pub(crate) all: &'a [PrintedRow],
    pub(crate) case: &'a Case,
}

/// Printed values of a tool that others bind.
pub(crate) struct Bound {
    pub(crate) tool: &'static str,
    pub(crate) name: &'static str,
    /// By how much the values that bind the row let it vary: the sum of all rounding errors. `None` if nothing binds
    /// it.
    pub(crate) room: fn(of: &Of<'_>) -> Option<f64>,
}

const fn bound(tool: &'static str, name: &'static str, room: fn(of: &Of<'_>) -> Option<f64>) -> Bound {
    Bound { tool, name, room }
}

/// The values of each tool that are changed.
pub(crate) const BOUND: &[Bound] = &[
    bound("mdtest", "highest or lowest rate, shortest or longest time", mdtest_product),
    bound("mdtest", "mean between lowest and highest", mean_of_extremes),
    bound("mdtest", "items at the deadline", mdtest_deadline),
    bound("IO500", "result of a phase", io500_result),
    bound("IO500", "score of a category", io500_score),
    bound("IO500", "total score", io500_total),
    bound("IOR", "bandwidth, time or bytes of a pass", ior_pass),
    bound("IOR", "IOPS, or time between open and close", ior_operations),
    bound("IOR", "bandwidth or operations of the summary", ior_summary),
    bound("IOR", "mean time or amount of the summary", ior_amount),
    bound("IOR", "highest bandwidth in MB/s", ior_decimal),
    bound("IOR", "tasks, segments, block or aggregate size", ior_aggregate),
    bound("iozone", "sum or average of the processes", iozone_sum),
    bound("elbencho", "rate, time or amount", elbencho_rate),
    bound("elbencho", "IOPS", elbencho_iops),
    bound("elbencho", "rates of a mixed phase", elbencho_mixed),
    bound("elbencho", "mean latency between lowest and highest", mean_of_extremes),
    bound("fio", "bandwidth", fio_bandwidth),
    bound("fio", "bytes", fio_bytes),
    bound("fio", "requests per second", fio_iops),
    bound("fio", "requests", fio_requests),
    bound("fio", "time", fio_time),
    bound("fio", "mean latency and its parts", fio_latency),
    bound("fio", "mean latency between lowest and highest", fio_mean),
    bound("ioping", "requests, size, time or rate", ioping_total),
    bound("ioping", "mean request time", ioping_mean),
    bound("ioping", "lowest or highest request time", ioping_extreme),
    bound("ioping", "time of a request", ioping_request),
    bound("tsqosperf", "data rate, operation rate, latency", gpfsperf),
    bound("gpfsperf", "data rate, operation rate, latency", gpfsperf),
    bound("md-workbench", "mean latency between lowest and highest", mean_of_extremes),
];

/// The number of `row`, with half a unit of its last printed digit.
fn number(row: &PrintedRow) -> Option<Printed> {
    let end = row.value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(row.value.len());
    let digits = Printed::parse(&row.value[..end])?;
    let value = row.number?;
    let unit = if digits.value == 0.0 { 1.0 } else { value / digits.value };
    Some(Printed { value, half_digit: digits.half_digit * unit })
}

fn share(printed: Printed) -> f64 {
    printed.half_digit / printed.value
}

impl Of<'_> {
    fn find(&self, label: &str, unit: &str, statistic: &str) -> Option<&PrintedRow> {
        self.all.iter().find(|row| {
            row.key == self.row.key && row.label == label && row.unit == unit && row.statistic == statistic
        })
    }

    /// The value of the same pass with this label and statistic.
    fn value(&self, label: &str, statistic: &str) -> Option<Printed> {
        let is_it =
            |row: &&PrintedRow| row.key == self.row.key && row.label == label && row.statistic == statistic;
        number(self.all.iter().find(is_it)?)
    }

    /// What the options of the case say.
    fn stated(&self, label: &str) -> Option<&PrintedRow> {
        let is_it = |row: &&PrintedRow| {
            row.key.case == self.row.key.case && row.label == label && row.statistic == "stated"
        };
        self.all.iter().find(is_it)
    }

    fn is(&self, label: &str, statistic: &str) -> bool {
        self.row.label == label && self.row.statistic == statistic
    }

    fn own(&self) -> Option<Printed> {
        number(self.row)
    }

    fn release(&self) -> Option<(u32, u32)> {
        self.case.printed_by.as_ref()?.numbers()
    }
}

/// Lowest ≤ mean ≤ highest, where all are printed in the same line or object.
fn mean_of_extremes(of: &Of<'_>) -> Option<f64> {
    let row = of.row;
    let [min, max] = ["min", "max"].map(|statistic| number(of.find(&row.label, &row.unit, statistic)?));
    let (min, max) = (min?, max?);
    (row.statistic == "mean").then_some(max.value - min.value + 2.0 * max.half_digit)
}

/// Highest rate × shortest time = lowest rate × longest time.
fn mdtest_product(of: &Of<'_>) -> Option<f64> {
    let row = of.row;
    let is_extreme = row.statistic == "max" || row.statistic == "min";
    let rates = row.label.strip_suffix(" time").unwrap_or(&row.label);
    let times = format!("{rates} time");
    let extremes = [(rates, "max"), (rates, "min"), (&times, "max"), (&times, "min")];
    let mut extremes = extremes.into_iter().map(|(label, statistic)| of.value(label, statistic));
    let sum = extremes.try_fold(0.0, |sum, printed| Some(sum + share(printed?)))?;
    (is_extreme && !rates.starts_with("Tree")).then_some(row.number? * sum * 1.01)
}

/// Tasks × items = rate × time.
fn mdtest_deadline(of: &Of<'_>) -> Option<f64> {
    let (label, rate, time) = match (&*of.row.label, &*of.row.statistic) {
        ("items at the deadline", "max") => ("File creation", "min", "max"),
        ("items at the deadline", "mean") => ("File create (stonewall)", "mean", "mean"),
        _ => return None,
    };
    let shares = share(of.value(label, rate)?) + share(of.value(&format!("{label} time"), time)?);
    Some(of.row.number? * shares + 2.0 * of.own()?.half_digit)
}

/// The results that count for a score, of those with the unit of the row.
fn counted<'a>(of: &Of<'a>) -> Vec<&'a PrintedRow> {
    let is_one =
        |one: &&PrintedRow| one.label == io500::RESULT && one.unit == of.row.unit && one.statistic.is_empty();
    of.all.iter().filter(is_one).collect()
}

fn statistic_of(unit: &str) -> &'static str {
    if unit == "GiB/s" { io500::BANDWIDTH } else { io500::METADATA }
}

/// The number of results of a score, and the sum of the rounding errors of it and of its results.
fn score_and_shares(of: &Of<'_>) -> Option<(f64, f64)> {
    let is_score =
        |one: &&PrintedRow| one.label == io500::SCORE && one.statistic == statistic_of(&of.row.unit);
    let results = counted(of);
    let score = share(number(of.all.iter().find(is_score)?)?);
    let shares = results.iter().filter_map(|one| number(one)).map(share).sum::<f64>();
    let n = results.len() as f64;
    (n > 0.0).then_some((n, score + shares / n))
}

/// The geometric mean of the results is the score.
fn io500_result(of: &Of<'_>) -> Option<f64> {
    let is_result = of.is(io500::RESULT, "") && of.row.number > Some(0.0);
    let (n, shares) = score_and_shares(of).filter(|_| is_result)?;
    Some(of.row.number? * ((n * shares).exp() - 1.0) * 1.01)
}

fn io500_score(of: &Of<'_>) -> Option<f64> {
    let is_score = of.is(io500::SCORE, statistic_of(&of.row.unit));
    let (_, shares) = score_and_shares(of).filter(|_| is_score && !of.row.unit.is_empty())?;
    Some(of.row.number? * shares * 1.01)
}

/// The root of the product of both scores.
fn io500_total(of: &Of<'_>) -> Option<f64> {
    let score = |statistic| of.value(io500::SCORE, statistic);
    let (bandwidth, metadata) = (score(io500::BANDWIDTH)?, score(io500::METADATA)?);
    let shares = share(of.own()?) + (share(bandwidth) + share(metadata)) / 2.0;
    of.is(io500::SCORE, io500::TOTAL).then_some(of.row.number? * shares * 1.01)
}

/// Whether the amount of a pass of IOR is printed.
fn ior_moved(of: &Of<'_>) -> Option<()> {
    let has_deadline = of.stated("stonewallingTime").is_some() || of.case.workload.stonewall.is_some();
    let is_printed = of.value("bytes moved", "total").is_some();
    (is_printed || (!has_deadline && of.stated("aggregate filesize").is_some())).then_some(())
}

/// Bandwidth × time = bytes.
fn ior_pass(of: &Of<'_>) -> Option<f64> {
    ior_moved(of)?;
    let is_one = of.is("bw", "single") || of.is("total", "single") || of.is("bytes moved", "total");
    let shares = share(of.value("bw", "single")?) + share(of.value("total", "single")?);
    is_one.then_some(of.row.number? * shares * 1.01)
}

/// IOPS × transfer × wr/rd = bandwidth × time.
fn ior_operations(of: &Of<'_>) -> Option<f64> {
    ior_moved(of)?;
    let transfer = of.stated("xfersize").filter(|row| row.value.contains('.')).and_then(number);
    let factors = ["bw", "total", "IOPS", "wr/rd"].map(|label| of.value(label, "single"));
    let shares = factors.into_iter().try_fold(0.0, |sum, one| Some(sum + share(one?)))?;
    let is_one = of.is("IOPS", "single") || of.is("wr/rd", "single");
    is_one.then_some(of.row.number? * (shares + transfer.map_or(0.0, share)) * 1.01)
}

/// Bandwidth = operations per second × transfer.
fn ior_summary(of: &Of<'_>) -> Option<f64> {
    ior_moved(of)?;
    let statistic = &*of.row.statistic;
    let both = [("bw", "MiB/s"), ("IOPS", "ops/s")];
    let is_one = both.contains(&(&*of.row.label, &*of.row.unit)) && statistic != "single";
    let of_both = both.map(|(label, unit)| number(of.find(label, unit, statistic)?));
    let shares = of_both.into_iter().try_fold(0.0, |sum, one| Some(sum + share(one?)))?;
    let transfer = of.stated("xfersize").filter(|row| row.value.contains('.')).and_then(number);
    let known = of.release().is_some_and(|release| release >= (3, 0)) && of.row.number > Some(0.0);
    (is_one && known).then_some(of.row.number? * (shares + transfer.map_or(0.0, share)) * 1.01)
}

/// Mean bandwidth × mean time = amount, of one iteration.
fn ior_amount(of: &Of<'_>) -> Option<f64> {
    ior_moved(of)?;
    let is_one = of.is("time", "mean") || of.is("aggregate", "total");
    let bandwidth = number(of.find("bw", "MiB/s", "mean")?)?;
    let amount = of.value("aggregate", "total")?;
    let shares = share(bandwidth) + share(of.value("time", "mean")?) + share(amount).max(6e-8);
    (is_one && of.case.repetitions == 1).then_some(of.row.number? * shares * 1.01)
}

fn ior_decimal(of: &Of<'_>) -> Option<f64> {
    let binary = number(of.find("bw", "MiB/s", "max")?)?;
    let is_one = of.is("bw", "max") && of.row.unit == "MB/s";
    is_one.then_some(of.row.number? * (share(binary) + share(of.own()?)) * 1.01)
}

/// Aggregate = tasks × segments × block.
fn ior_aggregate(of: &Of<'_>) -> Option<f64> {
    ior_moved(of)?;
    let size = |label| {
        let row = of.stated(label)?;
        Some(number(row).filter(|_| row.value.contains('.')).map_or(0.0, share))
    };
    let shares = size("blocksize")? + size("aggregate filesize")?;
    let _ = of.stated("segments")?;
    let names = ["tasks", "clients", "segments", "blocksize", "aggregate filesize"];
    let is_one = of.row.statistic == "stated" && names.contains(&&*of.row.label);
    let is_cut_off = of.stated("aggregate filesize")?.number > Some(8e18);
    (is_one && !is_cut_off).then_some(of.row.number? * shares * 1.01)
}

/// Sum = processes × average.
fn iozone_sum(of: &Of<'_>) -> Option<f64> {
    let (sum, mean) =
        (of.value("Children see throughput", "sum")?, of.value("throughput per process", "mean")?);
    let is_one = of.is("Children see throughput", "sum") || of.is("throughput per process", "mean");
    is_one.then_some(of.row.number? * (share(sum) + share(mean)) * 1.01)
}

/// The labels of rates of elbencho, each with those of its amount.
const ELBENCHO: [(&str, &[&str]); 8] = [
    ("Throughput MiB/s", &["Total MiB"]),
    ("MiB/s read", &["MiB read"]),
    ("MiB/s write", &["MiB write"]),
    ("Files/s", &["Total files", "Files total"]),
    ("Dirs/s", &["Total dirs", "Dirs total"]),
    ("MiB/s", &["MiB"]),
    ("entries/s", &["entries"]),
    ("bytes/s", &["bytes"]),
];

/// Rate × time = amount, all of which are cut off.
fn elbencho_rate(of: &Of<'_>) -> Option<f64> {
    let statistic = &*of.row.statistic;
    let times = ["Elapsed time", "Elapsed ms", "time ms", "elapsed_time_ms"];
    let time_ms = times.iter().find_map(|label| of.value(label, statistic))?.value;
    let of_pair = |(rate, amounts): &(&str, &[&str])| {
        let is_one =
            *rate == of.row.label || amounts.iter().chain(&times).any(|label| *label == of.row.label);
        let amount = amounts.iter().find_map(|label| of.value(label, statistic))?;
        let steps = 1.0 / of.value(rate, statistic)?.value + 1.0 / amount.value + 1.0 / time_ms;
        (is_one && time_ms > 0.0).then_some(of.row.number? * steps * 1.01)
    };
    ELBENCHO.iter().filter_map(of_pair).filter(|room| room.is_finite()).min_by(f64::total_cmp)
}

/// IOPS × block = bandwidth, of all workers, where the block is printed.
fn elbencho_iops(of: &Of<'_>) -> Option<f64> {
    let block = of.case.transfer()?.0;
    let is_whole = of.case.workload.geometry.bytes_per_task().0.is_multiple_of(block);
    let _ = of.case.transfers_per_task().filter(|_| is_whole)?;
    let rate = of.value("MiB/s", "last done").or_else(|| of.value("bytes/s", "last done"))?;
    let is_one = of.is("IOPS", "last done") || of.is("iops", "last done");
    is_one.then_some(of.row.number? / rate.value * 1.01 + 1.01)
}

/// Total = reads + writes.
fn elbencho_mixed(of: &Of<'_>) -> Option<f64> {
    let statistic = &*of.row.statistic;
    let (rate, which) = of.row.label.rsplit_once(' ')?;
    let all =
        ["read", "write", "total"].iter().all(|one| of.value(&format!("{rate} {one}"), statistic).is_some());
    let is_one = all && ["read", "write", "total"].contains(&which) && ["IOPS", "MiB/s"].contains(&rate);
    is_one.then_some(2.0)
}

/// The value of fio with this label and statistic in a direction, and its digits that bind: those of sizes in texts
/// of early releases are off by up to one unit.
fn fio(of: &Of<'_>, label: &str, statistic: &str) -> Option<Printed> {
    let direction = of.row.label.split(' ').next()?;
    let name = format!("{direction} {label}");
    let rows = of
        .all
        .iter()
        .filter(|row| row.key == of.row.key && row.label == name.as_str() && row.statistic == statistic);
    let one = |row: &PrintedRow| {
        let printed = number(row)?;
        let has_unit = row.value.ends_with(|c: char| c.is_ascii_alphabetic());
        let digits = row.value.trim_end_matches(|c: char| !c.is_ascii_digit());
        let decimals = digits.split_once('.').map(|(_, decimals)| decimals);
        let is_off = has_unit
            && match of.release() {
                Some((2, _)) => decimals.is_some(),
                release => decimals == Some("0") && release < Some((3, 33)),
            };
        let power = decimals.map_or(0, str::len);
        let unit = 2.0 * printed.half_digit * 10_f64.powi(i32::try_from(power).ok()?);
        Some(if is_off { Printed { half_digit: unit, ..printed } } else { printed })
    };
    rows.filter_map(one).min_by(|a, b| share(*a).total_cmp(&share(*b)))
}

fn fio_is(of: &Of<'_>, label: &str, statistic: &str) -> Option<f64> {
    let (_, own) = of.row.label.split_once(' ')?;
    (own == label && of.row.statistic == statistic).then_some(of.row.number?).filter(|number| *number > 0.0)
}

/// Digits of rates that are not printed are rounded or cut off.
const CUT: f64 = 2.0;

fn fio_bandwidth(of: &Of<'_>) -> Option<f64> {
    let is_off = of.release() < Some((3, 33)) && of.row.value.ends_with('s');
    let own = if is_off { share(fio(of, "bw", "")?) } else { share(of.own()?) };
    let room = CUT * own + share(fio(of, "io", "total")?);
    fio(of, "runtime", "").filter(|time| time.value > 0.0)?;
    Some(fio_is(of, "bw", "")? * room * 1.01)
}

fn fio_bytes(of: &Of<'_>) -> Option<f64> {
    fio(of, "runtime", "").filter(|time| time.value > 0.0)?;
    let room = CUT * share(fio(of, "bw", "")?) + share(fio(of, "io", "total")?);
    Some(fio_is(of, "io", "total")? * room * 1.01)
}

fn fio_iops(of: &Of<'_>) -> Option<f64> {
    fio(of, "requests", "total").zip(fio(of, "runtime", "").filter(|time| time.value > 0.0))?;
    Some(fio_is(of, "iops", "")? * CUT * share(of.own()?) * 1.01)
}

fn fio_requests(of: &Of<'_>) -> Option<f64> {
    fio(of, "runtime", "").filter(|time| time.value > 0.0)?;
    Some(fio_is(of, "requests", "total")? * CUT * share(fio(of, "iops", "")?) * 1.01)
}

fn fio_time(of: &Of<'_>) -> Option<f64> {
    let by_requests = fio(of, "requests", "total").and(fio(of, "iops", "")).map(|iops| CUT * share(iops));
    let by_bytes = fio(of, "io", "total").zip(fio(of, "bw", ""));
    let by_bytes = by_bytes.map(|(bytes, rate)| CUT * share(rate) + share(bytes));
    let room = by_requests.into_iter().chain(by_bytes).min_by(f64::total_cmp)?;
    Some(fio_is(of, "runtime", "")? * room * 1.01)
}

/// Submission + completion = latency, from 3.33 on.
fn fio_latency(of: &Of<'_>) -> Option<f64> {
    let parts = ["slat", "clat", "lat"].map(|kind| fio(of, kind, "mean"));
    let [submission, completion, all] = parts;
    let sum = submission?.half_digit + completion?.half_digit + all?.half_digit;
    let is_one = ["slat", "clat", "lat"].iter().any(|kind| fio_is(of, kind, "mean").is_some());
    // The parts may be printed in different units.
    let alike = parts.iter().flatten().count() == 3 && {
        let unit = |kind: &str| {
            let name = format!("{} {kind}", of.row.label.split(' ').next().unwrap_or_default());
            of.all
                .iter()
                .find(|row| row.key == of.row.key && row.label == name.as_str())
                .map(|row| &*row.unit)
        };
        unit("slat") == unit("clat") && unit("clat") == unit("lat")
    };
    let is_timed = submission?.value > 0.0 && of.release() >= Some((3, 33));
    (is_one && is_timed && alike).then_some(sum * 1.01)
}

fn fio_mean(of: &Of<'_>) -> Option<f64> {
    if of.row.label.ends_with("lat") { mean_of_extremes(of) } else { None }
}

/// Requests ÷ time = iops; size ÷ time = speed.
fn ioping_total(of: &Of<'_>) -> Option<f64> {
    let kind = if of.row.label.ends_with(" generated") { " generated" } else { "" };
    let value = |label: &str| {
        let statistic = if matches!(label, "iops" | "speed") { "" } else { "total" };
        let row = of.all.iter().find(|row| {
            row.key == of.row.key && row.label == format!("{label}{kind}") && row.statistic == statistic
        })?;
        let is_whole = row.unit.is_empty() && row.value.bytes().all(|c| c.is_ascii_digit())
            || row.unit == "bytes" && !row.value.contains('.');
        let number = number(row)?;
        Some(if is_whole { 0.0 } else { CUT * share(number) })
    };
    let own = of.row.label.strip_suffix(kind)?;
    let of_three = |labels: [&str; 3]| {
        let sum = labels.iter().try_fold(0.0, |sum, label| Some(sum + value(label)?))?;
        labels.contains(&own).then_some(of.row.number? * sum * 1.01)
    };
    let is_raw = |row: &&PrintedRow| row.value.bytes().all(|c| c.is_ascii_digit());
    let _ = value("size").or_else(|| of.find("time", "ns", "total").filter(is_raw).and(Some(0.0)))?;
    [["requests", "time", "iops"], ["size", "time", "speed"]]
        .into_iter()
        .filter_map(of_three)
        .filter(|_| of.row.number > Some(0.0))
        .min_by(f64::total_cmp)
}

/// The single request times of the output, if all are printed: their number, and the largest rounding error.
fn ioping_singles(of: &Of<'_>) -> Option<(f64, f64)> {
    let singles = of.all.iter().filter(|row| row.key == of.row.key && row.statistic == "single");
    let singles: Vec<Printed> = singles.filter_map(number).collect();
    let n = singles.len() as f64;
    let most = singles.iter().map(|one| one.half_digit).fold(0.0, f64::max);
    (n > 0.0 && of.value("requests", "total")?.value == n).then_some((n, CUT * most))
}

/// Requests × mean = time.
fn ioping_mean(of: &Of<'_>) -> Option<f64> {
    let (count, time) = (of.value("requests", "total")?, of.find("time", "ns", "total")?);
    let is_count = count.value < 1000.0;
    let counted = if is_count { 0.0 } else { share(count) };
    let shares = CUT * (share(number(time)?) + share(of.own()?) + counted);
    let _ = of.find("size", "bytes", "total")?;
    of.is("request time", "mean").then_some(of.row.number? * shares * 1.01)
}

fn ioping_extreme(of: &Of<'_>) -> Option<f64> {
    let (_, most) = ioping_singles(of)?;
    let is_one = ["min", "max"].iter().any(|statistic| of.is("request time", statistic));
    is_one.then_some((CUT * of.own()?.half_digit + most) * 1.01)
}

/// The mean of all requests is printed.
fn ioping_request(of: &Of<'_>) -> Option<f64> {
    let (n, most) = ioping_singles(of)?;
    let mean = of.value("request time", "mean")?;
    of.is("request time", "single").then_some(n * (CUT * mean.half_digit + most) * 1.01)
}

/// Data rate = operation rate × record; latency = busy threads ÷ operation rate.
fn gpfsperf(of: &Of<'_>) -> Option<f64> {
    let (rate, operations) = (of.value("Data rate", "")?, of.value("Op Rate", "")?);
    let busy = of.value("thread utilization", "").map_or(0.0, share);
    let shares = match (&*of.row.label, &*of.row.statistic) {
        ("Data rate" | "Op Rate", "") => share(rate) + share(operations),
        ("Latency", "mean") => share(of.own()?) + share(operations) + busy,
        _ => return None,
    };
    Some(of.row.number? * shares * 1.01)
}
