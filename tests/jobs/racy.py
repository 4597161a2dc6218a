"""Rank 0 adds what others send, in the order in which it comes: objects, and with polls.

Objects are received by matched probes. The results say in which order all came.
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()
rounds = 20
order, polls, total = [], 0, 0.0
if rank == 0:
    for _ in range(rounds * (size - 1)):
        status = MPI.Status()
        value = comm.recv(source=MPI.ANY_SOURCE, tag=0, status=status)
        order.append(status.Get_source())
        total = total * 1.0000001 + value["part"]
    for _ in range(rounds * (size - 1)):
        status = MPI.Status()
        while not comm.iprobe(source=MPI.ANY_SOURCE, tag=1, status=status):
            polls += 1
        order.append(status.Get_source())
        total = total * 1.0000001 + comm.recv(source=status.Get_source(), tag=1)
    print(f"order {''.join(map(str, order))}, {polls} empty polls, sum {total!r}")
else:
    for number in range(rounds):
        comm.send({"part": 1.0 / (rank * 100 + number)}, dest=0, tag=0)
    for number in range(rounds):
        comm.send(1.0 / (rank + number), dest=0, tag=1)
