//! Escaping of foreign text for each format, so that it is harmless and readable there.
//!
//! A title, a host name or a path may contain anything. Every writer passes its text through one of these functions;
//! in all formats except JSON, hidden characters are escaped first ([`plan::visible`]). `docs/REPORT.md` lists the
//! rules.

use std::borrow::Cow;
use std::io::{self, Write};

use plan::{is_hidden, visible, visible_lines};
use serde::Serialize;
use serde_json::Value;

/// First characters that make a spreadsheet treat a text as a formula, including the full-width forms.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
/// Characters with a possible meaning anywhere in a line of Markdown; `]` and `>` have none without `[` and `<`.
const MARKS: &str = "\\`*_~$|[";
/// The HTML tags that the charts use; plotly understands a few more.
const CHART_TAGS: [&str; 5] = ["<b>", "</b>", "<br>", "<extra>", "</extra>"];

/// Escapes text within XML, in elements and in attributes. Hidden characters, some of which XML cannot contain, are
/// written out first.
pub(crate) fn xml(text: &str) -> String {
    // No XML can contain these two.
    let text = visible(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escapes text within a line of Markdown, so that it is shown verbatim. What would be HTML becomes a character
/// reference: some processors (Python-Markdown) ignore a backslash before `<`.
pub(crate) fn markdown(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len());
    for (index, character) in text.char_indices() {
        let (before, after) = (&text[..index], &text[index + character.len_utf8()..]);
        // Addresses become links and character references become characters even without markup.
        let is_special = match character {
            '<' => {
                out.push_str("&lt;");
                continue;
            }
            '&' if after.starts_with(|c: char| c == '#' || c.is_ascii_alphanumeric()) => {
                out.push_str("&amp;");
                continue;
            }
            '@' => {
                let part = |c: char| !c.is_whitespace();
                before.ends_with(part) && after.starts_with(part)
            }
            ':' => after.starts_with("//"),
            '.' => before.len() >= 3 && before.as_bytes()[before.len() - 3..].eq_ignore_ascii_case(b"www"),
            _ => false,
        };
        if is_special || MARKS.contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// A line of Markdown, or of a list item: as [`markdown()`], and it cannot start a heading, list or rule.
pub(crate) fn markdown_line(text: &str) -> String {
    let line = markdown(text.trim_start());
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut after = line[digits..].chars();
    let place = match (after.next(), after.next()) {
        (Some('.' | ')'), None | Some(' ')) if digits > 0 => digits,
        (Some('#' | '-' | '+' | '=' | '>'), _) if digits == 0 => 0,
        _ => return line,
    };
    format!("{}\\{}", &line[..place], &line[place..])
}

/// Text as a one-line code block, between empty lines. It is indented, because not every processor knows fences, and
/// within one that it does not know HTML is live.
pub(crate) fn markdown_code(text: &str) -> String {
    format!("    {}", visible(text))
}

/// A field of comma-separated values (RFC 4180). Text that a spreadsheet would treat as a formula gets an
/// apostrophe, the spreadsheet mark for text; a number does not.
pub(crate) fn csv(field: &str) -> String {
    let field = visible(field);
    let is_number = || field.parse::<f64>().is_ok_and(f64::is_finite);
    let apostrophe = if field.starts_with(FORMULA) && !is_number() { "'" } else { "" };
    if field.contains(['"', ',']) {
        return format!("\"{apostrophe}{}\"", field.replace('"', "\"\""));
    }
    format!("{apostrophe}{field}")
}

/// The value of a label or a help text of OpenMetrics, between its quotes.
pub(crate) fn label(text: &str) -> String {
    visible_lines(text).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Text for HTML and SVG, as an element's content or between the quotes of an attribute.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
    out
}

/// Text for plotly, which interprets some HTML tags, and `%{…}` in templates.
pub(crate) fn chart(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace("%{", "%&#123;")
}

/// Data of charts as JSON for a `script` element, which its texts cannot end. Tags other than [`CHART_TAGS`] are escaped.
pub(crate) fn chart_json(mut data: Value) -> String {
    clean(&mut data);
    data.to_string().replace('<', "\\u003c")
}

fn clean(data: &mut Value) {
    match data {
        Value::String(text) => *text = only_own_tags(text),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn only_own_tags(text: &str) -> String {
    let text = visible(text);
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let own = CHART_TAGS.iter().any(|tag| part.starts_with(&tag[1..]));
        out.push_str(if own { "<" } else { "&lt;" });
        out.push_str(part);
    }
    out
}

/// Writes the same as [`json_text`] to `out`.
pub(crate) fn json(value: &impl Serialize, out: &mut impl Write) -> serde_json::Result<()> {
    serde_json::to_writer_pretty(Visible(out), value)
}

/// `value` as JSON in lines, safe for a terminal: control characters and other invisible characters are
/// escaped numerically.
///
/// # Panics
/// Panics if `value` cannot be represented in JSON, such as a map whose keys are not texts.
#[must_use]
pub fn json_text(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    json(value, &mut out).expect("what is shown has a form in JSON");
    out.push(b'\n');
    String::from_utf8(out).expect("JSON is UTF-8")
}

/// Escapes characters that serde leaves alone, such as DEL and bidi marks. They occur only in texts, and
/// serde never splits a character.
struct Visible<'a, W>(&'a mut W);

impl<W: Write> Write for Visible<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(bytes).map_err(io::Error::other)?;
        let is_hidden = |c: char| c != '\n' && is_hidden(c);
        for part in text.split_inclusive(is_hidden) {
            let shown = part.trim_end_matches(is_hidden);
            self.0.write_all(shown.as_bytes())?;
            part[shown.len()..].encode_utf16().try_for_each(|unit| write!(self.0, "\\u{unit:04x}"))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Text for a terminal: line ends, tabs and, on request, the colours of a report are kept; all other
/// invisible characters are escaped.
pub(crate) fn terminal<'a>(text: &'a str, own: &[&str]) -> Cow<'a, str> {
    if !text.contains(|c| is_hidden(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let kept = own.iter().find(|code| rest.starts_with(**code));
        let length = kept.map_or(next.len_utf8(), |code| code.len());
        let (this, after) = rest.split_at(length);
        match kept.is_some() || matches!(next, '\n' | '\t') {
            true => out.push_str(this),
            false => out.push_str(&visible(this)),
        }
        rest = after;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    use super::{
        chart, chart_json, csv, html, json_text, label, markdown, markdown_code, markdown_line, terminal,
    };

    /// Any text, with a high share of characters that are special in some format.
    fn text() -> impl Strategy<Value = String> {
        let part = proptest::prop_oneof![
            any::<String>(),
            "[-=+@|`*_~$<>&\"',;:/\\\\#.0-9a-z \t\r\n\u{1b}\u{9b}\u{7f}\u{202e}\u{2028}\u{e0041}]{0,8}",
            proptest::sample::select(vec![
                "<b>",
                "<br>",
                "</script>",
                "<!--",
                "%{x}",
                "&lt;",
                "http://a",
                "www.a.b"
            ])
            .prop_map(str::to_owned),
        ];
        proptest::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
    }

    fn unescaped(text: &str) -> String {
        let names =
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#123;", "{"), ("&amp;", "&")];
        names.iter().fold(text.to_owned(), |text, (name, character)| text.replace(name, character))
    }

    #[test]
    fn text_that_looks_like_a_formula_gets_an_apostrophe_and_numbers_do_not() {
        assert_eq!(csv("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
        assert_eq!(csv("-1+1"), "'-1+1");
        assert_eq!(csv("@SUM(1,2)"), "\"'@SUM(1,2)\"");
        assert_eq!(["-1.5", "+3", "-1e-9", "12"].map(csv), ["-1.5", "+3", "-1e-9", "12"]);
        assert_eq!(csv("\t=1"), "\\u{9}=1");
        assert_eq!(csv("4 KiB random read, \"direct\""), "\"4 KiB random read, \"\"direct\"\"\"");
    }

    #[test]
    fn markdown_shows_what_it_would_obey() {
        assert_eq!(markdown("a|b [c](d) <img onerror=x> `e`"), "a\\|b \\[c](d) &lt;img onerror=x> \\`e\\`");
        assert_eq!(markdown("https://a.b and WWW.a.b: a.b"), "https\\://a.b and WWW\\.a.b: a.b");
        assert_eq!(markdown("a@b.c & &lt; @ 3 GHz"), "a\\@b.c & &amp;lt; @ 3 GHz");
        assert_eq!(markdown_line("# a\n# b"), "\\# a\\u{a}# b".replace("\\u{a}", "\\\\u{a}"));
        assert_eq!(
            ["1. a", "- a", "12) a", "2.5 GB", "7 a"].map(markdown_line),
            ["1\\. a", "\\- a", "12\\) a", "2.5 GB", "7 a"]
        );
        assert_eq!(markdown_code("a ``` <b>\n"), "    a ``` <b>\\u{a}");
    }

    #[test]
    fn a_chart_keeps_its_own_tags_alone() {
        let data = json!(["<b>a</b><br><a href='javascript:x'>b</a>", { "k": "</script><!--\u{2028}" }]);
        let shown = chart_json(data);
        assert!(!shown.contains(['<', '\u{2028}']));
        let back: Value = serde_json::from_str(&shown).expect("JSON");
        assert_eq!(back[0], "<b>a</b><br>&lt;a href='javascript:x'>b&lt;/a>");
        assert_eq!(back[1]["k"], "&lt;/script>&lt;!--\\u{2028}");
    }

    #[test]
    fn only_own_colours_leave_for_a_terminal() {
        let text = "\x1b[1ma\x1b[0m\x1b[8m\tb\r\n";
        assert_eq!(terminal(text, &["\x1b[1m", "\x1b[0m"]), "\x1b[1ma\x1b[0m\\u{1b}[8m\tb\\u{d}\n");
        assert_eq!(terminal(text, &[]), "\\u{1b}[1ma\\u{1b}[0m\\u{1b}[8m\tb\\u{d}\n");
    }

    proptest! {
        #[test]
        fn nothing_but_lines_and_tabs_leaves_for_a_terminal(text in text()) {
            let shown = terminal(&text, &[]);
            prop_assert!(!shown.contains(|c| plan::is_hidden(c) && !matches!(c, '\n' | '\t')));
            prop_assert_eq!(shown.matches('\n').count(), text.matches('\n').count());
        }

        #[test]
        fn a_table_row_of_markdown_keeps_its_cells(a in text(), b in text()) {
            let row = format!("| {} | {} |", markdown(&a), markdown(&b));
            prop_assert_eq!(row.lines().count(), 1);
            let (mut cells, mut escaped) = (0, false);
            for one in row.chars() {
                cells += usize::from(one == '|' && !escaped);
                escaped = one == '\\' && !escaped;
            }
            prop_assert_eq!(cells, 3);
        }

        #[test]
        fn markdown_without_its_backslashes_is_the_text(a in text()) {
            let mut out = String::new();
            let shown = markdown(&a);
            let mut characters = shown.chars();
            while let Some(one) = characters.next() {
                out.extend(if one == '\\' { characters.next() } else { Some(one) });
            }
            prop_assert_eq!(out.replace("&lt;", "<").replace("&amp;", "&"), plan::visible(&a));
            prop_assert!(!shown.contains('<'));
        }

        #[test]
        fn comma_separated_values_read_back(a in text(), b in text()) {
            let line = format!("{},{}", csv(&a), csv(&b));
            let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
            let back = reader.records().next().expect("a row").expect("of text");
            prop_assert_eq!(back.len(), 2);
            for (field, text) in back.iter().zip([a, b]) {
                let text = plan::visible(&text).into_owned();
                prop_assert_eq!(field.strip_prefix('\'').unwrap_or(field), text.strip_prefix('\'').unwrap_or(&text));
                let formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']);
                prop_assert!(!formula || field.parse::<f64>().is_ok());
            }
        }

        #[test]
        fn a_label_reads_back(a in text()) {
            let shown = label(&a);
            prop_assert!(!shown.contains('\n'));
            let (mut out, mut characters) = (String::new(), shown.chars());
            while let Some(one) = characters.next() {
                prop_assert!(one != '"');
                match one {
                    '\\' => out.push(match characters.next() { Some('n') => '\n', other => other.expect("a pair") }),
                    _ => out.push(one),
                }
            }
            prop_assert_eq!(out, plan::visible_lines(&a));
        }

        #[test]
        fn html_reads_back(a in text()) {
            let shown = html(&a);
            prop_assert!(!shown.contains(['<', '>', '"', '\'']));
            prop_assert_eq!(unescaped(&shown), plan::visible(&a));
            prop_assert_eq!(unescaped(&chart(&a)), plan::visible(&a));
        }

        #[test]
        fn json_reads_back_with_nothing_hidden_in_it(a in text()) {
            let shown = json_text(&json!({ "a": a }));
            prop_assert!(!shown.contains(|c| plan::is_hidden(c) && c != '\n'));
            let back: Value = serde_json::from_str(&shown).expect("JSON");
            prop_assert_eq!(back["a"].as_str(), Some(a.as_str()));
        }

        #[test]
        fn nothing_ends_the_script_of_a_chart(a in text()) {
            let shown = chart_json(json!([a]));
            prop_assert!(!shown.contains('<'));
            prop_assert!(!shown.contains(plan::is_hidden));
            prop_assert!(serde_json::from_str::<Value>(&shown).is_ok());
        }
    }
}
