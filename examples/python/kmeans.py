"""k-means: the points are one array, each node looks at its part of them, and the sums go through a reduction.

terrane run -n 4 python kmeans.py [POINTS [CLUSTERS]]
"""

import sys

import numpy as np
import pyterrane as tr

TURNS = 20


def main(count=20000, clusters=8):
    points = tr.zeros((count, 2), homes="block")
    mine = points[tr.local_rows(points)]
    middles = np.random.default_rng(1).uniform(-10, 10, (clusters, 2))  # the same on all nodes
    mine[...] = np.random.default_rng(2 + tr.node()).normal(size=mine.shape)
    mine += middles[np.arange(len(mine)) % clusters]
    tr.barrier()

    centres = points[:clusters].copy()
    for _ in range(TURNS):
        nearest = ((mine[:, None, :] - centres) ** 2).sum(axis=2).argmin(axis=1)
        sums = np.stack([np.bincount(nearest, weights, clusters) for weights in (mine[:, 0], mine[:, 1], np.ones(len(mine)))])
        x, y, number = tr.reduce(sums)
        centres = np.where(number[:, None] > 0, np.stack([x, y], axis=1) / np.maximum(number, 1)[:, None], centres)
    if tr.node() == 0:
        print(f"{tr.nodes()} nodes, {int(number.sum())} points in {clusters} clusters of {number.astype(int).tolist()}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
