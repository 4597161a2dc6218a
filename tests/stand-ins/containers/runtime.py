#!/usr/bin/env python3
"""Run-times that Debian does not have, as far as a job needs them: apptainer, shifter, and srun with
pyxis. Called by one of these names, this takes the options that the run-time documents, refuses all
others, and starts the program in a container of bubblewrap's with the variables and directories
that the real one would give it. STAND_IN_ROOT has bubblewrap's options for the root, and
STAND_IN_LAUNCHER the launcher with which srun starts its tasks.
"""
import os
import shlex
import sys

NAME = os.path.basename(sys.argv[0])


def refuse(why):
    sys.exit(f"{NAME}: {why}")


def parse(words, valued, flags):
    """The options, each with its values, and the words behind them."""
    found = {}
    while words and words[0].startswith("-"):
        option, joined, value = words.pop(0).partition("=")
        if option in flags:
            found[option] = True
        elif option in valued:
            found.setdefault(valued[option], []).append(value if joined else words.pop(0))
        else:
            refuse(f"unknown option {option}")
    return found, words


def mounts(specifications, flags):
    """bubblewrap's options for SRC[:DST[:FLAG]]."""
    for specification in specifications:
        source, *rest = specification.split(":")
        target = rest[0] if rest else source
        if any(flag not in flags for flag in rest[1:]):
            refuse(f"unknown flags of {specification}")
        if not os.path.isdir(source) or not target.startswith("/"):
            refuse(f"cannot mount {specification}")
        yield from ["--ro-bind" if "ro" in rest[1:] else "--bind", source, target]


def contained(variables, bound, program):
    """The command of a container that has these variables and no others."""
    words = ["bwrap", *shlex.split(os.environ["STAND_IN_ROOT"]), *bound, "--clearenv"]
    for name, value in variables.items():
        words += ["--setenv", name, value]
    return words + ["--"] + program


def apptainer(words):
    """https://apptainer.org/docs/user/latest/cli/apptainer_exec.html"""
    if words.pop(0) != "exec":
        refuse("only exec is known here")
    valued = {"--bind": "bind", "-B": "bind", "--env": "env"}
    options, (image, *program) = parse(words, valued, ["--cleanenv", "-e", "--nv"])
    if not image.endswith(".sif"):
        refuse(f"{image} is no image")
    specifications = ",".join(options.get("bind", [])).split(",")
    clean = "--cleanenv" in options or "-e" in options
    prefix = "APPTAINERENV_"
    variables = {} if clean else {n: v for n, v in os.environ.items() if not n.startswith("APPTAINER")}
    variables |= {n[len(prefix):]: v for n, v in os.environ.items() if n.startswith(prefix)}
    for assignments in options.get("env", []):
        variables |= dict(one.split("=", 1) for one in assignments.split(","))
    return contained(variables, mounts(filter(None, specifications), ["ro", "rw"]), program)


def shifter(words):
    """https://docs.nersc.gov/development/containers/shifter/how-to-use/"""
    valued = {"--image": "image", "-i": "image", "--volume": "volume", "-V": "volume", "--env": "env",
              "-e": "env", "--workdir": "workdir", "-w": "workdir"}
    options, program = parse(words, valued, ["--clearenv", "-E", "--verbose", "-v"])
    if "image" not in options:
        refuse("no image specified")
    variables = {} if {"--clearenv", "-E"} & options.keys() else dict(os.environ)
    variables |= dict(one.split("=", 1) for one in options.get("env", []))
    return contained(variables, mounts(options.get("volume", []), ["ro", "slave", "rec"]), program)


def srun(words):
    """https://github.com/NVIDIA/pyxis/wiki/Usage"""
    valued = {"-n": "tasks", "--export": "export", "--container-image": "image",
              "--container-mounts": "mounts", "--container-env": "names"}
    options, program = parse(words, valued, ["--container-mount-home"])
    exported = {}
    for one in options.get("export", ["ALL"])[-1].split(","):
        name, joined, value = one.partition("=")
        if one == "ALL":
            exported |= dict(os.environ)
        else:
            exported[name] = value if joined else os.environ[name]
    names = ",".join(options.get("names", [])).split(",")
    if any(name not in exported for name in names):
        refuse(f"some of {names} are not exported")
    # A container has of its image what is not named.
    variables = {n: v for n, v in exported.items() if n in names or n != "LD_PRELOAD"}
    specifications = ",".join(options["mounts"]).split(",")
    task = contained(variables, mounts(specifications, ["ro"]), program)
    # Tasks get variables from their launcher, beside those of the step.
    task.remove("--clearenv")
    return shlex.split(os.environ["STAND_IN_LAUNCHER"]) + ["-n", options["tasks"][0]] + task


if "libtreepie" in os.environ.get("LD_PRELOAD", ""):
    refuse("the run-time itself was preloaded")
command = {"apptainer": apptainer, "shifter": shifter, "srun": srun}[NAME](sys.argv[1:])
os.execvp(command[0], command)
