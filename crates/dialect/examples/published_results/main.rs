//! Imports every text below a directory and counts what the importers and the rules of consistency say:
//! `published_results DIR [--show WORD] [--doctored]`.
//!
//! For each tool: outputs that were read, and those that a rule or a check of the audit accuses; then the reasons of
//! what was refused. `--show WORD` lists the files of the reasons and rules that contain the word. `--doctored` changes
//! one digit of each printed value that others bind, and counts how many of these copies are accused or refused.
//!
//! `docs/IMPORT.md` has the counts for published results.
#![expect(clippy::print_stdout, reason = "the counts are its output")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use analysis::audit::Check;
use analysis::gate::Judgement;
use analysis::printed::imported_checks;
use dialect::import::{ImportError, Imported, Text, import};
use record::{PrintedRow, Provenance, Run};

use bound::{BOUND, Bound, Of};

mod bound;
#[path = "../../tests/dialect/common/mod.rs"]
mod common;

/// Larger files are archives and data.
const FILE_BYTES: u64 = 64 << 20;

/// Of the bound values of one text, at most about as many are changed: some have thousands.
const COPIES: usize = 100;

/// The rule that tells that processes of iozone did not run at the same time. It accuses no digit.
const ENDED_APART: &str = "min transferred";

/// How often something was found, and in which files.
#[derive(Default)]
struct Groups(BTreeMap<String, Vec<PathBuf>>);

impl Groups {
    fn add(&mut self, name: &str, file: &Path) {
        self.0.entry(name.to_owned()).or_default().push(file.to_owned());
    }

    fn print(&self, title: &str, word: Option<&str>) {
        println!("\n{title}");
        let mut groups: Vec<_> = self.0.iter().collect();
        groups.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
        for (name, files) in groups {
            println!("{:7}  {name}", files.len());
            for file in files.iter().filter(|_| word.is_some_and(|word| name.contains(word))) {
                println!("           {}", file.display());
            }
        }
    }
}

/// What rules and the audit say against the values of one output, each with its tool.
fn accusations(imported: Imported) -> Vec<(String, String)> {
    let mut manifest = common::manifest(imported.plan);
    manifest.provenance = Provenance::Imported;
    let run = Run::in_memory(manifest, imported.phases);
    let cases = &run.manifest.plan.cases;
    let tool = |case: &str| {
        let by = cases.iter().find(|one| one.id == case).and_then(|case| case.printed_by.as_ref());
        by.map_or_else(|| "?".to_owned(), |by| by.tool.clone())
    };
    let rules = imported_checks(&run).into_iter();
    let rules = rules.filter(|one| {
        one.check.outcome == Judgement::DoesNotHold && !one.check.rule.starts_with(ENDED_APART)
    });
    let mut found: Vec<(String, String)> = rules
        .map(|one| {
            if std::env::var_os("EVIDENCE").is_some() {
                println!("{}: {}", one.check.rule, one.check.evidence);
            }
            (tool(&one.case), one.check.rule.to_owned())
        })
        .collect();
    let figures = analysis::figures::figures(&run, analysis::RateName::ByWall);
    for issue in analysis::findings::findings(&run, &figures).audit {
        if std::env::var_os("EVIDENCE").is_some() {
            println!("{:?}: {:?}", issue.check, issue);
        }
        let of_digits = matches!(
            issue.check,
            Check::ImpossibleStatistic | Check::ImplausibleLatency | Check::LittlesLaw | Check::UnitMixUp
        );
        let case = issue.figure.map(|place| figures[place].case.as_str());
        found.extend(
            of_digits
                .then(|| (case.map_or_else(|| "?".to_owned(), tool), format!("audit: {:?}", issue.check))),
        );
    }
    found.sort();
    found.dedup();
    found
}

/// The reason of a refusal without names, lines and numbers.
fn reason(error: &ImportError, file: &str) -> String {
    let text = error.to_string().replace(file, "").trim_start_matches([':', ' ']).to_owned();
    let text = text.split_once("; known are").map_or(text.as_str(), |(text, _)| text).to_owned();
    let mut plain = String::new();
    for c in text.chars() {
        match c.is_ascii_digit() {
            true if plain.ends_with('N') => {}
            true => plain.push('N'),
            false => plain.push(c),
        }
    }
    plain.chars().take(160).collect()
}

/// Random numbers by a linear congruential generator, so that a count can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % most.max(1)
    }
}

/// `text` with one digit of the value in `row` changed by more than `room`. `None` if no digit does that.
fn doctored(
    text: &str,
    row: &PrintedRow,
    all: &[PrintedRow],
    room: f64,
    random: &mut Random,
) -> Option<String> {
    let end = row.value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(row.value.len());
    let number = row.value[..end].to_owned();
    let digits: Vec<usize> =
        number.bytes().enumerate().filter(|(_, c)| c.is_ascii_digit()).map(|(at, _)| at).collect();
    let original: f64 = number.parse().ok()?;
    let (at, digit) = (0..64).find_map(|_| {
        let (at, digit) = (digits[random.below(digits.len())], random.below(10));
        let mut other = number.clone();
        other.replace_range(at..=at, &digit.to_string());
        let other: f64 = other.parse().ok()?;
        let scale = row.number? / original;
        (other > 0.0 && ((other - original) * scale).abs() > room).then_some((at, digit))
    })?;
    // A line may have the same value several times: that of the row is as many values further on.
    let before = all.iter().take_while(|one| *one != row);
    let same = before
        .filter(|one| one.line == row.line && one.source == row.source && one.value == row.value)
        .count();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let line = lines.get_mut(row.line as usize - 1)?;
    let is_digit = |c: u8| c.is_ascii_digit() || c == b'.';
    let is_whole = |(place, _): &(usize, &str)| {
        let (before, after) = (&line.as_bytes()[..*place], &line.as_bytes()[place + number.len()..]);
        let ends = !after
            .first()
            .is_some_and(|&c| is_digit(c) && (c != b'.' || after.get(1).is_some_and(u8::is_ascii_digit)));
        !before.last().is_some_and(|&c| is_digit(c)) && ends
    };
    let place = line.match_indices(&number).filter(is_whole).nth(same)?.0 + at;
    line.replace_range(place..=place, &digit.to_string());
    Some(lines.join("\n"))
}

/// The copies of one text that were changed, and how many were found, by tool and kind of value.
fn try_doctored(
    name: &str,
    text: &str,
    imported: &Imported,
    caught: &mut BTreeMap<(&str, &str), [u64; 2]>,
    missed: &mut Groups,
) {
    let all: Vec<PrintedRow> = imported.phases.iter().flat_map(|record| record.printed.clone()).collect();
    let cases = &imported.plan.cases;
    let mut random = Random(name.bytes().map(u64::from).sum());
    let mut bound: Vec<(&Bound, &PrintedRow, f64)> = Vec::new();
    // A few thousand rows have enough of each kind, and to look at more takes long.
    for row in all.iter().step_by(all.len().div_ceil(20 * COPIES).max(1)) {
        let Some(case) = cases.iter().find(|case| case.id == *row.key.case) else { continue };
        let by = case.printed_by.as_ref().map(|by| by.tool.as_str());
        let of_tool = BOUND.iter().filter(|bound| Some(bound.tool) == by);
        let found =
            of_tool.filter_map(|bound| Some((bound, row, (bound.room)(&Of { row, all: &all, case })?)));
        bound.extend(found);
    }
    let step = bound.len().div_ceil(COPIES).max(1);
    for (bound, row, room) in bound.into_iter().step_by(step) {
        let Some(copy) = doctored(text, row, &all, room, &mut random) else { continue };
        let found = match import(&[Text { name, bytes: copy.as_bytes() }], None, 0) {
            Ok(copy) => !accusations(copy).is_empty(),
            Err(_) => true,
        };
        let counts = caught.entry((bound.tool, bound.name)).or_default();
        counts[0] += 1;
        counts[1] += u64::from(found);
        if !found {
            let what =
                format!("{}: {} ({} {} {})", bound.tool, bound.name, row.label, row.statistic, row.value);
            missed.add(&what, Path::new(name));
        }
    }
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory)?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found)?;
        } else if path.metadata().is_ok_and(|metadata| metadata.len() <= FILE_BYTES) {
            found.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("expected DIR [--show WORD] [--doctored]")?;
    let (mut word, mut doctor) = (None, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--show" => word = Some(arguments.next().ok_or("--show needs a word")?),
            "--doctored" => doctor = true,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let mut texts = Vec::new();
    files(Path::new(&directory), &mut texts)?;
    let (mut read, mut accused, mut refused) = (Groups::default(), Groups::default(), Groups::default());
    let (mut rules, mut missed, mut caught) = (Groups::default(), Groups::default(), BTreeMap::new());
    for path in &texts {
        let name = path.display().to_string();
        let bytes = fs::read(path)?;
        let imported = match import(&[Text { name: &name, bytes: &bytes }], None, 0) {
            Ok(imported) => imported,
            Err(error) => {
                refused.add(&reason(&error, &name), path);
                continue;
            }
        };
        let mut tools: Vec<&str> = imported
            .plan
            .cases
            .iter()
            .filter_map(|case| Some(case.printed_by.as_ref()?.tool.as_str()))
            .collect();
        tools.sort_unstable();
        tools.dedup();
        tools.iter().for_each(|tool| read.add(tool, path));
        let found = accusations(imported.clone());
        let mut by: Vec<&str> = found.iter().map(|(tool, _)| tool.as_str()).collect();
        by.dedup();
        by.iter().for_each(|tool| accused.add(tool, path));
        found.iter().for_each(|(tool, rule)| rules.add(&format!("{tool}: {rule}"), path));
        if let (true, true, Ok(text)) = (doctor, found.is_empty(), std::str::from_utf8(&bytes)) {
            try_doctored(&name, text, &imported, &mut caught, &mut missed);
        }
    }
    let word = word.as_deref();
    println!("{} texts", texts.len());
    read.print("read, by tool", word);
    accused.print("of these accused", word);
    rules.print("by rule", word);
    refused.print("refused", word);
    if doctor {
        println!("\nchanged copies, and how many were found");
        for ((tool, name), [tried, found]) in &caught {
            println!("{tried:7} {found:7} {:5.1} %  {tool}: {name}", *found as f64 / *tried as f64 * 100.0);
        }
        missed.print("not found", word);
    }
    Ok(())
}
