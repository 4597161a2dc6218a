/* Completion of all of them, by each procedure in turn. */
static void wait_each(void)
{
    for (int at = 0; at < used; at++)
        MPI_Wait(&requests[at], MPI_STATUS_IGNORE);
}
static void wait_all(void)
{
    MPI_Status statuses[MOST];
    MPI_Waitall(used, requests, statuses);
}
static void wait_any(void)
{
    MPI_Status status;
    for (int at, left_over = used; left_over > 0; left_over--)
        MPI_Waitany(used, requests, &at, &status);
}
static void wait_some(void)
{
    int done, which[MOST];
    for (int left_over = used; left_over > 0; left_over -= done)
        MPI_Waitsome(used, requests, &done, which, MPI_STATUSES_IGNORE);
}
static void test_each(void)
{
    for (int at = 0, flag; at < used; at++) {
        do {
            MPI_Request_get_status(requests[at], &flag, MPI_STATUS_IGNORE);
        } while (!flag);
        do {
            MPI_Status status;
            MPI_Test(&requests[at], &flag, &status);
        } while (!flag);
    }
}
static void test_all(void)
{
    int flag;
    do {
        MPI_Testall(used, requests, &flag, MPI_STATUSES_IGNORE);
    } while (!flag);
}
static void test_any(void)
{
    for (int at, flag, left_over = used; left_over > 0; left_over -= flag)
        MPI_Testany(used, requests, &at, &flag, MPI_STATUS_IGNORE);
}
static void test_some(void)
{
    MPI_Status statuses[MOST];
    int done, which[MOST];
    for (int left_over = used; left_over > 0; left_over -= done)
        MPI_Testsome(used, requests, &done, which, statuses);
}
#if MPI_VERSION >= 5
static void look_then_wait(void)
{
    int flag, at, done, which[MOST];
    do {
        MPI_Request_get_status_any(used, requests, &at, &flag, MPI_STATUS_IGNORE);
        MPI_Request_get_status_some(used, requests, &done, which, MPI_STATUSES_IGNORE);
        MPI_Request_get_status_all(used, requests, &flag, MPI_STATUSES_IGNORE);
    } while (!flag);
    wait_all();
}
#endif

static void (*const completions[])(void) = {
    wait_each, wait_all, wait_any, wait_some, test_each, test_all, test_any, test_some,
#if MPI_VERSION >= 5
    look_then_wait,
#endif
};

enum { COMPLETIONS = sizeof completions / sizeof *completions, UNTIL_TESTALL = 5 };
