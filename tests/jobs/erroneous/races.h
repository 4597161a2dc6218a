/* Messages that overtake each other, and memory that is used while the MPI uses it. Nothing that
 * depends on who comes first is printed. */

static void receives_from_anybody(void)
{
    int sum = 0;
    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, rank, world);
        return;
    }
    for (int from = 1; from < size; from++) {
        MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
        sum += in[0];
    }
    say("sum", sum);
}

/* Right only if rank 2 came first, which comes late. */
static void receives_from_anybody_and_from_rank_1(void)
{
    if (rank == 2)
        usleep(300000);
    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, world);
        return;
    }
    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
}

static void a_started_receive_from_anybody(void)
{
    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 1, world);
        return;
    }
    MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, &request);
    MPI_Recv(in + 1, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, MPI_STATUS_IGNORE);
    wait_for_it();
    say("sum", in[0] + in[1]);
}

static void a_buffer_that_is_written_while_it_is_sent(void)
{
    if (rank == 0) {
        MPI_Isend(out, MANY, MPI_INT, 1, 1, world, &request);
        memset(out, 1, sizeof out);
        wait_for_it();
    } else {
        MPI_Recv(in, MANY, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    }
}

static void a_buffer_that_is_read_while_it_is_received(void)
{
    volatile int seen;
    if (rank == 0) {
        MPI_Send(out, MANY, MPI_INT, 1, 1, world);
    } else {
        MPI_Irecv(in, MANY, MPI_INT, 0, 1, world, &request);
        seen = in[0];
        in[1] = seen;
        wait_for_it();
    }
}

static void a_buffer_that_two_receives_share(void)
{
    MPI_Request both[2];
    if (rank == 0) {
        for (int message = 0; message < 2; message++)
            MPI_Send(out, MANY, MPI_INT, 1, 1, world);
    } else {
        for (int message = 0; message < 2; message++)
            MPI_Irecv(in, MANY, MPI_INT, 0, 1, world, &both[message]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
}

static void buffers_that_are_written_during_collectives(void)
{
    MPI_Request both[2];
    MPI_Ibcast(out, MANY, MPI_INT, 0, world, &both[0]);
    out[rank] = 7;
    MPI_Iallreduce(in, in + MANY, MANY, MPI_INT, MPI_SUM, world, &both[1]);
    in[rank] = 7;
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static MPI_Win window_of_all(void)
{
    MPI_Win window;
    MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, world, &window);
    return window;
}

static void puts_to_the_same_place(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_fence(0, window);
    MPI_Put(out, FEW, MPI_INT, 0, 0, FEW, MPI_INT, window);
    MPI_Put(out + 1, FEW, MPI_INT, 0, 2, FEW, MPI_INT, window);
    in[1] = rank;
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void a_get_that_is_read_too_early(void)
{
    MPI_Win window = window_of_all();
    MPI_Win_lock_all(0, window);
    MPI_Get(out, FEW, MPI_INT, 1 - rank, 0, FEW, MPI_INT, window);
    out[1] = out[0];
    MPI_Put(out, FEW, MPI_INT, 1 - rank, 0, FEW, MPI_INT, window);
    MPI_Accumulate(out, FEW, MPI_INT, 1 - rank, 0, FEW, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

#define RACES \
    {"race-any-source", receives_from_anybody, 3}, \
    {"race-any-source-first", receives_from_anybody_and_from_rank_1, 3}, \
    {"race-any-source-started", a_started_receive_from_anybody, 3}, \
    {"race-send-buffer", a_buffer_that_is_written_while_it_is_sent, 2}, \
    {"race-receive-buffer", a_buffer_that_is_read_while_it_is_received, 2}, \
    {"race-shared-buffer", a_buffer_that_two_receives_share, 2}, \
    {"race-collective-buffer", buffers_that_are_written_during_collectives, 2}, \
    {"race-puts", puts_to_the_same_place, 2}, \
    {"race-get", a_get_that_is_read_too_early, 2},
