"""Packages that an application needs: what is there, and what is brought."""

import os
import shutil
import subprocess

from running import BUILD

ROOT = BUILD / "apps/root"
COMPILERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}


class NotInstalled(Exception):
    """A package that is not there and can't be brought."""


def command(*words, **variables):
    """A command's output; an error names its last line."""
    done = subprocess.run(
        words, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise NotInstalled(f"{' '.join(words[:3])} ...: {lines[-1] if lines else done.returncode}")
    return done.stdout


def version_of(package):
    """The version of an installed Debian package, or nothing."""
    try:
        status, _, version = command("dpkg-query", "-W", "-f", "${db:Status-Abbrev}|${Version}", package).partition("|")
    except (NotInstalled, FileNotFoundError):
        return None
    return version if status.startswith("ii") else None


def bring(application, say):
    """Installs what is missing, and says so; returns the version of what is tried."""
    missing = [one for one in application.packages if version_of(one) is None]
    if missing:
        say(f"{application.name}: installing {' '.join(missing)} from Debian")
        if not shutil.which("apt-get") or os.geteuid() != 0:
            raise NotInstalled(f"run as root: apt-get install -y --no-install-recommends {' '.join(missing)}")
        apt = ["apt-get", "-o", "DPkg::Lock::Timeout=600", "-y", "--no-install-recommends"]
        command(*apt, "install", *missing, DEBIAN_FRONTEND="noninteractive")
    for package in application.unpacked:
        unpack(package, say)
    if application.pypi:
        bring_from_pypi(application, say)
    version = version_of(application.version)
    return version if version else pypi_version(application)


def unpack(package, say):
    """Puts a package's files under build/apps/root, without what it depends on: headers and examples."""
    mark = ROOT / f".{package}"
    if mark.exists() or version_of(package):
        return
    say(f"unpacking {package} from Debian in build/apps/root")
    folder = BUILD / "apps/downloaded"
    folder.mkdir(parents=True, exist_ok=True)
    # apt's own user may not write there, and root does.
    options = ["-o", "APT::Sandbox::User=root"]
    subprocess.run(["apt-get", *options, "download", package], cwd=folder, capture_output=True, check=False)
    archives = sorted(folder.glob(f"{package}_*.deb"))
    if not archives:
        raise NotInstalled(f"apt-get download {package} brought nothing")
    ROOT.mkdir(parents=True, exist_ok=True)
    command("dpkg", "-x", str(archives[-1]), str(ROOT))
    mark.touch()


def environment_of(mpi):
    """The Python environment for packages that are compiled for one MPI."""
    return BUILD / f"apps/venv-{mpi}"


def bring_from_pypi(application, say):
    """Installs Python packages, compiled for this MPI, in an environment of their own."""
    environment = environment_of(application.mpi)
    if not environment.exists():
        command("/usr/bin/python3", "-m", "venv", str(environment))
    pip = [str(environment / "bin/pip"), "--disable-pip-version-check"]
    there = command(*pip, "freeze").lower().replace("_", "-")
    missing = [one for one in application.pypi if one.lower() not in there]
    if missing:
        say(f"{application.name}: installing {' '.join(missing)} from PyPI for {application.mpi}")
        for one in missing:
            source = ["--no-binary", "mpi4py,mpi4py-fft"]
            command(*pip, "install", *source, one, MPICC=shutil.which(COMPILERS[application.mpi]) or "mpicc", CFLAGS="-O0")


def pypi_version(application):
    """The version of a package of PyPI's, as it is asked for, or what the catalogue has."""
    for one in application.pypi:
        name, _, version = one.partition("==")
        if name == application.version.partition("==")[0]:
            return version
    return application.version
