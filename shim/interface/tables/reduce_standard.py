#!/usr/bin/env python3
"""Regenerates interface.table from the MPI Forum's machine-readable interface.

    pip install pympistandard
    python3 reduce_standard.py LIBMPI.so ... > new.table && mv new.table interface.table

One line for each procedure: its name, its C parameters as kind:name, `+c` if a
large-count variant exists, and `?` if one of the MPI libraries named on the
command line lacks it or its second name, PMPI_X (`+c?`: lacks the variant). Name one
library of each kind that is supported. The table has the procedures that take or create
a communicator, and those that interface.table names. The columns after the parameters,
which are not the Forum's, stay.
"""
import ctypes
import json
import pathlib
import sys
import pympistandard

HERE = pathlib.Path(__file__).parent

# Procedures that MPI 3.0 removed and that libraries still have.
REMOVED = {
    "MPI_Errhandler_create": "function:function errhandler*:errhandler",
    "MPI_Errhandler_get": "comm:comm errhandler*:errhandler",
    "MPI_Errhandler_set": "comm:comm errhandler:errhandler",
}

# Procedures that only translate a handle, which must not be substituted.
TRANSLATIONS = {"MPI_Comm_c2f", "MPI_Comm_toint"}

# Variadic procedures, which are in extensions.table.
VARIADIC = {"MPI_Pcontrol"}

KINDS = {
    "COMMUNICATOR": "comm", "DATATYPE": "datatype", "REQUEST": "request",
    "RANK": "rank", "RANK_NNI": "rank", "WINDOW": "window", "FILE": "file",
    "GROUP": "group", "INFO": "info", "OPERATION": "op", "SESSION": "session",
    "ERRHANDLER": "errhandler", "KEYVAL": "keyval", "STATUS": "status",
    "MESSAGE": "message", "TAG": "tag", "STRING": "string", "FUNCTION": "function",
    "PARTITION": "partitions",
}


def kind_of(parameter):
    kind = parameter["kind"]
    if "BUFFER" in kind:
        word = "buffer"
    elif kind.startswith("POLYXFER_NUM_ELEM"):
        word = "count"
    elif kind.startswith("XFER_NUM_ELEM"):
        word = "count64"
    elif kind.startswith("POLYDISPLACEMENT"):
        word = "displacement"
    elif kind.startswith(("ATTRIBUTE", "EXTRA_STATE")):
        word = "address"
    elif "FUNCTION" in kind:
        word = "function"
    else:
        word = KINDS.get(kind, "word")
    if parameter["array_type"] or parameter["length"] is not None:
        word += "[]"
    elif word != "buffer" and parameter["param_direction"] == "out":
        word += "*"
    elif word != "buffer" and parameter["param_direction"] == "inout":
        word += "&"
    return word


def lacking(name, libraries):
    names = (name, "P" + name)
    return "?" if any(not hasattr(library, n) for library in libraries for n in names) else ""


def line(procedure, libraries):
    name = procedure["name"]
    parameters = [p for p in procedure["parameters"] if "c_parameter" not in p["suppress"]]
    words = [f"{kind_of(p)}:{p['name'].lower()}" for p in parameters]
    if any(p["kind"].startswith("POLY") for p in procedure["parameters"]):
        words.append("+c" + lacking(name + "_c", libraries))
    if lacking(name, libraries):
        words.append("?")
    return f"{name} {' '.join(words)}"


def columns_of(text):
    return [word for word in text.split() if "=" in word or word == "poll"]


def main():
    data = pathlib.Path(pympistandard.__file__).parent / "data" / "apis.json"
    table = [text for text in (HERE / "interface.table").read_text().splitlines() if text]
    header = [text for text in table if text.startswith("#")]
    columns = {text.split()[0]: columns_of(text) for text in table if text not in header}
    libraries = [ctypes.CDLL(path) for path in sys.argv[1:]]
    lines = {name: f"{name} {rest} {lacking(name, libraries)}".strip()
             for name, rest in REMOVED.items()}
    for procedure in json.loads(data.read_text()).values():
        attributes, name = procedure["attributes"], procedure["name"]
        if attributes["callback"] or attributes["predefined_function"]:
            continue
        if not attributes["c_expressible"] or name in TRANSLATIONS | VARIADIC:
            continue
        takes = any(p["kind"] == "COMMUNICATOR" for p in procedure["parameters"])
        if takes or name in columns:
            lines[name] = line(procedure, libraries)
    for text in header:
        print(text)
    for name in sorted(lines):
        print(" ".join([*lines[name].split(), *columns.get(name, [])]))


main()
