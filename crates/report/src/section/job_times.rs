//! Jobs over time: how many at a time, how long, how much each second; and FULLSTIMER row by row.

use super::{Block, only};
use crate::format::{NOT_OBSERVED, decimal_bytes, duration, grouped, latency, number, percent, rate};
use crate::table::{Align, Cell, Table, Tone};
use crate::view::Report;
use crate::view::timeline::{LaunchTimer, Levels, StepTimer, Timeline, Timer};

/// Launches in a table; those of the first pass that counts.
const LAUNCHES_MAX: usize = 120;
/// Steps in a table: those that took longest.
const STEPS_MAX: usize = 120;
/// The most that a launcher may take of a core, and the longest that a start may take: see `docs/JOBS.md`.
const HARNESS_SHARE_MAX: f64 = 0.02;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let all = &report.findings.timelines;
    if all.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::List(all.iter().filter(|one| one.counts).map(sentence).collect())];
    blocks.extend(only(
        "How many ran at a time, and how long they took. Mean: sum of real times ÷ elapsed time, from the first start to \
         the last end",
        together(all),
    ));
    blocks.extend(only(
        "Throughput, reads and writes of all spaces together. Start: median of the first 10 % of the seconds in which \
         anything was moved; peak: highest mean over 5 % of them in a row; climbs to: the line of least squares between, \
         at its end",
        profiles(all),
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
        let cut = |gone: usize, shown: &str| match gone {
            0 => String::new(),
            gone => format!("; {shown}, the JSON form has {} more", grouped(gone as u64)),
        };
        let mut table = launches(one);
        let gone = table.cut(LAUNCHES_MAX);
        let text = format!("each launch, as the kernel accounts for its process{}", cut(gone, "the first"));
        blocks.extend(only(&caption(one, &text), table));
        let (table, gone) = steps(one);
        let text = format!("each step{}", cut(gone, "those that took longest"));
        blocks.extend(only(&caption(one, &text), table));
        blocks.extend(agreement(one).map(Block::Text));
    }
    blocks
}

/// The first pass of each figure that counts.
pub(super) fn shown(all: &[Timeline]) -> Vec<&Timeline> {
    let mut shown: Vec<&Timeline> = Vec::new();
    for one in all.iter().filter(|one| one.counts) {
        if shown.iter().all(|known| known.figure != one.figure) {
            shown.push(one);
        }
    }
    shown
}

/// `Figure 3, repetition 1: …`.
pub(super) fn caption(one: &Timeline, text: &str) -> String {
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
        "{} launches in {}, {} at a time on average, {} at most.",
        grouped(one.launches as u64),
        seconds(one.elapsed_ns),
        number(one.mean_running),
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
    let climb = match levels.climb {
        Some(climb) if climb.slope_bytes_per_second > 0.0 => {
            format!(" climbs to {}", rate(climb.bytes_per_second))
        }
        Some(climb) => format!(" falls to {}", rate(climb.bytes_per_second)),
        None => " follows on it at once".to_owned(),
    };
    let climb = if levels.climb.is_some() { format!("{climb} and") } else { String::new() };
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
        ("launches", Align::Right),
        ("complete", Align::Right),
        ("elapsed", Align::Right),
        ("sum of real", Align::Right),
        ("mean at a time", Align::Right),
        ("most", Align::Right),
        ("shortest", Align::Right),
        ("median", Align::Right),
        ("longest", Align::Right),
        ("start cost, median", Align::Right),
        ("longest", Align::Right),
        ("launcher, of a core", Align::Right),
    ]);
    for one in all {
        let length = |of: fn(&crate::view::timeline::Lengths) -> f64| {
            one.lengths.as_ref().map(|all| duration(of(all))).unwrap_or_default()
        };
        let harness = &one.harness;
        let share =
            harness.core_share.map_or(NOT_OBSERVED.to_owned(), |share| format!("{:.2} %", share * 100.0));
        let tone = match harness.core_share {
            Some(share) if share > HARNESS_SHARE_MAX => Tone::Doubtful,
            _ => Tone::Plain,
        };
        let whole = if one.complete == one.launches { Tone::Plain } else { Tone::Bad };
        table.row(vec![
            Cell::figure(Some(one.figure)),
            number_of(one).into(),
            one.launches.to_string().into(),
            Cell::toned(one.complete.to_string(), whole),
            seconds(one.elapsed_ns).into(),
            seconds(one.real_ns).into(),
            Cell::toned(number(one.mean_running), Tone::Main),
            one.most_running.to_string().into(),
            length(|all| all.shortest_seconds).into(),
            length(|all| all.median_seconds).into(),
            length(|all| all.longest_seconds).into(),
            latency(harness.start_median_ns).into(),
            latency(harness.start_longest_ns).into(),
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
        ("highest second", Align::Right),
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
            rate(levels.highest_bytes_per_second).into(),
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

/// What a row of FULLSTIMER has, after what it is of.
const TIMER: [(&str, Align); 13] = [
    ("start s", Align::Right),
    ("real s", Align::Right),
    ("user s", Align::Right),
    ("system s", Align::Right),
    ("memory", Align::Right),
    ("block in", Align::Right),
    ("block out", Align::Right),
    ("waits", Align::Right),
    ("preempted", Align::Right),
    ("permanent r/w", Align::Right),
    ("work r/w", Align::Right),
    ("utility r/w", Align::Right),
    ("", Align::Left),
];

fn timer(one: &Timer) -> Vec<Cell> {
    let moved = |place: usize| {
        let (read, write) = (one.read_bytes.all()[place], one.write_bytes.all()[place]);
        if read + write == 0 {
            return String::new();
        }
        format!("{} / {}", decimal_bytes(read), decimal_bytes(write))
    };
    let bytes = |bytes: u64| if bytes == 0 { String::new() } else { decimal_bytes(bytes) };
    vec![
        plain_seconds(one.start_ns).into(),
        Cell::toned(plain_seconds(one.real_ns), Tone::Main),
        plain_seconds(one.user_cpu_ns).into(),
        plain_seconds(one.system_cpu_ns).into(),
        bytes(one.memory_bytes).into(),
        bytes(one.block_input_bytes).into(),
        bytes(one.block_output_bytes).into(),
        grouped(one.voluntary_switches).into(),
        grouped(one.involuntary_switches).into(),
        moved(0).into(),
        moved(1).into(),
        moved(2).into(),
    ]
}

fn launches(one: &Timeline) -> Table {
    let mut columns = vec![
        ("launch", Align::Right),
        ("test", Align::Left),
        ("stream", Align::Right),
        ("round", Align::Right),
    ];
    columns.extend(TIMER);
    let mut table = Table::new(&columns);
    for launch in &one.timers {
        let mut cells: Vec<Cell> = vec![
            launch.launch.to_string().into(),
            launch.test.as_str().into(),
            launch.stream.to_string().into(),
            launch.round.to_string().into(),
        ];
        cells.extend(timer(&launch.timer));
        cells.push(ended(launch));
        table.row(cells);
    }
    table
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
fn steps(one: &Timeline) -> (Table, usize) {
    let mut columns = vec![
        ("launch", Align::Right),
        ("test", Align::Left),
        ("step", Align::Right),
        ("does", Align::Left),
        ("threads", Align::Right),
    ];
    columns.extend(&TIMER[..TIMER.len() - 1]);
    let mut table = Table::new(&columns);
    let mut all: Vec<(&LaunchTimer, &StepTimer)> =
        one.timers.iter().flat_map(|launch| launch.steps.iter().map(move |step| (launch, step))).collect();
    let gone = all.len().saturating_sub(STEPS_MAX);
    if gone > 0 {
        all.sort_by_key(|(_, step)| std::cmp::Reverse(step.timer.real_ns));
        all.truncate(STEPS_MAX);
        all.sort_by_key(|(launch, step)| (launch.launch, step.step));
    }
    for (launch, step) in all {
        let mut cells: Vec<Cell> = vec![
            launch.launch.to_string().into(),
            launch.test.as_str().into(),
            (step.step + 1).to_string().into(),
            step.action.as_str().into(),
            step.threads.to_string().into(),
        ];
        cells.extend(timer(&step.timer));
        table.row(cells);
    }
    (table, gone)
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
