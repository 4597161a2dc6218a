/* The ring job in C. ring.f, ring.f90, ring_f08.f90 and ring.py send the same
 * messages and print the same lines; tests/jobs/ring.md tells what they are.
 *
 * build: mpicc ring.c -o ring
 * run:   mpirun -np 4 ring
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10, UNIT = 100, SMALL = 10, RESULTS = 5 };

/* A number goes round the ring, from rank 0 to rank 0; each rank adds itself. */
static int pass_token(int me, int size, int left, int right)
{
    int token = me + 1, received = 0, count = 0;
    MPI_Status status;
    if (size == 1)
        return token;
    if (me == 0) {
        MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        printf("token %d from rank %d, tag %d, %d integer\n",
               token, status.MPI_SOURCE, status.MPI_TAG, count);
    } else {
        MPI_Recv(&received, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token += received;
        MPI_Send(&token, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
    }
    return token;
}

/* Longer and longer blocks go to the right, each round's block on to the next. */
static int shift_right(int me, int left, int right)
{
    static double block[ROUNDS * UNIT], received[ROUNDS * UNIT];
    int sum = 0;
    for (int i = 0; i < ROUNDS * UNIT; i++)
        block[i] = me + 1;
    for (int round = 1; round <= ROUNDS; round++) {
        MPI_Sendrecv(block, round * UNIT, MPI_DOUBLE, right, 2, received, round * UNIT, MPI_DOUBLE,
                     left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < ROUNDS * UNIT; i++)
            block[i] = received[0];
        sum += (int)received[round * UNIT - 1];
    }
    return sum;
}

/* One small message to the left, without waiting for each other. */
static int shift_left(int me, int left, int right)
{
    int block[SMALL], received[SMALL];
    MPI_Request requests[2];
    for (int i = 0; i < SMALL; i++)
        block[i] = 100 * (me + 1) + i;
    MPI_Irecv(received, SMALL, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(block, SMALL, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return received[SMALL - 1];
}

/* The sum of all ranks, reduced in place, in the world and among every other rank. */
static void reduce(int me, int *all, int *alike)
{
    MPI_Comm half;
    double sum = me + 1, part = me + 1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    *all = (int)sum;
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &half);
    MPI_Allreduce(MPI_IN_PLACE, &part, 1, MPI_DOUBLE, MPI_SUM, half);
    *alike = (int)part;
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int me, size, results[RESULTS], *gathered = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (me + size - 1) % size, right = (me + 1) % size;

    results[0] = pass_token(me, size, left, right);
    results[1] = shift_right(me, left, right);
    results[2] = shift_left(me, left, right);
    reduce(me, &results[3], &results[4]);

    if (me == 0)
        gathered = malloc(sizeof(int) * RESULTS * (size_t)size);
    MPI_Gather(results, RESULTS, MPI_INT, gathered, RESULTS, MPI_INT, 0, MPI_COMM_WORLD);
    if (me == 0) {
        for (int rank = 0; rank < size; rank++) {
            const int *of = gathered + RESULTS * rank;
            printf("rank %d of %d: token %d right %d left %d all %d alike %d\n",
                   rank, size, of[0], of[1], of[2], of[3], of[4]);
        }
        free(gathered);
    }
    MPI_Finalize();
    return 0;
}
