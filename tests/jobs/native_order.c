/*
 * Reductions by products of matrices, which do not commute: whether the MPI combines operands in
 * the order of ranks. Rank 0 prints the operations whose results are wrong, and how many there are.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned at[4];
} matrix;

static void multiply(void *left, void *right, int *count, MPI_Datatype *type)
{
    matrix *a = left, *b = right;
    (void)type;
    for (int n = 0; n < *count; n++) {
        matrix product;
        for (int place = 0; place < 4; place++) {
            int row = place / 2, column = place % 2;
            unsigned long sum = (unsigned long)a[n].at[2 * row] * b[n].at[column] +
                                (unsigned long)a[n].at[2 * row + 1] * b[n].at[2 + column];
            product.at[place] = (unsigned)(sum % 65521u);
        }
        b[n] = product;
    }
}

static matrix element(int rank, int n)
{
    unsigned r = (unsigned)rank, i = (unsigned)n;
    return (matrix){{r * 7 + i + 1, r + 2, i % 13 + 3, r * r + 5}};
}

/* The product of ranks 0 to `last`, of element `n`. */
static matrix product(int last, int n)
{
    int one = 1;
    matrix result = element(last, n);
    for (int rank = last - 1; rank >= 0; rank--) {
        matrix left = element(rank, n);
        multiply(&left, &result, &one, NULL);
    }
    return result;
}

static int differs(const matrix *found, int first, int count, int last)
{
    for (int n = 0; n < count; n++) {
        matrix expected = product(last, first + n);
        if (memcmp(&found[n], &expected, sizeof expected))
            return 1;
    }
    return 0;
}

enum { ALLREDUCE, REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, OPERATIONS };
static const char *const names[] = {"allreduce", "reduce", "reduce-scatter", "reduce-scatter-block", "scan", "exscan"};

int main(int argc, char **argv)
{
    static const int counts[] = {1, 3, 64, 1000, 20000};
    int rank, size, wrong[OPERATIONS] = {0}, all[OPERATIONS], sum = 0;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(4, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    for (unsigned which = 0; which < sizeof counts / sizeof *counts; which++) {
        int count = counts[which], whole = count * size, last = size - 1;
        matrix *own = malloc(sizeof *own * (size_t)whole), *result = malloc(sizeof *own * (size_t)whole);
        int *each = malloc(sizeof *each * (size_t)size);
        for (int n = 0; n < whole; n++)
            own[n] = element(rank, n);
        for (int other = 0; other < size; other++)
            each[other] = count;
        MPI_Allreduce(own, result, count, type, op, MPI_COMM_WORLD);
        wrong[ALLREDUCE] |= differs(result, 0, count, last);
        for (int root = 0; root < size; root++) {
            MPI_Reduce(own, result, count, type, op, root, MPI_COMM_WORLD);
            wrong[REDUCE] |= rank == root && differs(result, 0, count, last);
        }
        MPI_Reduce_scatter(own, result, each, type, op, MPI_COMM_WORLD);
        wrong[REDUCE_SCATTER] |= differs(result, rank * count, count, last);
        MPI_Reduce_scatter_block(own, result, count, type, op, MPI_COMM_WORLD);
        wrong[REDUCE_SCATTER_BLOCK] |= differs(result, rank * count, count, last);
        MPI_Scan(own, result, count, type, op, MPI_COMM_WORLD);
        wrong[SCAN] |= differs(result, 0, count, rank);
        MPI_Exscan(own, result, count, type, op, MPI_COMM_WORLD);
        wrong[EXSCAN] |= rank > 0 && differs(result, 0, count, rank - 1);
        free(own);
        free(result);
        free(each);
    }
    MPI_Allreduce(wrong, all, OPERATIONS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int operation = 0; operation < OPERATIONS; operation++) {
        sum += all[operation];
        if (rank == 0 && all[operation])
            printf("%s\n", names[operation]);
    }
    if (rank == 0)
        printf("%d wrong\n", sum);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
