"""Receive 400 events from 60 pipes by epoll."""

import os
import selectors

selector = selectors.EpollSelector()
pipes = [os.pipe() for _ in range(60)]
for reader, _ in pipes:
    selector.register(reader, selectors.EVENT_READ)
for i in range(400):
    os.write(pipes[i % 60][1], b"x")
    for key, _ in selector.select():
        os.read(key.fd, 1)
