//! The terminal: what is printed, and what is asked.

use std::io::{self, BufRead, IsTerminal, Write};

use comm::Launched;
use report::Colour;

use crate::exit::{Exit, Failure};

/// Asks on the terminal; where there is none, nobody can be asked and the answer is `unattended`.
pub(crate) fn confirm(question: &str, unattended: bool) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Ok(unattended);
    }
    let answer = ask(&format!("{question} [Y/n]"))?;
    Ok(matches!(answer.as_deref(), Some("" | "y" | "yes")))
}

/// As [`confirm`], where data of the user are lost by a yes: an empty line is none, and where nobody can be
/// asked nobody agrees.
pub(crate) fn confirm_loss(question: &str) -> Result<bool, Failure> {
    if !can_ask() {
        return Ok(false);
    }
    let answer = ask(&format!("{question} [y/N]"))?;
    Ok(matches!(answer.as_deref(), Some("y" | "yes")))
}

/// Whether somebody sees a question and can answer it.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// What is answered, in lower case; none at the end of the input, as by Ctrl-D.
fn ask(question: &str) -> Result<Option<String>, Failure> {
    let internal = |error: io::Error| Failure::new(Exit::Internal, error);
    write!(io::stderr(), "{question} ").map_err(internal)?;
    let mut answer = String::new();
    if io::stdin().lock().read_line(&mut answer).map_err(internal)? == 0 {
        // The line is still open.
        writeln!(io::stderr()).map_err(internal)?;
        return Ok(None);
    }
    Ok(Some(answer.trim().to_ascii_lowercase()))
}

/// Writes to standard output; a reader that went away is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_if_read(text).map(|_| ())
}

/// As [`print()`]; says whether there is still a reader.
pub(crate) fn print_if_read(text: &str) -> Result<bool, Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            let error = anyhow::Error::from(error).context("cannot write to the standard output");
            Err(Failure::new(Exit::Record, error))
        }
    }
}

/// Writes a line to the error stream; one that nobody reads any more is no reason to die.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Colour where a person looks at the output and has not said no (<https://no-color.org>). Under a
/// launcher nobody knows: Open MPI's gives a terminal to processes whose output goes to a file.
pub(crate) fn colour() -> Colour {
    let launched = Launched::find(|name| std::env::var(name).ok()).is_some();
    let wanted = !launched && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
    if io::stdout().is_terminal() && wanted { Colour::Ansi } else { Colour::Plain }
}
