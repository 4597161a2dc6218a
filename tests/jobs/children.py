"""Each rank starts processes after MPI_Init: by os.fork(), subprocess and multiprocessing. Rank 0
prints what they gave, over all ranks."""

import multiprocessing
import os
import subprocess
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD


def forked():
    """A child that ends without the interpreter's end, and one that has a value."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"7")
        os._exit(0)
    os.close(write)
    value = int(os.read(read, 1))
    assert os.waitpid(child, 0)[1] == 0
    return value


def squared(number):
    return number * number


def told():
    words = [sys.executable, "-c", "print(5)"]
    return int(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


rank = world.Get_rank()
for _ in range(3):
    world.barrier()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        values = [forked(), told(), *pool.map(squared, [rank, 3])]
    total = world.allreduce(sum(values))
if rank == 0:
    print("sum", total)
