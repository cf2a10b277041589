//! Tests with texts in the documented formats, and with arbitrary ones.

use proptest::prelude::{any, prop_assert, proptest};
use proptest::strategy::Strategy;

use super::{Counter, SERVER_COUNTERS, clients, counters};
use crate::fake::Tree;
use crate::file_systems::mounts;

const SERVER: &str = "\
obdfilter.scratch-OST0000.stats=
snapshot_time             1589909588.361379170 secs.nsecs
read_bytes                60 samples [bytes] 4096 1048576 4194304
write_bytes               9 samples [bytes] 1 1048576 900 12345
destroy                   600 samples [reqs]
obdfilter.scratch-OST0001.stats=
snapshot_time             1589909588.4 secs.nsecs
obdfilter.scratch-OST0000.brw_stats=
snapshot_time:         1589909588.361379170 (secs.nsecs)

                           read      |     write
pages per bulk r/w     rpcs  % cum % |  rpcs   % cum %
1:                     108 100 100   |    39  19  19

                           read      |     write
disk I/O size          ios   % cum % |   ios   % cum %
4K:                    100  50  50   |    13   6   6
1M:                      2   0 100   |    92  43 100

                           read      |     write
I/O time (1/1000s)     ios   % cum % |   ios   % cum %
4:                     108 100 100   |     0   0   0
osd-ldiskfs.scratch-OST0000.read_cache_enable=1
osd-ldiskfs.scratch-OST0000.writethrough_cache_enable=0
osd-ldiskfs.scratch-OST0000.readcache_max_filesize=18446744073709551615
";

const OSC: &str = "scratch-OST0000-osc-ffff8801";
const CLIENT: &str = "\
osc.scratch-OST0000-osc-ffff8801.stats=
req_waittime              9 samples [usecs] 12 3057 1421 41
read_bytes                4 samples [bytes] 1048576 1048576 4194304 4398046511104
osc.scratch-OST0000-osc-MDT0000.stats=
read_bytes                4 samples [bytes] 1 1 4
";

const LAYOUT: &str = "\
/scratch/bench/f.0
lmm_stripe_count:  2
lmm_stripe_size:   1048576
lmm_pattern:       raid0
lmm_layout_gen:    0
lmm_stripe_offset: 6
\tobdidx\t\t objid\t\t objid\t\t group
\t     6\t       6449992\t     0x626b48\t             0
\t    18\t      12787913\t     0xc320c9\t             0

lmm_objects:
- 0: { l_ost_idx: 3, l_fid: [0x280000400:0x2:0x0] }
";

const GPFS: &str = "\
_fs_io_s_ _n_ 10.22.0.106 _nn_ node7 _rc_ 0 _t_ 1579358234 _tu_ 53212 _cl_ c.domain _fs_ scratch _d_ 48 _br_ 2056 _bw_ 748 _oc_ 2
mmpmon node 199.18.1.8 name node1 fs_io_s OK
cluster:        cluster1
filesystem:     gpfs2
disks:                 2
bytes read:     6291456
bytes written:  314572800
Configuration data for cluster c.domain:
----------------------------------------
pagepool 16G
";

const NFS: &str = "\
device proc mounted on /proc with fstype proc
device server:/export mounted on /mnt/a\\040b with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2
\tage:\t77
\tbytes:\t1 2 3 4 5 6 7 8
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
device other:/export mounted on /other with fstype nfs statvers=1.1
\tbytes:\t10 20 30 40 50 60 70 80
";

fn read(text: &str) -> Vec<(String, &'static str, u64)> {
    counters(text)
        .into_iter()
        .map(|Counter { device, counter, value, .. }| (device, counter, value))
        .collect()
}

fn of<'a>(all: &'a [(&'a str, &'static str, u64)]) -> Vec<(String, &'static str, u64)> {
    all.iter().map(|&(device, counter, value)| (device.to_owned(), counter, value)).collect()
}

#[test]
fn storage_targets_tell_bytes_disks_and_caches() {
    let ost = "scratch-OST0000";
    let expected = [
        (ost, "read_bytes", 4_194_304),
        (ost, "write_bytes", 900),
        ("scratch-OST0001", "read_bytes", 0),
        ("scratch-OST0001", "write_bytes", 0),
        (ost, "disk_read_bytes_max", 100 * 4096 + 2 * 1_048_576),
        (ost, "disk_write_bytes_max", 13 * 4096 + 92 * 1_048_576),
        (ost, "read_cache_enable", 1),
        (ost, "writethrough_cache_enable", 0),
    ];
    assert_eq!(read(SERVER), of(&expected));
    assert!(counters(SERVER).iter().all(|one| one.system == "lustre-server"));
}

/// The lines of several servers may be interleaved.
#[test]
fn what_pdsh_prints_is_parted_by_server() {
    let other = SERVER.replace("OST0000", "OST0002").replace("OST0001", "OST0003");
    let lines = SERVER.lines().zip(other.lines());
    let mixed: String = lines.map(|(one, other)| format!("oss1: {one}\noss2: {other}\n")).collect();
    assert_eq!(read(&mixed), [read(SERVER), read(&other)].concat());
}

#[test]
fn clients_tell_what_they_took_from_each_target_and_metadata_servers_do_not_count() {
    assert_eq!(read(CLIENT), of(&[(OSC, "read_bytes", 4_194_304), (OSC, "write_bytes", 0)]));
}

#[test]
fn layouts_name_their_targets() {
    assert_eq!(
        read(LAYOUT),
        of(&[("OST0006", "asked", 1), ("OST0012", "asked", 1), ("OST0003", "asked", 1)])
    );
}

#[test]
fn gpfs_tells_what_it_handed_to_programs_and_how_large_its_cache_is() {
    let expected = [
        ("node7 scratch", "read_bytes", 2056),
        ("node7 scratch", "write_bytes", 748),
        ("node1 gpfs2", "read_bytes", 6_291_456),
        ("node1 gpfs2", "write_bytes", 314_572_800),
        ("c.domain", "pagepool_bytes", 16 << 30),
    ];
    assert_eq!(read(GPFS), of(&expected));
}

#[test]
fn a_client_of_nfs_tells_what_it_took_from_the_server() {
    let found = read(NFS);
    assert_eq!(found.len(), 12);
    assert!(
        found.contains(&("server:/export on /mnt/a\\040b".to_owned(), "server_read_bytes", 5)),
        "{found:?}"
    );
    assert!(found.contains(&("other:/export on /other".to_owned(), "server_write_bytes", 60)));
}

#[test]
fn texts_of_several_systems_may_follow_each_other() {
    let all = [SERVER, CLIENT, LAYOUT, GPFS, NFS];
    let each: usize = all.iter().map(|text| counters(text).len()).sum();
    assert_eq!(counters(&all.concat()).len(), each);
}

#[test]
fn this_node_is_asked_only_about_the_mounts_of_the_targets() {
    let mountinfo = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                     21 20 0:50 / /mnt/a\\040b rw - nfs4 server:/export rw\n\
                     22 20 0:51 / /scratch rw - lustre mgs@tcp:/scratch rw\n";
    let stats = "read_bytes 4 samples [bytes] 1 1 4\nopen 5 samples [reqs]\n";
    let tree = Tree::new(&[
        ("/proc/self/mountstats", NFS),
        ("/proc/fs/lustre/osc/scratch-OST0000-osc-ffff8801/stats", stats),
        ("/mnt/a b/f", ""),
        ("/scratch/f", ""),
        ("/f", ""),
    ]);
    let table = mounts::parse(mountinfo);
    let ask = |target: &str| clients(tree.root(), &table, &[target.into()]);
    assert_eq!(ask("/f"), []);
    let nfs = ask("/mnt/a b/f");
    assert_eq!((nfs.len(), nfs[0].0.as_str()), (1, "/proc/self/mountstats"));
    assert_eq!(read(&nfs[0].1).len(), 6, "the other mount is not told of");
    let lustre = ask("/scratch/f");
    assert_eq!(lustre[0].0, "/proc/fs/lustre");
    assert_eq!(read(&lustre[0].1), of(&[(OSC, "read_bytes", 4), (OSC, "write_bytes", 0)]));
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        prop_assert!(counters(&text).len() <= SERVER_COUNTERS);
    }

    /// Lines of real texts in any order, truncated anywhere.
    #[test]
    fn nor_are_pieces_of_real_ones(pieces in proptest::collection::vec((0..60_usize, 0..80_usize), 0..200)) {
        let all = [SERVER, CLIENT, LAYOUT, GPFS, NFS].concat();
        let lines: Vec<&str> = all.lines().collect();
        let text: String = pieces
            .iter()
            .map(|&(line, cut)| {
                let line: String = lines[line % lines.len()].chars().take(cut).collect();
                format!("{line}\n")
            })
            .collect();
        prop_assert!(counters(&text).len() <= SERVER_COUNTERS);
    }

    /// Sums do not wrap around.
    #[test]
    fn the_largest_numbers_are_kept_in_bounds(count in (u64::MAX - 9..=u64::MAX).prop_map(|one| one.to_string())) {
        let text = format!(
            "obdfilter.a-OST0000.brw_stats=\ndisk I/O size ios\n1M: {count} 0 0 | {count} 0 0\n1M: {count} 0 0 | 1 0 0\n"
        );
        prop_assert!(counters(&text).iter().any(|one| one.value == u64::MAX));
    }
}
