/* Datatypes that are drawn, and where their items are. */

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
