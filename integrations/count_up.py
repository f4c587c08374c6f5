#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count_up.py PORT: six connections to a server that speaks memcached's protocol count four counters up, by incr and by
gets and cas; prints what they are then. No increment may be lost."""

import socket
import sys
import threading

BY_INCR = 2000  # of each connection
BY_CAS = 200


class Link:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)

    def ask(self, line, end=b"\r\n"):
        self.socket.sendall(line)
        answer = b""
        while not answer.endswith(end):
            part = self.socket.recv(4096)
            if not part:
                sys.exit("the server has closed the connection")
            answer += part
        return answer


def add_by_cas(link, name):
    while True:
        value, data = link.ask(b"gets %b\r\n" % name, b"END\r\n").split(b"\r\n")[:2]
        text = b"%d" % (int(data) + 1)
        cas = value.split()[-1]
        if link.ask(b"cas %b 0 0 %d %b\r\n%b\r\n" % (name, len(text), cas, text)) == b"STORED\r\n":
            return


def count(number):
    link = Link()
    for i in range(BY_INCR):
        link.ask(b"incr counter%d 1\r\n" % ((number + i) % 4))
        if i % (BY_INCR // BY_CAS) == 0:
            add_by_cas(link, b"changed")


def main():
    link = Link()
    names = [b"counter%d" % i for i in range(4)] + [b"changed"]
    for name in names:
        link.ask(b"set %b 0 0 1\r\n0\r\n" % name)
    threads = [threading.Thread(target=count, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in names:
        print(name.decode(), link.ask(b"incr %b 0\r\n" % name).decode().strip())


main()
