//! Prints ioping's output: a line for each request when it completes, raw numbers, the statistics, JSON.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use plan::{Measure, Operation};
use record::{HistoryRow, LatencyRow, Manifest, PhaseRecord, Run};

use super::json::{self, Sample};
use super::settings::{Mode, Settings, Target};
use super::stat::{IntervalStat, Request, Stat, per_second, whole};
use super::words;
use crate::ior_family::space::file_system;
use crate::{LiveOperation, ToolPrinter};

/// Number of requests from which on a request that differs much from the mean is marked.
const MARKED_FROM: u64 = 6;

/// Prints a run.
#[derive(Debug)]
pub(super) struct Printer {
    settings: Settings,
    /// The target, for example `. (ext4 /dev/vda 252.0 GiB)`.
    label: String,
    target: json::Target,
    all: IntervalStat,
    /// The requests since the last line of raw numbers, and the time of that line.
    part: IntervalStat,
    part_start_ns: u64,
    /// The objects of the JSON output.
    samples: Vec<String>,
}

impl Printer {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            label: String::new(),
            target: json::Target::default(),
            all: IntervalStat::default(),
            part: IntervalStat::default(),
            part_start_ns: 0,
            samples: Vec::new(),
        }
    }

    /// Whether nothing is printed for each request.
    fn is_silent(&self) -> bool {
        self.settings.quiet || self.settings.batch || self.settings.json
    }

    /// Adds a request, and returns what is printed about it.
    fn request(&mut self, request: Request) -> String {
        let Request { latency_ns, bytes, .. } = request;
        let settings = &self.settings;
        let number = self.all.made + 1;
        let too_slow = settings.max_time_ns.is_some_and(|most| latency_ns > most);
        let too_fast = latency_ns < settings.min_time_ns;
        let warmup = number <= settings.warmup;
        let counts = !(warmup || too_slow || too_fast);
        for part in [&mut self.all, &mut self.part] {
            part.made += 1;
            part.made_bytes += bytes;
            part.too_fast += u64::from(too_fast && !warmup);
            part.too_slow += u64::from(too_slow && !warmup);
            if counts {
                part.stat.add(latency_ns, bytes);
            }
        }
        let stat = &self.all.stat;
        let notice = match stat.mean_ns() {
            _ if warmup => "warmup",
            _ if too_fast => "too fast",
            _ if too_slow => "too slow",
            mean if stat.count >= MARKED_FROM && latency_ns < mean / 2 => "fast",
            mean if stat.count >= MARKED_FROM && latency_ns > mean * 2 => "slow",
            _ => "",
        };
        let mut out = String::new();
        if settings.json && !settings.quiet {
            let sample = self.sample(request.ended_unix_ns);
            self.samples.push(sample.io(number, request, !counts, notice).text());
        }
        if !self.is_silent() {
            let time = settings.time.as_ref().map(|format| clock(request.ended_unix_ns, format) + " ");
            let mark = if notice.is_empty() { String::new() } else { format!(" ({notice})") };
            let arrow = if request.write { ">>>" } else { "<<<" };
            let _ = writeln!(
                out,
                "{}{} {arrow} {}: request={number} time={}{mark}",
                time.unwrap_or_default(),
                words::size(bytes),
                self.label,
                words::time(latency_ns),
            );
        }
        let end_ns = request.end_ns();
        let due = self.settings.print_count.is_some_and(|count| self.part.stat.count >= count)
            || self
                .settings
                .print_interval_ns
                .is_some_and(|time| end_ns.saturating_sub(self.part_start_ns) >= time);
        if due {
            if !self.settings.json {
                out.push_str(&self.part.raw(end_ns.saturating_sub(self.part_start_ns)));
            }
            (self.part, self.part_start_ns) = (IntervalStat::default(), end_ns);
        }
        out
    }

    fn sample(&self, unix_ns: i64) -> Sample {
        Sample::new(unix_ns, &clock(unix_ns, "%Y-%m-%dT%H:%M:%S%z"), &self.target)
    }

    /// Takes the statistics of all requests from the histogram, if not every request was kept.
    fn take_histogram(&mut self, record: &PhaseRecord) {
        let rows = |measure: Measure| record.latency.iter().filter(move |row| row.measure == measure);
        let measure =
            if rows(Measure::Service).next().is_some() { Measure::Service } else { Measure::Response };
        let mut stat = Stat::default();
        for LatencyRow { low_ns, high_ns, count, .. } in rows(measure) {
            stat.add_many(low_ns.midpoint(*high_ns), *count, count * self.settings.size);
        }
        self.all.stat = stat;
        self.all.made = record.phase.transfers();
        self.all.made_bytes = record.phase.bytes();
    }

    /// The text printed at the end.
    fn end(&mut self, record: &PhaseRecord) -> String {
        let took_ns = record.phase.io_ns;
        if self.settings.batch {
            return self.all.raw(took_ns);
        }
        if self.settings.json {
            return self.end_as_json(record);
        }
        // If there are no lines for requests, the lines of intervals are the only output.
        if self.settings.quiet && self.prints_intervals() {
            return String::new();
        }
        let IntervalStat { stat, made, made_bytes, too_fast, too_slow } = self.all;
        let verb = match self.settings.mode {
            Mode::Read => " read",
            Mode::Write => " written",
            Mode::Both => "",
        };
        let left_out = |count: u64, what: &str| match count {
            0 => String::new(),
            count => format!("{} {what}, ", words::count(count)),
        };
        let rate = |per_second: f64| words::count(whole(per_second));
        format!(
            "\n--- {} ioping statistics ---\n\
             {} requests completed in {}, {}{verb}, {} iops, {}/s\n\
             {}{}generated {} requests in {}, {}, {} iops, {}/s\n\
             min/avg/max/mdev = {} / {} / {} / {}\n",
            self.label,
            words::count(stat.count),
            words::time(stat.sum_ns),
            words::size(stat.bytes),
            rate(stat.rate()),
            words::size(whole(stat.speed())),
            left_out(too_fast, "too fast"),
            left_out(too_slow, "too slow"),
            words::count(made),
            words::time(took_ns),
            words::size(made_bytes),
            rate(per_second(made, took_ns)),
            words::size(whole(per_second(made_bytes, took_ns))),
            words::time(stat.min_ns),
            words::time(stat.mean_ns()),
            words::time(stat.max_ns),
            words::time(stat.deviation_ns()),
        )
    }

    fn end_as_json(&mut self, record: &PhaseRecord) -> String {
        let wall_ns = i64::try_from(record.phase.wall_ns).unwrap_or(i64::MAX);
        let last = self.sample(record.phase.started_unix_ns.saturating_add(wall_ns));
        self.samples.push(last.statistics(&self.all, record.phase.io_ns).text());
        format!("[{}]\n", self.samples.join(","))
    }

    fn prints_intervals(&self) -> bool {
        self.settings.print_count.is_some() || self.settings.print_interval_ns.is_some()
    }

    fn of_row(record: &PhaseRecord, row: &HistoryRow) -> Request {
        let end = i64::try_from(row.start_ns + row.latency_ns).unwrap_or(i64::MAX);
        Request {
            write: row.operation == Operation::Write,
            offset: row.offset_bytes,
            start_ns: row.start_ns,
            latency_ns: row.latency_ns,
            bytes: row.bytes,
            ended_unix_ns: record.phase.started_unix_ns.saturating_add(end),
        }
    }
}

impl ToolPrinter for Printer {
    fn header(&mut self, manifest: &Manifest) -> String {
        let path = &self.settings.path;
        let host = &manifest.host;
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let (kind, device, bytes) = match self.settings.target {
            Target::Device => {
                let name = real.file_name().map(|name| name.to_string_lossy().into_owned());
                let known = host.devices.iter().find(|device| Some(&device.name) == name.as_ref());
                let bytes = known.map_or(self.settings.work_size, |device| device.size_bytes);
                ("block".to_owned(), "device".to_owned(), bytes)
            }
            Target::Directory | Target::File => match file_system(&real, &host.file_systems) {
                Some(facts) => (facts.kind.clone(), facts.source.clone(), facts.size_bytes),
                None => ("unknown".to_owned(), "unknown".to_owned(), 0),
            },
        };
        self.label = format!("{} ({kind} {device} {})", path.display(), words::size(bytes));
        self.target = json::Target { path: path.display().to_string(), kind, device, bytes };
        String::new()
    }

    fn is_live(&self) -> bool {
        !self.is_silent() || self.prints_intervals()
    }

    fn operations(&mut self, new: &[LiveOperation]) -> String {
        new.iter()
            .map(|one| {
                self.request(Request {
                    write: one.operation == Operation::Write,
                    offset: one.offset_bytes,
                    start_ns: one.start_ns,
                    latency_ns: one.latency_ns,
                    bytes: one.bytes,
                    ended_unix_ns: one.ended_unix_ns,
                })
            })
            .collect()
    }

    fn phase(&mut self, record: &PhaseRecord) -> String {
        if !record.phase.key.phase.is_result() {
            return String::new();
        }
        let made = record.phase.transfers();
        let kept = record.history.len() as u64;
        // Those that were already printed are not printed again.
        let shown = usize::try_from((self.all.made + kept).saturating_sub(made)).unwrap_or(usize::MAX);
        let mut out = String::new();
        for row in record.history.iter().skip(shown) {
            out.push_str(&self.request(Self::of_row(record, row)));
        }
        if self.all.made < made {
            self.take_histogram(record);
        }
        out + &self.end(record)
    }

    fn finish(&mut self, _run: &Run) -> String {
        String::new()
    }

    fn ends_when_interrupted(&self) -> bool {
        true
    }
}

/// Formats a time as local time.
fn clock(unix_ns: i64, format: &str) -> String {
    let Ok(at) = jiff::Timestamp::from_nanosecond(i128::from(unix_ns)) else { return String::new() };
    jiff::fmt::strtime::format(format, &at.to_zoned(TimeZone::system())).unwrap_or_default()
}
