"""Heat in a plate: each node computes its rows of one array, and reads the rows beside them.

terrane run -n 4 python heat.py [SIZE [STEPS]]          prints the heat in the plate, which is the same for any nodes
"""

import sys

import pyterrane as tr


def step(old, new, rows):
    """A step for these rows; the edge of the plate stays as it is."""
    begin, end = max(rows.start, 1), min(rows.stop, len(old) - 1)
    new[begin:end, 1:-1] = (old[begin - 1:end - 1, 1:-1] + old[begin + 1:end + 1, 1:-1] + old[begin:end, :-2]
                            + old[begin:end, 2:]) / 4


def main(size=512, steps=100):
    plate, other = tr.zeros((size, size), homes="block"), tr.zeros((size, size), homes="block")
    rows = tr.local_rows(plate)
    for array in (plate, other):
        array[rows, 0] = 100.0
    tr.barrier()
    for _ in range(steps):
        step(plate, other, rows)
        tr.barrier()
        plate, other = other, plate
    if tr.node() == 0:
        print(f"{tr.nodes()} nodes, heat {plate.sum():.6f}")
    tr.barrier()  # nobody leaves while node 0 reads


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
