"""Barriers and reductions with a time limit. A node that leaves one takes its arrival back, so it never came.

The barrier of the C interface cannot be left: an arrival is on its way to other nodes at once. Here an arrival is a row
of the job's directory, written and taken back under the directory's lock; the last node to come begins the next round.
"""

import numpy as np

from . import _core
from ._directory import LOCK

_ROUNDS = LOCK  # the number of the counter of rounds that are over
_ADD, _SET = 0, 1


def _rounds():
    return _core.counter_fetch(_ROUNDS, _ADD, 0)


def _come(table, kind, values):
    """This node's arrival. Returns the round. Inside table.open()."""
    turn = _rounds() + 1
    row = table.arrivals[turn % 2, _core.node()]
    row["kind"], row["count"] = kind, values.size
    row["values"][:values.size] = values
    row["turn"] = turn
    if (table.arrivals[turn % 2]["turn"] == turn).all():
        _core.counter_fetch(_ROUNDS, _SET, turn)
    return turn


def _take_back(table):
    """The nodes that have not come to this round, or None: all have, before the arrival could be taken back."""
    with table.open():
        turn = _rounds() + 1
        rows = table.arrivals[turn % 2]
        if rows[_core.node()]["turn"] != turn:
            return None
        missing = np.flatnonzero(rows["turn"] != turn)
        rows[_core.node()]["turn"] = 0
        return missing


def wait(table, timeout, nanoseconds, kind=b"", values=np.empty(0, "u8")):
    """Waits until all nodes have come, and returns what each gave, by node: `values` of 8 bytes, and a `kind`.

    Raises TimeoutError: some node did not come in time. Then, and after Ctrl-C, this node has not come either, unless
    all had come by then. Raises ValueError: nodes gave other kinds or numbers of values.
    """
    try:
        with table.open():
            turn = _come(table, kind, values)
        missing = None if _core.counter_wait_for(_ROUNDS, turn, nanoseconds) else _take_back(table)
    except BaseException:
        _take_back(table)
        raise
    if missing is not None:
        names = ", ".join(map(str, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise TimeoutError(f"{len(missing)} of {_core.nodes()} nodes (node {names}) did not come within {timeout} s. This "
                           "node has left and may come again; where one node gives a timeout, all have to")
    rows = table.arrivals[turn % 2]  # stay until the round after the next one
    other = np.flatnonzero((rows["kind"] != kind) | (rows["count"] != values.size))
    if other.size:
        raise ValueError(f"reduce(): node {other[0]} gave {rows[other[0]]['count']} values as {_text(rows[other[0]]['kind'])}, "
                         f"and this node {values.size} as {_text(kind)}")
    return rows["values"][:, :values.size]


def _text(kind):
    return kind.decode() or "a barrier"


def combine(rows, op, dtype):
    """The values of all nodes, `rows` of 8 bytes each, combined in the order of the nodes."""
    functions = {"sum": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
                 "xor": np.bitwise_xor}
    return functions[op].reduce(np.ascontiguousarray(rows).view(dtype), axis=0)
