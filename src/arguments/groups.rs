//! The commands by what they are for, as `ioproof --help` lists them.

use clap::Command;

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
    ("Prepare the host", &["host", "layout", "config"]),
];

/// `definition` with a help that lists its commands by group.
pub(super) fn grouped(definition: Command) -> Command {
    let about = definition.get_about().map(ToString::to_string).unwrap_or_default();
    let template = format!(
        "{}\n\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}{{after-help}}",
        folded(&about, COLUMNS).join("\n"),
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
            for (line, text) in folded(&about, COLUMNS - width - 4).into_iter().enumerate() {
                let name = if line == 0 { name } else { "" };
                out += &format!("  {name:width$}  {text}\n");
            }
        }
    }
    out
}

/// `text` in lines of at most `columns` characters, broken between words.
fn folded(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is one from the start");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > columns {
            lines.push(word.to_owned());
            continue;
        }
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
    }
    lines
}
