"""Tunings: what the MPI's own algorithms of collectives took."""

import html
import os
from functools import cached_property

from .files import field, load, pandas


class Tuning:
    """What `treepie tune` measured."""

    def __init__(self, path, document=None):
        self.path = os.fspath(path)
        self.document = load(path) if document is None else document

    @cached_property
    def rows(self):
        """A row for each algorithm of each operation, size of communicator and of message."""
        rows = []
        for cell in field(self.path, self.document, "rows"):
            place = [cell.get(name) for name in ("operation", "ranks", "from_bytes")]
            rows.append((*place, "default", cell.get("native_us"), cell.get("algorithm") == "default"))
            if cell.get("algorithm") not in (None, "default"):
                rows.append((*place, cell["algorithm"], cell.get("us"), True))
            for kind in ("others", "plans"):
                for name, micros in (cell.get(kind) or {}).items():
                    rows.append((*place, name, micros, False))
        columns = ["operation", "ranks", "bytes", "algorithm", "microseconds", "chosen"]
        return pandas().DataFrame(rows, columns=columns)

    def __repr__(self):
        return f"<treepie.Tuning {self.path}: {self.document.get('mpi')}>"

    def _repr_html_(self):
        return f"<p>{html.escape(repr(self))}</p>" + self.rows.to_html(index=False)
