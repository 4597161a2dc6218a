/*
 * The messages of the NAS parallel benchmark CG, without its arithmetic.
 *
 *     cg ITERATIONS [ROWS]
 *
 * On a power of two ranks, in a grid of rows and columns (twice as many columns
 * where the power is odd): each of ITERATIONS + 1 steps (the first one warms up)
 * solves a system by 25 iterations of conjugate gradients. A sum over a row of
 * ranks exchanges with log2(columns) partners; a vector goes to the partner in the
 * transposed grid, which may be the rank itself. So each rank sends 79 messages a
 * step to each partner in its row, and 26 to the transposed one. Class C has 75
 * iterations and 150000 rows.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOLVER_STEPS = 25, TAG = 1, MOST_PARTNERS = 32 };

static int partners, partner[MOST_PARTNERS], transposed;
static double *out, *in;

static void exchange(int with, int count)
{
    MPI_Request request;
    MPI_Irecv(in, count, MPI_DOUBLE, with, TAG, MPI_COMM_WORLD, &request);
    MPI_Send(out, count, MPI_DOUBLE, with, TAG, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sum_over_row(int count)
{
    for (int i = 0; i < partners; i++) {
        exchange(partner[i], count);
        for (int k = 0; k < count; k++)
            out[k] += in[k];
    }
    for (int k = 0; k < count; k++)
        out[k] /= 1 << partners; /* keeps numbers small */
}

static void conjugate_gradients(int vector)
{
    sum_over_row(1);
    for (int step = 0; step < SOLVER_STEPS; step++) {
        sum_over_row(vector);
        exchange(transposed, vector);
        sum_over_row(1);
        sum_over_row(1);
    }
    sum_over_row(vector);
    exchange(transposed, vector);
    sum_over_row(1);
}

static int whole(const char *text, int lowest)
{
    int number = atoi(text);
    return number >= lowest ? number : -1;
}

int main(int argc, char **argv)
{
    int me, size, powers = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << (powers + 1) <= size)
        powers++;
    int iterations = argc > 1 ? whole(argv[1], 0) : -1, rows_of_matrix = argc > 2 ? whole(argv[2], 1) : 1400;
    if (1 << powers != size || iterations < 0 || rows_of_matrix < 0) {
        if (me == 0)
            fprintf(stderr, "usage: cg ITERATIONS [ROWS], on a power of two ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }

    int rows = 1 << powers / 2, columns = size / rows;
    int row = me / columns, column = me % columns;
    for (int group = columns; group > 1; group /= 2)
        partner[partners++] = row * columns + (column + group / 2) % group + column / group * group;
    if (rows == columns)
        transposed = me % rows * rows + me / rows;
    else
        transposed = 2 * (me / 2 % rows * rows + me / 2 / rows) + me % 2;

    int vector = rows_of_matrix / rows;
    out = calloc((size_t)vector + 1, sizeof *out);
    in = calloc((size_t)vector + 1, sizeof *in);
    out[0] = 1;
    for (int step = 0; step <= iterations; step++) {
        conjugate_gradients(vector);
        sum_over_row(2);
    }
    free(out);
    free(in);
    if (me == 0)
        printf("cg: %d iterations on %d x %d ranks\n", iterations, rows, columns);
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    2, 4, 8, ... ranks; `cg 75` on 8 ranks.
 * EXPECT: on 8 ranks, the messages of matrix A.3 of the thesis's digest (its
 *         figure 2.4 a): 6004 to each partner in the row, 1976 to the transposed one.
 */
