//! Man pages and shell completions, generated from the definition of the command line.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::{fs, process};

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command};
use clap_complete::Shell;
use dialect::{Help, TOOLS, io500, ior};

use crate::console::exit::{Exit, Failure};
use crate::console::print;
use crate::run::studies;

/// Writes `man/*.1` and `completions/*` of the command line `definition` below `directory`.
pub(crate) fn run(directory: &Path, definition: &Command) -> Result<Exit, Failure> {
    write(directory, definition).map_err(|error| Failure::new(Exit::Record, error))?;
    Ok(Exit::Success)
}

fn write(directory: &Path, definition: &Command) -> anyhow::Result<()> {
    let (man, completions) = (directory.join("man"), directory.join("completions"));
    for folder in [&man, &completions] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    clap_mangen::generate_to(paged(definition), &man)
        .with_context(|| format!("cannot write man pages to {}", man.display()))?;
    for (name, help) in tools() {
        let page = man.join(format!("ioproof-{name}.1"));
        fs::write(&page, man_page(name, &help))
            .with_context(|| format!("cannot write {}", page.display()))?;
    }
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut completed(shell, definition), "ioproof", &completions)
            .with_context(|| format!("cannot write completions to {}", completions.display()))?;
    }
    Ok(())
}

/// The command line that man pages describe: of a release, which commits and targets have in common.
fn paged(definition: &Command) -> Command {
    definition.clone().version(env!("CARGO_PKG_VERSION"))
}

/// Prints the completions for `shell`.
pub(crate) fn completions(shell: Shell, definition: &Command) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut completed(shell, definition), "ioproof", &mut text);
    print(&String::from_utf8_lossy(&text)).map(|()| Exit::Success)
}

/// The command line that a shell completes.
fn completed(shell: Shell, definition: &Command) -> Command {
    let definition = with_options_of_tools(definition);
    // bash completes file names if no other value matches; other shells do not.
    if shell == Shell::Bash { with_ready_studies(definition) } else { definition }
}

/// Shows the man page of a command, by `man(1)` at a terminal.
pub(crate) fn man(command: &[String], definition: &Command) -> Result<Exit, Failure> {
    let page = page_of(command, definition)?;
    if io::stdout().is_terminal() {
        let shown = process::Command::new("man").args(["-l", "-"]).stdin(process::Stdio::piped()).spawn();
        if let Ok(mut shown) = shown {
            // Who leaves the pager early has read enough.
            let _ = shown.stdin.take().map(|mut input| input.write_all(page.as_bytes()));
            // A `man` that reads no page from its input, as that of busybox, fails.
            if shown.wait().is_ok_and(|status| status.success()) {
                return Ok(Exit::Success);
            }
        }
    }
    print(&page).map(|()| Exit::Success)
}

/// The page of the command with these words; of the program if there are none.
fn page_of(words: &[String], definition: &Command) -> Result<String, Failure> {
    if let [word] = words
        && let Some((name, help)) = tools().find(|(name, _)| name == word)
    {
        return Ok(man_page(name, &help));
    }
    let mut all = paged(definition);
    all.build();
    let mut command = &all;
    for word in words {
        command = command.find_subcommand(word).ok_or_else(|| {
            let known: Vec<&str> =
                command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
            let known = if known.is_empty() { "no command".to_owned() } else { known.join(", ") };
            Failure::usage(format!("`{}` is no command of {}, which has {known}", word, command.get_name()))
        })?;
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Each supported tool, with its help.
fn tools() -> impl Iterator<Item = (&'static str, Help)> {
    let others = TOOLS.iter().map(|tool| (tool.name, (tool.help)()));
    [(ior::TOOL, ior::help()), (io500::TOOL, io500::help())].into_iter().chain(others)
}

/// The command line definition with those options of the tools that a shell can complete.
fn with_options_of_tools(definition: &Command) -> Command {
    tools().fold(definition.clone(), |definition, (name, help)| {
        definition.mut_subcommand(name, |tool| {
            let own = help.own.iter().map(|(written, about)| (*written, *about));
            let all =
                help.options.iter().map(|(written, about)| (written.as_str(), about.as_str())).chain(own);
            all.fold(tool, |tool, (written, about)| match option(written, about) {
                Some(option) if tool.get_arguments().all(|known| known.get_id() != option.get_id()) => {
                    tool.arg(option)
                }
                _ => tool,
            })
        })
    })
}

/// The definition, with the ready studies as values of study arguments.
fn with_ready_studies(definition: Command) -> Command {
    let names = |argument: Arg| argument.value_parser(PossibleValuesParser::new(studies::names()));
    let of_show = |show: Command| show.mut_arg("name", names);
    definition
        .mut_subcommand("run", |run| run.mut_arg("study", names))
        .mut_subcommand("studies", |studies| studies.mut_subcommand("show", of_show))
}

/// Parses an option's short and long names. Returns `None` if it has neither, for example `-th` and
/// `-+m`.
fn option(written: &str, about: &str) -> Option<Arg> {
    // Clap needs static names, and the program ends when the files have been written.
    let names: Vec<&'static str> = Help::names(written).map(|name| &*name.to_owned().leak()).collect();
    let letter = names.iter().find_map(|name| match name.as_bytes() {
        [b'-', letter] if letter.is_ascii_alphanumeric() => Some(char::from(*letter)),
        _ => None,
    });
    let words: Vec<&str> = names.iter().filter_map(|name| name.strip_prefix("--")).collect();
    let id = letter.map(String::from).or(words.first().map(|word| (*word).to_owned()))?;
    let option = Arg::new(&*id.leak()).help(about.to_owned()).action(ArgAction::SetTrue);
    let option = letter.into_iter().fold(option, Arg::short);
    let option = words.first().into_iter().fold(option, |option, word| option.long(*word));
    Some(words.into_iter().skip(1).fold(option, Arg::visible_alias))
}

/// The man page of a tool, generated from its help.
fn man_page(name: &str, help: &Help) -> String {
    let mut page = format!(
        ".TH ioproof-{name} 1\n.SH NAME\nioproof\\-{} \\- takes the command line of {}\n.SH SYNOPSIS\n\\fBioproof\\fR {}\n\
         .SH DESCRIPTION\n",
        roff(name),
        roff(help.called),
        roff(&help.usage)
    );
    for line in help.what.lines() {
        page += &format!("{}\n", roff(line));
    }
    let mut section = |heading: &str, options: &mut dyn Iterator<Item = (&str, &str)>| {
        page += &format!(".SH {heading}\n");
        for (written, about) in options {
            page += &format!(".TP\n\\fB{}\\fR\n{}\n", roff(written), roff(about));
        }
    };
    section("OPTIONS", &mut help.options.iter().map(|(written, about)| (written.as_str(), about.as_str())));
    section("OPTIONS OF IOPROOF", &mut help.own.iter().copied());
    if !help.refused.is_empty() {
        let refused = roff(&help.refused.join(" "));
        page += &format!(".SH REFUSED\nEach is refused with its reason when it is used: {refused}\n");
    }
    page + ".SH SEE ALSO\n\\fBioproof\\fR(1)\n"
}

/// Text escaped for roff.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
