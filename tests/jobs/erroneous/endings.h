/* MPI_Init and MPI_Finalize that are missing, called twice or too early. */

static void start(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Barrier(world);
}

static void never_finalised(void)
{
    start();
}

static void never_finalised_by_one(void)
{
    start();
    if (rank == 1)
        exit(0);
    MPI_Finalize();
}

static void never_finalised_with_a_status(void)
{
    start();
    exit(5);
}

static void finalised_with_a_status(void)
{
    start();
    MPI_Finalize();
    exit(rank == 1 ? 5 : 0);
}

static void finalised_twice(void)
{
    start();
    MPI_Finalize();
    MPI_Finalize();
}

static void a_call_after_the_end(void)
{
    start();
    MPI_Finalize();
    MPI_Barrier(world);
}

static void a_send_after_the_end(void)
{
    start();
    MPI_Finalize();
    MPI_Isend(out, FEW, MPI_INT, 1 - rank, 1, world, &request);
}

static void a_call_before_the_start(void)
{
    MPI_Comm_rank(world, &rank);
    start();
    MPI_Finalize();
}

static void started_twice(void)
{
    start();
    MPI_Init(NULL, NULL);
    MPI_Finalize();
}

static void never_started(void)
{
    MPI_Barrier(world);
}

static void ended_without_a_start(void)
{
    MPI_Finalize();
}

static void finalised_while_another_waits(void)
{
    start();
    if (rank == 1)
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    MPI_Finalize();
}

static void ended_while_another_waits(void)
{
    start();
    if (rank == 1)
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    exit(0);
}

static void aborted_by_one(void)
{
    start();
    if (rank == 1)
        MPI_Abort(world, 7);
    MPI_Barrier(world);
    MPI_Finalize();
}

static void a_crash_of_one(void)
{
    start();
    if (rank == 1)
        abort();
    MPI_Barrier(world);
    MPI_Finalize();
}

#define ENDINGS \
    {"finalise-missing", never_finalised, 2}, \
    {"finalise-missing-on-one", never_finalised_by_one, 2}, \
    {"finalise-missing-status", never_finalised_with_a_status, 2}, \
    {"finalise-status", finalised_with_a_status, 2}, \
    {"finalise-twice", finalised_twice, 2}, \
    {"finalise-then-barrier", a_call_after_the_end, 2}, \
    {"finalise-then-send", a_send_after_the_end, 2}, \
    {"finalise-without-init", ended_without_a_start, 2}, \
    {"finalise-while-one-receives", finalised_while_another_waits, 2}, \
    {"init-late", a_call_before_the_start, 2}, \
    {"init-twice", started_twice, 2}, \
    {"init-missing", never_started, 2}, \
    {"exit-while-one-receives", ended_while_another_waits, 2}, \
    {"abort-of-one", aborted_by_one, 2}, \
    {"crash-of-one", a_crash_of_one, 2},
