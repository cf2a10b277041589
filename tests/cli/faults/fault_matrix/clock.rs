//! A clock that is set while a run goes on. The host's clock is not touched: a library that is loaded before the C
//! library adds the seconds in a file to the wall clock of the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use testbed::Program;

/// `clock_gettime` with the seconds that the file named by `CLOCK_STEP` contains, in its first eight bytes.
const SOURCE: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long long *step;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CLOCK_STEP");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(0, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED) step = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && step && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *step;
    return failed ? -1 : 0;
}
"#;

/// The library, made once, or the reason why it cannot be made.
pub(super) fn library() -> Result<&'static Path, String> {
    static MADE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let make = || {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (source, made) = (place.join("clock_step.c"), place.join("clock_step.so"));
        fs::write(&source, SOURCE).map_err(|error| error.to_string())?;
        let compiler = Program::new("cc").args(["-shared", "-fPIC", "-O2", "-o"]).arg(&made).arg(&source);
        match compiler.run() {
            Ok(finished) if finished.code == Some(0) => Ok(made),
            Ok(finished) => Err(format!("cc cannot make a library: {}", finished.stderr)),
            Err(_) => Err("needs a C compiler, cc".to_owned()),
        }
    };
    MADE.get_or_init(make).as_deref().map_err(Clone::clone)
}

/// The wall clock of one program.
pub(super) struct Clock(PathBuf);

impl Clock {
    /// A clock that is right. `file` is where the seconds are kept.
    pub(super) fn new(file: PathBuf) -> Result<Self, String> {
        let clock = Self(file);
        clock.step(0)?;
        Ok(clock)
    }

    /// The program with this clock.
    pub(super) fn of(&self, program: Program) -> Result<Program, String> {
        Ok(program.env("LD_PRELOAD", library()?).env("CLOCK_STEP", &self.0))
    }

    /// Sets the clock ahead by this many seconds, or back.
    pub(super) fn step(&self, seconds: i64) -> Result<(), String> {
        use std::os::unix::fs::FileExt;
        let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&self.0);
        file.and_then(|file| file.write_all_at(&seconds.to_ne_bytes(), 0)).map_err(|error| error.to_string())
    }
}
