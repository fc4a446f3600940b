"""The figures of docs/how-fast.md that are those of a benchmark's record; scripts/results.py writes them."""

import re

PAGE = "docs/how-fast.md"
THREADS, MPI, MPI_HOSTS = 2, 3, 4  # the column of the page's first table
# Of each figure: the example in the page's row, the column, and the section and goal of docs/results.md.
FIGURES = [
    ("EP, our kernel", THREADS, "OpenMP", "EP"),
    ("CG, our kernel", THREADS, "OpenMP", "CG"),
    ("Jacobi, 1024 x 1024", MPI, "Pages", "Jacobi 1024 x 1024, an iteration"),
    ("Jacobi, 1024 x 1024", MPI_HOSTS, "Pages", "Jacobi over tcp, an iteration"),
    ("ocean, 514 x 514", THREADS, "Threads programs", "ocean"),
    ("water-spatial, 4,096 molecules", THREADS, "Threads programs", "water-spatial"),
    ("Barnes, 32,768 bodies", THREADS, "Threads programs", "Barnes, 32,768 bodies"),
    ("water-nsquared, 1,000 molecules", THREADS, "Threads programs", "water-nsquared"),
    ("k-means, 10 million points", THREADS, "Threads programs", "k-means beside threads"),
    ("k-means, 10 million points", MPI, "Threads programs", "k-means of 10 million points"),
    ("k-means, 10 million points", MPI_HOSTS, "Threads programs", "k-means on two hosts"),
    ("LU in blocks, 2048 x 2048", THREADS, "Threads programs", "LU"),
    ("LU by rows, 2048 x 2048", THREADS, "Threads programs", "LU by rows"),
    ("FFT, 4 million points", THREADS, "Threads programs", "FFT"),
    ("radix sort, 8 million keys", THREADS, "Threads programs", "radix sort"),
    *[(f"{name} of NPB", THREADS, "NPB", f"{name} beside gcc's library") for name in ("EP", "MG", "CG", "FT", "IS", "LU")],
    *[(f"{name} of NPB", THREADS, "NPB", name) for name in ("BT", "SP")],
    *[(f"{name} of NPB", MPI, "NPB", name) for name in ("EP", "MG", "CG", "FT", "IS", "LU")],
    *[(f"{name} of NPB", MPI_HOSTS, "NPB", f"{name}, two hosts by tcp") for name in ("MG", "CG", "FT", "IS", "LU")],
    ("video, HD", THREADS, "Video", "HD: a frame"),
    ("video, UHD-2", THREADS, "Video", "UHD-2: a frame"),
    ("video, HD", MPI, "Video", "HD: the closest peer of MPI and ZeroMQ takes"),
    ("video, UHD-2", MPI, "Video", "UHD-2: the closest peer of MPI and ZeroMQ takes"),
]
# Goals whose figure is the peer's time over ours; the page has ours over the peer's.
INVERSE = {("OpenMP", "EP"), ("OpenMP", "CG"), ("Video", "HD: the closest peer of MPI and ZeroMQ takes"),
           ("Video", "UHD-2: the closest peer of MPI and ZeroMQ takes")}


def updated(text, figure_of):
    """The page with the newest figures. figure_of(section, goal): the figure. An example without a row is an error."""
    lines = text.split("\n")
    for example, column, section, goal in FIGURES:
        number = next((number for number, line in enumerate(lines) if f"| {example} |" in line), None)
        if number is None:
            raise ValueError(f"{PAGE}: no row '{example}'")
        figure = figure_of(section, goal)
        cells = lines[number].split("|")
        ratio = 1 / figure if (section, goal) in INVERSE else figure
        cells[column + 1] = re.sub(r"[\d.]+", f"{ratio:.2f}", cells[column + 1], count=1)
        lines[number] = "|".join(cells)
    return "\n".join(lines)
