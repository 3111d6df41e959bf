#!/usr/bin/env python3
"""Runs the tests against each mutant of a mutated build: run.py BUILD MUTANTS RESULTS [JOBS]

BUILD is the mutated build (see README.md here), MUTANTS the list of mutate.py, RESULTS a JSON file that is written as
it goes; a run that was stopped goes on from it. First every test case runs once by itself and notes the mutants that
it reaches. Then each mutant runs the cases that reach it, the fastest first, until one fails. The last line says how
many were killed. Survivors are listed with their place: each is a missing test, dead code, or equal to the original.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LONGEST = 120  # seconds that a case may take unmutated; slower ones are left out


def run(suite, case, environment, limit):
    """Whether the case passes, and its seconds. Beyond the limit it fails: the mutant made it endless."""
    began = time.monotonic()
    environment = {**os.environ, "RC_PARAMS": "seed=1", **environment}
    command = [str(suite), "--no-colors=true", f"--first={case}", f"--last={case}"]
    try:
        done = subprocess.run(command, env=environment, timeout=limit, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        passed = done.returncode == 0
    except subprocess.TimeoutExpired:
        passed = False
    return passed, time.monotonic() - began


def count_cases(suite):
    text = subprocess.run([str(suite), "-c"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"filters: (\d+)", text).group(1))


def reach(task):
    suite, case = task
    with tempfile.NamedTemporaryFile(mode="r") as file:
        passed, seconds = run(suite, case, {"ORRERY_MUTANTS_REACHED": file.name}, LONGEST)
        reached = sorted({int(line) for line in Path(file.name).read_text().split()})
    return {"suite": suite.name, "case": case, "seconds": seconds, "passed": passed, "reached": reached}


def main():
    build, results = Path(sys.argv[1]).resolve(), Path(sys.argv[3])
    mutants = json.loads(Path(sys.argv[2]).read_text())
    jobs = int(sys.argv[4]) if len(sys.argv) > 4 else os.cpu_count()
    state = json.loads(results.read_text()) if results.exists() else {"cases": [], "mutants": {}}

    def save():
        results.with_suffix(".new").write_text(json.dumps(state))
        results.with_suffix(".new").rename(results)

    with ThreadPoolExecutor(jobs) as pool:
        if not state["cases"]:
            suites = sorted(path for path in (build / "tests").glob("test_*") if path.is_file())
            tasks = [(suite, case) for suite in suites for case in range(1, count_cases(suite) + 1)]
            state["cases"] = list(pool.map(reach, tasks))
            save()
        by_mutant = {}
        for case in sorted(state["cases"], key=lambda c: c["seconds"]):
            if case["passed"]:
                for number in case["reached"]:
                    by_mutant.setdefault(number, []).append(case)

        def judge(mutant):
            number = mutant["number"]
            if str(number) in state["mutants"]:
                return
            cases = by_mutant.get(number, [])
            verdict = {"verdict": "survived" if cases else "not reached", "cases": len(cases)}
            for case in cases:
                limit = 5 + 10 * case["seconds"]
                passed, _ = run(build / "tests" / case["suite"], case["case"], {"ORRERY_MUTANT": str(number)}, limit)
                if not passed:
                    verdict = {"verdict": "killed", "by": f"{case['suite']} case {case['case']}"}
                    break
            state["mutants"][str(number)] = verdict
            if len(state["mutants"]) % 20 == 0:
                print(f"{len(state['mutants'])} of {len(mutants)}", flush=True)

        for begin in range(0, len(mutants), 40):
            list(pool.map(judge, mutants[begin:begin + 40]))
            save()

    killed = sum(v["verdict"] == "killed" for v in state["mutants"].values())
    for mutant in mutants:
        verdict = state["mutants"][str(mutant["number"])]
        if verdict["verdict"] != "killed":
            text = " ".join(mutant["text"].split())[:90]
            print(f"{mutant['number']} {mutant['file']}:{mutant['line']} {verdict['verdict']}: {mutant['change']}  in  {text}")
    print(f"{killed} of {len(mutants)} mutants killed")


if __name__ == "__main__":
    main()
