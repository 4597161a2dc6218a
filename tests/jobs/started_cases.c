/*
 * Legal programs with started collectives in which a rank does something else between start and
 * completion, and uses of requests that end early.
 *
 *     started_cases CASE
 *
 * Prints "CASE ok" on rank 0.
 */
#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, wrong;

static void expect(int is_right, const char *what)
{
    if (!is_right && wrong++ < 5)
        fprintf(stderr, "rank %d: %s\n", rank, what);
}

/* A rank waits for a message that another sends when its barrier is complete. */
static void barrier_and_receive(void)
{
    MPI_Request request;
    int token = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    if (rank == 0) {
        for (int from = 1; from < ranks; from++)
            MPI_Recv(&token, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
}

/* The sum of so many is long: no message of it may wait for its receiver's attention. */
static void long_sum_and_receive(void)
{
    enum { LENGTH = 300000 };
    MPI_Request request;
    int *mine = malloc(LENGTH * sizeof *mine), *sum = malloc(LENGTH * sizeof *sum), token = 0;
    for (int i = 0; i < LENGTH; i++)
        mine[i] = i + rank;
    MPI_Iallreduce(mine, sum, LENGTH, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 0)
        MPI_Recv(&token, 1, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == ranks - 1)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    for (int i = 0; i < LENGTH; i += 1000)
        expect(sum[i] == i * ranks + ranks * (ranks - 1) / 2, "a wrong sum");
    free(mine), free(sum);
}

static void opposite_orders(void)
{
    MPI_Comm a, b;
    MPI_Request requests[2];
    int sums[2] = {0}, one = 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    for (int round = 0; round < 20; round++) {
        int first = rank % 2;
        MPI_Comm both[2] = {a, b};
        for (int i = 0; i < 2; i++) {
            int which = (first + i) % 2;
            MPI_Iallreduce(&one, &sums[which], 1, MPI_INT, MPI_SUM, both[which], &requests[which]);
        }
        MPI_Wait(&requests[round % 2], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[1 - round % 2], MPI_STATUS_IGNORE);
        expect(sums[0] == ranks && sums[1] == ranks, "a wrong sum");
    }
    /* One blocks while the other is started behind it, elsewhere before it. */
    if (rank == 0) {
        MPI_Ibarrier(a, &requests[0]);
        MPI_Bcast(&one, 1, MPI_INT, 0, b);
    } else {
        MPI_Bcast(&one, 1, MPI_INT, 0, b);
        MPI_Ibarrier(a, &requests[0]);
    }
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
}

/* Three communicators of two ranks each in a ring, each rank in its own order, at the first use. */
static void ring_of_communicators(void)
{
    if (ranks < 3)
        return;
    for (int order = 0; order < 8; order++) {
        MPI_Comm pairs[3];
        MPI_Request requests[2];
        int mine[2], count = 0, values[2] = {0, 0};
        for (int pair = 0; pair < 3; pair++) {
            int is_member = rank == pair || rank == (pair + 1) % 3;
            MPI_Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED, rank, &pairs[pair]);
            if (is_member)
                mine[count++] = pair;
        }
        for (int i = 0; i < count; i++) {
            int which = (order >> rank & 1) ? i : 1 - i;
            values[which] = rank;
            MPI_Ibcast(&values[which], 1, MPI_INT, 0, pairs[mine[which]], &requests[which]);
        }
        if (count)
            MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        for (int pair = 0; pair < 3; pair++)
            if (pairs[pair] != MPI_COMM_NULL)
                MPI_Comm_free(&pairs[pair]);
    }
}

static void add(void *left, void *right, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)right)[2 * i] += ((int *)left)[2 * i];
}

/* Communicator, datatype and reduction are freed right after the start. */
static void early_frees(void)
{
    for (int round = 0; round < 10; round++) {
        MPI_Comm comm;
        MPI_Datatype type;
        MPI_Op op;
        MPI_Request requests[2];
        int mine[200], sum[200], all[64 * 2];
        for (int i = 0; i < 200; i++)
            mine[i] = i + rank, sum[i] = -1;
        memset(all, 0xff, sizeof all);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
        MPI_Type_commit(&type);
        MPI_Op_create(add, 1, &op);
        MPI_Iallreduce(mine, sum, 100, type, op, comm, &requests[0]);
        MPI_Iallgather(mine, 1, type, all, 1, type, comm, &requests[1]);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
        MPI_Comm_free(&comm);
        expect(op == MPI_OP_NULL && type == MPI_DATATYPE_NULL && comm == MPI_COMM_NULL,
               "a handle that was freed is not null");
        if (rank == 0)
            usleep(2000);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 100; i++)
            expect(sum[2 * i] == 2 * i * ranks + ranks * (ranks - 1) / 2 && sum[2 * i + 1] == -1,
                   "a wrong sum");
        for (int i = 0; i < ranks; i++)
            expect(all[2 * i] == i && all[2 * i + 1] == -1, "a wrong block");
    }
}

static void opposite_startalls(void)
{
    enum { COUNT = 40 };
    MPI_Request requests[COUNT], order[COUNT];
    int mine[COUNT], sum[COUNT];
    for (int i = 0; i < COUNT; i++)
        INIT(Allreduce)(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int cycle = 0; cycle < 5; cycle++) {
        for (int i = 0; i < COUNT; i++) {
            mine[i] = i + cycle;
            order[i] = requests[rank % 2 ? i : COUNT - 1 - i];
        }
        MPI_Startall(COUNT, order);
        MPI_Waitall(COUNT, order, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++)
            expect(sum[i] == ranks * (i + cycle), "a wrong sum");
    }
    for (int i = 0; i < COUNT; i++)
        MPI_Request_free(&requests[i]);
}

/* Messages and collectives are started together. */
static void startall_of_all_kinds(void)
{
    enum { RECEIVE, SUM, SEND, KINDS };
    MPI_Request requests[KINDS];
    MPI_Status statuses[KINDS];
    int incoming = -1, outgoing, mine, sum, left = (rank + ranks - 1) % ranks;
    MPI_Recv_init(&incoming, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &requests[RECEIVE]);
    INIT(Allreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[SUM]);
    MPI_Send_init(&outgoing, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD, &requests[SEND]);
    for (int round = 0; round < 20; round++) {
        int index;
        outgoing = 100 * round + rank, mine = round, sum = incoming = -1;
        MPI_Startall(KINDS, requests);
        for (int i = 0; i < KINDS && round % 2; i++)
            MPI_Waitany(KINDS, requests, &index, &statuses[0]);
        MPI_Waitall(KINDS, requests, statuses);
        expect(incoming == 100 * round + left && sum == ranks * round, "a wrong result");
        if (round % 2 == 0)
            expect(statuses[RECEIVE].MPI_SOURCE == left && statuses[RECEIVE].MPI_TAG == 7,
                   "a wrong status");
    }
    for (int i = 0; i < KINDS; i++)
        MPI_Request_free(&requests[i]);
}

static void init_and_free(void)
{
    MPI_Request request;
    int value = 0;
    for (int i = 0; i < 100; i++) {
        INIT(Bcast)(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Request_free(&request);
        expect(request == MPI_REQUEST_NULL, "a request that was freed is not null");
    }
}

/* Its end may just be told by a thread when it is started again. */
static void polled_and_started_again(void)
{
    enum { COUNT = 20000 };
    int mine = 0, sum;
    MPI_Request request;
    INIT(Allreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0, flag = 0; i < COUNT; i++, flag = 0) {
        mine = i;
        MPI_Start(&request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        expect(sum == ranks * i, "a wrong sum");
    }
    MPI_Request_free(&request);
}

/* One is outstanding from the first on. */
static void many_operations(void)
{
    enum { COUNT = 100000, AT_ONCE = 20 };
    MPI_Request first, requests[AT_ONCE];
    MPI_Comm comm;
    int mine[AT_ONCE], sum[AT_ONCE], early = rank, total = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Iallreduce(&early, &total, 1, MPI_INT, MPI_SUM, comm, &first);
    for (int done = 0; done < COUNT; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            mine[i] = done + i;
            MPI_Iallreduce(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
        }
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < AT_ONCE; i++)
            expect(sum[i] == ranks * (done + i), "a wrong sum");
    }
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    expect(total == ranks * (ranks - 1) / 2, "a wrong early sum");
    MPI_Comm_free(&comm);
}

static void is_empty(MPI_Status *status)
{
    int count = -1, cancelled = -1;
    MPI_Get_count(status, MPI_INT, &count);
    MPI_Test_cancelled(status, &cancelled);
    expect(count == 0 && cancelled == 0, "a status that is not empty");
}

/* That of a null or inactive request. */
static void is_of_none(MPI_Status *status)
{
    is_empty(status);
    expect(status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG,
           "a status of no message has a source or a tag");
}

static void nulls_and_inactive(void)
{
    MPI_Request requests[4], persistent;
    MPI_Status statuses[4];
    int index, flag, some, indices[4], one = 1, sum = 0, sums = 0;
    INIT(Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
    for (int cycle = 0; cycle < 6; cycle++) {
        MPI_Iallreduce(&one, &sums, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
        requests[0] = requests[3] = MPI_REQUEST_NULL;
        requests[1] = persistent;
        switch (cycle) {
        case 0:
            MPI_Waitany(4, requests, &index, &statuses[0]);
            expect(index == 2, "not the one that is active");
            break;
        case 1:
            MPI_Waitsome(4, requests, &some, indices, statuses);
            expect(some == 1 && indices[0] == 2, "not the one that is active");
            break;
        case 2:
            MPI_Waitall(4, requests, statuses);
            is_of_none(&statuses[0]), is_of_none(&statuses[1]), is_empty(&statuses[2]);
            break;
        case 3:
            do
                MPI_Testany(4, requests, &index, &flag, &statuses[0]);
            while (!flag);
            expect(index == 2, "not the one that is active");
            break;
        case 4:
            do
                MPI_Testsome(4, requests, &some, indices, statuses);
            while (some == 0);
            expect(some == 1 && indices[0] == 2, "not the one that is active");
            break;
        default:
            do
                MPI_Testall(4, requests, &flag, statuses);
            while (!flag);
        }
        expect(requests[2] == MPI_REQUEST_NULL && requests[1] == persistent, "handles");
        expect(sums == ranks, "a wrong sum");
        MPI_Wait(&persistent, &statuses[0]);
        is_of_none(&statuses[0]);
        MPI_Test(&persistent, &flag, &statuses[0]);
        expect(flag, "one that is inactive is not complete");
        is_of_none(&statuses[0]);
        MPI_Request_get_status(persistent, &flag, &statuses[0]);
        expect(flag, "one that is inactive is not complete");
        is_of_none(&statuses[0]);
        MPI_Waitany(4, requests, &index, &statuses[0]);
        expect(index == MPI_UNDEFINED, "one that is inactive was completed");
        MPI_Start(&persistent);
        MPI_Wait(&persistent, &statuses[0]);
        expect(sum == ranks, "a wrong sum of a persistent one");
        sum = sums = 0;
    }
    MPI_Request_free(&persistent);
}

static MPI_Comm of_thread[2];

static void *in_thread(void *number)
{
    int at = (int)(size_t)number, one = 1, sum;
    for (int i = 0; i < 2000; i++) {
        MPI_Request request;
        MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, of_thread[at], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(sum == ranks, "a wrong sum");
    }
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[1]);
    pthread_create(&other, NULL, in_thread, (void *)1);
    in_thread((void *)0);
    pthread_join(other, NULL);
    MPI_Comm_free(&of_thread[0]);
    MPI_Comm_free(&of_thread[1]);
}

enum { OF_THREADS = 200 };
static MPI_Request of_both[2];
static pthread_barrier_t both_started, both_complete;

static void *completes_the_other(void *unused)
{
    for (int i = 0; i < 2 * OF_THREADS; i++) {
        pthread_barrier_wait(&both_started);
        MPI_Wait(&of_both[1], MPI_STATUS_IGNORE);
        pthread_barrier_wait(&both_complete);
    }
    return unused;
}

/* One thread starts two on one communicator, and two threads complete one each: at last those of
 * persistent requests. */
static void threads_of_one_communicator(void)
{
    pthread_t other;
    int mine[2], sums[2];
    MPI_Request persistent[2];
    pthread_barrier_init(&both_started, NULL, 2);
    pthread_barrier_init(&both_complete, NULL, 2);
    for (int i = 0; i < 2; i++)
        INIT(Allreduce)(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent[i]);
    pthread_create(&other, NULL, completes_the_other, NULL);
    for (int round = 0; round < 2 * OF_THREADS; round++) {
        mine[0] = round, mine[1] = -round;
        if (round < OF_THREADS)
            for (int i = 0; i < 2; i++)
                MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &of_both[i]);
        else {
            memcpy(of_both, persistent, sizeof of_both);
            MPI_Startall(2, of_both);
        }
        pthread_barrier_wait(&both_started);
        MPI_Wait(&of_both[0], MPI_STATUS_IGNORE);
        pthread_barrier_wait(&both_complete);
        expect(sums[0] == ranks * round && sums[1] == -ranks * round, "a wrong sum");
    }
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++)
        MPI_Request_free(&persistent[i]);
}

static void look_before_wait(void)
{
    MPI_Request request;
    MPI_Status status;
    int flag = 0, one = 1, sum = 0;
    MPI_Iscan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    while (!flag)
        MPI_Request_get_status(request, &flag, &status);
    is_empty(&status);
    expect(sum == rank + 1, "a wrong sum");
    expect(request != MPI_REQUEST_NULL, "a look has freed the request");
    MPI_Wait(&request, &status);
    expect(request == MPI_REQUEST_NULL, "the request is not null");
}

/* From MPI 4.1 on a program may look at several. */
static void look_at_several(void)
{
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    MPI_Request requests[2];
    MPI_Status statuses[2];
    for (int way = 0; way < 3; way++) {
        int flag = 0, index = -1, some = 0, indices[2], mine = rank, sums[2] = {0, 0};
        for (int i = 0; i < 2; i++)
            MPI_Iallreduce(&mine, &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
        while (way == 0 && !flag)
            MPI_Request_get_status_any(2, requests, &index, &flag, statuses);
        while (way == 1 && !flag)
            MPI_Request_get_status_all(2, requests, &flag, statuses);
        while (way == 2 && some < 2)
            MPI_Request_get_status_some(2, requests, &some, indices, statuses);
        is_empty(&statuses[0]);
        expect(way != 0 || sums[index] == ranks * (ranks - 1) / 2, "a wrong sum");
        expect(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL,
               "a look has freed a request");
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        expect(sums[0] == sums[1] && sums[0] == ranks * (ranks - 1) / 2, "a wrong sum");
    }
#endif
}

/* Ranks end MPI as soon as theirs is complete, before those behind them have begun to complete
 * theirs: nothing is called in between. */
static void finalize_at_once(void)
{
    enum { LENGTH = 100000 };
    static int data[LENGTH];
    MPI_Request request;
    for (int i = 0; i < LENGTH; i++)
        data[i] = rank == 0 ? i : -1;
    MPI_Ibcast(data, LENGTH, MPI_INT, 0, MPI_COMM_WORLD, &request);
    usleep(rank * 50000);
    if (rank == 0)
        printf("finalize-at-once ok\n");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    for (int i = 0; i < LENGTH; i++)
        expect(data[i] == i, "wrong data");
    exit(wrong != 0);
}

/* Errors of the program: nothing else may suffer. */
static void cancel_and_free(void)
{
    MPI_Request request, other;
    MPI_Status status;
    int one = 1, sum = 0, all = 0, flag;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &other);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    expect(!flag && sum == ranks, "a collective was cancelled");
    sum = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Wait(&other, &status);
    expect(all == ranks, "a wrong sum");
    for (int i = 0; i < 100; i++) {
        MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(all == ranks, "a wrong sum");
    }
}

/* The same with a persistent one that is under way. */
static void cancel_and_free_active(void)
{
    MPI_Request request;
    MPI_Status status;
    int one = 1, sum = 0, all = 0, flag;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    INIT(Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3; round++) {
        sum = 0;
        MPI_Start(&request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        expect(!flag && sum == ranks, "a collective was cancelled");
    }
    MPI_Start(&request);
    MPI_Request_free(&request);
    for (int i = 0; i < 100; i++) {
        MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(all == ranks, "a wrong sum");
    }
}

/* An argument is wrong on one rank where a persistent request is made, which may wait for others:
 * that rank is told, and all can go on. */
static void wrong_init(void)
{
    MPI_Comm comm;
    MPI_Request request = MPI_REQUEST_NULL;
    int *counts = malloc(ranks * sizeof *counts), *places = malloc(ranks * sizeof *places);
    int *sent = calloc(ranks, sizeof *sent), *taken = calloc(ranks, sizeof *taken), code, sum = 0;
    for (int i = 0; i < ranks; i++)
        counts[i] = 1, places[i] = i;
    if (rank == ranks - 1)
        counts[0] = -1;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = INIT(Alltoallv)(sent, counts, places, MPI_INT, taken, counts, places, MPI_INT, comm,
                           MPI_INFO_NULL, &request);
    expect((code == MPI_SUCCESS) == (rank < ranks - 1), "not the rank that is wrong was told");
    if (code == MPI_SUCCESS)
        MPI_Request_free(&request);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sum == ranks * (ranks - 1) / 2, "a wrong sum");
    free(counts), free(places), free(sent), free(taken);
}

static MPI_Comm handled_comm;
static int handled, handled_class;

static void handle(MPI_Comm *comm, int *code, ...)
{
    handled_comm = *comm, handled++;
    MPI_Error_class(*code, &handled_class);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

/* Completes request 1 of an array, in one way or another: the class of the error, which is in the
 * status where several may be completed. */
static int fails(MPI_Request *requests, int way)
{
    MPI_Status statuses[3];
    int flag = 0, index = 1, some = 0, indices[3] = {0, 1, 2}, code = MPI_SUCCESS, place = 1;
    for (int i = 0; i < 3; i++)
        statuses[i].MPI_ERROR = MPI_ERR_OTHER;
    switch (way) {
    case 0: return class_of(MPI_Wait(&requests[1], statuses));
    case 1: return class_of(MPI_Waitany(3, requests, &index, statuses));
    case 2:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Test(&requests[1], &flag, statuses);
        return class_of(code);
    case 3:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Testany(3, requests, &index, &flag, statuses);
        return class_of(code);
    case 4: code = MPI_Waitall(3, requests, statuses); break;
    case 5:
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Testall(3, requests, &flag, statuses);
        break;
    case 6: code = MPI_Waitsome(3, requests, &some, indices, statuses), place = 0; break;
    default:
        while (some == 0 && code == MPI_SUCCESS)
            code = MPI_Testsome(3, requests, &some, indices, statuses);
        place = 0;
    }
    expect(class_of(code) == MPI_ERR_IN_STATUS, "several were completed: the error is in a status");
    expect(indices[place] == 1, "not the one that failed");
    for (int i = 0; i < 3 && place == 1; i++)
        expect(i == 1 || statuses[i].MPI_ERROR == MPI_SUCCESS, "another one has failed");
    return class_of(statuses[place].MPI_ERROR);
}

/* A broadcast is longer than the buffer of the last rank, which is told of that where it completes
 * it; others are not concerned. The world's handler, which would end the job, is not asked. */
static void failing(void)
{
    enum { LENGTH = 100, WAYS = 8 };
    int data[LENGTH], last = ranks - 1, count = rank == last ? LENGTH / 2 : LENGTH;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler);
    for (int way = 0; way < 2 * WAYS; way++) {
        int is_persistent = way >= WAYS, class;
        MPI_Comm comm;
        MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, handler);
        handled = 0;
        for (int i = 0; i < LENGTH; i++)
            data[i] = rank == 0 ? i : -1;
        if (is_persistent) {
            INIT(Bcast)(data, count, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
            MPI_Start(&requests[1]);
        } else {
            MPI_Ibcast(data, count, MPI_INT, 0, comm, &requests[1]);
        }
        if (rank == last) {
            class = fails(requests, way % WAYS);
            expect(class == MPI_ERR_TRUNCATE, "not the error that the message is too long");
            expect(handled == 1 && handled_comm == comm && handled_class == MPI_ERR_TRUNCATE,
                   "the communicator's handler was not called once");
        } else {
            expect(MPI_Wait(&requests[1], MPI_STATUS_IGNORE) == MPI_SUCCESS && !handled, "an error");
            expect(data[LENGTH - 1] == LENGTH - 1, "wrong data");
        }
        expect(is_persistent == (requests[1] != MPI_REQUEST_NULL), "a request");
        if (is_persistent)
            MPI_Request_free(&requests[1]);
        MPI_Comm_free(&comm);
    }
    MPI_Errhandler_free(&handler);
}

/* An argument is wrong on one rank, which is told; the others can't go on. */
static void wrong_argument(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int one = 1, sum = 0, code;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == ranks - 1) {
        code = MPI_Iallreduce(&one, &sum, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        expect(code != MPI_SUCCESS, "a negative count was taken");
    } else {
        code = MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        expect(code == MPI_SUCCESS, "a right call was refused");
    }
    if (rank == 0)
        printf("wrong-argument %s\n", wrong ? "wrong" : "ok");
    fflush(stdout);
    usleep(300000);
    /* What was started can't end. */
    MPI_Send(&one, 0, MPI_INT, (rank + 1) % ranks, 9, MPI_COMM_WORLD);
    MPI_Recv(&one, 0, MPI_INT, (rank + ranks - 1) % ranks, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Abort(MPI_COMM_WORLD, 0);
}

/* Along a chain of ranks a rank passes data on while it is in something that ends when the next
 * rank has them. */
enum inside { RECV, PROBE, MPROBE, WAITANY, SSEND, BARRIER, DUP, SPLIT, FENCE, LOCK, OPEN, INSIDES };

static void passes_on_inside(enum inside what, int length)
{
    MPI_Request request, other[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Comm comm, made = MPI_COMM_NULL;
    MPI_Message message;
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file;
    int *data = malloc((size_t)length * sizeof *data), token = 0, index, last = ranks - 1, *memory;
    int waits = rank == last - 1, releases = rank == last;
    char name[] = "started_cases.data";
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (what == FENCE || what == LOCK)
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    if (what == LOCK && releases)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    if (what == LOCK)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < length; i++)
        data[i] = rank == 0 ? i : -1;
    MPI_Ibcast(data, length, MPI_INT, 0, comm, &request);
    if (releases)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    switch (what) {
    case RECV: case PROBE: case MPROBE: case WAITANY:
        if (releases)
            MPI_Send(&token, 1, MPI_INT, last - 1, 5, MPI_COMM_WORLD);
        if (waits && what == PROBE)
            MPI_Probe(last, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (waits && what == MPROBE) {
            MPI_Mprobe(last, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&token, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else if (waits && what == WAITANY) {
            MPI_Irecv(&token, 1, MPI_INT, last, 5, MPI_COMM_WORLD, &other[1]);
            MPI_Waitany(2, other, &index, MPI_STATUS_IGNORE);
        } else if (waits) {
            MPI_Recv(&token, 1, MPI_INT, last, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        break;
    case SSEND:
        if (waits)
            MPI_Ssend(&token, 1, MPI_INT, last, 5, MPI_COMM_WORLD);
        if (releases)
            MPI_Recv(&token, 1, MPI_INT, last - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case DUP: MPI_Comm_dup(MPI_COMM_WORLD, &made); break;
    case SPLIT: MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &made); break;
    case FENCE: MPI_Win_fence(0, window); break;
    case LOCK:
        if (releases)
            MPI_Win_unlock(0, window);
        if (waits) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
            MPI_Win_unlock(0, window);
        }
        break;
    case OPEN:
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file);
        break;
    default: break;
    }
    if (!releases)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < length; i++)
        expect(data[i] == i, "wrong data");
    if (what == OPEN)
        MPI_File_close(&file);
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    MPI_Comm_free(&comm);
    free(data);
}

/* The same while a rank waits for a connection, which the next rank makes when it has them. */
static void passes_on_accepting(void)
{
    enum { LENGTH = 300000 };
    static int data[LENGTH];
    char port[MPI_MAX_PORT_NAME];
    int last = ranks - 1;
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Request request;
    if (rank == last - 1) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, last, 6, MPI_COMM_WORLD);
    } else if (rank == last) {
        MPI_Recv(port, sizeof port, MPI_CHAR, last - 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < LENGTH; i++)
        data[i] = rank == 0 ? i : -1;
    MPI_Ibcast(data, LENGTH, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (rank == last - 1)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == last)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    for (int i = 0; i < LENGTH; i++)
        expect(data[i] == i, "wrong data");
    if (other != MPI_COMM_NULL)
        MPI_Comm_disconnect(&other);
    if (rank == last - 1)
        MPI_Close_port(port);
}

static void passes_on_in_all_but(enum inside left_out)
{
    for (int what = 0; what < INSIDES; what++)
        for (int length = 1; length <= 300000 && what != (int)left_out; length += 299999) {
            alarm(30);
            passes_on_inside((enum inside)what, length);
        }
}

static void passes_on(void)
{
    passes_on_in_all_but(INSIDES);
}

static void passes_on_without_locks(void)
{
    passes_on_in_all_but(LOCK);
}

/* The same while a rank is in no call of the MPI until the next rank has them. */
static void passes_on_outside(void)
{
    enum { LONG = 300000 };
    static int data[LONG];
    for (int length = 1; length <= LONG; length += LONG - 1) {
        char name[64], next[64];
        MPI_Request request;
        FILE *file;
        snprintf(name, sizeof name, "passed.%d.%d", length, rank);
        snprintf(next, sizeof next, "passed.%d.%d", length, rank + 1);
        for (int i = 0; i < length; i++)
            data[i] = rank == 0 ? i : -1;
        MPI_Ibcast(data, length, MPI_INT, 0, MPI_COMM_WORLD, &request);
        while (rank < ranks - 1 && access(next, F_OK) != 0)
            usleep(1000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < length; i++)
            expect(data[i] == i, "wrong data");
        file = fopen(name, "w");
        expect(file && fclose(file) == 0, "no file");
    }
}

/* What one rank passes on is under way when another has begun thousands of others. */
static void passes_on_among_many(void)
{
    enum { COUNT = 2000 };
    static MPI_Request requests[COUNT];
    static int data[COUNT][8];
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < 8; j++)
            data[i][j] = rank == i % ranks ? i + j : -1;
        MPI_Ibcast(data[i], 8, MPI_INT, i % ranks, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank == 1)
        usleep(20000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < 8; j++)
            expect(data[i][j] == i + j, "wrong data");
}

/* Ints of a block: a size for each pair of ranks, none for some. */
static int block(int from, int to)
{
    return (3 * from + 5 * to) % 7;
}

/* A request for a total exchange of uneven blocks that is started again and again, and a gather of
 * uneven blocks that is started once. Counts and displacements are overwritten while they are under
 * way, as temporaries of a Fortran program are. */
static void uneven_requests(void)
{
    enum { MOST = 6, ROUNDS = 3 };
    int *sent = calloc(ranks * MOST, sizeof *sent), *taken = calloc(ranks * MOST, sizeof *taken);
    int *arrays = calloc(4 * ranks, sizeof *arrays);
    int *given = arrays, *got = arrays + ranks, *to = got + ranks, *from = to + ranks;
    MPI_Request request;
    for (int other = 0; other < ranks; other++) {
        given[other] = block(rank, other), got[other] = block(other, rank);
        to[other] = from[other] = other * MOST;
    }
    INIT(Alltoallv)(sent, given, to, MPI_INT, taken, got, from, MPI_INT, MPI_COMM_WORLD,
                    MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ranks * MOST; i++)
            sent[i] = round * 10000 + rank * 1000 + i, taken[i] = -1;
        MPI_Start(&request);
        if (round == ROUNDS - 1)
            memset(arrays, 0xff, 4 * ranks * sizeof *arrays);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int other = 0; other < ranks; other++)
            for (int i = 0; i < MOST; i++) {
                int right = round * 10000 + other * 1000 + rank * MOST + i;
                expect(taken[other * MOST + i] == (i < block(other, rank) ? right : -1), "a wrong block");
            }
    }
    MPI_Request_free(&request);
    for (int other = 0; other < ranks; other++)
        got[other] = block(other, 0), from[other] = other * MOST;
    MPI_Igatherv(sent, block(rank, 0), MPI_INT, taken, got, from, MPI_INT, 0, MPI_COMM_WORLD,
                 &request);
    memset(arrays, 0xff, 4 * ranks * sizeof *arrays);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int other = 0; other < ranks && rank == 0; other++)
        for (int i = 0; i < block(other, 0); i++)
            expect(taken[other * MOST + i] == (ROUNDS - 1) * 10000 + other * 1000 + i, "a gather");
    free(sent), free(taken), free(arrays);
}

/* More communicators than an MPI has at once, each freed while its sum is under way. */
static void many_communicators(void)
{
    enum { COUNT = 3000, AT_ONCE = 3 };
    MPI_Request requests[AT_ONCE];
    int mine[AT_ONCE], sums[AT_ONCE];
    for (int i = 0; i < COUNT + AT_ONCE; i++) {
        int at = i % AT_ONCE;
        MPI_Comm comm;
        if (i >= AT_ONCE) {
            MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
            expect(sums[at] == ranks * (i - AT_ONCE), "a wrong sum");
        }
        if (i >= COUNT)
            continue;
        mine[at] = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Iallreduce(&mine[at], &sums[at], 1, MPI_INT, MPI_SUM, comm, &requests[at]);
        MPI_Comm_free(&comm);
    }
}

/* More persistent requests than have tags of their own: the others are the MPI's. Those that have
 * are started. */
static void many_persistent(void)
{
    enum { COUNT = 17000, OURS = 16000, STEP = 160 };
    static MPI_Request requests[COUNT];
    static int data[COUNT];
    for (int i = 0; i < COUNT; i++)
        INIT(Bcast)(&data[i], 1, MPI_INT, i % ranks, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]);
    for (int first = 0; first < OURS; first += STEP) {
        for (int i = first; i < first + STEP; i++)
            data[i] = rank == i % ranks ? i : -1;
        MPI_Startall(STEP, &requests[first]);
        MPI_Waitall(STEP, &requests[first], MPI_STATUSES_IGNORE);
        for (int i = first; i < first + STEP; i++)
            expect(data[i] == i, "a wrong value");
    }
    for (int i = 0; i < COUNT; i++)
        MPI_Request_free(&requests[i]);
}

/* Broadcasts are started behind one that is under way until there are no more tags: the call is
 * refused, and what was started before it ends. */
static void more_than_tags(void)
{
    enum { MOST = 1 << 17 };
    MPI_Comm comm;
    MPI_Request first, request;
    int late = rank == 1 ? 42 : -1, value = 0, count = 0, code = MPI_SUCCESS;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Ibcast(&late, 1, MPI_INT, 1, comm, &first);
        while (count < MOST) {
            value = count;
            code = MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request);
            if (code != MPI_SUCCESS)
                break;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            count++;
        }
        expect(code != MPI_SUCCESS && count > 1000, "no call was refused");
        for (int to = 1; to < ranks; to++)
            MPI_Send(&count, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&count, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibcast(&late, 1, MPI_INT, 1, comm, &first);
    }
    for (int i = 0; i < count && rank > 0; i++) {
        MPI_Ibcast(&value, 1, MPI_INT, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(value == i, "a wrong value");
    }
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    expect(late == 42, "a wrong value");
    MPI_Comm_free(&comm);
}

static const struct { const char *name; void (*run)(void); } cases[] = {
    {"barrier-and-receive", barrier_and_receive},
    {"long-sum-and-receive", long_sum_and_receive},
    {"opposite-orders", opposite_orders},
    {"ring-of-communicators", ring_of_communicators},
    {"early-frees", early_frees},
    {"opposite-startalls", opposite_startalls},
    {"startall-of-all-kinds", startall_of_all_kinds},
    {"init-and-free", init_and_free},
    {"polled-and-started-again", polled_and_started_again},
    {"many-operations", many_operations},
    {"nulls-and-inactive", nulls_and_inactive},
    {"threads", threads},
    {"threads-of-one-communicator", threads_of_one_communicator},
    {"look-before-wait", look_before_wait},
    {"look-at-several", look_at_several},
    {"finalize-at-once", finalize_at_once},
    {"cancel-and-free", cancel_and_free},
    {"cancel-and-free-active", cancel_and_free_active},
    {"wrong-argument", wrong_argument},
    {"wrong-init", wrong_init},
    {"failing", failing},
    {"passes-on", passes_on},
    {"passes-on-without-locks", passes_on_without_locks},
    {"passes-on-accepting", passes_on_accepting},
    {"passes-on-outside", passes_on_outside},
    {"passes-on-among-many", passes_on_among_many},
    {"many-communicators", many_communicators},
    {"uneven-requests", uneven_requests},
    {"many-persistent", many_persistent},
    {"more-than-tags", more_than_tags},
};

int main(int argc, char **argv)
{
    int provided, sum = 0, wants_threads = 0;
    if (argc > 1)
        wants_threads = !strncmp(argv[1], "threads", 7) || !strcmp(argv[1], "multiple");
    MPI_Init_thread(&argc, &argv, wants_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int word = 1; word < argc; word++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (strcmp(argv[word], cases[i].name) == 0) {
                alarm(60);
                cases[i].run();
                MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
                if (rank == 0)
                    printf("%s %s\n", argv[word], sum ? "wrong" : "ok");
            }
    MPI_Finalize();
    return 0;
}
