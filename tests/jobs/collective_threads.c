/*
 * Collectives of several threads at a time, each on communicators of its own, with data that have
 * to be copied and with different operations.
 *
 *     collective_threads THREADS ROUNDS
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_THREADS 8
#define LENGTH 257

static int rank, ranks, rounds, wrong;
static MPI_Comm comms[MOST_THREADS];

/* Integers at absolute addresses, every other one of `data`. */
static MPI_Datatype absolute(int *data)
{
    MPI_Datatype spaced, type;
    MPI_Aint at;
    int one = 1;
    MPI_Get_address(data, &at);
    MPI_Type_vector(LENGTH, 1, 2, MPI_INT, &spaced);
    MPI_Type_create_hindexed(1, &one, &at, spaced, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&spaced);
    return type;
}

static void *work(void *argument)
{
    int number = (int)(size_t)argument, bad = 0, *data = calloc(2 * LENGTH, sizeof *data);
    int *all = calloc((size_t)LENGTH * (size_t)ranks, sizeof *all);
    MPI_Comm comm = comms[number];
    MPI_Datatype type = absolute(data);
    for (int round = 0; round < rounds; round++) {
        int root = (round + number) % ranks, mine = number * 1000000 + round * 10;
        for (int i = 0; i < LENGTH; i++)
            data[2 * i] = rank == root ? mine + i : -1;
        MPI_Bcast(MPI_BOTTOM, 1, type, root, comm);
        for (int i = 0; i < LENGTH; i++)
            bad += data[2 * i] != mine + i || data[2 * i + 1] != 0;
        for (int i = 0; i < LENGTH; i++)
            data[2 * i] = mine + rank;
        MPI_Allgather(MPI_BOTTOM, 1, type, all, LENGTH, MPI_INT, comm);
        for (int i = 0; i < LENGTH * ranks; i++)
            bad += all[i] != mine + i / LENGTH;
        double value = rank, sum = 0;
        int most = 0;
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        MPI_Allreduce(&mine, &most, 1, MPI_INT, round % 2 ? MPI_MAX : MPI_BOR, comm);
        bad += sum != ranks * (ranks - 1) / 2 || most != mine;
    }
    MPI_Type_free(&type);
    free(data);
    free(all);
    __atomic_add_fetch(&wrong, bad, __ATOMIC_RELAXED);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, count = argc > 1 ? atoi(argv[1]) : 2, sum;
    rounds = argc > 2 ? atoi(argv[2]) : 100;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE || count > MOST_THREADS) {
        fprintf(stderr, "not so many threads\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pthread_t threads[MOST_THREADS];
    for (int i = 0; i < count; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", sum);
    MPI_Finalize();
    return wrong != 0;
}

/*
 * RUN:    any number of ranks, with MPI_THREAD_MULTIPLE.
 * EXPECT: `0 wrong`.
 */
