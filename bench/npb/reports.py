"""What NPB's programs, `terrane omp --stats` and a host's network interface say, as numbers."""
import re

COUNTERS = ("faults", "fetched", "flushed KiB")


class Wrong(Exception):
    """A run whose result is wrong or missing; its text says which."""


def seconds(said):
    """The program's own time. Wrong: it did not verify its result, or has no time."""
    verified = re.search(r"^ ?Verification +=\s+(\w+)", said, re.MULTILINE)
    time = re.search(r"^ ?Time in seconds\s*=\s*([0-9.]+)", said, re.MULTILINE)
    if verified is None or time is None:
        raise Wrong("ENDS EARLY")
    if verified[1] != "SUCCESSFUL":
        raise Wrong("WRONG")
    return float(time[1])


def columns(line):
    """The names of a row of titles, of which one has a blank."""
    return line.replace("flushed KiB", "flushed_KiB").split()


def counters(said):
    """{counter: sum over all nodes and threads of --stats}, and "messages" of all parallel regions."""
    found = dict.fromkeys((*COUNTERS, "messages"), 0)
    titles, regions = [], []
    for line in said.splitlines():
        if line.startswith("  seconds of "):
            titles = [name.replace("_", " ") for name in columns(line)[2:]]
        elif line.startswith("  region "):
            regions = columns(line)[1:]
        elif line.startswith("terrane: "):
            regions = []
        elif titles and re.match(r"  (thread|starter|handler)\b", line):
            figures = [word for word in line.split() if re.fullmatch(r"[\d.]+", word)][-len(titles):]
            for name, figure in zip(titles, figures):
                if name in COUNTERS:
                    found[name] += int(figure)
        elif regions:
            match = re.match(r"  \S+((?: +[\d.]+){8}) ", line + " ")
            if match:
                found["messages"] += int(match[1].split()[regions.index("messages")])
    return found


def wire_bytes(said):
    """What went over the first host's interface, both ways: bench_npb's wrapper says it. None: it did not."""
    found = re.search(r"^wire (\d+)$", said, re.MULTILINE)
    return int(found[1]) if found else None


EXAMPLE = """terrane: parallel regions of 2 nodes
  region                          calls   seconds   faults  fetched   unused  flushed flushed KiB  messages  share of nodes, %
  rank._omp_fn.0                     11     1.405    29990   105605        0    16791       21412       333  50 50
  create_seq._omp_fn.0                1     1.317      156        8        0        1           0         5  62 38
  pages that several nodes write in one region: 5353
  key_buff2+0x1fffdc0                      flushed 13 times, by nodes 0 1, in rank._omp_fn.0
 IS Benchmark Completed
 Time in seconds =                     1.18
 Verification    =               SUCCESSFUL
terrane: node 1 (vm), 2.984 s
  seconds of        compute    fault     lock  barrier  handler overhead   faults  fetched    zeros  flushed KiB refreshed  scans  idle
  thread 15939        1.331    0.429    0.000    0.903    0.000    0.300    14830    64677      176        10137     32569   8626   381
  starter             0.000    0.000    2.958    0.008    0.000    0.001        4        2        1            0         0     12     8
  handler             0.000    0.000    0.000    0.000    0.027    0.000        0        0        0            0         0      0     0
  memory                                 KiB   faults  fetched    zeros flushed KiB refreshed
  static data                          67588    14746    64317      169       10121     32403
terrane: node 0 (vm), 2.986 s
  seconds of        compute    fault     lock  barrier  handler overhead   faults  fetched    zeros  flushed KiB refreshed  scans  idle
  thread 15930        1.866    0.409    0.005    0.414    0.000    0.289    16883    60136      224        11646     15667   8789   260
  handler             0.000    0.000    0.000    0.000    0.008    0.000        0        0        0            0         0      0     0
wire 21045
"""


def self_test():
    """Raises AssertionError where an example is not read as it says."""
    assert seconds(EXAMPLE) == 1.18
    assert counters(EXAMPLE) == {"faults": 31717, "fetched": 124815, "flushed KiB": 21783, "messages": 338}, counters(EXAMPLE)
    assert wire_bytes(EXAMPLE) == 21045 and wire_bytes("no wire 5") is None
    for said, name in ((EXAMPLE.replace("SUCCESSFUL", "UNSUCCESSFUL"), "WRONG"), (" Time in seconds = 2\n", "ENDS EARLY")):
        try:
            seconds(said)
        except Wrong as wrong:
            assert str(wrong) == name, wrong
        else:
            raise AssertionError(f"not {name}: {said}")
