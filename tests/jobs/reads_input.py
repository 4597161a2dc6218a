"""Rank 0 reads two numbers from sys.stdin, a line each, and tells all ranks; the sum over all ranks
is printed."""

import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
numbers = None
if world.Get_rank() == 0:
    numbers = [int(sys.stdin.readline()), int(sys.stdin.readline())]
numbers = world.bcast(numbers)
total = world.reduce(sum(numbers))
if world.Get_rank() == 0:
    print("sum", total)
