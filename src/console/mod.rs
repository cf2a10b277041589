//! Terminal output and prompts. All output goes through here or through the live line; both escape control
//! and invisible characters, since names may come from anywhere.

pub(crate) mod exit;
pub(crate) mod panics;
pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod watch;

use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use comm::Launched;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, ThemeStyles};
use plan::study::StudyErrors;
use plan::topology::TopologyError;
use plan::visible;
use report::{Screen, terminal_columns};

use crate::console::exit::{Exit, Failure};

/// Asks on the terminal; without one the answer is `unattended`. So is an empty line: nothing that needs a
/// person is confirmed by a careless Enter.
pub(crate) fn confirm(question: &str, unattended: bool) -> Result<bool, Failure> {
    let internal = |error: io::Error| Failure::new(Exit::Internal, error);
    if !can_ask() {
        return Ok(unattended);
    }
    let choices = if unattended { "[Y/n]" } else { "[y/N]" };
    write!(io::stderr(), "{} {choices} ", visible(question)).map_err(internal)?;
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer).map_err(internal)? == 0 {
        // End of input (Ctrl-D) confirms nothing; the line is still open.
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

/// As [`can_ask`], if the subject of the prompt is printed on standard output.
pub(crate) fn can_show_and_ask() -> bool {
    can_ask() && io::stdout().is_terminal()
}

/// Writes to standard output; a closed pipe is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_if_read(text).map(|_| ())
}

/// Writes exactly one line to standard output; line breaks in it are escaped.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    print(&format!("{}\n", visible(line)))
}

/// As [`print()`]; returns whether there is still a reader.
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

/// Writes exactly one line to standard error; a closed pipe is ignored.
pub(crate) fn complain(line: &str) {
    let line = visible(line);
    complain_lines(&line, &line);
}

/// As [`print()`], for text with lines that may be wider than the terminal.
pub(crate) fn print_folded(text: &str) -> Result<(), Failure> {
    print(&screen().folded(text))
}

/// As [`complain`], for several lines; prints `coloured` if nothing in `plain` has to be escaped.
pub(crate) fn complain_lines(plain: &str, coloured: &str) {
    let safe = Screen::PLAIN.safe(plain);
    let shown = if matches!(safe, Cow::Borrowed(_)) { coloured } else { &safe };
    let shown = match terminal_columns(io::stderr()) {
        // Coloured text is already laid out.
        Some(columns) if plain == coloured => Cow::Owned(Screen::PLAIN.wide(columns).folded(shown)),
        _ => Cow::Borrowed(shown),
    };
    let _ = writeln!(io::stderr(), "{}", shown.trim_end());
}

/// As wide as the terminal, or in a pipe as `COLUMNS` says; in colour where a person looks at the output and has not said no (<https://no-color.org>).
/// Under a launcher nobody knows: Open MPI's gives a terminal to processes whose output goes to a file.
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

/// Prints `failure` on the error stream: a mistake in a study with its line, anything else with
/// its causes.
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
            // Indented, so that a line break in a message or name cannot imitate a line of the program.
            let told = format!("ioproof: {}", with_causes(&failure.error).replace('\n', "\n  "));
            complain_lines(&told, &told);
        }
    }
    failure.exit.into()
}

/// `errors` with the lines of their source.
fn rendered(errors: &dyn Diagnostic, theme: GraphicalTheme) -> Option<String> {
    let mut shown = String::new();
    GraphicalReportHandler::new_themed(theme).render_report(&mut shown, errors).ok()?;
    Some(shown)
}

/// `error` with its causes, without those already contained in a previous message.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |told, cause| {
        match (told.is_empty(), told.contains(&cause)) {
            (true, _) => cause,
            (false, true) => told,
            (false, false) => format!("{told}: {cause}"),
        }
    })
}
