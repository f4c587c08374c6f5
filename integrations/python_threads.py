#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_threads.py: threads of Python that share a queue, a lock, a condition and a barrier; prints what came out."""

import concurrent.futures
import hashlib
import multiprocessing
import queue
import threading

ITEMS = 20_000
THREADS = 8


def by_queue():
    items, squares = queue.Queue(100), []

    def work():
        while (item := items.get()) is not None:
            squares.append(item * item)

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for item in [*range(ITEMS), *[None] * THREADS]:
        items.put(item)
    for thread in threads:
        thread.join()
    return len(squares), sum(squares)


def digest(number):
    # Of more than 2 KB: the interpreter's lock is given up meanwhile.
    return hashlib.sha256(b"%d" % number * 5000).hexdigest()


def by_pool():
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        return hashlib.sha256("".join(pool.map(digest, range(500))).encode()).hexdigest()


def by_turns():
    turn, order, condition = [0], [], threading.Condition()

    def work(me):
        for _ in range(200):
            with condition:
                condition.wait_for(lambda: turn[0] == me)
                order.append(me)
                turn[0] = (me + 1) % 4
                condition.notify_all()

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return order == [0, 1, 2, 3] * 200


def by_phases():
    barrier, lock, total = threading.Barrier(4), threading.Lock(), [0]

    def work():
        for _ in range(100):
            with lock:
                total[0] += 1
            barrier.wait()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total[0]


def by_children():
    with multiprocessing.get_context("fork").Pool(3) as pool:
        return sum(pool.map(abs, range(-1000, 0)))


for part in (by_queue, by_pool, by_turns, by_phases, by_children):
    print(part.__name__, part())
