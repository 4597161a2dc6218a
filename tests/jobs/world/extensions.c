/*
 * What MPIs have beside the standard and takes a communicator: fault tolerance,
 * error handlers with a state, streams and communicators of threads.
 */
#include "notes.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#define TRY(call) note("%s: %s\n", #call, class_of(call))

#ifdef OMPI_HAVE_MPI_EXT_FTMPI /* MPICH's stop the process: its ch4 lacks them */
static void fault_tolerance(void)
{
    MPI_Comm dup, shrunk;
    MPI_Group failed;
    MPI_Request request;
    int flag = 6 + rank % 2, count = -1, mine, revoked = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    TRY(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
    if (MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed) == MPI_SUCCESS) {
        MPI_Group_size(failed, &count);
        note("failed and known: %d\n", count);
    }
    TRY(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    note("agreed on %d\n", flag);
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk) == MPI_SUCCESS) {
        MPI_Comm_rank(shrunk, &mine);
        note("shrunk: rank %d, %s\n", mine, compare(shrunk, MPI_COMM_WORLD));
        MPI_Comm_free(&shrunk);
    }
#if OMPI_MAJOR_VERSION >= 6
    if (MPIX_Comm_ishrink(MPI_COMM_WORLD, &shrunk, &request) == MPI_SUCCESS) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_rank(shrunk, &mine);
        note("shrunk later: rank %d, %s\n", mine, compare(shrunk, MPI_COMM_WORLD));
        MPI_Comm_free(&shrunk);
    }
#endif
    TRY(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 0, &count));
    if (MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed) == MPI_SUCCESS) {
        MPI_Group_size(failed, &count);
        note("failed: %d\n", count);
    }
    if (MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request) == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("agreed again on %d\n", flag);
    TRY(MPIX_Comm_is_revoked(MPI_COMM_WORLD, &revoked));
    note("revoked: %d\n", revoked);
    MPI_Barrier(MPI_COMM_WORLD);
    TRY(MPIX_Comm_revoke(dup));
}
#endif

#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
#define STREAMS
static char calls[256];

static void handler(MPI_Comm comm, int code, void *state)
{
    strcat(calls, comm == MPI_COMM_WORLD ? " the world, " : " another, ");
    strcat(calls, class_of(code));
    strcat(calls, state);
}

static void destroy(void *state) { strcat(calls, state); }

static void handler_with_a_state(void)
{
    MPI_Errhandler one;
    int value = 0;
    MPIX_Comm_create_errhandler_x(handler, destroy, " (of a state)", &one);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, one);
    MPI_Errhandler_free(&one);
    MPI_Send(&value, 1, MPI_INT, size + 1, 0, MPI_COMM_WORLD);
    note("handler:%s\n", calls);
    calls[0] = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    note("destroyed:%s\n", calls);
}

static void streams(void)
{
    MPIX_Stream stream, got, none = MPIX_STREAM_NULL;
    MPI_Comm comm;
    MPI_Request requests[1];
    MPI_Status status;
    int mine, in = -1, to = (rank + 1) % size, from = (rank + size - 1) % size, sum = -1;
    MPIX_Stream_create(MPI_INFO_NULL, &stream);
    TRY(MPIX_Stream_comm_create(MPI_COMM_WORLD, stream, &comm));
    MPI_Comm_rank(comm, &mine);
    TRY(MPIX_Comm_get_stream(comm, 0, &got));
    note("stream: rank %d, the same %d\n", mine, got == stream);
    /* Between streams one sends on a communicator of several, which this is not.
     * (MPIX_Stream_comm_create_multiplex stops MPICH 5.0.2 by an assertion.) */
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    TRY(MPIX_Stream_irecv(&in, 1, MPI_INT, from, 1, comm, 0, 0, requests));
    TRY(MPIX_Stream_isend(&rank, 1, MPI_INT, to, 1, comm, 0, 0, requests));
    TRY(MPIX_Stream_irecv_c(&in, 1, MPI_INT, from, 1, comm, 0, 0, requests));
    TRY(MPIX_Stream_isend_c(&rank, 1, MPI_INT, to, 1, comm, 0, 0, requests));
    TRY(MPIX_Stream_send(&rank, 1, MPI_INT, to, 1, comm, 0, 0));
    TRY(MPIX_Stream_send_c(&rank, 1, MPI_INT, to, 1, comm, 0, 0));
    TRY(MPIX_Stream_recv(&in, 1, MPI_INT, from, 1, comm, 0, 0, &status));
    TRY(MPIX_Stream_recv_c(&in, 1, MPI_INT, from, 1, comm, 0, 0, &status));
    MPI_Comm_free(&comm);
    MPIX_Stream_free(&stream);

    /* A queue is a graphics processor's: there is none. */
    MPIX_Stream_comm_create(MPI_COMM_WORLD, none, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    TRY(MPIX_Send_enqueue(&rank, 1, MPI_INT, to, 5, comm));
    TRY(MPIX_Send_enqueue_c(&rank, 1, MPI_INT, to, 5, comm));
    TRY(MPIX_Recv_enqueue(&in, 1, MPI_INT, from, 5, comm, &status));
    TRY(MPIX_Recv_enqueue_c(&in, 1, MPI_INT, from, 5, comm, &status));
    TRY(MPIX_Isend_enqueue(&rank, 1, MPI_INT, to, 5, comm, requests));
    TRY(MPIX_Isend_enqueue_c(&rank, 1, MPI_INT, to, 5, comm, requests));
    TRY(MPIX_Irecv_enqueue(&in, 1, MPI_INT, from, 5, comm, requests));
    TRY(MPIX_Irecv_enqueue_c(&in, 1, MPI_INT, from, 5, comm, requests));
    TRY(MPIX_Allreduce_enqueue(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    TRY(MPIX_Allreduce_enqueue_c(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    MPI_Comm_free(&comm);
}

static void threads(void)
{
    MPI_Comm comm;
    int flag = -1, mine = -1, all = -1;
    MPIX_Threadcomm_init(MPI_COMM_WORLD, 1, &comm);
    MPIX_Threadcomm_start(comm);
    MPIX_Comm_test_threadcomm(comm, &flag);
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &all);
    note("of threads: %d, rank %d of %d\n", flag, mine, all);
    MPIX_Threadcomm_finish(comm);
    MPIX_Threadcomm_free(&comm);
}
#endif

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    note("extensions\n");
#ifdef STREAMS
    handler_with_a_state();
    streams();
    threads();
#endif
#ifdef OMPI_HAVE_MPI_EXT_FTMPI
    fault_tolerance();
#endif
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * PROVES:   extensions that take a communicator see the application's world, and
 *           handlers with a state are handed it.
 * PITFALLS: 8 12
 */
