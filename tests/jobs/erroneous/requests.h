/* Requests that are never started, never waited for, or used when they are gone. */

/* All send something to each other, so that what is left is a request. */
static void exchange_with(MPI_Request *send, MPI_Request *receive)
{
    MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, world, receive);
    MPI_Isend(out, FEW, MPI_INT, 1 - rank, 1, world, send);
}

static void a_send_without_a_wait(void)
{
    MPI_Request receive;
    exchange_with(&request, &receive);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

static void a_receive_without_a_wait(void)
{
    MPI_Request send;
    exchange_with(&send, &request);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
}

static void a_long_send_without_a_wait_that_nobody_receives(void)
{
    if (rank == 0)
        MPI_Isend(out, MANY, MPI_INT, 1, 1, world, &request);
}

static void a_receive_without_a_wait_that_nobody_sends_to(void)
{
    MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
}

static void a_collective_without_a_wait(void)
{
    MPI_Ibcast(out, FEW, MPI_INT, 0, world, &request);
}

static void long_collectives_without_a_wait(void)
{
    MPI_Iallreduce(out, in, MANY, MPI_INT, MPI_SUM, world, &request);
    MPI_Ibarrier(world, &request);
}

static void a_collective_of_one_without_a_wait(void)
{
    if (rank == 0)
        MPI_Ibarrier(world, &request);
}

static void a_persistent_receive_that_is_not_started(void)
{
    if (rank == 0) {
        MPI_Send(out, FEW, MPI_INT, 1, 1, world);
    } else {
        MPI_Recv_init(in, FEW, MPI_INT, 0, 1, world, &request);
        wait_for_it();
    }
}

static void a_persistent_send_that_is_not_started(void)
{
    if (rank == 0) {
        MPI_Send_init(out, FEW, MPI_INT, 1, 1, world, &request);
        wait_for_it();
        MPI_Request_free(&request);
    } else {
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    }
}

static void a_persistent_request_without_a_wait(void)
{
    if (rank == 0)
        MPI_Send_init(out, FEW, MPI_INT, 1, 1, world, &request);
    else
        MPI_Recv_init(in, FEW, MPI_INT, 0, 1, world, &request);
    MPI_Start(&request);
}

static void a_request_that_is_started_twice(void)
{
    MPI_Recv_init(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
    MPI_Start(&request);
    MPI_Start(&request);
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
    wait_for_it();
}

static void a_start_of_what_is_not_persistent(void)
{
    MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
    MPI_Start(&request);
}

static void a_receive_that_is_freed(void)
{
    MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
    MPI_Request_free(&request);
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
    MPI_Barrier(world);
}

static void a_persistent_receive_that_is_freed(void)
{
    MPI_Recv_init(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
    MPI_Start(&request);
    MPI_Request_free(&request);
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
    MPI_Barrier(world);
}

static void a_started_collective_that_is_freed(void)
{
    MPI_Iallreduce(out, in, FEW, MPI_INT, MPI_SUM, world, &request);
    MPI_Request_free(&request);
}

static void a_started_collective_that_is_cancelled(void)
{
    MPI_Ibarrier(world, &request);
    MPI_Cancel(&request);
    wait_for_it();
}

static void a_request_that_is_lost(void)
{
    for (int call = 0; call < 2; call++)
        MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
    for (int call = 0; call < 2; call++)
        MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
    wait_for_it();
}

static void two_waits_for_one_request(void)
{
    MPI_Request receive, copy;
    exchange_with(&request, &receive);
    copy = receive;
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
    wait_for_it();
}

static void a_message_that_is_probed_and_not_received(void)
{
    MPI_Message message;
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, world);
    MPI_Mprobe(1 - rank, 1, world, &message, MPI_STATUS_IGNORE);
}

static void a_wait_after_the_communicator(void)
{
    MPI_Comm made = duplicate();
    MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, made, &request);
    MPI_Send(out, FEW, MPI_INT, 1 - rank, 1, made);
    MPI_Comm_free(&made);
    wait_for_it();
}

static void a_receive_that_is_cancelled_twice(void)
{
    MPI_Irecv(in, FEW, MPI_INT, 1 - rank, 1, world, &request);
    MPI_Cancel(&request);
    MPI_Cancel(&request);
    wait_for_it();
}

#define REQUESTS \
    {"request-send-unwaited", a_send_without_a_wait, 2}, \
    {"request-receive-unwaited", a_receive_without_a_wait, 2}, \
    {"request-long-send-unmatched", a_long_send_without_a_wait_that_nobody_receives, 2}, \
    {"request-receive-unmatched", a_receive_without_a_wait_that_nobody_sends_to, 2}, \
    {"request-collective-unwaited", a_collective_without_a_wait, 2}, \
    {"request-long-collectives-unwaited", long_collectives_without_a_wait, 2}, \
    {"request-collective-of-one", a_collective_of_one_without_a_wait, 2}, \
    {"request-receive-unstarted", a_persistent_receive_that_is_not_started, 2}, \
    {"request-send-unstarted", a_persistent_send_that_is_not_started, 2}, \
    {"request-persistent-unwaited", a_persistent_request_without_a_wait, 2}, \
    {"request-started-twice", a_request_that_is_started_twice, 2}, \
    {"request-started-not-persistent", a_start_of_what_is_not_persistent, 2}, \
    {"request-receive-freed", a_receive_that_is_freed, 2}, \
    {"request-persistent-freed", a_persistent_receive_that_is_freed, 2}, \
    {"request-collective-freed", a_started_collective_that_is_freed, 2}, \
    {"request-collective-cancelled", a_started_collective_that_is_cancelled, 2}, \
    {"request-lost", a_request_that_is_lost, 2}, \
    {"request-waited-twice", two_waits_for_one_request, 2}, \
    {"request-probed", a_message_that_is_probed_and_not_received, 2}, \
    {"request-after-communicator", a_wait_after_the_communicator, 2}, \
    {"request-cancelled-twice", a_receive_that_is_cancelled_twice, 2},
