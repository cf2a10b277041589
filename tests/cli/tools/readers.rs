//! What scripts look for in the output of IOR, according to their sources.

use std::process::Command;

use crate::desk::{Desk, assert_says, run};

/// The last word of the output of `grep PATTERN | tail -1` on `text`.
fn last_line<'t>(text: &'t str, pattern: &str) -> &'t str {
    text.lines().rfind(|line| line.contains(pattern)).unwrap_or_else(|| panic!("no {pattern} in {text}"))
}

/// Job logs contain both stdout and stderr: `grep write | tail -1` must find the line of the summary, whatever the
/// warnings are.
#[test]
fn no_line_of_ours_comes_after_the_summary() {
    let desk = Desk::new();
    for words in
        ["ior -w -r -k -t 4k -b 64k -o write-read", "mdtest -n 20 -w 10 -e 10 -F -d write-read-files"]
    {
        let line = format!(
            "{} {words} --yes --out of-write-and-read 2>&1; rm -rf of-write-and-read",
            env!("CARGO_BIN_EXE_ioproof")
        );
        let output =
            Command::new("sh").arg("-c").arg(line).current_dir(desk.path("")).output().expect("a shell");
        let text = String::from_utf8(output.stdout).expect("text");
        assert_says(&text, &["warning: "]);
        if words.starts_with("ior") {
            for operation in ["write", "read"] {
                assert_eq!(last_line(&text, operation).split_whitespace().next(), Some(operation), "{text}");
            }
        }
        let last = text.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
        assert!(last.starts_with("Finished ") || last.starts_with("-- finished at"), "{text}");
    }
}

/// The ReFrame checks of sites find the summary with `-A`, and look for `Max Write:`, which IOR 4.1 prints with `-v`
/// and 3.3 always.
#[test]
fn the_expressions_of_reframe_checks_match_as_with_ior_itself() {
    let desk = Desk::new();
    let text = |options: &str| {
        run(&desk.ior(&format!("-w -r -t 4k -b 64k -o f --yes {options}"))).expect_code(0).stdout
    };
    let of_summary = text("-A 4711");
    let last = last_line(&of_summary, "write");
    let words: Vec<&str> = last.split_whitespace().collect();
    assert!(
        words[0] == "write" && words[1].parse::<f64>().is_ok() && words[words.len() - 1] == "4711",
        "{last}"
    );
    for options in ["-v", "--compat 3.3"] {
        std::fs::remove_dir_all(desk.record()).expect("a record");
        let text = text(options);
        for start in ["Max Write:", "Max Read:"] {
            let line = text
                .lines()
                .find(|line| line.starts_with(start))
                .unwrap_or_else(|| panic!("{start} in {text}"));
            let words: Vec<&str> = line.split_whitespace().collect();
            assert!(words[2].parse::<f64>().is_ok() && words[3] == "MiB/sec", "{line}");
        }
    }
    assert!(!of_summary.contains("Max Write"), "IOR 4.1 prints it with -v alone: {of_summary}");
}

#[test]
fn the_terminal_says_where_the_output_goes() {
    let desk = Desk::new();
    for format in ["default", "JSON", "CSV"] {
        let words = format!("-w -t 4k -b 64k -o f -O summaryFile=s.txt -O summaryFormat={format}");
        let said = run(&desk.ior(&words)).expect_code(0).stdout;
        assert_eq!(said, "Writing output to s.txt\n", "{format}");
        let written = std::fs::read_to_string(desk.path("s.txt")).expect("the summary");
        assert_says(&written, &["write"]);
        std::fs::remove_dir_all(desk.record()).expect("a record");
    }
}
