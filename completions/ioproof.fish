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
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "run" -d 'Run the measurements of a study file, or measure the storage under a directory in about a minute'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "randomops" -d 'Measure random operations by many tasks, each on its own file'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "cross-check" -d 'Get a second opinion: measure a directory with ioproof and the installed fio in alternation'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "rpc" -d 'Measure requests and responses between processes: rates, latency, CPU time, bandwidth'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "report" -d 'Print the tables of a run again, and write its report; several runs are combined'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "verdict" -d 'Show for each commitment of a study whether it was kept, and by how much'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "verify" -d 'Check whether a record is unchanged since it was signed, and who signed it'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "check" -d 'Check the figures of a run, or the published ones, for values that cannot be true'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "history" -d 'Show the last operations of a run individually, with the device\'s share of their time'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "studies" -d 'List the studies that come with the program, or print one'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "compare" -d 'Compare two runs, for example from before and after a change'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "runs" -d 'List, tag and prune the records in a directory, or show a figure of them over time'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "batch" -d 'Write job scripts that run a study under a batch system'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "merge" -d 'Merge several runs into one record'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "import" -d 'Convert the output of other tools into a record: IOR, mdtest, iozone, ioping, gpfsperf, fio, elbencho, iostat, nsdperf, mmfsadm dump iohist'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "reference" -d 'Show what studies have published: figures, statements, misprints'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "calc" -d 'Calculate with given figures: scalability, tax, bounds, statistics, lines, curves'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "model" -d 'Show, check and fit models of storage systems, for `ioproof run --model`'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "clean" -d 'Show and remove what killed runs left under a directory'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "host" -d 'Show what this host is and how it is configured'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "layout" -d 'Create layouts of devices, verify them, and dismantle them again'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "overhead" -d 'Measure the overhead of ioproof itself on this host'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "schema" -d 'Print the JSON schema of study files, of reports or of hosts'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "config" -d 'Print each default of an option with its value and where it comes from: files, the environment'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "doctor" -d 'Tell what this host allows for measurements in a directory, and what to do about the rest. Nothing is written'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "completions" -d 'Print the completions for a shell, for example into ~/.local/share/bash-completion/completions/ioproof'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "man" -d 'Show the man page of the program or of a command, as `ioproof man host facts`'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "generate" -d 'Write the man pages and shell completions into a directory'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "ior" -d 'Run IOR\'s own command line; `ioproof ior -h` lists the options'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "io500" -d 'Run IO500 with its configuration file; `ioproof io500 -h` lists the options'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "ioping" -d 'Measures the latency of one request at a time as ioping does'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "mdtest" -d 'Creates, stats, reads and removes many files and directories as mdtest does'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "md-workbench" -d 'Cycles through small objects as md-workbench does, with the latency of each operation'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "iozone" -d 'IOzone\'s command line and tables: file size × record size, or throughput of processes'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "gpfsperf" -d 'gpfsperf\'s (and tsqosperf\'s) command line and report: threads access records of one file in turn'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "tsqosperf" -d 'gpfsperf\'s (and tsqosperf\'s) command line and report: threads access records of one file in turn'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l on -d 'Run the study on this directory instead of its own targets: the only target is called `storage`, and everything about the hardware that the study was written for is left out' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l quick -d 'Characterise the storage under this directory in about a minute: six figures, in six interleaved passes. Several directories are measured in turns, a minute for each, and the figures of each are compared with those of the first' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l resume -d 'Resume an interrupted run: finished cases, and complete passes of interleaved cases, are kept; the rest is run' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l set -d 'Override a value of the study, for example target.disk.directory=/mnt/x or workload.*.size=1GiB, or of a quick run: repetitions, duration, size, delay; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l model -d 'Simulate the study on the model in this file, with a virtual clock: nothing on this host is measured or changed' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l seed -d 'With --model: seed of the random number generator' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l on-nodes -d 'Run only the cases that use exactly N nodes, after the study was scaled; --nodes gives up those on more' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l like -d 'Predict from the rates measured by this run: those of the same phases in the most similar cases. Their scatter tells with --explain what the repetitions can tell' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l expect -d 'Predict from this rate, for example 2GB/s or 30000/s, or read=2GB/s for one phase only; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s q -l quiet -d 'Do not print the path of the record and the progress on standard error; warnings are still printed' -r -f -a "true\t''
false\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l out -d 'Directory for the record [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l history -d 'Record the last N operations of each process individually; `ioproof history` shows them' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l sign -d 'Sign the finished record with this SSH key, or with the agent\'s key for this `.pub` file; `ioproof verify` checks the signature' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l nonce -d 'Word of the other party, signed with the record, so that no older record can be passed off as this one' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l mpi -d 'The MPI library, if a launcher started the program and the right library is not found' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l destroy-data-on -d 'Agree to lose the data on a block device, named by serial number, WWN or path; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l allow-commands -d 'Agree to the commands that the study executes, and to the loss of the data on the devices of its layouts; --explain shows them and prints the hash' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l state -d 'Directory for the ledger of the layouts that a study creates [default: /var/lib/ioproof]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l time -d 'Scale the study so that it is predicted to take at most this time, for example 10min: sizes, durations, points and repetitions are given up, in this order, until it fits. --explain says which, and what can no longer be told' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l space -d 'Scale the study so that its files take at most this space at the same time, on all targets together, for example 10GiB' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l tasks -d 'Give up the points with more than N tasks' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l nodes -d 'Give up the points on more than N nodes. (`run --on-nodes N` keeps those on exactly N nodes, and --per-point of `batch` writes a job for each number that is left.)' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l cached -d 'With --quick: also measure the page cache, after the storage itself'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l simulate-all -d 'With --model: simulate all of each phase, and compute nothing from steady states. May take hours'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l verdict -d 'Exit with status 8 if a commitment of the study was not kept'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l probe -d 'Predict the rest from a probe: up to three cases with direct transfers in the directory of each target, run from this node in passes of 300 ms. The record of the probe is kept'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s y -l yes -d 'Start without asking, and lose the data of existing files. This does not agree to the commands of a study'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l explain -d 'Print what would be done, with files, bytes and seconds; nothing is written except the data of a probe'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l full -d 'With --explain: print each case in full, with offsets and memory, and each command of layouts'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l tasks-per-node -d 'Tasks on each node, each with its own file [default: the number of processors of this node, or one for each process of a launcher]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l operations -d 'Operations of each task' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l duration -d 'Run for this time instead of a number of operations' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l transfer -d 'Size of one operation' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l size -d 'Size of each task\'s file' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l read-percent -d 'Percentage of reads: 100 for random reads, 0 for random writes' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l fadvise -d 'Advice given to the kernel for each file after open: `as-published` is one call, which means only NOREUSE; `as-meant` is three calls' -r -f -a "none\t'No advice'
as-published\t'One call with three values OR-ed together, which is a different value'
as-meant\t'Three calls'"
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l repetitions -d 'Number of repetitions of the work of all tasks, each in a different random order' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l rest -d 'Idle time before each repetition' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l server-memory -d 'Total memory of all servers: less than four times as much data is refused, because the servers may answer from memory' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l seed -d 'Seed for the random orders and the data' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -s q -l quiet -d 'Do not print the path of the record and the progress on standard error; warnings are still printed' -r -f -a "true\t''
false\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l out -d 'Directory for the record [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l history -d 'Record the last N operations of each process individually; `ioproof history` shows them' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l sign -d 'Sign the finished record with this SSH key, or with the agent\'s key for this `.pub` file; `ioproof verify` checks the signature' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l nonce -d 'Word of the other party, signed with the record, so that no older record can be passed off as this one' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l mpi -d 'The MPI library, if a launcher started the program and the right library is not found' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l direct -d 'Bypass the page cache (direct I/O) [default without --fadvise]'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l buffered -d 'Use the page cache (buffered I/O) [default with --fadvise]'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l rotate -d 'Let tasks use the files of the next node, so that no node reads what it wrote [default on several nodes, except with --node-local]'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l no-rotate -d 'Let each node read what it wrote'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l node-local -d 'State that each node has its own directories'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l exclusive -d 'State that nobody else could use the storage during the run'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l keep -d 'Keep the files, and read existing ones'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l uring -d 'Run all tasks on a few threads with io_uring, instead of one thread for each task with pread and pwrite'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -s y -l yes -d 'Start without asking, and lose the data of existing files. This does not agree to the commands of a study'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l explain -d 'Print what would be done, with files, bytes and seconds; nothing is written except the data of a probe'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -l full -d 'With --explain: print each case in full, with offsets and memory, and each command of layouts'
complete -c ioproof -n "__fish_ioproof_using_subcommand randomops" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l size -d 'Size of the file [default: a tenth of the free space, at most 1GiB]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l time -d 'Duration of each pass; below 2s no result is stated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l pairs -d 'Number of times that each tool measures each case, in alternation' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l case -d 'Measure only this case; may be repeated' -r -f -a "seq-write\t''
seq-read\t''
rand-read-d1\t''
rand-read-d32\t''
rand-write-d1\t''
rand-write-d32\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l out -d 'Directory for the record [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -s q -l quiet -d 'Do not print the path of the record and the progress on standard error; warnings are still printed' -r -f -a "true\t''
false\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -s y -l yes -d 'Start without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -l explain -d 'Print what would be done, with files, bytes, seconds and fio\'s command lines; nothing is written'
complete -c ioproof -n "__fish_ioproof_using_subcommand cross-check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l size -d 'Message size, for example 1k or 4MiB; k, m and g are powers of 1024. Lists, here and below, are swept' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l response -d 'Response size [default: the size of the request]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l pattern -d 'Which processes send requests to which. The endpoints are the ranks of a launcher, node by node; without a launcher, a process sends requests to itself over loopback' -r -f -a "one-to-one\t'The first half of the processes sends requests to the second half'
many-to-one\t'All processes except the first send requests to the first'
all-to-all\t'Each process sends requests to every other process'"
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l threads -d 'Client threads of each process, and as many server threads' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l connections -d 'Connections between each pair of processes [default: one for each thread]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l depth -d 'Requests in flight on each connection' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l seconds -d 'Duration of a phase, for example 5, 500ms or 2min' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l exchanges -d 'Number of exchanges on each connection, instead of a duration' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l warm-up -d 'Time at the start of each phase that is not counted' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l interface -d 'Network interface that sockets are bound to [default: the one that leads to the peer]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l port -d 'Port of the first server process of a host; the second process uses the next port [default: chosen by the kernel]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l bind -d 'Where threads run: a list of processors, used in turn, such as 0-3,6; a NUMA node, such as numa:0; adapter for the NUMA node of the network adapter; or none' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l bind-clients -d 'As --bind, for the client threads only' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l bind-servers -d 'As --bind, for the server threads only' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l repetitions -d 'Number of times that each case is measured' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l deadline -d 'Treat a connection without any progress for this long as an error' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l seed -d 'Seed for the bytes that are sent' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -s q -l quiet -d 'Do not print the path of the record and the progress on standard error; warnings are still printed' -r -f -a "true\t''
false\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l out -d 'Directory for the record [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l history -d 'Record the last N operations of each process individually; `ioproof history` shows them' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l sign -d 'Sign the finished record with this SSH key, or with the agent\'s key for this `.pub` file; `ioproof verify` checks the signature' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l nonce -d 'Word of the other party, signed with the record, so that no older record can be passed off as this one' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l mpi -d 'The MPI library, if a launcher started the program and the right library is not found' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l write -d 'Send the data in the request, with a response of 1 byte, like nsdperf\'s write'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l read -d 'Send a request of 1 byte, with the data in the response, like nsdperf\'s read'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l exchange -d 'Send a response as large as the request, in addition to --write or --read [default without them]'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l blocking -d 'Use blocking calls, with a thread for each connection [default with one request in flight on each thread]'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l uring -d 'Use io_uring, which serves all connections of a thread [default otherwise]'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l verify -d 'Compare every byte with what was sent'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -s y -l yes -d 'Start without asking, and lose the data of existing files. This does not agree to the commands of a study'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l explain -d 'Print what would be done, with files, bytes and seconds; nothing is written except the data of a probe'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -l full -d 'With --explain: print each case in full, with offsets and memory, and each command of layouts'
complete -c ioproof -n "__fish_ioproof_using_subcommand rpc" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l format -d 'Produce only this format [default: print the answer and write html, md, csv and json into RUNDIR]' -r -f -a "text\t'The answer for a terminal; with --full, all tables'
html\t'One self-contained page with charts'
md\t'Markdown tables'
csv\t'One row for each figure and repetition'
json\t'Everything, for programs'
openmetrics\t'Metrics for a monitoring system, as OpenMetrics text'"
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l output -d 'Write to this file instead of the terminal' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l full -d 'Print all tables instead of only the answer'
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l json -d 'Same as --format json'
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand verdict" -l sheet -d 'Write a sheet for each commitment: what was fixed in advance, the evidence, what contradicts it, what could not be observed, and the judgement. It goes to the terminal, or to FILE in the format of its extension: .html, .md or text' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand verdict" -l against -d 'Judge the commitments to a part of what a reference run reached (reference_rate_at_least = "90 %") by this run. The sheet has the SHA-256 of its record' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand verdict" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand verdict" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand verify" -l signers -d 'File with the public keys that you trust, each preceded by a name, for example `alice ssh-ed25519 AAAA…` (see ALLOWED SIGNERS in ssh-keygen(1))' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand verify" -l nonce -d 'The word that you gave before the run (`ioproof run --nonce`)' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand verify" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand check" -l published -d 'Check the published figures instead'
complete -c ioproof -n "__fish_ioproof_using_subcommand check" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l last -d 'Show only the last N operations of each phase' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l phase -d 'Show only this phase, for example `read` or `file-create`' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l csv -d 'Print comma-separated values with all columns of the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand history" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand studies; and not __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand studies; and not __fish_seen_subcommand_from show" -f -a "show" -d 'Print the text of a ready study'
complete -c ioproof -n "__fish_ioproof_using_subcommand studies; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l base -d 'Several baseline runs. A run is then one value of each figure, the median of its passes, so that what changes from run to run counts' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l with -d 'The runs to compare with those of --base' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l earlier -d 'Compare the one run that is given with the last runs in DIR that were started before it, with the same plan on the same host. A single run is told apart from twenty or more' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l last -d 'How many earlier runs are compared with at most' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l fail-if -d 'Judge a change by this limit; may be given several times. As in "read.rate drops by more than 5 %", "*.p99 rises by more than 20 %" or "small tasks=4 write.latency rises by more than 10 %": PHASE.QUANTITY, or the name of a case before it. * stands for every phase, and for any part of a name; QUANTITY is rate, latency (the mean) or a percentile. The exit status is 0 if every value is within its limit, 8 if one is beyond it, and 10 if neither can be told' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l margin -d 'The margin, in percent [default: 5]; implies --verdict' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l against-itself -d 'Compare each figure of BEFORE with itself N times, using its own repetitions, and print how often a difference is reported although there is none: by the test of differences, by the best of five and by the mean of three. Nothing is measured: BEFORE must have ten repetitions for each comparison' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l format -d 'Output format [default: text, or that of the ending of --output]' -r -f -a "text\t'A table for a terminal'
md\t'A Markdown table; with limits a short summary, as for a pull request'
json\t'JSON for programs'
html\t'The HTML report of BEFORE, with AFTER drawn as dotted lines in its charts'
junit\t'JUnit XML: a test case for each value that has a limit'"
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l output -d 'Write to this file instead of the terminal; may be given several times. Results of limits are printed as well' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l verdict -d 'Judge all rates and mean latencies: none may become worse by more than the margin. Adds to the limits of --fail-if'
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l allow-untold -d 'Exit with status 0, not 10, if it cannot be told of some values whether they are within the limit'
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -l full -d 'Print every comparison with its conditions instead of only the changes'
complete -c ioproof -n "__fish_ioproof_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l run -d 'Only the run with this directory name or id; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l study -d 'Only runs of studies whose title contains this text; `*` stands for any text' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l host -d 'Only runs on this host; `*` stands for any text' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l tag -d 'Only runs with this tag' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l since -d 'Only runs started at this time or later: 2026-11-30, or 2026-11-30T14:00. Without a time zone it is UTC' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l until -d 'Only runs started before the end of this day or minute' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l state -d 'Only runs in this state: complete, interrupted, failed, killed, running, damaged or unreadable' -r -f -a "complete\t''
interrupted\t''
failed\t''
killed\t''
running\t''
damaged\t''
unreadable\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l last -d 'Only the newest N of the runs that the other filters select' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l figure -d 'Show this figure of the selected runs over time, and the runs with which its level changed: `read.rate`, `write.latency`, `CASE read.p99`' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l format -d 'Output format' -r -f -a "text\t'A table for a terminal'
json\t'JSON for programs'
csv\t'One row for each run'
html\t'With --figure: one self-contained page with a chart'"
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l output -d 'Write to this file instead of the terminal' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l set-tag -d 'Give the selected runs this tag; may be repeated. A run with a tag is not pruned' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l remove-tag -d 'Take this tag from the selected runs; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l keep-last -d 'With --prune: keep the newest N of the selected runs' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l json -d 'Same as --format json'
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -l prune -d 'Remove the selected records, after showing them. Signed and tagged ones are only removed if named by --run; damaged, running and unfinished ones, and those with files of others, never'
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -s y -l yes -d 'With --prune: remove without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand runs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l ranks-per-node -d 'Processes on each node, which run the tasks of the study' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l wall-time -d 'Wall time that is asked for each job, for example 2h [default: from the prediction]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l like -d 'Predict from the rates measured by this run: those of the same phases in the most similar cases. Their scatter tells with --explain what the repetitions can tell' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l expect -d 'Predict from this rate, for example 2GB/s or 30000/s, or read=2GB/s for one phase only; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l account -d 'Account to charge' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l partition -d 'Partition or queue' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l setup -d 'Shell line to execute before the run, for example `module load openmpi`; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l launcher -d 'Command that starts the ranks, instead of the batch system\'s own launcher' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l mpi -d 'Path of the MPI library, as seen by the jobs, if the right one is not found automatically' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l allow-commands -d 'Agree to the commands that the study executes, by the hash that `ioproof run STUDY --explain` prints' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l program -d 'Path of the program, as seen by the jobs' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l set -d 'Override a value of the study; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l out -d 'Directory for the scripts and for the records of the jobs' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l time -d 'Scale the study so that it is predicted to take at most this time, for example 10min: sizes, durations, points and repetitions are given up, in this order, until it fits. --explain says which, and what can no longer be told' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l space -d 'Scale the study so that its files take at most this space at the same time, on all targets together, for example 10GiB' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l tasks -d 'Give up the points with more than N tasks' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l nodes -d 'Give up the points on more than N nodes. (`run --on-nodes N` keeps those on exactly N nodes, and --per-point of `batch` writes a job for each number that is left.)' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l slurm -d 'Write scripts for Slurm (sbatch)'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l pbs -d 'Write scripts for PBS Professional (qsub)'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l flux -d 'Write scripts for Flux (flux batch)'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l per-point -d 'Write a job for each number of nodes in the study, and one that merges their records [default: one job for the whole study]'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -l probe -d 'Predict the rest from a probe: up to three cases with direct transfers in the directory of each target, run from this node in passes of 300 ms. The record of the probe is kept'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -s y -l yes -d 'Accept a study with very many cases without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand batch" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand merge" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l out -d 'Directory for the record [default: ioproof-runs/DATE-TIME-import]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l as -d 'The tool, if it is not recognised: ior, ior-json, ior-csv, mdtest, md-workbench, iozone, io500, io500-summary, ioping, ioping-batch, ioping-json, gpfsperf, iohist, fio, fio-json, elbencho, elbencho-csv, elbencho-live, elbencho-json, iostat, iostat-json, nsdperf' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l title -d 'A title for reports' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -l terms -d 'Study file whose terms apply to the imported data: its commitments, claims, expectations and published figures. It needs no workload' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand import" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "list" -d 'List the figures, in one unit and as printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "show" -d 'Show everything known about a figure, statement, command line or study'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "studies" -d 'List the studies'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "claims" -d 'List statements that your own data can confirm or refute'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and not __fish_seen_subcommand_from list show studies claims misprints" -f -a "misprints" -d 'List printed figures that are wrong or contradict themselves, with the interpretation that is used'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l study -d 'Show only entries of the study with this letter or id' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l metric -d 'Show only figures of this metric, for example bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l operation -d 'Show only entries of this operation, for example read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from show" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l study -d 'Show only entries of the study with this letter or id' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l metric -d 'Show only figures of this metric, for example bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l operation -d 'Show only entries of this operation, for example read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from studies" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l study -d 'Show only entries of the study with this letter or id' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l metric -d 'Show only figures of this metric, for example bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l operation -d 'Show only entries of this operation, for example read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from claims" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l study -d 'Show only entries of the study with this letter or id' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l metric -d 'Show only figures of this metric, for example bandwidth' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l operation -d 'Show only entries of this operation, for example read' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand reference; and __fish_seen_subcommand_from misprints" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "scalability" -d 'Measured rate ÷ (devices × rate of one device)'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "tax" -d '(reference − other) ÷ reference: what one layout loses compared with another'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "balance" -d 'The share of the total rate of all targets that a number of tasks can reach'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "units" -d 'A rate in MB/s, MiB/s and transfers per second'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "drives" -d 'Number of drives that a rate needs, with parity'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "bound" -d 'The lowest of several limits, and how much of it was reached'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "job" -d 'Operations per second of a job, from its wall time'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "little" -d 'Little\'s law: operations in flight = rate × latency'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "margin" -d 'How far a measured rate is above or below a promised one'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "crossover" -d 'The number of nodes at which a growing rate overtakes a constant one'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "difference" -d 'The difference of two numbers, and its share of the first'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "statistics" -d 'Check whether printed statistics can be true'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "values" -d 'Statistics of a column of numbers'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "compare" -d 'Check whether two columns of numbers differ by more than their scatter'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "regression" -d 'A straight line through points, with its uncertainty'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and not __fish_seen_subcommand_from scalability tax balance units drives bound job little margin crossover difference statistics values compare regression curve" -f -a "curve" -d 'Peak, knee, plateau, sweet spot and regular dips of a curve'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l measured -d 'Total rate of all devices, for example 24.1GB/s' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l baseline -d 'The rate of one device' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l devices -d 'Number of devices' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -l tasks -d 'Number of tasks, for the maximum that they can reach' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from scalability" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from tax" -l reference -d 'The reference rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from tax" -l other -d 'The other rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from tax" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from balance" -l tasks -d 'Number of tasks' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from balance" -l targets -d 'Number of targets' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from balance" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from units" -l transfer -d 'Size of one transfer, for example 4KiB' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from units" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l goal -d 'The required rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l per-drive -d 'The rate of one drive; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l data -d 'Data drives of one stripe' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -l parity -d 'Parity drives of one stripe' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from drives" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from bound" -l limit -d 'A limit, for example drives=60x120000/s; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from bound" -l measured -d 'The measured rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from bound" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -l tasks -d 'Number of tasks' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -l operations -d 'Number of operations of each task' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -l seconds -d 'Wall time of the job in seconds' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from job" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -l rate -d 'Operations per second, for example 1200000/s' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -l latency -d 'Mean latency, for example 50us' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -l in-flight -d 'Operations that were in flight' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from little" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from margin" -l promised -d 'The promised rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from margin" -l measured -d 'The measured rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from margin" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from crossover" -l slope -d 'The rate that each node adds' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from crossover" -l plateau -d 'The constant rate' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from crossover" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from difference" -l before -d 'The first number' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from difference" -l after -d 'The second number' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from difference" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand calc; and __fish_seen_subcommand_from statistics" -s n -l n -d 'Number of values' -r
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
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from list show check fit schema" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from list show check fit schema" -f -a "list" -d 'List the models that come with the program, with the studies that they are for'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from list show check fit schema" -f -a "show" -d 'Show what a model describes, and its maximum performance: every limit, the bottleneck, saturation'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from list show check fit schema" -f -a "check" -d 'Check whether a file is a valid model, and list all mistakes'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from list show check fit schema" -f -a "fit" -d 'Fit a model to the sweeps of a run over depth, tasks or transfer size'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and not __fish_seen_subcommand_from list show check fit schema" -f -a "schema" -d 'Print the JSON schema of model files'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l nodes -d 'Numbers of nodes [default: one, and all nodes of the model]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l transfer -d 'Transfer sizes, each for random and sequential access [default: 4 KiB random, 1 MiB sequential]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l tasks -d 'Tasks on each node, each with its own file [default: as many as needed]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -l depth -d 'With --tasks: transfers that each task has in flight' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l workload -d 'The workload whose sweep is used, where the run has several' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l target -d 'The target whose sweep is used, where the run has several' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l out -d 'Write the model to this file instead of the terminal' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l seed -d 'Seed for the samples of the intervals' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -l in-range -d 'Accept a model that is not shown to be valid outside the measured range'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from fit" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand model; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand clean" -s y -l yes -d 'Remove without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand clean" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "facts" -d 'Describe this host: processors, memory, devices and their slots, file systems, network, volumes'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "check" -d 'Compare the settings of this host with those advised for measuring storage; each piece of advice has its reason and source'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "tune" -d 'Apply the settings of a profile, after showing every write; the previous settings are kept. Needs root'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "restore" -d 'Restore the settings from before `host tune`. Needs root'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and not __fish_seen_subcommand_from facts check tune restore topology" -f -a "topology" -d 'Draw the cells of a site from a description: servers, cards of each socket, controllers, drives'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from facts" -l root -d 'Read /proc, /sys and /etc below this directory, for example that of a support bundle' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from facts" -l json -d 'Print as JSON; `ioproof schema host` describes it'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from facts" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l device -d 'Devices to check: a device\'s path or name, a directory on it, or `all` [default: all]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l lustre-params -d 'File with the output of `lctl get_param obdfilter.*.read_cache_enable` on Lustre servers, for example from `pdsh`' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l root -d 'Read /proc, /sys, /dev and /etc below this directory, for example that of a support bundle' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l strict -d 'Exit with status 3 if a finding is a warning'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l json -d 'Print as JSON'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -l list -d 'List the profiles and exit'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l device -d 'Devices whose settings may be changed: a device\'s path or name, a directory on it, or `all`' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l root -d 'Read and write /proc, /sys, /dev and /etc below this directory' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l state -d 'Directory for the previous settings [default: $IOPROOF_STATE, or var/lib/ioproof below the root]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l plan -d 'Show every write and exit'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l yes -d 'Do not ask for confirmation'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -l persist -d 'Also apply the settings at each boot, by a script and a systemd unit or a line in /etc/rc.local, which are shown before they are written and removed by `host restore`'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from tune" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l root -d 'Read and write /proc, /sys, /dev and /etc below this directory' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l state -d 'Directory with the previous settings [default: $IOPROOF_STATE, or var/lib/ioproof below the root]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l plan -d 'Show what would be written and exit'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l yes -d 'Do not ask for confirmation'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -l force -d 'Also restore settings that somebody else has changed since'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from restore" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand host; and __fish_seen_subcommand_from topology" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "plan" -d 'Print every command with its purpose and its published source, and how to undo it; writes nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "create" -d 'Create a layout of devices; all data on them is lost. Needs root, except for raw, lustre, existing and own'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "verify" -d 'Read back what exists, and report what differs from the layout'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "destroy" -d 'Unmount, stop and wipe a layout; all data on it is lost. Needs root'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "list" -d 'List all existing layouts, complete or partly built'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and not __fish_seen_subcommand_from plan create verify destroy list clean" -f -a "clean" -d 'Dismantle the layouts that killed programs left; needs the same rights as creating them'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l study -d 'Take the layout with this name from a study file' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l allow-commands -d 'Agree to the commands of a study\'s layout, by the hash that `layout plan` prints' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l set -d 'Override a value of the study, for example \'layout.md.chunk="64KiB"\'; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l device -d 'A device by path, serial number or WWN, in the order of the members; its data is lost; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l mount -d 'Mount point; for lustre and existing, the directory itself' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l name -d 'Name of the layout [default: the recipe]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l title -d 'Title in the plan and in reports' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l stands-for -d 'The published layout that it represents' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l file-system -d 'per-device, md, imsm, lvm: xfs, ext4 or btrfs; gpfs: the name of the file system [default: xfs]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l mkfs-option -d 'An argument for mkfs, for example --mkfs-option=-d --mkfs-option=su=128k,sw=1; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l mount-options -d 'Mount options, for example noatime,nodiratime' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l chunk -d 'md, imsm: chunk size, the bytes on one member before the next' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l node -d 'md, imsm: path of the array' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l stripe -d 'lvm, lustre: stripe size, the bytes on one device before the next; required for lvm' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l group -d 'lvm: the volume group' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l volume -d 'lvm: a volume, with its size or an equal share of the remaining space; may be repeated [default: data]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l block -d 'gpfs: the block size' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l nodes -d 'gpfs: number of nodes that will mount it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l nsd-list -d 'gpfs: the file that lists the NSDs' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l stripe-count -d 'lustre: number of targets over which a file is striped' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l first -d 'lustre: index of the target on which a file starts' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l create -d 'own: a command that creates the layout, with {devices}, {device0} … and {mount}; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l check -d 'own: a command that exits with status 0 if the layout is correct; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l destroy -d 'own: a command that dismantles the layout; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l destroy-data-on -d 'The word unknown-data: agree to lose data without a known signature as well' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -l state -d 'Directory for the ledgers of existing layouts [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from plan" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l study -d 'Take the layout with this name from a study file' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l allow-commands -d 'Agree to the commands of a study\'s layout, by the hash that `layout plan` prints' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l set -d 'Override a value of the study, for example \'layout.md.chunk="64KiB"\'; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l device -d 'A device by path, serial number or WWN, in the order of the members; its data is lost; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l mount -d 'Mount point; for lustre and existing, the directory itself' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l name -d 'Name of the layout [default: the recipe]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l title -d 'Title in the plan and in reports' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l stands-for -d 'The published layout that it represents' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l file-system -d 'per-device, md, imsm, lvm: xfs, ext4 or btrfs; gpfs: the name of the file system [default: xfs]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l mkfs-option -d 'An argument for mkfs, for example --mkfs-option=-d --mkfs-option=su=128k,sw=1; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l mount-options -d 'Mount options, for example noatime,nodiratime' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l chunk -d 'md, imsm: chunk size, the bytes on one member before the next' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l node -d 'md, imsm: path of the array' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l stripe -d 'lvm, lustre: stripe size, the bytes on one device before the next; required for lvm' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l group -d 'lvm: the volume group' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l volume -d 'lvm: a volume, with its size or an equal share of the remaining space; may be repeated [default: data]' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l block -d 'gpfs: the block size' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l nodes -d 'gpfs: number of nodes that will mount it' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l nsd-list -d 'gpfs: the file that lists the NSDs' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l stripe-count -d 'lustre: number of targets over which a file is striped' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l first -d 'lustre: index of the target on which a file starts' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l create -d 'own: a command that creates the layout, with {devices}, {device0} … and {mount}; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l check -d 'own: a command that exits with status 0 if the layout is correct; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l destroy -d 'own: a command that dismantles the layout; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l destroy-data-on -d 'The word unknown-data: agree to lose data without a known signature as well' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -l state -d 'Directory for the ledgers of existing layouts [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -s y -l yes -d 'Do not ask for confirmation'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from verify" -l state -d 'Directory for the ledgers of existing layouts [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from destroy" -l state -d 'Directory for the ledgers of existing layouts [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from destroy" -s y -l yes -d 'Do not ask for confirmation'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from destroy" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from list" -l state -d 'Directory for the ledgers of existing layouts [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -l forget -d 'Only remove this layout from the ledger, and undo nothing: for a device that is gone for good' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -l state -d 'Directory for the ledgers of existing layouts [default: /var/lib/ioproof, or ~/.local/state/ioproof for users]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -s y -l yes -d 'Do not ask for confirmation'
complete -c ioproof -n "__fish_ioproof_using_subcommand layout; and __fish_seen_subcommand_from clean" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand overhead" -s q -l quiet -d 'Do not print the path of the record and the progress on standard error; warnings are still printed' -r -f -a "true\t''
false\t''"
complete -c ioproof -n "__fish_ioproof_using_subcommand overhead" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand config" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand completions" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand man" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand generate" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s a -d 'POSIX, MMAP, DUMMY or AIO (libaio)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s A -d 'number to print in the summary'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s b -d 'contiguous bytes per task'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s B -l posix.odirect -l aio.odirect -d 'direct I/O, bypassing the page cache'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s C -d 'each task reads what another task wrote'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s d -d 'seconds of pause before each phase; a fraction is truncated'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s D -d 'seconds after which each task stops'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s e -d 'fsync after a task\'s last write, inside the timed close'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s E -d 'overwrite existing files'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s f -d 'a script of tests'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s F -d 'one file per task'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s g -d 'tasks wait for each other between open, I/O and close'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s G -d 'signature of the data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s h -l help -d 'print this help'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s H -l mpiio.showHints -d 'show hints of MPI-IO: files have no hints outside MPI-IO'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s i -d 'number of repetitions of the test'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s j -d 'warn about a task that is more than this many seconds from the mean'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s k -d 'keep the files'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s K -d 'keep files in which a check found errors'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s l -l dataPacketType -d 'offset, incompressible, timestamp or random: every transfer is incompressible and stamped with its file, offset, signature and generation'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s m -d 'separate files for each repetition, with its number at the end of the name'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s M -d 'memory of the node to hold during the run'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s N -d 'number of tasks'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s o -d 'the file, or several joined by @'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s O -d 'directives: any name in this list with a value'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s p -l mpiio.preallocate -d 'allocate the space (posix_fallocate) before the write; IOR does so with MPI-IO only'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s q -d 'stop at the first wrong byte'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s Q -d 'shift of -C, and minimum shift of -Z'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s r -d 'read'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s R -d 'read, read again and compare; the check is not timed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s s -d 'blocks per task'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s t -d 'bytes per I/O call'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s T -d 'minutes after which no phase starts'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s u -d 'one directory per task for its file'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s v -d 'increase verbosity, up to five times'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s w -d 'write'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s W -d 'read what was written and compare; not timed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s x -d 'a short transfer is an error and is not continued'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s X -d 'seed of -Z'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s y -d 'tasks on even nodes use FILE0/data, those on odd nodes FILE1/data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s Y -d 'fsync after each write, included in the latency of that transfer'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s z -d 'random offsets over the whole file, each once; twice: random blocks of an existing file, for -r only'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -s Z -d 'each task reads a random other task\'s data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l version -d 'print the version'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l dryRun -d 'print the plan without moving data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l warningAsErrors -d 'a warning makes the run fail'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l random-offset-seed -d 'seed of -z'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l aio.max-pending -d 'transfers in flight for each task, with -a AIO'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l aio.granularity -d 'number of transfers submitted at once: each transfer is submitted as soon as fewer than the maximum are in flight'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l dummy.delay-only-rank0 -d 'a delay of DUMMY: the DUMMY backend measures the overhead of the harness, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l dummy.delay-close -l dummy.delay-sync -l dummy.delay-xfer -d 'a delay of DUMMY: the DUMMY backend measures the overhead of the harness, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l compat -d 'release whose tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l verify -d 'compare the data of every read, inside the timed phase'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l fadvise -d 'access advice to the kernel after open'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l tasks-per-rank -d 'tasks of each process of a launcher [default: 1]'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l no-progress -d 'do not show progress on stderr'
complete -c ioproof -n "__fish_ioproof_using_subcommand ior" -l destroy-data-on -d 'allow the data on a block device to be destroyed'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -s h -l help -d 'print this help'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -s l -l list -d 'print every option of CONFIG.ini, with defaults'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l list-mandatory -d 'the same, without the phases of the extended mode'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l config-hash -d 'print the hash of CONFIG.ini'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l cleanup -d 'run only the phases that remove files'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l dry-run -d 'write the results without running any phase'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l mode -d 'standard, or extended with md-workbench, more searches and random reads of 4 KiB'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l timestamp -d 'name of the directories of this run'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -s v -d 'more lines in result.txt; may be repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l verbose -d 'verbosity, from 0 to 10, instead of that in CONFIG.ini'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l resume -d 'resume an interrupted run; phases with a complete record are not repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l verify -d 'check the hashes of FILE, a result.txt, against CONFIG.ini'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l tasks-per-rank -d 'tasks of each process of a launcher [default: 1]'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand io500" -l no-progress -d 'do not show progress on stderr'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s A -l async -d 'requests by io_uring, one at a time (ioping: io_submit); needs -C or -D, as nothing can be done before each request'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s C -l cached -d 'allow the page cache to serve reads, and writes to stay in it'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s D -l direct -d 'direct I/O, bypassing the page cache (O_DIRECT)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s G -l read-write -d 'alternate writes and reads'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s L -l linear -d 'ascending offsets, with requests of 256k unless -s is given'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s W -l write -d 'write, with fdatasync after each write unless -C is given; a file or device needs -WWW, and a device also --destroy-data-on'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s Y -l sync -d 'each write is on stable storage within its time: with -C by O_SYNC, otherwise by fsync (ioping: O_SYNC and fdatasync)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s y -l dsync -d 'the same for data only: with -C by O_DSYNC, otherwise by fdatasync (ioping: O_DSYNC and fdatasync)'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s R -l rapid -d 'as fast as possible for 3 s within 64m, without a line for each request'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s k -l keep -d 'keep and reuse the file in the directory, which is called ioping.tmp'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s a -l warmup -d 'number of first requests to exclude from the statistics'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s c -l count -d 'stop after this many requests'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s e -l entropy -d 'seed of the random offsets; 0 is the same as 1'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s i -l interval -d 'time from the start of a request to the start of the next [default: 1s]'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s s -l size -d 'bytes per request [default: 4k]'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s S -l work-size -d 'bytes that the requests are spread over [default: 1m, or the whole file or device]'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s w -l work-time -d 'stop after this time'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s l -l speed-limit -d 'maximum bytes per second: sets the interval, or lengthens that of -i'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s r -l rate-limit -d 'maximum requests per second: sets the interval, or lengthens that of -i'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s t -l min-time -d 'exclude faster requests from the statistics'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s T -l max-time -d 'exclude slower requests from the statistics'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s B -l batch -d 'print only one line of raw numbers at the end'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s I -l time -d 'print the time before each request, by default as `Jan 01 00:00:00`'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s J -l json -d 'print JSON at the end of the run'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s p -l print-count -d 'print raw numbers once per this number of requests'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s P -l print-interval -d 'print raw numbers once per this time'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s q -l quiet -d 'no line for each request'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s h -l help -d 'print this help and exit'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -s v -l version -d 'print the version and exit'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l compat -d 'release whose tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l tasks-per-rank -d 'tasks of each process of a launcher [default: 1]'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand ioping" -l no-progress -d 'do not show progress on stderr'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s a -l api -d 'POSIX or DUMMY (no I/O at all)'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s b -d 'subdirectories of each directory of the tree'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s B -d 'no barriers between phases: the tasks of a phase always start together, because each phase has its own figures'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s c -d 'task 0 creates and removes the trees of all tasks'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s C -d 'create; without any of -C -T -E -r -U all phases run'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s d -d 'directory of the test; of n, task t uses number t mod n'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s D -d 'directories only'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s e -d 'bytes to read from each file; with 0, it is only opened and closed'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s E -d 'read'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s f -d 'first number of tasks, with -l'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s F -d 'files only'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s G -d 'signature of the data'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s h -l help -d 'print this help'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s i -d 'number of iterations of all phases, each in its own tree'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s I -d 'items per task in each directory that has any'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s k -d 'create files by mknod(2)'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s l -d 'last number of tasks, with -f and -s'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s L -d 'items only on the lowest level of the tree'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s n -d 'total items per task'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s N -d 'each phase works on the items of the task this many numbers further on'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s p -d 'seconds of pause before each iteration'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s P -d 'print rates and times'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s r -d 'remove'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s R -d 'stat items in a random order'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s s -d 'step from one number of tasks to the next, with -l'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s S -d 'all tasks use the same files'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s t -d 'measure the cost of unique directories: each call uses the whole path of its item, from -d on, as without this option: no task changes its directory'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s T -d 'stat items'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s u -d 'each task has its own tree'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s U -d 'rename directories'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s v -d 'increase verbosity; may be repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s V -d 'verbosity'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s w -d 'bytes to write to each file'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s W -d 'seconds after which each task creates files only until it has as many as the fastest'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s x -d 'file for the number of files, written by -C -W and read by later phases'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s X -l verify-read -d 'compare the data read with the data written'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s y -d 'fsync each file after it is written'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s Y -d 'sync(2) at the end of each phase, included in its time'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s z -d 'levels of directories below the topmost one'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -s Z -d 'print times instead of rates; in published command lines of 1.9.3 a local patch'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l random-seed -d 'seed of -R'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l saveRankPerformanceDetails -d 'file for one row per task'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l showRankStatistics -d 'print statistics over tasks as well'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l dataPacketType -d 'offset, incompressible, timestamp or random'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l print-all-procs -d 'all processes print their results: the rows of all tasks are in the record: --saveRankPerformanceDetails=FILE, or `ioproof report RUNDIR`'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l warningAsErrors -d 'fail the run on a warning: an error ends the run in any case; warnings about figures are printed beside them, and `ioproof check RUNDIR` fails if a figure cannot be trusted'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l posix.odirect -d 'opens files with O_DIRECT; the file system decides which sizes it takes'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l dummy.delay-only-rank0 -d 'a delay of DUMMY: the DUMMY backend measures the overhead of the harness, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l dummy.delay-close -l dummy.delay-sync -l dummy.delay-xfer -d 'a delay of DUMMY: the DUMMY backend measures the overhead of the harness, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l compat -d 'release whose tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l tasks-per-rank -d 'tasks of each process of a launcher [default: 1]'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand mdtest" -l no-progress -d 'do not show progress on stderr'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s O -l offset -d 'distance to the task on whose sets a task works'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s a -l api -d 'POSIX or DUMMY (no I/O at all)'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s I -l obj-per-proc -d 'steps per set in each round'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s P -l precreate-per-set -d 'objects per set before the rounds'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s D -l data-sets -d 'sets per task'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s G -d 'signature of the data'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s o -d 'directory of the sets'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s S -l object-size -d 'bytes per object'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s R -l iterations -d 'rounds of the benchmark'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s t -l waiting-time -d 'pause after each step, as a multiple of its duration'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s T -l adaptive-waiting -d 'rounds with increasing pauses, from 0 to 4'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s w -l stonewall-timer -d 'seconds after which a round ends'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s W -l stonewall-wear-out -d 'after -w, all tasks continue to as many steps as the fastest'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s 1 -l run-precreate -d 'create the sets; without -1 -2 -3 all run'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s 2 -l run-benchmark -d 'cycle through the objects'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s 3 -l run-cleanup -d 'remove the sets'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s X -l verify-read -d 'compare the data read with the data written'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l read-only -d 'steps only stat and read'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l start-item -d 'with -2 or -3: steps done so far in each set [default: as in --run-info-file]'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l dataPacketType -d 'offset, incompressible, timestamp or random; data are always incompressible and stamped'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l run-info-file -d 'file for the number of steps done in each set, for a later command line with -2 or -3 [default: md-workbench.status]'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l ignore-precreate-errors -d 'create objects in sets that already exist, and count the existing ones'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s L -l latency -d 'one file per round and operation with latencies of the first task, such as lat-0.00-0-create.csv'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l latency-all -d 'the latencies of all tasks, such as lat-0.00-0-create-all.csv'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s q -l quiet -d 'print only the lines of phases'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l print-detailed-stats -d 'print a machine-readable table'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s h -l help -d 'print this help'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -s v -l verbose -d 'name every operation: a study with `history` can keep the last operations of each process in the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l process-reports -d 'a line for each process: the times of all tasks are in the record: `ioproof report RUNDIR`'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l posix.odirect -d 'opens objects with O_DIRECT; the file system decides which sizes it takes'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l dummy.delay-only-rank0 -d 'a delay of DUMMY: the DUMMY backend measures the overhead of the harness, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l dummy.delay-close -l dummy.delay-sync -l dummy.delay-xfer -d 'a delay of DUMMY: the DUMMY backend measures the overhead of the harness, so it adds no delays'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l compat -d 'release whose tables are printed'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l tasks-per-rank -d 'tasks of each process of a launcher [default: 1]'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand md-workbench" -l no-progress -d 'do not show progress on stderr'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s a -d 'automatic mode: files of 64 kB to 512 MB, records of 4 kB to 16 MB, each twice the previous size; records below 64 kB only for files below 32 MB, unless -y or -q is given'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s A -d 'automatic mode with small records for large files as well; without -i, only -i 0 and -i 1. Obsolete in IOzone: use -az -i 0 -i 1'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s b -d 'also write the report of -R to this file as text; IOzone writes a binary worksheet, which current spreadsheets no longer need'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s B -d 'shared memory mappings; without the fwrite and fread tests, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s c -d 'include the close in the time of a test'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s C -d 'print a line for each process of a throughput test'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s D -d 'no effect: the kernel writes back a shared mapping as with MS_ASYNC, for which Linux does nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s e -d 'include the fsync in the time of a test, and with it the close'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s E -d 'add the columns of pwrite, pread, pwritev and preadv, which IOzone has only with -E'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s f -d 'file of single and automatic mode [default: iozone.tmp]'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s F -d 'files of the processes in throughput mode, one for each [default: iozone.DUMMY.0 and so on]'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s g -d 'largest file of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s G -d 'no effect: with -e the mapping is synced in the timed close'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s h -d 'print this help'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s H -d 'as -k: io_uring instead of POSIX asynchronous I/O, without an additional copy of the data'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s i -d '0 write, rewrite; 1 read, reread; 2 random read, write; 3 backward read; 4 record rewrite; 5 stride read; 6 fwrite; 7 fread; 8 mix (throughput mode); 9 pwrite; 10 pread; 11 pwritev; 12 preadv. May be repeated [default: all]'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s I -d 'O_DIRECT; the fwrite and fread tests stay buffered, because streams have their own buffers'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s j -d 'stride of test 5 in records [default: 17]. Each record is read once; IOzone reads some twice and the last ones not at all'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s k -d 'io_uring instead of POSIX asynchronous I/O, with this many transfers in flight; without the fwrite and fread tests, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s l -d 'smallest number of processes in throughput mode'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s L -d 'only printed; buffers always start at a page boundary'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s m -d 'no effect: each transfer in flight has its own buffer anyway'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s M -d 'print the host\'s name and kernel in the output'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s n -d 'smallest file of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s N -d 'microseconds per record; not in throughput mode, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s o -d 'open with O_SYNC: each write is on stable storage when it ends; fwrite tests and mappings (-B), which write later than their calls, use fsync after each call'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s O -d 'records per second'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s p -d 'no effect: buffers are stamped anew for each write, so no processor cache holds the data to be written'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s q -d 'largest record of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s Q -d 'keep each operation\'s offset and latency in the record (`ioproof history`); IOzone\'s .dat files are not written'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s r -d 'record size (kB, or with k, m, g) [default: 4 kB]. May be repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s R -d 'print a report for spreadsheets at the end of the output'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s s -d 'file size of each process (kB, or with k, m, g) [default: 512 kB]. May be repeated. A remainder smaller than a record is left out, as in IOzone'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s S -d 'only printed; nothing depends on it'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s t -d 'throughput mode: this many processes at once, which are threads of this program or of the processes started by a launcher. May be repeated'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s T -d 'no effect: processes of a throughput test are threads here'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s u -d 'largest number of processes in throughput mode; all numbers from -l on are tried'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s U -d 'instead of unmounting, which would affect all users of the file system, caches are written back and dropped before each test that reads (needs root)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s v -d 'print the version'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s V -d 'compare the data read with the data written, by stamps instead of the pattern; stamps also reveal stale and misplaced data'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s w -d 'keep the files'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s x -d 'count all processes to their end. They always continue to their end here; without -x, only `Min xfer` refers to the moment when the first one finished'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s y -d 'smallest record of automatic mode (kB, or with k, m, g)'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -s z -d 'with -a: small records for large files as well'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l verify -d 'compare the data of every read, inside the timed phase'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l tasks-per-rank -d 'processes of the line on each process of a launcher [default: 1]'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand iozone" -l no-progress -d 'do not show progress on stderr'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s r -d 'record size (k, m, g are powers of 1024) [default: block size that the file system reports]'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s n -d 'total bytes moved by all threads [default: size of the file]. If this is more than the file has, records are accessed again. A remainder that is not a whole record for every thread is skipped, with a warning'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s s -d 'with strided: bytes from one access of a thread to its next [default: one record for each thread]'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s v -d 'no effect: --explain describes every option'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -s h -d 'print this help'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l compat -d 'release whose report is printed; before 4, a Kbyte is 1024 bytes'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand gpfsperf" -l no-progress -d 'do not show progress on stderr'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s r -d 'record size (k, m, g are powers of 1024) [default: block size that the file system reports]'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s n -d 'total bytes moved by all threads [default: size of the file]. If this is more than the file has, records are accessed again. A remainder that is not a whole record for every thread is skipped, with a warning'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s s -d 'with strided: bytes from one access of a thread to its next [default: one record for each thread]'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s v -d 'no effect: --explain describes every option'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -s h -d 'print this help'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l explain -d 'print the plan and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l out -d 'directory for the record'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l compat -d 'release whose report is printed; before 4, a Kbyte is 1024 bytes'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l yes -d 'do not ask for confirmation: existing files may lose their data'
complete -c ioproof -n "__fish_ioproof_using_subcommand tsqosperf" -l no-progress -d 'do not show progress on stderr'
