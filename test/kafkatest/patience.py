"""Multiplies the timeouts of ducktape's waits by `KAFKATEST_PATIENCE`. Imported before all that imports `wait_until`."""

import os

from ducktape.utils import util

PATIENCE = int(os.environ["KAFKATEST_PATIENCE"])
impatient = util.wait_until


def wait_until(condition, timeout_sec, *args, **kwargs):
    return impatient(condition, timeout_sec * PATIENCE, *args, **kwargs)


util.wait_until = wait_until
