/* A job that hangs, or does not, in the way that its argument says:
 *
 *     hangs MODE [SECONDS]
 *
 * ring        everybody receives from the left before it sends to the right
 * tag         rank 0 sends tag 5, rank 1 waits for tag 6 and rank 0 for its answer
 * left        rank 2 leaves a loop early, and finalises
 * operations  rank 0 broadcasts, the others reduce
 * roots       all broadcast, rank 1 with another root
 * waitall     rank 1 waits for messages of all others, of which rank 2 sends none and waits
 * large       ranks 0 and 1 send 8 MiB to each other before they receive
 * knot        everybody waits for a message from anybody
 * killed      the others wait for rank 1, which kills itself
 * split       ranks wait for each other in a split communicator: 0 and 2, not 1 and 3
 * polling     ranks 0 and 1 poll for each other's message
 * finalize    nobody comes out of MPI_Finalize; rank 0 has started a send that it never completed
 *
 * These go on for SECONDS and end well:
 *
 * small       as large, with 8 bytes
 * computes    all compute, now and then with a barrier
 * asleep      the others wait in a barrier for rank 1, which sleeps
 * waits       rank 0 sleeps, the others wait for its message
 * pipeline    a chain of receives, of which the first rank computes */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LARGE = 8 << 20 };

static int rank, size;
static char *out, *in;

static void send_to(int to, int count, int tag)
{
    MPI_Send(out, count, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static void receive_from(int from, int count, int tag)
{
    MPI_Recv(in, count, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        continue;
}

/* What all do before, so that there are counts. */
static void exchange(int rounds)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < rounds; round++)
        MPI_Sendrecv(out, 8, MPI_CHAR, right, 1, in, 8, MPI_CHAR, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void all_of_others(void)
{
    MPI_Request *requests = malloc((size_t)size * sizeof *requests);
    int count = 0;
    for (int from = 0; from < size; from++)
        if (from != rank)
            MPI_Irecv(in + 8 * from, 8, MPI_CHAR, from, 3, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void poll_for(int from)
{
    MPI_Request request;
    int done = 0;
    MPI_Irecv(in, 8, MPI_CHAR, from, 4, MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        usleep(100);
    }
}

static int stay(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    sleep(600);
    return MPI_SUCCESS;
}

static void never_finalize(void)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, stay, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static void hang(const char *mode)
{
    int left = (rank + size - 1) % size;
    if (!strcmp(mode, "ring")) {
        receive_from(left, 8, 2);
        send_to((rank + 1) % size, 8, 2);
    } else if (!strcmp(mode, "tag")) {
        if (rank == 0) {
            send_to(1, 8, 5);
            receive_from(1, 8, 7);
        } else if (rank == 1) {
            receive_from(0, 8, 6);
            send_to(0, 8, 7);
        }
    } else if (!strcmp(mode, "left")) {
        if (rank != 2)
            receive_from(left, 8, 2);
    } else if (!strcmp(mode, "finalize")) {
        MPI_Request completed, left_over;
        MPI_Irecv(in, 8, MPI_CHAR, left, 6, MPI_COMM_WORLD, &completed);
        send_to((rank + 1) % size, 8, 6);
        MPI_Wait(&completed, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Issend(out, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &left_over);
        never_finalize();
    } else if (!strcmp(mode, "operations")) {
        int one = 1, sum = 0;
        if (rank == 0)
            MPI_Bcast(&one, 1, MPI_INT, 1, MPI_COMM_WORLD);
        else
            MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(mode, "roots")) {
        /* Too long for an MPI to put aside. */
        MPI_Bcast(out, LARGE, MPI_CHAR, rank == 1 ? 1 : 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(mode, "waitall")) {
        if (rank == 1)
            all_of_others();
        else if (rank != 2)
            send_to(1, 8, 3);
        if (rank == 1)
            send_to(2, 8, 2);
        if (rank == 2)
            receive_from(1, 8, 2);
    } else if (!strcmp(mode, "large") || !strcmp(mode, "small")) {
        int count = !strcmp(mode, "large") ? LARGE : 8;
        if (rank < 2) {
            send_to(1 - rank, count, 2);
            receive_from(1 - rank, count, 2);
        }
    } else if (!strcmp(mode, "knot")) {
        receive_from(MPI_ANY_SOURCE, 8, 2);
    } else if (!strcmp(mode, "killed")) {
        if (rank == 1) {
            sleep(2);
            raise(SIGKILL);
        }
        receive_from(1, 8, 2);
    } else if (!strcmp(mode, "split")) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        if (rank % 2 == 0)
            MPI_Recv(in, 8, MPI_CHAR, rank < 2, 2, half, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(mode, "polling")) {
        if (rank < 2)
            poll_for(1 - rank);
    }
}

static void go_on(const char *mode, double seconds)
{
    if (!strcmp(mode, "small")) {
        hang("small");
        sleep((unsigned)seconds);
    } else if (!strcmp(mode, "asleep")) {
        if (rank == 1)
            sleep((unsigned)seconds);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(mode, "computes")) {
        for (double end = now() + seconds, left = seconds; left > 0; left = end - now()) {
            compute(left < 1.4 ? left : 1.4);
            MPI_Bcast(&left, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
            if (left < 1.5)
                break;
        }
    } else if (!strcmp(mode, "waits")) {
        if (rank == 0) {
            sleep((unsigned)seconds);
            for (int to = 1; to < size; to++)
                send_to(to, 8, 2);
        } else {
            receive_from(0, 8, 2);
        }
    } else if (!strcmp(mode, "pipeline")) {
        if (rank == 0)
            compute(seconds);
        else
            receive_from(rank - 1, 8, 2);
        if (rank + 1 < size)
            send_to(rank + 1, 8, 2);
    } else {
        fprintf(stderr, "hangs: no mode is called %s\n", mode);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = calloc(1, LARGE);
    in = calloc(1, LARGE);
    exchange(3);
    if (argc > 2)
        go_on(argv[1], atof(argv[2]));
    else if (argc > 1)
        hang(argv[1]);
    MPI_Finalize();
    if (rank == 0)
        puts("ended well");
    free(out);
    free(in);
    return 0;
}
