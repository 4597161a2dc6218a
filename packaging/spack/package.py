# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

import os

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Treepie(Package):
    """Profile, place and replay MPI jobs by preloading: counts who sends how much to whom, computes
    which rank belongs on which core, and runs the same binary in that order."""

    homepage = "https://github.com/treepie/treepie"
    git = "https://github.com/treepie/treepie.git"

    maintainers("treepie")

    license("MIT OR Apache-2.0", checked_by="treepie")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    # No mpi: one library serves every MPI, which it meets in the job.
    depends_on("c", type="build")
    depends_on("rust@1.90:", type="build")
    depends_on("hwloc@2:")
    depends_on("pkgconfig", type="build")
    depends_on("binutils", type="build")

    def setup_build_environment(self, env):
        # The library travels with jobs to other processors than this one's.
        env.unset("RUSTFLAGS")
        env.set("CARGO_HOME", join_path(self.stage.path, "cargo"))

    def install(self, spec, prefix):
        which("bash", required=True)("scripts/build", "--product")
        which("bash", required=True)("scripts/install", "--no-debug", "--prefix", prefix)

    def setup_run_environment(self, env):
        env.set("TREEPIE_LIBRARY", join_path(self.prefix.lib, "treepie", "libtreepie.so"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        treepie = Executable(self.prefix.bin.treepie)
        assert "procedures of Open MPI" in treepie("--version", output=str)

    def test_preload(self):
        """a program without MPI runs as it would with the library preloaded"""
        echo = which("echo", required=True)
        library = join_path(self.prefix.lib, "treepie", "libtreepie.so")
        assert os.path.exists(library)
        assert "ok" in echo("ok", output=str, error=str, env={"LD_PRELOAD": library})
