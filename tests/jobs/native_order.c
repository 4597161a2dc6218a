/*
 * Reductions by products of matrices, which do not commute: whether the MPI combines operands in
 * the order of ranks. Rank 0 prints the operations whose results are wrong, and how many there are.
 *
 *     native_order                    once each, in several sizes
 *     native_order CALLS              so often, in two sizes, every second time in place
 *     native_order CALLS VARIABLE     the products look at a control variable of the MPI, and rank 0
 *                                     says whether any saw it set
 *     native_order CALLS VARIABLE x   the same, where the tool interface starts before the MPI
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

static int rank, size, wrong[OPERATIONS];
static MPI_Datatype type;
static MPI_Op op;

/* A control variable, its value in between calls, and whether it had another one in a call. */
static MPI_T_cvar_handle watched;
static int usual, was_set;

static int value(void)
{
    int found = -1;
    MPI_T_cvar_read(watched, &found);
    return found;
}

static int watch(const char *name)
{
    int index, count, provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_cvar_get_index(name, &index) || MPI_T_cvar_handle_alloc(index, NULL, &watched, &count))
        return 0;
    usual = value();
    return 1;
}

static void look_and_multiply(void *left, void *right, int *count, MPI_Datatype *of)
{
    was_set |= value() != usual;
    multiply(left, right, count, of);
}

/* What a rank gives, or MPI_IN_PLACE, with a copy of it where the result will be. */
static const void *given(const matrix *own, matrix *result, int whole, int in_place)
{
    memcpy(result, own, sizeof *own * (size_t)whole);
    return in_place ? MPI_IN_PLACE : own;
}

static void reduce_all(int count, int in_place)
{
    int whole = count * size, last = size - 1;
    matrix *own = malloc(sizeof *own * (size_t)whole), *result = malloc(sizeof *own * (size_t)whole);
    int *each = malloc(sizeof *each * (size_t)size);
    for (int n = 0; n < whole; n++)
        own[n] = element(rank, n);
    for (int other = 0; other < size; other++)
        each[other] = count;
    MPI_Allreduce(given(own, result, whole, in_place), result, count, type, op, MPI_COMM_WORLD);
    wrong[ALLREDUCE] |= differs(result, 0, count, last);
    for (int root = 0; root < size; root++) {
        const void *from = given(own, result, whole, in_place && rank == root);
        MPI_Reduce(from, result, count, type, op, root, MPI_COMM_WORLD);
        wrong[REDUCE] |= rank == root && differs(result, 0, count, last);
    }
    MPI_Reduce_scatter(given(own, result, whole, in_place), result, each, type, op, MPI_COMM_WORLD);
    wrong[REDUCE_SCATTER] |= differs(result, rank * count, count, last);
    MPI_Reduce_scatter_block(given(own, result, whole, in_place), result, count, type, op, MPI_COMM_WORLD);
    wrong[REDUCE_SCATTER_BLOCK] |= differs(result, rank * count, count, last);
    MPI_Scan(given(own, result, whole, in_place), result, count, type, op, MPI_COMM_WORLD);
    wrong[SCAN] |= differs(result, 0, count, rank);
    MPI_Exscan(given(own, result, whole, in_place), result, count, type, op, MPI_COMM_WORLD);
    wrong[EXSCAN] |= rank > 0 && differs(result, 0, count, rank - 1);
    free(own);
    free(result);
    free(each);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 3, 64, 1000, 20000};
    int calls = argc > 1 ? atoi(argv[1]) : 1, all[OPERATIONS], sum = 0, any = 0;
    /* With a third argument the program is the first to start the tool interface. */
    int is_watched = argc > 3 && watch(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_watched = is_watched || (argc == 3 && watch(argv[2]));
    MPI_Type_contiguous(4, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(is_watched ? look_and_multiply : multiply, 0, &op);
    for (int n = 0; calls > 1 && n < calls; n++)
        reduce_all(n % 3 ? 1 : 1000, n % 2);
    for (unsigned which = 0; calls == 1 && which < sizeof counts / sizeof *counts; which++)
        reduce_all(counts[which], 0);
    if (is_watched) {
        wrong[ALLREDUCE] |= value() != usual;
        MPI_Reduce(&was_set, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s was %s\n", argv[2], any ? "set" : "left alone");
        MPI_T_finalize();
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
