//! The forms of output that are known.

use super::draft::Draft;
use super::lines::{Block, Line};
use super::{
    ImportError, elbencho, elbencho_json, fio_json, fio_text, gpfsperf, iohist, ioping, ior_csv, ior_json,
    ior_text, iostat, iostat_json, iozone, md_workbench, mdtest, nsdperf,
};

/// A tool and the form of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// IOR's text.
    Ior,
    /// IOR's `summaryFormat=JSON`.
    IorJson,
    /// IOR's `summaryFormat=CSV`.
    IorCsv,
    /// mdtest's text.
    Mdtest,
    /// md-workbench's text.
    MdWorkbench,
    /// iozone's text.
    Iozone,
    /// ioping's text.
    Ioping,
    /// `ioping -B`.
    IopingBatch,
    /// `ioping -J`.
    IopingJson,
    /// gpfsperf's and tsqosperf's text.
    Gpfsperf,
    /// `mmfsadm dump iohist`.
    Iohist,
    /// fio's text.
    Fio,
    /// fio's `--output-format=json` and `json+`.
    FioJson,
    /// elbencho's `--csvfile`.
    ElbenchoCsv,
    /// elbencho's `--jsonfile`.
    ElbenchoJson,
    /// `iostat -x`.
    Iostat,
    /// `iostat -x -o JSON`.
    IostatJson,
    /// nsdperf's text.
    Nsdperf,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Ior,
        Self::IorJson,
        Self::IorCsv,
        Self::Mdtest,
        Self::MdWorkbench,
        Self::Iozone,
        Self::Ioping,
        Self::IopingBatch,
        Self::IopingJson,
        Self::Gpfsperf,
        Self::Iohist,
        Self::Fio,
        Self::FioJson,
        Self::ElbenchoCsv,
        Self::ElbenchoJson,
        Self::Iostat,
        Self::IostatJson,
        Self::Nsdperf,
    ];

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ior => "ior",
            Self::IorJson => "ior-json",
            Self::IorCsv => "ior-csv",
            Self::Mdtest => "mdtest",
            Self::MdWorkbench => "md-workbench",
            Self::Iozone => "iozone",
            Self::Ioping => "ioping",
            Self::IopingBatch => "ioping-batch",
            Self::IopingJson => "ioping-json",
            Self::Gpfsperf => "gpfsperf",
            Self::Iohist => "iohist",
            Self::Fio => "fio",
            Self::FioJson => "fio-json",
            Self::ElbenchoCsv => "elbencho-csv",
            Self::ElbenchoJson => "elbencho-json",
            Self::Iostat => "iostat",
            Self::IostatJson => "iostat-json",
            Self::Nsdperf => "nsdperf",
        }
    }

    /// Every word, for messages.
    pub(super) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// Reads a file that is one output.
    pub(super) fn read_whole(self, file: &str, text: &str) -> Result<Draft, ImportError> {
        let lines = || super::lines::lines(text);
        match self {
            Self::IorJson => ior_json::parse(file, text),
            Self::IorCsv => ior_csv::parse(&Block { file, tool: ior_text::TOOL, lines: &lines() }),
            Self::IopingBatch => ioping::batch(&Block { file, tool: ioping::TOOL, lines: &lines() }),
            Self::IopingJson => ioping::json(file, text),
            Self::FioJson => fio_json::parse(file, text),
            Self::ElbenchoCsv => elbencho::parse(file, text),
            Self::ElbenchoJson => elbencho_json::parse(file, text),
            Self::IostatJson => iostat_json::parse(file, text),
            _ => self.read_block(file, &lines()),
        }
    }

    /// Reads one output among others.
    pub(super) fn read_block(self, file: &str, lines: &[Line<'_>]) -> Result<Draft, ImportError> {
        let block = |tool| Block { file, tool, lines };
        match self {
            Self::Ior => ior_text::parse(&block(ior_text::TOOL)),
            Self::Mdtest => mdtest::parse(&block(mdtest::TOOL)),
            Self::MdWorkbench => md_workbench::parse(&block(md_workbench::TOOL)),
            Self::Iozone => iozone::parse(&block(iozone::TOOL)),
            Self::Ioping => ioping::parse(&block(ioping::TOOL)),
            Self::Gpfsperf => gpfsperf::parse(&block(gpfsperf::TOOL)),
            Self::Iohist => iohist::parse(&block(iohist::TOOL)),
            Self::Fio => fio_text::parse(&block(fio_text::TOOL)),
            Self::Iostat => iostat::parse(&block(iostat::TOOL)),
            Self::Nsdperf => nsdperf::parse(&block(nsdperf::TOOL)),
            _ => Err(ImportError::NotOf { file: file.to_owned(), format: self }),
        }
    }
}

/// The newest release of each tool whose output was seen.
const SEEN: [(&str, u32, u32); 8] = [
    ("IOR", 4, 1),
    ("mdtest", 4, 1),
    ("md-workbench", 4, 1),
    ("iozone", 3, 509),
    ("ioping", 1, 3),
    ("fio", 3, 42),
    ("elbencho", 3, 1),
    ("iostat", 12, 7),
];

/// A sentence where the output is of a later release than those that were seen.
pub(super) fn newer(draft: &Draft) -> Option<String> {
    let version = draft.version.as_deref()?;
    let &(tool, major, minor) = SEEN.iter().find(|(tool, _, _)| *tool == draft.tool)?;
    let mut parts = version.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let found = (parts.next()?.ok()?, parts.next().and_then(Result::ok).unwrap_or(0));
    (found > (major, minor)).then(|| {
        format!("{tool} {version} is newer than {major}.{minor}, the last release that is known; it was read as one of that")
    })
}
