#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""protocol_test.py TXSYNC_CACHE: drives the server over loopback. What is asked and answered stands in protocol_cases.py, as
memcached 1.6.18 answers; where a memcached is installed it is asked too."""

import contextlib
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from protocol_cases import CASES, OURS_ONLY

SERVER = ""


@contextlib.contextmanager
def serving(*arguments, files=None):
    """A server's port; it has to end by SIGTERM, with status 0 and without a word on the standard error."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))) if files else None
    with subprocess.Popen([SERVER, "--port", "0", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=limit) as server:
        try:
            line = server.stdout.readline()
            match = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", line)
            if not match:
                raise AssertionError(line + server.stderr.read())
            yield int(match[1])
        finally:
            server.send_signal(signal.SIGTERM)
            _, errors = server.communicate(timeout=60)
        if server.returncode != 0 or errors:
            raise AssertionError(f"status {server.returncode}: {errors}")


def connect(port):
    link = socket.create_connection(("127.0.0.1", port), 30)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def read_all(link):
    parts = []
    while True:
        part = link.recv(1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def ask(port, data, pieces=False):
    """Sends all, ends its own direction, and reads until the server has ended the other."""
    with connect(port) as link:
        try:
            if pieces:
                for i in range(len(data)):
                    link.sendall(data[i:i + 1])
            else:
                link.sendall(data)
            link.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError, OSError):
            pass  # it did not want to hear more
        try:
            return read_all(link)
        except ConnectionResetError:
            return b""


def read_to(link, end):
    answer = bytearray()
    while not answer.endswith(end):
        part = link.recv(1 << 16)
        if not part:
            raise AssertionError("closed after " + repr(answer[-100:]))
        answer += part
    return bytes(answer)


def resident(process):
    """Bytes of memory."""
    with open(f"/proc/{process}/statm", encoding="ascii") as status:
        return int(status.read().split()[1]) * resource.getpagesize()


def short(data):
    return re.sub(rb"(.)\1{40,}", lambda seen: seen[1] + b"{%d}" % len(seen[0]), data, flags=re.DOTALL)


def masked(answer):
    """Without what differs from server to server."""
    answer = re.sub(rb"VERSION [^\r]*", b"VERSION", answer)
    return re.sub(rb"(VALUE \S+ \d+ \d+) \d+\r", rb"\1 CAS\r", answer)


class Answers(unittest.TestCase):
    def compare(self, port, cases, **how):
        for asked, expected in cases:
            with self.subTest(asked=short(asked)):
                self.assertEqual(short(masked(ask(port, asked, **how))), short(expected))

    def test_whole(self):
        with serving("--threads", "2") as port:
            self.compare(port, CASES + OURS_ONLY)

    def test_in_stripes(self):
        with serving("--threads", "2", "--striped") as port:
            self.compare(port, CASES)

    def test_byte_by_byte(self):
        with serving("--threads", "2") as port:
            self.compare(port, [case for case in CASES if len(case[0]) < 700], pieces=True)

    def test_memcached_answers_the_same(self):
        memcached = shutil.which("memcached")
        if not memcached:
            self.skipTest("no memcached here")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        user = ["-u", "root"] if os.geteuid() == 0 else []
        version = subprocess.run([memcached, "-V"], capture_output=True, text=True).stdout
        if "1.6.18" not in version:
            self.skipTest("another version: " + version)
        server = subprocess.Popen([memcached, *user, "-t", "2", "-l", "127.0.0.1", "-p", str(port), "-U", "0"])
        try:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    connect(port).close()
                    break
                time.sleep(0.05)
            for asked, expected in CASES:
                with self.subTest(asked=short(asked)):
                    self.assertEqual(short(masked(ask(port, asked))), short(expected))
        finally:
            server.terminate()
            server.wait()

    def test_lines_without_end_are_cut_off(self):
        with serving() as port:
            with connect(port) as link:
                link.sendall(b"a" * 3000)
                self.assertEqual(link.recv(100), b"")
            with connect(port) as link:
                link.sendall(b"get " + b"k " * 3000)
                link.sendall(b"k\r\n")
                self.assertEqual(read_to(link, b"\r\n"), b"END\r\n")
            self.assertEqual(ask(port, b"get " + b"k" * (2 << 20)), b"")
            self.assertEqual(ask(port, b"version\r\n")[:8], b"VERSION ")

    def test_statistics(self):
        with serving("--lock", "ticket") as port:
            ask(port, b"set a 0 0 1\r\nx\r\nget a b\r\nincr b 1\r\ndelete b\r\ntouch a 0\r\n")
            lines = ask(port, b"stats\r\n").split(b"\r\n")
            self.assertEqual(lines[-2:], [b"END", b""])
            said = dict(line.split(b" ")[1:3] for line in lines[:-2])
            for name, value in {b"curr_items": b"1", b"total_items": b"1", b"cmd_get": b"2", b"get_hits": b"1",
                                b"get_misses": b"1", b"incr_misses": b"1", b"delete_misses": b"1", b"touch_hits": b"1",
                                b"lock": b"ticket", b"curr_connections": b"1", b"total_connections": b"2"}.items():
                self.assertEqual(said[name], value, name)
            self.assertEqual(ask(port, b"stats reset\r\n"), b"RESET\r\n")
            self.assertIn(b"STAT cmd_get 0\r\n", ask(port, b"stats\r\n"))

    def test_time(self):
        with serving() as port:
            ask(port, b"set a 0 1 1\r\nx\r\nset b 0 0 1\r\ny\r\nset c 0 %d 1\r\nz\r\nset d 0 1000000000 1\r\nz\r\n" % (time.time() + 100))
            self.assertEqual(ask(port, b"get d\r\n"), b"END\r\n")
            deadline = time.monotonic() + 20
            while ask(port, b"get a\r\n") != b"END\r\n":
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)
            self.assertEqual(ask(port, b"get b c\r\n"), b"VALUE b 0 1\r\ny\r\nVALUE c 0 1\r\nz\r\nEND\r\n")
            self.assertEqual(ask(port, b"flush_all 1\r\n"), b"OK\r\n")
            while ask(port, b"get b\r\n") != b"END\r\n":
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)


class Clients(unittest.TestCase):
    def test_pipelines(self):
        with serving() as port:
            sets = b"".join(b"set p%d 0 0 %d\r\n%d\r\n" % (i, len(str(i)), i) for i in range(3000))
            gets = b"".join(b"get p%d\r\n" % i for i in range(3000))
            expected = b"STORED\r\n" * 3000 + b"".join(b"VALUE p%d 0 %d\r\n%d\r\nEND\r\n" % (i, len(str(i)), i) for i in range(3000))
            with connect(port) as link:
                sender = threading.Thread(target=lambda: (link.sendall(sets + gets), link.shutdown(socket.SHUT_WR)))
                sender.start()
                self.assertEqual(read_all(link), expected)
                sender.join()

    def test_what_comes_in_one_go_is_answered_to_its_end(self):
        quiet = b"set q 0 0 1000 noreply\r\n" + b"q" * 1000 + b"\r\n"
        with serving("--threads", "1") as port, connect(port) as link:
            for count in range(50, 4000, 125):
                link.sendall(quiet * count + b"get nothing\r\n")
                self.assertEqual(read_to(link, b"END\r\n"), b"END\r\n")

    def test_who_does_not_read_does_not_fill_the_server(self):
        value = os.urandom(500_000)
        with serving("--threads", "1", "--memory", "64") as port:
            self.assertEqual(ask(port, b"set big 0 0 500000\r\n" + value + b"\r\n"), b"STORED\r\n")
            server = int(re.search(rb"STAT pid (\d+)", ask(port, b"stats\r\n"))[1])
            before = resident(server)
            with connect(port) as slow:
                slow.sendall(b"get" + b" big" * 300 + b"\r\n")
                with connect(port) as other:
                    for _ in range(50):
                        other.sendall(b"get nothing\r\n")
                        self.assertEqual(read_to(other, b"END\r\n"), b"END\r\n")
                self.assertLess(resident(server) - before, 60 << 20, "150 MB of answers wait")
                expected = (b"VALUE big 0 500000\r\n" + value + b"\r\n") * 300 + b"END\r\n"
                self.assertTrue(read_to(slow, b"END\r\n") == expected)

    def test_values_on_their_way_hold_nobody_up(self):
        with serving("--threads", "1") as port:
            with connect(port) as slow, connect(port) as other:
                slow.sendall(b"set s 0 0 10\r\nhalf")
                other.sendall(b"set s 0 0 5\r\nother\r\nget s\r\n")
                self.assertEqual(read_to(other, b"END\r\n"), b"STORED\r\nVALUE s 0 5\r\nother\r\nEND\r\n")
                slow.sendall(b"-value\r\nget s\r\n")
                self.assertEqual(read_to(slow, b"END\r\n"), b"STORED\r\nVALUE s 0 10\r\nhalf-value\r\nEND\r\n")
                slow.sendall(b"set s 0 0 10\r\nnever")  # and is gone
            self.assertEqual(ask(port, b"get s\r\n"), b"VALUE s 0 10\r\nhalf-value\r\nEND\r\n")

    def test_many_connections_and_one_too_many(self):
        with serving("--connections", "300") as port:
            links = [connect(port) for _ in range(300)]
            for i, link in enumerate(links):
                link.sendall(b"set c%d 0 0 1\r\nx\r\n" % i)
            for link in links:
                self.assertEqual(read_to(link, b"\r\n"), b"STORED\r\n")
            with connect(port) as late:
                self.assertEqual(read_all(late), b"ERROR Too many open connections\r\n")
            links.pop().close()
            deadline = time.monotonic() + 20
            while ask(port, b"get c1\r\n") != b"VALUE c1 0 1\r\nx\r\nEND\r\n":
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            for link in links:
                link.close()

    def test_an_ended_connection_has_left_its_place(self):
        with serving("--connections", "1") as port:
            for _ in range(1000):
                self.assertEqual(ask(port, b"get a\r\n"), b"END\r\n")

    def test_without_descriptors_clients_wait(self):
        with serving("--connections", "1000", "--threads", "2", files=40) as port:
            links = [connect(port) for _ in range(60)]
            for link in links:
                link.sendall(b"version\r\n")
            for link in links[:20]:  # connections are accepted in their order, and more than this many can be
                self.assertTrue(read_to(link, b"\r\n").startswith(b"VERSION"))
            time.sleep(0.3)  # it is out of descriptors by now: those behind have to wait
            for link in links[:20]:
                link.close()
            for link in links[20:]:
                self.assertTrue(read_to(link, b"\r\n").startswith(b"VERSION"))
                link.close()
            self.assertRegex(ask(port, b"stats\r\n"), rb"STAT listen_disabled_num [1-9]")

    def test_little_memory_evicts_and_every_value_is_right(self):
        with serving("--memory", "1") as port, connect(port) as link:
            for i in range(4000):
                link.sendall(b"set e%d 0 0 1000 noreply\r\n%b\r\n" % (i, b"%04d" % i * 250))
            for i in range(0, 4000, 7):
                link.sendall(b"get e%d\r\n" % i)
                answer = read_to(link, b"END\r\n")
                if answer != b"END\r\n":
                    self.assertEqual(answer, b"VALUE e%d 0 1000\r\n%b\r\nEND\r\n" % (i, b"%04d" % i * 250))
            self.assertRegex(ask(port, b"stats\r\n"), rb"STAT evictions [1-9]\d\d")
            for size in (10, 10_000, 1_000_000):  # of other sizes there is still room
                self.assertEqual(ask(port, b"set o 0 0 %d\r\n%b\r\n" % (size, b"o" * size)), b"STORED\r\n")


class Concurrency(unittest.TestCase):
    def run_client(self, port, number, wrong):
        try:
            with connect(port) as link:
                for i in range(60):
                    key = b"k%d" % (i % 5)
                    text = b"%d.%d." % (number, i) * 40
                    link.sendall(b"set %b 0 0 %d\r\n%b\r\nget %b\r\nincr n 1\r\nget own%d\r\nset own%d 0 0 3\r\n%03d\r\n" %
                                 (key, len(text), text, key, number, number, i))
                    answer = read_to(link, b"STORED\r\n")
                    while answer.count(b"END\r\n") < 2:
                        answer += read_to(link, b"STORED\r\n")
                    stored, value = answer.split(b"\r\n")[:3:2]
                    part = value[:value.index(b".", value.index(b".") + 1) + 1]
                    own = re.search(rb"VALUE own\d+ 0 3\r\n(\d+)", answer)
                    if stored != b"STORED" or value != part * 40 or (i > 0 and int(own[1]) != i - 1):
                        wrong.append(answer)
        except Exception as error:  # of a thread: nobody else would hear of it
            wrong.append(error)

    def test_values_are_whole_and_no_increment_is_lost_under_any_lock(self):
        locks = subprocess.run([SERVER, "--list-locks"], capture_output=True, text=True).stdout.strip().split(",")
        self.assertIn("warm-ticket", locks)
        for lock in locks:
            for layout in ([], ["--striped"]):
                with self.subTest(lock=lock, layout=layout), serving("--lock", lock, "--threads", "3", *layout) as port:
                    ask(port, b"set n 0 0 1\r\n0\r\n")
                    wrong = []
                    clients = [threading.Thread(target=self.run_client, args=(port, n, wrong)) for n in range(4)]
                    for client in clients:
                        client.start()
                    for client in clients:
                        client.join()
                    self.assertEqual(wrong[:1], [])
                    self.assertEqual(ask(port, b"incr n 0\r\n"), b"240\r\n")


class Program(unittest.TestCase):
    def refused(self, *arguments, status, says):
        done = subprocess.run([SERVER, *arguments], capture_output=True, text=True, timeout=60)
        with self.subTest(arguments=arguments):
            self.assertEqual(done.returncode, status)
            self.assertEqual(done.stdout, "")
            self.assertRegex(done.stderr, r"\Atxsync-cache: [^\n]+\n\Z")
            self.assertIn(says, done.stderr)

    def test_bad_input_is_one_line(self):
        self.refused("--lock", "spin", status=2, says="unknown lock 'spin'; allowed: mutex, ")
        self.refused("--threads", "0", status=2, says="--threads")
        self.refused("--port", "70000", status=2, says="--port")
        self.refused("--memory", "x", status=2, says="--memory")
        self.refused("--memory", "8", "--striped", status=2, says="--memory must be 16 or more")
        self.refused("--bogus", status=2, says="--bogus")
        self.refused("more", status=2, says="more")

    def test_a_port_in_use(self):
        with serving() as port:
            self.refused("--port", str(port), status=1, says=f"cannot listen on 127.0.0.1 port {port}: Address already in use")

    def test_ends_by_signal_whatever_clients_do(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = subprocess.Popen([SERVER, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            port = int(server.stdout.readline().split(":")[1])
            links = [connect(port) for _ in range(10)]
            for link in links:
                link.sendall(b"set a 0 0 100\r\nhalf of it")
            self.assertTrue(ask(port, b"version\r\n").startswith(b"VERSION"))
            server.send_signal(number)
            self.assertEqual(server.communicate(timeout=30), ("", ""))
            self.assertEqual(server.returncode, 0)
            for link in links:
                link.close()


if __name__ == "__main__":
    SERVER = sys.argv.pop(1)
    unittest.main()
