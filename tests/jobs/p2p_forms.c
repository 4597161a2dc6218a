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

/* The ways to send one message; each has been handed a posted receive. */
typedef void (*form)(const void *, int, MPI_Datatype, int, MPI_Comm);

static void by_send(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Send(b, n, t, to, TAG, c);
}

static void by_ssend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Ssend(b, n, t, to, TAG, c);
}

static void by_rsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Rsend(b, n, t, to, TAG, c);
}

/* Buffered sends bring their own buffer, and wait until it is empty. */
static void by_bsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    static char room[LONGEST + MPI_BSEND_OVERHEAD];
    void *given;
    int size;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(b, n, t, to, TAG, c);
    MPI_Buffer_detach(&given, &size);
}

static void wait_for(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void by_isend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Request request;
    MPI_Isend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
}

static void by_issend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Request request;
    MPI_Issend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
}

static void by_irsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    MPI_Request request;
    MPI_Irsend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
}

static void by_ibsend(const void *b, int n, MPI_Datatype t, int to, MPI_Comm c)
{
    static char room[LONGEST + MPI_BSEND_OVERHEAD];
    void *given;
    int size;
    MPI_Request request;
    MPI_Buffer_attach(room, sizeof room);
    MPI_Ibsend(b, n, t, to, TAG, c, &request);
    wait_for(&request);
    MPI_Buffer_detach(&given, &size);
}

static const struct {
    const char *name;
    form send;
} forms[] = {
    {"MPI_Send", by_send},   {"MPI_Ssend", by_ssend},   {"MPI_Rsend", by_rsend},   {"MPI_Bsend", by_bsend},
    {"MPI_Isend", by_isend}, {"MPI_Issend", by_issend}, {"MPI_Irsend", by_irsend}, {"MPI_Ibsend", by_ibsend},
};

/* One round: everyone sends with one form to the rank `shift` further on. In
 * an intercommunicator the groups may differ in size, so a rank sends only
 * where both groups have it. */
static void one_form(const struct circle *circle, int which, int shift)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    round_number++;
    int n = circle->size;
    int to = (circle->rank + shift) % n, from = ((circle->rank - shift) % n + n) % n;
    int mine = length_of(world_rank), theirs = length_of(circle->world_of[from]);
    MPI_Request receive;
    MPI_Status status;
    int received;

    fill(out, mine, world_rank);
    memset(in, 0xee, sizeof in);
    MPI_Irecv(in, LONGEST, MPI_BYTE, from, TAG, circle->comm, &receive);
    all_posted(circle);
    forms[which].send(out, mine, MPI_BYTE, to, circle->comm);
    expect(circle, to, mine);
    MPI_Wait(&receive, &status);
    MPI_Get_count(&status, MPI_BYTE, &received);
    check(received == theirs && status.MPI_SOURCE == from && status.MPI_TAG == TAG, "the status");
    check(holds(in, theirs, circle->world_of[from]), forms[which].name);
}

/* Bytes are those of the data, whatever the type: a strided vector, whose
 * extent is larger than its size, and a pair with a hole. */
static void datatypes(const struct circle *circle)
{
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    double out[64], in[64];
    struct {
        double value;
        int index;
    } pair = {1.5, 3}, pair_in;
    MPI_Datatype vector;
    round_number++;
    for (int i = 0; i < 64; i++)
        out[i] = world_rank + i, in[i] = -1;
    MPI_Type_vector(5, 2, 7, MPI_DOUBLE, &vector);
    MPI_Type_commit(&vector);
    MPI_Sendrecv(out, 1, vector, to, TAG, in, 1, vector, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, 10 * (long long)sizeof(double));
    check(in[0] == circle->world_of[from] && in[29] == circle->world_of[from] + 29 && in[2] == -1, "a vector");
    MPI_Type_free(&vector);

    memset(&pair_in, 0, sizeof pair_in);
    MPI_Sendrecv(&pair, 1, MPI_DOUBLE_INT, to, TAG, &pair_in, 1, MPI_DOUBLE_INT, from, TAG, circle->comm,
                 MPI_STATUS_IGNORE);
    expect(circle, to, sizeof(double) + sizeof(int));
    check(pair_in.value == 1.5 && pair_in.index == 3, "a pair");
}

/* MPI_Sendrecv and MPI_Sendrecv_replace count one message each, for what they
 * send. */
static void send_and_receive(const struct circle *circle, int shift)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    int n = circle->size;
    int to = (circle->rank + shift) % n, from = ((circle->rank - shift) % n + n) % n;
    round_number++;
    int mine = length_of(world_rank), theirs = length_of(circle->world_of[from]);
    fill(out, mine, world_rank);
    MPI_Sendrecv(out, mine, MPI_BYTE, to, TAG, in, theirs, MPI_BYTE, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, mine);
    check(holds(in, theirs, circle->world_of[from]), "MPI_Sendrecv");

    round_number++;
    fill(out, 200, world_rank);
    MPI_Sendrecv_replace(out, 200, MPI_BYTE, to, TAG, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, 200);
    check(holds(out, 200, circle->world_of[from]), "MPI_Sendrecv_replace");

#if MPI_VERSION >= 4
    MPI_Request request;
    round_number++;
    fill(out, 70, world_rank);
    MPI_Isendrecv(out, 70, MPI_BYTE, to, TAG, in, 70, MPI_BYTE, from, TAG, circle->comm, &request);
    wait_for(&request);
    expect(circle, to, 70);
    check(holds(in, 70, circle->world_of[from]), "MPI_Isendrecv");

    round_number++;
    fill(out, 90, world_rank);
    MPI_Isendrecv_replace(out, 90, MPI_BYTE, to, TAG, from, TAG, circle->comm, &request);
    wait_for(&request);
    expect(circle, to, 90);
    check(holds(out, 90, circle->world_of[from]), "MPI_Isendrecv_replace");
#endif
}

#if MPI_VERSION >= 4
/* The large-count twins are functions of their own. */
static void large_counts(const struct circle *circle)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    MPI_Request requests[2];
    round_number++;
    fill(out, 300, world_rank);
    MPI_Irecv_c(in, 300, MPI_BYTE, from, TAG, circle->comm, &requests[0]);
    MPI_Send_c(out, 300, MPI_BYTE, to, TAG, circle->comm);
    wait_for(&requests[0]);
    expect(circle, to, 300);
    check(holds(in, 300, circle->world_of[from]), "MPI_Send_c");

    round_number++;
    fill(out, 310, world_rank);
    MPI_Irecv_c(in, 310, MPI_BYTE, from, TAG, circle->comm, &requests[0]);
    MPI_Isend_c(out, 310, MPI_BYTE, to, TAG, circle->comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(circle, to, 310);
    check(holds(in, 310, circle->world_of[from]), "MPI_Isend_c");

    round_number++;
    fill(out, 320, world_rank);
    MPI_Sendrecv_c(out, 320, MPI_BYTE, to, TAG, in, 320, MPI_BYTE, from, TAG, circle->comm, MPI_STATUS_IGNORE);
    expect(circle, to, 320);
    check(holds(in, 320, circle->world_of[from]), "MPI_Sendrecv_c");
}
#endif

/* Persistent requests are counted each time that they are started, and not
 * when they are made: the third is made and never started. */
static void persistent(const struct circle *circle)
{
    enum { STARTS = 3 };
    unsigned char out[4][LONGEST] = {{0}}, in[4][LONGEST] = {{0}};
    static char room[4 * LONGEST];
    MPI_Request sends[4], receives[4], unused;
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    void *given;
    int size;

    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(in[i], 100 + i, MPI_BYTE, from, TAG + i, circle->comm, &receives[i]);
    MPI_Send_init(out[0], 100, MPI_BYTE, to, TAG, circle->comm, &sends[0]);
    MPI_Ssend_init(out[1], 101, MPI_BYTE, to, TAG + 1, circle->comm, &sends[1]);
    MPI_Rsend_init(out[2], 102, MPI_BYTE, to, TAG + 2, circle->comm, &sends[2]);
    MPI_Bsend_init(out[3], 103, MPI_BYTE, to, TAG + 3, circle->comm, &sends[3]);
    MPI_Send_init(out[0], 999, MPI_BYTE, to, TAG, circle->comm, &unused);

    for (int start = 0; start < STARTS; start++) {
        round_number++;
        for (int i = 0; i < 4; i++)
            fill(out[i], 100 + i, world_rank);
        MPI_Startall(4, receives);
        all_posted(circle);
        if (start % 2 == 0) {
            MPI_Startall(4, sends);
        } else {
            for (int i = 0; i < 4; i++)
                MPI_Start(&sends[i]);
        }
        MPI_Waitall(4, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(4, receives, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; i++) {
            expect(circle, to, 100 + i);
            check(holds(in[i], 100 + i, circle->world_of[from]), "a persistent send");
        }
    }
    MPI_Request_free(&unused);
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    MPI_Buffer_detach(&given, &size);
}

/* The ways to receive: counting is the sender's, so each is one message. */
static void receives(const struct circle *circle)
{
    unsigned char out[LONGEST] = {0}, in[LONGEST] = {0};
    int n = circle->size, to = (circle->rank + 1) % n, from = (circle->rank - 1 + n) % n;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    for (int way = 0; way < 4; way++) {
        int flag = 0, length = 0;
        round_number++;
        fill(out, 40, world_rank);
        MPI_Isend(out, 40, MPI_BYTE, to, TAG, circle->comm, &request);
        expect(circle, to, 40);
        if (way == 0) {
            MPI_Probe(from, TAG, circle->comm, &status);
            MPI_Get_count(&status, MPI_BYTE, &length);
            MPI_Recv(in, length, MPI_BYTE, status.MPI_SOURCE, TAG, circle->comm, &status);
        } else if (way == 1) {
            while (!flag)
                MPI_Iprobe(from, MPI_ANY_TAG, circle->comm, &flag, &status);
            MPI_Recv(in, 40, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, circle->comm, &status);
        } else if (way == 2) {
            MPI_Mprobe(from, TAG, circle->comm, &message, &status);
            MPI_Mrecv(in, 40, MPI_BYTE, &message, &status);
        } else {
            MPI_Request receive;
            while (!flag)
                MPI_Improbe(from, TAG, circle->comm, &flag, &message, &status);
            MPI_Imrecv(in, 40, MPI_BYTE, &message, &receive);
            MPI_Wait(&receive, &status);
        }
        check(status.MPI_SOURCE == from && holds(in, 40, circle->world_of[from]), "a receive");
        wait_for(&request);
    }
}

/* MPI_PROC_NULL is no partner: nothing is counted. */
static void to_nobody(const struct circle *circle)
{
    char byte = 1;
    MPI_Request request;
    MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, circle->comm);
    MPI_Isend(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, circle->comm, &request);
    wait_for(&request);
    MPI_Sendrecv_replace(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, MPI_PROC_NULL, TAG, circle->comm, MPI_STATUS_IGNORE);
    MPI_Send_init(&byte, 1, MPI_CHAR, MPI_PROC_NULL, TAG, circle->comm, &request);
    MPI_Start(&request);
    wait_for(&request);
    MPI_Request_free(&request);
}

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

/* Finds out who is who by telling each other, not by asking for groups:
 * groups are part of what is tested. Each communicator has its own hundreds
 * of rounds, the same for all ranks, whichever they were in before. */
static void on(int number, MPI_Comm comm)
{
    struct circle circle = {.comm = comm};
    int inter;
    round_number = 1000 * number;
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &circle.rank);
    if (inter)
        MPI_Comm_remote_size(comm, &circle.size);
    else
        MPI_Comm_size(comm, &circle.size);
    circle.world_of = malloc((size_t)circle.size * sizeof(int));
    MPI_Allgather(&world_rank, 1, MPI_INT, circle.world_of, 1, MPI_INT, comm);
    every_form(&circle);
    free(circle.world_of);
}

static void on_and_free(int number, MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    on(number, comm);
    MPI_Comm_free(&comm);
}

static void every_communicator(void)
{
    MPI_Comm comm, half, merged;
    MPI_Group world, odd;

    on(1, MPI_COMM_WORLD);
    on(2, MPI_COMM_SELF);

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    on_and_free(3, comm);

    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm); /* reversed */
    on_and_free(4, comm);

    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3, world_rank, &comm);
    on_and_free(5, comm);

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &comm);
    on_and_free(6, comm);

    int dims[1] = {world_size}, periods[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    on_and_free(7, comm);

    /* The odd ranks (or the only one) by a group of the world, and a
     * communicator made of that: a communicator of a communicator. */
    int range[1][3] = {{world_size > 1, world_size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &odd);
    MPI_Comm_create(MPI_COMM_WORLD, odd, &comm);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm reversed;
        int rank;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_split(comm, 0, -rank, &reversed);
        on_and_free(8, reversed);
    }
    on_and_free(9, comm);
    if (world_rank % 2 == 1) {
        MPI_Comm_create_group(MPI_COMM_WORLD, odd, 5, &comm);
        on_and_free(10, comm);
    }
    MPI_Group_free(&odd);
    MPI_Group_free(&world);

    /* Between the lower and the upper half, with equally many on each side,
     * the upper one in reverse; then both merged. */
    int each = world_size / 2;
    if (each > 0) {
        int side = world_rank < each ? 0 : world_rank < 2 * each ? 1 : MPI_UNDEFINED;
        MPI_Comm_split(MPI_COMM_WORLD, side, side == 1 ? -world_rank : world_rank, &half);
        if (half != MPI_COMM_NULL) {
            /* Leaders are named by rank in the peer communicator: the
             * lower half's is 0, the upper one's its highest. */
            MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? 2 * each - 1 : 0, 9, &comm);
            on(11, comm);
            MPI_Intercomm_merge(comm, side == 0, &merged);
            on_and_free(12, merged);
            MPI_Comm_free(&comm);
            MPI_Comm_free(&half);
        }
    }
}

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
