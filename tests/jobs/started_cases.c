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

#include "started_cases/order.h"
#include "started_cases/requests.h"
#include "started_cases/completion.h"
#include "started_cases/errors.h"
#include "started_cases/inside.h"
#include "started_cases/many.h"

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
    {"tested-now-and-then", tested_now_and_then},
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
