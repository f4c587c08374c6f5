# SPDX-License-Identifier: Apache-2.0
"""The application of uwsgi.sh: /add does some work in threads of its own and counts the request up in memory that uWSGI's
processes share; /totals tells what has come of it."""

import concurrent.futures
import hashlib
import threading

import uwsgi

REQUESTS, RIGHT_ONES = 0, 8  # places in the shared memory
made = threading.Lock()
pool = None  # of this process


def count_up(place):
    uwsgi.lock(1)
    before = uwsgi.sharedarea_read64(0, place)
    uwsgi.sharedarea_write64(0, place, before + 1)
    uwsgi.unlock(1)


def add():
    global pool
    with made:
        pool = pool or concurrent.futures.ThreadPoolExecutor(2)
    digests = set(pool.map(lambda text: hashlib.sha256(text).hexdigest(), [b"x" * 10_000] * 4))
    count_up(REQUESTS)
    if len(digests) == 1:
        count_up(RIGHT_ONES)
    return b"added"


def application(environment, start_response):
    answer = b"%d %d" % tuple(uwsgi.sharedarea_read64(0, place) for place in (REQUESTS, RIGHT_ONES))
    if environment["PATH_INFO"] == "/add":
        answer = add()
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return [answer]
