/*
 * Every call whose result MPI leaves open: receives with wildcards in all forms, probes, polls, and
 * calls for any of several requests. What they give goes into a hash of each rank, and numbers are
 * added in the order in which they come, so that two runs print the same if they took the same
 * order.
 *
 *     racy [ROUNDS [WAY]]                  ROUNDS: 2 at least
 *
 * WAY: all; other (the same without the first part: another way); dies, aborts (one rank is killed
 * or gives up in the last part); hangs (one message is never sent, and polled for); threads (a
 * second thread receives); elsewhere (polls of windows, and of partitions where the MPI has them).
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static uint64_t hash = 1469598103934665603u;
static double sum;

static void note(uint64_t value)
{
    hash = (hash ^ value) * 1099511628211u;
    hash ^= hash >> 31;
}

static void took(double value, MPI_Status *status)
{
    note((uint64_t)status->MPI_SOURCE);
    note((uint64_t)status->MPI_TAG);
    sum = sum * 1.0000001 + value;
}

/* All ranks but `root` send it `count` messages, with two tags in turn. */
static void send_to(int root, int count, MPI_Comm comm)
{
    for (int i = 0; i < count; i++) {
        double value = 1.0 / (1 + i + 10 * rank);
        MPI_Send(&value, 1, MPI_DOUBLE, root, i % 2, comm);
    }
}

static void receive_any(int messages, MPI_Comm comm)
{
    for (int i = 0; i < messages; i++) {
        double value;
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        took(value, &status);
    }
}

enum { WINDOW = 4 };

static void wait_any(int messages)
{
    double values[WINDOW];
    MPI_Request requests[WINDOW];
    int posted = 0;
    for (int i = 0; i < WINDOW; i++)
        requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < WINDOW && posted < messages; i++, posted++)
        MPI_Irecv(&values[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, i % 2, MPI_COMM_WORLD, &requests[i]);
    for (;;) {
        int index;
        MPI_Status status;
        MPI_Waitany(WINDOW, requests, &index, &status);
        if (index == MPI_UNDEFINED)
            break;
        note((uint64_t)index);
        took(values[index], &status);
        /* Each place has a tag of its own: as many messages of either are sent. */
        if (posted < messages) {
            MPI_Irecv(&values[index], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[index]);
            posted++;
        }
    }
}

/* Some at a time: by MPI_Waitsome or MPI_Testsome, with statuses or without. */
static void some(int messages, int waits)
{
    double *values = malloc(sizeof *values * (size_t)messages);
    MPI_Request *requests = malloc(sizeof *requests * (size_t)messages);
    MPI_Status *statuses = malloc(sizeof *statuses * (size_t)messages);
    MPI_Status *none = waits ? statuses : MPI_STATUSES_IGNORE;
    int *indices = malloc(sizeof *indices * (size_t)messages);
    for (int i = 0; i < messages; i++)
        MPI_Irecv(&values[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
    for (int left = messages; left > 0;) {
        int done;
        if (waits)
            MPI_Waitsome(messages, requests, &done, indices, none);
        else
            MPI_Testsome(messages, requests, &done, indices, none);
        note((uint64_t)done);
        for (int i = 0; i < done; i++) {
            note((uint64_t)indices[i]);
            sum = sum * 1.0000001 + values[indices[i]];
            if (waits)
                took(values[indices[i]], &statuses[i]);
        }
        left -= done;
    }
    free(values);
    free(requests);
    free(statuses);
    free(indices);
}

static void probe(int messages)
{
    for (int i = 0; i < messages; i++) {
        double value;
        int flag = 0;
        MPI_Message message;
        MPI_Status status;
        switch (i % 4) {
        case 0:
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            break;
        case 1:
            while (!flag) {
                MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
                note((uint64_t)flag);
            }
            break;
        case 2:
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
            break;
        default:
            while (!flag) {
                MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
                note((uint64_t)flag);
            }
        }
        took(0, &status);
        if (i % 4 < 2)
            MPI_Recv(&value, 1, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
        else
            MPI_Mrecv(&value, 1, MPI_DOUBLE, &message, &status);
        took(value, &status);
    }
}

static void poll(int messages)
{
    for (int i = 0; i < messages; i++) {
        double value;
        int flag = 0, index = 0;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        while (!flag) {
            switch (i % 4) {
            case 0:
                MPI_Test(&request, &flag, &status);
                break;
            case 1:
                MPI_Testany(1, &request, &index, &flag, &status);
                break;
            case 2:
                MPI_Testall(1, &request, &flag, &status);
                break;
            default:
                MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
            }
            note((uint64_t)flag);
        }
        if (i % 4 == 3)
            MPI_Wait(&request, &status);
        took(value, &status);
    }
}

static void persistent(int messages)
{
    double values[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int i = 0; i < 2; i++)
        MPI_Recv_init(&values[i], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < messages; i += 2) {
        if (i % 4 == 0) {
            MPI_Startall(2, requests);
            MPI_Waitall(2, requests, statuses);
        } else {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
            MPI_Wait(&requests[1], &statuses[1]);
            MPI_Wait(&requests[0], &statuses[0]);
        }
        for (int j = 0; j < 2; j++)
            took(values[j], &statuses[j]);
    }
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
}

/* A receive is cancelled that may have its message already. */
static void cancel(int messages)
{
    for (int i = 0; i < messages; i++) {
        double value;
        int cancelled;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        usleep(100);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        note((uint64_t)cancelled);
        if (cancelled)
            MPI_Recv(&value, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        took(value, &status);
    }
}

/* All ranks exchange with two others at a time, whoever is first. */
static void exchange(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        double mine = rank + i, theirs[2];
        MPI_Status status;
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 0, &theirs[0], 1, MPI_DOUBLE, MPI_ANY_SOURCE,
                     MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        took(theirs[0], &status);
        theirs[1] = mine;
        MPI_Sendrecv_replace(&theirs[1], 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_ANY_SOURCE, MPI_ANY_TAG,
                             MPI_COMM_WORLD, &status);
        took(theirs[1], &status);
    }
}

static void *second(void *unused)
{
    receive_any(size - 1, MPI_COMM_WORLD);
    return unused;
}

/* How often it is polled whether the neighbours have put what they put. */
static void poll_window(void)
{
    double values[2] = {0, 0}, mine = rank;
    int flag = 0, neighbours[2] = {(rank + size - 1) % size, (rank + 1) % size};
    MPI_Group all, near;
    MPI_Win window;
    MPI_Win_create(values, sizeof values, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, size > 2 ? 2 : 1, neighbours, &near);
    MPI_Win_post(near, 0, window);
    MPI_Win_start(near, 0, window);
    for (int i = 0; i < (size > 2 ? 2 : 1); i++)
        MPI_Put(&mine, 1, MPI_DOUBLE, neighbours[i], i, 1, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    while (!flag) {
        MPI_Win_test(window, &flag);
        note((uint64_t)flag);
    }
    sum += values[0] + values[1];
    MPI_Group_free(&all);
    MPI_Group_free(&near);
    MPI_Win_free(&window);
}

/* How often it is polled whether a part of the neighbour's message is there. */
static void poll_partitions(void)
{
#if MPI_VERSION >= 4
    enum { PARTS = 4 };
    double out[PARTS], in[PARTS];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Precv_init(in, PARTS, 1, MPI_DOUBLE, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, PARTS, 1, MPI_DOUBLE, (rank + 1) % size, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    for (int part = 0; part < PARTS; part++) {
        out[part] = part;
        MPI_Pready(part, requests[1]);
    }
    for (int part = 0, flag = 0; part < PARTS; part++, flag = 0)
        while (!flag) {
            MPI_Parrived(requests[0], part, &flag);
            note((uint64_t)flag);
        }
    MPI_Waitall(2, requests, statuses);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&requests[i]);
#endif
}

static void run(int part, int root, int count, const char *way)
{
    int messages = (size - 1) * count;
    MPI_Comm half;
    if (part == 9) {
        exchange(count);
        return;
    }
    if (part == 10) {
        MPI_Comm_split(MPI_COMM_WORLD, rank == root ? 0 : rank % 2, rank, &half);
        int members, place;
        MPI_Comm_size(half, &members);
        MPI_Comm_rank(half, &place);
        if (place > 0)
            send_to(0, count, half);
        else
            receive_any((members - 1) * count, half);
        MPI_Comm_free(&half);
        return;
    }
    if (rank != root) {
        send_to(root, count, MPI_COMM_WORLD);
        return;
    }
    switch (part) {
    case 0: receive_any(messages, MPI_COMM_WORLD); break;
    case 1: wait_any(messages); break;
    case 2: some(messages, 1); break;
    case 3: some(messages, 0); break;
    case 4: probe(messages); break;
    case 5: poll(messages); break;
    case 6: persistent(messages); break;
    case 7: cancel(messages); break;
    default:
        receive_any(messages / 2, MPI_COMM_WORLD);
        if (!strcmp(way, "dies"))
            raise(SIGKILL);
        if (!strcmp(way, "aborts"))
            MPI_Abort(MPI_COMM_WORLD, 3);
        receive_any(messages - messages / 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 8, provided;
    const char *way = argc > 2 ? argv[2] : "all";
    int threads = !strcmp(way, "threads");
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int part = !strcmp(way, "other"); part <= 10; part++) {
        run(part, part % size, count, way);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    run(8, 0, count, way);
    if (!strcmp(way, "elsewhere")) {
        poll_window();
        poll_partitions();
    }
    if (threads) {
        pthread_t thread;
        if (rank == 0) {
            pthread_create(&thread, NULL, second, NULL);
            pthread_join(thread, NULL);
        } else {
            send_to(0, 1, MPI_COMM_WORLD);
        }
    }
    if (!strcmp(way, "hangs") && rank == 0)
        receive_any(1, MPI_COMM_WORLD);
    uint64_t *hashes = malloc(sizeof *hashes * (size_t)size);
    double *sums = malloc(sizeof *sums * (size_t)size);
    MPI_Gather(&hash, 1, MPI_UINT64_T, hashes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Gather(&sum, 1, MPI_DOUBLE, sums, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("rank %d took order %016llx, sum %.17g\n", i, (unsigned long long)hashes[i], sums[i]);
    free(hashes);
    free(sums);
    MPI_Finalize();
    return 0;
}
