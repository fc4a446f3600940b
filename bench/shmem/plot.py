"""Puts and gets as a table in Markdown and as a plot in SVG: bandwidth over size, beside memcpy, and POSH's ratios."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import chart  # noqa: E402
from sides import OURS  # noqa: E402

# "POSH: Paris OpenSHMEM", tables 1 and 2: bandwidth in Gb/s of memcpy (the best copy on that machine), and of get and put by it.
POSH = {"Caire": (18.40, 18.36, 18.38), "Jaune": (16.60, 17.62, 17.55), "Magi10": (22.93, 20.46, 20.16),
        "Maximum": (77.91, 74.09, 76.15), "Pastel": (20.32, 26.07, 25.50)}


def series(found, way):
    """Name -> {bytes: GB/s}; memcpy last."""
    curves = {name: {size: size / ns for (row, memory, size), ns in rows.items() if row == way and memory == "heap"}
              for name, rows in found.items()}
    floor = "memcpy-to" if way == "put" else "memcpy-from"
    curves["memcpy"] = {size: size / ns for (row, memory, size), ns in found[OURS].items() if row == floor and memory == "heap"}
    return {name: points for name, points in curves.items() if points}


def markdown(found):
    lines = ["Bandwidth over memcpy's, in the same run (of POSH: over the best of its copies, on five machines of its paper)", "",
             "| bytes | " + " | ".join(f"{name} put | {name} get" for name in found) + " |", "|---|" + "---|" * 2 * len(found)]
    base = found[OURS]
    for size in sorted(size for name, memory, size in base if name == "put" and memory == "heap"):
        cells = []
        for rows in found.values():
            for way, floor in (("put", "memcpy-to"), ("get", "memcpy-from")):
                ns = rows.get((way, "heap", size))
                cells.append("-" if ns is None else f"{base[floor, 'heap', size] / ns:.2f}")
        lines.append(f"| {chart.size_label(size)} | " + " | ".join(cells) + " |")
    lines += ["", "| POSH on | get | put |", "|---|---|---|"]
    lines += [f"| {machine} | {get / copy:.2f} | {put / copy:.2f} |" for machine, (copy, get, put) in POSH.items()]
    return "\n".join(lines + [""])


def write(found, folder):
    os.makedirs(folder, exist_ok=True)
    texts = {f"{way}.svg": chart.svg(series(found, way), f"shmem_{way}mem, PE 0 to PE 1 of one host", "bytes", "GB/s", 3, chart.size_label) for way in ("put", "get")}
    texts["ratios.md"] = markdown(found)
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"written: {os.path.join(folder, name)}")
