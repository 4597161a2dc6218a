/* Requests: started together with those of messages, freed, started again, many of them one behind
 * the other, null, and inactive. */

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
