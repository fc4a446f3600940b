"""A sparse count with 64 writers: each writes columns of one matrix in place, whatever pages they lie on.

terrane run -n 4 python writers.py [ROWS [WRITERS]]     64 writers are threads of the nodes, 16 on each of 4
"""

import sys
import threading

import numpy as np
import pyterrane as tr


def count(matrix, column):
    """Occurrences of each row's number among what this writer reads."""
    numbers = np.random.default_rng(column).zipf(1.5, 2000)
    rows, times = np.unique(numbers[numbers < len(matrix)], return_counts=True)
    matrix[rows, column] += times


def main(rows=5000, writers=64):
    matrix = tr.zeros((rows, writers), np.int64, name="counts")
    threads = [threading.Thread(target=count, args=(matrix, column))
               for column in range(tr.node(), writers, tr.nodes())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tr.barrier()
    if tr.node() == 0:
        reference = np.zeros_like(matrix)
        for column in range(writers):
            count(reference, column)
        assert (matrix == reference).all()
        print(f"{tr.nodes()} nodes, {writers} writers, {matrix.sum()} counted: right")
    tr.barrier()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
