//! Prints a run in IOzone's format: a header, a cell or a block for each test, an end.

use std::path::PathBuf;

use plan::Plan;
use record::{Manifest, PhaseRecord, Run, RunState};

use super::case::{Memo, Point};
use super::figures::Figures;
use super::settings::{MACHINE, Settings, Unit};
use super::sheet;
use super::test::Test;
use crate::ToolPrinter;
use crate::printed::ctime;

/// Converts phases to IOzone's output, part by part.
#[derive(Debug)]
pub(super) struct Printer {
    memo: Memo,
    /// Ids of the cases, in the order of the points.
    cases: Vec<String>,
    /// The sizes of the current row, and the number of its columns.
    row: Option<(u64, u64, usize)>,
    /// Sizes and processes of the current throughput blocks.
    group: Option<(u64, u64, u32)>,
    rates: Vec<(Point, f64)>,
    cpu: Vec<(Point, f64)>,
}

impl Printer {
    pub(super) fn new(plan: &Plan, memo: Memo) -> Self {
        let cases = plan.cases.iter().map(|case| case.id.clone()).collect();
        Self { memo, cases, row: None, group: None, rates: Vec::new(), cpu: Vec::new() }
    }

    fn settings(&self) -> &Settings {
        &self.memo.settings
    }

    /// The empty cells of a row after its first `from` ones, up to that of `until`.
    fn gap(&self, from: usize, until: usize) -> String {
        let settings = self.settings();
        let wanted = settings.wanted();
        let is_there = |test: Test| wanted.contains(&test);
        let shown = Test::columns().skip(from).take(until.saturating_sub(from));
        shown
            .map(|test| {
                let first = Test::columns().find(|other| other.number() == test.number());
                // A retest that was not requested is 0 in IOzone's table if the test itself has run.
                if test.is_again() && settings.no_retest && first.is_some_and(is_there) {
                    return format!("{:>1$}", 0, test.width());
                }
                " ".repeat(blank(test, first.is_some_and(is_there)))
            })
            .collect()
    }

    fn columns(&self) -> usize {
        let settings = self.settings();
        let shown = |test: &Test| match settings {
            _ if settings.auto2 => test.number() <= 1,
            _ if settings.mmap || settings.depth > 0 => test.number() <= 5,
            _ => settings.extension || !test.is_extension(),
        };
        Test::columns().filter(shown).count()
    }

    fn end_row(&mut self) -> String {
        match self.row.take() {
            Some((_, _, done)) => format!("{}\n", self.gap(done, self.columns())),
            None => String::new(),
        }
    }

    fn cell(&mut self, point: Point, value: f64) -> String {
        let mut out = String::new();
        let here = (point.size_kb, point.record_kb);
        if self.row.is_none_or(|(size, record, _)| (size, record) != here) {
            out.push_str(&self.end_row());
            self.row = Some((here.0, here.1, 0));
            out.push_str(&format!("{:>16}{:>8}", here.0, here.1));
        }
        let column = Test::columns().position(|test| test == point.test).unwrap_or(0);
        if let Some((_, _, done)) = self.row {
            out.push_str(&self.gap(done, column));
        }
        self.row = Some((here.0, here.1, column + 1));
        out.push_str(&format!("{:>1$}", value.trunc(), point.test.width()));
        out
    }

    fn block(&mut self, point: Point, figures: &Figures) -> String {
        let Some(words) = point.test.throughput() else { return String::new() };
        let mut out = self.begin_group(point);
        let settings = self.settings();
        let unit = if settings.unit == Unit::Operations { "ops" } else { "kB" };
        let who = match words.wide {
            true => format!("{:>2} {}", point.processes, words.who),
            false => format!("{} {}", point.processes, words.who),
        };
        let rates = || figures.children.iter().map(|child| child.rate);
        let least = rates().fold(f64::INFINITY, f64::min);
        let most = rates().fold(0.0, f64::max);
        let mean = figures.sum() / figures.children.len().max(1) as f64;
        let moved = figures.children.iter().map(|child| child.moved).fold(f64::INFINITY, f64::min);
        out.push_str(&format!(
            "\n\tChildren see throughput for {who} {}= {:>10.2} {unit}/sec\n\
             \tParent sees throughput for {who} {}= {:>10.2} {unit}/sec\n\
             \tMin throughput per process \t\t\t= {least:>10.2} {unit}/sec \n\
             \tMax throughput per process \t\t\t= {most:>10.2} {unit}/sec\n\
             \tAvg throughput per process \t\t\t= {mean:>10.2} {unit}/sec\n\
             \tMin xfer \t\t\t\t\t= {moved:>10.2} {unit}\n",
            words.tabs.0,
            figures.sum(),
            words.tabs.1,
            figures.parent,
        ));
        if settings.show_cpu {
            let name = if point.test == Test::Write { "Utilization" } else { "utilization" };
            out.push_str(&format!(
                "\tCPU {name}: Wall time {:>8.3}    CPU time {:>8.3}    CPU utilization {:>6.2} %\n\n",
                figures.wall_seconds,
                figures.cpu_seconds,
                utilization(figures)
            ));
        }
        if settings.show_children {
            for (number, child) in figures.children.iter().enumerate() {
                out.push_str(&format!(
                    "\tChild[{number}] xfer count = {:>10.2} {unit}, Throughput = {:>10.2} {unit}/sec\n",
                    child.moved, child.rate
                ));
            }
        }
        out
    }

    fn begin_group(&mut self, point: Point) -> String {
        let here = (point.size_kb, point.record_kb, point.processes);
        if self.group == Some(here) {
            return String::new();
        }
        let first = self.group.replace(here).is_none();
        let processes = if point.processes == 1 { "process" } else { "processes" };
        let each = match self.settings().constant_size {
            true => point.size_kb / u64::from(point.processes.max(1)),
            false => point.size_kb,
        };
        let each =
            format!("\tEach process writes a {each} kByte file in {} kByte records\n", point.record_kb);
        match first {
            true => format!("\tThroughput test with {} {processes}\n{each}", point.processes),
            false => format!("\n\n{each}"),
        }
    }
}

fn utilization(figures: &Figures) -> f64 {
    if figures.wall_seconds > 0.0 { figures.cpu_seconds / figures.wall_seconds * 100.0 } else { 0.0 }
}

/// The width of an empty cell, which IOzone does not always make as wide as a number.
fn blank(test: Test, with_its_other: bool) -> usize {
    match test {
        _ if with_its_other => test.width(),
        Test::Fread | Test::Pwrite | Test::Pwritev | Test::Repwritev => test.width() - 1,
        Test::Preadv => test.width() + 1,
        _ => test.width(),
    }
}

fn printed_options(settings: &Settings, manifest: &Manifest) -> String {
    let host = &manifest.host;
    let kernel = host.kernel.known().map_or("", String::as_str);
    let line = |line: &String| match line.as_str() {
        MACHINE => format!("\n\tMachine = Linux {} {kernel} \n", host.node),
        line => format!("\t{line}\n"),
    };
    settings.printed_options.iter().map(line).collect()
}

/// The two header lines of the table.
fn heads(settings: &Settings) -> String {
    let mut first =
        format!("{:>68}{:>10}{:>9}{:>10}{:>10}{:36}", "random", "random", "bkwd", "record", "stride", "");
    let mut second =
        format!("{:>16}{:>8}{:>9}{:>9}{:>8}{:>10}", "kB", "reclen", "write", "rewrite", "read", "reread");
    if settings.auto2 {
        return format!("{:60}\n{second}\n", "");
    }
    second.push_str(&format!("{:>8}{:>10}{:>9}{:>10}{:>10}", "read", "write", "read", "rewrite", "read"));
    second.push_str(match settings.mmap || settings.depth > 0 {
        true => "                                    ",
        false => "   fwrite frewrite    fread  freread",
    });
    if settings.extension {
        first.push_str(&" ".repeat(73));
        second.push_str("  pwrite repwrite   pread   repread   pwritev repwritev   preadv repreadv");
    }
    format!("{first}\n{second}\n")
}

impl ToolPrinter for Printer {
    fn header(&mut self, manifest: &Manifest) -> String {
        let settings = self.settings();
        let unit = match settings.unit {
            Unit::Kilobytes => "\tOutput is in kBytes/sec\n",
            Unit::Operations | Unit::Microseconds => "",
        };
        let limits = match (settings.lower.or(settings.upper), settings.processes.last()) {
            (Some(_), Some(last)) => {
                format!("\tMin process = {} \n\tMax process = {last} \n", settings.processes[0])
            }
            _ => String::new(),
        };
        let table = if settings.is_throughput() { limits } else { heads(settings) };
        format!(
            "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.508 $\n\
             \t\tCompiled for 64 bit mode.\n\t\tBuild: ioproof-{} \n\n\tRun began: {}\n\n{}\
             \tCommand line used: {}\n{unit}\tTime Resolution = 0.000001 seconds.\n\
             \tProcessor cache size set to {} kBytes.\n\tProcessor cache line size set to {} bytes.\n\
             \tFile stride size set to {} * record size.\n{table}",
            manifest.program_version,
            ctime(manifest.started_unix_ns),
            printed_options(settings, manifest),
            manifest.command_line.join(" "),
            settings.cache_kb,
            settings.line_bytes,
            settings.stride,
        )
    }

    fn phase(&mut self, record: &PhaseRecord) -> String {
        let Some(index) = self.cases.iter().position(|id| *id == record.phase.key.case) else {
            return String::new();
        };
        let Some(&point) = self.memo.points.get(index) else { return String::new() };
        if record.phase.key.phase != point.test.phase() {
            // A fill in a run that was resumed.
            return String::new();
        }
        let figures = Figures::of(record, self.settings(), point);
        self.rates.push((point, figures.sum()));
        self.cpu.push((point, utilization(&figures)));
        match point.processes {
            0 => self.cell(point, figures.sum()),
            _ => self.block(point, &figures),
        }
    }

    fn finish(&mut self, run: &Run) -> String {
        let mut out = self.end_row();
        let settings = self.settings();
        if run.state != RunState::Complete || !run.failed_cases.is_empty() {
            return out;
        }
        if settings.is_throughput() {
            out.push_str("\n\n\n");
            if settings.report {
                out.push_str(&sheet::throughput(settings, &self.rates, &self.cpu));
            }
            out.push_str("iozone test complete.\n");
            return out;
        }
        // IOzone prints two line ends after its last column.
        if settings.wanted().last() == Some(&Test::Repreadv) {
            out.push('\n');
        }
        out.push_str("\niozone test complete.\n");
        if settings.report {
            out.push_str(&sheet::table(settings, &self.rates));
        }
        out
    }

    fn side_files(&self, _run: &Run) -> Vec<(PathBuf, String)> {
        let settings = self.settings();
        let text = match settings.is_throughput() {
            true => sheet::throughput(settings, &self.rates, &self.cpu),
            false => sheet::table(settings, &self.rates),
        };
        settings.report_file.iter().map(|path| (path.clone(), text.clone())).collect()
    }
}
