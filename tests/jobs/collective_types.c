/*
 * Collectives whose ranks describe the same data differently: each rank draws datatypes and counts
 * of its own, of one signature.
 *
 *     collective_types SEED CALLS [backwards]    so many calls, drawn from SEED
 *     collective_types PROGRAM                   one of the fixed programs below
 *
 * Types are vectors, indexed and structs of each other, with gaps, backwards, resized to extents
 * that are negative, zero, or too small, with large lower bounds, absolute addresses from
 * MPI_BOTTOM, and without size. What is received is held against what its sender has in memory,
 * which non-blocking collectives of plain bytes, which nobody replaces, carry over; nothing else
 * may be written, and what is sent must stay. With `backwards`, operands of reductions may have
 * negative extents, which the native reductions of Open MPI 4.1 and MPICH 4.0 do not survive, and
 * operations commute, so that every algorithm serves them.
 */
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_RANKS 16
#define MOST_ITEMS 64    /* of a datatype */
#define ARENA (1 << 19)  /* bytes of the memory that data lie in */
#define MARGIN (1 << 15) /* of which no data lie in so many at either end */
#define AROUND (1 << 28) /* bytes of memory before and behind it */
#define MOST_TYPES 4096

typedef unsigned char Byte;

static int rank, ranks, calls, failures;
static MPI_Comm comm, worlds[2];
static unsigned long long seed;

/* What all ranks draw alike, and what each draws for itself: xorshift64. */
static uint64_t shared, own;

static unsigned draw(uint64_t *state, unsigned below)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (unsigned)(*state >> 33) % below;
}

static unsigned mine(unsigned below)
{
    return draw(&own, below);
}

static unsigned all(unsigned below)
{
    return draw(&shared, below);
}

/* The kinds of items, and the signature of a call: so many of a pattern of kinds. */
static const MPI_Datatype *kinds;
static const int sizes[] = {1, 2, 4, 8};
static int pattern[3], pattern_length, pattern_bytes;

/* A datatype, and where each of its items is: worked out here, not asked for. */
struct layout {
    MPI_Datatype type;
    int items;
    int kind[MOST_ITEMS];
    MPI_Aint at[MOST_ITEMS];
    MPI_Aint extent;
    char text[300]; /* how it was made */
};

static void say(struct layout *layout, const char *format, ...)
{
    char text[sizeof layout->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(layout->text, text, sizeof text);
}

static MPI_Datatype made[MOST_TYPES];
static int types_made;

static void keep(struct layout *layout)
{
    MPI_Aint bound;
    if (types_made == MOST_TYPES)
        MPI_Abort(MPI_COMM_WORLD, 3);
    made[types_made++] = layout->type;
    MPI_Type_get_extent(layout->type, &bound, &layout->extent);
}

static void forget_types(void)
{
    while (types_made > 0)
        MPI_Type_free(&made[--types_made]);
}

/* Adds the items of `part`, `from` bytes further on. */
static void put(struct layout *into, const struct layout *part, MPI_Aint from)
{
    for (int i = 0; i < part->items; i++) {
        into->kind[into->items] = part->kind[i];
        into->at[into->items++] = from + part->at[i];
    }
}

static void shuffle(int *numbers, int count)
{
    for (int i = count - 1; i > 0; i--) {
        int j = (int)mine((unsigned)i + 1), kept = numbers[i];
        numbers[i] = numbers[j];
        numbers[j] = kept;
    }
}

static struct layout one_pattern(void)
{
    struct layout layout = {.items = 0};
    int ones[3] = {1, 1, 1}, order[3] = {0, 1, 2};
    MPI_Datatype each[3];
    MPI_Aint at[3], next = (MPI_Aint)mine(20) - 10;
    if (pattern_length == 1) {
        layout.type = kinds[pattern[0]];
        layout.items = 1;
        layout.kind[0] = pattern[0];
        layout.at[0] = 0;
        layout.extent = sizes[pattern[0]];
        say(&layout, "%d bytes", sizes[pattern[0]]);
        return layout;
    }
    shuffle(order, pattern_length);
    for (int i = 0; i < pattern_length; i++) {
        at[order[i]] = next;
        next += sizes[pattern[order[i]]] + (MPI_Aint)mine(6);
    }
    for (int i = 0; i < pattern_length; i++) {
        each[i] = kinds[pattern[i]];
        layout.kind[i] = pattern[i];
        layout.at[i] = at[i];
    }
    layout.items = pattern_length;
    say(&layout, "struct of %d, the first %d bytes at %ld", pattern_length, sizes[pattern[0]],
        (long)at[0]);
    MPI_Type_create_struct(pattern_length, ones, at, each, &layout.type);
    keep(&layout);
    return layout;
}

/* So many patterns in one datatype; `tame` without extents that let elements overlap. */
static struct layout patterns(int count, int tame)
{
    struct layout layout = {.items = 0}, part;
    int lengths[MOST_ITEMS], places[MOST_ITEMS], displacements[MOST_ITEMS], blocks = 0, next = 0;
    MPI_Aint bytes[MOST_ITEMS];
    int divisor = 1 + (int)mine((unsigned)count);
    while (count % divisor)
        divisor--;
    if (count == 1) {
        layout = one_pattern();
    } else if (mine(5) == 0) {
        /* Two different halves. */
        struct layout halves[2];
        MPI_Datatype each[2];
        int ones[2] = {1, 1}, first = 1 + (int)mine((unsigned)count - 1);
        halves[0] = patterns(first, tame);
        halves[1] = patterns(count - first, tame);
        bytes[0] = 0;
        bytes[1] = (mine(2) ? 1 : -1) * (MPI_Aint)(count * pattern_bytes * 3 + 40 + (int)mine(9));
        for (int i = 0; i < 2; i++) {
            each[i] = halves[i].type;
            put(&layout, &halves[i], bytes[i]);
        }
        say(&layout, "struct of (%s) and %ld bytes on (%s)", halves[0].text, (long)bytes[1],
            halves[1].text);
        MPI_Type_create_struct(2, ones, bytes, each, &layout.type);
        keep(&layout);
    } else {
        part = patterns(count / divisor, tame);
        count = divisor;
        int length = 1 + (int)mine((unsigned)count);
        while (count % length)
            length--;
        int stride = (length + (int)mine(3)) * (mine(3) ? 1 : -1);
        /* Blocks one behind the other, in any order. */
        for (int left = count; left > 0; left -= lengths[blocks++]) {
            lengths[blocks] = 1 + (int)mine((unsigned)left);
            places[blocks] = blocks;
        }
        shuffle(places, blocks);
        for (int i = 0; i < blocks; i++) {
            displacements[places[i]] = next - (int)(count / 2);
            next += lengths[places[i]] + (int)mine(2);
        }
        MPI_Aint step = part.extent, odd = (MPI_Aint)mine(3);
        switch (mine(6)) {
        case 0:
            say(&layout, "%d of (%s)", count, part.text);
            MPI_Type_contiguous(count, part.type, &layout.type);
            for (int i = 0; i < count; i++)
                put(&layout, &part, i * step);
            break;
        case 1:
            say(&layout, "vector(%d, %d, %d) of (%s)", count / length, length, stride, part.text);
            MPI_Type_vector(count / length, length, stride, part.type, &layout.type);
            for (int i = 0; i < count; i++)
                put(&layout, &part, (i / length * stride + i % length) * step);
            break;
        case 2:
            say(&layout, "hvector(%d, %d, %ld) of (%s)", count / length, length,
                (long)(stride * step + odd), part.text);
            MPI_Type_create_hvector(count / length, length, stride * step + odd, part.type,
                                    &layout.type);
            for (int i = 0; i < count; i++)
                put(&layout, &part, i / length * (stride * step + odd) + i % length * step);
            break;
        case 3:
            say(&layout, "%d blocks, the first at %d, of (%s)", blocks, displacements[0], part.text);
            MPI_Type_indexed(blocks, lengths, displacements, part.type, &layout.type);
            for (int i = 0; i < blocks; i++)
                for (int j = 0; j < lengths[i]; j++)
                    put(&layout, &part, (displacements[i] + j) * step);
            break;
        case 4:
            for (int i = 0; i < blocks; i++)
                bytes[i] = displacements[i] * (step + odd);
            say(&layout, "%d blocks, the first %ld bytes on, of (%s)", blocks, (long)bytes[0],
                part.text);
            MPI_Type_create_hindexed(blocks, lengths, bytes, part.type, &layout.type);
            for (int i = 0; i < blocks; i++)
                for (int j = 0; j < lengths[i]; j++)
                    put(&layout, &part, bytes[i] + j * step);
            break;
        default:
            for (int i = 0; i < count; i++)
                displacements[i] = (i ? displacements[i - 1] : -3) + 1 + (int)mine(2);
            say(&layout, "%d, the last at %d, of (%s)", count, displacements[count - 1], part.text);
            MPI_Type_create_indexed_block(count, 1, displacements, part.type, &layout.type);
            for (int i = 0; i < count; i++)
                put(&layout, &part, displacements[i] * step);
        }
        keep(&layout);
    }
    if (mine(6) == 0) {
        MPI_Type_dup(layout.type, &layout.type);
        keep(&layout);
    }
    if (!tame && mine(3) == 0) {
        MPI_Aint whole = layout.items * 8 + (MPI_Aint)mine(50), extent = whole, bound = 0;
        switch (mine(6)) {
        case 0: extent = -whole; break;
        case 1: extent = 0; break;
        case 2: extent = (MPI_Aint)mine(9) - 4; break;
        case 3: bound = 100000000 + (MPI_Aint)mine(100); break;
        case 4: bound = -whole - 3; break;
        case 5: extent = -3 * whole, bound = 77; break;
        }
        say(&layout, "resized(%ld, %ld) of (%s)", (long)bound, (long)extent, layout.text);
        MPI_Type_create_resized(layout.type, bound, extent, &layout.type);
        keep(&layout);
    }
    return layout;
}

/* Memory, and blocks of data in it. */
struct side {
    Byte *arena;
    void *buffer;              /* what is given to MPI */
    MPI_Aint start;            /* the address that places count from */
    int blocks, are_alike; /* the same type for all blocks */
    int counts[MOST_RANKS];    /* elements of each block */
    int displacements[MOST_RANKS];
    MPI_Aint places[MOST_RANKS]; /* bytes from the start */
    struct layout layout[MOST_RANKS];
    MPI_Datatype types[MOST_RANKS];
};

static struct side sent, received;

/* The address of item `item` of a block, over all its elements. */
static Byte *item_of(const struct side *side, int block, int item, int *size)
{
    const struct layout *layout = &side->layout[block];
    int element = item / layout->items, inside = item % layout->items;
    *size = sizes[layout->kind[inside]];
    return (Byte *)(side->start + side->places[block] + element * layout->extent +
                    layout->at[inside]);
}

static int items_of(const struct side *side, int block)
{
    return side->counts[block] * side->layout[block].items;
}

/* Puts the data somewhere into the arena; fails if they do not fit, or if what is received would
 * overlap. */
static int settle(struct side *side, int is_read_only)
{
    static Byte taken[ARENA];
    intptr_t lowest = INTPTR_MAX, highest = INTPTR_MIN;
    int size;
    side->start = 0;
    for (int b = 0; b < side->blocks; b++)
        for (int i = 0; i < items_of(side, b); i++) {
            intptr_t at = (intptr_t)item_of(side, b, i, &size);
            lowest = at < lowest ? at : lowest;
            highest = at + size > highest ? at + size : highest;
        }
    if (lowest > highest)
        lowest = highest = 0;
    if (highest - lowest > ARENA - 2 * MARGIN - 64)
        return 0;
    side->start = (MPI_Aint)side->arena + MARGIN + (MPI_Aint)mine(48) - lowest;
    side->buffer = (void *)side->start;
    if (is_read_only)
        return 1;
    memset(taken, 0, ARENA);
    for (int b = 0; b < side->blocks; b++)
        for (int i = 0; i < items_of(side, b); i++) {
            Byte *at = item_of(side, b, i, &size);
            for (int byte = 0; byte < size; byte++)
                if (taken[at - side->arena + byte]++)
                    return 0;
        }
    return 1;
}

/* The types of a side count from MPI_BOTTOM. */
static void make_absolute(struct side *side)
{
    int one = 1;
    for (int b = 0; b < side->blocks; b++) {
        struct layout *layout = &side->layout[b];
        if (b > 0 && side->are_alike) {
            *layout = side->layout[0];
            continue;
        }
        say(layout, "absolute %s", layout->text);
        MPI_Type_create_hindexed(1, &one, &side->start, layout->type, &layout->type);
        keep(layout);
    }
    side->buffer = MPI_BOTTOM;
}

/* Elements without size. */
static struct layout nothing(void)
{
    struct layout layout = {.items = 0, .text = "nothing"};
    if (mine(2))
        MPI_Type_contiguous(0, MPI_INT, &layout.type);
    else
        MPI_Type_create_hindexed(0, NULL, NULL, MPI_DOUBLE, &layout.type);
    keep(&layout);
    return layout;
}

static void fill(Byte *bytes)
{
    uint64_t state = own;
    for (int i = 0; i < ARENA; i += 4) {
        uint32_t word = draw(&state, 1u << 31) * 2654435761u;
        memcpy(bytes + i, &word, 4);
    }
    own = state;
}

/* A block as bytes one behind the other, or from them. */
static void flatten(const struct side *side, int block, Byte *flat, int into)
{
    int size;
    for (int i = 0; i < items_of(side, block); i++, flat += size) {
        Byte *at = item_of(side, block, i, &size);
        memcpy(into ? at : flat, into ? flat : at, (size_t)size);
    }
}

static Byte *before_sent, *expected, *flat_out, *flat_in;
static int misunderstood;

/* An MPI that takes a type for another reads and writes around the data: in memory that is there,
 * so that `is_understood` can tell. */
static Byte *new_arena(void)
{
    void *memory = mmap(NULL, 2L * AROUND + ARENA, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 5);
    return (Byte *)memory + AROUND;
}

/* Whether the MPI itself moves a block as it is described, in messages to oneself. */
static int moves(struct side *side, int block, int is_read_only)
{
    MPI_Comm self = MPI_COMM_SELF;
    int bytes = items_of(side, block) / pattern_length * pattern_bytes;
    char *at = (char *)side->buffer + side->places[block];
    int count = side->counts[block];
    MPI_Datatype type = side->types[block];
    if (bytes == 0)
        return 1;
    fill(side->arena);
    flatten(side, block, flat_in, 0);
    MPI_Sendrecv(at, count, type, 0, 0, expected, bytes, MPI_BYTE, 0, 0, self, MPI_STATUS_IGNORE);
    if (memcmp(flat_in, expected, (size_t)bytes) != 0)
        return 0;
    if (is_read_only)
        return 1;
    MPI_Sendrecv(flat_out, bytes, MPI_BYTE, 0, 0, at, count, type, 0, 0, self, MPI_STATUS_IGNORE);
    flatten(side, block, flat_in, 0);
    return memcmp(flat_in, flat_out, (size_t)bytes) == 0;
}

/* Whether the MPI itself takes the types for what they are: MPICH 4.0 does not always where extents
 * are too small, Open MPI 4.1 not where bytes stand backwards. Four times, since a wrong byte has
 * the right value once in 256. */
static int is_understood(struct side *side, int is_read_only)
{
    int right = 1;
    fill(flat_out);
    for (int time = 0; time < 4; time++)
        for (int b = 0; right && b < side->blocks; b++)
            right = moves(side, b, is_read_only);
    return right;
}

/* Draws types for `blocks` blocks of so many patterns each; `even` blocks stand one behind the
 * other, and each may have its `own_type` or all have the same. */
static void describe(struct side *side, int blocks, const int *amounts, int even, int own_types,
                     int is_read_only)
{
    side->blocks = blocks;
    side->are_alike = !own_types;
    for (int attempt = 0;; attempt++) {
        int tame = attempt > 12, common = 0, next = 0, order[MOST_RANKS];
        for (int b = 0; b < blocks; b++) {
            order[b] = b;
            for (int rest = amounts[b]; rest;) {
                int kept = common % rest;
                common = rest;
                rest = kept;
            }
        }
        if (!even)
            shuffle(order, blocks);
        for (int b = 0; b < blocks; b++) {
            int amount = own_types ? amounts[b] : common;
            int most = amount < MOST_ITEMS / 3 ? amount : MOST_ITEMS / 3;
            int in_type = most ? 1 + (int)mine((unsigned)(tame ? 1 : most)) : 0;
            while (in_type && amount % in_type)
                in_type--;
            if (b > 0 && !own_types)
                side->layout[b] = side->layout[0];
            else if (amount == 0)
                side->layout[b] = nothing();
            else
                side->layout[b] = tame ? one_pattern() : patterns(in_type, 0);
            int in_element = side->layout[b].items / pattern_length;
            side->counts[b] = in_element ? amounts[b] / in_element : even ? 3 : (int)mine(3);
        }
        for (int i = 0; i < blocks; i++) {
            int b = order[i], gap = even ? 0 : (int)mine(2);
            MPI_Aint extent = side->layout[b].extent;
            side->displacements[b] = next + gap;
            side->places[b] = own_types ? next : side->displacements[b] * extent;
            if (own_types) {
                /* In bytes, far enough apart. */
                MPI_Aint span = extent < 0 ? -extent : extent;
                MPI_Aint all_of_them = side->counts[b] * span;
                next += (int)(tame ? all_of_them : all_of_them % 5000) + 8 * items_of(side, b) + 700;
                side->displacements[b] = (int)side->places[b];
            } else {
                next += side->counts[b] + gap;
            }
        }
        if (settle(side, is_read_only)) {
            if (mine(3) == 0)
                make_absolute(side);
            for (int b = 0; b < blocks; b++) {
                MPI_Datatype *type = &side->layout[b].type;
                MPI_Type_commit(type);
                side->types[b] = *type;
            }
            if (is_understood(side, is_read_only))
                break;
            misunderstood++;
        }
        if (attempt > 40) {
            fprintf(stderr, "rank %d: no place for %d blocks\n", rank, blocks);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
}

static void no_blocks(struct side *side)
{
    side->blocks = 0;
    side->buffer = NULL;
    for (int b = 0; b < MOST_RANKS; b++) {
        side->counts[b] = side->displacements[b] = 0;
        side->types[b] = MPI_INT;
    }
}

static char what_now[200];

static void show(const char *name, const struct side *side)
{
    for (int b = 0; b < side->blocks; b++)
        if (b == 0 || side->layout[b].type != side->layout[0].type)
            fprintf(stderr, "rank %d: call %d: %s: %d elements of %s\n", rank, calls, name,
                    side->counts[b], side->layout[b].text);
}

/* Before a call, where the environment asks for it: the last one that is shown is the one that did
 * not return. */
static void trace(void)
{
    static int is_on = -1;
    if (is_on < 0)
        is_on = getenv("COLLECTIVE_TYPES_TRACE") != NULL;
    if (!is_on)
        return;
    fprintf(stderr, "rank %d: call %d: %s\n", rank, calls, what_now);
    show("sent", &sent);
    show("received", &received);
}

/* What a block should hold after the call. */
static void expect(struct side *side, int block, Byte *flat)
{
    side->start += expected - side->arena;
    flatten(side, block, flat, 1);
    side->start -= expected - side->arena;
}

static void wrong(const char *where, MPI_Aint at)
{
    if (failures++ < 5)
        fprintf(stderr, "rank %d: call %d with seed %llu: %s: byte %ld of what is %s is wrong\n",
                rank, calls, seed, what_now, (long)at, where);
    show("sent", &sent);
    show("received", &received);
}

static void compare_bytes(const char *where, const Byte *is, const Byte *should)
{
    MPI_Aint at = 0;
    if (memcmp(is, should, ARENA) == 0)
        return;
    while (is[at] == should[at])
        at++;
    wrong(where, at);
}

/* Whether all memory is as it should be: what was received, and nothing else. */
static void compare(void)
{
    compare_bytes("sent", sent.arena, before_sent);
    compare_bytes("received", received.arena, expected);
    calls++;
}
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

/* Reductions: pairs of integers, which each rank has laid out in its own way, with an operation that
 * looks at that. */
static struct layout operand;

/* The maps x -> a x + b (mod 97), composed from left to right: not commutative. */
static void compose_flat(const int *left, int *right)
{
    int a = left[0] * right[0] % 97, b = (left[1] * right[0] + right[1]) % 97;
    right[0] = a;
    right[1] = b;
}

static void add_flat(const int *left, int *right)
{
    right[0] = (left[0] + right[0]) % 97;
    right[1] = (left[1] + right[1]) % 97;
}

static void on_each(void (*flat)(const int *, int *), Byte *in, Byte *inout, int length)
{
    for (int i = 0; i < length; i++) {
        int left[2], right[2];
        for (int j = 0; j < 2; j++) {
            memcpy(&left[j], in + i * operand.extent + operand.at[j], sizeof(int));
            memcpy(&right[j], inout + i * operand.extent + operand.at[j], sizeof(int));
        }
        flat(left, right);
        for (int j = 0; j < 2; j++)
            memcpy(inout + i * operand.extent + operand.at[j], &right[j], sizeof(int));
    }
}

static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    on_each(compose_flat, in, inout, *length);
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    on_each(add_flat, in, inout, *length);
}

enum reduction { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, REDUCTIONS };
static const char *reduction_names[] = {"Reduce", "Allreduce", "Reduce_scatter",
                                        "Reduce_scatter_block", "Scan", "Exscan"};

static void one_reduction(const MPI_Op *ops, int backwards)
{
    enum reduction what = (enum reduction)all(REDUCTIONS);
    int root = (int)all((unsigned)ranks), in_place = all(3) == 0, commutes = (int)all(2) || backwards;
    int length = all(10) ? (int)all(40) : (int)all(2000), total = 0, first = 0, result;
    int counts[MOST_RANKS];
    comm = worlds[all(2)];
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < ranks; i++) {
        counts[i] = what == REDUCE_SCATTER ? (int)all((unsigned)(length / ranks) + 2) : length / ranks;
        first += i < rank ? counts[i] : 0;
        total += counts[i];
    }
    int is_scattered = what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK;
    if (!is_scattered)
        total = length, first = 0;
    result = is_scattered ? counts[rank] : length;
    snprintf(what_now, sizeof what_now, "%s%s at %d of %d ranks, %d elements, %s", reduction_names[what],
             in_place ? " in place" : "", root, ranks, total, commutes ? "added" : "composed");

    pattern_length = 2;
    pattern[0] = pattern[1] = 2;
    pattern_bytes = 8;
    struct side *sides[2] = {&sent, &received};
    do {
        MPI_Aint extents[] = {24, 40, -24, -56};
        operand = one_pattern();
        MPI_Aint bound = mine(2) ? (MPI_Aint)mine(1000) - 500 : 0;
        MPI_Type_create_resized(operand.type, bound, extents[mine(backwards ? 4 : 2)], &operand.type);
        keep(&operand);
        for (int i = 0; i < 2; i++) {
            no_blocks(sides[i]);
            sides[i]->blocks = 1;
            sides[i]->counts[0] = total;
            sides[i]->places[0] = 0;
            sides[i]->layout[0] = operand;
        }
    } while (!settle(&sent, 0) || !settle(&received, 0));
    MPI_Type_commit(&operand.type);
    trace();
    fill(sent.arena);
    fill(received.arena);
    in_place = in_place && (what != REDUCE || rank == root);
    struct side *source = in_place ? &received : &sent;
    int *flat = (int *)flat_out, *others = (int *)flat_in;
    for (int i = 0; i < 2 * total; i++)
        flat[i] = (int)mine(97);
    flatten(source, 0, flat_out, 1);
    memcpy(before_sent, sent.arena, ARENA);
    memcpy(expected, received.arena, ARENA);
    MPI_Request request;
    MPI_Iallgather(flat, 2 * total, MPI_INT, others, 2 * total, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    void *from = in_place ? MPI_IN_PLACE : sent.buffer, *into = received.buffer;
    MPI_Datatype type = operand.type;
    MPI_Op op = ops[commutes];
    switch (what) {
    case REDUCE: MPI_Reduce(from, into, length, type, op, root, comm); break;
    case ALLREDUCE: MPI_Allreduce(from, into, length, type, op, comm); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter(from, into, counts, type, op, comm); break;
    case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(from, into, counts[0], type, op, comm); break;
    case SCAN: MPI_Scan(from, into, length, type, op, comm); break;
    default: MPI_Exscan(from, into, length, type, op, comm);
    }

    /* From the left, up to this rank for prefixes. */
    int last = what == SCAN ? rank : what == EXSCAN ? rank - 1 : ranks - 1;
    for (int i = 0; i < 2 * total; i += 2) {
        for (int other = 0; other < last; other++) {
            int *left = others + 2 * total * other + i, *right = others + 2 * total * (other + 1) + i;
            commutes ? add_flat(left, right) : compose_flat(left, right);
        }
    }
    if (what == EXSCAN && rank == 0) {
        memcpy(expected, received.arena, ARENA); /* not defined */
    } else if (what != REDUCE || rank == root) {
        received.counts[0] = result;
        int *values = others + 2 * total * last + 2 * first;
        if (is_scattered && in_place) { /* what is behind the result is not defined */
            flatten(&received, 0, flat_out, 0);
            if (memcmp(flat_out, values, (size_t)result * 8) != 0)
                wrong("reduced", 0);
            memcpy(expected, received.arena, ARENA);
        } else {
            expect(&received, 0, (Byte *)values);
        }
    }
    compare();
    forget_types();
}

static void check(int is_right, const char *program)
{
    calls++;
    if (!is_right && failures++ < 5)
        fprintf(stderr, "rank %d: %s is wrong\n", rank, program);
}

/* Integers that rank 0 sends backwards and the others as they are. */
static void negative_extent(void)
{
    MPI_Datatype backwards;
    MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &backwards);
    MPI_Type_commit(&backwards);
    int data[4], from_all[4 * MOST_RANKS], right = 1;
    MPI_Datatype type = rank == 0 ? backwards : MPI_INT;
    int *first = rank == 0 ? data + 3 : data;
    for (int i = 0; i < 4; i++)
        data[i] = rank == 0 ? i : -1;
    MPI_Bcast(first, 4, type, 0, comm);
    for (int i = 0; i < 4; i++)
        right &= data[i] == (rank == 0 ? i : 3 - i);
    check(right, "a broadcast backwards");
    for (int all_get = 0; all_get < 2; all_get++) {
        for (int i = 0; i < 4; i++)
            data[i] = 10 * rank + i;
        if (all_get)
            MPI_Allgather(first, 4, type, from_all, 4, MPI_INT, comm);
        else
            MPI_Gather(first, 4, type, from_all, 4, MPI_INT, 0, comm);
        right = 1;
        for (int i = 0; i < 4 * ranks; i++)
            right &= from_all[i] == (i < 4 ? 3 - i : 10 * (i / 4) + i % 4);
        check(right || (!all_get && rank > 0), all_get ? "an allgather backwards" : "a gather backwards");
    }
    MPI_Type_free(&backwards);
}

/* One integer that rank 0 sends many times. */
static void zero_extent(void)
{
    MPI_Datatype still;
    MPI_Type_create_resized(MPI_INT, 0, 0, &still);
    MPI_Type_commit(&still);
    int data[5] = {7, 0, 0, 0, 0}, parts[2] = {-1, -1}, right = 1;
    MPI_Bcast(data, 5, rank == 0 ? still : MPI_INT, 0, comm);
    for (int i = 0; i < 5; i++)
        right &= data[i] == (rank > 0 || i == 0 ? 7 : 0);
    check(right, "a broadcast of one integer");
    data[0] = 70;
    MPI_Scatter(data, 2, rank == 0 ? still : MPI_INT, parts, 2, MPI_INT, 0, comm);
    check(parts[0] == 70 && parts[1] == 70, "a scatter of one integer");
    MPI_Type_free(&still);
}

/* Data without size on some ranks, and no elements on others. */
static void no_size(void)
{
    MPI_Datatype empty;
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    int data = 5, others[MOST_RANKS];
    memset(others, -1, sizeof others);
    MPI_Bcast(&data, rank % 2 ? 9 : 0, rank % 2 ? empty : MPI_INT, 0, comm);
    MPI_Allgather(&data, rank % 2 ? 0 : 3, rank % 2 ? MPI_INT : empty, others, rank % 2, empty, comm);
    check(data == 5 && others[0] == -1, "what has no size");
    MPI_Type_free(&empty);
}

/* Absolute addresses on odd ranks. */
static void absolute(void)
{
    int data[2] = {rank, rank + 1}, others[2 * MOST_RANKS], ones[2] = {1, 1}, right = 1;
    MPI_Aint at[2];
    MPI_Datatype both;
    MPI_Get_address(&data[0], &at[0]);
    MPI_Get_address(&data[1], &at[1]);
    MPI_Type_create_hindexed(2, ones, at, MPI_INT, &both);
    MPI_Type_commit(&both);
    if (rank % 2)
        MPI_Allgather(MPI_BOTTOM, 1, both, others, 2, MPI_INT, comm);
    else
        MPI_Allgather(data, 2, MPI_INT, others, 2, MPI_INT, comm);
    for (int i = 0; i < 2 * ranks; i++)
        right &= others[i] == (i + 1) / 2;
    check(right, "an allgather of absolute addresses");
    MPI_Type_free(&both);
}

/* One element of more bytes than an int counts, in one part on rank 0 and in two on the others: 4.5 GiB
 * of memory for each rank. */
static void large_element(void)
{
    int length = 280000000, half = length / 2, lengths[] = {half, half};
    MPI_Aint starts[] = {0, (half + 1) * (MPI_Aint)sizeof(double)};
    double *data = malloc((size_t)(length + 1) * sizeof *data);
    long bad = 0;
    MPI_Datatype type;
    if (rank == 0)
        MPI_Type_contiguous(length, MPI_DOUBLE, &type);
    else
        MPI_Type_create_hindexed(2, lengths, starts, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i <= length; i++)
        data[i] = rank == 0 ? i : -1;
    MPI_Bcast(data, 1, type, 0, comm);
    for (int i = 0; rank > 0 && i <= length; i++)
        bad += data[i] != (i < half ? i : i == half ? -1 : i - 1);
    check(bad == 0, "a broadcast of a large element");
    MPI_Type_free(&type);
    free(data);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"negative-extent", negative_extent},
    {"zero-extent", zero_extent},
    {"no-size", no_size},
    {"absolute", absolute},
    {"large-element", large_element},
};

int main(int argc, char **argv)
{
    int world_rank, sum = 0, most = argc > 2 ? atoi(argv[2]) : 0;
    const MPI_Datatype basic[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    MPI_Init(&argc, &argv);
    kinds = basic;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    comm = worlds[0] = MPI_COMM_WORLD;
    rank = world_rank;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &worlds[1]);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (argc > 1 && strcmp(argv[1], programs[i].name) == 0)
            programs[i].run();
    seed = strtoull(argv[argc > 1], NULL, 10);
    shared = 88172645463325252u ^ (seed << 20);
    own = shared ^ ((uint64_t)(rank + 1) << 8);
    for (int i = 0; i < 20; i++)
        all(2), mine(2);
    size_t room = ARENA * (size_t)ranks;
    sent.arena = new_arena(), received.arena = new_arena();
    before_sent = malloc(ARENA), expected = malloc(ARENA);
    flat_out = malloc(room), flat_in = malloc(room);
    MPI_Op ops[2];
    MPI_Op_create(compose, 0, &ops[0]);
    MPI_Op_create(add, 1, &ops[1]);
    while (calls < most)
        all(4) ? one_call() : one_reduction(ops, argc > 3);
    MPI_Op_free(&ops[0]);
    MPI_Op_free(&ops[1]);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (world_rank == 0)
        printf("%d calls a rank, %d wrong, %d types drawn anew\n", calls, sum, misunderstood);
    MPI_Comm_free(&worlds[1]);
    MPI_Finalize();
    return sum != 0;
}

/*
 * RUN:    up to 16 ranks.
 * EXPECT: `N calls a rank, 0 wrong`, and how many types rank 0 drew anew.
 */
