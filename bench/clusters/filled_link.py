#!/usr/bin/env python3
"""Runs a job whose gateways have a link with latency between: on the hosts of `terrane hosts --clusters 2x1`, in the first one.

Usage: filled_link.py [--delay US] [--link RATE] PROGRAM [ARGUMENTS]
Two bare relays are the link; each holds back what it sends over it. --link: [[links]] of the job has this bandwidth and the
latency; without, it has none. Prints what the job says, with --stats.
"""
import argparse
import os
import subprocess
import sys
import time

BUILD = os.path.abspath(os.environ.get("TERRANE_BUILD", "build/release"))
TERRANE = os.path.join(BUILD, "bin/terrane")
RELAY = os.path.join(BUILD, "bench/clusters/terrane_bench_relay_rows")
LISTENS, BEFORE, BEHIND = 7100, 7200, 7300  # ports: of the gateway, of the relay beside it, of the one at the other end
PATIENCE_S = 20
JOB = """[[clusters]]
name = "a"
hosts = ["h0"]
[[clusters]]
name = "b"
hosts = ["h1"]
[[gateways]]
cluster = "a"
host = "h0"
port = {port}
[[gateways]]
cluster = "b"
name = "far"
by_hand = true
"""
LINK = """[[links]]
between = ["a", "b"]
bandwidth = "{rate}"
latency = "{delay}us"
"""


def on(host, *words):
    return subprocess.Popen([os.environ["TERRANE_RSH"], "--here", host, *words], stdout=subprocess.PIPE, text=True)


def relay(host, port, to, *words):
    process = on(host, RELAY, "relay", "--port", str(port), "--to", to, *words)
    process.stdout.readline()
    return process


def wait_for_listener(port):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for family in ("tcp", "tcp6"):
            with open(f"/proc/net/{family}", encoding="ascii") as sockets:
                if any(f":{port:04X}" in line.split()[1] and line.split()[3] == "0A" for line in list(sockets)[1:]):
                    return
        time.sleep(0.01)
    sys.exit("filled_link: the gateway does not listen")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=int, default=10000)
    parser.add_argument("--link", default="")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    folder = os.environ.get("TMPDIR", "/tmp")
    job, key = os.path.join(folder, "job.toml"), os.path.join(folder, "job.key")
    with open(job, "w", encoding="ascii") as file:
        file.write(JOB.format(port=LISTENS) + (LINK.format(rate=options.link, delay=options.delay) if options.link else ""))
    running = subprocess.Popen([TERRANE, "run", "--stats", "--heartbeat", "20", "--topology", job, "--key", key, "-H", "h0,h1",
                                *options.program])
    wait_for_listener(LISTENS)
    delay = ["--delay", str(options.delay)]
    near = relay("h0", BEFORE, f"127.0.0.1:{LISTENS}", "--link-before", *delay)
    far = relay("h1", BEHIND, f"h0:{BEFORE}", *delay)
    with open(key, encoding="ascii") as file:
        secret = file.read()
    copy = f"umask 077; printf %s '{secret}' > {key}; exec {TERRANE} gateway --name far --via 127.0.0.1:{BEHIND} --key {key}"
    gateway = on("h1", "sh", "-c", copy)
    status = running.wait()
    for process in (gateway, near, far):
        process.kill()
        process.wait()
    sys.exit(status)


if __name__ == "__main__":
    main()
