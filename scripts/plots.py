"""The plots of docs/images that scripts/results.py makes of records, each of the newest record that has its rows."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import chart  # noqa: E402

SCALE = {"us": (2, "us an iteration"), "messages": (3, "messages a node and iteration"),
         "memory": (8, "bytes of the protocol, at the node that has most")}
# Which section of the page shows which.
SHOWN = {"Many nodes, in virtual time": [f"scale_{name}.svg" for name in SCALE], "OpenSHMEM": ["shmem_put.svg"]}
PUT_COLUMNS = ("memcpy", "Terrane", "Open MPI", "MPI-3")


def scale_curves(output, column):
    """Pattern -> {nodes: figure}; empty if this is no record of ./run bench scale to 1,024 nodes."""
    curves = {}
    for line in output:
        fields = line.replace(",", "").split()
        if len(fields) == 9 and fields[1].isdigit():
            curves.setdefault(fields[0], {})[int(fields[1])] = float(fields[column])
    return curves if any(1024 in points for points in curves.values()) else {}


def put_curves(output):
    """Name -> {bytes: GB/s}; empty if the record has no table of puts."""
    starts = [number for number, line in enumerate(output) if line.startswith("us a put ")]
    curves = {}
    for line in output[starts[0] + 1:] if starts else []:
        found = re.match(r" +(\d+) B +(\S+) +(\S+) +(\S+) +(\S+) ", line)
        if not found:
            break
        for name, us in zip(PUT_COLUMNS, found.groups()[1:]):
            if us != "-":
                curves.setdefault(name, {})[int(found[1])] = int(found[1]) / float(us) / 1000
    return curves


def plots(all_records):
    """Name of the file -> SVG. The oldest record comes first."""
    found = {}
    for record in all_records:
        if record["exit_code"] != 0:
            continue
        for column, (place, title) in SCALE.items() if record["benchmark"] == "scale" else ():
            curves = scale_curves(record["output"], place)
            if curves:
                found[f"scale_{column}.svg"] = chart.svg(curves, title, "nodes")
        curves = put_curves(record["output"]) if record["benchmark"] == "shmem" else {}
        if curves:
            title = "shmem_putmem, PE 0 to PE 1 of one host"
            found["shmem_put.svg"] = chart.svg(curves, title, "bytes", "GB/s", 3, chart.size_label)
    return found
