"""Comparison of what two runs left: bits, lines of text, numbers with a tolerance."""

import hashlib
import re

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


class Left:
    """What is compared of a run, read while its directory exists."""

    def __init__(self, run, directory, rules):
        self.status = run.status
        self.missing = []
        parts = [run.stdout]
        for name in rules.get("files", []):
            parts += self._texts(directory, name)
        self.lines = lines_of("\n".join(parts), rules)
        self.bits = {}
        for name in rules.get("bits", []):
            for path in self._paths(directory, name):
                self.bits[str(path.relative_to(directory))] = hashlib.sha256(path.read_bytes()).hexdigest()

    def _paths(self, directory, name):
        found = sorted(directory.glob(name))
        if not found:
            self.missing.append(name)
        return found

    def _texts(self, directory, name):
        return [path.read_text(errors="replace") for path in self._paths(directory, name)]


def lines_of(text, rules):
    """The lines that count, in the order that counts."""
    keep = [re.compile(one) for one in rules.get("keep", [])]
    drop = [re.compile(one) for one in rules.get("drop", [])]
    cut = re.compile(rules["cut"]) if "cut" in rules else None
    lines = [line.rstrip() for line in text.splitlines()]
    lines = [line for line in lines if line and (not keep or any(one.search(line) for one in keep))]
    lines = [line for line in lines if not any(one.search(line) for one in drop)]
    if cut:
        lines = [cut.sub("", line) for line in lines]
    if rules.get("unique"):
        lines = sorted(set(lines))
    return sorted(lines) if rules.get("sorted") else lines


def difference(one, other, rules):
    """The first difference, in words, or nothing."""
    if one.status != other.status:
        return f"exit status {other.status}, not {one.status}"
    if other.missing:
        return f"no file {other.missing[0]}"
    for name, bits in one.bits.items():
        if other.bits.get(name) != bits:
            return f"the bits of {name} differ"
    if len(one.lines) != len(other.lines):
        unlike = next((pair for pair in zip(one.lines, other.lines) if pair[0] != pair[1]), None)
        where = f"; first: {unlike[1][:100]!r}, not {unlike[0][:100]!r}" if unlike else ""
        return f"{len(other.lines)} lines, not {len(one.lines)}{where}"
    for left, right in zip(one.lines, other.lines):
        if not alike(left, right, rules):
            return f"{right[:120]!r}, not {left[:120]!r}"
    return None


def alike(left, right, rules):
    """Whether two lines are equal, or differ in numbers by no more than is allowed."""
    if left == right:
        return True
    relative, absolute = rules.get("relative", 0.0), rules.get("absolute", 0.0)
    if not relative and not absolute:
        return False
    if " ".join(NUMBER.sub("#", left).split()) != " ".join(NUMBER.sub("#", right).split()):
        return False
    numbers = [[float(one.lower().replace("d", "e")) for one in NUMBER.findall(line)] for line in (left, right)]
    return all(
        abs(a - b) <= max(absolute, relative * max(abs(a), abs(b))) for a, b in zip(*numbers, strict=True)
    )
