//! Which tool a text is of.

use super::lines::{Line, number};
use super::{
    Format, elbencho, fio_text, gpfsperf, iohist, ioping, ior_csv, ior_text, iostat, iozone, json,
    md_workbench, mdtest, nsdperf,
};

/// The form of a text that is one output from its first byte to its last; none where it is lines.
pub(super) fn whole(text: &str, wanted: Option<Format>) -> Option<Format> {
    let found = of_whole(text);
    match wanted {
        None => found,
        // Who names the tool may leave its form open.
        Some(wanted) if is_whole(wanted) => Some(wanted),
        Some(wanted) => found.filter(|found| found.name().starts_with(wanted.name())),
    }
}

const fn is_whole(format: Format) -> bool {
    matches!(
        format,
        Format::IorJson
            | Format::IorCsv
            | Format::IopingBatch
            | Format::IopingJson
            | Format::FioJson
            | Format::ElbenchoCsv
            | Format::ElbenchoJson
            | Format::IostatJson
    )
}

fn of_whole(text: &str) -> Option<Format> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if elbencho::is_header(first) {
        return Some(Format::ElbenchoCsv);
    }
    if ior_csv::is_header(first) || text.lines().take(2).any(ior_csv::is_without_results) {
        return Some(Format::IorCsv);
    }
    if ioping::is_batch(text) {
        return Some(Format::IopingBatch);
    }
    // fio prints warnings before its JSON.
    let start = json::start(text)?;
    let head = &text[start..];
    let head = &head[..head.floor_char_boundary(HEAD)];
    let named = [
        ("\"fio version\"", Format::FioJson),
        ("\"phase_type\"", Format::ElbenchoJson),
        ("\"sysstat\"", Format::IostatJson),
        ("\"Command line\"", Format::IorJson),
        ("\"localtime\"", Format::IopingJson),
    ];
    named.iter().find(|(name, _)| head.contains(name)).map(|&(_, format)| format)
}

/// The line of another output, before or behind the JSON that `found` is the form of. A tool's own text beside
/// its JSON says the same twice.
pub(super) fn beside(text: &str, found: Format) -> Option<u32> {
    let is_json = matches!(
        found,
        Format::IorJson | Format::IopingJson | Format::FioJson | Format::ElbenchoJson | Format::IostatJson
    );
    if !is_json {
        return None;
    }
    let (start, mut end) = json::span(text, found == Format::ElbenchoJson)?;
    let line_of = |at: usize| u32::try_from(text[..at].matches('\n').count()).unwrap_or(u32::MAX - 1) + 1;
    let other = |part: &str| {
        let lines = super::lines::lines(part);
        let others = blocks(&lines, None).into_iter();
        let mut others = others.filter(|(format, _)| !found.name().starts_with(format.name()));
        others.next().and_then(|(_, lines)| lines.first().map(|line| line.number))
    };
    if let Some(line) = other(&text[..start]) {
        return Some(line);
    }
    let rest = &text[end..];
    // Another JSON that is known.
    if let Some(next) = json::start(rest)
        && of_whole(&rest[next..]).is_some()
    {
        end += next;
        return Some(line_of(end));
    }
    other(rest).map(|line| line_of(end).saturating_add(line).saturating_sub(1))
}

/// So much of a JSON text is looked at.
const HEAD: usize = 4096;

/// Whether an output of a form starts with a line.
type Starts = fn(&str) -> bool;

/// Where each form that consists of lines starts.
const STARTS: [(Format, Starts); 10] = [
    (Format::Ior, ior_text::starts),
    (Format::Mdtest, mdtest::starts),
    (Format::MdWorkbench, md_workbench::starts),
    (Format::Iozone, iozone::starts),
    (Format::Ioping, ioping::starts),
    (Format::Gpfsperf, gpfsperf::starts),
    (Format::Iohist, iohist::starts),
    (Format::Fio, fio_text::starts),
    (Format::Iostat, iostat::starts),
    (Format::Nsdperf, nsdperf::starts),
];

/// Lines that only one tool prints, where the beginning of its output was not given.
const OWN: [(Format, Starts); 6] = [
    (Format::Ior, ior_text::is_own),
    (Format::Mdtest, mdtest::is_own),
    (Format::MdWorkbench, md_workbench::is_own),
    (Format::Iozone, iozone::is_own),
    (Format::Iohist, iohist::is_own),
    (Format::Gpfsperf, gpfsperf::is_own),
];

/// Every output in `lines`, from its first line to the first of the next one.
pub(super) fn blocks<'a>(lines: &'a [Line<'a>], wanted: Option<Format>) -> Vec<(Format, &'a [Line<'a>])> {
    let is_wanted = |format: Format| wanted.is_none_or(|wanted| wanted == format);
    let find = |table: &[(Format, Starts)], line: &Line<'_>| {
        table
            .iter()
            .find(|(format, starts)| is_wanted(*format) && starts(line.text))
            .map(|(format, _)| *format)
    };
    let mut begins: Vec<(usize, Format)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let open = begins.last().map(|(_, format)| *format);
        if let Some(format) = find(&STARTS, line) {
            // A tool whose every result can start an output has them in one.
            let goes_on = open == Some(format)
                && matches!(format, Format::Ioping | Format::Fio | Format::Nsdperf | Format::Iohist);
            if !goes_on {
                begins.push((begin(lines, at, format), format));
            }
        } else if let Some(format) = find(&OWN, line).filter(|format| open != Some(*format)) {
            begins.push((at, format));
        }
    }
    let ends = begins.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]);
    begins.iter().zip(ends).map(|(&(at, format), end)| (format, &lines[at..end])).collect()
}

/// Where the output that is known by line `at` begins: mdtest says before its name when it started.
fn begin(lines: &[Line<'_>], at: usize, format: Format) -> usize {
    let before = lines[..at].iter().rposition(|line| !line.text.trim().is_empty());
    let started = |place: &usize| lines[*place].text.trim_start().starts_with("-- started at ");
    before.filter(|_| format == Format::Mdtest).filter(started).unwrap_or(at)
}

/// Whether all words of `line` are numbers, and how many.
pub(super) fn numbers(line: &str) -> Option<usize> {
    line.split_whitespace().try_fold(0, |count, word| number(word).map(|_| count + 1))
}
