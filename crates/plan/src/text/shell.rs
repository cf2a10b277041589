//! Shell quoting.

/// `word` as one word of a POSIX shell: unchanged, or in single quotes, in which only the quote itself is
/// special (POSIX.1-2017, Shell Command Language, 2.2.2). All text from a study, file name or option passes
/// through here on its way to a shell or to a command shown on screen. A word contains no NUL, like any
/// program argument.
///
/// ```
/// assert_eq!(plan::shell_word("/dev/sda"), "/dev/sda");
/// assert_eq!(plan::shell_word("a $(b)'s"), r"'a $(b)'\''s'");
/// ```
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:,=@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::shell_word;

    /// What `sh -c` prints for a word; used to test quoting with a real shell.
    fn printed(shell: &str, word: &str) -> String {
        let script = format!("printf %s {word}");
        let output = Command::new(shell).args(["-c", &script]).env("LC_ALL", "C.UTF-8").output().unwrap();
        assert!(output.stderr.is_empty(), "{word}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    proptest! {
        #[test]
        fn a_shell_gives_back_every_word(text in "[^\u{0}]{0,40}", shape in "[-$(){}`'\"\\\\;&|<>*?!~#=%\n\r\t a-c]{0,20}") {
            for word in [text, shape] {
                for shell in ["sh", "bash"] {
                    prop_assert_eq!(printed(shell, &shell_word(&word)), word.as_str());
                }
            }
        }
    }
}
