//! The page in a real browser: it draws every chart, requests nothing from the network, and logs no errors.
//!
//! Skipped with a message if Chromium is not installed.

#![expect(clippy::print_stdout, reason = "a skipped test says why")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common;

/// Executable names of Chromium.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// A browser that takes longer than this is considered hung.
const PATIENCE: Duration = Duration::from_secs(120);

/// Placed first in the page: records all errors and warnings.
const LISTEN: &str = r#"<script>
window.complaints = [];
const complain = (kind) => (...words) => window.complaints.push(kind + ": " + words.map(String).join(" "));
console.error = complain("console.error");
console.warn = complain("console.warn");
window.addEventListener("error", (event) => complain("error")(event.message));
window.addEventListener("unhandledrejection", (event) => complain("rejection")(event.reason));
document.addEventListener("securitypolicyviolation", (event) => complain("request")(event.violatedDirective, event.blockedURI));
</script>"#;

/// Values of a series that are outside the range of its axes.
const OUTSIDE: &str = r#"<script>
const outside = (div) => (div.data || []).flatMap((series) => ["x", "y"].flatMap((side) => {
  const axis = div._fullLayout[(series[side + "axis"] || side).replace(side, side + "axis")];
  if (!["linear", "log"].includes(axis.type) || series.base || series.visible === false) return [];
  const place = (value) => axis.type === "log" ? Math.log10(value) : value;
  const [low, high] = [Math.min(...axis.range), Math.max(...axis.range)];
  return (series[side] || []).filter((value) => typeof value === "number" && (place(value) < low - 1e-9 || place(value) > high + 1e-9))
    .map((value) => series.name + ": " + value);
}));
</script>"#;

/// Placed last in the page: waits for the charts and reports the results.
const TELL: &str = r#"<script>
const waiting = setInterval(() => {
  if (document.documentElement.dataset.charts !== "drawn") return;
  clearInterval(waiting);
  const charts = Array.from(document.querySelectorAll(".chart")).map((div) => ({
    id: div.id,
    planes: div.querySelectorAll("svg.main-svg").length,
    marks: div.querySelectorAll(".trace path, .trace rect, .points path, .point path, path.js-line, .hm image").length,
    width: div.getBoundingClientRect().width,
    jump: Math.round(div.getBoundingClientRect().height - parseFloat(div.style.height)),
    outside: outside(div),
    wrong: (div.data ? Plotly.validate(div.data, div.layout) || [] : [{ msg: "no data" }]).map((one) => one.msg),
  }));
  const out = document.createElement("pre");
  out.id = "told";
  out.textContent = JSON.stringify({ requests: performance.getEntriesByType("resource").length,
    shut: Array.from(document.querySelectorAll("details:not([open])")).length, shown: Boolean(document.querySelector(":target")?.offsetParent), harmed: Boolean(window.harmed), elements: document.querySelectorAll("img, a[href^='javascript'], svg a").length, broken_links: Array.from(document.querySelectorAll("a[href^='#']")).map((a) => a.getAttribute("href").slice(1))
    .filter((id) => !document.getElementById(id)), complaints: window.complaints, charts: charts, wide: document.documentElement.scrollWidth - window.innerWidth });
  document.body.appendChild(out);
}, 20);
</script>"#;

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found =
        |name: &str| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    let found = BROWSERS.iter().find_map(|name| found(name));
    if found.is_none() {
        println!("skipped: none of {BROWSERS:?} is installed");
    }
    found
}

/// The report of the page of `run` about itself, with all sections open. `flags` are passed to the browser.
fn told(browser: &Path, run: &record::Run, flags: &[&str]) -> Value {
    told_of(browser, page(|out| report::Study::of(run).html(out)), flags)
}

fn page(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut page = Vec::new();
    write(&mut page).expect("written");
    String::from_utf8(page).expect("UTF-8")
}

fn told_of(browser: &Path, page: String, flags: &[&str]) -> Value {
    told_at(browser, page, "all", flags)
}

/// Like [`told_of`], opened at the section `id`.
fn told_at(browser: &Path, page: String, id: &str, flags: &[&str]) -> Value {
    let directory = tempfile::tempdir().expect("a directory");
    let page = page.replacen("<head>", &format!("<head>{LISTEN}"), 1);
    let end = page.rfind("</body>").expect("an end");
    let page = format!("{}{OUTSIDE}{TELL}{}", &page[..end], &page[end..]);
    let file = directory.path().join("page.html");
    std::fs::write(&file, page).expect("written");
    let address = format!("file://{}#{id}", file.display());
    let dom = dump(browser, &directory.path().join("profile"), &address, flags);
    let (_, told) =
        dom.split_once("<pre id=\"told\">").unwrap_or_else(|| panic!("the charts were not drawn"));
    let (told, _) = told.split_once("</pre>").expect("an end");
    let told = told.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&told).expect("JSON")
}

/// The page of the sample study, compared with a second run of it.
fn study() -> String {
    let run = common::study::study();
    let second = common::study::again();
    let of = |run| report::Study::of(run);
    page(|out| of(&run).beside(of(&second), &[]).html(out))
}

/// Directory in which screenshots of pages are kept for inspection.
fn pictures() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report-pages");
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

fn dump(browser: &Path, profile: &Path, address: &str, flags: &[&str]) -> String {
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .args(["--disable-component-update", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND"])
        .args(["--virtual-time-budget=600000", "--window-size=1280,1000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(flags)
        .arg(address)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    let mut out = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut out, &mut text).map(|_| text)
    });
    let started = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().expect("ended");
            child.wait().expect("gone");
            panic!("the browser did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    reader.join().expect("read").expect("UTF-8")
}

fn assert_sound(told: &Value, charts: usize) {
    assert_eq!(told["complaints"], Value::Array(Vec::new()), "the page complains");
    assert_eq!(told["requests"], 0, "the page asks for something");
    let drawn = told["charts"].as_array().expect("charts");
    assert_eq!(drawn.len(), charts, "{drawn:#?}");
    for chart in drawn {
        let (planes, marks) = (chart["planes"].as_u64(), chart["marks"].as_u64());
        assert!(planes >= Some(1) && marks >= Some(1), "not drawn: {chart}");
        assert_eq!(chart["wrong"], Value::Array(Vec::new()), "plotly does not know a part of {chart}");
        assert_eq!(chart["outside"], Value::Array(Vec::new()), "its axes do not hold {chart}");
        assert_eq!(chart["jump"], 0, "it changed its height when it was drawn: {chart}");
    }
    assert!(told["wide"].as_i64() <= Some(0), "the page is wider than its window by {} px", told["wide"]);
}

#[test]
fn every_chart_is_drawn_without_a_word_of_complaint() {
    let Some(browser) = browser() else { return };
    // Three overviews, and time for ten figures.
    assert_sound(&told(&browser, &common::run(), &[]), 3 + 10);
}

#[test]
fn a_link_opens_the_folded_parts_that_it_leads_into() {
    let Some(browser) = browser() else { return };
    let page = page(|out| report::Study::of(&common::run()).html(out));
    let [plain, linked] = ["", "figure-2"].map(|id| told_at(&browser, page.clone(), id, &[]));
    let shut = |told: &Value| told["shut"].as_u64().expect("a number");
    // The figure and the section that contains it.
    assert_eq!(shut(&plain), shut(&linked) + 2);
    assert_eq!(linked["shown"], true);
    // Collapsed charts are drawn when they are opened.
    let drawn = |told: &Value| {
        let charts = told["charts"].as_array().expect("charts");
        charts.iter().filter(|one| one["planes"].as_u64() > Some(0)).count()
    };
    assert_eq!(drawn(&plain), 1);
    assert!(drawn(&linked) > 1);
}

#[test]
fn a_dark_page_and_a_narrow_one_are_drawn_too() {
    let Some(browser) = browser() else { return };
    let flags = ["--blink-settings=preferredColorScheme=0", "--window-size=500,900"];
    assert_sound(&told(&browser, &common::run(), &flags), 3 + 10);
}

#[test]
fn every_chart_of_a_study_is_drawn_in_light_and_dark() {
    let Some(browser) = browser() else { return };
    let page = study();
    let light = told_of(&browser, page.clone(), &[]);
    let ids: Vec<&str> =
        light["charts"].as_array().expect("charts").iter().filter_map(|one| one["id"].as_str()).collect();
    for kind in ["sweep", "response", "dispersion"] {
        assert!(ids.iter().any(|id| id.starts_with(&format!("chart-{kind}"))), "no {kind} in {ids:?}");
    }
    assert_sound(&light, ids.len());
    let dark = told_of(&browser, page, &["--blink-settings=preferredColorScheme=0", "--window-size=500,900"]);
    assert_sound(&dark, ids.len());
    assert_eq!(light["broken_links"], Value::Array(Vec::new()), "links that lead nowhere");
}

#[test]
fn files_and_messages_are_drawn_and_pictured() {
    let Some(browser) = browser() else { return };
    let runs = [
        ("files", common::operations::files()),
        ("exchanges", common::operations::exchanges()),
        ("single", common::operations::single()),
        ("imported", common::operations::imported()),
        ("matrix", common::matrix::matrix()),
    ];
    let profile = tempfile::tempdir().expect("a directory");
    for (name, run) in runs {
        let told = told(&browser, &run, &[]);
        assert_sound(&told, told["charts"].as_array().expect("charts").len());
        assert_eq!(told["broken_links"], Value::Array(Vec::new()), "{name}");
        let file = pictures().join(format!("{name}.html"));
        std::fs::write(&file, page(|out| report::Study::of(&run).html(out))).expect("written");
        let made = pictures().join(format!("{name}.png"));
        let flag = format!("--screenshot={}", made.display());
        let address = format!("file://{}", file.display());
        dump(&browser, &profile.path().join(name), &address, &[&flag, "--window-size=1280,5200"]);
        assert!(std::fs::metadata(&made).is_ok_and(|made| made.len() > 50_000), "{name} was not pictured");
    }
}

#[test]
fn a_study_is_pictured_and_printed() {
    let Some(browser) = browser() else { return };
    let directory = pictures();
    let file = directory.join("study.html");
    std::fs::write(&file, study()).expect("written");
    let address = format!("file://{}", file.display());
    let profile = tempfile::tempdir().expect("a directory");
    for (name, flags) in [
        ("study-light.png", ["--window-size=1280,9000", "--blink-settings=preferredColorScheme=1"]),
        ("study-dark.png", ["--window-size=1280,9000", "--blink-settings=preferredColorScheme=0"]),
        ("study-print.pdf", ["--no-pdf-header-footer", "--window-size=1280,1000"]),
    ] {
        let made = directory.join(name);
        let kind = if name.ends_with("pdf") { "--print-to-pdf" } else { "--screenshot" };
        let flag = format!("{kind}={}", made.display());
        let _ = std::fs::remove_file(&made);
        dump(&browser, &profile.path().join(name), &address, &[&flag, flags[0], flags[1]]);
        let bytes = std::fs::read(&made).map_or(0, |made| made.len());
        assert!(bytes > if kind == "--screenshot" { 100_000 } else { 20_000 }, "{name} has {bytes} bytes");
    }
    // The pictures and tables of the answer, plus the sections that the reader opened.
    let pages = |id: &str| {
        let made = profile.path().join(format!("{id}.pdf"));
        let flag = format!("--print-to-pdf={}", made.display());
        dump(&browser, &profile.path().join(id), &format!("{address}#{id}"), &[&flag]);
        let made = std::fs::read(&made).expect("printed");
        String::from_utf8_lossy(&made).matches("/Type /Page\n").count()
    };
    let [answer, part, all] = ["none", "part-doubts", "all"].map(pages);
    assert!(answer > 0 && answer <= 3 && answer < part && part < all, "{answer}, {part} and {all} pages");
}

#[test]
fn nodes_layers_and_jobs_are_drawn_whether_they_are_few_or_many() {
    let Some(browser) = browser() else { return };
    for (name, run) in [
        ("nodes-4", common::cluster::compared(4)),
        ("nodes-600", common::cluster::compared(600)),
        ("weak-16", common::cluster::weak(16)),
        ("layers", common::layers::layers()),
        ("jobs-15", common::timeline::jobs()),
        ("jobs-101", common::timeline::many()),
    ] {
        let page = page(|out| report::Study::of(&run).html(out));
        std::fs::write(pictures().join(format!("{name}.html")), &page).expect("written");
        let told = told_of(&browser, page, &[]);
        let drawn = told["charts"].as_array().expect("charts");
        let ids: Vec<&str> = drawn.iter().filter_map(|one| one["id"].as_str()).collect();
        let kinds: &[&str] = match name {
            "weak-16" => &["nodes", "weak"],
            "layers" => &["devices", "seek", "strips", "layers"],
            "jobs-15" | "jobs-101" => &["jobs-launches", "jobs-profile", "jobs-lengths"],
            _ => &["nodes"],
        };
        for kind in kinds {
            assert!(ids.iter().any(|id| id.starts_with(&format!("chart-{kind}-"))), "no {kind} in {ids:?}");
        }
        assert_sound(&told, ids.len());
        assert_eq!(told["broken_links"], Value::Array(Vec::new()), "links that lead nowhere");
    }
}

#[test]
fn what_a_killed_run_left_is_drawn() {
    let Some(browser) = browser() else { return };
    assert_sound(&told(&browser, &common::killed(), &[]), 3 + 3);
    assert_sound(&told(&browser, &common::empty(), &[]), 0);
}

#[test]
fn nothing_of_a_strangers_record_runs() {
    let Some(browser) = browser() else { return };
    let told = told(&browser, &crate::strangers::doctored(), &[]);
    assert_eq!((&told["harmed"], &told["elements"]), (&Value::from(false), &Value::from(0)));
    let charts = told["charts"].as_array().expect("charts").len();
    assert!(charts > 0);
    assert_sound(&told, charts);
}
