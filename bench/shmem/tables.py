"""What bench_shmem.py prints: ours beside the floors, beside the other sides and beside the goals."""
from sides import OURS

MIB = 1 << 20


def cell(value, scale=1.0, width=12, digits=2):
    return f"{'-' if value is None else f'{value / scale:.{digits}f}':>{width}}"


def heading(text, names, last="goal"):
    print(f"\n{text:34}" + "".join(f"{name:>12}" for name in names) + f"  {last}")


def line(text, found, row, scale=1.0, note="", digits=2):
    print(f"{text:34}" + "".join(cell(rows.get(row), scale, digits=digits) for rows in found.values()) + f"  {note}".rstrip())


def verdict(ratio, goal, of):
    return f"{ratio:.2f}x {of}, goal {goal}" + ("" if ratio <= goal else ": missed")


def limit(value, goal, unit):
    return f"goal {goal} {unit}" + ("" if value <= goal else ": missed")


def words(found):
    ours = found[OURS]
    heading("ns a call, 8 bytes", found)
    for name in ("memcpy", "store", "own-fetch-add"):
        line(f"{name} (floor)", {OURS: ours}, (name, "heap", 8))
    goals = {"p": 5, "g": 8, "fetch-add": 12}
    for name in ("p", "g", "put-8", "get-8", "put+quiet", "fetch-add"):
        value = ours[name, "heap", 8]
        line(name, found, (name, "heap", 8), note=limit(value, goals[name], "ns") if name in goals else "")
    for name in ("p", "g", "fetch-add"):
        apart = ours[name, "statics", 8] - ours[name, "heap", 8]
        line(f"{name}, a static variable", found, (name, "statics", 8), note=f"heap {apart:+.2f} ns, " + limit(apart, 1.5, "ns more"))


def blocks(found):
    for way, floor in (("put", "memcpy-to"), ("get", "memcpy-from")):
        ours = found[OURS]
        print(f"\n{'us a ' + way:14}{'memcpy':>12}" + "".join(f"{name:>12}" for name in found) + f"{'ours/memcpy':>14}{'GB/s':>9}")
        for size in sorted(size for name, memory, size in ours if name == way and memory == "heap"):
            base, value = ours[floor, "heap", size], ours[way, "heap", size]
            print(f"{size:>12} B{cell(base, 1e3, digits=4)}" +
                  "".join(cell(rows.get((way, "heap", size)), 1e3, digits=4) for rows in found.values()) +
                  f"{value / base:14.2f}{size / value:9.2f}" + ("  goal 1.02" if size == MIB else ""))


def variants(found):
    ours = found[OURS]
    sizes = (8, 4096, MIB, 64 * MIB)
    print(f"\n{'ways to copy, us (POSH, table 1)':34}" + "".join(f"{size:>12} B" for size in sizes))
    names = {"copy-words": "loop of words", "copy-memcpy": "memcpy", "copy-sse": "SSE", "copy-sse-stream": "SSE past the caches",
             "copy-movsb": "rep movsb", "put": "our put"}
    for name, text in names.items():
        print(f"{text:34}" + "".join(cell(ours[name, "heap", size], 1e3, 14, 4) for size in sizes))


def together(found, pes):
    ours = found[OURS]
    crowded = ("bare-pairwise", "none", 0) not in ours
    heading(f"us, {pes} PEs, a barrier after each", found)
    for name in ("bare-pairwise", "bare-counter", "bare-yielding"):
        if (name, "none", 0) in ours:
            line(f"{name} (floor)", {OURS: ours}, (name, "none", 0), 1e3, digits=3)
    memcpy = ours["memcpy", "none", MIB]
    line("memcpy 1 MiB (floor)", {OURS: ours}, ("memcpy", "none", MIB), 1e3, digits=3)
    line("sum 1 MiB, by bare loops (floor)", {OURS: ours}, ("bare-sum", "none", MIB), 1e3, digits=3)
    floor = "bare-yielding" if crowded else "bare-pairwise"
    ratio = ours["barrier_all", "none", 0] / ours[floor, "none", 0]
    line("barrier_all", found, ("barrier_all", "none", 0), 1e3, verdict(ratio, 1.54 if crowded else 1.3, floor), 3)
    for size, text in ((8, "8 B"), (MIB, "1 MiB")):
        for name in ("broadcast", "sum"):
            value = ours[name, "none", size]
            note = f"{value / memcpy:.2f}x memcpy" if size == MIB else ""
            if name == "sum" and size == MIB:
                note = f"{value / ours['bare-sum', 'none', MIB]:.2f}x bare loops; " + verdict(value / memcpy, 10 if crowded else 2.2, "memcpy")
            line(f"{name} {text}", found, (name, "none", size), 1e3, note, 3)


def start(found):
    heading("ms, 2 PEs", found)
    line("init", found, ("init", "none", 0), 1e6, limit(found[OURS]["init", "none", 0] / 1e6, 20, "ms"))
    line("a job, from its start to its end", found, ("job", "none", 0), 1e6)
