/* Collectives that ranks call in different orders, or that not all call; ranks that wait for each
 * other in a ring. */

static void different_collectives(void)
{
    if (rank == 0) {
        MPI_Bcast(out, FEW, MPI_INT, 0, world);
        MPI_Reduce(out, in, FEW, MPI_INT, MPI_SUM, 0, world);
    } else {
        MPI_Reduce(out, in, FEW, MPI_INT, MPI_SUM, 0, world);
        MPI_Bcast(out, FEW, MPI_INT, 0, world);
    }
}

static void different_exchanges(void)
{
    if (rank == 0)
        MPI_Allreduce(out, in, FEW, MPI_INT, MPI_SUM, world);
    else
        MPI_Allgather(out, FEW, MPI_INT, in, FEW, MPI_INT, world);
}

static void barrier_of_one(void)
{
    if (rank == 0)
        MPI_Barrier(world);
}

static void bcast_of_the_root_alone(void)
{
    if (rank == 0)
        MPI_Bcast(out, FEW, MPI_INT, 0, world);
}

static void gather_of_all_but_the_root(void)
{
    if (rank != 0)
        MPI_Gather(out, FEW, MPI_INT, in, FEW, MPI_INT, 0, world);
}

static void one_more_allreduce(void)
{
    for (int call = 0; call < 2 + rank; call++)
        MPI_Allreduce(out, in, FEW, MPI_INT, MPI_SUM, world);
}

static void started_in_different_orders(void)
{
    MPI_Request both[2];
    MPI_Ibcast(out, FEW, MPI_INT, 0, world, &both[rank]);
    if (rank == 0)
        MPI_Ibarrier(world, &both[1]);
    else
        MPI_Iallreduce(out, in, FEW, MPI_INT, MPI_SUM, world, &both[0]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void blocking_and_started(void)
{
    if (rank == 0) {
        MPI_Ibcast(out, FEW, MPI_INT, 0, world, &request);
        wait_for_it();
    } else {
        MPI_Bcast(out, FEW, MPI_INT, 0, world);
    }
}

static void blocking_and_started_reductions(void)
{
    if (rank == 0) {
        MPI_Iallreduce(out, in, FEW, MPI_INT, MPI_SUM, world, &request);
        wait_for_it();
    } else {
        MPI_Allreduce(out, in, FEW, MPI_INT, MPI_SUM, world);
    }
}

static void started_by_one(void)
{
    if (rank == 0) {
        MPI_Ibarrier(world, &request);
        wait_for_it();
    }
}

static void message_before_the_barrier(void)
{
    if (rank == 0) {
        MPI_Ssend(out, FEW, MPI_INT, 1, 1, world);
        MPI_Barrier(world);
    } else {
        MPI_Barrier(world);
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    }
}

static void duplicate_of_one(void)
{
    if (rank == 0)
        duplicate();
}

static void duplicate_and_split(void)
{
    MPI_Comm made;
    if (rank == 0)
        MPI_Comm_dup(world, &made);
    else
        MPI_Comm_split(world, 0, 0, &made);
    MPI_Comm_size(made, &size);
    say("ranks", size);
}

static void receives_before_sends(void)
{
    MPI_Recv(in, FEW, MPI_INT, 1 - rank, 1, world, MPI_STATUS_IGNORE);
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
}

static void long_sends_before_receives(void)
{
    MPI_Send(out, MANY, MPI_INT, 1 - rank, 1, world);
    MPI_Recv(in, MANY, MPI_INT, 1 - rank, 1, world, MPI_STATUS_IGNORE);
}

static void synchronous_sends_before_receives(void)
{
    MPI_Ssend(out, FEW, MPI_INT, 1 - rank, 1, world);
    MPI_Recv(in, FEW, MPI_INT, 1 - rank, 1, world, MPI_STATUS_IGNORE);
}

static void waits_before_sends(void)
{
    MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
    wait_for_it();
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
}

#define ORDERING \
    {"order-collectives", different_collectives, 2}, \
    {"order-exchanges", different_exchanges, 2}, \
    {"order-barrier-of-one", barrier_of_one, 2}, \
    {"order-bcast-of-root", bcast_of_the_root_alone, 2}, \
    {"order-gather-without-root", gather_of_all_but_the_root, 2}, \
    {"order-one-more-allreduce", one_more_allreduce, 2}, \
    {"order-started", started_in_different_orders, 2}, \
    {"order-blocking-and-started", blocking_and_started, 2}, \
    {"order-blocking-and-started-reductions", blocking_and_started_reductions, 2}, \
    {"order-started-by-one", started_by_one, 2}, \
    {"order-message-before-barrier", message_before_the_barrier, 2}, \
    {"order-duplicate-of-one", duplicate_of_one, 2}, \
    {"order-duplicate-and-split", duplicate_and_split, 2}, \
    {"order-receives-first", receives_before_sends, 2}, \
    {"order-long-sends-first", long_sends_before_receives, 2}, \
    {"order-synchronous-sends-first", synchronous_sends_before_receives, 2}, \
    {"order-waits-first", waits_before_sends, 2},
