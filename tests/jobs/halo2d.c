/*
 * Two-dimensional halo exchange with a bad rank order.
 *
 * A plate of cells is cut into tiles, one tile a rank. In every iteration each
 * tile sends its four edges to its neighbours and takes the mean of every
 * cell's neighbours (Jacobi's method for Laplace's equation, with the plate's
 * upper edge kept hot). The rank that owns a tile is drawn by a fixed
 * shuffle, so that neighbouring tiles lie on ranks far apart: a job whose
 * launcher fills nodes in rank order sends most of its edges over the network.
 *
 *     halo2d [cells of a tile's side, default 64] [iterations, default 100]
 *
 * What it prints depends on nothing but the number of ranks and the
 * arguments: the residual is a maximum, and the checksum a sum of integers,
 * so that no order of addition can show.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { UP, DOWN, LEFT, RIGHT, SIDES };

/* The opposite side: what I send up arrives at my neighbour from below. */
static const int opposite[SIDES] = {DOWN, UP, RIGHT, LEFT};

/* A tile with a rim of one cell around it for what the neighbours send. */
struct tile {
    int side;                /* cells of its own in each direction */
    int neighbour[SIDES];    /* ranks, MPI_PROC_NULL at the plate's edge */
    double *now, *next;      /* (side + 2) x (side + 2), rows first */
    MPI_Datatype column;     /* one column of own cells */
};

static size_t at(const struct tile *tile, int row, int column)
{
    return (size_t)row * (size_t)(tile->side + 2) + (size_t)column;
}

/* Fisher-Yates with a fixed linear congruential generator: the same on every
 * machine, and bad on all of them. rank_at[position] = rank. */
static void shuffle(int *rank_at, int size)
{
    uint64_t state = 20261121;
    for (int i = 0; i < size; i++)
        rank_at[i] = i;
    for (int i = size - 1; i > 0; i--) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        int j = (int)((state >> 33) % (uint64_t)(i + 1));
        int kept = rank_at[i];
        rank_at[i] = rank_at[j];
        rank_at[j] = kept;
    }
}

static int rank_of(const int *rank_at, const int dims[2], int row, int column)
{
    if (row < 0 || row >= dims[0] || column < 0 || column >= dims[1])
        return MPI_PROC_NULL;
    return rank_at[row * dims[1] + column];
}

static double *new_cells(int side)
{
    double *cells = calloc((size_t)(side + 2) * (size_t)(side + 2), sizeof *cells);
    if (!cells) {
        fprintf(stderr, "halo2d: no memory for %d x %d cells\n", side, side);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return cells;
}

static void make_tile(struct tile *tile, int side, const int *rank_at, const int dims[2], int position)
{
    int row = position / dims[1], column = position % dims[1];
    tile->side = side;
    tile->neighbour[UP] = rank_of(rank_at, dims, row - 1, column);
    tile->neighbour[DOWN] = rank_of(rank_at, dims, row + 1, column);
    tile->neighbour[LEFT] = rank_of(rank_at, dims, row, column - 1);
    tile->neighbour[RIGHT] = rank_of(rank_at, dims, row, column + 1);
    tile->now = new_cells(side);
    tile->next = new_cells(side);
    if (row == 0)
        for (int c = 0; c < side + 2; c++)
            tile->now[at(tile, 0, c)] = tile->next[at(tile, 0, c)] = 100.0;
    MPI_Type_vector(side, 1, side + 2, MPI_DOUBLE, &tile->column);
    MPI_Type_commit(&tile->column);
}

/* Sends the four edges and receives the four rims; tags name the side on
 * which the receiver waits. */
static void exchange(struct tile *tile)
{
    int n = tile->side;
    double *cells = tile->now;
    double *edge[SIDES] = {&cells[at(tile, 1, 1)], &cells[at(tile, n, 1)],
                           &cells[at(tile, 1, 1)], &cells[at(tile, 1, n)]};
    double *rim[SIDES] = {&cells[at(tile, 0, 1)], &cells[at(tile, n + 1, 1)],
                          &cells[at(tile, 1, 0)], &cells[at(tile, 1, n + 1)]};
    MPI_Request requests[2 * SIDES];

    for (int side = 0; side < SIDES; side++) {
        int row = side == UP || side == DOWN;
        MPI_Irecv(rim[side], row ? n : 1, row ? MPI_DOUBLE : tile->column, tile->neighbour[side],
                  side, MPI_COMM_WORLD, &requests[side]);
    }
    for (int side = 0; side < SIDES; side++) {
        int row = side == UP || side == DOWN;
        MPI_Isend(edge[side], row ? n : 1, row ? MPI_DOUBLE : tile->column, tile->neighbour[side],
                  opposite[side], MPI_COMM_WORLD, &requests[SIDES + side]);
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
}

/* One Jacobi step; returns the largest change of a cell. */
static double relax(struct tile *tile)
{
    double largest = 0.0;
    for (int r = 1; r <= tile->side; r++) {
        for (int c = 1; c <= tile->side; c++) {
            double mean = 0.25 * (tile->now[at(tile, r - 1, c)] + tile->now[at(tile, r + 1, c)] +
                                  tile->now[at(tile, r, c - 1)] + tile->now[at(tile, r, c + 1)]);
            double change = fabs(mean - tile->now[at(tile, r, c)]);
            if (change > largest)
                largest = change;
            tile->next[at(tile, r, c)] = mean;
        }
    }
    double *kept = tile->now;
    tile->now = tile->next;
    tile->next = kept;
    return largest;
}

/* The cells in millionths of a degree, each weighed by its place on the
 * plate, added as integers. */
static uint64_t checksum(const struct tile *tile, int position)
{
    uint64_t sum = 0;
    for (int r = 1; r <= tile->side; r++)
        for (int c = 1; c <= tile->side; c++)
            sum += (uint64_t)llround(tile->now[at(tile, r, c)] * 1e6) *
                   (uint64_t)(1 + position * 31 + r * 7 + c);
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, dims[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int side = argc > 1 ? atoi(argv[1]) : 64;
    int iterations = argc > 2 ? atoi(argv[2]) : 100;
    if (side < 1 || iterations < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: halo2d [cells of a tile's side] [iterations]\n");
        MPI_Finalize();
        return 2;
    }

    MPI_Dims_create(size, 2, dims);
    int *rank_at = malloc((size_t)size * sizeof *rank_at);
    shuffle(rank_at, size);
    int position = 0;
    while (rank_at[position] != rank)
        position++;

    struct tile tile;
    make_tile(&tile, side, rank_at, dims, position);
    if (rank == 0) {
        printf("halo2d: %d x %d tiles of %d x %d cells, %d iterations\n", dims[0], dims[1], side, side, iterations);
        printf("halo2d: rank of each tile, row by row:");
        for (int i = 0; i < size; i++)
            printf(" %d", rank_at[i]);
        printf("\n");
    }

    double began = MPI_Wtime();
    for (int iteration = 1; iteration <= iterations; iteration++) {
        exchange(&tile);
        double change = relax(&tile), residual;
        if (iteration % 10 == 0 || iteration == iterations) {
            MPI_Allreduce(&change, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (rank == 0)
                printf("halo2d: iteration %d residual %.12e\n", iteration, residual);
        }
    }
    double seconds = MPI_Wtime() - began;

    uint64_t mine = checksum(&tile, position), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("halo2d: checksum %016llx\n", (unsigned long long)all);
        /* Time is the only thing that may differ: it goes elsewhere. */
        fprintf(stderr, "halo2d: %.3f s\n", seconds);
    }

    MPI_Type_free(&tile.column);
    free(tile.now);
    free(tile.next);
    free(rank_at);
    MPI_Finalize();
    return 0;
}

/*
 * RUN:    any number of ranks; the main job runs it on 16.
 * EXPECT: standard output is the same with and without the library, in every
 *         mode and under every permutation. The profile has one message of
 *         8 x side bytes an iteration in each direction between ranks of
 *         tiles that share an edge, and nothing else point to point.
 */
