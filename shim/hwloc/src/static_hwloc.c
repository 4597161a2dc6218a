/* What Debian's static library of hwloc lacks in a library that shall need nothing but the C
 * library; scripts/build --portable links it in.
 *
 * It was compiled for programs, which find variables of the C library at fixed distances. In a
 * library these have to be its own: the script renames hwloc's uses of them to those here. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#define OWN __attribute__((visibility("hidden")))

OWN FILE *treepie_stderr, *treepie_stdout;
OWN char *treepie_program_invocation_name;

__attribute__((constructor)) static void point_at_the_c_library(void)
{
    treepie_stderr = stderr;
    treepie_stdout = stdout;
    treepie_program_invocation_name = program_invocation_name;
}

/* The part of libudev that hwloc calls: there is no udev. hwloc then leaves the names of devices
 * out, which Treepie does not read. */

OWN void *udev_new(void) { return NULL; }

OWN void *udev_unref(void *udev)
{
    (void)udev;
    return NULL;
}

OWN void *udev_device_new_from_subsystem_sysname(void *udev, const char *subsystem, const char *name)
{
    (void)udev;
    (void)subsystem;
    (void)name;
    return NULL;
}

OWN const char *udev_device_get_property_value(void *device, const char *key)
{
    (void)device;
    (void)key;
    return NULL;
}

OWN void *udev_device_unref(void *device)
{
    (void)device;
    return NULL;
}
