/*
 * Counts what MPICH sends through UCX: another account of a job under the MPICH
 * family, taken below the MPI, as Open MPI's monitoring component gives one for its
 * own. To be preloaded; the file for each rank has that component's format.
 *
 *     LD_PRELOAD=.../ucx_counts.so SENT_THROUGH_UCX=PREFIX MPIR_CVAR_NOLOCAL=1
 *
 * gives PREFIX.RANK.prof. With MPIR_CVAR_NOLOCAL each rank is a node of its own, and
 * MPICH sends everything through UCX. Counted is what is sent between the end of
 * MPI_Init and the start of MPI_Finalize. Where a connection leads to is told by the
 * worker's address that it was opened with.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1024

/* The start of an address of UCX's, which has the worker's own number. */
struct address {
    unsigned char bytes[24];
};

/* The start of UCX's ucp_ep_params_t. */
struct endpoint {
    uint64_t fields;
    const struct address *address;
};

/* The start of UCX's ucp_request_param_t. */
struct parameters {
    uint32_t fields, flags;
    void *request, *callback;
    uint64_t datatype;
};

/* UCX's ucp_generic_dt_ops_t. */
struct packing {
    void *(*start_pack)(void *context, const void *buffer, size_t count);
    void *(*start_unpack)(void *context, void *buffer, size_t count);
    size_t (*packed_size)(void *state);
    size_t (*pack)(void *state, size_t offset, void *to, size_t length);
    int (*unpack)(void *state, size_t offset, const void *from, size_t length);
    void (*finish)(void *state);
};

enum { HAS_DATATYPE = 1 << 3, KIND_OF_DATATYPE = 7, CONTIGUOUS = 0 };

/* Types that UCX packs by functions of MPICH's; a number may be given anew. */
static struct {
    uint64_t datatype;
    struct packing packing;
    void *context;
} packed[LARGEST];
static int known;

static struct {
    void *end;
    struct address to;
} ends[LARGEST];
static struct address own, addresses[LARGEST];
static int opened, counting, rank, ranks;
static uint64_t messages[LARGEST], bytes[LARGEST];

static void give_up(const char *why)
{
    fprintf(stderr, "ucx_counts: %s\n", why);
    abort();
}

static void *next(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (!address)
        give_up(name);
    return address;
}

int ucp_dt_create_generic(const struct packing *packing, void *context, uint64_t *datatype)
{
    int (*create)(const struct packing *, void *, uint64_t *) = next("ucp_dt_create_generic");
    int status = create(packing, context, datatype), i = 0;
    while (i < known && packed[i].datatype != *datatype)
        i++;
    if (i == LARGEST)
        give_up("more than 1024 datatypes");
    known += i == known;
    packed[i].datatype = *datatype, packed[i].packing = *packing, packed[i].context = context;
    return status;
}

/* The bytes of a message. */
static uint64_t size(const void *buffer, size_t number, const struct parameters *parameters)
{
    if (!(parameters->fields & HAS_DATATYPE))
        return number;
    if ((parameters->datatype & KIND_OF_DATATYPE) == CONTIGUOUS)
        return number * (parameters->datatype >> 3);
    for (int i = 0; i < known; i++)
        if (packed[i].datatype == parameters->datatype) {
            void *state = packed[i].packing.start_pack(packed[i].context, buffer, number);
            /* Not finished: that would give up MPICH's hold on the type. */
            return packed[i].packing.packed_size(state);
        }
    give_up("a datatype that it does not know");
    return 0;
}

static int is_same(const struct address *one, const struct address *other)
{
    return !memcmp(one, other, sizeof *one);
}

static void count(void *end, const void *buffer, size_t number, const struct parameters *parameters)
{
    if (!counting)
        return;
    /* The last first: an end that was closed may have left its address to another. */
    for (int i = opened; i-- > 0;)
        for (int to = 0; ends[i].end == end && to < ranks; to++)
            if (is_same(&addresses[to], &ends[i].to)) {
                messages[to]++, bytes[to] += size(buffer, number, parameters);
                return;
            }
    give_up("a message to nobody");
}

int ucp_worker_get_address(void *worker, void **address, size_t *length)
{
    int (*get)(void *, void **, size_t *) = next("ucp_worker_get_address");
    int status = get(worker, address, length);
    if (*length < sizeof own)
        give_up("an address of less than 24 bytes");
    memcpy(&own, *address, sizeof own);
    return status;
}

int ucp_ep_create(void *worker, const struct endpoint *parameters, void **end)
{
    int (*create)(void *, const struct endpoint *, void **) = next("ucp_ep_create");
    int status = create(worker, parameters, end);
    if (opened == LARGEST)
        give_up("more than 1024 connections");
    ends[opened].end = *end;
    ends[opened++].to = *parameters->address;
    return status;
}

typedef void *send_function(void *, const void *, size_t, uint64_t, const void *);

void *ucp_tag_send_nbx(void *end, const void *buffer, size_t number, uint64_t tag, const void *parameters)
{
    count(end, buffer, number, parameters);
    return ((send_function *)next("ucp_tag_send_nbx"))(end, buffer, number, tag, parameters);
}

void *ucp_tag_send_sync_nbx(void *end, const void *buffer, size_t number, uint64_t tag, const void *parameters)
{
    count(end, buffer, number, parameters);
    return ((send_function *)next("ucp_tag_send_sync_nbx"))(end, buffer, number, tag, parameters);
}

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > LARGEST)
        give_up("more than 1024 ranks");
    PMPI_Allgather(&own, sizeof own, MPI_BYTE, addresses, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    counting = 1;
    return code;
}

int MPI_Finalize(void)
{
    const char *prefix = getenv("SENT_THROUGH_UCX");
    char path[4096];
    counting = 0;
    if (!prefix)
        give_up("SENT_THROUGH_UCX names no file");
    snprintf(path, sizeof path, "%s.%d.prof", prefix, rank);
    FILE *file = fopen(path, "w");
    if (!file)
        give_up(path);
    fprintf(file, "D\tMPI_COMM_WORLD\tprocs: %d\n", rank);
    for (int to = 0; to < ranks; to++)
        if (messages[to])
            fprintf(file, "I\t%d\t%d\t%llu bytes\t%llu msgs sent\n", rank, to, (unsigned long long)bytes[to],
                    (unsigned long long)messages[to]);
    if (fclose(file))
        give_up(path);
    return PMPI_Finalize();
}
