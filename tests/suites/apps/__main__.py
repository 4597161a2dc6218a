"""Runs applications that nobody here wrote, plain and in every mode of the library: scripts/apps."""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import time

import catalogue
import gaining
import gains
import installing
import modes
import table
import trying
from running import BUILD

GOOD = {"same", "varies", "n/a"}


def say(line):
    print(line, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/apps", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="applications (all, unless named)")
    parser.add_argument("--modes", help=f"of {','.join(modes.MODES)} (all); nothing: plain runs alone")
    parser.add_argument("--mpi", choices=list(catalogue.MPIS), help="one MPI alone")
    parser.add_argument("--tier", type=int, help="those of a tier: 1 is what each change runs")
    parser.add_argument("--plain-once", action="store_true", help="one plain run, unless a mode differs from it")
    parser.add_argument("--sample", type=int, default=1, help="of a suite's list, one program in so many (all)")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000, help="of permutations")
    parser.add_argument("--list", action="store_true", help="name the applications, and end")
    parser.add_argument("--install", action="store_true", help="install what they need, and end")
    parser.add_argument("--record", action="store_true", help="add the outcome to profiles/figures, and make the table")
    parser.add_argument("--table", action="store_true", help="make the table of what was recorded, and end")
    gain = parser.add_argument_group("what applications gain")
    gain.add_argument("--gain", action="store_true", help="measure gains on emulated networks instead (as root)")
    gain.add_argument("--networks", default="cluster,grid", help="of cluster,grid, or host: what the library costs")
    gain.add_argument("--orders", default="launcher,dealt", help="of launcher,dealt: how ranks are on hosts")
    gain.add_argument("--pairs", type=int, default=6, help="runs of each variant, in turn (6)")
    gain.add_argument("--learn", type=int, default=5, help="runs of `treepie run` before (5)")
    gain.add_argument("--variants", default="off,counted,placed,collectives,both,run", help="beside the plain job")
    return parser.parse_args()


def chosen(names, mpis, tier):
    for name in names or catalogue.names():
        for mpi in mpis:
            application = catalogue.read(name, mpi)
            if application and (tier is None or application.tier == tier):
                yield application


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty=+"], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def lines(application, version, tried, options):
    """What is recorded of an application: a line for each mode."""
    for mode, one in tried.items():
        yield {
            "bench": "applications",
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "commit": commit(),
            "machine": f"{os.cpu_count()} cores, Linux {platform.release()}",
            "application": application.name,
            "version": version,
            "mpi": application.mpi,
            "mode": mode,
            "seed": options.seed,
            **({"sample": options.sample} if options.sample > 1 else {}),
            "counts": one.counts,
            **({"waves": one.waves} if one.waves else {}),
            "seconds": round(one.seconds, 2),
            "details": one.details[:20],
        }


def is_known(application, mode, detail):
    """Whether the catalogue explains this."""
    return any(mode in one["modes"] and one["text"] in detail for one in application.known)


def try_one(application, wanted, options):
    """Installs and runs; returns the version and the outcomes."""
    try:
        version = installing.bring(application, say)
    except installing.NotInstalled as error:
        tried = {"plain": trying.Tried("plain")}
        tried["plain"].add("not installed", detail=str(error))
        return None, tried
    tried = trying.Trial(application, wanted, options.seed, options.plain_once, options.sample).run()
    if application.tested and not version.startswith(application.tested):
        tried["plain"].details.append(f"other version: {version}, and the catalogue was made with {application.tested}")
    return version, tried


def report(application, version, tried, took):
    """Says what was found; returns whether all of it is as it should be."""
    cells = [f"{mode} {table.cell(one.counts, one.waves)}" for mode, one in tried.items()]
    say(f"{application.name} {version or ''} ({catalogue.MPIS[application.mpi]}, {took:.0f} s): {', '.join(cells)}")
    good = True
    for mode, one in tried.items():
        for detail in one.details:
            known = is_known(application, mode, detail)
            say(f"    {mode}: {detail}{' (known)' if known else ''}")
        # What fails without the library is not the library's, except where each change counts on it.
        allowed = GOOD if mode != "plain" or application.tier == 1 else set(one.counts)
        bad = set(one.counts) - allowed
        if bad and not (one.details and all(is_known(application, mode, detail) for detail in one.details)):
            good = False
    return good


def gain(applications, options):
    """Measures what applications gain, and keeps it."""
    on_host = options.networks == "host"
    chosen_ones = [one for one in applications if one.gain or on_host and one.mpi == "openmpi"]
    for line in gaining.measured(chosen_ones, options, say):
        line = {"commit": commit(), "machine": f"{os.cpu_count()} cores, Linux {platform.release()}", **line}
        say(json.dumps(line))
        if options.record:
            with open(gains.FIGURES, "a", encoding="utf-8") as file:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
    if options.record:
        gains.write()


def main():
    options = arguments()
    mpis = [options.mpi] if options.mpi else list(catalogue.MPIS)
    wanted = list(modes.MODES) if options.modes is None else [one for one in options.modes.split(",") if one]
    if options.sample < 1:
        sys.exit("scripts/apps: --sample: give 1 or more")
    unknown = [mode for mode in wanted if mode not in modes.MODES]
    if unknown:
        sys.exit(f"scripts/apps: there is no mode {unknown[0]}: one of {', '.join(modes.MODES)}")
    try:
        applications = list(chosen(options.names, mpis, options.tier))
    except catalogue.BadCatalogue as error:
        sys.exit(f"scripts/apps: {error}")
    if options.table:
        table.write(list(chosen([], list(catalogue.MPIS), None)))
        gains.write()
        return
    if options.list:
        for one in applications:
            say(f"{one.name:16} {catalogue.MPIS[one.mpi]:9} tier {one.tier}  {one.about}")
        return
    if options.install:
        try:
            for one in applications:
                installing.bring(one, say)
        except installing.NotInstalled as error:
            sys.exit(f"scripts/apps: {error}")
        return
    if options.gain:
        gain(applications, options)
        return
    if wanted and not modes.LIBRARY.exists():
        sys.exit(f"scripts/apps: {BUILD}/lib/libtreepie.so is missing: run scripts/build")
    say(f"permutations of --seed {options.seed}")
    bad = []
    for application in applications:
        began = time.monotonic()
        version, tried = try_one(application, wanted, options)
        if not report(application, version, tried, time.monotonic() - began):
            bad.append(f"{application.name} ({application.mpi})")
        if options.record:
            with open(table.FIGURES, "a", encoding="utf-8") as file:
                for line in lines(application, version, tried, options):
                    file.write(json.dumps(line, separators=(",", ":")) + "\n")
    if options.record:
        table.write(list(chosen([], list(catalogue.MPIS), None)))
    if bad:
        sys.exit(f"scripts/apps: not as it should be: {', '.join(bad)}")


main()
