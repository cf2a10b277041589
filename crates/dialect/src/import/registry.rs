//! All importers, and the selection of the one for a text.

use plan::limits::PRINTED_OUTPUTS;

use super::elbencho::{json as elbencho_json, live as elbencho_live, text as elbencho_text};
use super::fio::{json as fio_json, text as fio_text};
use super::importer::{Form, Importer};
use super::ior::{csv as ior_csv, json as ior_json, text as ior_text};
use super::iostat::json as iostat_json;
use super::spectrum_scale::{gpfsperf, iohist, nsdperf};
use super::text::json;
use super::text::lines::{Line, numbered};
use super::{elbencho, io500, ioping, iostat, iozone, md_workbench, mdtest};

/// All importers. A text is parsed by the first one that recognises it.
pub(super) static IMPORTERS: &[Importer] = &[
    ior_text::IMPORTER,
    ior_json::IMPORTER,
    ior_csv::IMPORTER,
    mdtest::IMPORTER,
    md_workbench::IMPORTER,
    iozone::IMPORTER,
    io500::IMPORTER,
    io500::SUMMARY,
    ioping::IMPORTER,
    ioping::BATCH,
    ioping::JSON,
    gpfsperf::IMPORTER,
    iohist::IMPORTER,
    fio_text::IMPORTER,
    fio_json::IMPORTER,
    elbencho_text::IMPORTER,
    elbencho::IMPORTER,
    elbencho_live::IMPORTER,
    elbencho_json::IMPORTER,
    iostat::IMPORTER,
    iostat_json::IMPORTER,
    nsdperf::IMPORTER,
];

/// A format of a tool's output.
#[derive(Clone, Copy)]
pub struct Format(pub(super) &'static Importer);

impl Format {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        IMPORTERS.iter().map(Self)
    }

    /// The format with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// The word on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The names of all importers, for messages.
pub(super) fn names() -> String {
    IMPORTERS.iter().map(|importer| importer.name).collect::<Vec<_>>().join(", ")
}

/// The importer for a text that is a single output, or `None` if its lines have to be examined. `wanted`
/// is the importer that the user specifies.
pub(super) fn whole(text: &str, wanted: Option<&'static Importer>) -> Option<&'static Importer> {
    let found = of_whole(text);
    match wanted {
        None => found,
        // The name of a tool includes all its formats.
        Some(wanted) if wanted.is_whole() => Some(wanted),
        Some(wanted) => found.filter(|found| found.name.starts_with(wanted.name)),
    }
}

fn of_whole(text: &str) -> Option<&'static Importer> {
    let is_it = |importer: &&Importer| matches!(importer.form, Form::File { is_it, .. } if is_it(text));
    of_json(text).or_else(|| IMPORTERS.iter().find(is_it))
}

/// The importer for JSON. Tools print messages before it.
fn of_json(text: &str) -> Option<&'static Importer> {
    let head = &text[json::start(text)?..];
    let head = &head[..head.floor_char_boundary(HEAD_BYTES)];
    IMPORTERS.iter().find(|importer| match importer.form {
        Form::Json { member, .. } | Form::Parts { member, .. } => head.contains(&format!("\"{member}\"")),
        _ => false,
    })
}

/// The importer for a file that begins with `head`, if it reads files in parts, and the byte at which its JSON starts.
pub(super) fn in_parts(head: &[u8], wanted: Option<&'static Importer>) -> Option<(&'static Importer, usize)> {
    let head = head.utf8_chunks().next()?.valid();
    let found = of_json(head).filter(|found| matches!(found.form, Form::Parts { .. }))?;
    let is_wanted = wanted.is_none_or(|wanted| found.name.starts_with(wanted.name));
    is_wanted.then_some(found).zip(json::start(head))
}

/// The line of another output before or after the JSON that `found` parses. Text of the same tool repeats its JSON
/// and is ignored.
pub(super) fn other_output(text: &str, found: &Importer) -> Option<u32> {
    let several = match found.form {
        Form::Json { several, .. } => several,
        Form::Parts { .. } => true,
        _ => return None,
    };
    let (start, mut end) = json::span(text, several)?;
    let line_of = |at: usize| u32::try_from(text[..at].matches('\n').count()).unwrap_or(u32::MAX - 1) + 1;
    let other = |part: &str| match blocks(part, None) {
        Ok(others) => others
            .into_iter()
            .find(|(importer, ..)| !found.name.starts_with(importer.name))
            .map(|(_, line, _)| line),
        Err(line) => Some(line),
    };
    if let Some(line) = other(&text[..start]) {
        return Some(line);
    }
    let rest = &text[end..];
    if let Some(next) = json::start(rest)
        && of_whole(&rest[next..]).is_some()
    {
        end += next;
        return Some(line_of(end));
    }
    other(rest).map(|line| line_of(end).saturating_add(line).saturating_sub(1))
}

/// Number of bytes at the start of a JSON text that are searched for its members.
const HEAD_BYTES: usize = 4096;

/// The first line of an output: its place in the text, and its number.
type Begin = (usize, u32);

/// Every output in `text`, up to the first line of the next one, with the number of its first line.
///
/// # Errors
/// Returns the line of the first output that is one too many.
pub(super) fn blocks<'a>(
    text: &'a str,
    wanted: Option<&Importer>,
) -> Result<Vec<(&'static Importer, u32, &'a str)>, u32> {
    let find = |line: &Line<'_>, wanted_line: fn(&Form, &str) -> bool| {
        IMPORTERS.iter().find(|importer| {
            wanted.is_none_or(|wanted| wanted.name == importer.name) && wanted_line(&importer.form, line.text)
        })
    };
    let starts = |form: &Form, line: &str| matches!(form, Form::Lines { starts, .. } if starts(line));
    let is_own = |form: &Form, line: &str| matches!(form, Form::Lines { is_own, .. } if is_own(line));
    let mut begins: Vec<(Begin, &'static Importer)> = Vec::new();
    // The last line before, other than blank ones.
    let mut before: Option<(Begin, &str)> = None;
    for line in numbered(text, 1) {
        let at = (line.text.as_ptr() as usize - text.as_ptr() as usize, line.number);
        if line.text.trim().is_empty() {
            continue;
        }
        let is_open = |importer: &Importer| begins.last().is_some_and(|(_, open)| open.name == importer.name);
        if let Some(importer) = find(&line, starts) {
            let continues = matches!(importer.form, Form::Lines { continues: true, .. }) && is_open(importer);
            if !continues {
                begins.push((begin(at, before, importer), importer));
            }
        } else if let Some(importer) = find(&line, is_own).filter(|importer| !is_open(importer)) {
            begins.push((at, importer));
        }
        if begins.len() > PRINTED_OUTPUTS {
            return Err(line.number);
        }
        before = Some((at, line.text));
    }
    let ends = begins.iter().skip(1).map(|((at, _), _)| *at).chain([text.len()]);
    let block = |(&((at, line), importer), end): (&(Begin, &'static Importer), usize)| {
        (importer, line, &text[at..end])
    };
    Ok(begins.iter().zip(ends).map(block).collect())
}

/// The start of the output whose first recognised line is `at`: mdtest prints its start time before its name.
fn begin(at: Begin, before: Option<(Begin, &str)>, importer: &Importer) -> Begin {
    let is_start = |(_, text): &(Begin, &str)| text.trim_start().starts_with("-- started at ");
    before.filter(|_| importer.name == mdtest::IMPORTER.name).filter(is_start).map_or(at, |(at, _)| at)
}
