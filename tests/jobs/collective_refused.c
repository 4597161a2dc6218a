/*
 * Calls that one rank alone can see to be wrong: it gets an error at once, or what MPIs let pass is
 * done, and the calls after that are right.
 *
 *     collective_refused alike     all ranks make the same call, which MPIs mostly let pass
 *     collective_refused alone     rank 1 makes a wrong call and the others the right one, which
 *                                  does not wait for rank 1
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define MOST_RANKS 16

static MPI_Comm world;
static int rank, ranks, wrong;
static double in[4 * MOST_RANKS], out[4 * MOST_RANKS];
static int counts[MOST_RANKS], places[MOST_RANKS];

static void fill(void)
{
    for (int i = 0; i < 4 * MOST_RANKS; i++) {
        in[i] = 100 * rank + i;
        out[i] = -1;
    }
    for (int i = 0; i < MOST_RANKS; i++) {
        counts[i] = 3;
        places[i] = 4 * i;
    }
}

/* The call's code, and whether its result is right; then a right call. */
static void end(const char *what, int code, int expected, int is_right)
{
    int class = MPI_SUCCESS, value = rank ? -1 : 7;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (class != expected || !is_right) {
        printf("rank %d: %s: class %d, not %d, or a wrong result\n", rank, what, class, expected);
        wrong++;
    }
    MPI_Bcast(&value, 1, MPI_INT, 0, world);
    if (value != 7) {
        printf("rank %d: after %s: %d\n", rank, what, value);
        wrong++;
    }
    fill();
}

/* Whether the first `count` of the 4 elements for each rank are what it sent, `step` elements of its
 * own for each rank. */
static int blocks(int count, int step)
{
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < count; i++)
            if (out[4 * r + i] != 100 * r + step * rank + i)
                return 0;
    return 1;
}

static void alike(void)
{
    MPI_Datatype type = MPI_DOUBLE;
    int untouched = 1, code;
    /* What is received may be less than there is room for. */
    code = MPI_Gather(in, 3, type, out, 4, type, 0, world);
    end("gather of 3 as 4", code, MPI_SUCCESS, rank > 0 || (blocks(3, 0) && out[3] == -1));
    code = MPI_Allgather(in, 3, type, out, 4, type, world);
    end("allgather of 3 as 4", code, MPI_SUCCESS, blocks(3, 0) && out[3] == -1);
    code = MPI_Alltoall(in, 3, type, out, 4, type, world);
    end("alltoall of 3 as 4", code, MPI_SUCCESS, blocks(3, 3) && out[3] == -1);
    code = MPI_Scatter(in, 3, type, out, rank ? 3 : 4, type, 0, world);
    end("scatter of 3 as 4", code, MPI_SUCCESS, out[0] == 3 * rank && out[2] == 3 * rank + 2 && out[3] == -1);
    code = MPI_Allgatherv(in, 2, type, out, counts, places, type, world);
    end("allgatherv of 2 as 3", code, MPI_SUCCESS, blocks(2, 0));
    int less[MOST_RANKS];
    memcpy(less, counts, sizeof less);
    less[rank] = 2;
    code = MPI_Alltoallv(in, less, places, type, out, counts, places, type, world);
    for (int r = 0; r < ranks; r++)
        untouched &= out[4 * r] == 100 * r + 4 * rank && out[4 * r + 2] == (r == rank ? -1 : 100 * r + 4 * rank + 2);
    end("alltoallv of 2 as 3 to itself", code, MPI_SUCCESS, untouched);

    /* One buffer for both. */
    double value = rank + 1, all = ranks * (ranks + 1) / 2, before = rank * (rank + 1) / 2;
    code = MPI_Allreduce(&value, &value, 1, type, MPI_SUM, world);
    end("allreduce in one buffer", code, MPI_SUCCESS, value == all);
    value = rank + 1;
    code = MPI_Reduce(&value, &value, 1, type, MPI_SUM, ranks - 1, world);
    end("reduce in one buffer", code, MPI_SUCCESS, value == (rank == ranks - 1 ? all : rank + 1));
    value = rank + 1;
    code = MPI_Scan(&value, &value, 1, type, MPI_SUM, world);
    end("scan in one buffer", code, MPI_SUCCESS, value == before + rank + 1);
    value = rank + 1;
    code = MPI_Exscan(&value, &value, 1, type, MPI_SUM, world);
    end("exscan in one buffer", code, MPI_SUCCESS, rank == 0 || value == before);
    code = MPI_Reduce_scatter_block(in, in, 1, type, MPI_SUM, world);
    end("reduce_scatter_block in one buffer", code, MPI_SUCCESS, 1);

    /* More than there is room for. */
    code = MPI_Allgather(in, 4, type, out, 3, type, world);
    end("allgather of 4 as 3", code, MPI_ERR_TRUNCATE, 1);
    code = MPI_Alltoall(in, 4, type, out, 3, type, world);
    end("alltoall of 4 as 3", code, MPI_ERR_TRUNCATE, 1);
    counts[0] = -1;
    code = MPI_Allgatherv(in, 3, type, out, counts, places, type, world);
    end("allgatherv of -1", code, MPI_ERR_COUNT, 1);
    code = MPI_Allreduce(in, MPI_IN_PLACE, 3, type, MPI_SUM, world);
    end("allreduce into in place", code, MPI_ERR_BUFFER, 1);
    code = MPI_Exscan(in, MPI_IN_PLACE, 3, type, MPI_SUM, world);
    end("exscan into in place", code, MPI_ERR_BUFFER, 1);
    code = MPI_Allgather(in, 3, type, MPI_IN_PLACE, 3, type, world);
    end("allgather into in place", code, MPI_ERR_BUFFER, 1);
}

static void alone(void)
{
    MPI_Datatype type = MPI_DOUBLE, none = MPI_DATATYPE_NULL;
    int odd = rank == 1, code;
#define ODD(error) (odd ? (error) : MPI_SUCCESS)
    code = MPI_Bcast(in, odd ? -1 : 1, type, 0, world);
    end("bcast of -1", code, ODD(MPI_ERR_COUNT), 1);
    code = MPI_Bcast(in, 1, odd ? none : type, 0, world);
    end("bcast of no type", code, ODD(MPI_ERR_TYPE), 1);
    code = MPI_Bcast(in, 1, type, odd ? 99 : 0, world);
    end("bcast from nobody", code, ODD(MPI_ERR_ROOT), 1);
    code = MPI_Bcast(odd ? MPI_IN_PLACE : in, 1, type, 0, world);
    end("bcast in place", code, ODD(MPI_ERR_BUFFER), 1);
    code = MPI_Gather(in, odd ? 4 : 3, type, out, 3, type, 1, world);
    end("gather of 4 as 3", code, ODD(MPI_ERR_TRUNCATE), 1);
    code = MPI_Gather(in, 3, type, out, odd ? -1 : 3, type, 1, world);
    end("gather of -1", code, ODD(MPI_ERR_COUNT), 1);
    code = MPI_Gather(in, 3, type, odd ? MPI_IN_PLACE : out, 3, type, 1, world);
    end("gather into in place", code, ODD(MPI_ERR_BUFFER), 1);
    counts[0] = odd ? -1 : 3;
    code = MPI_Gatherv(in, 3, type, out, counts, places, type, 1, world);
    end("gatherv of -1", code, ODD(MPI_ERR_COUNT), 1);
    code = MPI_Scatter(in, 3, type, odd ? MPI_IN_PLACE : out, 3, type, 0, world);
    end("scatter into in place of a leaf", code, ODD(MPI_ERR_BUFFER), 1);
    code = MPI_Reduce(in, odd ? MPI_IN_PLACE : out, 3, type, MPI_SUM, 1, world);
    end("reduce into in place", code, ODD(MPI_ERR_BUFFER), 1);
    /* One that works: the others don't know it. */
    double value = rank + 1, result = 0;
    code = MPI_Reduce(&value, odd ? &value : &result, 1, type, MPI_SUM, 1, world);
    end("reduce in one buffer", code, MPI_SUCCESS, !odd || value == ranks * (ranks + 1) / 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    fill();
    argc > 1 && strcmp(argv[1], "alone") == 0 ? alone() : alike();
    printf("rank %d is done\n", rank);
    MPI_Finalize();
    return wrong != 0;
}

/*
 * RUN:    4 ranks, with collectives replaced by `flat` ones where there is a root.
 * EXPECT: that all are done, and nothing else.
 */
