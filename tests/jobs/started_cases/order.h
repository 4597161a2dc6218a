/* What a rank does between start and completion: it waits for others, starts things in another
 * order than they do, and frees what it started them with. */

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
