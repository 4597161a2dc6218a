"""Treepie's files in SciPy and pandas.

    import treepie
    profile = treepie.read("app.profile.yaml")
    profile.matrix()      # bytes from rank to rank, a scipy.sparse array; rows send to columns
    profile.messages      # a pandas DataFrame with a row for each pair of ranks and layer

Everything comes from the files alone: neither MPI nor the command `treepie` is needed.
"""

from .files import FileError
from .matrices import read_matrix
from .placement import Placement
from .platform import Platform
from .profile import Profile
from .tuning import Tuning

__all__ = ["FileError", "Placement", "Platform", "Profile", "Tuning", "read", "read_matrix"]

_KINDS = {"profile": Profile, "placement": Placement, "platform": Platform, "tuning": Tuning}


def read(path):
    """The object that a file holds: a Profile, Placement, Platform or Tuning."""
    from .files import load

    document = load(path)
    kind = document["treepie"]
    if kind not in _KINDS:
        known = ", ".join(sorted(_KINDS))
        raise FileError(f"{path}: is a {kind}, and what can be read is one of {known}")
    return _KINDS[kind](path, document)
