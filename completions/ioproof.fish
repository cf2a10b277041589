# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ioproof_global_optspecs
    string join \n h/help V/version
end

function __fish_ioproof_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ioproof_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ioproof_using_subcommand
    set -l cmd (__fish_ioproof_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ioproof -n "__fish_ioproof_needs_command" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_needs_command" -s V -l version -d 'Print version'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "run" -d 'Measure: a study file, or the storage under a directory in about a minute'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "randomops" -d 'Measure random operations by many tasks, each on a file of its own'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "cross-check" -d 'Get a second opinion: measure a directory with ioproof and the fio that is installed, in turn'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "rpc" -d 'Measure requests and responses between processes: rates, latency, CPU time, bandwidth'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "report" -d 'Print the tables of a run again, and write its report; several runs become one'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "verdict" -d 'Say of each commitment of a study whether it was kept, and by how much'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "verify" -d 'Say whether a record is as it was when it was signed, and by whom'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "check" -d 'Check the figures of a run, or the published ones, for what cannot be true'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "history" -d 'Show the last operations of a run one by one, with the device\'s part of their time'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "studies" -d 'List the studies that come with the program, or print one'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "compare" -d 'Set two runs against each other, as before and after a change'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "batch" -d 'Write job scripts that run a study under a batch system'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "merge" -d 'Put several runs together into one record'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "import" -d 'Read what other tools have printed into a record: IOR, mdtest, iozone, ioping, gpfsperf, fio, elbencho, iostat, nsdperf, mmfsadm dump iohist'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "reference" -d 'Show what studies have published: figures, statements, misprints'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "calc" -d 'Compute with figures given by hand: scalability, tax, bounds, statistics, lines, curves'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "model" -d 'Show, check and fit models of storage systems, for `ioproof run --model`'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "clean" -d 'Show and remove what a killed run left under a directory'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "host" -d 'Show this host: what it is and how it is set'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "layout" -d 'Put devices together, read back what stands, and take it apart again'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "overhead" -d 'Measure what the instrument itself costs on this host'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "schema" -d 'Print the JSON schema of study files, of reports or of hosts'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "generate" -d 'Write the man pages and shell completions into a directory'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "ior" -d 'Take IOR\'s own command line; `ioproof ior -h` lists it'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "io500" -d 'Run IO500 by its configuration file; `ioproof io500 -h` lists the options'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "ioping" -d 'Measures the latency of one request at a time as ioping does'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "mdtest" -d 'Makes, looks at, reads and removes many files and directories as mdtest does'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "md-workbench" -d 'Goes round small objects as md-workbench does, with the latency of each operation'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "iozone" -d 'IOzone\'s command line and tables: file size × record size, or throughput of processes'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "gpfsperf" -d 'gpfsperf\'s (and tsqosperf\'s) command line and report: one file, threads that take its records in turn'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "tsqosperf" -d 'gpfsperf\'s (and tsqosperf\'s) command line and report: one file, threads that take its records in turn'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l on -d 'Run the study on this directory instead of what it names: one target, called `storage`, and nothing of the hardware that the study was written for' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l quick -d 'Characterise the storage under this directory in about a minute: six figures, in three passes that take turns' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l resume -d 'Go on with a run that was interrupted: finished cases are kept, and so are whole passes of cases that take turns; the others run' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l set -d 'Change a value of the study, as target.disk.directory=/mnt/x or workload.*.size=1GiB, or of a quick run: repetitions, duration, size, delay; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l model -d 'Simulate the study on the model in this file, on a virtual clock: nothing of this host is measured or changed' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l seed -d 'With --model: what its random choices follow from' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l on-nodes -d 'Run only the cases on exactly so many nodes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l like -d 'Predict from the rates that this run has measured: of the same phases in the nearest cases' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l expect -d 'Predict from this rate, as 2GB/s or 30000/s, or of one phase alone as read=2GB/s; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l out -d 'Where the record goes [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l history -d 'Each process keeps its last N operations one by one; `ioproof history` shows them' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l sign -d 'Sign the record at its end with this SSH key, or with the agent\'s key of this `.pub` file; `ioproof verify` checks it' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l nonce -d 'A word of the other party that is signed with the record, so that no older record can pass for it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l mpi -d 'The MPI library, where a launcher has started the program and the right one is not found' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l destroy-data-on -d 'Give up the data on a block device, named by serial number, WWN or path; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l allow-commands -d 'Agree to the commands that the study executes, and to lose the data on the devices of its layouts; --explain shows them and prints the hash' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l state -d 'Where the ledger of layouts that a study makes stands [default: /var/lib/ioproof]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l cached -d 'With --quick: measure what the page cache gives as well, after the storage itself'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l verdict -d 'End with status 8 where a commitment of the study was not kept'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l probe -d 'Predict the rest from a probe: up to three cases with direct transfers in the directory of each target, from this node, in passes of 300 ms. Its record is kept'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s q -l quiet -d 'Do not show on the error stream where the record is and how far the run is; warnings still come'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s y -l yes -d 'Do not ask: start, and lose the data of files that are there. It is no consent to commands of a study'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l explain -d 'Print what would be done, with files, bytes and seconds, and write nothing but the data of a probe'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l full -d 'With --explain: each case in full, with offsets and memory, and each command of layouts'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l tasks-per-node -d 'Tasks on each node, with a file each [default: as many as this node has processors, or one for each process of a launcher]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l operations -d 'Operations of each task' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l duration -d 'Operations until this time is over, instead of a number of them' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l transfer -d 'Bytes of one operation' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l size -d 'Bytes of each task\'s file' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l read-percent -d 'Share of reads: 100 for random reads, 0 for random writes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l fadvise -d 'What the kernel is told about each file after open: `as-published` is one call that means NOREUSE alone, `as-meant` three calls' -r -f -a "none\t'Nothing'
as-published\t'One call with three values or-ed, which is another value'
as-meant\t'Three calls'"
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l repetitions -d 'How often all tasks do their work, in another random order each time' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l rest -d 'Rest before each repetition' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l server-memory -d 'Memory of all servers together: less data than four times that is refused, as they may answer from it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l seed -d 'Chooses the orders and the data' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l out -d 'Where the record goes [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l history -d 'Each process keeps its last N operations one by one; `ioproof history` shows them' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l sign -d 'Sign the record at its end with this SSH key, or with the agent\'s key of this `.pub` file; `ioproof verify` checks it' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l nonce -d 'A word of the other party that is signed with the record, so that no older record can pass for it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l mpi -d 'The MPI library, where a launcher has started the program and the right one is not found' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l direct -d 'Around the page cache [default, but with --fadvise]'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l buffered -d 'Through the page cache [default with --fadvise]'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l rotate -d 'Tasks go to the files of the next node, so that no node reads what it wrote [default on several nodes, but for --node-local]'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l no-rotate -d 'Each node reads what it wrote'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l node-local -d 'Each node has directories of its own'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l exclusive -d 'Nobody else could use the storage meanwhile'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l keep -d 'Leave the files, and read those that are there'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l uring -d 'Few threads carry all tasks with io_uring, instead of one for each with pread and pwrite'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -s q -l quiet -d 'Do not show on the error stream where the record is and how far the run is; warnings still come'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -s y -l yes -d 'Do not ask: start, and lose the data of files that are there. It is no consent to commands of a study'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l explain -d 'Print what would be done, with files, bytes and seconds, and write nothing but the data of a probe'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l full -d 'With --explain: each case in full, with offsets and memory, and each command of layouts'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l size -d 'Bytes of the file [default: a tenth of the free space, at most 1GiB]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l time -d 'How long each pass takes; below 2s nothing is stated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l pairs -d 'How often each tool measures each case, in turn' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l case -d 'Only this case; may be repeated' -r -f -a "seq-write\t''
seq-read\t''
rand-read-d1\t''
rand-read-d32\t''
rand-write-d1\t''
rand-write-d32\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l out -d 'Where the record goes [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l explain -d 'Print what would be done, with files, bytes, seconds and fio\'s command lines, and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -s q -l quiet -d 'Do not show on the error stream where the record is and how far the run is; warnings still come'
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l size -d 'Bytes of a message, as 1k or 4MiB; k, m and g are powers of 1024. Lists, here and below, are swept' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l response -d 'Bytes of a response [default: as many as of the request]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l pattern -d 'Who asks whom. The ends are the ranks of a launcher, node by node; without one a process asks itself over loopback' -r -f -a "one-to-one\t'The first half of the processes asks the second half'
many-to-one\t'All but the first ask the first'
all-to-all\t'Each asks every other'"
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l threads -d 'Threads of each process that ask, and as many that answer' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l connections -d 'Connections of each pair of processes [default: one for each thread]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l depth -d 'Requests under way on each connection' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l seconds -d 'Length of a phase, as 5, 500ms or 2min' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l exchanges -d 'So many exchanges on each connection, instead of a time' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l warm-up -d 'Time in the beginning of each phase that is not counted' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l interface -d 'Network interface that sockets are bound to [default: the one that leads to the peer]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l port -d 'Port of the first process of a host that answers, the next one of the second [default: the kernel chooses]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l bind -d 'Where threads run: processors in turn as 0-3,6, a NUMA node as numa:0, adapter for the node of the network adapter, or none' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l bind-clients -d 'The same for the threads that ask alone' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l bind-servers -d 'The same for the threads that answer alone' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l repetitions -d 'How often each case is measured' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l deadline -d 'A connection on which nothing moves for this long is an error' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l seed -d 'Chooses the bytes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l out -d 'Where the record goes [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l history -d 'Each process keeps its last N operations one by one; `ioproof history` shows them' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l sign -d 'Sign the record at its end with this SSH key, or with the agent\'s key of this `.pub` file; `ioproof verify` checks it' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l nonce -d 'A word of the other party that is signed with the record, so that no older record can pass for it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l mpi -d 'The MPI library, where a launcher has started the program and the right one is not found' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l write -d 'Data in the request and a response of 1 byte, as nsdperf\'s write'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l read -d 'A request of 1 byte and data in the response, as nsdperf\'s read'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l exchange -d 'As large a response as the request, beside --write or --read [default without them]'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l blocking -d 'Plain calls on a thread for each connection [default with one request under way on each thread]'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l uring -d 'io_uring, which carries all connections of a thread [default otherwise]'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l verify -d 'Compare every byte with what was sent'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -s q -l quiet -d 'Do not show on the error stream where the record is and how far the run is; warnings still come'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -s y -l yes -d 'Do not ask: start, and lose the data of files that are there. It is no consent to commands of a study'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l explain -d 'Print what would be done, with files, bytes and seconds, and write nothing but the data of a probe'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l full -d 'With --explain: each case in full, with offsets and memory, and each command of layouts'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l format -d 'One format only [default: print the answer and write html, md, csv and json into RUNDIR]' -r -f -a "text\t'The answer for a terminal, with --full all tables'
html\t'One self-contained page with charts'
md\t'Markdown tables'
csv\t'One row for each figure and repetition'
json\t'Everything, for programs'
openmetrics\t'Metrics for a monitoring system, as OpenMetrics text'"
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l output -d 'Write to this file instead of the terminal' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l full -d 'Print all tables instead of the answer alone'
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l json -d 'As --format json'
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand verdict" -l sheet -d 'A sheet for each commitment: what was fixed before, the evidence, what speaks against it, what could not be seen, and the judgement. To the terminal, or to FILE as its ending says: .html, .md or text' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand verdict" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand verdict" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand verify" -l signers -d 'The public keys that you trust, with a name before each, as `alice ssh-ed25519 AAAA…` (ALLOWED SIGNERS in ssh-keygen(1))' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand verify" -l nonce -d 'The word that you gave before the run (`ioproof run --nonce`)' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand verify" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand check" -l published -d 'Look at the published figures instead'
complete -c ioproof -n "__fish_ioproof_using_subcommand check" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l last -d 'Of each phase the last N only' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l phase -d 'One phase only, as `read` or `file-create`' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l csv -d 'Comma-separated values with all columns of the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand studies; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand studies; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Print the text of a ready study'
complete -c ioproof -n "__fish_ioproof_using_subcommand studies; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l against-itself -d 'Compare each figure of BEFORE with itself N times, by repetitions of its own, and print how often a difference is called where there is none: by the test of differences, by the best of five and by the mean of three. Nothing is measured: BEFORE must have ten repetitions for each comparison' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l format -d 'How it is shown' -r -f -a "text\t'A table for a terminal'
md\t'A Markdown table'
json\t'For programs'
html\t'The page of BEFORE, with AFTER drawn dotted in its charts'"
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l output -d 'Write to this file instead of the terminal' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l full -d 'Print every comparison with its conditions instead of the changes alone'
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l verdict -d 'End with status 8 where something is slower in AFTER, beyond the scatter'
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l nodes -d 'Nodes of the one job [default: the most that a case asks for]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l ranks-per-node -d 'Processes on each node, which carry the tasks of the study' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l time -d 'Wall time of each job, as 2h [default: from the prediction]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l like -d 'Predict from the rates that this run has measured: of the same phases in the nearest cases' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l expect -d 'Predict from this rate, as 2GB/s or 30000/s, or of one phase alone as read=2GB/s; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l account -d 'Who pays' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l partition -d 'Partition or queue' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l setup -d 'A line of shell before the run, as `module load openmpi`; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l launcher -d 'Words that start the ranks, instead of the system\'s own launcher' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l mpi -d 'The MPI library as the jobs find it, where the right one is not found by itself' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l allow-commands -d 'Agree to the commands that the study executes, by the hash that `ioproof run STUDY --explain` prints' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l program -d 'The program as the jobs find it' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l set -d 'Change a value of the study; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l out -d 'Where the scripts are written, and the records of the jobs' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l slurm -d 'For Slurm (sbatch)'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l pbs -d 'For PBS Professional (qsub)'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l flux -d 'For Flux (flux batch)'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l per-point -d 'A job for each number of nodes in the study, and one that merges their records [default: one job for the whole study]'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l probe -d 'Predict the rest from a probe: up to three cases with direct transfers in the directory of each target, from this node, in passes of 300 ms. Its record is kept'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -s y -l yes -d 'Take a study with very many cases without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand merge" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l out -d 'Where the record goes [default: ioproof-runs/DATE-TIME-import]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l as -d 'The tool, where it is not found: ior, mdtest, md-workbench, iozone, ioping, ioping-batch, gpfsperf, iohist, fio, fio-json, elbencho, elbencho-csv, elbencho-json, elbencho-live, iostat, iostat-json, nsdperf, ior-json, ior-csv' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l title -d 'A title for reports' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l terms -d 'A study file whose terms hold for what is imported: its commitments, claims, expectations and published figures. It needs no workload' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "list" -d 'The figures, in one unit and as printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "show" -d 'All that is known of a figure, statement, command line or study'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "studies" -d 'The studies'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "claims" -d 'Statements that own data can confirm or refute'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "misprints" -d 'Printed figures that are wrong or contradict themselves, with the reading that is used'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l study -d 'The letter or id of a study' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l metric -d 'What figures are of, as bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l operation -d 'What was done, as read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from show" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l study -d 'The letter or id of a study' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l metric -d 'What figures are of, as bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l operation -d 'What was done, as read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l study -d 'The letter or id of a study' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l metric -d 'What figures are of, as bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l operation -d 'What was done, as read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l study -d 'The letter or id of a study' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l metric -d 'What figures are of, as bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l operation -d 'What was done, as read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "scalability" -d 'Measured rate ÷ (devices × rate of one device)'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "tax" -d '(reference − other) ÷ reference: what one layout loses against another'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "balance" -d 'The share of the sum of all targets that so many tasks can reach'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "units" -d 'A rate in MB/s, MiB/s and transfers per second'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "drives" -d 'Drives that a rate needs, with parity'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "bound" -d 'The lowest of several limits, and how much of it was reached'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "job" -d 'Operations per second of a job by its wall time'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "little" -d 'Little\'s law: operations under way = rate × latency'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "margin" -d 'How far a measured rate is above or below a promised one'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "crossover" -d 'The number of nodes at which a rate that grows overtakes one that does not'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "difference" -d 'The difference of two numbers, and its share of the first'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "statistics" -d 'Whether printed statistics can be true'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "values" -d 'Statistics of a column of numbers'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "compare" -d 'Whether two columns of numbers differ beyond their scatter'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "regression" -d 'A straight line through points, with its uncertainty'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "curve" -d 'Peak, knee, plateau, sweet spot and regular dips of a curve'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l measured -d 'The rate of all devices together, as 24.1GB/s' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l baseline -d 'The rate of one device' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l devices -d 'How many devices' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l tasks -d 'Tasks, for what they can reach at most' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from tax" -l reference -d 'The rate that is compared with' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from tax" -l other -d 'The other rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from tax" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from balance" -l tasks -d 'Tasks' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from balance" -l targets -d 'Targets' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from balance" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from units" -l transfer -d 'Bytes of one transfer, as 4KiB' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from units" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l goal -d 'The rate that is wanted' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l per-drive -d 'The rate of one drive; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l data -d 'Data drives of one stripe' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l parity -d 'Parity drives of one stripe' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from bound" -l limit -d 'NAME=COUNTxRATE, as drives=60x120000/s; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from bound" -l measured -d 'What was measured' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from bound" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -l tasks -d 'Tasks' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -l operations -d 'Operations of each task' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -l seconds -d 'Seconds that the job took' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -l rate -d 'Operations per second, as 1200000/s' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -l latency -d 'Mean latency, as 50us' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -l in-flight -d 'Operations that were under way' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from margin" -l promised -d 'The promise' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from margin" -l measured -d 'What was measured' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from margin" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from crossover" -l slope -d 'What each node adds' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from crossover" -l plateau -d 'The level of the other' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from crossover" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from difference" -l before -d 'The first' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from difference" -l after -d 'The second' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from difference" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -s n -l n -d 'How many values' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -l sdev -d 'Standard deviation' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -l range -d 'Largest − smallest' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -l min -d 'Smallest' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -l max -d 'Largest' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -l mean -d 'Mean' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from values" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from compare" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from regression" -l at -d 'Extrapolate to this x; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from regression" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from curve" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from show check fit schema" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from show check fit schema" -f -a "show" -d 'Show what a model is of, and what it gives at most: every limit, the weakest link, saturation'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from show check fit schema" -f -a "check" -d 'Say whether a file can be used as a model, or all of its mistakes'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from show check fit schema" -f -a "fit" -d 'Make a model from the sweeps of a run over depth, tasks or transfer size'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from show check fit schema" -f -a "schema" -d 'Print the JSON schema of model files'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l nodes -d 'Numbers of nodes [default: one, and all that the model has]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l transfer -d 'Transfer sizes, each at random places and in sequence [default: 4 KiB at random places, 1 MiB in sequence]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l tasks -d 'Tasks of each node, each on a file of its own [default: as many as it takes]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l depth -d 'With --tasks: transfers that each task has under way' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l workload -d 'The workload whose sweep is used, where the run has several' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l target -d 'The target whose sweep is used, where the run has several' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l out -d 'Write the model to this file instead of the terminal' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l seed -d 'What the samples of its intervals follow from' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l in-range -d 'Accept a model that is not shown to hold beyond what was measured'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand clean" -s y -l yes -d 'Remove without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand clean" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "facts" -d 'Show what this host is: processors, memory, devices and their slots, file systems, network, volumes'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "check" -d 'Compare how this host is set with what is advised for measuring storage, each piece of advice with its reason and source'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "tune" -d 'Set this host as a profile says, after showing every write; what was is kept. Needs root'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "restore" -d 'Put back what was before `host tune`. Needs root'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "topology" -d 'Draw the cells of a site from a description: servers, cards of each socket, controllers, drives'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from facts" -l root -d 'Read /proc, /sys and /etc below this directory, as of a support bundle' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from facts" -l json -d 'As JSON; `ioproof schema host` describes it'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from facts" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l device -d 'Look at these: a device\'s path or name, a directory on it, or `all`, which is also what is looked at without this' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l lustre-params -d 'What `lctl get_param obdfilter.*.read_cache_enable` printed on Lustre servers, as by `pdsh`' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l root -d 'Read /proc, /sys, /dev and /etc below this directory, as of a support bundle' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l strict -d 'End with 3 where a finding is a warning'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l json -d 'As JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l list -d 'List the profiles and end'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l device -d 'Whose settings may be changed: a device\'s path or name, a directory on it, or `all`' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l root -d 'Read and write /proc, /sys, /dev and /etc below this directory' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l state -d 'Keep what was in this directory [default: $IOPROOF_STATE, or var/lib/ioproof below the root]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l plan -d 'Show every write and end'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l yes -d 'Do not ask'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l persist -d 'Set it at each boot too, by a script and a unit of systemd or a line in /etc/rc.local, which are shown before they are written and removed by `host restore`'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l root -d 'Read and write /proc, /sys, /dev and /etc below this directory' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l state -d 'Where what was is kept [default: $IOPROOF_STATE, or var/lib/ioproof below the root]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l plan -d 'Show what would be written and end'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l yes -d 'Do not ask'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l force -d 'Put back what somebody else has set since, too'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from topology" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "plan" -d 'Print every command, what it is for, where it is published, and the way back; writes nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "create" -d 'Put devices together; all data on them is lost. Needs root, except for raw, lustre, existing and own'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "verify" -d 'Read back what stands, and say what differs from the layout'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "destroy" -d 'Unmount, stop and wipe it; all data on it is lost. Needs root'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "list" -d 'Show all layouts that stand, whole or half-built'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "clean" -d 'Take down what killed programs left, with the rights that making it took'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l study -d 'Take the layout of this name from a study file' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l allow-commands -d 'Agree to the commands of a study\'s layout, by the hash that `layout plan` prints' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l set -d 'Say something else than the study does, as \'layout.md.chunk="64KiB"\'; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l device -d 'A device by path, serial number or WWN, in the order of the members; its data is lost; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l mount -d 'Where it is mounted; the directory itself of lustre and existing' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l name -d 'Its name [default: the recipe]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l title -d 'What the plan and reports call it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l stands-for -d 'The published layout that it stands for' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l file-system -d 'per-device, md, imsm, lvm: xfs, ext4 or btrfs; gpfs: the name of the file system [default: xfs]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l mkfs-option -d 'A word for mkfs, as --mkfs-option=-d --mkfs-option=su=128k,sw=1; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l mount-options -d 'Options of mount, as noatime,nodiratime' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l chunk -d 'md, imsm: bytes on a member before the next one comes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l node -d 'md, imsm: the array' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l stripe -d 'lvm, lustre: bytes on a device before the next one comes; needed by lvm' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l group -d 'lvm: the volume group' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l volume -d 'lvm: a volume, its size or an equal share of what is left; may be repeated [default: data]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l block -d 'gpfs: the block size' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l nodes -d 'gpfs: nodes that will mount it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l nsd-list -d 'gpfs: the file that lists the NSDs' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l stripe-count -d 'lustre: over how many targets a file goes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l first -d 'lustre: on which target it starts' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l create -d 'own: a command that makes it, with {devices}, {device0} … and {mount}; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l check -d 'own: a command that ends with 0 where it is right; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l destroy -d 'own: a command that undoes it; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l destroy-data-on -d 'The word unknown-data, which gives up data without a known signature as well' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l state -d 'Where it is kept what stands [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l study -d 'Take the layout of this name from a study file' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l allow-commands -d 'Agree to the commands of a study\'s layout, by the hash that `layout plan` prints' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l set -d 'Say something else than the study does, as \'layout.md.chunk="64KiB"\'; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l device -d 'A device by path, serial number or WWN, in the order of the members; its data is lost; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l mount -d 'Where it is mounted; the directory itself of lustre and existing' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l name -d 'Its name [default: the recipe]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l title -d 'What the plan and reports call it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l stands-for -d 'The published layout that it stands for' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l file-system -d 'per-device, md, imsm, lvm: xfs, ext4 or btrfs; gpfs: the name of the file system [default: xfs]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l mkfs-option -d 'A word for mkfs, as --mkfs-option=-d --mkfs-option=su=128k,sw=1; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l mount-options -d 'Options of mount, as noatime,nodiratime' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l chunk -d 'md, imsm: bytes on a member before the next one comes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l node -d 'md, imsm: the array' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l stripe -d 'lvm, lustre: bytes on a device before the next one comes; needed by lvm' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l group -d 'lvm: the volume group' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l volume -d 'lvm: a volume, its size or an equal share of what is left; may be repeated [default: data]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l block -d 'gpfs: the block size' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l nodes -d 'gpfs: nodes that will mount it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l nsd-list -d 'gpfs: the file that lists the NSDs' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l stripe-count -d 'lustre: over how many targets a file goes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l first -d 'lustre: on which target it starts' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l create -d 'own: a command that makes it, with {devices}, {device0} … and {mount}; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l check -d 'own: a command that ends with 0 where it is right; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l destroy -d 'own: a command that undoes it; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l destroy-data-on -d 'The word unknown-data, which gives up data without a known signature as well' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l state -d 'Where it is kept what stands [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -s y -l yes -d 'Do not ask'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from verify" -l state -d 'Where it is kept what stands [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from destroy" -l state -d 'Where it is kept what stands [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from destroy" -s y -l yes -d 'Do not ask'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from destroy" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from list" -l state -d 'Where it is kept what stands [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -l forget -d 'Only take this one out of the ledger, and undo nothing: for a device that is gone for good' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -l state -d 'Where it is kept what stands [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -s y -l yes -d 'Do not ask'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand overhead" -s q -l quiet -d 'Do not show on the error stream where the record is and how far the run is; warnings still come'
complete -c ioproof -n "__fish_ioproof_using_subcommand overhead" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand generate" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s a -d 'POSIX, MMAP, DUMMY or AIO (libaio)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s A -d 'a number that the summary repeats'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s b -d 'contiguous bytes of each task'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s B -l posix.odirect -l aio.odirect -d 'direct I/O, around the page cache'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s C -d 'each task reads what another one wrote'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s d -d 'seconds of rest before each phase; a fraction is cut off'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s D -d 'seconds after which each task stops'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s e -d 'fsync after a task\'s last write, inside the timed close'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s E -d 'write over files that are there'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s f -d 'a script of tests'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s F -d 'a file for each task'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s g -d 'tasks wait for each other between open, I/O and close'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s G -d 'signature of the data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s h -l help -d 'print this'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s H -l mpiio.showHints -d 'show hints of MPI-IO: files have no hints outside MPI-IO'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s i -d 'how often the test is run'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s j -d 'warn of a task this many seconds from the mean'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s k -d 'keep the files'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s K -d 'keep files in which a check found errors'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s l -l dataPacketType -d 'offset, incompressible, timestamp or random: every transfer is incompressible and stamped with its file, offset, signature and generation'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s m -d 'files of its own for each repetition, with its number at the end of the name'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s M -d 'memory of the node that is held meanwhile'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s N -d 'number of tasks'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s o -d 'the file, or several joined by @'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s O -d 'directives: any name of this list with a value'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s p -l mpiio.preallocate -d 'allocate the space (posix_fallocate) before the write; IOR does so with MPI-IO only'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s q -d 'end at the first wrong byte'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s Q -d 'how far -C shifts, and -Z at least'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s r -d 'read'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s R -d 'read, read again and compare; the check is not timed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s s -d 'blocks of each task'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s t -d 'bytes of one I/O call'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s T -d 'minutes after which no phase starts'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s u -d 'a directory for each task\'s file'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s v -d 'say more, up to five times'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s w -d 'write'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s W -d 'read what was written and compare; not timed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s x -d 'a short transfer is an error, and not continued'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s X -d 'seed of -Z'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s y -d 'tasks of even nodes use FILE0/data, of odd ones FILE1/data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s Y -d 'fsync after each write, inside that transfer\'s latency'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s z -d 'random offsets over the whole file, each once; twice: random blocks of the file as it is, for -r alone'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s Z -d 'each task reads a random other one\'s data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l version -d 'print the version'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l dryRun -d 'print the plan and move nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l warningAsErrors -d 'a warning makes the run fail'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l random-offset-seed -d 'seed of -z'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l aio.max-pending -d 'transfers under way for each task, with -a AIO'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l aio.granularity -d 'how many are submitted at once: each transfer is submitted as soon as there is room'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l dummy.delay-only-rank0 -d 'a delay of DUMMY: the DUMMY backend measures what the harness itself costs, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l dummy.delay-close -l dummy.delay-sync -l dummy.delay-xfer -d 'a delay of DUMMY: the DUMMY backend measures what the harness itself costs, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l compat -d 'which release\'s tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l verify -d 'compare every read, inside the timed phase'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l fadvise -d 'what the kernel is told after open'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l tasks-per-rank -d 'tasks of each process of a launcher (1)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l no-progress -d 'do not tell on stderr how far it is'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l destroy-data-on -d 'give up the data of a block device'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -s h -l help -d 'this text'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -s l -l list -d 'print every option of CONFIG.ini, with defaults'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l list-mandatory -d 'the same without the phases of the extended mode'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l config-hash -d 'print the hash of CONFIG.ini'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l cleanup -d 'only the phases that remove files'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l dry-run -d 'write the results of a run in which no phase is carried out'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l mode -d 'standard, or extended with md-workbench, more searches and random reads of 4 KiB'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l timestamp -d 'the name of the directories of this run'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -s v -d 'more lines in result.txt; may be repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l verbose -d 'so many, from 0 to 10, instead of CONFIG.ini'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l resume -d 'go on with an interrupted run: phases whose record is complete are not repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l verify -d 'check the hashes of FILE, a result.txt, against CONFIG.ini'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l tasks-per-rank -d 'tasks of each process of a launcher (1)'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l no-progress -d 'do not tell on stderr how far it is'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s A -l async -d 'requests by io_uring, one at a time (ioping: io_submit); needs -C or -D, as nothing can be done before each of them'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s C -l cached -d 'the page cache may answer, and writes may stay in it'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s D -l direct -d 'around the page cache (O_DIRECT)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s G -l read-write -d 'writes and reads in turn'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s L -l linear -d 'in rising offsets, of 256k each if -s is not given'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s W -l write -d 'writes, each with fdatasync if -C is not given; on a file or device -WWW, and --destroy-data-on for a device'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s Y -l sync -d 'each write is stable within its time: with -C by O_SYNC, else by fsync (ioping: O_SYNC and fdatasync)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s y -l dsync -d 'the same of its data alone: with -C by O_DSYNC, else by fdatasync (ioping: O_DSYNC and fdatasync)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s R -l rapid -d 'as fast as it goes for 3 s within 64m, without a line for each request'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s k -l keep -d 'the file in the directory is called ioping.tmp, stays and is used again'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s a -l warmup -d 'so many first requests are left out of the statistics'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s c -l count -d 'ends after so many requests'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s e -l entropy -d 'chooses the random offsets; 0 lets them be those of seed 1'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s i -l interval -d 'time from the start of a request to the start of the next (1s)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s s -l size -d 'bytes of a request (4k)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s S -l work-size -d 'bytes that the requests are spread over (1m, or the whole file or device)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s w -l work-time -d 'ends after this time'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s l -l speed-limit -d 'at most so many bytes a second: sets the interval, or makes that of -i longer'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s r -l rate-limit -d 'at most so many requests a second: sets the interval, or makes that of -i longer'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s t -l min-time -d 'faster requests are left out of the statistics'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s T -l max-time -d 'slower requests are left out of the statistics'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s B -l batch -d 'prints one line of raw numbers at the end and nothing else'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s I -l time -d 'prints the time before each request, by default as `Jan 01 00:00:00`'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s J -l json -d 'prints JSON, when the run is over'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s p -l print-count -d 'prints raw numbers for every so many requests'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s P -l print-interval -d 'prints raw numbers for every so much time'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s q -l quiet -d 'no line for each request'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s h -l help -d 'prints this and ends'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s v -l version -d 'prints the version and ends'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l compat -d 'which release\'s tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l tasks-per-rank -d 'tasks of each process of a launcher (1)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l no-progress -d 'do not tell on stderr how far it is'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s a -l api -d 'POSIX or DUMMY (no I/O at all)'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s b -d 'directories in each directory of the tree'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s B -d 'no barriers between phases: the tasks of a phase start together here, as every phase has figures of its own'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s c -d 'task 0 makes and removes the trees of all tasks'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s C -d 'create; without any of -C -T -E -r -U all phases run'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s d -d 'where the test runs; task t takes number t mod n of several'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s D -d 'directories only'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s e -d 'bytes that are read from each file; 0 opens and closes it'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s E -d 'read'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s f -d 'first number of tasks, with -l'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s F -d 'files only'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s G -d 'signature of the data'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s h -l help -d 'print this'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s i -d 'how often the phases are gone through, each time in a tree of its own'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s I -d 'items of each task in each directory that has any'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s k -d 'files are made by mknod(2)'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s l -d 'last number of tasks, with -f and -s'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s L -d 'items stand on the lowest level of the tree only'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s n -d 'items of each task in all'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s N -d 'each phase works on what the task so many places on has made'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s p -d 'seconds of rest before each iteration'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s P -d 'print rates and times'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s r -d 'remove'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s R -d 'look at items in a random order'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s s -d 'from one number of tasks to the next, with -l'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s S -d 'all tasks work on the same files'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s t -d 'time what unique directories cost: each call has the whole path of its item, from -d on, as without this option: no task changes its directory'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s T -d 'look at items (stat)'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s u -d 'each task has a tree of its own'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s U -d 'rename directories'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s v -d 'say more, each time it stands there'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s V -d 'how much is said'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s w -d 'bytes that are written into each file'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s W -d 'seconds after which files are no longer made; then all tasks make as many'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s x -d 'where -C -W leaves the number of files, for later phases to read'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s X -l verify-read -d 'compare what is read'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s y -d 'fsync each file that was written'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s Y -d 'sync(2) at the end of each phase, in its time'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s z -d 'levels of directories below the topmost one'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s Z -d 'print times instead of rates; in published lines of 1.9.3 a local patch'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l random-seed -d 'seed of -R'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l saveRankPerformanceDetails -d 'a row for each task'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l showRankStatistics -d 'statistics over tasks too'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l dataPacketType -d 'offset, incompressible, timestamp or random'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l print-all-procs -d 'all processes print their results: the rows of all tasks are in the record: --saveRankPerformanceDetails=FILE, or `ioproof report RUNDIR`'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l warningAsErrors -d 'a warning makes the run fail: what would be an error ends the run in any case; warnings about figures stand beside them, and `ioproof check RUNDIR` fails where a figure cannot be trusted'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l dummy.delay-only-rank0 -d 'a delay of DUMMY: the DUMMY backend measures what the harness itself costs, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l dummy.delay-close -l dummy.delay-sync -l dummy.delay-xfer -d 'a delay of DUMMY: the DUMMY backend measures what the harness itself costs, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l compat -d 'which release\'s tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l tasks-per-rank -d 'tasks of each process of a launcher (1)'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l no-progress -d 'do not tell on stderr how far it is'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s O -l offset -d 'how many places on a task works on others\' sets'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s a -l api -d 'POSIX or DUMMY (no I/O at all)'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s I -l obj-per-proc -d 'steps in each set in each round'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s P -l precreate-per-set -d 'objects in each set before'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s D -l data-sets -d 'sets of each task'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s G -d 'signature of the data'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s o -d 'where the sets stand'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s S -l object-size -d 'bytes of an object'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s R -l iterations -d 'rounds of the benchmark'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s t -l waiting-time -d 'each step rests for this times as long as it took'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s T -l adaptive-waiting -d 'rounds with rising rests, from 0 to 4'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s w -l stonewall-timer -d 'seconds after which a round ends'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s W -l stonewall-wear-out -d 'after -w, all tasks go on to as many steps as the fastest'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s 1 -l run-precreate -d 'make the sets; without -1 -2 -3 all run'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s 2 -l run-benchmark -d 'go round the objects'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s 3 -l run-cleanup -d 'remove the sets'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s X -l verify-read -d 'compare what is read'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l read-only -d 'steps only look and read'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l start-item -d 'with -2 or -3: steps done in each set so far; without it, those that --run-info-file says'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l dataPacketType -d 'offset, incompressible, timestamp or random; data are always incompressible and stamped'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l run-info-file -d 'how many steps were done in each set, for a later line with -2 or -3; md-workbench.status without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l ignore-precreate-errors -d 'make objects in sets that are there already, and count those'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s L -l latency -d 'a file for each round and operation with the latencies of the first task, lat-0.00-0-create.csv'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l latency-all -d 'those of all tasks, in lat-0.00-0-create-all.csv'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s q -l quiet -d 'print the lines of phases alone'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l print-detailed-stats -d 'print a table for programs'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s h -l help -d 'print this'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s v -l verbose -d 'name every operation: the last operations of each process can be kept in the record by a study with `history`'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l process-reports -d 'a line for each process: the times of all tasks are in the record: `ioproof report RUNDIR`'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l dummy.delay-only-rank0 -d 'a delay of DUMMY: the DUMMY backend measures what the harness itself costs, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l dummy.delay-close -l dummy.delay-sync -l dummy.delay-xfer -d 'a delay of DUMMY: the DUMMY backend measures what the harness itself costs, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l compat -d 'which release\'s tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l tasks-per-rank -d 'tasks of each process of a launcher (1)'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l no-progress -d 'do not tell on stderr how far it is'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s a -d 'automatic mode: files of 64 kB to 512 MB, records of 4 kB to 16 MB, each twice the one before; records below 64 kB only for files below 32 MB'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s A -d 'automatic mode with small records for large files too; only -i 0 and -i 1 without -i. Obsolete in IOzone: -az -i 0 -i 1'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s b -d 'the report of -R goes into this file as text as well; IOzone writes a binary worksheet, which spreadsheets of today no longer need'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s B -d 'shared memory mappings; without the fwrite and fread tests, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s c -d 'the time of a test has its close in it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s C -d 'a line for each process of a throughput test'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s D -d 'no effect: a shared mapping is written back by the kernel as MS_ASYNC asks, which Linux does nothing for'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s e -d 'the time of a test has its fsync in it, and the close, which comes with it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s E -d 'the columns of pwrite, pread, pwritev and preadv, which IOzone has with -E alone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s f -d 'the file of single and automatic mode; iozone.tmp without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s F -d 'the files of the processes of throughput mode, one for each; iozone.DUMMY.0 and so on without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s g -d 'largest file of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s G -d 'no effect: with -e the mapping is synced in the timed close'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s h -d 'help'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s H -d 'as -k: io_uring stands for POSIX asynchronous I/O, and no bytes are copied beside it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s i -d '0 write, rewrite; 1 read, reread; 2 random read, write; 3 backward read; 4 record rewrite; 5 stride read; 6 fwrite; 7 fread; 8 mix (throughput mode); 9 pwrite; 10 pread; 11 pwritev; 12 preadv. May be repeated; all without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s I -d 'O_DIRECT; the fwrite and fread tests stay buffered, since streams have buffers of their own'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s j -d 'stride of test 5 in records; 17 without it. Each record is read once; IOzone reads some twice and the last ones not at all'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s k -d 'io_uring with so many transfers under way, which stands for POSIX asynchronous I/O; without the fwrite and fread tests, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s l -d 'least number of processes of throughput mode'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s L -d 'printed; buffers always start at a page'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s m -d 'no effect: each transfer under way has a buffer of its own anyway'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s M -d 'the host\'s name and kernel stand in the output'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s n -d 'smallest file of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s N -d 'microseconds of a record; not in throughput mode, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s o -d 'each write is on stable storage when it ends: opened with O_SYNC; fwrite tests and mappings (-B), which write later than their calls, by fsync after each'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s O -d 'records per second'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s p -d 'no effect: buffers are stamped anew for each write, so that no processor cache holds what is written'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s q -d 'largest record of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s Q -d 'each operation\'s offset and latency is kept in the record (`ioproof history`); IOzone\'s .dat files are not written'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s r -d 'record size (kB, or with k, m, g); 4 kB without it. May be repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s R -d 'a report for spreadsheets at the end of the output'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s s -d 'file size of each process (kB, or with k, m, g); 512 kB without it. May be repeated. What is left beyond whole records is left out, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s S -d 'printed; nothing depends on it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s t -d 'throughput mode: so many processes at once, threads of this program or of those that a launcher has started. May be repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s T -d 'no effect: processes of a throughput test are threads here'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s u -d 'largest number of processes of throughput mode; all from -l on are tried'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s U -d 'instead of unmounting, which would take the file system from everybody, caches are written back and dropped before each test that reads (needs root)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s v -d 'version'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s V -d 'what is read is compared with what was written: stamps that also tell stale and misplaced data, not the pattern'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s w -d 'the files are kept'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s x -d 'all processes count to their end. Here they always go on to it; without -x only `Min xfer` looks at the moment when the first was done'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s y -d 'smallest record of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s z -d 'with -a: small records for large files too'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l verify -d 'compare every read, inside the timed phase'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l tasks-per-rank -d 'processes of the line on each process of a launcher (1)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l no-progress -d 'do not tell on stderr how far it is'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s r -d 'record size (k, m, g are powers of 1024); the block size that the file system tells without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s n -d 'bytes moved by all threads together; the file\'s size without it. More than the file has: its records are visited again. What is left beyond whole records of all threads is left out, and said'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s s -d 'with strided: bytes from one access of a thread to its next; as many records as there are threads without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s v -d 'no effect: every option is told by --explain'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s h -d 'help'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l compat -d 'which release\'s report is printed; before 4 a Kbyte is 1024 bytes'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l no-progress -d 'do not tell on stderr how far it is'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s r -d 'record size (k, m, g are powers of 1024); the block size that the file system tells without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s n -d 'bytes moved by all threads together; the file\'s size without it. More than the file has: its records are visited again. What is left beyond whole records of all threads is left out, and said'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s s -d 'with strided: bytes from one access of a thread to its next; as many records as there are threads without it'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s v -d 'no effect: every option is told by --explain'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s h -d 'help'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l out -d 'where the record goes'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l compat -d 'which release\'s report is printed; before 4 a Kbyte is 1024 bytes'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l yes -d 'do not ask: files there may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l no-progress -d 'do not tell on stderr how far it is'
