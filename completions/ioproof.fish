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
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "ior" -d 'Take IOR\'s own command line; `ioproof ior -h` lists it'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "report" -d 'Print the tables of a run again, and write its report'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "clean" -d 'Show and remove what a killed run left under a directory'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "overhead" -d 'Measure what the instrument itself costs on this host'
complete -c ioproof -n "__fish_ioproof_needs_command" -f -a "generate" -d 'Write the man pages and shell completions into a directory'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l quick -d 'Characterise the storage under this directory in about a minute' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l out -d 'Where the record goes [default: ioproof-runs/DATE-TIME-NAME]' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l destroy-data-on -d 'Give up the data on a block device, named by serial number, WWN or path; may be repeated' -r
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s y -l yes -d 'Start without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -l explain -d 'Print what would be done, with files, bytes and seconds, and write nothing'
complete -c ioproof -n "__fish_ioproof_using_subcommand run" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l format -d 'One format only [default: print the tables and write html, md, csv and json into RUNDIR]' -r -f -a "text\t'Tables for a terminal'
html\t'One self-contained page with charts'
md\t'Markdown tables'
csv\t'One row for each figure and repetition'
json\t'Everything, for programs'
openmetrics\t'The figures for monitoring, as OpenMetrics text'"
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -l output -d 'Write to this file instead of the terminal' -r -F
complete -c ioproof -n "__fish_ioproof_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c ioproof -n "__fish_ioproof_using_subcommand clean" -s y -l yes -d 'Remove without asking'
complete -c ioproof -n "__fish_ioproof_using_subcommand clean" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand overhead" -s h -l help -d 'Print help'
complete -c ioproof -n "__fish_ioproof_using_subcommand generate" -s h -l help -d 'Print help'
