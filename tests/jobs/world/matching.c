/*
 * Messages whose sender is found out: sources in statuses, probes, matched
 * probes, persistent and partitioned operations.
 */
#include "notes.h"

static void any_source(void)
{
    if (rank != 0) {
        for (int i = 0; i < 3; i++)
            MPI_Send(&rank, 1, MPI_INT, 0, 10 + i, MPI_COMM_WORLD);
        return;
    }
    /* Arrival order is anybody's: what must hold is who sent what. */
    int *from = calloc((size_t)size, sizeof *from), wrong = 0;
    for (int i = 0; i < size - 1; i++) {
        MPI_Status status;
        int value, count;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        wrong += value != status.MPI_SOURCE || status.MPI_TAG != 10 || count != 1;
        from[status.MPI_SOURCE]++;
    }
    for (int i = 0; i < size - 1; i++) {
        MPI_Status status;
        int value;
        MPI_Probe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &status);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += value != status.MPI_SOURCE;
        from[status.MPI_SOURCE]++;
    }
    for (int i = 0; i < size - 1; i++) {
        MPI_Status probed, status;
        MPI_Message message;
        int value, flag = 0;
        if (i % 2)
            MPI_Mprobe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &message, &probed);
        else
            while (!flag)
                MPI_Improbe(MPI_ANY_SOURCE, 12, MPI_COMM_WORLD, &flag, &message, &probed);
        MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        wrong += value != probed.MPI_SOURCE || value != status.MPI_SOURCE || message != MPI_MESSAGE_NULL;
        from[status.MPI_SOURCE]++;
    }
    note("from each:");
    for (int i = 0; i < size; i++)
        note(" %d", from[i]);
    note(", wrong %d\n", wrong);
    free(from);
}

static void persistent(void)
{
    int out = 0, in = -1, none = 0, to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Send_init(&out, 1, MPI_INT, to, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, from, 20, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(&none, 1, MPI_INT, MPI_PROC_NULL, 21, MPI_COMM_WORLD, &requests[2]);
    for (int i = 0; i < 3; i++) {
        out = 100 * rank + i;
        MPI_Startall(3, requests);
        MPI_Waitall(3, requests, statuses);
        note("persistent: %d from %d, and from none: %d\n", in, statuses[1].MPI_SOURCE,
             statuses[2].MPI_SOURCE == MPI_PROC_NULL);
    }
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&requests[i]);
}

#if MPI_VERSION >= 4
static void prepared_collectives(void)
{
    int sum = -1, root = rank == 1 ? 77 : 0;
    MPI_Request requests[2];
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(&root, 1, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Start(&requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        note("prepared collectives: %d, %d\n", sum, root);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void partitioned(void)
{
    int out[8], in[8], to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request send, receive;
    MPI_Psend_init(out, 4, 2, MPI_INT, to, 30, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, 4, 2, MPI_INT, from, 30, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
    for (int turn = 0; turn < 2; turn++) {
        memset(in, -1, sizeof in);
        MPI_Start(&receive);
        MPI_Start(&send);
        for (int part = 3; part >= 0; part--) {
            out[2 * part] = out[2 * part + 1] = 10 * rank + part + turn;
            MPI_Pready(part, send);
        }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        note("partitioned: %d %d\n", in[0], in[7]);
    }
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}
#endif

static void other_ways(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, value = rank, in = -1;
    MPI_Status status;
    MPI_Request request;
    char *buffer = malloc(4096);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, to, 40, from, 40, MPI_COMM_WORLD, &status);
    note("replaced by %d from %d\n", value, status.MPI_SOURCE);
    MPI_Buffer_attach(buffer, 4096);
    MPI_Bsend(&rank, 1, MPI_INT, to, 41, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_INT, from, 41, MPI_COMM_WORLD, &status);
    MPI_Buffer_detach(&(void *){NULL}, &(int){0});
    note("buffered: %d from %d\n", in, status.MPI_SOURCE);
    MPI_Irecv(&in, 1, MPI_INT, from, 42, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Rsend(&rank, 1, MPI_INT, to, 42, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    note("ready: %d from %d\n", in, status.MPI_SOURCE);
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 43, MPI_COMM_WORLD, &request);
    MPI_Ssend(&rank, 1, MPI_INT, to, 43, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    note("synchronous: %d from %d\n", in, status.MPI_SOURCE);
    MPI_Irecv(&in, 1, MPI_INT, from, 44, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    int cancelled;
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    note("cancelled: %d\n", cancelled);
    free(buffer);
}

/* Packed by the world's representation, and unpacked by the receiver's. */
static void packed(void)
{
    char out[64], in[64];
    int to = (rank + 1) % size, from = (rank + size - 1) % size, position = 0, bytes, value = -1;
    MPI_Status status;
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
    MPI_Pack(&rank, 1, MPI_INT, out, sizeof out, &position, MPI_COMM_WORLD);
    MPI_Sendrecv(out, position, MPI_PACKED, to, 45, in, sizeof in, MPI_PACKED, from, 45, MPI_COMM_WORLD, &status);
    position = 0;
    MPI_Unpack(in, sizeof in, &position, &value, 1, MPI_INT, MPI_COMM_WORLD);
    note("packed: %d from %d, room %d\n", value, status.MPI_SOURCE, bytes >= (int)sizeof(int));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
#if MPI_VERSION >= 4
    /* First of all: MPICH 4.0 waits for ever for a prepared collective that gets
     * the handle of a persistent send that was freed, with or without us. */
    prepared_collectives();
#endif
    any_source();
    persistent();
#if MPI_VERSION >= 4
    partitioned();
#endif
    other_ways();
    packed();
    MPI_Pcontrol(0);
    MPI_Pcontrol(1);
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    4
 * PROVES:   sources in statuses and probes are the application's ranks, for every
 *           kind of send, for prepared operations and for packed data.
 * PITFALLS: 16
 */
