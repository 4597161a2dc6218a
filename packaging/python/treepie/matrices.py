"""Matrices of traffic: MatrixMarket files and pictures of them."""

import gzip
import html
import math
import os

from .files import FileError, sparse

# Blocks of a picture along each side.
BLOCKS = 64


def read_matrix(path, order=None):
    """A MatrixMarket file (.mtx, .mtx.gz) as a scipy.sparse array; rows send to columns."""
    path = os.fspath(path)
    opened = gzip.open if path.endswith(".gz") else open
    import scipy.io

    try:
        with opened(path, "rb") as file:
            matrix = sparse().csr_array(scipy.io.mmread(file))
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        raise FileError(f"{path}: {error}") from error
    if order is not None and matrix.shape != (order, order):
        raise FileError(f"{path}: the matrix is for {matrix.shape[0]} ranks and its profile for {order}")
    return matrix


def heat_map(matrix, title):
    """A picture of a matrix as SVG: senders from above, receivers from the left."""
    order = matrix.shape[0]
    blocks = min(order, BLOCKS) or 1
    sums = {}
    entries = matrix.tocoo()
    for row, column, value in zip(entries.row, entries.col, entries.data):
        place = int(row) * blocks // order, int(column) * blocks // order
        sums[place] = sums.get(place, 0) + float(value)
    most = max(sums.values(), default=0)
    side = max(1, 320 // blocks)
    size = side * blocks
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size + 2}" height="{size + 20}">'
        f'<text x="1" y="12" font-family="sans-serif" font-size="12">{html.escape(title)}</text>'
        f'<g transform="translate(1,18)"><rect width="{size}" height="{size}" fill="#fff" stroke="#888"/>'
    ]
    for (row, column), value in sorted(sums.items()):
        # Dark is much, on a logarithmic scale over three decades.
        shade = max(0.06, 1 + math.log10(value / most) / 3) if value > 0 else 0
        parts.append(
            f'<rect x="{column * side}" y="{row * side}" width="{side}" height="{side}" '
            f'fill="#1f4e79" fill-opacity="{shade:.2f}"/>'
        )
    return "".join(parts) + "</g></svg>"
