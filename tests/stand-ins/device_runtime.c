/*
 * A stand-in for the runtime of an accelerator: CUDA's driver, HIP or Level Zero, by the name of
 * its file. Its memory can't be read or written by the processor, but for MPI libraries, which know
 * how to: when they touch it, it is opened until `device_close` is called. Anybody else who touches
 * it ends the job.
 *
 * DEVICE_ANSWERS says what the runtime answers when it is asked whose memory an address is:
 *
 *     honest      what is so
 *     managed     that its memory is managed, which it is: the processor can read it
 *     error       an error, whatever the address; the memory is the host's
 *     lies        of all memory a kind of memory that is none; the memory is the host's
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char *start;
static size_t size;

static int answers(const char *what)
{
    const char *set = getenv("DEVICE_ANSWERS");
    return strcmp(set ? set : "honest", what) == 0;
}

static int is_own(const void *address)
{
    return start && (const char *)address >= start && (const char *)address < start + size;
}

static void protect(int rights)
{
    if (start && answers("honest") && mprotect(start, size, rights) != 0)
        _exit(98);
}

/* Opens the memory where an MPI library touches it: the first caller that is neither this nor the C library. */
static void touched(int number, siginfo_t *info, void *context)
{
    static const char own[] = "treepie: the processor touched the memory of an accelerator\n";
    void *callers[32];
    Dl_info where;
    (void)context;
    if (!is_own(info->si_addr)) {
        signal(number, SIG_DFL);
        return;
    }
    int depth = backtrace(callers, 32);
    for (int i = 1; i < depth; i++) {
        if (!dladdr(callers[i], &where) || !where.dli_fname)
            continue;
        if (strstr(where.dli_fname, "libc.so") || strstr(where.dli_fname, "libcuda") ||
            strstr(where.dli_fname, "libamdhip64") || strstr(where.dli_fname, "libze_loader"))
            continue;
        if (strstr(where.dli_fname, "libtreepie"))
            break;
        protect(PROT_READ | PROT_WRITE);
        return;
    }
    if (write(2, own, sizeof own - 1) < 0)
        _exit(98);
    _exit(99);
}

void *device_allocate(size_t bytes)
{
    void *first[1];
    struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO};
    backtrace(first, 1); /* loads what it needs, which a handler must not */
    sigaction(SIGSEGV, &action, NULL);
    size = (bytes + 0xffff) & ~(size_t)0xffff;
    start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        _exit(98);
    return start;
}

void device_open(void)
{
    protect(PROT_READ | PROT_WRITE);
}

void device_close(void)
{
    protect(PROT_NONE);
}

/* CUDA's driver. */
int cuPointerGetAttribute(void *value, int attribute, unsigned long long pointer)
{
    int own = is_own((void *)(uintptr_t)pointer);
    if (answers("error") || (!own && !answers("lies")))
        return 1; /* CUDA_ERROR_INVALID_VALUE */
    switch (attribute) {
    case 2: /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
        *(unsigned *)value = answers("lies") ? 77 : 2;
        return 0;
    case 8: /* CU_POINTER_ATTRIBUTE_IS_MANAGED */
        *(unsigned *)value = answers("managed");
        return 0;
    case 11: /* CU_POINTER_ATTRIBUTE_RANGE_START_ADDR */
        *(void **)value = own ? start : NULL;
        return 0;
    case 12: /* CU_POINTER_ATTRIBUTE_RANGE_SIZE */
        *(size_t *)value = own ? size : 0;
        return 0;
    }
    return 1;
}

/* HIP. */
struct hip_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    int is_managed;
    unsigned flags;
};

int hipPointerGetAttributes(struct hip_attributes *found, const void *pointer)
{
    if (answers("error") || (!is_own(pointer) && !answers("lies")))
        return 1; /* hipErrorInvalidValue */
    memset(found, 0, sizeof *found);
    found->type = answers("lies") ? 77 : 2;
    found->device_pointer = (void *)pointer;
    found->is_managed = answers("managed");
    return 0;
}

int hipMemGetAddressRange(void **base, size_t *bytes, void *pointer)
{
    if (!is_own(pointer))
        return 1;
    *base = start, *bytes = size;
    return 0;
}

/* Level Zero, with one driver. */
struct ze_properties {
    int kind;
    void *next;
    int type;
    unsigned long long id, page;
};

int zeDriverGet(unsigned *count, void **drivers)
{
    *count = 1;
    drivers[0] = &start;
    return 0;
}

int zeContextCreate(void *driver, const void *description, void **context)
{
    if (driver != &start || *(const int *)description != 0xd)
        return 1;
    *context = &size;
    return 0;
}

int zeMemGetAllocProperties(void *context, const void *pointer, struct ze_properties *found, void **device)
{
    if (context != &size || found->kind != 0x17 || device || answers("error"))
        return 1;
    /* ZE_MEMORY_TYPE_DEVICE, _SHARED, _UNKNOWN */
    found->type = answers("lies") ? 77 : is_own(pointer) ? answers("managed") ? 3 : 2 : 0;
    return 0;
}

int zeMemGetAddressRange(void *context, const void *pointer, void **base, size_t *bytes)
{
    if (context != &size || !is_own(pointer))
        return 1;
    *base = start, *bytes = size;
    return 0;
}
