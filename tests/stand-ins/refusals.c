/*
 * A system that refuses some calls, as containers and limits do: those that REFUSED names, on the
 * rank REFUSED_ON, or on all. To be preloaded behind libtreepie.so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_refused(const char *name)
{
    const char *names = getenv("REFUSED"), *on = getenv("REFUSED_ON");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank)
        rank = getenv("PMI_RANK");
    return names && strstr(names, name) && (!on || (rank && !strcmp(on, rank)));
}

int memfd_create(const char *name, unsigned flags)
{
    if (is_refused("memfd_create")) {
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_memfd_create, name, flags);
}

ssize_t process_vm_readv(pid_t process, const struct iovec *own, unsigned long n, const struct iovec *theirs,
                         unsigned long m, unsigned long flags)
{
    if (is_refused("process_vm_readv")) {
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_process_vm_readv, process, own, n, theirs, m, flags);
}

/* Memory that is full. */
int fallocate64(int file, int mode, off64_t from, off64_t bytes)
{
    if (is_refused("fallocate")) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_fallocate, file, mode, from, bytes);
}

/* MPI's tool interface: any code but 0 says no. */
int MPI_T_cvar_write(void *handle, const void *value)
{
    static int (*next)(void *, const void *);
    if (is_refused("MPI_T_cvar_write"))
        return 1;
    if (!next)
        next = (int (*)(void *, const void *))dlsym(RTLD_NEXT, "MPI_T_cvar_write");
    return next(handle, value);
}

/* What Open MPI's tool interface calls for that. */
int mca_base_var_set_value(int variable, const void *value, size_t size, int source, const char *file)
{
    static int (*next)(int, const void *, size_t, int, const char *);
    if (is_refused("mca_base_var_set_value"))
        return -1;
    if (!next)
        next = (int (*)(int, const void *, size_t, int, const char *))dlsym(RTLD_NEXT, "mca_base_var_set_value");
    return next(variable, value, size, source, file);
}
