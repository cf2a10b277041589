//! mdtest's text, part by part, in the formats of its releases.

use std::fmt::Write as _;
use std::path::Path;

use plan::Phase;

use super::release::Release;
use super::rows::{DIRECTORY_ROWS, FILE_ROWS, Row, Statistics, TREE_ROWS};
use super::settings::Memo;
use crate::ior_family::space::Space;
use crate::printed::local;

const MOMENT: &str = "%m/%d/%Y %H:%M:%S";

/// Everything before the first line of tasks.
pub(super) fn begin(
    memo: &Memo,
    arguments: &[String],
    program_version: &str,
    started_unix_ns: i64,
    space: Option<&Space>,
) -> String {
    let Memo { release, settings, .. } = memo;
    let mut out = format!(
        "-- started at {} --\n\nmdtest-{}+ioproof-{program_version} was launched with {} total task(s) on {} \
         node(s)\nCommand line used: {}\n",
        local(started_unix_ns, MOMENT),
        release.version(),
        memo.tasks,
        memo.nodes,
        command_line(arguments, *release),
    );
    // Writing to a String cannot fail.
    let line = |out: &mut String, name: &str, value: &str| {
        let _ = match release {
            Release::V4_0 => writeln!(out, "{name:<20}: {value}"),
            _ => writeln!(out, "{name}: {value}"),
        };
    };
    if *release == Release::V4_0 {
        if settings.chosen.read && settings.read_bytes == 0 {
            out.push_str("WARNING: Read bytes is 0, thus, a read test will actually just open/close\n");
        }
        let _ = writeln!(out, "Nodemap: {}", memo.map);
    }
    let directory = settings.directories.first().map_or(Path::new(""), |directory| directory.as_path());
    line(&mut out, "Path", &path(directory, *release));
    if let Some(space) = space {
        line(&mut out, "FS", &space.line());
    }
    if *release == Release::V4_0 {
        if settings.shift > 0 {
            let _ = writeln!(
                out,
                "{}Shifting ranks by {} for each phase.",
                prefix(0, 2594, *release),
                settings.shift
            );
        }
    } else {
        out.push('\n');
        if *release == Release::V3_3 {
            let _ = writeln!(out, "Nodemap: {}", memo.map);
        }
    }
    if settings.random {
        let _ = writeln!(out, "random seed: {}", settings.seed.unwrap_or(1));
    }
    out
}

/// Since 3.0 every word except the first is quoted: first with double quotes, in later releases with
/// single quotes.
fn command_line(arguments: &[String], release: Release) -> String {
    let quote = match release {
        Release::V1_9 => "",
        Release::V3_0 => "\"",
        Release::V3_3 | Release::V4_0 => "'",
    };
    let word = |(index, word): (usize, &String)| match index {
        0 => word.clone(),
        _ => format!("{quote}{word}{quote}"),
    };
    arguments.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// The directory of the test or, before 4.0, its parent.
fn path(directory: &Path, release: Release) -> String {
    let text = directory.display().to_string();
    if release == Release::V4_0 {
        return text;
    }
    match text.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((parent, _)) => parent.to_owned(),
        None => ".".to_owned(),
    }
}

/// The prefix of lines outside the tables.
fn prefix(level: u32, line: u32, release: Release) -> String {
    match release {
        Release::V1_9 | Release::V3_0 => String::new(),
        Release::V3_3 | Release::V4_0 => format!("V-{level}: Rank   0 Line {line:5} "),
    }
}

/// `2 tasks, 20 files`.
pub(super) fn tasks(memo: &Memo, tasks: u32) -> String {
    let settings = &memo.settings;
    let items = if settings.shared { 1 } else { memo.items.saturating_mul(u64::from(tasks)) };
    let mut out = format!("{tasks} tasks, {items} {}\n", settings.noun());
    if settings.verbose > 0 {
        for (line, text) in [
            (2677, ""),
            (2678, "   Operation               Duration              Rate"),
            (2679, "   ---------               --------              ----"),
        ] {
            let _ = writeln!(out, "{}{text}", prefix(1, line, memo.release));
        }
    }
    out
}

/// The text before the phases of an iteration.
pub(super) fn iteration(repetition: u32, release: Release) -> String {
    format!("{}main: * iteration {} *\n", prefix(1, 2063, release), repetition + 1)
}

/// The lines of one iteration if more output is requested: all rows of a kind at once.
pub(super) fn verbose(rows: &[&Row], phase: Phase, release: Release) -> String {
    let group: &[(Phase, &str)] = [&DIRECTORY_ROWS[..], &FILE_ROWS[..]]
        .into_iter()
        .find(|group| group.iter().any(|(of, _)| *of == phase))
        .unwrap_or_default();
    let mut out = String::new();
    let mut line = |number: u32, start: &str, name: &str, phase: Phase| {
        let row = rows.iter().find(|row| row.phase == phase);
        let (seconds, rate) = row.map_or((0.0, 0.0), |row| (row.seconds, row.rate()));
        let _ = writeln!(
            out,
            "{}{start}{name}: {seconds:14.3} sec, {rate:14.3} ops/sec",
            prefix(1, number, release)
        );
    };
    match phase {
        Phase::TreeCreate => line(2139, "V-1: main:   ", "Tree creation     ", phase),
        Phase::TreeRemove => line(2249, "main   ", "Tree removal      ", phase),
        _ => {
            for ((phase, name), number) in group.iter().zip(numbers(phase)) {
                // In mdtest itself this line has one space less.
                let width = if *phase == Phase::DirectoryRename { 17 } else { 18 };
                line(number, "  ", &format!("{name:<width$}"), *phase);
            }
        }
    }
    out
}

/// The line numbers of mdtest's source code that it prints in these rows.
const fn numbers(phase: Phase) -> [u32; 4] {
    match phase {
        Phase::FileCreate | Phase::FileStat | Phase::FileRead | Phase::FileRemove => [1435, 1439, 1440, 1441],
        _ => [1125, 1126, 1127, 1128],
    }
}

/// The text printed if the deadline has ended the creation of files.
pub(super) fn stonewall(row: &Row) -> String {
    let counts = || row.at_stonewall.iter().copied();
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let mean = counts().sum::<u64>() as f64 / row.at_stonewall.len().max(1) as f64;
    format!("Continue stonewall hit min: {least} max: {most} avg: {mean:.1} \n\n")
}

/// The unit of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Rate,
    Time,
}

impl Unit {
    fn of(self, row: &Row) -> f64 {
        match self {
            Self::Rate => row.rate(),
            Self::Time => row.seconds,
        }
    }

    fn of_ranks(self, row: &Row) -> Vec<f64> {
        match self {
            Self::Rate => row.rank_rates().collect(),
            Self::Time => row.ranks.iter().map(|(_, seconds)| *seconds).collect(),
        }
    }

    const fn title(self, release: Release) -> &'static str {
        match (self, release) {
            (Self::Rate, Release::V1_9) => "SUMMARY",
            (Self::Rate, Release::V3_0 | Release::V3_3) => "SUMMARY rate",
            (Self::Rate, Release::V4_0) => "SUMMARY rate (in ops/sec)",
            (Self::Time, Release::V4_0) => "SUMMARY time (in ms/op)",
            (Self::Time, _) => "SUMMARY time",
        }
    }
}

/// All tables for one number of tasks.
pub(super) fn tables(memo: &Memo, rows: &[Row]) -> String {
    let settings = &memo.settings;
    // 1.9.3 prints no times, and -Z of its local patch prints rates.
    let time_alone = settings.time && memo.release != Release::V1_9;
    let mut out = String::new();
    if !time_alone || settings.rate_and_time {
        out.push_str(&table(memo, rows, Unit::Rate));
    }
    if time_alone || settings.rate_and_time {
        out.push_str(&table(memo, rows, Unit::Time));
    }
    out
}

fn table(memo: &Memo, rows: &[Row], unit: Unit) -> String {
    let (release, settings) = (memo.release, &memo.settings);
    let mut out = format!("\n{}: (of {} iterations)\n", unit.title(release), settings.iterations);
    out.push_str(match (release, settings.rank_statistics) {
        (Release::V4_0, true) => {
            "   Operation     per Rank: Max            Min           Mean      per Iteration: Max            Min           Mean        Std Dev\n   ---------               ---            ---           ----                      ---            ---           ----        -------\n"
        }
        (Release::V4_0, false) => {
            "   Operation                     Max            Min           Mean        Std Dev\n   ---------                     ---            ---           ----        -------\n"
        }
        _ => {
            "   Operation                      Max            Min           Mean        Std Dev\n   ---------                      ---            ---           ----        -------\n"
        }
    });
    let of = |wanted: Phase| rows.iter().filter(move |row| row.phase == wanted);
    let mut line = |phase: Phase, name: &str| {
        let whole = Statistics::of(of(phase).map(|row| unit.of(row)), release);
        let ranks = settings.rank_statistics.then(|| {
            if matches!(phase, Phase::TreeCreate | Phase::TreeRemove) {
                return whole;
            }
            Statistics::of(of(phase).flat_map(|row| unit.of_ranks(row)), release)
        });
        out.push_str(&self::line(phase, name, whole, ranks, release));
    };
    if settings.has_directories() {
        for (phase, name) in DIRECTORY_ROWS {
            if phase != Phase::DirectoryRename || release == Release::V4_0 {
                line(phase, name);
            }
        }
    }
    if settings.has_files() {
        for (phase, name) in FILE_ROWS {
            line(phase, name);
        }
    }
    for (phase, name) in TREE_ROWS {
        line(phase, name);
    }
    out
}

fn line(phase: Phase, name: &str, whole: Statistics, ranks: Option<Statistics>, release: Release) -> String {
    let Statistics { max, min, mean, deviation } = whole;
    let figures = format!("{max:14.3} {min:14.3} {mean:14.3} {deviation:14.3}\n");
    let (start, gap) = match (release, ranks) {
        (Release::V1_9 | Release::V3_0, _) => return format!("   {name:<18}: {figures}"),
        (Release::V3_3, _) => return format!("   {name:<26}: {figures}"),
        (Release::V4_0, None) => return format!("   {name:<18}     {figures}"),
        // The rows of the tree have other columns than the rest.
        (Release::V4_0, Some(_)) if matches!(phase, Phase::TreeCreate | Phase::TreeRemove) => {
            (format!("   {name:<18}     "), "     ")
        }
        (Release::V4_0, Some(_)) => (format!("   {name:<18} "), "         "),
    };
    let Statistics { max, min, mean, .. } = ranks.unwrap_or_default();
    format!("{start}{max:14.3} {min:14.3} {mean:14.3}{gap}{figures}")
}

/// The last line.
pub(super) fn finish(finished_unix_ns: i64, release: Release) -> String {
    let blank = if release <= Release::V3_0 { "\n" } else { "" };
    format!("{blank}-- finished at {} --\n\n", local(finished_unix_ns, MOMENT))
}
