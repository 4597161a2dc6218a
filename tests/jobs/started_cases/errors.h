/* Errors of the program: what is cancelled or freed too early, wrong arguments, and messages that
 * are too long. */

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
