"""Bars as SVG: figure 2 of the paper (a bar for each implementation, the ideal as a line) and figure 3 (two parts a bar)."""

WIDTH, ROW, LEFT, RIGHT, TOP = 820, 26, 190, 110, 50
COLOURS = ("#1f77b4", "#ffbb78")


def svg(bars, title, unit, line=None, notes=None, parts=("",)):
    """bars: name -> the lengths of its parts; `line`: (name, value); `notes`: name -> text behind the bar."""
    most = max(sum(lengths) for lengths in bars.values())
    most = max(most, line[1] if line else 0)
    height = TOP + ROW * len(bars) + 50

    def right(value):
        return LEFT + (WIDTH - LEFT - RIGHT) * value / most

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/><text x="{LEFT}" y="20" font-size="15">{title}</text>']
    for number, (name, lengths) in enumerate(bars.items()):
        y, at = TOP + ROW * number, 0
        out.append(f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{name}</text>')
        for part, length in enumerate(lengths):
            out.append(f'<rect x="{right(at):.1f}" y="{y}" width="{right(at + length) - right(at):.1f}" height="{ROW - 8}" '
                       f'fill="{COLOURS[part]}"/>')
            at += length
        note = notes[name] if notes else f"{at:.2f} {unit}"
        out.append(f'<text x="{right(at) + 6:.1f}" y="{y + 14}">{note}</text>')
    bottom = TOP + ROW * len(bars)
    if line:
        out.append(f'<line x1="{right(line[1]):.1f}" y1="{TOP - 8}" x2="{right(line[1]):.1f}" y2="{bottom}" stroke="#d62728" '
                   'stroke-width="2" stroke-dasharray="6 3"/>')
        out.append(f'<text x="{right(line[1]):.1f}" y="{TOP - 12}" fill="#d62728" text-anchor="middle">{line[0]} {line[1]:.2f} {unit}</text>')
    for part, name in enumerate(parts):
        if name:
            x = LEFT + 170 * part
            out.append(f'<rect x="{x}" y="{bottom + 14}" width="12" height="12" fill="{COLOURS[part]}"/>'
                       f'<text x="{x + 18}" y="{bottom + 25}">{name} ({unit})</text>')
    return "\n".join(out + ["</svg>", ""])
