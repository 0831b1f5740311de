"""Four threads take 1,500 numbers from a queue, and return the squares by another queue."""

import queue
import threading

numbers: queue.Queue = queue.Queue()
squares: queue.Queue = queue.Queue()


def work() -> None:
    """Square numbers until None comes."""
    while (number := numbers.get()) is not None:
        squares.put(number * number)


threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for i in range(1500):
    numbers.put(i)
for _ in range(1500):
    squares.get()
for _ in threads:
    numbers.put(None)
for thread in threads:
    thread.join()
