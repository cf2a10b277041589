//! The studies included in the program: `ioproof studies`, and `ioproof run NAME --on DIR`.

use std::path::Path;

use clap::{Args, Subcommand};
use report::ListedStudy;

use crate::console::exit::{Exit, Failure};
use crate::console::{print, print_folded, screen};

/// `ioproof studies`.
#[derive(Debug, Args)]
pub(crate) struct StudiesArguments {
    #[command(subcommand)]
    what: Option<StudiesWhat>,
}

/// What of the ready studies.
#[derive(Debug, Subcommand)]
pub(crate) enum StudiesWhat {
    /// Print the text of a ready study.
    Show {
        /// Name of the study.
        name: String,
    },
}

/// A study: its name and its text.
type Ready = (&'static str, &'static str);

macro_rules! studies {
    ($($group:literal: [$($name:literal),* $(,)?],)*) => {
        &[$(($group, &[$(($name, include_str!(concat!("../../studies/", $name, ".toml")))),*])),*]
    };
}

/// The studies by purpose.
const READY: &[(&str, &[Ready])] = studies![
    "One disk or directory": [
        "local-disk",
        "best-point",
        "task-count",
        "transfer-size",
        "tasks-by-transfer-size",
        "block-size",
        "buffer-size",
        "file-size",
        "threads",
        "read-write-mix",
        "latency",
        "open-advice",
        "iops-definitions",
        "steady-state",
    ],
    "Several disks, and layers": ["raw-disks", "luns", "layers", "fs-blocks"],
    "Shared storage and nodes": [
        "io500",
        "nodes-compared",
        "weak-scaling",
        "many-nodes-mixes",
        "randomops",
    ],
    "Workloads at the same time": [
        "restart-beside-checkpoint",
        "backup-beside-users",
        "metadata-beside-streams",
        "quality-of-service",
    ],
    "Metadata and small files": [
        "metadata",
        "mdtest-shared-directory",
        "small-files",
        "sub-blocks",
    ],
    "Published studies": [
        "cuny-test1",
        "cuny-uv300",
        "bsc-nvm",
        "iops-lustre",
        "scale-news",
        "sas-flash",
        "sas-mixed-analytics",
    ],
    "Acceptance": ["acceptance"],
];

macro_rules! models {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../../studies/models/", $name, ".toml")))),*] };
}

/// Name and text of each model included in the program.
pub(crate) const MODELS: &[(&str, &str)] =
    models!["cte-power", "five-p3700", "io-cell", "laptop", "lustre-ef560", "scale-disks", "twelve-p3700",];

/// Lists all studies, or prints the text of one.
pub(crate) fn run(arguments: &StudiesArguments) -> Result<Exit, Failure> {
    if let Some(StudiesWhat::Show { name }) = &arguments.what {
        let text = ready(name).ok_or_else(|| {
            let meant = record::Library::nearest(name, names());
            let next = meant.map_or_else(
                || "`ioproof studies` lists all".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            Failure::usage(format!("there is no ready study `{name}`; {next}"))
        })?;
        return print(text).map(|()| Exit::Success);
    }
    let listed = |&(name, text): &Ready| {
        let plan =
            plan::study::read(Path::new(name), text).map_err(|error| Failure::new(Exit::Internal, error))?;
        Ok(ListedStudy { name, question: question(text), plan })
    };
    let group = |(title, studies): &(&'static str, &[Ready])| {
        let studies: Result<Vec<_>, Failure> = studies.iter().map(listed).collect();
        Ok((*title, studies?))
    };
    let groups: Result<Vec<_>, Failure> = READY.iter().map(group).collect();
    print(&report::studies(&groups?, screen()))?;
    print_folded(
        "\nTime and space are those of each study as it is written, predicted from what\n\
         it says of its storage, else for a device of 500 MB/s.\n\
         `ioproof run NAME --on DIR` runs one on a directory; `--explain` shows first\n\
         what it does. `--time 10min --space 10GiB` scales one, and says what it gives\n\
         up. `ioproof studies show NAME` prints one, to be saved and changed.\n",
    )?;
    Ok(Exit::Success)
}

/// The text of the study with this name.
pub(crate) fn ready(name: &str) -> Option<&'static str> {
    all().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Whether `text` is exactly that of a ready study, whether it came from the program or from a file.
pub(crate) fn is_ready_text(text: &str) -> bool {
    all().any(|(_, known)| *known == text)
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|(name, _)| *name)
}

fn all() -> impl Iterator<Item = &'static Ready> {
    READY.iter().flat_map(|(_, studies)| *studies)
}

/// The commands in the header of a model or study, which stand apart in it.
pub(crate) fn commands(text: &str) -> impl Iterator<Item = &str> {
    let header = text.lines().map_while(|line| line.strip_prefix('#'));
    header.filter(|line| line.starts_with("   ")).map(str::trim)
}

/// The first sentence of the header of a study or model.
pub(crate) fn question(text: &str) -> String {
    let header = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
    let header = header.collect::<Vec<_>>().join(" ");
    let ends = [". ", "? ", ": "].iter().filter_map(|end| header.find(end));
    let end = ends.min().map_or(header.len(), |at| at + 1);
    header[..end].trim_end_matches(':').to_owned()
}
