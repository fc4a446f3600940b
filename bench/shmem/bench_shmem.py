#!/usr/bin/env python3
"""OpenSHMEM beside memcpy and bare barriers, beside Open MPI's OpenSHMEM and beside MPI-3's one-sided calls, in one run.

Usage: ./run bench shmem [--pes N,N] [--turns N] [--quick] [--plot FOLDER] [--over hosts] [--collectives] [--tune FILE]
The sides take turns; figures are medians over the turns. Open MPI's rows are the same program, compiled against its header; a side
that is missing is named and left out. --plot writes puts and gets as Markdown and SVG. --over hosts measures between two hosts
(namespaces, tcp) beside UCX's own. --collectives shows all collectives of version 1.6. --tune measures every algorithm of every
collective and writes the fastest ones as a file for TERRANE_SHMEM_ALGORITHM=@FILE. Trust the ratios: the machine's speed drifts.
"""
import argparse
import os

import hosts
import plot
import sides
import tables
import tune


def compare(pes_list, turns, folder):
    found = sides.find_sides()
    print(f"{os.cpu_count()} processors, {turns} turn{'s' if turns > 1 else ''}")
    tables.start(sides.measure(found, 2, "init", turns))
    one_sided = sides.measure(found, 2, "one-sided", turns)
    tables.words(one_sided)
    tables.blocks(one_sided)
    tables.variants(one_sided)
    for pes in pes_list:
        tables.together(sides.measure(found, pes, "together", turns), pes)
    if folder:
        plot.write(one_sided, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pes", default="2,8", help="numbers of PEs in barriers and collectives (default 2,8)")
    parser.add_argument("--turns", type=int, default=5, help="of every side (default 5)")
    parser.add_argument("--quick", action="store_true", help="one turn: does it run?")
    parser.add_argument("--plot", metavar="FOLDER", help="where put.svg, get.svg and ratios.md go")
    parser.add_argument("--over", choices=("hosts",), help="ours between two hosts, beside UCX's own")
    parser.add_argument("--collectives", action="store_true", help="ours alone: all collectives")
    parser.add_argument("--tune", metavar="FILE", help="measure all algorithms, write the fastest")
    options = parser.parse_args()
    pes_list = [int(pes) for pes in options.pes.split(",")]
    turns = 1 if options.quick else options.turns
    if options.tune:
        tune.tune(pes_list, turns, options.tune)
    elif options.collectives:
        for pes in pes_list:
            tune.show_all(pes, turns)
    elif options.over:
        hosts.show(turns)
    else:
        compare(pes_list, turns, options.plot)


if __name__ == "__main__":
    main()
