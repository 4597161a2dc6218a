"""Placements: which rank belongs on which leaf of the machine."""

import html
import os
from functools import cached_property

from .files import FileError, field, load, numbers, pandas


class Placement:
    """A placement of the ranks of a job."""

    def __init__(self, path, document=None):
        self.path = os.fspath(path)
        self.document = load(path) if document is None else document
        self.count = field(self.path, self.document, "ranks")
        self.assignment = self._list("assignment")
        self.permutation = self._list("permutation")

    def _list(self, name):
        found = numbers(self.path, field(self.path, self.document, name))
        if len(found) != self.count:
            raise FileError(f"{self.path}: {name} names {len(found)} of {self.count} ranks")
        return found

    @property
    def strategy(self):
        """How it was computed."""
        return self.document.get("strategy")

    @cached_property
    def ranks(self):
        """A row for each rank: its leaf, and the launcher's process that runs it."""
        process = {new: native for native, new in enumerate(self.permutation)}
        rows = [(rank, leaf, process.get(rank)) for rank, leaf in enumerate(self.assignment)]
        return pandas().DataFrame(rows, columns=["rank", "leaf", "process"]).set_index("rank")

    @cached_property
    def levels(self):
        """Bytes over each level of the machine before and after."""
        return pandas().DataFrame(self.document.get("bytes_by_level") or [], columns=["level", "before", "after"])

    def __repr__(self):
        return f"<treepie.Placement {self.path}: {self.count} ranks by {self.strategy}>"

    def _repr_html_(self):
        return f"<p>{html.escape(repr(self))}</p>" + self.levels.to_html(index=False)
