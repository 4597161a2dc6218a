"""Lists of test programs, in the form of MPICH's test suite."""

# Programs on more ranks are for larger machines.
MOST_RANKS = 12


def entries(path, skipped, seconds):
    """Names of programs, with their ranks, arguments and seconds. Left out are those that the list
    itself expects to fail, that need much memory, or that differ in a variable of MPICH's alone."""
    found = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if len(words) < 2 or words[0].startswith(("#", "@")) or not words[1].isdigit():
            continue
        name, ranks, options = words[0], int(words[1]), words[2:]
        # Some are other programs of the list, compiled in another way.
        if name in skipped or ranks > MOST_RANKS or not path.with_name(f"{name}.c").exists():
            continue
        if any(one.startswith(("env=", "mem=", "xfail=")) for one in options):
            continue
        arguments = tuple(one.removeprefix("arg=") for one in options if one.startswith("arg="))
        limits = [int(one.removeprefix("timeLimit=")) for one in options if one.startswith("timeLimit=")]
        found[name, ranks, arguments, max([seconds, *limits])] = None
    return list(found)
