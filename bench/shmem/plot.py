"""Puts and gets as a table in Markdown and as a plot in SVG: bandwidth over size, beside memcpy, and POSH's ratios."""
import math
import os

from sides import OURS

# "POSH: Paris OpenSHMEM", tables 1 and 2: bandwidth in Gb/s of memcpy (the best copy on that machine), and of get and put by it.
POSH = {"Caire": (18.40, 18.36, 18.38), "Jaune": (16.60, 17.62, 17.55), "Magi10": (22.93, 20.46, 20.16),
        "Maximum": (77.91, 74.09, 76.15), "Pastel": (20.32, 26.07, 25.50)}
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#888888")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 420, 70, 40, 60


def series(found, way):
    """Name -> {bytes: GB/s}; memcpy last."""
    curves = {name: {size: size / ns for (row, memory, size), ns in rows.items() if row == way and memory == "heap"}
              for name, rows in found.items()}
    floor = "memcpy-to" if way == "put" else "memcpy-from"
    curves["memcpy"] = {size: size / ns for (row, memory, size), ns in found[OURS].items() if row == floor and memory == "heap"}
    return {name: points for name, points in curves.items() if points}


def label(size):
    for unit in ("", "K", "M"):
        if size < 1024:
            return f"{size}{unit}"
        size //= 1024
    return f"{size}G"


def svg(curves, title):
    sizes = sorted({size for points in curves.values() for size in points})
    most = max(value for points in curves.values() for value in points.values())
    least = min(value for points in curves.values() for value in points.values())
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))

    def place(size, value):
        x = LEFT + (WIDTH - LEFT - 130) * math.log2(size / sizes[0]) / math.log2(sizes[-1] / sizes[0])
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(value) - low) / (high - low)
        return round(x, 1), round(y, 1)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="22" font-size="15">{title}</text>']
    for size in sizes[::3]:
        x, y = place(size, 10 ** low)
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{label(size)}</text>')
    for power in range(low, high + 1):
        x, y = place(sizes[0], 10 ** power)
        parts.append(f'<line x1="{x}" y1="{y}" x2="{WIDTH - 130}" y2="{y}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{10.0 ** power:g}</text>')
    parts.append(f'<text x="{LEFT + 220}" y="{HEIGHT - 14}">bytes</text><text x="8" y="{TOP + 4}">GB/s</text>')
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join("{},{}".format(*place(size, points[size])) for size in sorted(points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{WIDTH - 120}" y="{TOP + 20 * number + 10}" fill="{colour}">{name}</text>')
    return "\n".join(parts + ["</svg>", ""])


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
        lines.append(f"| {label(size)} | " + " | ".join(cells) + " |")
    lines += ["", "| POSH on | get | put |", "|---|---|---|"]
    lines += [f"| {machine} | {get / copy:.2f} | {put / copy:.2f} |" for machine, (copy, get, put) in POSH.items()]
    return "\n".join(lines + [""])


def write(found, folder):
    os.makedirs(folder, exist_ok=True)
    texts = {f"{way}.svg": svg(series(found, way), f"shmem_{way}mem, PE 0 to PE 1 of one host") for way in ("put", "get")}
    texts["ratios.md"] = markdown(found)
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        print(f"written: {os.path.join(folder, name)}")
