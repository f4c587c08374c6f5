#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""against.py NAME --against COMMIT [OPTIONS]: `./dev bench` calls it where --against is among its words. Builds the present
tree and COMMIT, runs the benchmark of both in turns, and prints what changed (comparison.py)."""

import argparse
import datetime
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import comparison
from comparison import NEW, OLD

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUR_LOCKS = ["txsync::mutex", "futex", "posix", "tatas", "spin", "ticket", "fifo_ticket", "mcs", "fifo_mcs", "none",
             "txsync::shared_mutex", "occ_rwlock", "futex_rwlock", "srwlock", "warm_ticket", "warm_mcs", "warm_tatas",
             "warm_priority_tatas", "warm_mutex"]
WARM_LOCKS = ["ticket", "warm_ticket", "mcs", "warm_mcs", "tatas", "warm_tatas", "txsync::mutex", "warm_mutex"]

# A run of each benchmark: calls with their options, {ms} a length that --duration replaces. A list of names makes a call
# for each name, so that both builds take turns every second or two. Other work on the machine then disturbs both alike. Ten
# rounds take 15 minutes at most on two cores: claims beside peers, which ask for more rounds, are left out if possible. A
# tuple is given to those builds whose benchmark has the option.
RUNS = {
    "locks": [(15, ["--quick", "--rounds", "2", "--duration", "{ms}", "--locks", OUR_LOCKS]),
              (50, ["--quick", "--rounds", "6", "--duration", "{ms}", "--elision-only"])],
    "warmup": [(10, ["--rounds", "2", "--duration", "{ms}", "--no-structures", "--locks", WARM_LOCKS])],
    "tm": [(10, ["--rounds", "2", "--duration", "{ms}", "--churn", "0", ("--simulated", "0"), "--threads", ["1", "2", "4"]])],
    "preload": [(20, ["--rounds", "3", "--duration", "{ms}", "--pairs", "0"]),
                (40, ["--rounds", "2", "--duration", "{ms}", "--pairs", "1", "--only", ["own_times"]])],
    "instructions": [(0, [])],
}
# With --long: maps and tree, whose filling takes a minute in each run.
LONG_RUNS = {"warmup": [(10, ["--rounds", "2", "--duration", "{ms}", "--no-arrays", "--locks", WARM_LOCKS])]}
# Both builds have to have the same, or they measure different things.
CACHE_NAMES = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELWITHDEBINFO", "TXSYNC_SANITIZE")


class BadInput(Exception):
    """Exit status 2."""


class Failed(Exception):
    """Exit status 1."""


class Interrupted(Exception):
    """What was measured is written; exit status 1."""


class Stop:
    """The first SIGINT or SIGTERM ends the run under way, and then everything."""

    def __init__(self):
        self.asked = False
        self.child = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.ask)

    def ask(self, *_):
        self.asked = True
        if self.child is not None:
            self.child.terminate()

    def run(self, words, **options):
        """As subprocess.run(); nothing is started any more once it was asked for."""
        if self.asked:
            raise Interrupted
        with subprocess.Popen(words, text=True, **options) as self.child:
            out, errors = self.child.communicate()
            done = subprocess.CompletedProcess(words, self.child.returncode, out, errors)
        self.child = None
        if self.asked:
            raise Interrupted
        return done


def options_of(words):
    parser = argparse.ArgumentParser(prog="./dev bench NAME", add_help=True, allow_abbrev=False, description=__doc__)
    parser.add_argument("name", choices=list(RUNS), help="the benchmark")
    parser.add_argument("--against", metavar="COMMIT", required=True, help="the old build")
    parser.add_argument("--rounds", type=int, default=10, help="runs of each build, in turns (10)")
    parser.add_argument("--duration", type=int, help="milliseconds of one measurement, for all runs")
    parser.add_argument("--long", action="store_true", help="of warmup also maps and tree, half an hour more")
    parser.add_argument("--allow-dirty", action="store_true", help="although benchmarks/ has uncommitted changes")
    parser.add_argument("--json", metavar="FILE", help="write a result document to this file")

    def refuse(message):
        raise BadInput(message)

    parser.error = refuse
    asked = parser.parse_args(words)
    asked.runs = RUNS[asked.name] + (LONG_RUNS.get(asked.name, []) if asked.long else [])
    if not 1 <= asked.rounds <= 1000:
        refuse(f"--rounds {asked.rounds} is not in 1 to 1000")
    if asked.duration is not None and not 1 <= asked.duration <= 60_000:
        refuse(f"--duration {asked.duration} is not in 1 to 60000")
    if asked.json is not None and not pathlib.Path(asked.json).resolve().parent.is_dir():
        refuse(f"--json {asked.json}: there is no such folder")
    return asked


# ---- the two builds


def git(*words, where=ROOT):
    done = subprocess.run(["git", *words], cwd=where, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"git {words[0]}: {last_line(done.stderr)}")
    return done.stdout.strip()


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def hash_of(commit):
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", commit + "^{commit}")
    except Failed:
        raise BadInput(f"'{commit}' is no commit of this repository") from None


def refuse_dirty_benchmarks():
    # What compares is not what is compared.
    if git("status", "--porcelain", "--", "benchmarks", ":!benchmarks/against"):
        raise BadInput("benchmarks/ has uncommitted changes, so that both builds may measure different things; commit them, "
                       "or say --allow-dirty")


def old_tree(commit, name):
    """A work tree of the commit; one that is there is used again, with what was built in it."""
    tree = ROOT / "build" / "against" / commit[:12]
    git("worktree", "prune")
    if (tree / ".git").exists():
        git("checkout", "--quiet", "--force", "--detach", commit, where=tree)
    else:
        git("worktree", "add", "--quiet", "--force", "--detach", str(tree), commit)
    added = tree / "benchmarks" / "instructions"
    if name == "instructions" and not git("ls-tree", commit, "benchmarks/instructions"):
        shutil.rmtree(added, ignore_errors=True)
        shutil.copytree(ROOT / "benchmarks" / "instructions", added)
        lists = tree / "benchmarks" / "CMakeLists.txt"
        lists.write_text(lists.read_text() + "\nadd_subdirectory(instructions)\n")
    return tree


def build(stop, tree, name, which):
    """Builds by the tree's own ./dev, and answers the benchmark's help."""
    print(f"== building bench_{name}, {which} ({tree})", file=sys.stderr, flush=True)
    done = stop.run(["./dev", "bench", name, "--help"], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 2:
        raise BadInput(f"bench {name} of the {which} build: {last_line(done.stderr)}")
    if done.returncode != 0:
        error = next((line for line in (done.stdout + done.stderr).splitlines() if "error" in line), last_line(done.stderr))
        raise Failed(f"bench {name} of the {which} build was not built: {error}")
    return done.stdout


def options_in(text):
    return set(re.findall(r"--[a-z-]+", text))


def check_help(name, which, text, calls):
    known = options_in(text)
    for _, words in calls:
        for word in [*words, "--json"]:
            if isinstance(word, str) and word.startswith("--") and word not in known:
                raise BadInput(f"bench {name} of the {which} build has no option {word}")


def cache_of(tree):
    lines = (tree / "build" / "release" / "CMakeCache.txt").read_text().splitlines()
    found = dict(re.match(r"([A-Za-z0-9_]+):\w+=(.*)", line).groups() for line in lines if re.match(r"[A-Za-z0-9_]+:\w+=", line))
    return {name: found.get(name, "") for name in CACHE_NAMES}


def check_same_options(old, new):
    one, other = cache_of(old), cache_of(new)
    for name in CACHE_NAMES:
        if one[name] != other[name]:
            raise BadInput(f"the builds differ in {name}: '{one[name]}', now '{other[name]}'")


def known_names(program, option):
    """What the benchmark says that there is."""
    done = subprocess.run([program, option, "?"], capture_output=True, text=True, check=False)
    return done.stderr.partition("there are: ")[2].strip().split(", ") if "there are: " in done.stderr else None


# ---- the runs


class Runs:
    """The benchmark of both builds."""

    def __init__(self, stop, asked, trees, helps, folder):
        self.stop, self.name, self.trees = stop, asked.name, trees
        self.known = {build: options_in(text) for build, text in helps.items()}
        self.path = pathlib.Path(folder) / "run.json"
        self.programs = {build: str(tree / "build" / "release" / "bin" / f"bench_{self.name}") for build, tree in trees.items()}
        self.calls = [words for ms, call in asked.runs for words in self.calls_of(call, asked.duration or ms)]

    def calls_of(self, call, ms):
        """The words of each call. One for each name of a list, of those names that both builds know."""
        calls, option = [[]], None
        for word in call:
            if isinstance(word, list):
                known = [known_names(program, option) for program in self.programs.values()]
                names = [one for one in word if all(there is None or one in there for there in known)]
                calls = [[*words, name] for words in calls for name in names]
            elif isinstance(word, tuple):
                calls = [[*words, word] for words in calls]
            else:
                calls = [[*words, word.format(ms=ms)] for words in calls]
                option = word
        return calls

    def understood(self, build, word):
        if not isinstance(word, tuple):
            return (word,)
        return word if word[0] in self.known[build] else ()

    def once(self, build, call):
        """The document of one call. Throws Failed, Interrupted."""
        self.path.unlink(missing_ok=True)
        call = [one for word in call for one in self.understood(build, word)]
        done = self.stop.run([self.programs[build], *call, "--json", str(self.path)], cwd=self.trees[build],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        document = json.loads(self.path.read_text(encoding="utf-8")) if self.path.exists() else None
        wrong = document is not None and comparison.faults_of([document])
        if done.returncode == 2:
            raise BadInput(f"bench_{self.name} of the {build} build: {last_line(done.stderr)}")
        if document is None or (done.returncode != 0 and not wrong):
            raise Failed(f"bench_{self.name} of the {build} build ended with status {done.returncode}: {last_line(done.stderr)}")
        return document


def measure(runs, count):
    """Whole rounds, and why there are fewer than asked for: an exception or None."""
    rounds = []
    try:
        for number in range(count):
            print(f"round {number + 1} of {count}", file=sys.stderr, flush=True)
            documents = {OLD: [], NEW: []}
            for place, call in enumerate(runs.calls):
                for build in comparison.order(number + place):
                    documents[build].append(runs.once(build, call))
            rounds.append(documents)
    except (Failed, Interrupted) as why:
        return rounds, why
    return rounds, None


def write(document, path):
    """Whole or absent, as every result document."""
    target = pathlib.Path(path)
    beside = target.with_name(target.name + ".part")
    beside.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    beside.replace(target)


def compare(asked, command):
    stop = Stop()
    commit = hash_of(asked.against)
    if not asked.allow_dirty:
        refuse_dirty_benchmarks()
    trees = {OLD: old_tree(commit, asked.name), NEW: ROOT}
    helps = {which: build(stop, tree, asked.name, which) for which, tree in trees.items()}
    for which, text in helps.items():
        check_help(asked.name, which, text, asked.runs)
    check_same_options(trees[OLD], ROOT)
    changed = git("diff", "--name-only", commit, "--", "benchmarks", ":!benchmarks/against")
    if changed:
        print(f"remark: {len(changed.splitlines())} files of benchmarks/ differ between the builds", file=sys.stderr)
    started = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    # Instructions are counted, not timed: they are the same in every round.
    count = 1 if asked.name == "instructions" else asked.rounds
    with tempfile.TemporaryDirectory(prefix="txsync-against-") as folder:
        rounds, why = measure(Runs(stop, asked, trees, helps, folder), count)
    if not rounds:
        raise why if isinstance(why, Failed) else Failed("interrupted before the first round had ended; nothing is written")
    document = comparison.compare(asked.name, commit, rounds, command, started, interrupted=isinstance(why, Interrupted))
    print("\n".join(comparison.table(document)))
    if asked.json is not None:
        write(document, asked.json)
    if why is not None:
        raise why if isinstance(why, Failed) else Failed(f"interrupted after {len(rounds)} of {count} rounds")
    return 1 if "faults" in document["against"] else 0


def main():
    words = sys.argv[1:]
    try:
        return compare(options_of(words), ["./dev", "bench", *words])
    except BadInput as error:
        print(f"dev bench: {error}", file=sys.stderr)
        return 2
    except (Failed, OSError) as error:
        print(f"dev bench: {error}", file=sys.stderr)
        return 1
    except Interrupted:
        print("dev bench: interrupted", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
