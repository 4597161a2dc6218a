/* Communicators, roots, operators, types, counts and tags that do not match. */

static void barriers_on_different_communicators(void)
{
    MPI_Comm other = duplicate();
    MPI_Barrier(rank == 0 ? world : other);
}

static void a_message_on_different_communicators(void)
{
    MPI_Comm other = duplicate();
    if (rank == 0)
        MPI_Send(out, FEW, MPI_INT, 1, 1, other);
    else
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
}

static void an_allreduce_of_oneself(void)
{
    MPI_Allreduce(out, in, FEW, MPI_INT, MPI_SUM, rank == 0 ? MPI_COMM_SELF : world);
}

/* Rank 1 starts one on the world, rank 0 one on a communicator that is its own. */
static void start_reductions_apart(void)
{
    MPI_Comm own;
    MPI_Comm_split(world, rank, 0, &own);
    MPI_Ireduce(out, in, FEW, MPI_INT, MPI_SUM, 0, rank == 1 ? world : own, &request);
}

static void reductions_started_apart(void)
{
    start_reductions_apart();
}

static void reductions_started_apart_and_waited_for(void)
{
    start_reductions_apart();
    wait_for_it();
}

static void exchanges_started_apart(void)
{
    MPI_Comm other = duplicate();
    MPI_Iallreduce(out, in, FEW, MPI_INT, MPI_SUM, rank == 0 ? world : other, &request);
}

static void bcasts_of_different_roots(void)
{
    MPI_Bcast(out, FEW, MPI_INT, rank, world);
}

static void long_bcasts_of_different_roots(void)
{
    MPI_Bcast(out, MANY, MPI_INT, rank, world);
}

static void reductions_to_different_roots(void)
{
    MPI_Reduce(out, in, FEW, MPI_INT, MPI_SUM, rank, world);
}

static void gathers_to_different_roots(void)
{
    MPI_Gather(out, FEW, MPI_INT, in, FEW, MPI_INT, rank, world);
}

static void scatters_of_different_roots(void)
{
    MPI_Scatter(out, FEW, MPI_INT, in, FEW, MPI_INT, 1 - rank, world);
}

static void reductions_started_to_different_roots(void)
{
    MPI_Ireduce(out, in, FEW, MPI_INT, MPI_SUM, rank, world, &request);
    wait_for_it();
}

static void different_operators(void)
{
    out[0] = 5 + rank;
    MPI_Allreduce(out, in, FEW, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, world);
    MPI_Reduce(out, in, FEW, MPI_INT, rank == 0 ? MPI_PROD : MPI_MIN, 0, world);
    MPI_Iallreduce(out, in, FEW, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, world, &request);
    wait_for_it();
}

static void an_operator_that_a_type_does_not_have(void)
{
    MPI_Allreduce(out, in, FEW, MPI_DOUBLE, MPI_BXOR, world);
}

static void a_message_of_different_types(void)
{
    if (rank == 0)
        MPI_Send(out, FEW, MPI_INT, 1, 1, world);
    else
        MPI_Recv(in, FEW, MPI_FLOAT, 0, 1, world, MPI_STATUS_IGNORE);
}

static void a_bcast_of_different_types(void)
{
    MPI_Bcast(out, FEW, rank == 0 ? MPI_INT : MPI_FLOAT, 0, world);
}

static void a_bcast_of_types_of_different_sizes(void)
{
    MPI_Bcast(out, FEW, rank == 0 ? MPI_INT : MPI_DOUBLE, 0, world);
}

static void an_allreduce_of_types_of_different_sizes(void)
{
    MPI_Allreduce(out, in, FEW, rank == 0 ? MPI_INT : MPI_DOUBLE, MPI_SUM, world);
}

static void a_gather_of_different_types(void)
{
    MPI_Gather(out, FEW, rank == 0 ? MPI_INT : MPI_CHAR, in, FEW, MPI_INT, 0, world);
}

static void a_message_that_is_too_long(void)
{
    if (rank == 0)
        MPI_Send(out, 2 * FEW, MPI_INT, 1, 1, world);
    else
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
}

static void long_messages_that_are_too_long(void)
{
    int class;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(out, MANY, MPI_INT, 1, 1, world);
        MPI_Send(out, MANY, MPI_INT, 1, 1, world);
        return;
    }
    MPI_Error_class(MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE), &class);
    say("class", class == MPI_ERR_TRUNCATE);
    MPI_Irecv(in, FEW, MPI_INT, 0, 1, world, &request);
    MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &class);
    say("class", class == MPI_ERR_TRUNCATE);
}

static void a_bcast_of_different_counts(void)
{
    MPI_Bcast(out, rank == 0 ? FEW : 2 * FEW, MPI_INT, 0, world);
}

static void a_bcast_that_is_too_long(void)
{
    MPI_Bcast(out, rank == 0 ? 2 * FEW : FEW, MPI_INT, 0, world);
}

static void an_allreduce_of_different_counts(void)
{
    MPI_Allreduce(out, in, FEW << rank, MPI_INT, MPI_SUM, world);
}

static void a_reduction_of_different_counts(void)
{
    MPI_Reduce(out, in, FEW << rank, MPI_INT, MPI_SUM, 0, world);
}

static void a_gather_of_different_counts(void)
{
    MPI_Gather(out, FEW << rank, MPI_INT, in, FEW, MPI_INT, 0, world);
}

static void an_exchange_of_different_counts(void)
{
    MPI_Alltoall(out, FEW << rank, MPI_INT, in, FEW << rank, MPI_INT, world);
}

static void a_started_reduction_of_different_counts(void)
{
    MPI_Ireduce(out, in, FEW << rank, MPI_INT, MPI_SUM, 0, world, &request);
    wait_for_it();
}

static void a_message_of_another_tag(void)
{
    if (rank == 0)
        MPI_Send(out, FEW, MPI_INT, 1, 1, world);
    else
        MPI_Recv(in, FEW, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE);
}

static void a_synchronous_send_that_nobody_receives(void)
{
    if (rank == 0)
        MPI_Ssend(out, FEW, MPI_INT, 1, 1, world);
}

static void a_receive_that_nobody_sends_to(void)
{
    if (rank == 0)
        MPI_Recv(in, FEW, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
}

static void a_probe_of_a_message_that_nobody_sends(void)
{
    if (rank == 0)
        MPI_Probe(1, 1, world, MPI_STATUS_IGNORE);
}

static void a_ready_send_without_a_receive(void)
{
    if (rank == 0) {
        MPI_Rsend(out, FEW, MPI_INT, 1, 1, world);
        MPI_Barrier(world);
    } else {
        MPI_Barrier(world);
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    }
}

static void a_buffered_send_without_a_buffer(void)
{
    if (rank == 0)
        MPI_Bsend(out, FEW, MPI_INT, 1, 1, world);
    else
        MPI_Recv(in, FEW, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
}

#define MATCHING \
    {"communicator-of-barrier", barriers_on_different_communicators, 2}, \
    {"communicator-of-message", a_message_on_different_communicators, 2}, \
    {"communicator-self", an_allreduce_of_oneself, 2}, \
    {"communicator-of-started", reductions_started_apart, 2}, \
    {"communicator-of-started-waited", reductions_started_apart_and_waited_for, 2}, \
    {"communicator-of-started-exchange", exchanges_started_apart, 2}, \
    {"root-of-bcast", bcasts_of_different_roots, 2}, \
    {"root-of-long-bcast", long_bcasts_of_different_roots, 2}, \
    {"root-of-reduce", reductions_to_different_roots, 2}, \
    {"root-of-gather", gathers_to_different_roots, 2}, \
    {"root-of-scatter", scatters_of_different_roots, 2}, \
    {"root-of-started", reductions_started_to_different_roots, 2}, \
    {"operator", different_operators, 2}, \
    {"operator-of-type", an_operator_that_a_type_does_not_have, 2}, \
    {"type-of-message", a_message_of_different_types, 2}, \
    {"type-of-bcast", a_bcast_of_different_types, 2}, \
    {"type-size-of-bcast", a_bcast_of_types_of_different_sizes, 2}, \
    {"type-size-of-allreduce", an_allreduce_of_types_of_different_sizes, 2}, \
    {"type-of-gather", a_gather_of_different_types, 2}, \
    {"count-of-message", a_message_that_is_too_long, 2}, \
    {"count-of-long-messages", long_messages_that_are_too_long, 2}, \
    {"count-of-bcast", a_bcast_of_different_counts, 2}, \
    {"count-of-bcast-too-long", a_bcast_that_is_too_long, 2}, \
    {"count-of-allreduce", an_allreduce_of_different_counts, 2}, \
    {"count-of-reduce", a_reduction_of_different_counts, 2}, \
    {"count-of-gather", a_gather_of_different_counts, 2}, \
    {"count-of-alltoall", an_exchange_of_different_counts, 2}, \
    {"count-of-started", a_started_reduction_of_different_counts, 2}, \
    {"tag-of-message", a_message_of_another_tag, 2}, \
    {"unmatched-send", a_synchronous_send_that_nobody_receives, 2}, \
    {"unmatched-receive", a_receive_that_nobody_sends_to, 2}, \
    {"unmatched-probe", a_probe_of_a_message_that_nobody_sends, 2}, \
    {"unmatched-ready-send", a_ready_send_without_a_receive, 2}, \
    {"unbuffered-send", a_buffered_send_without_a_buffer, 2},
