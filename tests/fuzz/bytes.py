#!/usr/bin/python3
"""Results whose bytes are damaged, on the command line of a user: bytes overwritten, blocks moved, zeroed or cut off.

Whatever HDF5 makes of them, the program ends with 0 or 2, one line on standard error where it is 2, in time, and within the
memory that a result may take.

    tests/fuzz/bytes.py PROGRAM [--runs N | --seconds T] [--seed S] [--found FOLDER]
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

STUDY = """
study: base
scenarios:
  - {name: a, phase: decode, past_tokens: 99, model: {name: m, layers: 2, hidden: 64, heads: 2, kv_heads: 1, head_dim: 32,
     ffn: 64, vocab: 100, gated: true}}
plan: {tp: [1, 2]}
hardware: {pe: {flops: [1 TFLOP/s, 2 TFLOP/s]}}
population: {sample: 3, histograms: [[latency, cost]]}
sensitivity: {parallelism: {tp: 2}}
joint: {against: [cost]}
"""
USES = [["show", "FILE"], ["explain", "FILE", "--row", "best"], ["compare", "BASE", "FILE"]]
MOST_S = 60


def damage(whole, chance):
    """A copy with one to eight damages."""
    data = bytearray(whole)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 8])):
        # What tells HDF5 where things are stands at the front, and at the signatures of its structures.
        signature = chance.choice([b"TREE", b"HEAP", b"SNOD", b"OHDR", b"GCOL", b"FRHP", b"FHDB", b"BTHD", b"BTLF", b"OCHK"])
        found = data.find(signature, chance.randrange(len(data)))
        at = chance.choice([chance.randrange(len(data)), chance.randrange(min(len(data), 200)),
                            min(max(found, 0) + chance.randrange(64), len(data) - 1)])
        n = chance.choice([1, 1, 2, 4, 8, 64])
        kind = chance.randrange(6)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at:at + n] = chance.randbytes(len(data[at:at + n]))
        elif kind == 2:
            data[at:at + n] = bytes([chance.choice([0, 255, 127])]) * len(data[at:at + n])
        elif kind == 3:
            start = chance.randrange(len(data))
            block = data[start:start + n]
            data[at:at + len(block)] = block
        elif kind == 4 and chance.randrange(4) == 0:
            del data[max(at, 1):]
        else:
            data[at:at + 8] = chance.choice([2**63, 2**64 - 1, 2**31, 2**32 + at, at, len(data)]).to_bytes(8, "little")
    return bytes(data)


def watch(arguments, said):
    """Run a program.  Exit code or None where it does not end, and the most memory that it or a child of its took."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=said)  # pylint: disable=consider-using-with
    ender = threading.Timer(MOST_S, process.kill)
    ender.start()
    _, status, used = os.wait4(process.pid, 0)
    late = not ender.is_alive()
    ender.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if late else process.returncode, used.ru_maxrss * 1024


def complaint(arguments, most_bytes):
    """What is wrong with how the program ends, or None."""
    with tempfile.TemporaryFile() as said:
        code, bytes_taken = watch(arguments, said)
        if code is None:
            return f"still runs after {MOST_S} s"
        said.seek(0)
        lines = [line for line in said.read().decode(errors="replace").splitlines()
                 if "AddressSanitizer failed to allocate" not in line]  # as malloc does without a word
    if code not in (0, 2):
        return f"exit code {code}: {lines[:3]}"
    if code == 2 and (len(lines) != 1 or not lines[0].startswith("cosweep: ")):
        return f"not one message: {lines[:3]}"
    return f"took {bytes_taken} bytes" if bytes_taken > most_bytes else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--found", type=pathlib.Path, help="folder for the files that show a fault")
    given = parser.parse_args()
    seed = given.seed if given.seed is not None else time.time_ns()
    chance, n, faults = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as work:
        study, base, path = (os.path.join(work, name) for name in ("base.yaml", "base.h5", "damaged.h5"))
        pathlib.Path(study).write_text(STUDY, encoding="utf-8")
        subprocess.run([given.program, "run", study, "-o", base, "--progress", "none"], check=True,
                       stdout=subprocess.DEVNULL)
        whole = pathlib.Path(base).read_bytes()
        _, usual_bytes = watch([given.program, "show", base], subprocess.DEVNULL)
        most_bytes = usual_bytes + 256e6 + 80 * len(whole)  # as io/store_probe.h
        end = time.monotonic() + given.seconds
        while n < given.runs if given.runs is not None else time.monotonic() < end:
            pathlib.Path(path).write_bytes(damage(whole, chance))
            n += 1
            use = [{"FILE": path, "BASE": base}.get(word, word) for word in chance.choice(USES)]
            wrong = complaint([given.program, *use], most_bytes)
            if wrong:
                faults += 1
                print(f"bytes.py: damage {n} of seed {seed}: {' '.join(use)}: {wrong}", file=sys.stderr)
                if given.found:
                    given.found.mkdir(parents=True, exist_ok=True)
                    kept = given.found / f"{seed}-{n}.h5"
                    kept.write_bytes(pathlib.Path(path).read_bytes())
                    print(f"bytes.py: again: {given.program} {' '.join(use).replace(path, str(kept))}", file=sys.stderr)
                if faults >= 5:
                    break
    print(f"bytes: {n} damaged files, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
