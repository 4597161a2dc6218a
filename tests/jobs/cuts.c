/* A job for waves, of the kind that its argument says:
 *
 *     cuts KIND ROUNDS [DIRECTORY [SEED]]
 *
 * traffic     random messages and collectives of all kinds that a cut includes, the same in each
 *             run with this seed; prints a hash of what each rank received from each other. At SIGUSR1 a
 *             rank writes what it has sent to and received from each into DIRECTORY
 * leak        rank 0 sends a message that nobody receives, rank 1 begins a receive that nothing
 *             comes for; then barriers
 * window      a window in use, then barriers
 * threads     a second thread of rank 1 calls MPI, too; then barriers
 * isendrecv, cancel, free, prepared    one such call, then barriers: MPI_Isendrecv, MPI_Cancel,
 *             MPI_Request_free of a receive under way, a persistent barrier
 * one-sided   puts within fences all the time
 * asleep      rank 1 sleeps for a second each round, the others wait for its message
 * still       rank 1 sleeps for ROUNDS seconds before it receives a message, the others wait for it
 * communicators  copies and frees of communicators, and nothing else */

#include <fcntl.h>
#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RANKS = 16, LARGE = 1 << 18 };

static int rank, size;
static const char *directory = ".";
static volatile uint64_t sent[MOST_RANKS], received[MOST_RANKS];
static uint64_t hashes[MOST_RANKS];
static uint64_t state = 88172645463325252u;
static char *out, *in;
/* 16 pieces of 4 bytes, from one to the next 8. */
static MPI_Datatype strided;
enum { STRIDED = 15 * 8 + 4 };

/* The same numbers on all ranks. */
static unsigned random_below(unsigned bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 11) % bound;
}

static void pause_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* Only what a handler may call. */
static void write_counts(int number)
{
    static int times;
    char hidden[512], shown[512];
    (void)number;
    snprintf(hidden, sizeof hidden, "%s/.%d", directory, rank);
    snprintf(shown, sizeof shown, "%s/%d.%d", directory, ++times, rank);
    int file = open(hidden, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    ssize_t written = write(file, (const void *)sent, sizeof sent);
    written += write(file, (const void *)received, sizeof received);
    close(file);
    if (written == sizeof sent + sizeof received)
        rename(hidden, shown);
}

static void fill(int round, int to, int bytes)
{
    for (int at = 0; at < bytes; at++)
        out[at] = (char)(31 * round + 7 * to + at);
}

/* Messages are counted right behind the call that sends or receives them: a rank may be stopped
 * before the next one. What was received is in `in`. */
static void take(int from, int bytes)
{
    received[from]++;
    for (int at = 0; at < bytes; at++)
        hashes[from] = (hashes[from] ^ (unsigned char)in[at]) * 1099511628211u;
}

static void send_message(int way, int to, int bytes, int tag)
{
    MPI_Request request;
    if (way == 0) {
        MPI_Send(out, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
        sent[to]++;
    } else if (way == 1) {
        MPI_Ssend(out, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
        sent[to]++;
    } else if (way == 2) {
        MPI_Send_init(out, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        sent[to]++;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else {
        MPI_Isend(out, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request);
        sent[to]++;
        int done = 0;
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static void receive_message(int way, int from, int bytes, int tag)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    int flag = 0;
    switch (way) {
    case 0:
        MPI_Recv(in, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Recv(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(in, bytes, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        break;
    case 3:
        while (!flag)
            MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, &status);
        MPI_Irecv(in, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, &request);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        break;
    case 4:
        MPI_Recv_init(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        while (!flag)
            MPI_Testany(1, &request, &way, &flag, MPI_STATUS_IGNORE);
        take(from, bytes);
        MPI_Request_free(&request);
        return;
    default:
        MPI_Irecv(in, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
    }
    take(from, bytes);
}

/* A message from one rank to another; each with a tag of its own, so that a wildcard takes no
 * other: ranks are some rounds apart. */
static void message(int round, int tag)
{
    int from = (int)random_below((unsigned)size);
    int to = (from + 1 + (int)random_below((unsigned)size - 1)) % size;
    int bytes = random_below(8) == 0 ? LARGE : (int)random_below(200);
    int send_way = (int)random_below(4), receive_way = (int)random_below(6);
    fill(round, to, bytes);
    if (rank == from)
        send_message(send_way, to, bytes, tag);
    if (rank == to)
        receive_message(receive_way, from, bytes, tag);
}

static void ring(int round)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2];
    fill(round, right, STRIDED);
    memset(in, 0, STRIDED);
    if (round % 2) {
        MPI_Sendrecv(out, 64, MPI_CHAR, right, 1, in, 1, strided, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sent[right]++;
    } else {
        MPI_Irecv(in, 64, MPI_CHAR, left, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 1, strided, right, 2, MPI_COMM_WORLD, &requests[1]);
        sent[right]++;
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    take(left, STRIDED);
}

static void collective(void)
{
    int one = 1, sum = 0;
    MPI_Comm copy;
    MPI_Request request;
    switch (random_below(5)) {
    case 0:
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Bcast(&one, 1, MPI_INT, (int)random_below((unsigned)size), MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &copy);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
        MPI_Comm_free(&copy);
        break;
    case 3:
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* In every third round a collective is under way for as long as the round takes. */
static void traffic(int rounds)
{
    int one = 1, sum = 0;
    for (int round = 0; round < rounds; round++) {
        MPI_Request beside = MPI_REQUEST_NULL;
        if (round % 3 == 0)
            MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &beside);
        for (int number = 0; number < 6; number++)
            message(round, 10 + (6 * round + number) % 30000);
        ring(round);
        if (random_below(3) == 0)
            collective();
        MPI_Wait(&beside, MPI_STATUS_IGNORE);
        unsigned who = random_below((unsigned)size), long_one = random_below(50) == 0;
        if (rank == (int)who)
            pause_for(long_one ? 0.05 : 0.001);
    }
    uint64_t all[MOST_RANKS * MOST_RANKS];
    MPI_Gather(hashes, size, MPI_UINT64_T, all, size, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int pair = 0; rank == 0 && pair < size * size; pair++)
        printf("%d to %d: %016llx\n", pair % size, pair / size, (unsigned long long)all[pair]);
}

static void barriers(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        pause_for(0.01);
    }
}

static void leak(int rounds)
{
    static int never;
    MPI_Request request;
    if (rank == 0)
        MPI_Send(out, 24, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Irecv(&never, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
    barriers(rounds);
}

static void window(int rounds)
{
    MPI_Win made;
    MPI_Win_create(in, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    barriers(rounds);
    MPI_Win_free(&made);
}

static void one_sided(int rounds)
{
    MPI_Win made;
    MPI_Win_create(in, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
    for (int round = 0; round < rounds; round++) {
        MPI_Win_fence(0, made);
        MPI_Put(out, 8, MPI_CHAR, (rank + 1) % size, 0, 8, MPI_CHAR, made);
        MPI_Win_fence(0, made);
        pause_for(0.005);
    }
    MPI_Win_free(&made);
}

static void isendrecv(int rounds)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Isendrecv(out, 8, MPI_CHAR, (rank + 1) % size, 8, in, 8, MPI_CHAR, (rank + size - 1) % size,
                  8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    barriers(rounds);
}

static void cancel(int rounds)
{
    MPI_Request request;
    MPI_Irecv(in, 8, MPI_CHAR, (rank + 1) % size, 8, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    barriers(rounds);
}

static void free_receive(int rounds)
{
    MPI_Request request;
    MPI_Irecv(in, 8, MPI_CHAR, (rank + size - 1) % size, 8, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Send(out, 8, MPI_CHAR, (rank + 1) % size, 8, MPI_COMM_WORLD);
    barriers(rounds);
}

static void prepared(int rounds)
{
    MPI_Request request;
    INIT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    barriers(rounds);
}

static void *second(void *unused)
{
    for (int round = 0; round < 100; round++) {
        MPI_Sendrecv(out, 8, MPI_CHAR, 0, 7, in, 8, MPI_CHAR, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        pause_for(0.01);
    }
    return unused;
}

static void threads(int rounds)
{
    pthread_t thread;
    if (rank == 1)
        pthread_create(&thread, NULL, second, NULL);
    barriers(rounds);
    if (rank == 1)
        pthread_join(thread, NULL);
}

static void asleep(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        if (rank == 1) {
            pause_for(1);
            for (int to = 0; to < size; to++)
                if (to != 1)
                    MPI_Send(out, 8, MPI_CHAR, to, 5, MPI_COMM_WORLD);
        } else {
            MPI_Recv(in, 8, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void still(int seconds)
{
    if (rank == 0)
        MPI_Send(out, 24, MPI_CHAR, 1, 3, MPI_COMM_WORLD);
    if (rank == 1) {
        pause_for(seconds);
        MPI_Recv(in, 24, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void communicators(int rounds)
{
    for (int round = 0; round < rounds; round++) {
        MPI_Comm copy, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Comm_split(copy, rank % 2, rank, &part);
        MPI_Comm_free(&copy);
        MPI_Comm_free(&part);
        pause_for(0.002);
    }
}

static const struct {
    const char *name;
    void (*run)(int rounds);
} kinds[] = {
    {"traffic", traffic},     {"leak", leak},         {"window", window},
    {"one-sided", one_sided}, {"threads", threads},   {"isendrecv", isendrecv},
    {"cancel", cancel},       {"free", free_receive}, {"prepared", prepared},
    {"asleep", asleep},       {"still", still},       {"communicators", communicators},
};

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (argc > 3)
        directory = argv[3];
    if (argc > 4)
        state ^= strtoull(argv[4], NULL, 10) * 0x9e3779b97f4a7c15u;
    int wanted = strcmp(kind, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signal(SIGUSR1, write_counts);
    out = calloc(1, LARGE);
    in = calloc(1, LARGE);
    MPI_Type_vector(16, 4, 8, MPI_CHAR, &strided);
    MPI_Type_commit(&strided);
    for (size_t at = 0; at < sizeof kinds / sizeof *kinds; at++)
        if (strcmp(kind, kinds[at].name) == 0)
            kinds[at].run(rounds);
    MPI_Type_free(&strided);
    MPI_Finalize();
    if (rank == 0)
        puts("ended well");
    return 0;
}
