"""Runs ducktape with Sluice in the place of Kafka Connect; `main.ts` prepares the environment. Arguments are ducktape's."""

import patience  # noqa: F401, I001  First: the others take `wait_until` by name.

import json
from collections import defaultdict

from ducktape.command_line import main as command
from ducktape.tests.status import PASS

import selection
import substitutions


class TableReporter:
    """Prints a table of the test methods with the numbers of their variants, then each failure."""

    def __init__(self, results):
        self.results = results

    def report(self):
        methods = defaultdict(list)
        for result in self.results:
            methods["%s.%s" % (result.cls_name, result.function_name)].append(result.test_status == PASS)
        print("\n| Test | Passed | Failed |\n|---|---|---|")
        for name, passed in sorted(methods.items()):
            print("| `%s` | %d | %d |" % (name, passed.count(True), passed.count(False)))
        for result in self.results:
            if result.test_status != PASS:
                first_line = (result.summary or "").strip().split("\n")[0]
                print("\n%s %s\n  %s" % (result.function_name, json.dumps(result.injected_args), first_line))


if __name__ == "__main__":
    substitutions.substitute()
    selection.install()
    # The reporter of ducktape fails when the tests are not below the working folder.
    command.FailedTestSymbolReporter = TableReporter
    command.main()
