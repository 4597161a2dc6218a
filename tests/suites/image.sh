#!/bin/bash
# Makes the root of an image out of what is installed here: a program under Debian's Open MPI, with
# the plugins and libraries that it needs, and nothing else.
#
#     tests/suites/image.sh ROOT PROGRAM     the program becomes /job/NAME
#     tests/suites/image.sh ROOT --musl      one program, /job/hello and /bin/true, linked to musl
set -euo pipefail
root=$1 program=$2
mkdir -p "$root"/{tmp,proc,sys,dev,etc,run,job,usr/bin,usr/lib,usr/lib64,usr/share}
cp /etc/passwd /etc/group "$root/etc"
for name in bin lib lib64; do ln -s "usr/$name" "$root/$name"; done

if [ "$program" = --musl ]; then
    printf '#include <stdio.h>\nint main(void) { return puts("hello from musl") < 0; }\n' >"$root/job/hello.c"
    musl-gcc -o "$root/job/hello" "$root/job/hello.c"
    cp "$root/job/hello" "$root/usr/bin/true"
    cp -L /lib/ld-musl-*.so.1 "$root/lib"
    exit
fi

# copy FILE...: each to where it is here.
copy() {
    local file
    for file; do
        [ -e "$root$file" ] || install -D "$file" "$root$file"
    done
}

# The libraries that files need, by path.
libraries_of() {
    ldd "$@" | sed -n -E 's/^\t(.*=> )?(\/[^ ]*) .*/\2/p' | sort -u
}

folder=$(dirname "$(libraries_of "$program" | grep -m 1 '/libmpi\.so')")
mapfile -t plugins < <(find "$folder"/openmpi/lib/openmpi3 "$folder"/pmix2/lib/pmix -name '*.so')
mapfile -t libraries < <(libraries_of "$program" /bin/true /bin/sleep "${plugins[@]}")
cp "$program" "$root/job"
cp /bin/true /bin/sleep "$root/usr/bin"
copy "${plugins[@]}" "${libraries[@]}"
# What every image with glibc has of it.
glibc=$(dirname "$(libraries_of /bin/true | grep -m 1 '/libc\.so')")
copy "$glibc"/lib{pthread,dl,rt,m,util}.so.*[0-9]
cp -r /etc/openmpi "$root/etc"
cp -rL /usr/share/openmpi "$root/usr/share"
