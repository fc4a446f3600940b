"""A plot of curves with logarithmic axes, as SVG."""
import math

COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#888888", "#9467bd", "#ff7f0e", "#17becf", "#8c564b")
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 760, 420, 80, 40, 60, 130


def size_label(size):
    for unit in ("", "K", "M"):
        if size < 1024:
            return f"{size}{unit}"
        size //= 1024
    return f"{size}G"


def svg(curves, title, across, up="", every=1, label="{:,}".format):
    """curves: name -> {x: y}. `across`, `up`: what the axes are; of the x there is a label at every `every`-th."""
    places = sorted({x for points in curves.values() for x in points})
    values = [y for points in curves.values() for y in points.values() if y > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    octaves = max(1.0, math.log2(places[-1] / places[0]))

    def place(x, y):
        right = LEFT + (WIDTH - LEFT - RIGHT) * math.log2(x / places[0]) / octaves
        down = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (math.log10(max(y, 10 ** low)) - low) / max(1, high - low)
        return round(right, 1), round(down, 1)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="22" font-size="15">{title}</text>']
    for number in places[::every]:
        x, y = place(number, 10 ** low)
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{label(number)}</text>')
    for power in range(low, high + 1):
        x, y = place(places[0], 10 ** power)
        parts.append(f'<line x1="{x}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#dddddd"/>')
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{10.0 ** power:,.10g}</text>')
    parts.append(f'<text x="{LEFT + 220}" y="{HEIGHT - 14}">{across}</text><text x="8" y="{TOP - 8}">{up}</text>')
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join("{},{}".format(*place(x, points[x])) for x in sorted(points))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 20 * number + 10}" fill="{colour}">{name}</text>')
    return "\n".join(parts + ["</svg>", ""])
