"""Which tests of the matrix can be run here, and why others cannot."""

import os
from collections import Counter

from ducktape.tests.loader import TestLoader

from substitutions import adapt


def reason_to_leave_out(test):
    arguments = test.injected_args or {}
    if arguments.get("metadata_quorum") == "ZK":
        return "Kafka 4 has no ZooKeeper"
    if arguments.get("broker_version", "dev") != "dev":
        return "the broker is an older Kafka, which is not installed"
    if test.cls_name == "ConnectPluginDiscoveryTest":
        return "the plugins are Java archives"
    return None


def equal_on_kafka_4(test):
    """Kafka 4 has one group coordinator, and the quorum is the same for all tests."""
    arguments = {**(test.injected_args or {})}
    for name in ("metadata_quorum", "use_new_coordinator"):
        arguments.pop(name, None)
    return test.cls_name, test.function_name, repr(sorted(arguments.items(), key=lambda item: item[0]))


def select(tests):
    """Returns the tests to run, and how many were left out for which reason."""
    selected, left_out = {}, Counter()
    for test in sorted(tests, key=lambda each: each.test_id):
        reason = reason_to_leave_out(test)
        if reason is None and equal_on_kafka_4(test) in selected:
            reason = "the same as another test with Kafka 4, which has one group coordinator"
        if reason is None:
            selected[equal_on_kafka_4(test)] = test
        else:
            left_out[reason] += 1
    return list(selected.values()), left_out


def one_of_each(tests):
    return list({(test.cls_name, test.function_name): test for test in tests}.values())


def install():
    load = TestLoader.load

    def load_selected(self, *args, **kwargs):
        tests, left_out = select(load(self, *args, **kwargs))
        for reason, count in left_out.items():
            print("%d tests are left out: %s" % (count, reason))
        tests = one_of_each(tests) if os.environ["KAFKATEST_BRIEF"] else tests
        for test in tests:
            adapt(test.cls)
        return tests

    TestLoader.load = load_selected
