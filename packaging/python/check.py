"""Opens what `treepie convert` wrote of a profile, and the files themselves, with the tools that they
are for: pandas, pyarrow, networkx, SciPy, a notebook.

    check.py PROFILE PLACEMENT CONVERTED     (PLACEMENT of its ranks; CONVERTED.table.csv and so on)
"""

import json
import re
import sys
from pathlib import Path

import networkx
import pandas

sys.path.insert(0, str(Path(__file__).parent))
import treepie  # noqa: E402

PROFILES = Path(__file__).parents[2] / "profiles"
COLUMNS = "sender receiver sender_host receiver_host layer phase messages bytes".split()


def tables(profile, converted):
    """The long table, as CSV, as Parquet, and as the package makes it."""
    texts = {"sender_host": str, "receiver_host": str, "layer": str, "phase": str}
    csv = pandas.read_csv(f"{converted}.table.csv", dtype=texts, keep_default_na=False)
    parquet = pandas.read_parquet(f"{converted}.parquet")
    assert list(parquet.columns) == COLUMNS == list(csv.columns), parquet.columns
    pandas.testing.assert_frame_equal(csv, parquet, check_dtype=False)
    counted = parquet[parquet.layer != "collectives"].reset_index(drop=True)
    key = ["layer", "phase", "sender", "receiver"]
    both = [table.sort_values(key, ignore_index=True) for table in (counted, profile.messages)]
    pandas.testing.assert_frame_equal(*both, check_dtype=False)
    assert counted.bytes.sum() == profile.matrix().sum() > 0
    calls = pandas.read_parquet(f"{converted}.calls.parquet")
    assert list(calls.columns) == ["rank", "host", "phase", "class", "calls", "seconds"]
    pandas.testing.assert_frame_equal(
        calls.drop(columns="phase").sort_values(["class", "rank"], ignore_index=True),
        profile.calls.sort_values(["class", "rank"], ignore_index=True),
        check_dtype=False,
        atol=1e-9,
    )
    csv = pandas.read_csv(f"{converted}.calls.csv", dtype={"phase": str}, keep_default_na=False)
    pandas.testing.assert_frame_equal(csv, calls, check_dtype=False)


def graphs(profile, converted):
    """Ranks as nodes, in both forms of graphs."""
    graph = networkx.read_graphml(f"{converted}.graphml")
    assert sorted(map(int, graph)) == list(range(profile.ranks))
    for rank, host in enumerate(profile.hosts):
        assert graph.nodes[str(rank)]["host"] == host
        assert set(graph.nodes[str(rank)]) == {"host", "cores", "host_after", "core_after"}
    own = profile.to_networkx()
    assert own.number_of_nodes() == profile.ranks
    other = networkx.read_gexf(f"{converted}.gexf", version="1.3")
    assert set(other.edges) == set(graph.edges) >= {(str(a), str(b)) for a, b in own.edges}
    for one in graph.edges:
        assert other.edges[one]["messages"] == graph.edges[one]["messages"]
        assert other.edges[one]["weight"] == graph.edges[one]["bytes"]


def trace(profile, converted):
    """What Chrome's trace format asks of each event."""
    events = json.loads(Path(f"{converted}.trace.json").read_text())["traceEvents"]
    bars = [event for event in events if event["ph"] == "X"]
    assert bars and all(event["dur"] >= 0 and event["ts"] >= 0 and event["name"] for event in bars)
    names = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert len(names) == profile.ranks, names


def metrics(profile, converted):
    """Lines as OpenMetrics has them."""
    *lines, end = Path(f"{converted}.prom").read_text().splitlines()
    assert end == "# EOF"
    line = re.compile(r'^(# (TYPE|UNIT) \w+ \w+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+)$')
    assert all(line.match(one) for one in lines), lines
    assert f"treepie_ranks {profile.ranks}" in lines


def notebook(path):
    """A cell whose value is a profile shows its picture."""
    import nbclient
    import nbformat

    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport treepie\ntreepie.read({path!r})"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
    (shown,) = [output["data"] for output in book.cells[0].outputs if "data" in output]
    assert "<svg" in shown["text/html"] and "image/svg+xml" in shown, shown


def wrong(folder):
    """Files that are none, or not whole, say so."""
    good = (PROFILES / "pairs.profile.yaml").read_text()
    for number, text in enumerate(["", "[1, 2]", "treepie: profile", "a: [", good.replace("ranks:", "rank:"),
                                   good.replace("version: 1", "version: 9"), "treepie: order\nversion: 1"]):
        file = Path(folder) / f"wrong{number}.yaml"
        file.write_text(text)
        try:
            treepie.read(file)
        except treepie.FileError as error:
            assert str(file) in str(error), error
        else:
            raise AssertionError(f"this was read: {text!r}")


def main():
    path, placement, converted = sys.argv[1:]
    profile = treepie.read(path)
    tables(profile, converted)
    graphs(profile, converted)
    trace(profile, converted)
    metrics(profile, converted)
    placed = treepie.read(placement)
    assert len(placed.ranks) == profile.ranks and "<table" in placed._repr_html_()
    platform = treepie.read(PROFILES / "two-clusters.platform.yaml")
    assert list(platform.hosts.cluster) == ["a", "a", "b", "b"] and len(platform.links) == 4
    assert len(platform.gaps()) == 16 and "<table" in platform._repr_html_(), platform.gaps()
    tuning = treepie.read(PROFILES / "four-ranks.tuning.yaml")
    assert tuning.rows.chosen.sum() == 3 and "<table" in tuning._repr_html_()
    notebook(path)
    wrong(Path(converted).parent)
    print("all of it was read")


main()
