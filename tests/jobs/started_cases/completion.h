/* Who completes what was started, and when: threads, a rank that looks first, and one that ends
 * MPI right after. */

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

/* A long sum that its root starts first, and tests now and then. */
static void tested_now_and_then(void)
{
    enum { COUNT = 1 << 20, MOST = 40 };
    int *mine = malloc(COUNT * sizeof *mine), *sums = malloc(COUNT * sizeof *sums);
    int is_complete = 0, tests = 0;
    MPI_Request request;
    for (int i = 0; i < COUNT; i++)
        mine[i] = rank + i;
    if (rank != 0)
        usleep(100000);
    MPI_Ireduce(mine, sums, COUNT, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request);
    if (rank != 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (; rank == 0 && !is_complete; tests++) {
        usleep(20000);
        MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < COUNT && rank == 0; i++)
        expect(sums[i] == ranks * (ranks - 1) / 2 + ranks * i, "a wrong sum");
    expect(tests <= MOST, "more tests than that takes");
    free(mine), free(sums);
}
