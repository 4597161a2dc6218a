"""The ring job in Python. ring.c, ring.f, ring.f90 and ring_f08.f90 send the
same messages and print the same lines; ring.md tells what they are.

needs: mpi4py, built for the MPI that runs the job; nothing else
run:   mpirun -np 4 python3 ring.py
"""

from array import array

from mpi4py import MPI

ROUNDS, UNIT, SMALL, RESULTS = 10, 100, 10, 5

world = MPI.COMM_WORLD
me, size = world.Get_rank(), world.Get_size()
left, right = (me + size - 1) % size, (me + 1) % size


def pass_token():
    """A number goes round the ring, from rank 0 to rank 0; each rank adds itself."""
    token = array("i", [me + 1])
    if size == 1:
        return token[0]
    if me == 0:
        status = MPI.Status()
        world.Send([token, MPI.INT], dest=right, tag=1)
        world.Recv([token, MPI.INT], source=MPI.ANY_SOURCE, tag=1, status=status)
        print(
            f"token {token[0]} from rank {status.Get_source()}, "
            f"tag {status.Get_tag()}, {status.Get_count(MPI.INT)} integer"
        )
    else:
        received = array("i", [0])
        world.Recv([received, MPI.INT], source=left, tag=1)
        token[0] += received[0]
        world.Send([token, MPI.INT], dest=right, tag=1)
    return token[0]


def shift_right():
    """Longer and longer blocks go to the right, each round's block on to the next."""
    received = array("d", bytes(8 * ROUNDS * UNIT))
    value, total = float(me + 1), 0
    for turn in range(1, ROUNDS + 1):
        count = turn * UNIT
        world.Sendrecv(
            [array("d", [value] * count), count, MPI.DOUBLE], right, 2,
            [received, count, MPI.DOUBLE], left, 2,
        )
        value = received[0]
        total += int(received[count - 1])
    return total


def shift_left():
    """One small message to the left, without waiting for each other."""
    block = array("i", range(100 * (me + 1), 100 * (me + 1) + SMALL))
    received = array("i", bytes(4 * SMALL))
    requests = [
        world.Irecv([received, MPI.INT], source=right, tag=3),
        world.Isend([block, MPI.INT], dest=left, tag=3),
    ]
    MPI.Request.Waitall(requests)
    return received[SMALL - 1]


def reduce():
    """The sum of all ranks, reduced in place, in the world and among every other rank."""
    total = array("d", [me + 1])
    world.Allreduce(MPI.IN_PLACE, [total, MPI.DOUBLE], op=MPI.SUM)
    half = world.Split(color=me % 2, key=me)
    part = array("d", [me + 1])
    half.Allreduce(MPI.IN_PLACE, [part, MPI.DOUBLE], op=MPI.SUM)
    half.Free()
    return int(total[0]), int(part[0])


results = array("i", [pass_token(), shift_right(), shift_left(), *reduce()])
gathered = array("i", bytes(4 * RESULTS * size)) if me == 0 else None
world.Gather(
    [results, MPI.INT],
    [gathered, RESULTS, MPI.INT] if me == 0 else None,
    root=0,
)
if me == 0:
    for rank in range(size):
        token, turned_right, turned_left, all_, alike = gathered[RESULTS * rank:RESULTS * (rank + 1)]
        print(
            f"rank {rank} of {size}: token {token} right {turned_right} "
            f"left {turned_left} all {all_} alike {alike}"
        )
