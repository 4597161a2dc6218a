/*
 * Two threads that call MPI, each on a communicator of its own, as those of PT-Scotch do when it
 * folds a graph: the first on one that is in use, the second on its duplicate, in each round a new
 * one.
 *
 *     two_threads ROUNDS turns|multiple|unprotected
 *
 * turns        MPI_Init grants no level at which two threads may call MPI, and they take turns:
 *              no standard allows it, every MPI bears it
 * multiple     they call at once, with MPI_THREAD_MULTIPLE
 * unprotected  they call at once, without: PT-Scotch does so in a program that calls MPI_Init. It
 *              crashes or hangs now and then, whatever is preloaded
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 8, LONGEST = 600 };

static int rank, size, by_turns;
static pthread_barrier_t together;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

#define TURN(call) \
    do { \
        if (by_turns) \
            pthread_mutex_lock(&turn); \
        call; \
        if (by_turns) \
            pthread_mutex_unlock(&turn); \
    } while (0)

struct part {
    MPI_Comm comm;
    int seed, wrong;
    int out[MESSAGES][LONGEST], in[MESSAGES][LONGEST];
};

static struct part parts[2];

static int value(const struct part *part, int from, int message, int at)
{
    return part->seed * 1000 + from * 100 + message * 10 + at;
}

/* Waits until all of these are done, and gives the other thread its turns meanwhile. */
static void wait_for(int count, MPI_Request *requests)
{
    for (int done = 0; !done;) {
        TURN(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE));
        sched_yield();
    }
}

static int sum_of(int number, MPI_Comm comm)
{
    MPI_Request request;
    int sum;
    TURN(MPI_Iallreduce(&number, &sum, 1, MPI_INT, MPI_SUM, comm, &request));
    wait_for(1, &request);
    return sum;
}

/* The first message that came. */
static void wait_for_one(struct part *part, MPI_Request *requests)
{
    MPI_Status status;
    int at, count;
    for (int done = 0; !done;) {
        TURN(MPI_Testany(MESSAGES, requests, &at, &done, &status));
        sched_yield();
    }
    TURN(MPI_Get_count(&status, MPI_INT, &count));
    part->wrong += count != LONGEST || status.MPI_TAG != at;
}

/* Each rank sends some messages to its right neighbour, and all agree before and after. */
static void *exchange(void *argument)
{
    struct part *part = argument;
    MPI_Request requests[2 * MESSAGES];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    pthread_barrier_wait(&together);
    part->wrong += sum_of(1, part->comm) != size;
    for (int i = 0; i < MESSAGES; i++) {
        for (int j = 0; j < LONGEST; j++)
            part->out[i][j] = value(part, rank, i, j);
        TURN(MPI_Irecv(part->in[i], LONGEST, MPI_INT, left, i, part->comm, &requests[i]));
    }
    for (int i = 0; i < MESSAGES; i++)
        TURN(MPI_Isend(part->out[i], LONGEST, MPI_INT, right, i, part->comm, &requests[MESSAGES + i]));
    for (int i = 0; i < MESSAGES / 2; i++)
        wait_for_one(part, requests);
    wait_for(2 * MESSAGES, requests);
    for (int i = 0; i < MESSAGES; i++)
        for (int j = 0; j < LONGEST; j++)
            part->wrong += part->in[i][j] != value(part, left, i, j);
    sum_of(part->wrong, part->comm);
    return NULL;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1, granted;
    const char *how = argc > 2 ? argv[2] : "turns";
    by_turns = !strcmp(how, "turns");
    if (!strcmp(how, "multiple"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_barrier_init(&together, NULL, 2);
    for (int round = 0; round < rounds; round++) {
        pthread_t other;
        MPI_Comm_dup(MPI_COMM_WORLD, &parts[0].comm);
        MPI_Comm_dup(parts[0].comm, &parts[1].comm);
        for (int i = 0; i < 2; i++)
            parts[i].seed = 2 * round + i;
        pthread_create(&other, NULL, exchange, &parts[1]);
        exchange(&parts[0]);
        pthread_join(other, NULL);
        for (int i = 0; i < 2; i++)
            MPI_Comm_free(&parts[i].comm);
    }
    int wrong = parts[0].wrong + parts[1].wrong, sum;
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", sum);
    MPI_Finalize();
    return 0;
}
