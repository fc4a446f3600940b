#!/usr/bin/env python3
"""The video showcase in all implementations: examples/video on shared chunks, beside threads, MPI and ZeroMQ.

Usage: ./run bench video [--sizes HD,UHD-1,UHD-2] [--kernels best,scalar] [--rounds N] [--workers N] [--seconds S] [--mixed]
           [--only NAME,NAME]
Prints for each size and kernel, as medians over interleaved rounds: the time of a frame; over threads and over the ideal; the
processor time over the sequential program's; messages and bytes a frame; the peak memory of the largest process. All runs must
give the sequential program's bytes. Then the paper's Table 2 and figures 2 and 3 (build/bench/video/*.svg), and a run with
viewers of the live page that read nothing: its time and its peak memory against the budget (--memory).
--mixed: workers of different speed and a worker behind a link of 1 Gb/s instead (bench/video/mixed.py).
Trust the ratios: the machine's speed drifts.
"""
import argparse
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bars  # noqa: E402
import mixed  # noqa: E402
import viewers  # noqa: E402
from sides import Run, ideal, sides  # noqa: E402

SIZES = {"HD": "1920x1080", "UHD-1": "3840x2160", "UHD-2": "7680x4320"}
PEERS = ("MPI", "ZeroMQ")


def frames_for(commands, size, kernel, seconds):
    """How many frames the sequential program processes in so many seconds."""
    probe = Run(commands["sequential"], ["--kernel", kernel, f"synthetic:{SIZES[size]}:8"])
    return max(24, min(2000, int(seconds * 8 / probe.seconds)))


def rounds(commands, size, kernel, options, folder):
    frames = frames_for(commands, size, kernel, options.seconds)
    runs = {name: [] for name in commands}
    for turn in range(options.rounds):
        names = list(commands)
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            run = Run(commands[name], ["--kernel", kernel, f"synthetic:{SIZES[size]}:{frames}"])
            runs[name].append(run)
            right = runs["sequential"][0] if runs["sequential"] else run
            if (run.sum, run.frames) != (right.sum, frames):
                sys.exit(f"bench: {' '.join(run.command)} gave other bytes: {run.frames} frames, sum {run.sum}")
            for name_of_file in os.listdir(folder):
                os.remove(os.path.join(folder, name_of_file))
    return frames, runs


def middle(runs, value):
    return statistics.median(value(run) for run in runs)


def table(runs, frames, best_seconds):
    sequential, threads = runs["sequential"], runs["threads"]
    print(f"{'':22}{'ms a frame':>11}{'/ threads':>11}{'/ ideal':>9}{'CPU / seq.':>12}{'messages':>10}{'MB sent':>9}{'MB shared':>11}"
          f"{'peak MB':>9}")
    for name, done in runs.items():
        # Of the ratios, the median of what each round says: a neighbour of the machine is in both of its times.
        over = statistics.median(run.seconds / thread.seconds for run, thread in zip(done, threads))
        cpu = statistics.median(run.cpu / alone.cpu for run, alone in zip(done, sequential))
        print(f"{name:22}{middle(done, lambda run: run.seconds) * 1e3 / frames:>11.3f}{over:>11.3f}"
              f"{middle(done, lambda run: run.seconds) / best_seconds:>9.3f}{cpu:>12.3f}"
              f"{middle(done, lambda run: run.messages) / frames:>10.2f}{middle(done, lambda run: run.bytes) / frames / 1e6:>9.2f}"
              f"{middle(done, lambda run: run.shared_bytes) / frames / 1e6:>11.2f}{middle(done, lambda run: run.peak) / 1e6:>9.0f}")


def verdict(runs, size, kernel):
    threads, sequential = runs["threads"], runs["sequential"]
    over = statistics.median(run.seconds / thread.seconds for run, thread in zip(runs["chunks"], threads))
    cpu = statistics.median(run.cpu / alone.cpu for run, alone in zip(runs["chunks"], sequential))
    print(f"{size}, {kernel}: chunks / threads {over:.3f}x; CPU / sequential {cpu:.3f}x")
    peers = {name: statistics.median(run.seconds / ours.seconds for run, ours in zip(done, runs["chunks"]))
             for name, done in runs.items() if name.startswith(PEERS)}
    if peers:
        closest = min(peers, key=peers.get)
        word = "ahead of every peer" if peers[closest] > 1.01 else "a tie with" if peers[closest] > 0.99 else "behind"
        print(f"{size}, {kernel}: closest peer / chunks {peers[closest]:.3f}x, {closest}: {word}")


def table_2(runs, frames, cores):
    """Time of the kernel alone on each node, normalised, ideal; frames done and deviation of each implementation."""
    alone = [middle(runs["sequential"], lambda run: run.processing()) / frames]
    print(f"\nTable 2: the kernel alone takes {alone[0] * 1e3:.3f} ms a frame on every node here (normalised 1)")
    for name, done in runs.items():
        run = done[-1]
        if len(run.workers) < 2:
            continue
        shares, _ = ideal([alone[0]] * len(run.workers), frames)
        done_by = [worker[1] for worker in run.workers]
        deviation = sum(abs(count - share) for count, share in zip(done_by, shares))
        print(f"{name:22} frames {' '.join(f'{count:>5}' for count in done_by)}  ideal {shares[0]:.0f} each, deviation {deviation:.0f}")
    return ideal(alone * cores, frames)[1]


def plots(runs, frames, size, kernel, best_seconds):
    folder = os.path.join("build", "bench", "video")
    os.makedirs(folder, exist_ok=True)
    parallel = {name: done for name, done in runs.items() if name != "sequential"}
    figure_2 = bars.svg({name: [middle(done, lambda run: run.seconds)] for name, done in parallel.items()},
                        f"Time for {frames} frames, {size}, kernel {kernel}", "s", ("ideal", best_seconds))
    figure_3 = bars.svg({name: [middle(done, Run.processing), middle(done, Run.waiting)] for name, done in parallel.items()},
                        f"All workers, {frames} frames, {size}, kernel {kernel}: processing / waiting", "s",
                        notes={name: f"{middle(done, Run.processing) / max(1e-9, middle(done, Run.waiting)):.2f}"
                               for name, done in parallel.items()}, parts=("processing", "waiting"))
    for name, text in (("time", figure_2), ("waiting", figure_3)):
        path = os.path.join(folder, f"{name}-{size}-{kernel}.svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(f"written: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: text.split(","), default=list(SIZES))
    parser.add_argument("--kernels", type=lambda text: text.split(","), default=["best", "scalar"])
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0, help="of the sequential program in each run")
    parser.add_argument("--mixed", action="store_true")
    options = parser.parse_args()
    if options.mixed:
        return mixed.show(options)
    with tempfile.TemporaryDirectory() as folder:
        commands = sides(options.workers, folder)
        if options.only:
            commands = {name: command for name, command in commands.items() if name in ["sequential", "threads", "chunks", *options.only]}
        for size in options.sizes:
            for kernel in options.kernels:
                frames, runs = rounds(commands, size, kernel, options, folder)
                print(f"\n{size} ({SIZES[size]}), kernel {kernel}, {frames} frames, {options.workers} workers, {options.rounds} rounds:"
                      f" all {sum(map(len, runs.values()))} runs gave the same bytes")
                cores = min(options.workers, os.cpu_count())
                best = ideal([middle(runs["sequential"], lambda run: run.processing()) / frames] * cores, frames)[1]
                table(runs, frames, best)
                verdict(runs, size, kernel)
                table_2(runs, frames, cores)
                plots(runs, frames, size, kernel, best)
            viewers.show(size, SIZES[size], frames, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
