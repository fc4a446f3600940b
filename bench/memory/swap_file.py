"""A swap file of this machine for as long as a benchmark runs."""
import os
import signal
import subprocess
import sys


class SwapFile:
    """`with SwapFile(folder, mib) as swap:`; swap.refused says why there is none. Removed at the end, on Ctrl-C and SIGTERM, too."""

    def __init__(self, folder, mib):
        self.path, self.mib, self.refused, self.on = os.path.join(folder, f"bench_memory_{os.getpid()}.swap"), mib, "", False

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def make(self):
        with open(self.path, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            for _ in range(self.mib):
                file.write(bytes(1 << 20))  # a file with holes cannot be swapped to
            os.fsync(file.fileno())
        for command in (["mkswap", self.path], ["swapon", self.path]):
            try:
                done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))
            except OSError as error:
                self.refused = str(error)
                return
            if done.returncode != 0:
                self.refused = done.stderr.strip().splitlines()[-1]
                return
        self.on = True

    def remove(self):
        if self.on:
            subprocess.run(["/sbin/swapoff", self.path], check=False)
            self.on = False
        if os.path.exists(self.path):
            os.unlink(self.path)
