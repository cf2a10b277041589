//! Pages of documentation of which a part is generated.

/// Compares the generated part of a page under `docs/`, or writes it with `UPDATE_DOCS=1`.
pub(crate) fn has(name: &str, reference: &str) {
    let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(&path).expect(name);
    let (start, end) = ("<!-- options: generated -->\n", "<!-- end of options -->");
    let (before, rest) = page.split_once(start).expect("a start mark");
    let (_, after) = rest.split_once(end).expect("an end mark");
    let expected = format!("{before}{start}{reference}{end}{after}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).expect("written");
    } else {
        assert!(page == expected, "docs/{name} has another table than the program: UPDATE_DOCS=1 cargo test");
    }
}
