//! The overhead of measuring, as reported by the program.

use crate::desk::{Desk, assert_says, measured, names, run};

/// The first number of the line that starts with `name`.
fn value(text: &str, name: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let line = line.unwrap_or_else(|| panic!("no line on {name} in\n{text}"));
    let mut words = line.split(|c: char| c.is_whitespace() || c == '(');
    words.find_map(|word| word.parse().ok()).unwrap_or_else(|| panic!("no number in {line:?}"))
}

#[test]
fn measured_the_cost_of_the_instrument_is_printed_and_small() {
    measured(|_| {
        let desk = Desk::new();
        std::fs::create_dir(desk.path("data")).expect("a directory");
        let finished = run(&desk.ioproof("overhead data")).expect_code(0);
        for stage in ["recording, no transfers", "history, no transfers", "recording, real transfers"] {
            assert_says(&finished.stderr, &[stage]);
        }
        let text = finished.stdout;
        assert!(value(&text, "clock ") > 0.0, "{text}");
        assert!(value(&text, "ceiling ") > 0.1, "{text}");
        assert!(value(&text, "recording ") < 10_000.0, "{text}");
        assert!(text.contains("overhead, paired") && text.contains("pairs"), "{text}");
        // Compares the cost of recording with the time of a real transfer, without the noise of the storage. An
        // unoptimised build records several times slower than a release build.
        let most = if cfg!(debug_assertions) { 5.0 } else { 1.0 };
        let cost = value(&text, "overhead, computed");
        assert!((0.0..most).contains(&cost), "{cost} % in\n{text}");
        assert!(
            value(&text, "history ") < 10_000.0 && text.contains("the last 10000 operations kept"),
            "{text}"
        );
        assert!(text.contains("history, paired") && text.contains("from the page cache"), "{text}");
        assert_eq!(names(&desk.path("data")), [""; 0], "its file is gone");
    });
}
