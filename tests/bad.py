"""Every bad input of tests/bad/*.cases is refused with exactly the messages under it: bad.py PROGRAM [update] [PATTERN]

A catalogue (*.cases) has a head and cases; `#` begins a comment.  The head:
    input: study.yaml             the file that indented lines are written to
    run: cosweep size study.yaml  the command where a case has none
    base:                         indented lines that every input begins with; a line of the input takes the place of
                                  one that begins with the same word; the others go to the line `...`, or to the end
    % COMMAND                     run once, in the folder that every case gets a copy of
A case:
    == NAME                       not needed where the command says it all
    alone                         without the base
        LINE                      the input, indented by four
    % COMMAND                     run before, by sh
    $ COMMAND                     the one that is judged; begins a case where there is no name
    > LINE                        standard output; none otherwise
    ! MESSAGE                     standard error without "cosweep: "; of a list of seven words or more the first two
    ? CODE                        the exit code, 2 otherwise; None where it took too long
`update` writes what PROGRAM does now below the cases whose name or command has PATTERN: read the difference.

Of every case this holds besides: no file is left or changed, at most MOST_MESSAGES lines, each with a cure, at most
MOST_BYTES of address space (not under sanitizers, which map terabytes) and MOST_SECONDS of computing."""
import concurrent.futures
import difflib
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

MOST_MESSAGES = 41
MOST_SHOWN = 20  # in the catalogue
MOST_BYTES = 1 << 30
MOST_SECONDS = 10
HANGS_SECONDS = 120  # by the clock, on a machine with much else to do
FOLDER = pathlib.Path(__file__).resolve().parent / "bad"
CURE = re.compile(
    r"\b(give|use|remove|write|did you mean|allowed|see|quote|lower|swap|add|take|run|change|lists them|"
    r"may follow|needs that"
    r"|must be|a plain number|indent|leave out|from \S+ to|limit it|choose|set that key|can be represented|--force"
    r"|No such file|Permission denied|Too many levels|Not a directory|No such device|too long|not YAML|and \d+ more)\b"
)

LONG_LISTS = re.compile(r"((?:[\w.]+, ){2})(?:[\w.]+, ){4,}[\w.]+")  # of keys and words: they grow with the program
HDF5_SAYS = re.compile(r"(cannot read `\w+`: )[^;]*")  # has sizes, and changes with its version


class Case:
    def __init__(self, name):
        self.name, self.command, self.code = name, None, 2
        self.input, self.setup, self.output, self.messages = [], [], [], []
        self.alone = False
        self.last = 0  # the line of the catalogue after which the expectations stand


def read_catalogue(path):
    """The head as a case of its own, and the cases."""
    head = Case(None)
    head.file, head.base = None, []
    cases = []
    case = head
    in_base = after_blank = False
    for number, line in enumerate(path.read_text().split("\n")):
        mark, _, rest = line.partition(" ")
        if mark == "==":
            case = Case(rest)
            cases.append(case)
        elif mark == "$":
            if case is head or case.command or after_blank:
                case = Case(rest)
                cases.append(case)
            case.command = rest
        elif line.startswith("    "):
            (head.base if in_base else case.input).append(line[4:])
        elif mark in "%>!" and mark:
            {"%": case.setup, ">": case.output, "!": case.messages}[mark].append(rest)
        elif mark == "?":
            case.code = int(rest) if rest != "None" else None
        elif line == "alone":
            case.alone = True
        elif case is head and mark == "input:":
            head.file = rest
        elif case is head and mark == "run:":
            head.command = rest
        elif line not in ("", "base:") and mark[0] != "#":
            sys.exit(f"bad.py: {path.name}:{number + 1}: not understood: {line}")
        after_blank = line == ""
        in_base = line == "base:" or (in_base and line.startswith("    "))
        if line and mark not in (">", "!", "?", "#"):
            case.last = number
    return head, cases


def join_input(base, lines):
    """The lines over the base, as the head of this file says."""
    def word(line):
        return line.split()[:1]

    base = list(base)
    other = []
    for line in lines:
        at = next((i for i, known in enumerate(base) if word(known) == word(line) != []), None)
        if at is None:
            other.append(line)
        else:
            base[at] = line
    at = base.index("...") if "..." in base else len(base)
    return "".join(line + "\n" for line in base[:at] + other + base[at + 1 :])


def snapshot(folder):
    """Every name under the folder with what it is and holds."""
    seen = {}
    for path in sorted(folder.rglob("*")):
        facts = path.lstat()
        small = path.is_file() and not path.is_symlink() and facts.st_size < 1 << 22
        seen[str(path)] = (facts.st_mode, facts.st_size, facts.st_mtime_ns, path.read_bytes() if small else None)
    return seen


def limit(checked):
    os.setsid()
    if checked:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def shell(command, folder, environment, checked):
    """Exit code (None: took too long), standard output and error."""
    with subprocess.Popen(
        ["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=lambda: limit(checked),
    ) as process:
        try:
            output, messages = process.communicate(timeout=HANGS_SECONDS)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, messages = process.communicate()
            code = None
    return code, output.decode(errors="replace").splitlines(), messages.decode(errors="replace").splitlines()


def prepare(setup, folder, environment):
    for command in setup:
        code, _, messages = shell(command, folder, environment, False)
        if code != 0:
            sys.exit(f"bad.py: {command}: exit code {code}: {messages}")


def expectations(case):
    lines = [f"> {line}".rstrip() for line in case.output] + [f"! {line}" for line in case.messages]
    return lines + ([f"? {case.code}"] if case.code != 2 else [])


def run_case(head, case, template, folder, environment, sanitized):
    """What the program does now, as a case, and what is wrong with that in any case."""
    subprocess.run(["cp", "-a", template, folder], check=True)
    lines = case.input
    if head.file and (lines or not case.setup or head.base) and not (case.alone and not lines):
        folder.joinpath(head.file).write_text(join_input([] if case.alone else head.base, lines))
    prepare(case.setup, folder, environment)
    before = snapshot(folder)
    now = Case(case.name)
    now.code, now.output, messages = shell(case.command or head.command, folder, environment, not sanitized)
    faults = []
    if now.code is None:
        faults.append(f"took more than {HANGS_SECONDS} s")
    if snapshot(folder) != before:
        faults.append("left or changed a file")
    if len(messages) > MOST_MESSAGES:
        faults.append(f"{len(messages)} messages")
    for message in messages:
        if not message.startswith("cosweep: "):
            faults.append(f"not a message of the program: {message}")
        elif not CURE.search(message):
            faults.append(f"no cure in: {message}")
        message = message.removeprefix("cosweep: ").replace(f"{folder.resolve()}/", "HERE/")
        now.messages.append(LONG_LISTS.sub(r"\1...", HDF5_SAYS.sub(r"\1...", message)))
    now.output = [LONG_LISTS.sub(r"\1...", line) for line in now.output]
    if len(now.messages) > MOST_SHOWN:
        now.messages[2:-1] = [f"... {len(now.messages) - 3} more like these"]
    shutil.rmtree(folder)
    return now, faults


def update_catalogue(path, cases, now):
    """Expectations are replaced; all else stays as it was written."""
    lines = path.read_text().split("\n")
    replaced = {case.last: expectations(new) for case, new in zip(cases, now) if new}
    out = []
    dropping = False
    for number, line in enumerate(lines):
        if not (dropping and line[:2] in ("> ", "! ", "? ", ">", "!")):
            out.append(line)
            dropping = dropping and line.startswith("#")
        if number in replaced:
            out += replaced[number]
            dropping = True
    path.write_text("\n".join(out))


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    update = sys.argv[2:3] == ["update"]
    pattern = sys.argv[3 if update else 2] if len(sys.argv) > (3 if update else 2) else ""
    sanitized = "-fsanitize" in subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    failed = n = 0
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        work.joinpath("bin").mkdir()
        work.joinpath("bin/cosweep").symlink_to(program)
        environment = {**os.environ, "LC_ALL": "C", "OMP_NUM_THREADS": "1", "TMPDIR": str(work)}
        environment["PATH"] = f"{work}/bin:{os.environ['PATH']}"
        environment["DATA"] = str(FOLDER.parent / "transcripts")
        for path in sorted(FOLDER.glob("*.cases")):
            head, cases = read_catalogue(path)
            template = work / path.stem
            template.mkdir()
            prepare(head.setup, template, environment)
            wanted = [pattern in case.name + (case.command or "") for case in cases]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                done = [
                    pool.submit(run_case, head, case, template, work / f"{path.stem}.{i}", environment, sanitized)
                    if wanted[i] else None
                    for i, case in enumerate(cases)
                ]
            now = [task.result()[0] if task else None for task in done]
            for case, task in zip(cases, done):
                if not task:
                    continue
                n += 1
                new, faults = task.result()
                if not update and expectations(case) != expectations(new):
                    faults.append("the program says something else:")
                    faults += difflib.unified_diff(expectations(case), expectations(new), "expected", "now", lineterm="")
                if faults:
                    failed += 1
                    print(f"{path.name}: {case.name}", *faults, sep="\n    ")
            if update:
                update_catalogue(path, cases, now)
    print(f"{n} bad inputs, {failed} failed")
    sys.exit(1 if failed else 0)


main()
