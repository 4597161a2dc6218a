/* Starts and completes a request by each procedure of the MPI that does so:
 *
 *     requests KEEPING
 *
 * keep     the communicator of each lives until its requests are complete
 * free     it is freed as soon as they have begun, as MPI allows; those of collectives live on,
 *          since Open MPI's own crash otherwise
 * reuse    it is freed, and another one is made meanwhile, in which ranks are reversed: an MPI
 *          may give that the same handle. Without messages that a cut does not count
 *
 * Each rank exchanges with both neighbours in a ring, and checks all that it receives. Rank 0
 * prints the number of requests. */

#include <mpi.h>
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name##_init
#else
#define INIT(name) MPI_##name##_init
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, ELEMENTS = 3, MOST_RANKS = 16 };

static int rank, size, left, right;
static int out[MOST_RANKS * ELEMENTS], in[MOST_RANKS * ELEMENTS];
static int counts[MOST_RANKS], starts[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static MPI_Request requests[MOST];
static int used;
static long completed;
static const char *keeping, *doing;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "rank %d: %s, %s: %s\n", rank, doing, keeping, what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static MPI_Request *next(void)
{
    check(used < MOST, "too many requests");
    return &requests[used++];
}

/* What each rank sends. */
static void fill(void)
{
    for (int at = 0; at < size * ELEMENTS; at++)
        out[at] = 1000 * rank + at;
    memset(in, -1, sizeof in);
}

#include "requests/completions.h"

/* A communicator for one use, as its requests see it: it is given back by `let_go`. */
static MPI_Comm comm, reversed = MPI_COMM_NULL;

static void take(void)
{
    fill();
    used = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
}

/* The requests have begun. */
static void let_go(void)
{
    if (!strcmp(keeping, "keep") || comm == MPI_COMM_NULL)
        return;
    MPI_Comm_free(&comm);
    if (!strcmp(keeping, "reuse"))
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
}

static void end(void)
{
    completed += used;
    for (int at = 0; at < used; at++)
        check(requests[at] == MPI_REQUEST_NULL, "a request is left");
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    if (reversed != MPI_COMM_NULL) {
        /* It is the one that messages are counted on. */
        int from = -1, to = (size - rank) % size, back = (size - 2 - rank + size) % size;
        MPI_Sendrecv(&rank, 1, MPI_INT, to, 5, &from, 1, MPI_INT, back, 5, reversed, MPI_STATUS_IGNORE);
        check(from == right, "a message on the other communicator");
        MPI_Comm_free(&reversed);
    }
}

static void from_left(void)
{
    for (int at = 0; at < ELEMENTS; at++)
        check(in[at] == 1000 * left + at, "a message from the left");
}

/* Messages: `begin` begins them, and they are received into `in`. */
static void messages(const char *name, void (*begin)(void))
{
    for (int at = 0; at < COMPLETIONS; at++) {
        doing = name;
        take();
        begin();
        let_go();
        completions[at]();
        from_left();
        end();
    }
}

#define SENDING(procedure)                                                                         \
    static void begin_##procedure(void)                                                            \
    {                                                                                              \
        MPI_Irecv(in, ELEMENTS, MPI_INT, left, 1, comm, next());                                   \
        MPI_##procedure(out, ELEMENTS, MPI_INT, right, 1, comm, next());                           \
    }
SENDING(Isend)
SENDING(Ibsend)
SENDING(Issend)

static void begin_Irsend(void)
{
    MPI_Irecv(in, ELEMENTS, MPI_INT, left, 1, comm, next());
    MPI_Barrier(comm);
    MPI_Irsend(out, ELEMENTS, MPI_INT, right, 1, comm, next());
}

static void begin_any(void)
{
    MPI_Irecv(in, ELEMENTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, next());
    MPI_Isend(out, ELEMENTS, MPI_INT, right, 1, comm, next());
}

static void begin_nobody(void)
{
    MPI_Irecv(in, ELEMENTS, MPI_INT, MPI_PROC_NULL, 1, comm, next());
    begin_any();
}

static void begin_Imrecv(void)
{
    MPI_Message message;
    MPI_Isend(out, ELEMENTS, MPI_INT, right, 1, comm, next());
    MPI_Mprobe(left, 1, comm, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(in, ELEMENTS, MPI_INT, &message, next());
}

static void begin_improbed(void)
{
    MPI_Message message;
    int flag;
    MPI_Isend(out, ELEMENTS, MPI_INT, right, 1, comm, next());
    do {
        MPI_Improbe(MPI_ANY_SOURCE, 1, comm, &flag, &message, MPI_STATUS_IGNORE);
    } while (!flag);
    let_go();
    MPI_Imrecv(in, ELEMENTS, MPI_INT, &message, next());
}

#if MPI_VERSION >= 4
static void begin_Isendrecv(void)
{
    MPI_Isendrecv(out, ELEMENTS, MPI_INT, right, 1, in, ELEMENTS, MPI_INT, left, 1, comm, next());
}

static void begin_Isendrecv_replace(void)
{
    memcpy(in, out, sizeof in);
    MPI_Isendrecv_replace(in, ELEMENTS, MPI_INT, right, 1, left, 1, comm, next());
}
#endif

/* A message that was matched before the communicator was freed, and is received behind that. */
static void matched(void)
{
    MPI_Message message;
    doing = "Mrecv";
    take();
    MPI_Isend(out, ELEMENTS, MPI_INT, right, 1, comm, next());
    MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, MPI_STATUS_IGNORE);
    let_go();
    MPI_Mrecv(in, ELEMENTS, MPI_INT, &message, MPI_STATUS_IGNORE);
    from_left();
    wait_all();
    end();
}

/* A receive that nothing comes for, and requests that are freed. */
static void cancelled_and_freed(void)
{
    int flag;
    MPI_Status status;
    doing = "Cancel";
    take();
    MPI_Irecv(in, ELEMENTS, MPI_INT, left, 77, comm, next());
    let_go();
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    check(flag, "not cancelled");
    end();
    doing = "Request_free";
    take();
    MPI_Isend(out, ELEMENTS, MPI_INT, right, 1, comm, next());
    MPI_Request_free(&requests[0]);
    MPI_Recv(in, ELEMENTS, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE);
    from_left();
    MPI_Barrier(comm);
    let_go();
    end();
}

/* Persistent requests, which `prepare` prepares, are started and completed twice. Those of
 * collectives, of which MPICH 4.0's own fail the second time and in MPI_Testall, once, by the
 * procedures before that one. */
static void persistent(const char *name, void (*prepare)(void), void (*verify)(void), int collective)
{
    for (int at = 0; at < (collective ? UNTIL_TESTALL : COMPLETIONS); at++) {
        doing = name;
        take();
        prepare();
        MPI_Request prepared[MOST];
        memcpy(prepared, requests, sizeof prepared);
        for (int turn = 0; turn < (collective ? 1 : 2); turn++) {
            if ((turn + at) % 2)
                MPI_Startall(used, requests);
            else
                for (int which = 0; which < used; which++)
                    MPI_Start(&requests[which]);
            if (turn == 0 && !collective)
                let_go();
            completions[at]();
            verify();
            memset(in, -1, sizeof in);
        }
        completed += used;
        for (int which = 0; which < used; which++)
            MPI_Request_free(&requests[which]);
        end();
    }
}

#define PREPARING(procedure)                                                                       \
    static void prepare_##procedure(void)                                                          \
    {                                                                                              \
        MPI_Recv_init(in, ELEMENTS, MPI_INT, left, 1, comm, next());                               \
        MPI_##procedure(out, ELEMENTS, MPI_INT, right, 1, comm, next());                           \
    }
PREPARING(Send_init)
PREPARING(Bsend_init)
PREPARING(Ssend_init)

static void prepare_any(void)
{
    MPI_Recv_init(in, ELEMENTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, next());
    MPI_Send_init(out, ELEMENTS, MPI_INT, right, 1, comm, next());
}

/* The receive is started first, and the barrier is between. */
static void ready(void)
{
    doing = "Rsend_init";
    take();
    MPI_Recv_init(in, ELEMENTS, MPI_INT, left, 1, comm, next());
    MPI_Rsend_init(out, ELEMENTS, MPI_INT, right, 1, comm, next());
    MPI_Start(&requests[0]);
    MPI_Barrier(comm);
    MPI_Start(&requests[1]);
    let_go();
    wait_all();
    from_left();
    for (int which = 0; which < used; which++)
        MPI_Request_free(&requests[which]);
    end();
}

#if MPI_VERSION >= 4
static void partitioned(void)
{
    int flag;
    doing = "Psend_init";
    take();
    MPI_Precv_init(in, ELEMENTS, 1, MPI_INT, left, 1, comm, MPI_INFO_NULL, next());
    MPI_Psend_init(out, ELEMENTS, 1, MPI_INT, right, 1, comm, MPI_INFO_NULL, next());
    MPI_Startall(used, requests);
    for (int part = 0; part < ELEMENTS; part++)
        MPI_Pready(part, requests[1]);
    do {
        MPI_Parrived(requests[0], 0, &flag);
    } while (!flag);
    let_go();
    wait_all();
    from_left();
    for (int which = 0; which < used; which++)
        MPI_Request_free(&requests[which]);
    end();
}
#endif

#include "requests/collectives.h"

/* Requests of copies of communicators. */
static void copies(void)
{
    for (int at = 0; at < COMPLETIONS; at++) {
        MPI_Comm copy;
        int from = -1;
        doing = "Comm_idup";
        take();
        MPI_Comm_idup(comm, &copy, next());
        completions[at]();
        let_go();
        MPI_Sendrecv(&rank, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, copy, MPI_STATUS_IGNORE);
        check(from == left, "a message on the copy");
        MPI_Comm_free(&copy);
        end();
#if MPI_VERSION >= 4
        doing = "Comm_idup_with_info";
        take();
        MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &copy, next());
        completions[at]();
        let_go();
        MPI_Comm_free(&copy);
        end();
#endif
    }
#if MPI_VERSION >= 5
    doing = "Comm_iflush_buffer";
    take();
    MPI_Comm_iflush_buffer(comm, next());
    wait_all();
    let_go();
    end();
#endif
}

#include "requests/one_sided.h"

int main(int argc, char **argv)
{
    static char buffer[1 << 16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || size < 3 || size > MOST_RANKS) {
        fprintf(stderr, "requests keep | free | reuse, on 3 to %d ranks\n", MOST_RANKS);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    keeping = argv[1];
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int at = 0; at < size; at++) {
        counts[at] = ELEMENTS;
        starts[at] = at * ELEMENTS;
        in_bytes[at] = at * ELEMENTS * (int)sizeof(int);
        far[at] = in_bytes[at];
        types[at] = MPI_INT;
    }
    MPI_Buffer_attach(buffer, sizeof buffer);
    messages("Isend", begin_Isend);
    messages("Ibsend", begin_Ibsend);
    messages("Issend", begin_Issend);
    messages("Irsend", begin_Irsend);
    messages("Irecv of any", begin_any);
    messages("Irecv of nobody", begin_nobody);
    messages("Imrecv", begin_Imrecv);
    messages("Improbe", begin_improbed);
    matched();
    if (strcmp(keeping, "reuse")) {
#if MPI_VERSION >= 4
        messages("Isendrecv", begin_Isendrecv);
        messages("Isendrecv_replace", begin_Isendrecv_replace);
        partitioned();
#endif
        cancelled_and_freed();
    }
    persistent("Send_init", prepare_Send_init, from_left, 0);
    persistent("Bsend_init", prepare_Bsend_init, from_left, 0);
    persistent("Ssend_init", prepare_Ssend_init, from_left, 0);
    persistent("Recv_init of any", prepare_any, from_left, 0);
    ready();
    COLLECTIVES(RUN)
    NEIGHBOURS(RUN_ON_RING)
    copies();
    one_sided();
    int size_of_buffer;
    void *detached;
    MPI_Buffer_detach(&detached, &size_of_buffer);
    long all = 0;
    MPI_Reduce(&completed, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld requests completed\n", all);
    MPI_Finalize();
    return 0;
}
