#!/usr/bin/python3
"""Runs what bench.sh built and prints Markdown: bench.py PROGRAM WORK_FOLDER MAIN_STUDY."""

import os
import re
import subprocess
import sys
import time

import h5py

PROGRAM, WORK, STUDY = sys.argv[1:4]
RESULT = os.path.join(WORK, "bench.h5")
FRONT_ONLY = ["sensitivity.doubling=false", "sensitivity.elasticity=false", "sensitivity.parallelism={cp: 0}"]
NO_POPULATION = FRONT_ONLY + ["sensitivity.main_effects=false", "population={sample: 0, histograms: []}"]
MPI = dict(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_hwloc_base_binding_policy="none")


def bare(threads):
    text = subprocess.run([os.path.join(WORK, "bare_kernel")], env=dict(os.environ, OMP_NUM_THREADS=str(threads)),
                          stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout
    return float(re.search(r"([0-9.]+) million", text).group(1)) * 1e6


def parts(*arguments):
    return float(subprocess.run([os.path.join(WORK, "parts"), *arguments], stdout=subprocess.PIPE, universal_newlines=True,
                                check=True).stdout.split()[0])


def sweep(settings, threads=1, ranks=1, repeat=3, study=STUDY):
    """Best of `repeat`: candidates evaluated per second of the sweep, seconds of the whole, distinct candidates, MB."""
    best = None
    for _ in range(repeat):
        command = ["mpirun", "-n", str(ranks)] if ranks > 1 else []
        command += [PROGRAM, "run", study, "-o", RESULT, "--force", "--progress", "none", "--top", "1"]
        for setting in settings:
            command += ["--set", setting]
        start = time.monotonic()
        process = subprocess.Popen(["/usr/bin/env", *command], stdout=subprocess.DEVNULL,
                                   env=dict(os.environ, OMP_NUM_THREADS=str(threads), **(MPI if ranks > 1 else {})))
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - start
        if status:
            sys.exit("bench.py: failed: %s" % " ".join(command))
        with h5py.File(RESULT, "r") as result:
            rate = float(result["performance/candidates_per_s"][()])
            distinct = sum(int(scenario.attrs["candidates"]) for scenario in result["scenarios"].values())
        if best is None or rate > best[0]:
            best = (rate, wall_s, distinct, usage.ru_maxrss / 1024)
    return best


def machine():
    with open("/proc/cpuinfo") as file:
        name = re.search(r"model name\s*:\s*(.*)", file.read())
    simd = subprocess.run([PROGRAM, "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout
    return "%s, %d cores, %s" % (name.group(1) if name else "unknown processor", os.cpu_count(),
                                 re.search(r"SIMD: (.*)", simd).group(1))


def engine_table(kernel):
    print("| sweep of the main study, one thread | million candidates/s | of the bare kernel |\n|---|---:|---:|")
    print("| bare kernel of the arithmetic | %.0f | 1.00 |" % (kernel / 1e6))
    objectives = ["latency", "cost", "energy_per_token", "throughput"]
    for n in (2, 3, 4):
        for label, settings in (("with population statistics", FRONT_ONLY), ("Pareto set only", NO_POPULATION)):
            rate = sweep(settings + ["objectives=[%s]" % ", ".join(objectives[:n])])[0]
            print("| %d objectives, %s | %.0f | %.2f |" % (n, label, rate / 1e6, rate / kernel))


def scaling_table():
    print("\n| main study, population statistics | million candidates/s | against one |\n|---|---:|---:|")
    bigger = FRONT_ONLY + ["hardware.pe.flops={from: 4 TFLOP/s, to: 64 TFLOP/s, step: 4 TFLOP/s}"]
    one = sweep(bigger)[0]
    for label, threads, ranks in (("1 thread", 1, 1), ("2 threads", 2, 1), ("2 ranks of 1 thread", 1, 2)):
        rate = one if (threads, ranks) == (1, 1) else sweep(bigger, threads, ranks)[0]
        print("| %s | %.0f | %.2f |" % (label, rate / 1e6, rate / one))


def parts_table():
    print("\n| part, one thread | million/s |\n|---|---:|")
    print("| plans lowered | %.2f |" % (parts("lowering") / 1e6))
    for shape in ("uniform", "anticorrelated", "spherical"):
        for dimensions in (2, 3, 4):
            rate = parts("archive", "300000", str(dimensions), shape)
            print("| Pareto archive, 300,000 points, %d objectives, %s | %.2f |" % (dimensions, shape, rate / 1e6))


def size_table():
    print("\n| space | distinct candidates | exhaustive s | pruned s | MB |\n|---|---:|---:|---:|---:|")
    grids = (("10^6", 1, 2, 4), ("10^7", 2, 4, 4), ("10^8", 4, 8, 5), ("10^9", 9, 16, 8), ("10^10", 16, 32, 16))
    for label, flops, bandwidth, links in grids:
        def grid(low, high, n, unit):
            return "[%s]" % ", ".join("%.6g %s" % (low * (high / low) ** (i / max(1, n - 1)), unit) for i in range(n))
        settings = FRONT_ONLY + ["hardware.pe.flops=" + grid(4, 64, flops, "TFLOP/s"),
                                 "hardware.pe.hbm_bandwidth=" + grid(102, 512, bandwidth, "GB/s"),
                                 "hardware.pe.hbm_capacity=[2 GB, 4.5 GB, 9 GB]",
                                 "hardware.links.pe.bandwidth=" + grid(64, 1024, max(1, links // 2), "GB/s"),
                                 "hardware.links.d2d.bandwidth=" + grid(128, 2048, links if links > 4 else 2, "GB/s"),
                                 "hardware.links.c2c.bandwidth=" + grid(50, 400, links if links > 5 else 1, "GB/s")]
        full, pruned = sweep(settings, 2, repeat=1), sweep(settings + ["search=pruned"], 2, repeat=1)
        print("| %s | %.3g | %.2f | %.2f | %.0f |" % (label, full[2], full[1], pruned[1], full[3]))


def main():
    print("On %s, %s:\n" % (machine(), time.strftime("%Y-%m-%d")))
    engine_table(bare(1))
    scaling_table()
    parts_table()
    size_table()


if __name__ == "__main__":
    main()
