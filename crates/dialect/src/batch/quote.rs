//! Words of a shell.

use std::path::Path;

use super::BatchError;

/// Characters that mean nothing to a shell or to a directive, wherever they stand.
const PLAIN: &str = "_.-:@/+,=";

/// Whether `text` can stand in a directive: not empty, and of harmless characters only.
pub(super) fn is_plain_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_plain)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || PLAIN.contains(character)
}

/// Whether a line would end within `text`, or do worse to a terminal.
pub(super) fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// `text` as one word of a POSIX shell: as it is, or in single quotes, in which only their own
/// character is special (POSIX.1-2017, Shell Command Language, 2.2.2).
pub(super) fn word(text: &str) -> String {
    if is_plain_word(text) { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A path as one word that no program takes for an option; always in quotes, as `a-b` is no sum.
pub(super) fn path(path: &Path) -> Result<String, BatchError> {
    let text = path.to_str().ok_or_else(|| BatchError::NotUtf8 { path: path.to_owned() })?;
    let safe = if text.starts_with('-') || text.is_empty() { format!("./{text}") } else { text.to_owned() };
    Ok(quoted(&safe))
}

/// `text` on one line, for a comment.
pub(super) fn line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

/// `text` as the name of a job: PBS wants a letter first and no blanks.
pub(super) fn job_name(text: &str) -> String {
    /// Longer names are cut in most listings of jobs.
    const LENGTH_MAX: usize = 40;
    let kept = text.chars().map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '-' });
    format!("ioproof-{}", kept.take(LENGTH_MAX).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{job_name, line, path, word};

    proptest! {
        #[test]
        fn a_shell_gives_back_every_word(text in "[^\u{0}]{1,40}") {
            let script = format!("printf %s {}", word(&text));
            let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
            prop_assert_eq!(String::from_utf8_lossy(&output.stdout), text);
        }

        #[test]
        fn a_comment_stays_on_its_line(text in ".*") {
            prop_assert_eq!(format!("{}\n", line(&text)).lines().count(), 1);
        }
    }

    #[test]
    fn plain_words_stay_readable_and_others_are_quoted() {
        assert_eq!(word("/scratch/a-b_1.toml"), "/scratch/a-b_1.toml");
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word("~"), "'~'");
        assert_eq!(path("-rf".as_ref()).as_deref(), Ok("'./-rf'"));
        assert_eq!(job_name("weak scaling\n; rm"), "ioproof-weak-scaling---rm");
    }
}
