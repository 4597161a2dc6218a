/* A program: its steps are drawn, and a rank takes them. */

static void take(int number)
{
    const struct step *s = &steps[number];
    if (s->kind == MESSAGE) {
        message(number);
    } else if (comms[s->comm] == MPI_COMM_NULL) {
        return;
    } else if (s->form == AGAIN) {
        complete_one(s->again);
        cycles[s->again]++;
        fill(s->again, cycles[s->again]);
        if (draw(&own, 2))
            MPI_Startall(1, &works[s->again].request);
        else
            MPI_Start(&works[s->again].request);
        works[s->again].active = 1;
    } else {
        begin(number);
    }
}

static int only_starts(const struct step *s) { return s->form == STARTED; }

/* The steps of a program: the same on all ranks. */
static void plan_program(void)
{
    int persistent[MOST_STEPS], made = 0;
    for (int number = 0; number < step_count; number++) {
        struct step *s = &steps[number];
        memset(s, 0, sizeof *s);
        s->comm = (int)draw(&shared, COMMS);
        s->kind = draw(&shared, 5) == 0 ? MESSAGE : (enum kind)draw(&shared, KINDS);
        unsigned form = draw(&shared, 8);
        s->form = form < 2 ? BLOCKING : form < 6 || !has_persistent ? STARTED : PERSISTENT;
        unsigned size = draw(&shared, 20);
        s->count = size == 0 ? 0 : size == 1 ? 20000 : size < 5 ? 1000 : 1 + (int)draw(&shared, 30);
        s->strided = !reduces(s->kind) && draw(&shared, 3) == 0;
        s->affine = reduces(s->kind) && draw(&shared, 3) == 0;
        /* Roots are ranks of the smallest part of a communicator that is split. */
        s->root = (int)draw(&shared, s->comm < 3 ? (unsigned)ranks : 1u);
        if (s->kind == MESSAGE) {
            s->root = (int)draw(&shared, (unsigned)ranks);
            s->to = (int)draw(&shared, (unsigned)ranks);
            s->form = draw(&shared, 2) ? BLOCKING : STARTED;
            if (s->root == s->to)
                s->to = (s->root + 1) % ranks;
        } else if (s->form == PERSISTENT && ranks < 4 && s->comm > 2) {
            /* One rank alone is left to MPICH. */
            s->form = STARTED;
        } else if (s->form == PERSISTENT && made > 0 && draw(&shared, 2)) {
            s->form = AGAIN;
            s->again = persistent[draw(&shared, (unsigned)made)];
            s->comm = steps[s->again].comm;
        } else if (s->form == PERSISTENT) {
            persistent[made++] = number;
        }
        if (are_alike && s->form != AGAIN && s->kind != MESSAGE && draw(&shared, 8)) {
            static const enum kind often[] = {BCAST, ALLREDUCE, ALLGATHER, SCAN};
            s->kind = often[draw(&shared, 4)];
            s->comm = s->root = s->affine = s->strided = 0;
            s->count = draw(&shared, 2) ? 4 : 1000;
        }
    }
}

static void run_program(void)
{
    memset(works, 0, sizeof works);
    memset(cycles, 0, sizeof cycles);
    for (int number = 0; number < step_count;) {
        int end = number;
        while (end < step_count && only_starts(&steps[end]))
            end++;
        /* What only starts may be started in another order, but for what is on one communicator;
         * messages have tags of their own. */
        int order[MOST_STEPS], count = 0, taken[MOST_STEPS] = {0};
        while (count < end - number) {
            int at = number + (int)draw(&own, (unsigned)(end - number));
            while (taken[at])
                at = at + 1 < end ? at + 1 : number;
            for (int before = number; before < at; before++)
                if (!taken[before] && steps[before].kind != MESSAGE && steps[at].kind != MESSAGE
                    && steps[before].comm == steps[at].comm) {
                    at = before;
                    break;
                }
            taken[at] = 1;
            order[count++] = at;
        }
        for (int i = 0; i < count; i++) {
            take(order[i]);
            if (draw(&own, 3) == 0)
                complete_some(number, 0);
        }
        if (end == number)
            take(end++);
        number = end;
        if (draw(&own, 2))
            complete_some(number, 0);
        if (draw(&own, 40) == 0)
            usleep(2000);
    }
    complete_some(step_count, 1);
    for (int number = 0; number < step_count; number++) {
        struct work *w = &works[number];
        if (w->sent != NULL && steps[number].form == PERSISTENT && w->request != MPI_REQUEST_NULL) {
            MPI_Request_free(&w->request);
            if (w->type != MPI_UNSIGNED)
                MPI_Type_free(&w->type);
        }
        release(number);
    }
}
