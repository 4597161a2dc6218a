/* A rank passes on what was started while it is inside something else: a call that waits, work of
 * its own, or thousands of other collectives. */

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
