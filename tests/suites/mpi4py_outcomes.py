"""Runs mpi4py's own test suite, and writes down what became of each test.

    mpiexec -n N python mpi4py_outcomes.py SUITE OUTCOMES [ARGUMENTS OF main.py]

SUITE is the folder `test` of mpi4py's source, OUTCOMES a folder for one file a
process: a line `start NAME` before each test, and `OUTCOME NAME` after it. A
process that crashes leaves the name of the test it was in.
"""
import os
import pathlib
import sys
import unittest

suite, outcomes = sys.argv[1], pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, suite)
lines = open(outcomes / f"{os.getpid()}.txt", "w", buffering=1, encoding="utf-8")


def note(outcome, test):
    name = test.id() if isinstance(test, unittest.TestCase) else str(test)
    print(outcome, name.replace(" ", "_"), file=lines)


class Result(unittest.TextTestResult):
    """Notes what it is told."""

    def startTest(self, test):
        note("start", test)
        super().startTest(test)

    def addSuccess(self, test):
        note("passed", test)
        super().addSuccess(test)

    def addError(self, test, err):
        note("failed", test)
        super().addError(test, err)

    def addFailure(self, test, err):
        note("failed", test)
        super().addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            note("failed", test)
        super().addSubTest(test, subtest, err)

    def addSkip(self, test, reason):
        note("skipped", test)
        super().addSkip(test, reason)

    def addExpectedFailure(self, test, err):
        note("expected-failure", test)
        super().addExpectedFailure(test, err)

    def addUnexpectedSuccess(self, test):
        note("unexpected-success", test)
        super().addUnexpectedSuccess(test)


import main  # noqa: E402  (the suite's)

main.main(
    module=None,
    argv=[os.path.join(suite, "main.py"), *sys.argv[3:]],
    testRunner=unittest.TextTestRunner(resultclass=Result, verbosity=0),
)
