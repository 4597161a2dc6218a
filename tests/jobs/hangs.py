"""A job that hangs, or does not.

hangs.py ring              everybody receives from the left before it sends to the right
hangs.py waits SECONDS     rank 0 sleeps, the others wait for its object
"""

import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
world.barrier()
if sys.argv[1] == "ring":
    found = world.recv(source=(rank + size - 1) % size, tag=2)
    world.send(found, dest=(rank + 1) % size, tag=2)
elif rank == 0:
    time.sleep(float(sys.argv[2]))
    for other in range(1, size):
        world.send({"from": rank}, dest=other, tag=2)
else:
    world.recv(source=0, tag=2)
world.barrier()
if rank == 0:
    print("ended well")
