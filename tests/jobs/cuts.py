"""Objects around a ring, which mpi4py receives by matched probes, with a reduction now and then."""

import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
found = 0
for step in range(int(sys.argv[1])):
    request = world.isend({"step": step, "from": rank}, (rank + 1) % size)
    found += world.recv(source=MPI.ANY_SOURCE)["step"]
    request.wait()
    if step % 10 == 0:
        found += world.allreduce(step)
    time.sleep(0.002)
print(f"rank {rank} found {found}" if rank == 0 else "", end="\n" if rank == 0 else "")
