/* What a rank sends and what it receives: memory, blocks of data in it, and the types that are
 * drawn for them. */

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
