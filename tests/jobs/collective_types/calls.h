/* A call that moves data: drawn, made, and what it should bring. */

static int flat_counts[2][MOST_RANKS], flat_places[2][MOST_RANKS];

/* Patterns that `from` sends to `to`, as all know them. */
static int amounts[MOST_RANKS][MOST_RANKS];

enum operation { BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL,
                 ALLTOALLV, ALLTOALLW, OPERATIONS };
static const char *names[] = {"Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather",
                              "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw"};

static void one_call(void)
{
    enum operation what = (enum operation)all(OPERATIONS);
    int root = (int)all((unsigned)ranks), in_place = all(4) == 0 && what != BCAST;
    int uneven = what == GATHERV || what == SCATTERV || what == ALLGATHERV || what >= ALLTOALLV;
    int unit = 1 + (int)all(6), large = all(12) == 0, most = large ? 400 : 5, size = 0;
    int is_root = rank == root, from_all = what != BCAST && what != SCATTER && what != SCATTERV;
    int to_all = what == BCAST || what >= ALLGATHER || what == SCATTER || what == SCATTERV;
    int pairs = what >= ALLTOALL, blockwise = pairs || what == SCATTER || what == SCATTERV;
    comm = worlds[all(2)];
    MPI_Comm_rank(comm, &rank);
    is_root = rank == root;
    pattern_length = all(3) ? 1 : 1 + (int)all(3);
    pattern_bytes = 0;
    for (int i = 0; i < pattern_length; i++) {
        pattern[i] = (int)all(4);
        pattern_bytes += sizes[pattern[i]];
    }
    if (pairs && large)
        most = 60;
    if (large && pattern_length > 1)
        most = 60;
    int same = unit * (int)all((unsigned)most);
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++)
            amounts[from][to] = uneven ? unit * (int)all((unsigned)most) : same;
    for (int from = 0; from < ranks; from++)
        for (int to = 0; to < ranks; to++) {
            if (pairs && in_place && from > to)
                amounts[from][to] = amounts[to][from];
            if (!pairs) /* one block of each sender or receiver */
                amounts[from][to] = blockwise ? amounts[0][to] : amounts[from][0];
        }
    snprintf(what_now, sizeof what_now, "%s%s from %d of %d ranks, %d patterns of %d", names[what],
             in_place ? " in place" : "", root, ranks, amounts[0][0], pattern_length);

    /* What this rank sends and receives. */
    int sends = from_all || is_root, receives = to_all || is_root;
    int own_types = what == ALLTOALLW, out[MOST_RANKS], in[MOST_RANKS];
    int even = !uneven;
    for (int other = 0; other < ranks; other++) {
        out[other] = amounts[rank][other];
        in[other] = amounts[other][rank];
    }
    no_blocks(&sent);
    no_blocks(&received);
    struct side *source = &sent;
    int source_block = 0;
    if (what == BCAST) {
        describe(is_root ? &sent : &received, 1, in, 1, 0, is_root);
        receives = !is_root;
    } else if (blockwise && !pairs) {
        if (is_root)
            describe(&sent, ranks, out, even, 0, 1);
        if (is_root && in_place)
            receives = 0;
        else
            describe(&received, 1, &in[root], 1, 0, 0);
    } else if (pairs) {
        describe(&received, ranks, in, even, own_types, 0);
        if (in_place)
            source = &received;
        else
            describe(&sent, ranks, out, even, own_types, 1);
    } else {
        if (receives)
            describe(&received, ranks, in, even, 0, 0);
        if (in_place && receives) {
            source = &received;
            source_block = rank;
        } else {
            describe(&sent, 1, &out[0], 1, 0, 1);
        }
    }
    trace();
    fill(sent.arena);
    fill(received.arena);
    memcpy(before_sent, sent.arena, ARENA);
    memcpy(expected, received.arena, ARENA);

    /* What others will have to receive from this rank. */
    for (int other = 0; other < ranks; other++) {
        int goes = sends && (to_all || other == root);
        flat_places[0][other] = size;
        flat_counts[0][other] = goes ? out[other] * pattern_bytes : 0;
        if (goes)
            flatten(source, blockwise ? other : source_block, flat_out + size, 0);
        size += flat_counts[0][other];
    }
    size = 0;
    for (int other = 0; other < ranks; other++) {
        int comes = (to_all || is_root) && (from_all || other == root);
        flat_places[1][other] = size;
        flat_counts[1][other] = comes ? in[other] * pattern_bytes : 0;
        size += flat_counts[1][other];
    }
    MPI_Request request;
    MPI_Ialltoallv(flat_out, flat_counts[0], flat_places[0], MPI_BYTE, flat_in, flat_counts[1],
                   flat_places[1], MPI_BYTE, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    struct side *s = &sent, *r = &received;
    MPI_Datatype st = s->types[0], rt = r->types[0];
    void *from = source == &received ? MPI_IN_PLACE : s->buffer;
    void *into = receives ? r->buffer : is_root && in_place && blockwise ? MPI_IN_PLACE : NULL;
    switch (what) {
    case BCAST:
        MPI_Bcast(is_root ? s->buffer : r->buffer, is_root ? s->counts[0] : r->counts[0],
                  is_root ? st : rt, root, comm);
        break;
    case GATHER:
        MPI_Gather(from, s->counts[0], st, into, r->counts[0], rt, root, comm);
        break;
    case GATHERV:
        MPI_Gatherv(from, s->counts[0], st, into, r->counts, r->displacements, rt, root, comm);
        break;
    case SCATTER:
        MPI_Scatter(s->buffer, s->counts[0], st, into, r->counts[0], rt, root, comm);
        break;
    case SCATTERV:
        MPI_Scatterv(s->buffer, s->counts, s->displacements, st, into, r->counts[0], rt, root, comm);
        break;
    case ALLGATHER:
        MPI_Allgather(from, s->counts[0], st, into, r->counts[0], rt, comm);
        break;
    case ALLGATHERV:
        MPI_Allgatherv(from, s->counts[0], st, into, r->counts, r->displacements, rt, comm);
        break;
    case ALLTOALL:
        MPI_Alltoall(from, s->counts[0], st, into, r->counts[0], rt, comm);
        break;
    case ALLTOALLV:
        MPI_Alltoallv(from, s->counts, s->displacements, st, into, r->counts, r->displacements, rt,
                      comm);
        break;
    default:
        MPI_Alltoallw(from, s->counts, s->displacements, s->types, into, r->counts,
                      r->displacements, r->types, comm);
    }

    for (int other = 0; receives && other < ranks; other++) {
        int block = what == BCAST || (blockwise && !pairs) ? 0 : other;
        if (flat_counts[1][other])
            expect(&received, block, flat_in + flat_places[1][other]);
    }
    compare();
    forget_types();
}
