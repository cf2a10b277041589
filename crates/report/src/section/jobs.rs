//! The job table of operations for each task, as acceptance tests of random reads print it, with
//! three rates that differ by what the operations are divided by.

use analysis::RateName;

use super::{Block, LARGE_TRANSFER_BYTES, only, title};
use crate::format::{grouped, number};
use crate::table::{Align, Cell, Table, Tone};
use crate::text::iops;
use crate::view::findings::Beside;
use crate::view::{Figure, Repetition, Report};

/// Figures with a row of their own; the sweep tables have all.
const JOBS_MAX: usize = 40;

pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let is_job = |figure: &&Figure| {
        figure.transfer_bytes < LARGE_TRANSFER_BYTES && figure.what.contains("random") && figure.tasks > 1
    };
    let mut jobs: Vec<&Figure> = report.figures.iter().filter(is_job).collect();
    if jobs.is_empty() {
        return Vec::new();
    }
    jobs.sort_by(|a, b| b.transfers_per_second.median.total_cmp(&a.transfers_per_second.median));
    let best = jobs[0].number;
    jobs.truncate(JOBS_MAX);
    jobs.sort_by_key(|figure| figure.number);
    let mut table = Table::new(&[
        ("#", Align::Right),
        ("JOBID", Align::Left),
        ("target", Align::Left),
        ("n", Align::Right),
        ("time", Align::Right),
        ("ops/task", Align::Right),
        ("by wall time", Align::Right),
        ("by I/O phase", Align::Right),
        ("sum of tasks", Align::Right),
        ("", Align::Left),
        ("conditions", Align::Left),
    ])
    .below("conditions");
    for one in report.findings.beside.iter().filter(|one| one.unit == "ops/s" && one.id.contains("job")) {
        table.row(published(one));
    }
    for figure in jobs {
        if let Some(one) = typical(figure) {
            table.row(own(report, figure, one, figure.number == best));
        }
    }
    let mut blocks = only(
        "IOPS of random transfers by three rates, of the repetition in the middle; the headline is the rate by \
         wall time",
        table,
    );
    blocks.push(Block::Text(format!(
        "By wall time: {}. By I/O phase: {}. Sum of tasks: {}. All in transfers instead of bytes.",
        RateName::ByWall.definition(),
        RateName::ByIo.definition(),
        RateName::SumOfTasks.definition()
    )));
    blocks
}

/// The repetition in the middle among those that count.
fn typical(figure: &Figure) -> Option<&Repetition> {
    let mut all: Vec<&Repetition> = figure.repetitions.iter().filter(|one| one.counts()).collect();
    all.sort_by(|a, b| a.bytes_per_second.total_cmp(&b.bytes_per_second));
    all.get(all.len() / 2).copied()
}

fn own(report: &Report, figure: &Figure, one: &Repetition, best: bool) -> Vec<Cell> {
    let job = report.host.batch_job.clone().unwrap_or_else(|| report.run.id.clone());
    let by = |name: RateName| {
        let rate = one.rates.iter().find(|rate| rate.name == name.name());
        rate.map(|rate| iops(rate.bytes_per_second / figure.transfer_bytes as f64)).unwrap_or_default()
    };
    vec![
        Cell::figure(Some(figure.number)),
        job.into(),
        title(report, &figure.target).into(),
        grouped(u64::from(figure.tasks)).into(),
        format!("{} s", number(one.wall_ns as f64 / 1e9)).into(),
        grouped(one.transfers / u64::from(figure.tasks.max(1))).into(),
        Cell::toned(by(RateName::ByWall), Tone::Main),
        by(RateName::ByIo).into(),
        by(RateName::SumOfTasks).into(),
        if best { "best" } else { "" }.into(),
        figure.conditions.clone().into(),
    ]
}

/// A published row; its study does not always say what the operations were divided by.
fn published(one: &Beside) -> Vec<Cell> {
    let misprint =
        if one.misprint.is_empty() { String::new() } else { format!("; misprint: {}", one.misprint) };
    let mut row = vec![Cell::default(), format!("published: {}", one.id).into()];
    row.extend(std::iter::repeat_n(Cell::default(), 5));
    row.push(iops(one.published).into());
    row.extend([Cell::default(), Cell::default()]);
    row.push(format!("printed {}{misprint}; {}", one.as_published, one.source).into());
    row
}
