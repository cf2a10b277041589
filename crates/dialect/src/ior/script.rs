//! The lines of a script for `-f`.
//!
//! Between `IOR START` and `IOR STOP` a line contains either directives (`key=value`, separated by
//! commas) or `RUN`, which starts a test with everything set so far. Settings remain in effect for the
//! tests that follow. `#` starts a comment. Case, white space, and two dashes before a key are ignored.

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command<'a> {
    /// `RUN`.
    Run,
    /// `key=value`.
    Directive(&'a str),
    /// Anything else.
    Unknown(&'a str),
}

/// The commands of a script with their line numbers, from 1. Anything after `IOR STOP` is not read.
pub(super) fn commands(text: &str) -> Vec<(usize, Command<'_>)> {
    let mut commands = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let words: Vec<String> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            [] | ["ior", "start"] => {}
            ["ior", "stop"] => break,
            ["run"] => commands.push((index + 1, Command::Run)),
            _ => {
                let directives = line.split(',').map(str::trim).filter(|directive| !directive.is_empty());
                commands.extend(directives.map(|directive| (index + 1, directive_of(directive))));
            }
        }
    }
    commands
}

fn directive_of(text: &str) -> Command<'_> {
    match text.contains('=') {
        true => Command::Directive(text.strip_prefix("--").unwrap_or(text)),
        false => Command::Unknown(text),
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, commands};

    #[test]
    fn comments_case_and_white_space_do_not_matter() {
        let text = "# tests\nior START\n  transferSize = 64k # small\n\n testFile=q, --keepFile=1\n Run\nIOR stop\nRUN\n";
        assert_eq!(
            commands(text),
            [
                (3, Command::Directive("transferSize = 64k")),
                (5, Command::Directive("testFile=q")),
                (5, Command::Directive("keepFile=1")),
                (6, Command::Run),
            ]
        );
    }

    #[test]
    fn a_line_that_is_no_directive_is_named() {
        assert_eq!(commands("IOR START\n garbage\n"), [(2, Command::Unknown("garbage"))]);
    }
}
