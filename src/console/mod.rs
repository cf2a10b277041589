//! Terminal output and prompts. All output is written by this module or the live line. Both escape control
//! characters and invisible characters, because names may come from untrusted sources.

pub(crate) mod exit;
pub(crate) mod panics;
pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod stack;
pub(crate) mod watch;

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use comm::Launched;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, ThemeStyles};
use plan::study::StudyErrors;
use plan::topology::TopologyError;
use plan::{cut_words, visible};
use report::{Screen, terminal_columns};

use crate::console::exit::{Exit, Failure, with_causes};

/// Asks a question on the terminal. Returns `unattended` if there is no terminal or the line is empty, so
/// that nothing which needs a decision is confirmed by accidentally pressing Enter.
pub(crate) fn confirm(question: &str, unattended: bool) -> Result<bool, Failure> {
    let internal = |error: io::Error| Failure::new(Exit::Internal, error);
    if !can_ask() {
        return Ok(unattended);
    }
    let choices = if unattended { "[Y/n]" } else { "[y/N]" };
    write!(io::stderr(), "{} {choices} ", visible(question)).map_err(internal)?;
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer).map_err(internal)? == 0 {
        // End of input (Ctrl-D) confirms nothing. The cursor is still in the line of the question.
        writeln!(io::stderr()).map_err(internal)?;
        return Ok(false);
    }
    Ok(match answer.trim().to_ascii_lowercase().as_str() {
        "" => unattended,
        answer => matches!(answer, "y" | "yes"),
    })
}

/// Whether a prompt can be shown and answered.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Like [`can_ask`], for a prompt whose subject is printed on standard output.
pub(crate) fn can_show_and_ask() -> bool {
    can_ask() && io::stdout().is_terminal()
}

/// Writes to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_if_read(text).map(|_| ())
}

/// Writes exactly one line to standard output. Line breaks in it are escaped.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    print(&format!("{}\n", visible(line)))
}

/// Like [`print()`], but returns whether there is still a reader.
pub(crate) fn print_if_read(text: &str) -> Result<bool, Failure> {
    match io::stdout().lock().write_all(screen().safe(text).as_bytes()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            let error = anyhow::Error::from(error).context("cannot write to the standard output");
            Err(Failure::new(Exit::Record, error))
        }
    }
}

/// Writes exactly one line to standard error. A closed pipe is ignored.
pub(crate) fn complain(line: &str) {
    let line = visible(line);
    complain_lines(&line, &line);
}

/// Like [`print()`], for text with lines that may be wider than the terminal.
pub(crate) fn print_folded(text: &str) -> Result<(), Failure> {
    print(&screen().folded(text))
}

/// Longer words, for example names that no file system accepts, are cut in messages.
const WORD_MOST: usize = 400;

/// Like [`complain`], for several lines. Prints `coloured` if nothing in `plain` has to be escaped.
pub(crate) fn complain_lines(plain: &str, coloured: &str) {
    let safe = Screen::PLAIN.safe(plain);
    let shown = if matches!(safe, Cow::Borrowed(_)) { coloured } else { &safe };
    let cut = if plain == coloured { cut_words(shown, WORD_MOST) } else { Cow::Borrowed(shown) };
    let shown = &*cut;
    let shown = match terminal_columns(io::stderr()) {
        // Coloured text is already laid out.
        Some(columns) if plain == coloured => Cow::Owned(Screen::PLAIN.wide(columns).folded(shown)),
        _ => Cow::Borrowed(shown),
    };
    let _ = writeln!(io::stderr(), "{}", shown.trim_end());
}

/// The screen's width is that of the terminal, or in a pipe the value of `COLUMNS`. Colours are used if a person
/// looks at the output and has not disabled them (<https://no-color.org>). Under a launcher this cannot be
/// determined: Open MPI's launcher gives processes a terminal even if their output goes to a file.
pub(crate) fn screen() -> Screen {
    if Launched::find(|name| std::env::var(name).ok()).is_some() {
        return Screen::PLAIN;
    }
    let wide = |columns: Option<usize>| columns.map_or(Screen::PLAIN, |columns| Screen::PLAIN.wide(columns));
    if !io::stdout().is_terminal() {
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        return wide(columns.filter(|columns| *columns > 0));
    }
    let screen = wide(terminal_columns(io::stdout()));
    let colour = std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
    if colour { screen.coloured() } else { screen }
}

/// Prints `failure` to standard error: a mistake in a study with its line, anything else with its causes.
pub(crate) fn explain(failure: &Failure) -> ExitCode {
    if failure.told_elsewhere {
        return failure.exit.into();
    }
    let study = failure.error.downcast_ref::<StudyErrors>().map(|one| one as &dyn Diagnostic);
    let site = failure.error.downcast_ref::<TopologyError>().map(|one| one as &dyn Diagnostic);
    match study.or(site).and_then(|errors| {
        let coloured = GraphicalTheme::default();
        let plain = GraphicalTheme { styles: ThemeStyles::none(), ..coloured.clone() };
        Some((rendered(errors, plain)?, rendered(errors, coloured)?))
    }) {
        Some((plain, coloured)) => complain_lines(&plain, &coloured),
        None => {
            // Indented, so that a line break in a message or name cannot imitate a line of the program's
            // own output.
            let told = format!("ioproof: {}", with_causes(&failure.error).replace('\n', "\n  "));
            complain_lines(&told, &told);
        }
    }
    failure.exit.into()
}

/// Formats `errors` with the lines of their source.
fn rendered(errors: &dyn Diagnostic, theme: GraphicalTheme) -> Option<String> {
    let mut shown = String::new();
    GraphicalReportHandler::new_themed(theme).render_report(&mut shown, errors).ok()?;
    Some(shown)
}
