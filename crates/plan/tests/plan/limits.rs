//! The table of limits in the documentation.

use plan::limits::reference;

/// Run with `UPDATE_DOCS=1` to write the table into the page again.
#[test]
fn the_documented_limits_are_those_of_the_readers() {
    let (start, end) = ("<!-- limits: generated -->\n", "<!-- end of limits -->");
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let pages = std::fs::read_dir(docs).unwrap().flatten().map(|entry| entry.path());
    let mut pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let path = pages.find(|path| std::fs::read_to_string(path).unwrap().contains(start)).expect("a page");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).expect("an end mark");
    let expected = format!("{before}{start}{}{end}{after}", reference());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert!(page == expected, "{} has other limits: UPDATE_DOCS=1 cargo test", path.display());
    }
}
