"""Workers of different speed: one throttled by a cgroup, one under an emulator, one behind a link of 1 Gb/s (./run bench video --mixed).

Each scenario has a native worker and another one. Before it, the kernel is timed alone on both; the ideal of the paper follows from
these times. For the remote worker the ideal counts the link: its time for a frame is at least the link's.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from sides import BUILD, MPI, MPIRUN, VIDEO, Run, ideal

HOSTS = os.path.join(BUILD, "bin/test_hosts")
ARM64 = os.path.abspath("build/arm64/examples/video/video")
SIZE, LINK_BITS = "1920x1080", 1e9
FRAME_BYTES = 1920 * 1080
GOAL_SECONDS = 0.040  # of the kernel for a frame, as the paper's fastest node
PERIOD_US, QUOTA_US = 10000, 3000


class Throttle:
    """A cgroup of version 1 or 2 whose processes get a part of one processor; None where there is none to be made."""

    @staticmethod
    def make():
        name = f"terrane-video-{os.getpid()}"
        for parent, limits in (("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": QUOTA_US}),
                               ("/sys/fs/cgroup", {"cpu.max": f"{QUOTA_US} {PERIOD_US}"})):
            path = os.path.join(parent, name)
            try:
                os.mkdir(path)
                for file, value in limits.items():
                    with open(os.path.join(path, file), "w", encoding="ascii") as out:
                        out.write(str(value))
                return path
            except OSError:
                if os.path.isdir(path):
                    os.rmdir(path)
        return None


def emulator():
    """What runs a program slowly: (name, the command before the program's arguments)."""
    arm64 = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if arm64 and os.path.exists(ARM64):
        return "arm64 under qemu-user", [arm64, ARM64]
    x86 = shutil.which("qemu-x86_64") or shutil.which("qemu-x86_64-static")
    if x86:
        return "x86-64 under qemu-user (build/arm64 is missing)", [x86, VIDEO]
    return None, None


def worker_two(variable, number, prefix, program, native):
    """A command that runs `program` natively, and on the process with this number as `prefix` says."""
    script = f'if [ "${variable}" = {number} ]; then {prefix} exec {program} "$@"; fi; exec {native} "$@"'
    return ["sh", "-c", script, "sh"]


def alone(command, repeat, kernel):
    """Seconds of the kernel for a frame."""
    run = Run(command, ["--with", "sequential", "--kernel", kernel, "--repeat", str(repeat), f"synthetic:{SIZE}:6"])
    return run.processing() / run.frames


def show_row(name, done, times, frames):
    shares, best = ideal(times, frames)
    seconds = statistics.median(run.seconds for run in done)
    run = sorted(done, key=lambda run: run.seconds)[len(done) // 2]
    counts = [worker[1] for worker in run.workers]
    deviation = sum(abs(count - share) for count, share in zip(counts, shares))
    waits = [f"{worker[2] / max(1e-9, worker[3]):.1f}" for worker in run.workers]
    print(f"{name:26}{seconds:>9.2f}{seconds / best:>9.3f}{' / '.join(map(str, counts)):>14}"
          f"{' / '.join(f'{share:.0f}' for share in shares):>14}{deviation / frames * 100:>11.1f} %{' / '.join(waits):>16}", flush=True)
    return seconds / best, deviation / frames * 100


def head(title, times):
    slowest = max(times)
    print(f"\n{title}\nkernel alone: {times[0] * 1e3:.1f} ms and {times[1] * 1e3:.1f} ms a frame, normalised {slowest / times[0]:.2f} and "
          f"{slowest / times[1]:.2f}")
    print(f"{'':26}{'seconds':>9}{'/ ideal':>9}{'frames':>14}{'ideal':>14}{'deviation':>13}{'work / wait':>16}")


def compare(title, prefix, program, times, repeat, kernel, frames, rounds):
    head(title, times)
    options = ["--kernel", kernel, "--repeat", str(repeat), f"synthetic:{SIZE}:{frames}"]
    # As many frames may be in flight as the fast worker does while the slow one does its two.
    buffers = ["--buffers", str(int(2 * max(times) / min(times)) + 6)]
    terrane = ["terrane", "run", "-n", "3", *worker_two("TERRANE_NODE", 2, prefix, program, VIDEO), *buffers]
    commands = {"chunks, eager": terrane, "chunks, weighted": [*terrane, "--weighted"]}
    if os.path.exists(MPI) and shutil.which("mpirun") and program == VIDEO:
        wrapped = worker_two("OMPI_COMM_WORLD_RANK", 3, prefix, MPI, MPI)
        for way in ("sync", "async", "multiple"):
            commands[f"MPI {way}"] = [*MPIRUN, "-np", "4", *wrapped, "--with", way]
    right = Run([VIDEO, "--with", "sequential"], ["--kernel", kernel, f"synthetic:{SIZE}:{frames}"]).sum
    done = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            run = Run(command, options)
            if run.sum != right:
                sys.exit(f"bench: {name} gave other bytes")
            done[name].append(run)
    for name, runs in done.items():
        show_row(name, runs, times, frames)


def throttled(options, repeat, native, frames):
    path = Throttle.make()
    if path is None:
        print("\nwithout a throttled worker: no cgroup with a processor quota can be made here")
        return
    try:
        enter = f"echo $$ >{path}/cgroup.procs;"
        slow = alone(["sh", "-c", f'{enter} exec {VIDEO} "$@"', "sh"], repeat, "best")
        compare(f"A native worker and one with {QUOTA_US * 100 // PERIOD_US} % of a processor", enter, VIDEO, [native, slow], repeat,
                "best", frames, options.rounds)
    finally:
        os.rmdir(path)


def emulated(options, frames):
    name, command = emulator()
    if name is None:
        print("\nwithout an emulated worker: qemu-user is missing")
        return
    native = alone([VIDEO], 1, "scalar")
    slow = alone(command, 1, "scalar")
    compare(f"A native worker and {name}, scalar kernel", "", " ".join(command), [native, slow], 1, "scalar",
            max(frames, int(2 / native)), options.rounds)


def remote(options, repeat, native, frames):
    if subprocess.run([HOSTS, "-n", "2", "--rate", "1gbit", "true"], capture_output=True).returncode != 0:
        print("\nwithout a remote worker: hosts of namespaces cannot be made here (man terrane-hosts)")
        return
    link = FRAME_BYTES * 8 / LINK_BITS
    times = [native, max(native, link)]
    head(f"A native worker and one behind 1 Gb/s (the link takes {link * 1e3:.1f} ms for a frame, each way)", times)
    command = [HOSTS, "-n", "2", "--rate", "1gbit", "--shm", "512m", "--", "terrane", "run", "-n", "3", "-H", "h0:2,h1:1", VIDEO, "--buffers",
               "8"]
    arguments = ["--repeat", str(repeat), f"synthetic:{SIZE}:{frames}"]
    runs = [Run(command, arguments) for _ in range(options.rounds)]
    over, deviation = show_row("chunks, eager", runs, times, frames)
    print(f"behind 1 Gb/s: time / ideal {over:.3f}x; deviation {deviation:.1f} %")
    print(f"transfers a frame: {statistics.median(run.bytes for run in runs) / max(1, runs[-1].workers[-1][1]) / FRAME_BYTES:.3f} of its "
          f"bytes for each frame of the remote worker; messages a frame {statistics.median(run.messages for run in runs) / frames:.2f}")


def show(options):
    once = alone([VIDEO], 20, "best") / 20
    repeat = max(1, round(GOAL_SECONDS / once))
    native = alone([VIDEO], repeat, "best")
    frames = max(40, int(options.seconds * 4 / native))
    with tempfile.TemporaryDirectory():
        remote(options, repeat, native, frames)
        throttled(options, repeat, native, frames)
        emulated(options, frames)
    return 0
