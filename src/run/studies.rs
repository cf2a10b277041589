//! The studies included in the program: `ioproof studies`, and `ioproof run NAME --on DIR`.

use crate::arguments::{StudiesArguments, StudiesWhat};
use crate::console::exit::{Exit, Failure};
use crate::console::{print, print_folded};

macro_rules! studies {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!(concat!("../../studies/", $name, ".toml")))),*] };
}

/// Name and text of each study.
const READY: &[(&str, &str)] = studies![
    "acceptance",
    "best-point",
    "block-size",
    "bsc-nvm",
    "buffer-size",
    "cuny-test1",
    "cuny-uv300",
    "file-size",
    "fs-blocks",
    "io500",
    "iops-definitions",
    "iops-lustre",
    "latency",
    "layers",
    "local-disk",
    "luns",
    "many-nodes-mixes",
    "mdtest-shared-directory",
    "metadata",
    "nodes-compared",
    "open-advice",
    "randomops",
    "raw-disks",
    "read-write-mix",
    "sas-flash",
    "sas-mixed-analytics",
    "scale-news",
    "small-files",
    "steady-state",
    "sub-blocks",
    "task-count",
    "tasks-by-transfer-size",
    "threads",
    "transfer-size",
    "weak-scaling",
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
    let width = names().map(str::len).max().unwrap_or(0);
    for (name, text) in READY {
        print_folded(&format!("{name:width$}  {}\n", question(text)))?;
    }
    print_folded(
        "\n`ioproof run NAME --on DIR` runs one on a directory; add --explain to see first what it does.\n\
         `ioproof studies show NAME` prints one, to be saved and changed.\n",
    )?;
    Ok(Exit::Success)
}

/// The text of the study with this name.
pub(crate) fn ready(name: &str) -> Option<&'static str> {
    READY.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Whether `text` is exactly that of a ready study, whether it came from the program or from a file.
pub(crate) fn is_ready_text(text: &str) -> bool {
    READY.iter().any(|(_, known)| *known == text)
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    READY.iter().map(|(name, _)| *name)
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
