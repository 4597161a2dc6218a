/*
 * Four threads of each rank call MPI at the same time.
 */
#include "notes.h"
#include <pthread.h>

#define THREADS 4
#define TURNS 200

static MPI_Comm comms[THREADS];
static long wrong[THREADS], sums[THREADS];

static void *work(void *argument)
{
    int me = (int)(long)argument, to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int turn = 0; turn < TURNS; turn++) {
        int out = 1000 * rank + me, in = -1, mine, total = 0;
        MPI_Status status;
        MPI_Comm_rank(MPI_COMM_WORLD, &mine);
        MPI_Sendrecv(&out, 1, MPI_INT, to, me, &in, 1, MPI_INT, turn % 2 ? from : MPI_ANY_SOURCE, me, MPI_COMM_WORLD, &status);
        MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, comms[me]);
        wrong[me] += mine != rank || in != 1000 * from + me || status.MPI_SOURCE != from;
        sums[me] += total;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, main_thread;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    begin(&argc, &argv);
    MPI_Is_thread_main(&main_thread);
    note("multiple %d, main %d\n", provided == MPI_THREAD_MULTIPLE, main_thread);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    int many = provided == MPI_THREAD_MULTIPLE;
    for (long i = 0; i < THREADS; i++)
        if (many)
            pthread_create(&threads[i], NULL, work, (void *)i);
        else
            work((void *)i);
    for (int i = 0; i < THREADS; i++) {
        if (many)
            pthread_join(threads[i], NULL);
        note("thread %d: wrong %ld, sum %ld\n", i, wrong[i], sums[i]);
        MPI_Comm_free(&comms[i]);
    }
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    3
 * NOT:      openmpi-6: its release candidate loses messages of ranks with several threads
 * PROVES:   MPI_THREAD_MULTIPLE: threads see one world at all times.
 * PITFALLS: 20
 */
