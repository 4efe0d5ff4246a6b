/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Memory that ends. In a plain program malloc() and its like, of all
 * libraries, find none; the sanitizer's own allocator cannot be told to, so
 * there the process dies at that allocation, as GLib would make it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "t/runners/faultcalls.h"

#ifdef __SANITIZE_ADDRESS__

/* Of libasan; its header is not in every package. */
extern int __sanitizer_install_malloc_and_free_hooks(void (*allocated)(const volatile void *, size_t),
                                                     void (*released)(const volatile void *));

static void allocated(const volatile void *at, size_t size)
{
    (void)at;
    (void)size;
    if (!faults_may_allocate())
        kill(getpid(), SIGKILL);
}

static void released(const volatile void *at)
{
    (void)at;
}

__attribute__((constructor)) static void install(void)
{
    __sanitizer_install_malloc_and_free_hooks(allocated, released);
}

#else

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static void *none(void)
{
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t size)
{
    return faults_may_allocate() ? __libc_malloc(size) : none();
}

void *calloc(size_t count, size_t size)
{
    return faults_may_allocate() ? __libc_calloc(count, size) : none();
}

void *realloc(void *old, size_t size)
{
    return faults_may_allocate() ? __libc_realloc(old, size) : none();
}

#endif
