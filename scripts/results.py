#!/usr/bin/env python3
"""Makes docs/results.md of the records of benchmarks in docs/results/DATE/*.json, one line for each goal, its plots,
and the figures of docs/how-fast.md that have a record.

Usage: results.py [--check | --self-test]

./run bench NAME --json docs/results/DATE/NAME.json writes a record. The newest record that has a goal's row counts. A goal
that no record has is shown with the figure of docs/results/earlier.json, which were measured before records were kept.
--check: docs/results.md, the plots in docs/images and the figures of docs/how-fast.md are what the records give.
"""

import json
import pathlib
import re
import sys

import how_fast
import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = pathlib.Path("docs/results.md")
IMAGES = pathlib.Path("docs/images")

# Of each section: its title, the sentence under it, and its goals: what, the limit, the unit, the benchmark and what its
# command must hold, and the row, whose first group is the figure. A limit of None: the figure is shown only.
SHM, TCP = r"^(?!.*ucx)", r"ucx"
WHOLE = r"^(?!.*--(quick|host-mib|only))"
CLASS_A = r"^(?!.*--class [SW])"
SECTIONS = [
    ("Pages", "Two nodes on one host; *x floor* is the time over that of the bare mechanism, in the same run.", [
        ("read fault of a page, home polls", 1.3, "x floor", "pages", SHM, r"^read-fault-warm +1 +polling +\S+ +\S+ +(\S+)"),
        ("read fault of a page over tcp, home polls", 1.5, "x floor", "pages", TCP, r"^read-fault-warm +1 +polling +\S+ +\S+ +(\S+)"),
        ("barrier, nothing to send", 2, "x floor", "pages", SHM, r"^barrier-nothing-tracked +1 +polling +\S+ +\S+ +(\S+)"),
        ("barrier over tcp, nothing to send", 2, "x floor", "pages", TCP, r"^barrier-nothing-tracked +1 +polling +\S+ +\S+ +(\S+)"),
        ("lock of both nodes: p99 over the median hand-over", 20, "x", "pages", SHM,
         r"^2 nodes +\S+ +\S+ +\S+ +(\S+)"),
        ("lock of both nodes: median of all turns", None, "us", "pages", SHM, r"^2 nodes +(\S+)"),
        ("adaptive over invalidate or update: producer-consumer", 1.1, "x", "pages", SHM,
         r"^producer\S* +hlrc +\S+ +\S+ +\S+ +(\S+)x"),
        ("adaptive over invalidate or update: migratory", 1.1, "x", "pages", SHM, r"^migratory\S* +hlrc +\S+ +\S+ +\S+ +(\S+)x"),
        ("Jacobi 1024 x 1024, an iteration", 1.1, "x MPI", "pages", SHM, r"^terrane / MPI: an iteration (\S+)x"),
        ("Jacobi over tcp, an iteration", 1.1, "x MPI", "pages", TCP, r"^terrane / MPI: an iteration (\S+)x"),
        ("Jacobi, 8 nodes over 2 nodes, an iteration", 20, "x", "pages", SHM, r"8 nodes / 2 nodes: (\S+)x"),
        ("lock that no other node asks for, 1,024 copies held", 0.5, "us", "pages", SHM,
         r"^lock of one node, 1024 copies +(\S+)"),
        ("lock in turns with one page of data", 10, "us", "pages", SHM, r"^1 of both, a page each +(\S+)"),
        ("pages that go home after a freed region", 2, "pages", "", "", ""),
    ]),
    ("Omni/SCASH's experiments", "SCASH took 240 us for a page over Myrinet, and 700 us over Ethernet.", [
        ("a page written and brought home by a barrier, 2 nodes", None, "us", "scash", SHM, r"^ +2 +(\S+) "),
        ("the same page over tcp", None, "us", "scash", TCP, r"^ +2 +(\S+) "),
        ("Laplace on 2 nodes, speed-up", None, "x", "scash", SHM, r"^ +2 nodes .*speed-up (\S+)"),
    ]),
    ("Memory of several hosts", "One program whose main fills and reads 400 MiB, on two hosts of 256 MiB, tcp; compared with one host and swap.", [
        ("rows that are wrong or exceed their control group", 0, "rows", "memory", WHOLE, r"^rows that are wrong .*: (\d+) of"),
        ("fill", None, "x swap", "memory", WHOLE, r"^fill, s +\S+ +\S+ +(\S+)"),
        ("sweep", -1, "x swap", "memory", WHOLE, r"^sweep, s +\S+ +\S+ +(\S+)"),
        ("random lookups", -3, "x swap", "memory", WHOLE, r"^random lookup by main, us +\S+ +\S+ +(\S+)"),
        ("sweep of data at the other host", -0.7, "x UCX", "memory", WHOLE, r"^sweep of far data, GB/s +\S+ +\S+ +(\S+)"),
        ("a random page of the other host", 1.5, "x round trip of UCX", "memory", WHOLE,
         r"^a random far page, peer asleep, us +\S+ +\S+ +(\S+)"),
    ]),
    ("Threads programs", "Programs as they are, on two nodes; compared with two threads of one process.", [
        ("FFT", None, "x threads", "splash", "", r"^fft +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("LU", None, "x threads", "splash", "", r"^lu +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("radix sort", None, "x threads", "splash", "", r"^radix +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("ocean", None, "x threads", "splash", "", r"^ocean +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("LU by rows", None, "x threads", "splash", "", r"^lu-by-rows +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("Barnes, 32,768 bodies", None, "x threads", "splash", "", r"^barnes +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("water-nsquared", None, "x threads", "splash", "", r"^water-nsquared +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("water-spatial", None, "x threads", "splash", "", r"^water-spatial +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("k-means beside threads", None, "x threads", "threads", r"^(?!.*--points)", r"^2 nodes +\S+ +(\S+)"),
        ("k-means of 10 million points", None, "x MPI", "threads", r"^(?!.*--points)", r"^2 nodes +\S+ +\S+ +(\S+)"),
        ("k-means on two hosts", None, "x MPI", "threads", r"--hosts", r"^2 hosts +\S+ +\S+ +(\S+)"),
        ("Splash-3 programs with the results of threads", -14, "of 14", "", "", ""),
        ("Raytrace (teapot), default fault source", 10, "x threads", "", "", ""),
        ("Barnes, 2,048 bodies", 10, "x threads", "", "", ""),
    ]),
    ("OpenMP", "Two nodes of one thread on one host; for kernels, the time of gcc's library with two threads over ours.", [
        ("empty region", 1, "us", "omp", SHM, r"^region +\S+ +(\S+)"),
        ("region with 8 changed pages", 3, "us", "omp", SHM, r"^region-with-8-changed-pages +\S+ +(\S+)"),
        ("reduction", 2, "us", "omp", SHM, r"^reduction +\S+ +(\S+)"),
        ("barrier", 0.3, "us", "omp", SHM, r"^barrier +\S+ +(\S+)"),
        ("single", 1.5, "us", "omp", SHM, r"^single +\S+ +(\S+)"),
        ("EP", -0.98, "x threads", "omp", SHM, r"^ep +\S+ +\S+ +\S+ +(\S+)"),
        ("CG", -0.85, "x threads", "omp", SHM, r"^cg +\S+ +\S+ +\S+ +(\S+)"),
        ("FT", -0.65, "x threads", "omp", SHM, r"^ft +\S+ +\S+ +\S+ +(\S+)"),
    ]),
    ("NPB", "NPB's own OpenMP programs, class A, on two nodes; compared with its MPI programs, or with gcc's library (BT, SP).", [
        *[(name, limit, "x MPI", "npb", CLASS_A, rf"^{name} +\d+\.\d+(?: +\S+){{3}} +(\d\S*)")
          for name, limit in (("EP", 1.0), ("MG", 1.05), ("CG", 1.1), ("FT", 1.1), ("IS", 1.5), ("LU", 1.3))],
        *[(name, limit, "x libgomp", "npb", CLASS_A, rf"^{name} +\d+\.\d+(?: +\S+){{2}} +(\d\S*)") for name, limit in (("BT", 1.1), ("SP", 1.2))],
        *[(f"{name} beside gcc's library", None, "x libgomp", "npb", CLASS_A, rf"^{name} +\d+\.\d+(?: +\S+){{2}} +(\d\S*)")
          for name in ("EP", "MG", "CG", "FT", "IS", "LU")],
        *[(f"{name}, two hosts by tcp", limit, "x MPI", "npb", CLASS_A, rf"^{name} +\d+\.\d+(?: +\S+){{6}} +(\d\S*)")
          for name, limit in (("MG", 1.1), ("CG", 0.65), ("FT", 1.2), ("IS", 1.5), ("LU", 1.5))],
        *[(f"{name}, bytes between two hosts", 1.3, "x MPI", "npb", CLASS_A, rf"^{name}(?: +\d+){{4}} +\S+ +\S+ +(\d\S*)")
          for name in ("MG", "CG", "FT", "IS")],
    ]),
    ("OpenSHMEM", "Two PEs on one host.", [
        ("put of 8 bytes", 5, "ns", "shmem", r"^(?!.*--over)", r"^p +(\S+)"),
        ("get of 8 bytes", 8, "ns", "shmem", r"^(?!.*--over)", r"^g +(\S+)"),
        ("fetch-add", 12, "ns", "shmem", r"^(?!.*--over)", r"^fetch-add +(\S+)"),
        ("barrier_all over its floor", 1.3, "x", "shmem", r"^(?!.*--over)", r"^barrier_all .* (\S+)x bare-pairwise"),
        ("put of 1 MiB", 1.02, "x memcpy", "shmem", r"^(?!.*--over)",
         r"^ +1048576 B +\S+ +\S+ +\S+ +\S+ +(\S+)"),
        ("sum of 8 bytes, and a barrier", 0.5, "us", "shmem", r"^(?!.*--over)", r"^sum 8 B +(\S+)"),
        ("shmem_init", 20, "ms", "shmem", r"^(?!.*--over)", r"^init +(\S+)"),
    ]),
    ("Chunks", "From a whole frame until the slowest subscriber has read every byte, compared with memcpy.", [
        ("frame of 8.3 MB, one subscriber", None, "x memcpy", "chunks", "", r"^ +one subscriber has read .* 8294400 .*Terrane (\S+)x"),
        ("the same frame by ZeroMQ over ipc", None, "x memcpy", "chunks", "", r"^ +one subscriber has read .* 8294400 .*ipc (\S+)x"),
        ("scopes of 1 KiB chunks, 16 clients, 4 servers", None, "a second", "chunks", "", r"^ +1024 +4 .* (\S+)$"),
        ("more time of a scope with the event log", 2, "%", "chunks", "", r"^ +time .* (\S+) %"),
    ]),
    ("Python", "Two processes of one host, four for the writers; NumPy's own arrays have large pages, and shared ones small pages alone.", [
        ("store in a shared array", 1.02, "x NumPy", "python", "", r"^store +(\S+)"),
        ("the same beside NumPy with small pages", 1.02, "x NumPy", "python", "", r"^store-4K +(\S+)"),
        ("ufunc on a shared array", 1.02, "x NumPy", "python", "", r"^ufunc +(\S+)"),
        ("the same beside NumPy with small pages", 1.02, "x NumPy", "python", "", r"^ufunc-4K +(\S+)"),
        ("`tr.barrier()`, more than in C", 1.5, "us", "python", "", r"^barrier +(\S+)"),
        ("heat in a plate", 1.1, "x mpi4py", "python", "", r"^heat +(\S+)"),
        ("heat in a plate, two hosts by tcp", 1.1, "x mpi4py", "python", "", r"^heat-tcp +(\S+)"),
        *[(f"chunk of {size}: the fastest of its peers takes", -1, "x chunk", "python", "",
           rf"^{size} .* (\S+)x   goal") for size in ("64K", "1M", "8M")],
        ("64 writers: the faster one of Ray and Dask takes", None, "x ours", "python", "", r"^writers .* (\S+)x   goal"),
    ]),
    ("Video", "A 3x3 edge convolution of each frame by two workers of one host, with the fastest kernel.", [
        *[(f"{size}: a frame", 1.03, "x threads", "video", r"^(?!.*--mixed)", rf"^{size}, best: chunks / threads (\S+)x")
          for size in ("HD", "UHD-1", "UHD-2")],
        *[(f"{size}: the closest peer of MPI and ZeroMQ takes", -1, "x chunks", "video", r"^(?!.*--mixed)",
           rf"^{size}, best: closest peer / chunks (\S+)x") for size in ("HD", "UHD-1", "UHD-2")],
        ("HD: processor time", 1.15, "x sequential", "video", r"^(?!.*--mixed)", r"^HD, best: .*CPU / sequential (\S+)x"),
        ("HD: messages a frame", 5, "messages", "video", r"^(?!.*--mixed)", r"^chunks  .* (\S+) +\S+ +\S+ +\S+$"),
        ("a worker behind 1 Gb/s: time", 1.05, "x ideal", "video", r"--mixed", r"^behind 1 Gb/s: time / ideal (\S+)x"),
        ("a worker behind 1 Gb/s: deviation", 2, "% of frames", "video", r"--mixed", r"^behind 1 Gb/s: .*deviation (\S+) %"),
    ]),
    ("Clusters", "2 x 3 hosts of namespaces with a router between, 1 ms one way; *gain* is over the same job without clusters.", [
        ("barrier of all nodes: messages over the link", 2, "messages", "clusters", "", r"^ +1000 barrier .* (\S+) +\S+  <= 2"),
        ("lock that stays in a cluster: messages over the link", 0, "messages", "clusters", "", r"^ +1000 lock .* (\S+) +\S+  0$"),
        ("LU: gain", -1.5, "x", "clusters", "", r"^ +1000 LU +\S+ +\S+ +(\S+)"),
        ("Jacobi: gain", -1.5, "x", "clusters", "", r"^ +1000 Jacobi +\S+ +\S+ +(\S+)"),
        ("a page through gateways, 0 us", 1.3, "x relays with TLS", "clusters", "", r"^at 0 us: a page .* TLS (\S+)x"),
        ("a page through gateways", 1.3, "x relays with TLS", "clusters", "", r"^at 1000 us: a page .* TLS (\S+)x"),
        ("64 pages through gateways", 2, "round trips", "clusters", "", r"^at 1000 us: .* 64 pages (\S+) round"),
        ("processor time of the gateways", 1.25, "x relays with TLS", "clusters", "", r"^gateways: .* (\S+)x of relays"),
    ]),
    ("Messages", "Our transport over tcp, compared with UCX's own active messages.", [
        ("round trip of 8 bytes, peer polls", 1.15, "x UCX", "messages", "", r"^round trip us, peer polls +8 B.* (\S+)  goal"),
        ("round trip of 4 KiB, peer polls", 1.15, "x UCX", "messages", "", r"^round trip us, peer polls +4 KiB.* (\S+)  goal"),
    ]),
    ("Many nodes, in virtual time", "A model with the protocol's own code; the figures do not depend on the machine.", [
        ("barrier alone, 1,024 nodes", None, "us", "scale", "", r"^barrier +1024 +(\S+)"),
        ("stencil, 16 pages a node, 1,024 nodes", None, "us", "scale", "", r"^stencil +1024 +(\S+)"),
        ("transpose, 256 nodes", None, "us", "scale", "", r"^transpose +256 +(\S+)"),
        ("tree, 1,024 nodes", None, "us", "scale", "", r"^tree +1024 +(\S+)"),
    ]),
    ("Correctness and faults", "Counts of what went wrong.", [
        ("random histories that break the memory model", 0, "of 10,000,000", "", "", ""),
        ("faults after which a job hangs or leaves something", 0, "of 200", "", "", ""),
        ("jobs on 4 hosts that fail beside 40 computing threads", 0, "of 50", "", "", ""),
        ("wrong bytes in an hour of the stress program", 0, "bytes", "", "", ""),
        ("wrong bytes in ten minutes of a threads program's heap", 0, "bytes", "", "", ""),
        ("acknowledged writes lost without a report", 0, "writes", "", "", ""),
    ]),
]


def records(folder):
    """All records, the oldest first."""
    found = [json.loads(path.read_text(encoding="utf-8")) | {"file": path} for path in sorted(folder.glob("*/*.json"))]
    return sorted(found, key=lambda record: (record["date"], record["time"]))


def newest(goal, all_records):
    """The newest record that has the goal's row, and the figure there; (None, None): there is none."""
    _, _, _, benchmark, command, row = goal
    for record in reversed(all_records):
        if record["benchmark"] != benchmark or record["exit_code"] != 0 or not re.search(command, record["command"]):
            continue
        for line in record["output"]:
            found = re.search(row, line)
            if found:
                return record, float(found[1].replace(",", ""))
    return None, None


def figures(all_records):
    """A function that gives the newest figure of a section's goal, or None."""
    goals = {(section, goal[0]): goal for section, _, goals in SECTIONS for goal in goals}
    return lambda section, what: newest(goals[section, what], all_records)[1]


def target(limit, unit):
    if limit is None:
        return ""
    return f">= {-limit:g} {unit}" if limit < 0 else f"<= {limit:g} {unit}" if limit else f"0 {unit}"


def verdict(figure, limit):
    if limit is None:
        return ""
    return "yes" if (figure >= -limit if limit < 0 else figure <= limit) else "**no**"


def line(section, goal, all_records, earlier):
    what, limit, unit = goal[:3]
    record, figure = newest(goal, all_records)
    if record:
        number = len(all_records) - all_records.index(record)
        return (f"| {what} | {target(limit, unit)} | {figure:,g} {unit} | {verdict(figure, limit)} "
                f"| {record['date']}, record {number} |")
    before = earlier.get(section, {}).get(what)
    if before is None:
        return f"| {what} | {target(limit, unit)} | not measured | | |"
    return (f"| {what} | {target(limit, unit)} | {before['figure']:,g} {unit} | {verdict(before['figure'], limit)} "
            f"| {before['date']}, not run again |")


def machine_of(record):
    machine = record["machine"]
    return (f"{machine['processors']} processors, {machine['processor']}, Linux {machine['kernel']}; load {machine['load_before']}")


HEAD = """# Results

Every goal of the project, one line each: the target, the last figure, and whether it is met. `scripts/results.py` makes
this page of the records in [docs/results](results/); a record has the command, the commit, the machine and everything
that the benchmark printed.

- *Not run again*: measured before records were kept. The command, the machine and the conditions are in the older page:
  `git show 50ee30b:docs/results.md`. Those of Barnes and Raytrace are in
  [decision 0032](decisions/0032-extended-turns.md).
- To measure again: `./run bench NAME --json docs/results/DATE/NAME.json`, then `scripts/results.py`.
- Compare the ratios: absolute times belong to a machine, and this one has neighbours.
"""


def page(folder):
    all_records = records(folder)
    drawings = plots.plots(all_records)
    before = folder / "earlier.json"
    earlier = json.loads(before.read_text(encoding="utf-8")) if before.exists() else {}
    lines = [HEAD]
    for section, sentence, goals in SECTIONS:
        lines += [f"## {section}\n", sentence + "\n", "| goal | target | figure | met | measured |", "|---|---|---|---|---|"]
        lines += [line(section, goal, all_records, earlier) for goal in goals]
        lines.append("")
        drawn = [name for name in plots.SHOWN.get(section, []) if name in drawings]
        lines += [f"![{name.removesuffix('.svg')}]({IMAGES.name}/{name})" for name in drawn] + [""] * bool(drawn)
    lines += ["## Records\n", "The load before a benchmark says whether other work ran beside it.\n"]
    for number, record in enumerate(reversed(all_records), 1):
        name = record["file"].relative_to(folder.parent)
        lines += [f"{number}. [{name}]({name}):",
                  f"   `{record['command']}`,",
                  f"   {record['date']} {record['time']}, {record['seconds']:g} s, commit `{record['commit']}`;",
                  f"   {machine_of(record)}"]
    return "\n".join(lines) + "\n"


def self_test():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "results")
        for date, ratio in (("2026-01-01", "1.44"), ("2026-01-02", "1.06")):
            (root / date).mkdir(parents=True)
            record = {"benchmark": "pages", "command": "./run bench pages", "commit": "abc", "date": date, "time": "10:00",
                      "seconds": 1.0, "exit_code": 0, "output": [f"terrane / MPI: an iteration {ratio}x, iterations 3 on"],
                      "machine": {"processors": 2, "processor": "p", "system": "s", "kernel": "k", "load_before": 0.1}}
            (root / date / "pages.json").write_text(json.dumps(record))
        (root / "earlier.json").write_text(json.dumps({"Pages": {"pages that go home after a freed region": {
            "figure": 72, "date": "2025-12-31"}}}))
        text = page(root)
    wanted = ["| Jacobi 1024 x 1024, an iteration | <= 1.1 x MPI | 1.06 x MPI | yes | 2026-01-02, record 1 |",
              "| Jacobi over tcp, an iteration | <= 1.1 x MPI | not measured | | |",
              "| pages that go home after a freed region | <= 2 pages | 72 pages | **no** | 2025-12-31, not run again |"]
    for row in wanted:
        if row not in text:
            sys.exit(f"self-test: not in the page: {row}\n{text}")
    rows = "\n".join(f"| | {example} | 1 | 1 (2) | 1 | |" for example in dict.fromkeys(row[0] for row in how_fast.FIGURES))
    fast = how_fast.updated(rows, lambda section, goal: 0.8)
    for row in ("| | Jacobi, 1024 x 1024 | 1 | 0.80 (2) | 0.80 | |", "| | video, HD | 0.80 | 1.25 (2) | 1 | |"):
        if row not in fast:
            sys.exit(f"self-test: not in the page: {row}\n{fast}")
    print("results: nothing found")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    folder = (ROOT / PAGE).parent / "results"
    fast = how_fast.updated((ROOT / how_fast.PAGE).read_text(encoding="utf-8"), figures(records(folder)))
    made = {PAGE: page(folder), pathlib.Path(how_fast.PAGE): fast} | {IMAGES / name: text for name, text in plots.plots(records(folder)).items()}
    if arguments == ["--check"]:
        for path, text in made.items():
            if not (ROOT / path).exists() or (ROOT / path).read_text(encoding="utf-8") != text:
                sys.exit(f"{path} is not what the records give: run scripts/results.py")
        print("results: nothing found")
    elif arguments:
        sys.exit(__doc__)
    else:
        for path, text in made.items():
            (ROOT / path).write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
