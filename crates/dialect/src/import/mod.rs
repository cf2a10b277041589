//! Converts the output of other tools to the rows of a record.
//!
//! [`import`] determines the tool from the content of a text, not from its name, and reads every output in
//! it: the log of a job or a page of a publication may contain several. Every printed value is kept
//! verbatim with its line ([`record::PrintedRow`]). A phase is derived from values that describe it, and
//! nothing is made up that the text does not contain: [`plan::Case::stated`] has the conditions stated in
//! the text. All texts are read before anything is returned, so that nothing is imported partially.
//!
//! | type | what it is |
//! |---|---|
//! | [`Text`] | a file's name and content |
//! | [`Format`] | a tool and the format of its output |
//! | [`Imported`] | the plan, the rows, and what a reader should know |
//! | [`ImportError`] | the file, the line, what was expected, the next step |
//!
//! `docs/IMPORT.md` explains the meaning of each unit, with its source.
//!
//! ```
//! use dialect::import::{Text, import};
//! let text = "tsqosperf read seq /fs/test\n  recSize 4K nBytes 128M fileSize 128M\n  \
//!             Data rate was 55111.52 Kbytes/sec, Op Rate was 13454.96 Ops/sec, \
//!             Avg Latency was 0.074 milliseconds, thread utilization 1.000, bytesTransferred 134217728\n";
//! let imported = import(&[Text { name: "page.txt", bytes: text.as_bytes() }], None, 0)?;
//! assert_eq!(imported.tools, ["tsqosperf"]);
//! assert_eq!(imported.phases[0].phase.read_bytes, 134_217_728);
//! # Ok::<(), dialect::import::ImportError>(())
//! ```

mod buckets;
mod content;
mod draft;
mod elbencho;
mod error;
mod fio;
mod importer;
mod io500;
mod ioping;
mod ior;
mod iostat;
mod iozone;
mod md_workbench;
mod mdtest;
mod registry;
mod spectrum_scale;
mod text;

use std::io::Read;
use std::path::PathBuf;
use std::rc::Rc;

use plan::{Case, Plan, PlanSource, PrintedBy};
use record::PhaseRecord;

use content::Content;
use draft::{Names, Pass};
pub use error::ImportError;
use importer::ReadOutput;
pub use registry::Format;
use text::messages::Messages;
use text::{decode, lines};

/// The name of a file, for messages, and its content.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The name; `-` means standard input.
    pub name: &'a str,
    /// The content.
    pub bytes: &'a [u8],
}

/// What was read, with its phases as `P`.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported<P = Vec<PhaseRecord>> {
    /// Each tool with its version, without duplicates.
    pub tools: Vec<String>,
    /// A case for each test; its source names files, tools and command lines.
    pub plan: Plan,
    /// What was printed, by phase, in the order of the cases.
    pub phases: P,
    /// The earliest start time in the outputs, or `None` if they contain none.
    pub started_unix_ns: Option<i64>,
    /// The latest end time in the outputs.
    pub finished_unix_ns: Option<i64>,
    /// The host, if the outputs name exactly one.
    pub node: Option<String>,
    /// Remarks about the whole import.
    pub doubts: Vec<String>,
}

/// Reads `texts`. If `format` is given, all of them must have that format. Phases for which the texts
/// contain no time get `otherwise_unix_ns`, the time of the import.
///
/// # Errors
/// Returns an error about the first text that is unknown, or is not what its tool prints. Nothing is
/// imported then.
pub fn import(
    texts: &[Text<'_>],
    format: Option<Format>,
    otherwise_unix_ns: i64,
) -> Result<Imported, ImportError> {
    let mut import = Import::new(format, otherwise_unix_ns);
    texts.iter().try_for_each(|text| import.read(text.name, &mut &*text.bytes))?;
    let Imported { tools, plan, phases, started_unix_ns, finished_unix_ns, node, doubts } = import.finish();
    let phases = phases.collect();
    Ok(Imported { tools, plan, phases, started_unix_ns, finished_unix_ns, node, doubts })
}

/// The phases of an import, in the order of the cases. Each is made when it is wanted, because histograms may be large.
pub struct Phases(std::vec::IntoIter<DraftPhase>);

/// A pass, and what its record needs.
struct DraftPhase {
    pass: Pass,
    case: String,
    file: Rc<str>,
    otherwise_unix_ns: i64,
}

impl Iterator for Phases {
    type Item = PhaseRecord;

    fn next(&mut self) -> Option<PhaseRecord> {
        let DraftPhase { pass, case, file, otherwise_unix_ns } = self.0.next()?;
        Some(pass.record(&case, &file, otherwise_unix_ns))
    }
}

/// An [`import`] text by text, of which only one needs to be in memory.
pub struct Import {
    format: Option<Format>,
    otherwise_unix_ns: i64,
    files: Vec<PathBuf>,
    /// Every output, with the place of its text in `files`.
    found: Vec<(usize, ReadOutput)>,
}

impl Import {
    /// Starts an import, for the parameters see [`import`].
    #[must_use]
    pub const fn new(format: Option<Format>, otherwise_unix_ns: i64) -> Self {
        Self { format, otherwise_unix_ns, files: Vec::new(), found: Vec::new() }
    }

    /// Reads one more text, the content of the file called `name`; `-` means standard input.
    ///
    /// # Errors
    /// Returns an error if the text cannot be read, is too long, is unknown, or is not what its tool prints.
    pub fn read(&mut self, name: &str, content: &mut dyn Read) -> Result<(), ImportError> {
        let place = self.files.len();
        let outputs = Content::new(name, content).outputs(self.format)?;
        self.found.extend(outputs.into_iter().map(|output| (place, output)));
        self.files.push(PathBuf::from(name));
        Ok(())
    }

    /// Adds errors in the output of one phase to the figures of the case called `case` in the text that was read
    /// last: IO500 prints its results in one file, and what each phase printed in files beside it.
    ///
    /// # Errors
    /// Returns an error if the text cannot be read or is too long.
    pub fn read_beside(&mut self, case: &str, name: &str, content: &mut dyn Read) -> Result<(), ImportError> {
        let last = self.files.len().saturating_sub(1);
        let bytes = Content::new(name, content).whole()?;
        let text = decode::text(&bytes);
        let outputs = self.found.iter_mut().filter(|(place, _)| *place == last);
        for (_, (importer, draft)) in outputs {
            let messages = Messages::of(importer.tool, lines::numbered(&text, 1));
            draft
                .tests
                .iter_mut()
                .filter(|test| test.case.id == case)
                .for_each(|test| messages.tell_of(test));
        }
        Ok(())
    }

    /// Everything that was read.
    #[must_use]
    pub fn finish(self) -> Imported<Phases> {
        assemble(self.files, self.found, self.otherwise_unix_ns)
    }
}

fn assemble(
    files: Vec<PathBuf>,
    found: Vec<(usize, ReadOutput)>,
    otherwise_unix_ns: i64,
) -> Imported<Phases> {
    let mut names = Names::default();
    let (mut cases, mut phases) = (Vec::new(), Vec::new());
    let (mut tools, mut nodes, mut command_lines, mut doubts) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut started, mut finished, mut zoneless) = (None, None, false);
    for (place, (importer, draft)) in found {
        let file: Rc<str> = files[place].to_string_lossy().into();
        let tool = match &draft.version {
            Some(version) => format!("{} {version}", draft.tool),
            None => draft.tool.to_owned(),
        };
        doubts.extend(importer.newer(&draft));
        add(&mut tools, Some(tool));
        add(&mut nodes, draft.node);
        add(&mut command_lines, draft.command);
        for doubt in draft.doubts {
            add(&mut doubts, Some(doubt));
        }
        zoneless |= !draft.zoned && draft.started.or(draft.finished).is_some();
        started = [started, draft.started].into_iter().flatten().min();
        finished = [finished, draft.finished].into_iter().flatten().max();
        let otherwise = draft.started.unwrap_or(otherwise_unix_ns);
        let printed_by = PrintedBy { tool: draft.tool.to_owned(), release: draft.version.clone() };
        for test in draft.tests {
            let (case, passes) = test.finish(&mut names);
            phases.extend(passes.into_iter().map(|pass| DraftPhase {
                pass,
                case: case.id.clone(),
                file: Rc::clone(&file),
                otherwise_unix_ns: otherwise,
            }));
            cases.push(Case { printed_by: Some(printed_by.clone()), ..case });
        }
    }
    let source = PlanSource::Import {
        files,
        tools: tools.clone(),
        command_lines,
        undated: started.is_none() && finished.is_none(),
        zoneless,
    };
    let title = format!("Printed by {}", tools.join(", "));
    let node = if nodes.len() == 1 { nodes.pop() } else { None };
    Imported {
        tools,
        plan: Plan::new(title, source, 0, cases),
        phases: Phases(phases.into_iter()),
        started_unix_ns: started,
        finished_unix_ns: finished,
        node,
        doubts,
    }
}

/// Adds `one` unless it is already present.
fn add(all: &mut Vec<String>, one: Option<String>) {
    if let Some(one) = one.filter(|one| !all.contains(one)) {
        all.push(one);
    }
}
