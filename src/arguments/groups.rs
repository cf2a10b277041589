//! The commands by what they are for, as `ioproof --help` lists them.

use clap::Command;
use textwrap::{Options, WordSplitter, wrap};

/// Width of the help.
pub(super) const COLUMNS: usize = 80;

/// Each group with its commands. A test finds every command in exactly one of them.
pub(super) const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "randomops", "rpc", "cross-check", "overhead"]),
    (
        "Measure with the command line of another tool",
        &["ior", "mdtest", "md-workbench", "ioping", "iozone", "gpfsperf", "io500"],
    ),
    ("Look at results", &["report", "verdict", "compare", "check", "history"]),
    ("Keep records", &["runs", "merge", "import", "verify", "clean"]),
    ("Plan", &["studies", "model", "batch", "reference", "calc", "schema"]),
    ("Prepare the host", &["doctor", "host", "layout", "config", "completions", "man"]),
];

/// `definition` with a help that lists its commands by group.
pub(super) fn grouped(definition: Command) -> Command {
    let about = definition.get_about().map(ToString::to_string).unwrap_or_default();
    let template = format!(
        "{}\n\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        wrap(&about, folds(COLUMNS)).join("\n"),
        listed(&definition)
    );
    definition.help_template(template)
}

/// The commands of each group below its title, each with what it does.
fn listed(definition: &Command) -> String {
    let names = || GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names().map(|name| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (title, names) in GROUPS {
        out += &format!("\n{title}:\n");
        for name in names {
            let about = definition.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            for (line, text) in wrap(&about, folds(COLUMNS - width - 4)).into_iter().enumerate() {
                let name = if line == 0 { name } else { "" };
                out += &format!("  {name:width$}  {text}\n");
            }
        }
    }
    out
}

/// Lines of at most so many columns, broken between words.
fn folds<'a>(columns: usize) -> Options<'a> {
    Options::new(columns).break_words(false).word_splitter(WordSplitter::NoHyphenation)
}
