"""YAML files and the lists of numbers in them."""

import os

import yaml

# The newest version of a file's form that this package reads.
VERSION = 1

# A list of ranks is short in its text and long in memory: no job has more.
MOST = 1 << 24


class FileError(ValueError):
    """What is wrong with a file, which its message names."""


def load(path):
    """The mapping in a file of Treepie's."""
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            document = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("treepie"), str):
        raise FileError(f"{path}: is no file of Treepie's: it does not begin with `treepie: KIND`")
    version = document.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise FileError(f"{path}: version {version!r} is unknown here: install a newer package")
    return document


def field(path, document, *names):
    """What is under these names, one inside the other."""
    value = document
    for name in names:
        if not isinstance(value, dict) or name not in value:
            raise FileError(f"{path}: `{'.'.join(names)}` is missing")
        value = value[name]
    return value


def numbers(path, text):
    """The numbers of a list such as `0-3,8`, in its order."""
    found = []
    for item in str(text).split(","):
        first, dash, last = item.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise FileError(f"{path}: `{item}` is no number and no range")
        if dash and int(last) - int(first) + len(found) >= MOST:
            raise FileError(f"{path}: `{item}` is too long a range")
        found.extend(range(int(first), int(last) + 1) if dash else [int(first)])
    return found


def reals(path, text, count):
    """Numbers with commas, as many as there are ranks."""
    try:
        found = [float(item) for item in str(text).split(",")]
    except ValueError as error:
        raise FileError(f"{path}: {error}") from error
    if len(found) != count:
        raise FileError(f"{path}: {len(found)} numbers were found for {count} ranks")
    return found


def pandas():
    """pandas, or what to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables need pandas: pip install 'treepie[data]'") from error
    return pandas


def sparse():
    """SciPy's sparse arrays, or what to install."""
    try:
        import scipy.sparse
    except ImportError as error:
        raise ImportError("matrices need SciPy: pip install 'treepie[data]'") from error
    return scipy.sparse
