/* How a step begins and how it is completed, whether it is a collective or a message. */

#define CALL(Name, Iname, ...)                                                                     \
    (form == BLOCKING  ? MPI_##Name(__VA_ARGS__, comm)                                             \
     : form == STARTED ? MPI_I##Iname(__VA_ARGS__, comm, request)                                  \
                       : INIT(Name)(__VA_ARGS__, comm, MPI_INFO_NULL, request))

static void begin(int number)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    enum form form = s->form;
    MPI_Comm comm = comms[s->comm];
    MPI_Request *request = &w->request;
    int me = w->rank = places[s->comm], n = w->ranks = sizes[s->comm], x = stride(s);
    int all = sends_all(s, me), count = s->count, own_length = length(s, me, s->root);
    MPI_Datatype type = MPI_UNSIGNED;
    MPI_Op op = s->affine ? compose : MPI_SUM;
    w->request = MPI_REQUEST_NULL;
    if (s->strided) {
        MPI_Type_create_resized(MPI_UNSIGNED, 0, 2 * sizeof(value), &type);
        MPI_Type_commit(&type);
    }
    if (s->affine) {
        MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
        MPI_Type_commit(&type);
    }
    w->sent = room((size_t)(place_of(s, me, n, 0) + (all ? 0 : own_length)) * 2 + 2);
    w->taken = room((size_t)(place_of(s, me, n, 1) + count + own_length) * 2 + 2);
    int *numbers = w->numbers = malloc(4 * (size_t)n * sizeof *numbers);
    MPI_Datatype *types = w->types = malloc((size_t)n * sizeof *types);
    int *given = numbers, *starts = numbers + n, *taken = numbers + 2 * n, *places_taken = numbers + 3 * n;
    int bytes = s->kind == ALLTOALLW ? (int)sizeof(value) * x : 1;
    for (int other = 0; other < n; other++) {
        given[other] = length(s, me, other), starts[other] = place_of(s, me, other, 0) * bytes;
        taken[other] = length(s, other, me), places_taken[other] = place_of(s, me, other, 1) * bytes;
        types[other] = type;
    }
    if (s->kind == SCATTERV && me != s->root)
        own_length = length(s, s->root, me);
    fill(number, 0);
    switch (s->kind) {
    case BARRIER:
        if (form == BLOCKING)
            MPI_Barrier(comm);
        else if (form == STARTED)
            MPI_Ibarrier(comm, request);
        else
            INIT(Barrier)(comm, MPI_INFO_NULL, request);
        break;
    case BCAST: CALL(Bcast, bcast, w->taken, count, type, s->root); break;
    case GATHER: CALL(Gather, gather, w->sent, count, type, w->taken, count, type, s->root); break;
    case GATHERV: CALL(Gatherv, gatherv, w->sent, own_length, type, w->taken, taken, places_taken, type, s->root); break;
    case SCATTER: CALL(Scatter, scatter, w->sent, count, type, w->taken, count, type, s->root); break;
    case SCATTERV: CALL(Scatterv, scatterv, w->sent, given, starts, type, w->taken, length(s, s->root, me), type, s->root); break;
    case ALLGATHER: CALL(Allgather, allgather, w->sent, count, type, w->taken, count, type); break;
    case ALLGATHERV: CALL(Allgatherv, allgatherv, w->sent, own_length, type, w->taken, taken, places_taken, type); break;
    case ALLTOALL: CALL(Alltoall, alltoall, w->sent, count, type, w->taken, count, type); break;
    case ALLTOALLV: CALL(Alltoallv, alltoallv, w->sent, given, starts, type, w->taken, taken, places_taken, type); break;
    case ALLTOALLW: CALL(Alltoallw, alltoallw, w->sent, given, starts, types, w->taken, taken, places_taken, types); break;
    case REDUCE: CALL(Reduce, reduce, w->sent, w->taken, count, type, op, s->root); break;
    case ALLREDUCE: CALL(Allreduce, allreduce, w->sent, w->taken, count, type, op); break;
    case REDUCE_SCATTER: CALL(Reduce_scatter, reduce_scatter, w->sent, w->taken, given, type, op); break;
    case REDUCE_SCATTER_BLOCK: CALL(Reduce_scatter_block, reduce_scatter_block, w->sent, w->taken, count, type, op); break;
    case SCAN: CALL(Scan, scan, w->sent, w->taken, count, type, op); break;
    case EXSCAN: CALL(Exscan, exscan, w->sent, w->taken, count, type, op); break;
    default: break;
    }
    /* Nobody needs the handle of a type any more, but for persistent requests, which Open MPI's own
     * crash without. */
    w->type = MPI_UNSIGNED;
    if (form == PERSISTENT)
        w->type = type;
    else if (type != MPI_UNSIGNED)
        MPI_Type_free(&type);
    if (form == PERSISTENT)
        MPI_Start(request);
    w->active = form != BLOCKING;
    if (form == BLOCKING)
        check(number, 0);
}

static void release(int number)
{
    struct work *w = &works[number];
    free(w->sent), free(w->taken), free(w->numbers), free(w->types);
    w->sent = w->taken = NULL, w->numbers = NULL, w->types = NULL;
}

static int cycles[MOST_STEPS];

/* Something has completed here. */
static void completed(int number)
{
    struct work *w = &works[number];
    w->active = 0;
    if (steps[number].kind == MESSAGE) {
        const struct step *s = &steps[number];
        if (rank == s->to)
            for (int i = 0; i < s->count; i++)
                if (w->taken[i] != element(number, s->root, s->to, i)) {
                    wrong++;
                    break;
                }
        return;
    }
    check(number, cycles[number]);
}

static void message(int number)
{
    const struct step *s = &steps[number];
    struct work *w = &works[number];
    if (rank != s->root && rank != s->to)
        return;
    w->sent = room((size_t)s->count), w->taken = room((size_t)s->count);
    w->request = MPI_REQUEST_NULL;
    for (int i = 0; i < s->count; i++)
        w->sent[i] = element(number, s->root, s->to, i);
    if (s->form == STARTED) {
        if (rank == s->root)
            MPI_Isend(w->sent, s->count, MPI_UNSIGNED, s->to, number, MPI_COMM_WORLD, &w->request);
        else
            MPI_Irecv(w->taken, s->count, MPI_UNSIGNED, s->root, number, MPI_COMM_WORLD, &w->request);
        w->active = 1;
        return;
    }
    if (rank == s->root)
        MPI_Send(w->sent, s->count, MPI_UNSIGNED, s->to, number, MPI_COMM_WORLD);
    else
        MPI_Recv(w->taken, s->count, MPI_UNSIGNED, s->root, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    completed(number);
}

/* Completes some of what is under way, in one way or another; all of it where `all` says so. */
static void complete_some(int upto, int all)
{
    MPI_Request list[MOST_STEPS];
    int whose[MOST_STEPS], count = 0;
    for (int number = 0; number < upto; number++)
        if (works[number].active && (all || draw(&own, 3) == 0)) {
            whose[count] = number;
            list[count++] = works[number].request;
        }
    if (count == 0)
        return;
    int done = 0, flag = 0, index, indices[MOST_STEPS];
    unsigned way = all ? draw(&own, 4) : draw(&own, 7);
    /* MPICH 4.0's own says that persistent ones have failed, and names none. */
    for (int i = 0; way == 4 && i < count; i++)
        if (steps[whose[i]].form == PERSISTENT)
            way = 5;
    switch (way) {
    case 0:
        MPI_Waitall(count, list, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++)
            works[whose[i]].request = list[i], completed(whose[i]);
        return;
    case 1:
        for (int i = 0; i < count; i++) {
            MPI_Waitany(count, list, &index, MPI_STATUS_IGNORE);
            works[whose[index]].request = list[index], completed(whose[index]);
            list[index] = MPI_REQUEST_NULL;
        }
        return;
    case 2:
        while (done < count) {
            int some;
            MPI_Waitsome(count, list, &some, indices, MPI_STATUSES_IGNORE);
            for (int i = 0; i < some; i++) {
                int at = indices[i];
                works[whose[at]].request = list[at], completed(whose[at]);
                list[at] = MPI_REQUEST_NULL;
            }
            done += some;
        }
        return;
    case 3:
        for (int i = 0; i < count; i++) {
            MPI_Status status;
            flag = 0;
            if (draw(&own, 2))
                while (!flag)
                    MPI_Request_get_status(list[i], &flag, &status);
            MPI_Wait(&list[i], &status);
            works[whose[i]].request = list[i], completed(whose[i]);
        }
        return;
    case 4:
        MPI_Testall(count, list, &flag, MPI_STATUSES_IGNORE);
        for (int i = 0; flag && i < count; i++)
            works[whose[i]].request = list[i], completed(whose[i]);
        return;
    case 5:
        MPI_Testany(count, list, &index, &flag, MPI_STATUS_IGNORE);
        if (flag && index != MPI_UNDEFINED)
            works[whose[index]].request = list[index], completed(whose[index]);
        return;
    default:
        MPI_Test(&list[0], &flag, MPI_STATUS_IGNORE);
        if (flag)
            works[whose[0]].request = list[0], completed(whose[0]);
        return;
    }
}

static void complete_one(int number)
{
    if (works[number].active) {
        MPI_Wait(&works[number].request, MPI_STATUS_IGNORE);
        completed(number);
    }
}
