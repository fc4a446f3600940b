#!/usr/bin/env python3
"""Measures a chain of bare relays on the hosts of `terrane hosts --clusters CxN`, in whose first host it runs.

Usage: chain.py [--direct] [--tls] [--delay US] [--rounds N] [--page-rounds N] [--bulk BYTES]
The client is on the second host of the first cluster, its relay on the first one; the server is on the second host of the
second cluster, its relay on the first one. --direct: without relays. Prints what the client says, and "relays_cpu_s=".
"""
import argparse
import os
import re
import subprocess

PROGRAM = os.path.join(os.environ.get("TERRANE_BUILD", "build/release"), "bench/clusters/terrane_bench_relay_rows")


def start(host, *words):
    enter = os.environ["TERRANE_RSH"]
    return subprocess.Popen([enter, "--here", host, PROGRAM, *words], stdout=subprocess.PIPE, text=True)


def listens(host, *words):
    """The process, and the address that it listens on."""
    process = start(host, *words)
    return process, f"{host}:{re.match(r'port=([0-9]+)', process.stdout.readline())[1]}"


def cpu(processes):
    return sum(float(re.search(r"cpu_s=([\d.]+)", process.communicate()[0])[1]) for process in processes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--hosts", type=int, default=3, help="of a cluster (default 3)")
    for name in ("--delay", "--rounds", "--page-rounds", "--bulk"):
        parser.add_argument(name, default="0")
    options = parser.parse_args()
    near, far = [f"h{n}" for n in range(2)], [f"h{options.hosts + n}" for n in range(2)]
    link = ["--delay", options.delay] + (["--tls"] if options.tls else [])
    delay = link[:2] if options.direct else []
    _, address = listens(far[1], "server", *delay)
    relays = []
    if not options.direct:
        for host, side in ((far[0], ["--link-before"]), (near[0], [])):
            relay, address = listens(host, "relay", "--to", address, *link, *side)
            relays.append(relay)
    client = start(near[1], "client", "--to", address, "--rounds", options.rounds, "--page-rounds", options.page_rounds,
                   "--bulk", options.bulk, *delay)
    print(client.communicate()[0], end="")
    print(f"relays_cpu_s={cpu(relays):.4f}")


if __name__ == "__main__":
    main()
