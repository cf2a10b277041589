//! Labels and times that launchers and pipes write before each line of a program's output.

/// Shapes of prefixes. `9` is a number, with decimals if it has some; `A` is a word; a space at the end is missing on
/// an empty line.
///
/// Source: the manuals of `srun` (`--label`), Open MPI's `mpirun` (`--tag-output`, `--timestamp-output`), MPICH's
/// `mpiexec` (`-prepend-rank`) and `ts` of moreutils.
const SHAPES: [&str; 14] = [
    "9: ",
    "[9] ",
    "[9,9]<A>: ",
    "[9,9]<A>:",
    "A A 9 9:9:9 9<A>:",
    "A A 9 9:9:9 9[9,9]<A>:",
    "9-9-9T9:9:9Z ",
    "9-9-9T9:9:9+9:9 ",
    "9-9-9T9:9:9 ",
    "9-9-9 9:9:9 ",
    "[9-9-9T9:9:9] ",
    "[9-9-9 9:9:9] ",
    "A 9 9:9:9 ",
    "9:9:9 ",
];

/// The smallest share of the lines that have a prefix where a launcher writes it.
const SHARE_MIN: f64 = 0.9;
/// Number of lines at the beginning by which texts without prefixes are recognised.
const HEAD_LINES: usize = 20;

/// Whether most lines of `text` have a prefix.
pub(crate) fn has(text: &str) -> bool {
    if !text.lines().take(HEAD_LINES).any(|line| rest(line).is_some()) {
        return false;
    }
    let (mut with, mut all) = (0_u32, 0_u32);
    for line in text.lines() {
        with += u32::from(rest(line).is_some());
        all += u32::from(!line.trim().is_empty());
    }
    f64::from(with) >= SHARE_MIN * f64::from(all)
}

/// `text` without the prefixes of its lines, or `None` if most have none.
pub(crate) fn without(text: &str) -> Option<String> {
    has(text).then(|| {
        let mut plain = String::with_capacity(text.len());
        for line in text.lines() {
            plain.push_str(rest(line).unwrap_or(line));
            plain.push('\n');
        }
        plain
    })
}

/// The part of `line` after its prefix, if it has one.
fn rest(line: &str) -> Option<&str> {
    SHAPES.iter().find_map(|shape| after(line.trim_start(), shape))
}

/// The part of `line` after a prefix of this shape.
fn after<'a>(line: &'a str, shape: &str) -> Option<&'a str> {
    let mut rest = line;
    for (at, wanted) in shape.char_indices() {
        let is_in: fn(char) -> bool = match wanted {
            '9' => |c| c.is_ascii_digit() || c == '.',
            'A' => |c| c.is_ascii_alphabetic(),
            ' ' if rest.is_empty() && at + 1 == shape.len() => return Some(rest),
            ' ' if at + 1 < shape.len() => |c| c == ' ',
            literal => {
                rest = rest.strip_prefix(literal)?;
                continue;
            }
        };
        let shorter = rest.trim_start_matches(is_in);
        if shorter.len() == rest.len() {
            return None;
        }
        rest = shorter;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_launchers_write_before_a_line_is_removed() {
        for prefix in [
            "0: ",
            " 12: ",
            "[3] ",
            "[1,0]<stdout>:",
            "[1,0]<stderr>: ",
            "Sat Nov 28 16:11:04 2026<stdout>:",
            "Sat Nov  7 16:11:04 2026[1,0]<stdout>:",
            "2019-02-20T21:58:34 ",
            "2019-02-20T21:58:34.123Z ",
            "2019-02-20T21:58:34+01:00 ",
            "2019-02-20 21:58:34.5 ",
            "[2019-02-20 21:58:34] ",
            "Nov 28 16:11:04 ",
            "00:00:12 ",
        ] {
            let text = format!("{prefix}Options:\n{}\n{prefix}api : POSIX\n", prefix.trim_end());
            assert_eq!(without(&text).as_deref(), Some("Options:\n\napi : POSIX\n"), "{prefix:?}");
        }
        assert_eq!(without("Options:\napi : POSIX\n12 ops\n"), None);
    }
}
