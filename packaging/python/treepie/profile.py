"""Profiles: who sent how much to whom, and the time in MPI."""

import html
import os
from functools import cached_property

from . import matrices
from .files import FileError, field, load, numbers, pandas, reals, sparse


class Profile:
    """What a run of a job counted.

    Collectives are not among the matrices, which hold what was counted pair by pair: `collectives`
    has their calls, and `treepie convert X.profile.yaml -o X.parquet` the messages that they cause.
    """

    def __init__(self, path, document=None):
        self.path = os.fspath(path)
        self.document = load(path) if document is None else document
        self.ranks = field(self.path, self.document, "ranks")
        if not isinstance(self.ranks, int) or self.ranks < 1:
            raise FileError(f"{self.path}: ranks: {self.ranks!r} is no number of ranks")

    @property
    def command(self):
        """The program and its arguments."""
        return self.document.get("command", [])

    @property
    def mpi(self):
        """The MPI: family, library, standard."""
        return self.document.get("mpi", {})

    @property
    def phases(self):
        """The names of the phases of the run; none where it was not cut."""
        return [str(phase.get("name")) for phase in self.document.get("phases", [])]

    @cached_property
    def hosts(self):
        """The host of each rank."""
        of_process = {}
        for host in self.document.get("hosts", []):
            for process in numbers(self.path, field(self.path, host, "processes")):
                of_process[process] = str(field(self.path, host, "name"))
        processes = numbers(self.path, field(self.path, self.document, "process_of_rank"))
        if len(processes) != self.ranks:
            raise FileError(f"{self.path}: process_of_rank names {len(processes)} of {self.ranks} ranks")
        return [of_process.get(process, "") for process in processes]

    def layers(self, phase=None):
        """The layers that hold something, of the whole run or of a phase."""
        return [layer["layer"] for layer in self._layers(phase)]

    def matrix(self, metric="bytes", layer=None, phase=None):
        """Bytes or messages from rank to rank, a scipy.sparse array: of one layer, or of all."""
        if metric not in ("bytes", "messages"):
            raise ValueError(f"metric={metric!r}: give bytes or messages")
        total = sparse().csr_array((self.ranks, self.ranks), dtype="int64")
        for one in self._layers(phase):
            if layer in (None, one["layer"]):
                total = total + self._read(one, metric)
        return total

    @cached_property
    def messages(self):
        """The long table: sender, receiver, their hosts, layer, phase, messages, bytes."""
        tables = []
        for phase in self.phases or [None]:
            for layer in self._layers(phase):
                counts, sizes = self._read(layer, "messages").tocoo(), self._read(layer, "bytes").tocsr()
                tables.append(
                    pandas().DataFrame(
                        {
                            "sender": counts.row,
                            "receiver": counts.col,
                            "sender_host": [self.hosts[rank] for rank in counts.row],
                            "receiver_host": [self.hosts[rank] for rank in counts.col],
                            "layer": layer["layer"],
                            "phase": phase or "",
                            "messages": counts.data,
                            "bytes": [sizes[place] for place in zip(counts.row, counts.col)],
                        }
                    )
                )
        columns = "sender receiver sender_host receiver_host layer phase messages bytes".split()
        return pandas().concat(tables, ignore_index=True) if tables else pandas().DataFrame(columns=columns)

    @cached_property
    def calls(self):
        """Calls and seconds in MPI by rank and class; empty without `treepie profile --times`."""
        rows = []
        for one in (self.document.get("times") or {}).get("classes", []):
            calls = reals(self.path, field(self.path, one, "calls"), self.ranks)
            micros = reals(self.path, field(self.path, one, "microseconds"), self.ranks)
            for rank, (count, time) in enumerate(zip(calls, micros)):
                rows.append((rank, self.hosts[rank], one.get("class"), int(count), time / 1e6))
        return pandas().DataFrame(rows, columns=["rank", "host", "class", "calls", "seconds"])

    @cached_property
    def collectives(self):
        """Calls of collectives: operation, ranks of its group, root, calls and bytes."""
        recorded = self.document.get("collectives") or {}
        groups = [numbers(self.path, group) for group in recorded.get("groups", [])]
        rows = []
        for row in recorded.get("rows", []):
            operation, *words = str(row).split()
            row = {"operation": operation, **dict(word.split("=", 1) for word in words if "=" in word)}
            group = int(row.get("group", -1))
            row["ranks"] = len(groups[group]) if 0 <= group < len(groups) else self.ranks
            rows.append(row)
        table = pandas().DataFrame(rows)
        for name in ("group", "class", "root", "calls", "bytes"):
            if name in table:
                table[name] = pandas().to_numeric(table[name], errors="coerce")
        return table

    def to_networkx(self):
        """A directed graph of ranks with their hosts, messages and bytes."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from((rank, {"host": host}) for rank, host in enumerate(self.hosts))
        sums = self.messages.groupby(["sender", "receiver"])[["messages", "bytes"]].sum()
        for (sender, receiver), row in sums.iterrows():
            graph.add_edge(int(sender), int(receiver), messages=int(row.messages), bytes=int(row.bytes))
        return graph

    def _layers(self, phase):
        if phase is None:
            return self.document.get("layers") or []
        for one in self.document.get("phases", []):
            if str(one.get("name")) == str(phase):
                return one.get("layers") or []
        raise FileError(f"{self.path}: has no phase {phase!r}; its phases are {', '.join(self.phases) or 'none'}")

    def _read(self, layer, metric):
        name = field(self.path, layer, f"{metric}_matrix")
        if os.path.basename(name) != name:
            raise FileError(f"{self.path}: {name!r} is not the name of a file beside the profile")
        return matrices.read_matrix(os.path.join(os.path.dirname(self.path), name), self.ranks)

    def __repr__(self):
        return f"<treepie.Profile {self.path}: {self.ranks} ranks on {len(set(self.hosts))} hosts>"

    def _repr_svg_(self):
        return matrices.heat_map(self.matrix(), f"{os.path.basename(self.path)}: bytes, row sends to column")

    def _repr_html_(self):
        program = " ".join(map(str, self.command))
        return f"<p><code>{html.escape(program)}</code>, {self.ranks} ranks</p>{self._repr_svg_()}"
