"""Platforms: clusters of hosts, and the latency and gap of the links between and in them."""

import html
import os
from functools import cached_property

from .files import field, load, numbers, pandas


class Platform:
    """What `treepie probe` measured."""

    def __init__(self, path, document=None):
        self.path = os.fspath(path)
        self.document = load(path) if document is None else document

    @cached_property
    def hosts(self):
        """A row for each host: its cluster and its ranks."""
        cluster = {}
        for one in field(self.path, self.document, "clusters"):
            for host in one.get("hosts", []):
                cluster[str(host)] = one.get("name")
        rows = []
        for host in field(self.path, self.document, "hosts"):
            ranks = numbers(self.path, host["ranks"]) if "ranks" in host else []
            name = str(field(self.path, host, "name"))
            rows.append((name, cluster.get(name), len(ranks)))
        return pandas().DataFrame(rows, columns=["host", "cluster", "ranks"])

    @cached_property
    def links(self):
        """A row for each link: its ends, its latency in microseconds, and the bandwidth of its
        longest message in MB/s."""
        rows = []
        for one in field(self.path, self.document, "clusters"):
            name = one.get("name")
            for level in one.get("levels") or []:
                rows.append((name, name, level.get("level"), *_figures(level)))
            if one.get("within"):
                rows.append((name, name, "hosts", *_figures(one["within"])))
        for link in self.document.get("links") or []:
            rows.append((link.get("from"), link.get("to"), "clusters", *_figures(link)))
        return pandas().DataFrame(rows, columns=["from", "to", "level", "latency_us", "megabytes_per_second"])

    def gaps(self):
        """A row for each size that was measured on a link: the columns that the file names."""
        columns = str(field(self.path, self.document, "columns")).split()
        rows = []
        for number, samples in enumerate(self._samples()):
            for sample in samples:
                values = [float(word) for word in str(sample).split()]
                rows.append({"link": number, **dict(zip(columns, values))})
        return pandas().DataFrame(rows)

    def _samples(self):
        for one in field(self.path, self.document, "clusters"):
            for level in one.get("levels") or []:
                yield level.get("samples") or []
            if one.get("within"):
                yield one["within"].get("samples") or []
        for link in self.document.get("links") or []:
            yield link.get("samples") or []

    def __repr__(self):
        return f"<treepie.Platform {self.path}: {len(self.hosts)} hosts>"

    def _repr_html_(self):
        return f"<p>{html.escape(repr(self))}</p>" + self.links.to_html(index=False)


def _figures(link):
    samples = [str(sample).split() for sample in link.get("samples") or []]
    largest = max(samples, key=lambda words: float(words[0]), default=None)
    rate = float(largest[0]) / float(largest[1]) if largest and float(largest[1]) > 0 else None
    return link.get("latency_us"), rate
