//! The reference of study files, generated from the definition that the reader uses.

use std::fmt::Write as _;

use super::keys::{SELECTION, STEP, TABLES, TEST};
use super::table::definition::{Key, KeyDefault, Table, ValueKind};

/// The text before the tables. A test reads the example.
const INTRODUCTION: &str = r#"# The study file

<!-- Written by `UPDATE_DOCS=1 cargo test -p ioproof-plan`; change crates/plan/src/study/keys instead. -->

A study says what is to be measured, and `ioproof run STUDY.toml` measures it. It is a
[TOML](https://toml.io) file with the tables below. A key or a value that is not listed here is
refused with its line, and so is a key that would do nothing. Editors that support JSON schemas
can check a study with [study.schema.json](study.schema.json).

```toml
[study]
title = "Streams on the scratch disk"

[protocol]
repetitions = 3

[[target]]
name = "scratch"
directory = "/mnt/scratch"

[[workload]]
name = "stream"
transfer = "1MiB"
size = "8GiB"
tasks = 4
direct = true
fsync = "close"
```

## Sizes and times

| written | means |
|---|---|
| `4096` or `"4096"` | bytes |
| `"4k"`, `"1m"`, `"1g"`, `"1t"`, `"1p"` | binary, as in IOR: 2^10, 2^20, 2^30, 2^40, 2^50 bytes; capitals mean the same |
| `"4KiB"`, `"1MiB"`, `"1GiB"`, `"1TiB"`, `"1PiB"` | the same |
| `"4kB"`, `"1MB"`, `"1GB"`, `"1TB"`, `"1PB"` | decimal: 10^3, 10^6, 10^9, 10^12, 10^15 bytes |
| `"10ns"`, `"10us"`, `"10ms"`, `"10s"`, `"10min"`, `"10h"` | a time; the unit is required |
| `"2.8GB/s"`, `"500MiB/s"`, `"10Gbit/s"` | a bandwidth; a bit is one eighth of a byte, and bits are decimal |
| `"5 %"` or `0.05` | a share |

A size or a time may have a fraction if it gives a whole number of bytes or nanoseconds, as `"1.5GiB"`.

## Sweeps

A list or a range can take the place of a value, and each of its values makes a case:

```toml
[[target]]
name = "cards"
paths = ["/mnt/0/data", "/mnt/1/data", "/mnt/2/data"]

[[workload]]
name = "scale"
sharing = "per-task"
tasks = "3..24 step 3"
transfer = ["64KiB", "1MiB", "4MiB"]
size = "1GiB"
```

| written | means |
|---|---|
| `tasks = [1, 4, 16]` | these values |
| `tasks = "33..264 step 33"` | 33, 66, … 264 |
| `transfer = "4KiB..16MiB times 2"` | 4 KiB, 8 KiB, … 16 MiB |
| `tasks = [1, "33..264 step 33"]` | a value and a range |
| `nodes = "1..16"` | 1, 2, 3, … 16: a range of whole numbers without a step goes up by 1 |

A range rises, and its last value is its end. Several swept keys make every combination; the first
in the file changes most slowly. Keys in `together` change together instead: with
`together = ["tasks", "size"]` the first value of `tasks` goes with the first of `size`, and so on.
While `size` stays and `transfer` grows, the volume stays the same.

A case is named by its values, as in `scale:tasks=33:transfer=1MiB`. More than 10,000 cases run only
when you agree; more than a million do not.

## Overrides

`ioproof run --set KEY=VALUE` overrides the file, for example for a run in miniature:

| written | sets |
|---|---|
| `--set workload.scale.size=64MiB` | a key of one workload |
| `--set 'workload.*.duration=1s'` | a key of all workloads |
| `--set 'workload.scale.tasks=[1, 2]'` | a sweep |
| `--set target.cards.directory=/mnt/x` | a key of a target |
| `--set protocol.repetitions=2`, `--set study.title=Small` | a key of a table that occurs once |
| `--set 'layout.*.devices=["/dev/loop0"]'` | the devices of all layouts |
| `--set 'commitment.write streams.bandwidth_at_least=4GB/s'` | what was promised |

A string may be written without quotes. Keys that are alternatives replace each other: `size` takes
the place of `block` and `segments`, `directory` that of `paths`, `duration` that of `stonewall`, `tasks_per_node` that of `tasks`.
A new `directory` is that of all spaces of jobs, unless `work` and `utility` are set after it.
What was expected, published and claimed cannot be set: it is fixed in the file.
The record keeps the file and the overrides, and each verdict names those that concern it. A claim about a point that
an override has taken away is not tested. A commitment stays about what the file says: figures of another number of nodes,
reads of own data where the file has others' read, or only some of the figures that it is about do not keep it.

## Protocol

```toml
[protocol]
warm_up = 1               # one pass that does not count
rounds = 2                # two passes make a repetition, the second counts
repetitions = 25          # at most
until = "interval 5 %"    # enough when the interval of the median is this narrow
phase_min = "5s"          # shorter phases meet no commitment, nor does one below 2 s
phase_max = "5min"
drop_caches = true
shuffle = true

[[target]]
name = "disk"
directory = "/mnt/disk"

[[workload]]
name = "stream"
transfer = "1MiB"
size = "64GiB"
```

The width of the interval is that of the confidence interval of the median which assumes no
distribution. `until = "steady"` follows the SNIA Solid State Storage Performance Test
Specification: five rounds whose values span at most 20 % of their mean, along a line that rises or
falls by at most 10 % of it.

## What was expected, promised, published and claimed

```toml
[study]
exclusive = false

[protocol]
repetitions = 5           # as many as a confidence bound needs

[[target]]
name = "cards"
paths = ["/mnt/0/data", "/mnt/1/data"]
layer = "node-local"
devices = 2

[[workload]]
name = "scale"
sharing = "per-task"
tasks = [2, 4]
transfer = "1MiB"
size = "4GiB"

[[expectation]]
name = "data sheet, writing"
bandwidth = "2.0GB/s"
per = "device"
phase = "write"
source = "product brief, page 2"

[[commitment]]
name = "4 GB/s writing"
by = "the vendor"
workload = "scale"
phase = "write"
at = { tasks = 4 }
statistic = "confidence-bound"
bandwidth_at_least = "4GB/s"

[[published]]
figure = "a-t2-read-best"
workload = "scale"

[[claim]]
id = "reads-are-faster"
text = "Reading is faster than writing"
left = { workload = "scale", phase = "read" }
relation = "greater"
right = { workload = "scale", phase = "write" }
tolerance = "5 %"
```

All of this is fixed before the run and stored with it. A selection (`workload`, `target`, `phase`
and `at`, there or in braces) names only what the study has.

## What servers tell

Storage on the other side of a network keeps its counters there. A target may name commands that print them:

```toml
[[target]]
name = "scratch"
directory = "/scratch/bench"
client = "remote"
server_memory = "384GiB"
server_collect = [
    "pdsh -w oss[1-6] lctl get_param obdfilter.*.stats osd-*.*.brw_stats osd-*.*.read_cache_enable osd-*.*.writethrough_cache_enable",
]
server_time_limit = "10s"

[[workload]]
name = "reads"
transfer = "1MiB"
size = "2TiB"
direct = true
phases = ["read"]
fill = true
```

A shell of the first process runs each command before and after every phase that is a result, in the working directory,
outside the measured time. Its output is recognised by its format, whatever command it was; what was collected
elsewhere can be printed by `cat FILE`. These are read:

| text | what it tells |
|---|---|
| `obdfilter.*.stats` | bytes that each storage target (OST) handed out and took in |
| `osd-*.*.brw_stats`, `obdfilter.*.brw_stats` | at most how many bytes its disks moved: the requests of each size × that size |
| `read_cache_enable`, `writethrough_cache_enable` of `osd-*.*` or `obdfilter.*` | whether the server keeps data for later reads |
| `osc.*.stats` of clients | bytes between a client and each OST |
| `lfs getstripe FILE …`, also with `--yaml` | on which OSTs files are |
| `/proc/self/mountstats` of clients (NFS) | bytes between the client and the server (the fifth and sixth number of `bytes:`) |
| `mmpmon` (`fs_io_s`, with `-p` or without) | bytes that GPFS handed to programs, from disks or from its cache: no evidence of either |
| `mmlsconfig` | the `pagepool` of GPFS |

`pdsh` may put the name of a server before each line. The client's side is read without a command: for targets on NFS
each node's `/proc/self/mountstats`, on Lustre the counters of bytes below `/sys/kernel/debug/lustre` or `/proc/fs/lustre`
(the first only as root) and, where `lfs` is on `PATH`, `lfs getstripe` of up to 256 files of the pass.

Commands of a study run only after somebody has agreed to exactly these commands: at the terminal, or with
`--allow-commands HASH`, as for the commands of an `own` layout. `--explain` shows them with the hash; `--resume` asks
again. A command that fails, prints nothing that is known, or takes longer than `server_time_limit` is named at the figure,
and the run goes on; if it failed before a phase, it is not run after it. Where a command prints the same text before
and after, times included, only its settings count. What all of it means for figures is in
[AUDIT.md](AUDIT.md#what-servers-and-clients-counted), what is stored in [RECORD.md](RECORD.md#servers).

NFS was tried with server and client of Linux 6.1 in a virtual machine (`scripts/virtual-machine.sh`). Lustre and GPFS were
not at hand: their parsers were tried with texts of the format that the Lustre operations manual, IBM's administration guide
and programs that read them give, not yet on such a system.

## Layouts

```toml
[[layout]]
name = "per-card"
recipe = "per-device"
devices = ["/dev/nvme0n1", "/dev/nvme1n1"]
mount_point = "/p3700"
make_options = ["-f", "-K", "-d", "su=128k,sw=1"]

[[layout]]
name = "xvm"
recipe = "own"
stands_for = "XVM"
devices = ["/dev/nvme0n1", "/dev/nvme1n1"]
mount_point = "/xvm"
create = ["mkfs.btrfs -f -d raid0 {devices}", "mount -t btrfs {device0} {mount}"]
destroy = ["umount {mount}"]

[[target]]
name = "cards"
layout = "per-card"

[[target]]
name = "striped"
layout = "xvm"

[[workload]]
name = "streams"
target = ["cards", "striped"]
sharing = "per-task"
tasks = 4
transfer = "1MiB"
size = "1GiB"
direct = true

[[workload]]
name = "alone"
target = "cards"
member = "0..1"
transfer = "1MiB"
size = "1GiB"
direct = true
```

Each layout is created, verified, measured and dismantled before the next one. All cases of a layout are
together in the plan, layouts in the order of their first cases; a `shuffle` shuffles the layouts, and the
cases of each. What is written on a layout is lost with it. The devices are those that the study names, and
`ioproof run` shows all of its commands and asks, or needs `--allow-commands HASH`
([LAYOUTS.md](LAYOUTS.md)). A target on a layout has as many `devices` as the
layout, unless it gives another number.

## Jobs

```toml
[[target]]
name = "server"
directory = "/sasdata"
work = "/saswork"
utility = "/utilloc"

[[workload]]
name = "mix"
work = "jobs"
scale = 0.01              # a hundredth of all rows and operations
concurrency = 4           # at most so many jobs at a time

[[table]]
name = "sales"
size = "10GB"
distinct = "1 %"          # of the rows have a key of their own

[[test]]
name = "extract"
kind = "io"
streams = 3               # at the same time, each on data of its own
rounds = 2                # back to back

[[test.step]]
do = "scan"
input = "sales"
keep = "10 %"
output = "some"

[[test.step]]
do = "sort"
input = "some"
output = "sorted"
space = "permanent"       # for the next test
threads = 2
memory = "256MiB"

[[test]]
name = "model"
kind = "computation"
step = [
    { do = "summarise", input = "sorted", output = "sums" },
    { do = "regression", input = "sorted", operations = 3e12 },
]
```

This makes six launches of `extract` and one of `model`, which waits for them because it reads their output. Tables
are in permanent space; an output is in work space unless `space` says otherwise, and is removed with its job. A
target of several directories (`paths`, or a `layout` of several) has permanent data in the first, work data
in the second and utility data in the third. docs/JOBS.md defines tables and steps.

## Several nodes

Started under an MPI launcher, a study runs on all nodes that the launcher has:

```toml
[[target]]
name = "scratch"
directory = "/mnt/scratch"
layer = "shared"

[[workload]]
name = "weak"
sharing = "per-task"
nodes = "1..16"
tasks_per_node = [64, 160]
transfer = "32MiB"
size = "2GiB"
read_from = "next-node"   # no node reads what it wrote itself
```

The first tasks are on the first node, the next ones on the second, and so on; every node has the
same number of tasks, or one more. With `nodes = 4` a workload is on the first four nodes of the run
and the others wait. A study that names more nodes than a run has can be read and explained
everywhere, and is refused when it is to run.

On a target with `layer = "node-local"` each node has its own files: tasks read only what they have
written themselves, and a workload reads files of another one only where both have their tasks on
the same nodes.

## Workloads on the same files

Two workloads use the same files when they have the same target, `sharing`, `unique_dir` and
`file_per_repetition`. One can read what the other has written. What either says about the files
(`existing`, `keep`, `preallocate`, `fill`) holds for both.

Files that are there already and that no run of ioproof has made lose their data only if you agree, with
`existing = "replace"` and `"reuse"` alike: see [FILES.md](FILES.md).

A workload that reads before it writes needs data: from a workload before it on the same files, or
by `fill`.
"#;

/// The text of `docs/STUDY.md`.
#[must_use]
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    for table in TABLES {
        write_table(&mut text, table);
        if table.name == TEST.name {
            write_table(&mut text, &STEP);
        }
    }
    write_table(&mut text, &SELECTION);
    text
}

fn write_table(text: &mut String, table: &Table) {
    let (header, times) = match (table.many(), table.name == SELECTION.name) {
        (_, true) => ("A selection".to_owned(), ""),
        (true, _) => (format!("`{}`", table.header()), " It can occur any number of times."),
        (false, _) => (format!("`{}`", table.header()), " It can occur at most once."),
    };
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    line("");
    line(&format!("## {header}"));
    line("");
    line(&format!("{}{times}", table.meaning));
    line("");
    line("| key | value | default | meaning |");
    line("|---|---|---|---|");
    // Keys that a workload shares are listed with the table that occurs once.
    let shared = if table.many() { &[][..] } else { table.shared };
    for key in shared.iter().chain(table.keys) {
        line(&row(key));
    }
    for work in table.works {
        line("");
        line(&format!("### `work = \"{}\"`", work.word.0));
        line("");
        let heeds = |key: &&Key| work.uses.contains(&key.name);
        let heeded: Vec<String> =
            table.keys.iter().filter(heeds).map(|key| format!("`{}`", key.name)).collect();
        line(&format!(
            "{} Of the keys above it uses `name`, `title`, `phases`, `together`, `nodes`, `backend` ({}), \
             `depth`, `signature`, `memory_hog`, `outlier`, {}.",
            work.meaning,
            work.backends,
            heeded.join(", ")
        ));
        line("");
        line("| key | value | default | meaning |");
        line("|---|---|---|---|");
        for key in work.keys {
            line(&row(key));
        }
    }
}

fn row(key: &Key) -> String {
    let absent = match key.absent {
        KeyDefault::Refused => "required".to_owned(),
        KeyDefault::Value(value) => format!("`{value}`"),
        KeyDefault::Needed(words) | KeyDefault::Described(words) => words.to_owned(),
    };
    let mut meaning = key.meaning.to_owned();
    for (word, what) in key.kind.words() {
        // Writing to a String cannot fail.
        let _ = write!(meaning, "<br>`\"{word}\"`: {what}");
    }
    format!("| `{}` | {} | {absent} | {meaning} |", key.name, value(&key.kind))
}

/// The type of a value with its unit or bounds.
fn value(kind: &ValueKind) -> String {
    match kind {
        ValueKind::Count(least, most) if *most == i64::MAX.unsigned_abs() => {
            format!("a whole number, {least} or more")
        }
        ValueKind::Count(least, most) => format!("a whole number from {least} to {most}"),
        ValueKind::Name => "a name: letters, digits, `.`, `_`, `-`, at most 64".to_owned(),
        ValueKind::Rate => "a number above 0, per second".to_owned(),
        ValueKind::Size => "a size in bytes".to_owned(),
        ValueKind::Number(least, most) if *least > 0.0 => format!("a number above 0 and up to {most}"),
        ValueKind::Counts(least, most) => format!("a list or range of whole numbers from {least} to {most}"),
        ValueKind::Reference(table) => format!("the name of a `[[{table}]]`"),
        other => other.noun().to_owned(),
    }
}
