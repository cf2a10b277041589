"""A recipe for Spack 1.0 and later; docs/INSTALL.md has the commands."""

from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *


class Ioproof(CargoPackage):
    """Measures what a storage system can really do, and documents the evidence: latency of every
    transfer, counters of the devices, and reports with the doubts. Accepts the command lines of IOR,
    mdtest, md-workbench, ioping, iozone, gpfsperf and IO500."""

    homepage = "https://github.com/ioproof/ioproof"
    git = "https://github.com/ioproof/ioproof.git"

    license("Apache-2.0 OR MIT")

    version("main", branch="main")

    # rust-version in Cargo.toml.
    depends_on("rust@1.95:", type="build")
    depends_on("c", type="build")

    # MPI is no dependency: the library of the site is loaded when a launcher started the program.

    # What the program does when it is called by these names; below lib, so that no other package is hidden.
    tools = ("gpfsperf", "io500", "ioping", "ior", "iozone", "md-workbench", "mdtest", "tsqosperf")

    @property
    def build_args(self):
        return ["--locked"]

    @run_after("install")
    def install_the_rest(self):
        names = join_path(self.prefix.lib, "ioproof", "bin")
        mkdirp(names)
        for tool in self.tools:
            symlink(join_path("..", "..", "..", "bin", "ioproof"), join_path(names, tool))
        man, completions = self.prefix.share.man.man1, "completions"
        mkdirp(man)
        for page in find("man", "*.1"):
            install(page, man)
        for source, place, name in (
            ("ioproof.bash", join_path("bash-completion", "completions"), "ioproof"),
            ("_ioproof", join_path("zsh", "site-functions"), "_ioproof"),
            ("ioproof.fish", join_path("fish", "vendor_completions.d"), "ioproof.fish"),
        ):
            mkdirp(join_path(self.prefix.share, place))
            install(join_path(completions, source), join_path(self.prefix.share, place, name))
        install_tree("studies", join_path(self.prefix.share, "ioproof", "studies"))

    def check(self):
        """The tests need devices and packages that a build does not have: ./check in a clone runs them."""

    def test_starts(self):
        """it starts, also by the name of another tool"""
        Executable(self.prefix.bin.ioproof)("--version")
        Executable(join_path(self.prefix.lib, "ioproof", "bin", "ior"))("-h")
