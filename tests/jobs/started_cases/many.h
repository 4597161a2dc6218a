/* Requests of uneven blocks, and more communicators, persistent requests and operations under way
 * than an MPI has room for or there are tags. */

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
