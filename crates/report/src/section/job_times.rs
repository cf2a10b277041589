//! Jobs over time: how many at a time, how long, how much each second; and FULLSTIMER row by row.

use super::{Block, only};
use crate::format::{decimal_bytes, duration, grouped, latency, number, percent, rate, whole};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::timeline::{LaunchTimer, Lengths, Levels, StepTimer, Timeline, Timer};

/// Launches, and steps, in one table: as many as a page shows. Of more steps those that took longest.
const ROWS_MAX: usize = 300;
/// The most that a launcher may take of a core.
const HARNESS_SHARE_MAX: f64 = 0.02;
/// What differs by less from the level at the start neither climbs nor falls.
const LEVEL_SHARE: f64 = 0.05;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let all = &report.findings.timelines;
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::List(all.iter().filter(|one| one.counts).map(sentence).collect())];
    blocks.extend(only("How many ran at a time, and how long they took", together(all)));
    blocks.extend(only("Throughput, reads and writes of all spaces together", profiles(all)));
    blocks.extend(only("What launching and watching cost", harness(all)));
    blocks.push(Block::Text(
        "Mean at a time: sum of real times ÷ elapsed time, from the first start to the last end. Start: median of the \
         first 10 % of the seconds in which anything was moved. Peak: highest mean over 5 % of them in a row. Climbs to: \
         the line of least squares through the seconds between, at its end. Start of a launch: until its first step; \
         launcher: its CPU time ÷ wall time."
            .to_owned(),
    ));
    for one in shown(all) {
        blocks.extend(only(&caption(one, "how long its launches took"), histogram(one)));
    }
    blocks.extend(only(
        "Published figures of the mixed analytics workload, at full scale and on its machine, and own ones",
        published(all),
    ));
    blocks
}

/// FULLSTIMER of launches and of steps.
pub(super) fn full_timer(report: &Report) -> Vec<Block> {
    let mut blocks = Vec::new();
    for one in shown(&report.findings.timelines) {
        let cut = |gone: usize, which: &str| match gone {
            0 => String::new(),
            gone => format!("; {which}, the JSON form has {} more", grouped(gone as u64)),
        };
        let (table, gone) = launch_times(one.timers.iter());
        let launches: Vec<Row<'_>> =
            one.timers.iter().take(ROWS_MAX).map(|launch| Row { launch, step: None }).collect();
        let of = |what: &str| caption(one, &format!("{what}{}", cut(gone, "the first")));
        blocks.extend(only(&of("each launch, as the kernel accounts for its process"), table));
        blocks.extend(agreement(one).map(Block::Text));
        blocks.extend(only(
            &of("MB that each launch read and wrote, by space, and what the kernel moved for it"),
            bytes(&LAUNCH, &launches),
        ));
        let (steps, gone) = steps(one);
        let of = |what: &str| caption(one, &format!("{what}{}", cut(gone, "those that took longest")));
        blocks.extend(only(&of("each step"), times(&STEP, &steps)));
        blocks.extend(only(&of("MB that each step read and wrote"), bytes(&STEP, &steps)));
    }
    blocks
}

/// Real time, CPU time and memory of `launches`, and how many of them are left out.
pub(super) fn launch_times<'a>(launches: impl Iterator<Item = &'a LaunchTimer>) -> (Table, usize) {
    let mut rows: Vec<Row<'_>> = launches.map(|launch| Row { launch, step: None }).collect();
    let gone = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    (times(&LAUNCH, &rows), gone)
}

/// The first pass of each figure that counts.
pub(crate) fn shown(all: &[Timeline]) -> Vec<&Timeline> {
    let mut shown: Vec<&Timeline> = Vec::new();
    for one in all.iter().filter(|one| one.counts) {
        if shown.iter().all(|known| known.figure != one.figure) {
            shown.push(one);
        }
    }
    shown
}

/// `Figure 3, repetition 1: …`.
pub(crate) fn caption(one: &Timeline, text: &str) -> String {
    format!("Figure {}, repetition {}: {text}", one.figure, one.repetition + 1)
}

fn seconds(nanos: u64) -> String {
    duration(nanos as f64 / 1e9)
}

/// Seconds of a row, in a column of which the unit is in the heading.
fn plain_seconds(nanos: u64) -> String {
    format!("{:.2}", nanos as f64 / 1e9)
}

fn sentence(one: &Timeline) -> String {
    let mut text = format!(
        "{} launches in {}, {:.1} at a time on average, {} at most.",
        grouped(one.launches as u64),
        seconds(one.elapsed_ns),
        one.mean_running,
        one.most_running
    );
    let lost = one.launches - one.complete;
    if lost > 0 {
        text.push_str(&format!(" {lost} did not come to their end."));
    }
    if let Some(levels) = &one.levels {
        text.push_str(&format!(" {}", profile_words(levels)));
    }
    caption(one, &text)
}

/// `It starts at 900 MB/s, climbs to 2.00 GB/s and peaks at 4.10 GB/s.`
fn profile_words(levels: &Levels) -> String {
    let climb = match levels.climb.map(|climb| climb.bytes_per_second) {
        Some(to) if to > levels.start.bytes_per_second * (1.0 + LEVEL_SHARE) => {
            format!(" climbs to {},", rate(to))
        }
        Some(to) if to < levels.start.bytes_per_second * (1.0 - LEVEL_SHARE) => {
            format!(" falls to {},", rate(to))
        }
        Some(_) => " stays there,".to_owned(),
        None => String::new(),
    };
    format!(
        "Throughput starts at {},{climb} peaks at {} ({} after the start) and ends at {}.",
        rate(levels.start.bytes_per_second),
        rate(levels.peak.bytes_per_second),
        duration(levels.peak.from_seconds),
        rate(levels.end.bytes_per_second)
    )
}

fn together(all: &[Timeline]) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("repetition", Align::Right),
        ("complete", Align::Right),
        ("elapsed", Align::Right),
        ("sum of real", Align::Right),
        ("mean at a time", Align::Right),
        ("most", Align::Right),
        ("shortest", Align::Right),
        ("median", Align::Right),
        ("longest", Align::Right),
    ]);
    for one in all {
        let length =
            |of: fn(&Lengths) -> f64| one.lengths.as_ref().map(|all| duration(of(all))).unwrap_or_default();
        let whole = if one.complete == one.launches { Tone::Plain } else { Tone::Bad };
        table.row(vec![
            Cell::figure(Some(one.figure)),
            number_of(one).into(),
            Cell::toned(format!("{} of {}", one.complete, one.launches), whole),
            seconds(one.elapsed_ns).into(),
            seconds(one.real_ns).into(),
            Cell::toned(format!("{:.1}", one.mean_running), Tone::Main),
            one.most_running.to_string().into(),
            length(|all| all.shortest_seconds).into(),
            length(|all| all.median_seconds).into(),
            length(|all| all.longest_seconds).into(),
        ]);
    }
    table
}

/// What launching and watching cost.
fn harness(all: &[Timeline]) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("repetition", Align::Right),
        ("start, median", Align::Right),
        ("longest", Align::Right),
        ("launcher's CPU", Align::Right),
        ("of a core", Align::Right),
    ]);
    for one in all {
        let harness = &one.harness;
        let share = harness.core_share.map(|share| format!("{:.2} %", share * 100.0)).unwrap_or_default();
        let tone = match harness.core_share {
            Some(share) if share > HARNESS_SHARE_MAX => Tone::Doubtful,
            _ => Tone::Plain,
        };
        table.row(vec![
            Cell::figure(Some(one.figure)),
            number_of(one).into(),
            latency(harness.start_median_ns).into(),
            latency(harness.start_longest_ns).into(),
            harness.cpu_ns.map(latency).unwrap_or_default().into(),
            Cell::toned(share, tone),
        ]);
    }
    table
}

/// `1`, or `(1)` of a pass that does not count.
fn number_of(one: &Timeline) -> String {
    let number = one.repetition + 1;
    if one.counts { number.to_string() } else { format!("({number})") }
}

fn profiles(all: &[Timeline]) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("repetition", Align::Right),
        ("start", Align::Right),
        ("climbs to", Align::Right),
        ("each second", Align::Right),
        ("R²", Align::Right),
        ("peak", Align::Right),
        ("from", Align::Right),
        ("end", Align::Right),
        ("mean", Align::Right),
        ("device ÷ jobs", Align::Right),
    ]);
    for (one, levels) in all.iter().filter_map(|one| Some((one, one.levels.as_ref()?))) {
        let climb = levels.climb;
        let slope = |slope: f64| format!("{}{}", if slope < 0.0 { "−" } else { "+" }, rate(slope.abs()));
        table.row(vec![
            Cell::figure(Some(one.figure)),
            number_of(one).into(),
            rate(levels.start.bytes_per_second).into(),
            climb.map(|climb| rate(climb.bytes_per_second)).unwrap_or_default().into(),
            climb.map(|climb| slope(climb.slope_bytes_per_second)).unwrap_or_default().into(),
            climb.map(|climb| format!("{:.2}", climb.r_squared)).unwrap_or_default().into(),
            Cell::toned(rate(levels.peak.bytes_per_second), Tone::Main),
            duration(levels.peak.from_seconds).into(),
            rate(levels.end.bytes_per_second).into(),
            rate(levels.mean_bytes_per_second).into(),
            one.device_share.map(percent).unwrap_or_default().into(),
        ]);
    }
    table
}

fn histogram(one: &Timeline) -> Table {
    let mut table = Table::new(&[
        ("from", Align::Right),
        ("to", Align::Right),
        ("launches", Align::Right),
        ("share", Align::Right),
    ]);
    for (bin, all) in one.lengths.iter().flat_map(|all| all.bins.iter().map(move |bin| (bin, all))) {
        table.row(vec![
            edge(bin.from_seconds),
            edge(bin.to_seconds),
            bin.count.to_string(),
            percent(bin.count as f64 / all.n as f64),
        ]);
    }
    table
}

/// An edge of a bin: `0.2 s`, `50 s`, `500 s`.
pub(crate) fn edge(seconds: f64) -> String {
    // Edges are 1, 2 or 5 times a power of ten, but for rounding.
    let text = format!("{seconds:.6}");
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}

fn published(all: &[Timeline]) -> Table {
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("what", Align::Left),
        ("own", Align::Right),
        ("published", Align::Right),
        ("own ÷ published", Align::Right),
        ("as printed", Align::Left),
    ]);
    for one in shown(all) {
        for beside in &one.published_values {
            let value = |value: f64| match beside.unit {
                "s" => duration(value),
                "bytes/s" => rate(value),
                "bytes" => decimal_bytes(whole(value)),
                _ if value.fract() == 0.0 => grouped(whole(value)),
                _ => number(value),
            };
            table.row(vec![
                Cell::figure(Some(one.figure)),
                beside.what.into(),
                value(beside.own).into(),
                value(beside.value).into(),
                number(beside.ratio).into(),
                beside.as_published.clone().into(),
            ]);
        }
    }
    table
}

/// A launch, or a step of one.
struct Row<'a> {
    launch: &'a LaunchTimer,
    step: Option<&'a StepTimer>,
}

impl Row<'_> {
    fn timer(&self) -> &Timer {
        self.step.map_or(&self.launch.timer, |step| &step.timer)
    }

    /// What it is.
    fn named(&self) -> Vec<Cell> {
        let launch = self.launch;
        let mut cells: Vec<Cell> = vec![launch.launch.to_string().into(), launch.test.as_str().into()];
        match self.step {
            Some(step) => {
                cells.extend([(step.step + 1).to_string().into(), step.action.as_str().into()]);
                cells.push(step.threads.to_string().into());
            }
            None => {
                cells.extend([(launch.stream + 1).to_string().into(), (launch.round + 1).to_string().into()])
            }
        }
        cells
    }
}

const LAUNCH: [(&str, Align); 4] =
    [("launch", Align::Right), ("test", Align::Left), ("stream", Align::Right), ("round", Align::Right)];
const STEP: [(&str, Align); 5] = [
    ("launch", Align::Right),
    ("test", Align::Left),
    ("step", Align::Right),
    ("does", Align::Left),
    ("threads", Align::Right),
];

fn times(named: &[(&str, Align)], rows: &[Row<'_>]) -> Table {
    let mut columns = named.to_vec();
    columns.extend(
        ["start s", "real s", "user s", "system s", "memory", "waits", "preempted"]
            .map(|name| (name, Align::Right)),
    );
    columns.push(("", Align::Left));
    let mut table = Table::new(&columns);
    for row in rows {
        let timer = row.timer();
        let mut cells = row.named();
        cells.extend([
            plain_seconds(timer.start_ns).into(),
            Cell::toned(plain_seconds(timer.real_ns), Tone::Main),
            plain_seconds(timer.user_cpu_ns).into(),
            plain_seconds(timer.system_cpu_ns).into(),
            decimal_bytes(timer.memory_bytes).into(),
            grouped(timer.voluntary_switches).into(),
            grouped(timer.involuntary_switches).into(),
            if row.step.is_none() { ended(row.launch) } else { Cell::default() },
        ]);
        table.row(cells);
    }
    table
}

fn bytes(named: &[(&str, Align)], rows: &[Row<'_>]) -> Table {
    let mut columns = named.to_vec();
    columns.extend(
        ["permanent r / w", "work r / w", "utility r / w", "block in / out"].map(|name| (name, Align::Right)),
    );
    let mut table = Table::new(&columns);
    for row in rows {
        let timer = row.timer();
        let moved = |place: usize| {
            let (read, write) = (timer.read_bytes.all()[place], timer.write_bytes.all()[place]);
            if read + write == 0 {
                return String::new();
            }
            both(read, write)
        };
        let mut cells = row.named();
        cells.extend([0, 1, 2].map(moved).map(Cell::from));
        cells.push(both(timer.block_input_bytes, timer.block_output_bytes).into());
        table.row(cells);
    }
    table
}

/// Bytes read and written, in MB.
fn both(read: u64, write: u64) -> String {
    format!("{} / {}", number(read as f64 / 1e6), number(write as f64 / 1e6))
}

fn ended(launch: &LaunchTimer) -> Cell {
    match (launch.outcome.as_str(), launch.cpu_agrees) {
        ("complete", Some(false)) => Cell::toned("CPU of steps differs", Tone::Doubtful),
        ("complete", _) => Cell::default(),
        (outcome, _) if launch.message.is_empty() => Cell::toned(outcome, Tone::Bad),
        (outcome, _) => Cell::toned(format!("{outcome}: {}", launch.message), Tone::Bad),
    }
}

/// The longest steps, in the order of launches, and how many are left out.
fn steps(one: &Timeline) -> (Vec<Row<'_>>, usize) {
    let all = one.timers.iter();
    let mut all: Vec<Row<'_>> = all
        .flat_map(|launch| launch.steps.iter().map(move |step| Row { launch, step: Some(step) }))
        .collect();
    let gone = all.len().saturating_sub(ROWS_MAX);
    if gone > 0 {
        all.sort_by_key(|row| std::cmp::Reverse(row.timer().real_ns));
        all.truncate(ROWS_MAX);
        all.sort_by_key(|row| (row.launch.launch, row.step.map(|step| step.step)));
    }
    (all, gone)
}

/// Whether CPU times add up.
fn agreement(one: &Timeline) -> Option<String> {
    let judged = one.timers.iter().filter(|launch| launch.cpu_agrees.is_some()).count() as u64;
    let agree = one.timers.iter().filter(|launch| launch.cpu_agrees == Some(true)).count() as u64;
    let groups = one.timers.iter().filter(|launch| launch.group_cpu_ns.is_some()).count() as u64;
    (judged > 0).then(|| {
        format!(
            "CPU time of the steps of {} of {} complete launches is that of their process as wait4 tells it{}, within {} \
             or {} where that is more.",
            grouped(agree),
            grouped(judged),
            if groups > 0 {
                format!(" and of their control group ({} had one)", grouped(groups))
            } else {
                String::new()
            },
            percent(analysis::CPU_AGREES_SHARE),
            latency(analysis::CPU_AGREES_NS)
        )
    })
}
