//! What ranks can do together, and how long it takes: started by hand or by a launcher of MPI.
//!
//! ```text
//! mpirun -np 64 target/release/examples/ring [--mpi PATH] [--bytes N] [--times N]
//! ```
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use comm::{Comm, CommError, JoinOptions, Solo};

struct Asked {
    library: Option<PathBuf>,
    bytes: usize,
    times: u32,
}

fn asked() -> Option<Asked> {
    let mut asked = Asked { library: None, bytes: 1 << 20, times: 200 };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--mpi" => asked.library = Some(value.into()),
            "--bytes" => asked.bytes = value.parse().ok()?,
            "--times" => asked.times = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(asked)
}

/// The median of `times` runs.
fn median(times: u32, mut run: impl FnMut() -> Result<(), CommError>) -> Result<Duration, CommError> {
    let mut all = Vec::new();
    for _ in 0..times.max(1) {
        let start = Instant::now();
        run()?;
        all.push(start.elapsed());
    }
    all.sort();
    Ok(all[all.len() / 2])
}

fn show(comm: &dyn Comm, asked: &Asked) -> Result<(), CommError> {
    let nodes = comm.topology().names().len();
    let barrier = median(asked.times, || comm.barrier())?;
    let meeting = median(asked.times, || comm.meet().map(|_| ()))?;
    let merge = median(asked.times.min(10), || {
        let sum = &mut |mut first: Vec<u8>, second: Vec<u8>| {
            first.iter_mut().zip(second).for_each(|(first, second)| *first = first.wrapping_add(second));
            first
        };
        comm.combine(vec![1; asked.bytes], sum).map(|_| ())
    })?;
    let clocks = comm.synchronize()?;
    if comm.rank() == 0 {
        let offset = clocks.iter().map(|clock| clock.offset_ns.unsigned_abs()).max().unwrap_or_default();
        println!(
            "ranks {} nodes {nodes} barrier_us {} meeting_us {} merge_us {} offset_us {}",
            comm.size(),
            barrier.as_micros(),
            meeting.as_micros(),
            merge.as_micros(),
            offset / 1000,
        );
    }
    comm.barrier()
}

fn main() -> ExitCode {
    let Some(asked) = asked() else {
        eprintln!("usage: ring [--mpi PATH] [--bytes N] [--times N]");
        return ExitCode::from(2);
    };
    let variable = |name: &str| std::env::var(name).ok();
    let options =
        JoinOptions { library: asked.library.as_deref(), variable: &variable, patience: comm::PATIENCE };
    let start = Instant::now();
    match comm::join(&options) {
        Ok(None) => match show(&Solo::new("here"), &asked) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Ok(Some(mpi)) => {
            let joined = start.elapsed();
            if mpi.rank() == 0 {
                println!("library {} joined_ms {}", mpi.library(), joined.as_millis());
            }
            match show(&mpi, &asked) {
                Ok(()) => match mpi.leave() {
                    Ok(()) => ExitCode::SUCCESS,
                    Err(_) => ExitCode::FAILURE,
                },
                Err(error) => {
                    eprintln!("{error}");
                    mpi.abort(1)
                }
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(4)
        }
    }
}
