//! `-O summaryFormat=CSV`: one row for each phase of each repetition.

use super::figures::Figures;

/// The names of the columns; IOR repeats them before each test.
pub(super) const HEADER: &str = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),\
                                 numTasks,iter\n";

/// The row of one phase.
pub(super) fn row(figures: &Figures, tasks: u32) -> String {
    let f = figures;
    format!(
        "{},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{:.4},{tasks},{}\n",
        f.access,
        f.bw_mib,
        f.iops,
        f.latency,
        f.block_kib,
        f.xfer_kib,
        f.open,
        f.io,
        f.close,
        f.total,
        f.repetition
    )
}
