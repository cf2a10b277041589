//! Quoting of words for a shell.

use std::path::Path;

use plan::shell_word;

use super::request::BatchError;

/// Characters without a special meaning to a shell or in a directive, in any position.
const PLAIN: &str = "_.-:@/+,=";

/// Whether a directive can contain `text`: it must not be empty and must have harmless characters only.
pub(super) fn is_plain_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_plain)
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || PLAIN.contains(character)
}

/// Whether `text` contains characters that end a line or affect a terminal. Flux reads directives with
/// Python, for which Unicode's separators end a line as well.
pub(super) fn has_control(text: &str) -> bool {
    text.chars().any(is_control)
}

fn is_control(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// A path as one word that no program takes for an option. It is always quoted.
pub(super) fn path(path: &Path) -> Result<String, BatchError> {
    let text = path.to_str().ok_or_else(|| BatchError::NotUtf8 { path: path.to_owned() })?;
    let safe = if text.starts_with('-') || text.is_empty() { format!("./{text}") } else { text.to_owned() };
    let word = shell_word(&safe);
    Ok(if word == safe { format!("'{word}'") } else { word })
}

/// `text` on a single line, for a comment.
pub(super) fn line(text: &str) -> String {
    text.chars().map(|c| if is_control(c) { ' ' } else { c }).collect::<String>().trim().to_owned()
}

/// `text` as the name of a job. PBS requires a letter at the beginning and does not permit blanks.
pub(super) fn job_name(text: &str) -> String {
    /// Maximum length. Longer names are truncated in most listings of jobs.
    const LENGTH_MAX: usize = 40;
    let kept = text.chars().map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '-' });
    format!("ioproof-{}", kept.take(LENGTH_MAX).collect::<String>())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{has_control, job_name, line, path};

    proptest! {
        #[test]
        fn a_comment_stays_on_its_line(text in "[\\x00-\\x7f\u{85}\u{2028}\u{2029}é]*") {
            prop_assert!(!has_control(&line(&text)));
        }
    }

    #[test]
    fn what_ends_a_line_anywhere_is_refused_in_a_directive() {
        for text in ["a\nb", "a\rb", "a\u{b}b", "a\u{1c}b", "a\u{85}b", "a\u{2028}b", "a\u{2029}b"] {
            assert!(has_control(text), "{text:?}");
        }
        assert!(!has_control("--constraint=nvme&rack 1"));
    }

    #[test]
    fn no_path_is_taken_for_an_option_and_no_name_is_more_than_a_name() {
        assert_eq!(path("-rf".as_ref()).as_deref(), Ok("'./-rf'"));
        assert_eq!(job_name("weak scaling\n; rm"), "ioproof-weak-scaling---rm");
    }
}
