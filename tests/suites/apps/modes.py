"""The modes in which an application runs: what each sets, and what must be there afterwards."""

import random

from running import BUILD, YIELDING

# What `profile`, the others and `record` leave.
COUNTED, WRITTEN, ORDER = "counted.profile.yaml", "app.profile.yaml", "app.order"
LIBRARY = BUILD / "lib/libtreepie.so"


def permutation(ranks, seed):
    """The new rank of each process, drawn by a seed; none keeps its own where there are two or more."""
    if ranks < 2:
        return list(range(ranks))
    draw = random.Random(seed)
    while True:
        drawn = draw.sample(range(ranks), ranks)
        if all(process != rank for process, rank in enumerate(drawn)):
            return drawn


def listed(numbers):
    """Numbers as the library's variables have them."""
    return ",".join(str(one) for one in numbers)


def halves(ranks):
    """Two clusters, each of one half of the processes."""
    return listed([process * 2 // ranks for process in range(ranks)])


def off(_ranks, _seed, _kept):
    return {"TREEPIE_MODE": "off"}


def profile(_ranks, _seed, kept):
    return {"TREEPIE_MODE": "profile", "TREEPIE_OUTPUT": kept / COUNTED}


def pages(_ranks, _seed, kept):
    counted = {"TREEPIE_MODE": "profile", "TREEPIE_OUTPUT": kept / WRITTEN}
    return {**counted, "TREEPIE_PAGES": "true", "TREEPIE_TIMES": "true"}


def permute(ranks, seed, kept):
    permuted = {"TREEPIE_MODE": "replay", "TREEPIE_PERMUTATION": listed(permutation(ranks, seed))}
    return {**permuted, "TREEPIE_OUTPUT": kept / WRITTEN, "TREEPIE_STDIN": "auto"}


def bind(_ranks, _seed, kept):
    placed = {"TREEPIE_MODE": "replay", "TREEPIE_PLACEMENT": kept / COUNTED}
    return {**placed, "TREEPIE_OUTPUT": kept / WRITTEN, "TREEPIE_APPLY": "bind"}


def both(ranks, seed, kept):
    return {**bind(ranks, seed, kept), "TREEPIE_APPLY": "both"}


def plans(ranks, _seed, _kept):
    return {"TREEPIE_MODE": "replay", "TREEPIE_COLLECTIVES": "auto", "TREEPIE_CLUSTERS": halves(ranks)}


def guard(ranks, seed, kept):
    return {**plans(ranks, seed, kept), "TREEPIE_GUARD": "on"}


def record(_ranks, _seed, kept):
    return {"TREEPIE_MODE": "profile", "TREEPIE_OUTPUT": kept / WRITTEN, "TREEPIE_ORDER": kept / ORDER}


def again(_ranks, _seed, kept):
    return {"TREEPIE_MODE": "replay", "TREEPIE_ORDER": kept / ORDER}


def cut(_ranks, _seed, _kept):
    """`treepie cut` sets the variables itself."""
    return {}


# In the order in which they run: `bind` and `both` place by what `profile` left, `again` replays
# what `record` did.
MODES = {
    "off": off,
    "profile": profile,
    "pages": pages,
    "permute": permute,
    "bind": bind,
    "both": both,
    "guard": guard,
    "plans": plans,
    "record": record,
    "again": again,
    "cut": cut,
}
CUT = f"LD_PRELOAD={YIELDING} {BUILD}/bin/treepie cut --every 0.02s --log error -- "
MEANING = {
    "off": "the library is there and does nothing",
    "profile": "traffic is counted",
    "pages": "it is counted and timed, and each rank keeps a page",
    "permute": "ranks are permuted at random",
    "bind": "each process is bound to a core, as the profile says",
    "both": "other ranks as the profile says, and processes bound",
    "guard": "collectives are chosen for two clusters, under the guard",
    "plans": "the same without the guard: what is chosen runs at once",
    "record": "the order of receives is recorded",
    "again": "that order is replayed; the run is compared with the one that was recorded",
    "cut": "`treepie cut` stops all ranks at a cut, 50 times a second",
}


def variables(mode, ranks, seed, kept):
    """What is set in the processes of a run; `kept` is a directory that outlives it."""
    settings = MODES[mode](ranks, seed, kept)
    preloaded = {} if mode == "cut" else {"LD_PRELOAD": str(LIBRARY)}
    return {**preloaded, **{name: str(value) for name, value in settings.items()}}


def before(mode):
    """Words of a shell before the launcher."""
    return CUT if mode == "cut" else ""


def lacks(mode, kept):
    """Whether what this mode begins with is not there."""
    begins_with = {"bind": COUNTED, "both": COUNTED, "again": ORDER}
    return mode in begins_with and not (kept / begins_with[mode]).exists()


def file_to_come(mode, kept):
    """What a run in this mode leaves if the library was at work in it."""
    if mode == "profile":
        return kept / COUNTED
    return kept / WRITTEN if mode in ("pages", "permute", "bind", "both", "record") else None
