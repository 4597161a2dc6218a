/*
 * The calls of sentinels.F90 in C, one by one and with the same notes: what C and
 * Fortran mean by the special arguments must be counted alike.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* As notes.inc has them: each note as wide as Fortran's, so that messages are. */
enum { MOST = 200, WIDTH = 120 };
static char notes[MOST][WIDTH];
static int noted, rank, ranks, left, right;

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...)
{
    char text[WIDTH + 1];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memset(notes[noted], ' ', WIDTH);
    memcpy(notes[noted++], text, strlen(text));
}

static const char *numbers(const int *values, int count)
{
    static char room[4][WIDTH];
    static int turn;
    char *text = room[turn++ % 4];
    int length = 0;
    text[0] = 0;
    for (int i = 0; i < count; i++)
        length += snprintf(text + length, (size_t)(WIDTH - length), " %d", values[i]);
    return text;
}

static const char *yes(int flag) { return flag ? "yes" : "no "; }

static void print_notes(void)
{
    if (rank != 0) {
        MPI_Send(notes, noted * WIDTH, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
        return;
    }
    for (int from = 0; from < ranks; from++) {
        if (from != 0) {
            MPI_Status status;
            MPI_Recv(notes, sizeof notes, MPI_CHAR, from, 7, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_CHAR, &noted);
            noted /= WIDTH;
        }
        printf("rank %d:\n", from);
        for (int i = 0; i < noted; i++) {
            int length = WIDTH;
            while (length > 0 && notes[i][length - 1] == ' ')
                length--;
            printf("%.*s\n", length, notes[i]);
        }
    }
    fflush(stdout);
}

static void fill(int all[16], int first, int step)
{
    for (int i = 0; i < 16; i++)
        all[i] = first + step * i;
}

static void in_place(void)
{
    int sum = rank + 1, other, all[16], counts[16], places[16], part;
    MPI_Request one;
    fill(counts, 1, 0);
    fill(places, 0, 1);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    note("allreduce %d", sum);
    sum = rank + 1;
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    note("iallreduce %d", sum);
    sum = rank + 1;
    if (rank == 1)
        MPI_Reduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    else
        MPI_Reduce(&sum, &other, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
    note("reduce %d", sum);
    fill(all, -1, 0);
    all[rank] = 10 * rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    note("allgather%s", numbers(all, ranks));
    fill(all, -1, 0);
    all[rank] = 20 * rank;
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    note("allgatherv%s", numbers(all, ranks));
    fill(all, 100 * rank, 1);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    note("alltoall%s", numbers(all, ranks));
    fill(all, 100 * rank, 1);
    MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    note("alltoallv%s", numbers(all, ranks));
    fill(all, -1, 0);
    all[rank] = 30 * rank;
    part = 30 * rank;
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Gather(&part, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    note("gather%s", numbers(all, ranks));
    fill(all, 0, 7);
    part = -1;
    if (rank == 0)
        MPI_Scatter(all, 1, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
    else
        MPI_Scatter(all, 1, MPI_INT, &part, 1, MPI_INT, 0, MPI_COMM_WORLD);
    note("scatter %d", part);
    fill(all, -1, 0);
    part = 11 * rank;
    MPI_Gatherv(&part, 1, MPI_INT, all, counts, places, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    note("gatherv%s", numbers(all, ranks));
    fill(all, 0, 13);
    MPI_Scatterv(all, counts, places, MPI_INT, &part, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
    note("scatterv %d", part);
    sum = rank + 1;
    MPI_Scan(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    note("scan %d", sum);
    sum = rank + 1;
    MPI_Exscan(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank > 0)
        note("exscan %d", sum);
    fill(all, rank, 1);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    note("reduce_scatter_block %d", all[0]);
    fill(all, rank, 1);
    MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    note("reduce_scatter %d", all[0]);
}

static void statuses(void)
{
    int in = -1, two[2] = {-1, -1}, index, done[2], count, flag;
    MPI_Request requests[2];
    MPI_Status one, both[2];
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note("sendrecv %d", in);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 2, &in, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &one);
    note("sendrecv %d from %d tag %d", in, one.MPI_SOURCE, one.MPI_TAG);
    MPI_Irecv(two, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note("waitall %d", two[0]);
    MPI_Irecv(two, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, both);
    note("waitall from %d", both[0].MPI_SOURCE);
    MPI_Irecv(two, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
    requests[1] = MPI_REQUEST_NULL;
    MPI_Send(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    note("waitany %d", index + 1); /* Fortran counts from one */
    MPI_Irecv(two, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&rank, 1, MPI_INT, right, 6, MPI_COMM_WORLD);
    MPI_Waitsome(2, requests, &count, done, MPI_STATUSES_IGNORE);
    note("waitsome %d %d", count, done[0] + 1);
    MPI_Send(&rank, 1, MPI_INT, right, 8, MPI_COMM_WORLD);
    MPI_Probe(left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, &one);
    note("iprobe %s %d", yes(flag), one.MPI_SOURCE);
    MPI_Recv(&in, 1, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    requests[0] = MPI_REQUEST_NULL;
    MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    note("test %s", yes(flag));
    MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    note("testall %s", yes(flag));
    MPI_Recv(&in, 0, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &one);
    note("from nobody %s", yes(one.MPI_SOURCE == MPI_PROC_NULL));
}

static void bottom(void)
{
    static int a[2], b[3];
    int lengths[2] = {2, 3};
    MPI_Aint places[2];
    MPI_Datatype there, types[2] = {MPI_INT, MPI_INT};
    MPI_Request one;
    MPI_Get_address(a, &places[0]);
    MPI_Get_address(b, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &there);
    MPI_Type_commit(&there);
    if (rank == 0) {
        a[0] = 1, a[1] = 2;
        b[0] = 3, b[1] = 4, b[2] = 5;
    }
    MPI_Bcast(MPI_BOTTOM, 1, there, 0, MPI_COMM_WORLD);
    note("bottom, bcast%s%s", numbers(a, 2), numbers(b, 3));
    a[0] = rank, a[1] = 2 * rank;
    b[0] = b[1] = b[2] = 3 * rank;
    MPI_Isend(MPI_BOTTOM, 1, there, right, 20, MPI_COMM_WORLD, &one);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    MPI_Recv(MPI_BOTTOM, 1, there, left, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    note("bottom, received%s%s", numbers(a, 2), numbers(b, 3));
    MPI_Type_free(&there);
}

static void logicals(void)
{
    int dims[2] = {ranks / 2, 2}, periods[2] = {1, 0}, keep[2] = {0, 1};
    int got_dims[2], got[2], coords[2], up, down, mine, flag;
    MPI_Comm grid, line, halves, inter, merged;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_get(grid, 2, got_dims, got, coords);
    note("cart%s %s %s%s", numbers(got_dims, 2), yes(got[0]), yes(got[1]), numbers(coords, 2));
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    note("shift %d %d", up, down);
    MPI_Cart_sub(grid, keep, &line);
    MPI_Comm_size(line, &mine);
    note("sub %d", mine);
    MPI_Comm_free(&line);
    MPI_Comm_free(&grid);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &mine);
    note("reordered %d", mine);
    MPI_Comm_free(&grid);
    MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
    note("inter %s", yes(flag));
    MPI_Initialized(&flag);
    note("initialized %s", yes(flag));
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
    MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, 1 - rank % 2, 30, &inter);
    MPI_Comm_test_inter(inter, &flag);
    note("inter %s", yes(flag));
    MPI_Intercomm_merge(inter, rank % 2 == 0, &merged);
    MPI_Comm_rank(merged, &mine);
    note("merged %d", mine);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&halves);
}

static void graphs(void)
{
    int sources[1] = {left}, targets[1] = {right}, got = -1, in, out, one[1] = {1}, weights[1] = {9}, back[1], weighted;
    MPI_Comm near;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &near);
    MPI_Dist_graph_neighbors_count(near, &in, &out, &weighted);
    note("unweighted %s %d %d", yes(weighted), in, out);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, near);
    note("neighbour %d", got);
    MPI_Dist_graph_neighbors(near, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED);
    note("between %d %d", sources[0], targets[0]);
    MPI_Comm_free(&near);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, targets, weights, MPI_INFO_NULL, 0, &near);
    MPI_Dist_graph_neighbors_count(near, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(near, 1, sources, weights, 1, targets, back);
    note("weighted %s %d %d", yes(weighted), weights[0], back[0]);
    MPI_Comm_free(&near);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, one, MPI_WEIGHTS_EMPTY, 0, one, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                   &near);
    MPI_Dist_graph_neighbors_count(near, &in, &out, &weighted);
    note("nobody %d %d", in, out);
    MPI_Comm_free(&near);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, one, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &near);
    got = -1;
    MPI_Neighbor_alltoall(&rank, 1, MPI_INT, &got, 1, MPI_INT, near);
    note("neighbour %d", got);
    MPI_Comm_free(&near);
}

static void windows(void)
{
    static int memory[1024];
    int flag;
    MPI_Aint *value;
    MPI_Win one;
    memory[0] = -1;
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &one);
    MPI_Win_fence(0, one);
    MPI_Put(&rank, 1, MPI_INT, right, 0, 1, MPI_INT, one);
    MPI_Win_fence(0, one);
    MPI_Win_get_attr(one, MPI_WIN_SIZE, &value, &flag);
    note("put by %d, size %d %s", memory[0], (int)*value, yes(flag));
    MPI_Win_free(&one);
}

static void files(void)
{
    int written = 11 * rank, number_read = -1, count;
    MPI_File one;
    MPI_Status status;
    MPI_File_open(MPI_COMM_WORLD, "sentinels.dat", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &one);
    MPI_File_write_at_all(one, 4 * rank, &written, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(one);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(one, 4 * right, &number_read, 1, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    note("file %d count %d", number_read, count);
    MPI_File_close(&one);
}

static void prepared(void)
{
    int out, in = -1, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Request both[2];
    MPI_Comm comm;
    MPI_Send_init(&out, 1, MPI_INT, right, 40, MPI_COMM_WORLD, &both[0]);
    MPI_Recv_init(&in, 1, MPI_INT, left, 40, MPI_COMM_WORLD, &both[1]);
    for (int turn = 1; turn <= 3; turn++) {
        out = 10 * rank + turn;
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        note("persistent %d", in);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    note("name %.60s %d", name, length);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &both[0]);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    MPI_Comm_set_name(comm, "a dup");
    MPI_Comm_get_name(comm, name, &length);
    note("name %.60s %d", name, length);
    MPI_Comm_free(&comm);
    MPI_Comm_get_parent(&comm);
    note("no parent %s", yes(comm == MPI_COMM_NULL));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    right = (rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    in_place();
    statuses();
    bottom();
    logicals();
    graphs();
    windows();
    files();
    prepared();
    print_notes();
    MPI_Finalize();
    return 0;
}

/*
 * RANKS:    4
 * PROVES:   special arguments are counted in C as in Fortran: the same calls have
 *           the same profile.
 * PITFALLS: 1 15
 */
