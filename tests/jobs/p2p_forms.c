/*
 * Every form of point-to-point call, on every kind of communicator, with what
 * a profile of it must say.
 *
 * Each form sends once from each rank to the rank `shift` further on; sizes
 * differ from form to form, communicator to communicator and rank to rank, so
 * that a message counted twice, not at all, or for the wrong pair shows. The
 * program keeps its own account of what it sends, in ranks of MPI_COMM_WORLD,
 * and prints it at the end as two dense matrices (row: sender, column:
 * receiver). What is received is compared with what was sent.
 *
 *     p2p_forms [partitioned|persistent|once]
 *
 * With `partitioned`, MPI 4's partitioned calls are made and nothing else, with
 * `persistent` persistent requests and nothing else, and with `once` everything
 * but those.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 7
#define LONGEST 4096

static int world_rank, world_size;
static long long *messages, *bytes; /* to each rank of the world */
static int failures;
static int with_persistent = 1, with_others = 1;
static int round_number; /* counts exchanges: every one has its own sizes */

/* A communicator to exchange on: its peers in ranks of the world. */
struct circle {
    MPI_Comm comm;
    int rank; /* mine, among the senders */
    int size; /* ranks that I can send to */
    int *world_of;
};

static void expect(const struct circle *circle, int to, long long size)
{
    if (to == MPI_PROC_NULL)
        return;
    messages[circle->world_of[to]] += 1;
    bytes[circle->world_of[to]] += size;
}

static void check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "p2p_forms: rank %d: %s is wrong in round %d\n", world_rank, what, round_number);
        failures++;
    }
}

/* How many bytes a world rank sends in this round: small numbers of its own,
 * and now and then none. */
static int length_of(int sender_in_world)
{
    if (round_number % 11 == 10)
        return 0;
    return (round_number * 13 + sender_in_world * 5) % 1000 + 1;
}

static void fill(unsigned char *buffer, int length, int sender_in_world)
{
    for (int i = 0; i < length; i++)
        buffer[i] = (unsigned char)(sender_in_world * 17 + round_number * 3 + i);
}

static int holds(const unsigned char *buffer, int length, int sender_in_world)
{
    for (int i = 0; i < length; i++)
        if (buffer[i] != (unsigned char)(sender_in_world * 17 + round_number * 3 + i))
            return 0;
    return 1;
}

/* Waits until every rank of the circle has posted its receive, which the
 * ready forms need. (A barrier is counted with the collectives.) */
static void all_posted(const struct circle *circle)
{
    MPI_Barrier(circle->comm);
}

#include "p2p_forms/sends.h"
#include "p2p_forms/receives.h"

static void every_form(const struct circle *circle)
{
    if (with_persistent)
        persistent(circle);
    if (!with_others)
        return;
    int count = (int)(sizeof forms / sizeof forms[0]);
    for (int which = 0; which < count; which++) {
        one_form(circle, which, 0); /* to self (in an intercommunicator: across) */
        one_form(circle, which, 1);
        one_form(circle, which, which + 2);
    }
    datatypes(circle);
    send_and_receive(circle, 1);
    send_and_receive(circle, 3);
    receives(circle);
    to_nobody(circle);
#if MPI_VERSION >= 4
    large_counts(circle);
#endif
}

#include "p2p_forms/communicators.h"

/* Partitioned sends are counted when they are started: one message of all
 * partitions together. */
static void partitioned(void)
{
#if MPI_VERSION >= 4
    enum { PARTITIONS = 4, EACH = 25 };
    unsigned char out[PARTITIONS * EACH], in[PARTITIONS * EACH];
    int to = (world_rank + 1) % world_size, from = (world_rank - 1 + world_size) % world_size;
    MPI_Request requests[2];
    int *world_of = malloc((size_t)world_size * sizeof(int));
    for (int i = 0; i < world_size; i++)
        world_of[i] = i;
    struct circle circle = {MPI_COMM_WORLD, world_rank, world_size, world_of};
    MPI_Precv_init(in, PARTITIONS, EACH, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, PARTITIONS, EACH, MPI_BYTE, to, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int start = 0; start < 2; start++) {
        round_number++;
        fill(out, PARTITIONS * EACH, world_rank);
        MPI_Startall(2, requests);
        for (int i = PARTITIONS - 1; i >= 0; i--)
            MPI_Pready(i, requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(&circle, to, PARTITIONS * EACH);
        check(holds(in, PARTITIONS * EACH, from), "a partitioned send");
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(world_of);
#endif
}

static void print_matrix(const char *name, const long long *mine)
{
    long long *all = malloc((size_t)world_size * (size_t)world_size * sizeof *all);
    MPI_Gather(mine, world_size, MPI_LONG_LONG, all, world_size, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("expected %s\n", name);
        for (int from = 0; from < world_size; from++)
            for (int to = 0; to < world_size; to++)
                printf("%lld%c", all[from * world_size + to], to + 1 < world_size ? ' ' : '\n');
    }
    free(all);
}

int main(int argc, char **argv)
{
    int level, all_failures = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    messages = calloc((size_t)world_size, sizeof *messages);
    bytes = calloc((size_t)world_size, sizeof *bytes);

    with_persistent = argc < 2 || strcmp(argv[1], "once") != 0;
    with_others = argc < 2 || strcmp(argv[1], "persistent") != 0;
    if (argc > 1 && strcmp(argv[1], "partitioned") == 0)
        partitioned();
    else
        every_communicator();

    print_matrix("messages", messages);
    print_matrix("bytes", bytes);
    MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("p2p_forms: %s\n", all_failures ? "FAILED" : "all data right");
    free(messages);
    free(bytes);
    MPI_Finalize();
    return all_failures != 0;
}

/*
 * RUN:    any number of ranks; 1 and odd numbers too.
 * EXPECT: "all data right"; the profile's point-to-point layer is exactly the
 *         printed matrices, and collectives add nothing to it.
 */
