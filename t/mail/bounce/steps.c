/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/mail/bounce/steps.h"

#include <glib.h>
#include <string.h>

static uint64_t steps;

uint64_t steps_taken(void)
{
    return steps;
}

/* Called by the compiled sources at each block. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

/* The linker calls these in place of the functions of the C library and of GLib. */
char *__real_strstr(const char *text, const char *piece);
char *__wrap_strstr(const char *text, const char *piece);
char *__wrap_strstr(const char *text, const char *piece)
{
    char *found = __real_strstr(text, piece);
    steps += found ? (size_t)(found - text) : strlen(text);
    return found;
}

char *__real_strcasestr(const char *text, const char *piece);
char *__wrap_strcasestr(const char *text, const char *piece);
char *__wrap_strcasestr(const char *text, const char *piece)
{
    char *found = __real_strcasestr(text, piece);
    steps += found ? (size_t)(found - text) : strlen(text);
    return found;
}

char *__real_strchr(const char *text, int octet);
char *__wrap_strchr(const char *text, int octet);
char *__wrap_strchr(const char *text, int octet)
{
    char *found = __real_strchr(text, octet);
    steps += found ? (size_t)(found - text) : strlen(text);
    return found;
}

char *__real_strpbrk(const char *text, const char *octets);
char *__wrap_strpbrk(const char *text, const char *octets);
char *__wrap_strpbrk(const char *text, const char *octets)
{
    char *found = __real_strpbrk(text, octets);
    steps += found ? (size_t)(found - text) : strlen(text);
    return found;
}

size_t __real_strspn(const char *text, const char *octets);
size_t __wrap_strspn(const char *text, const char *octets);
size_t __wrap_strspn(const char *text, const char *octets)
{
    size_t length = __real_strspn(text, octets);
    steps += length;
    return length;
}

size_t __real_strcspn(const char *text, const char *octets);
size_t __wrap_strcspn(const char *text, const char *octets);
size_t __wrap_strcspn(const char *text, const char *octets)
{
    size_t length = __real_strcspn(text, octets);
    steps += length;
    return length;
}

size_t __real_strlen(const char *text);
size_t __wrap_strlen(const char *text);
size_t __wrap_strlen(const char *text)
{
    size_t length = __real_strlen(text);
    steps += length;
    return length;
}

void *__real_memchr(const void *octets, int octet, size_t length);
void *__wrap_memchr(const void *octets, int octet, size_t length);
void *__wrap_memchr(const void *octets, int octet, size_t length)
{
    char *found = __real_memchr(octets, octet, length);
    steps += found ? (size_t)(found - (const char *)octets) : length;
    return found;
}

void *__real_memmem(const void *octets, size_t length, const void *piece, size_t piece_length);
void *__wrap_memmem(const void *octets, size_t length, const void *piece, size_t piece_length);
void *__wrap_memmem(const void *octets, size_t length, const void *piece, size_t piece_length)
{
    char *found = __real_memmem(octets, length, piece, piece_length);
    steps += found ? (size_t)(found - (const char *)octets) : length;
    return found;
}

char *__real_g_strndup(const char *text, gsize length);
char *__wrap_g_strndup(const char *text, gsize length);
char *__wrap_g_strndup(const char *text, gsize length)
{
    steps += text ? strnlen(text, length) : 0;
    return __real_g_strndup(text, length);
}

char *__real_g_strdup(const char *text);
char *__wrap_g_strdup(const char *text);
char *__wrap_g_strdup(const char *text)
{
    steps += text ? strlen(text) : 0;
    return __real_g_strdup(text);
}

char *__real_g_ascii_strdown(const char *text, gssize length);
char *__wrap_g_ascii_strdown(const char *text, gssize length);
char *__wrap_g_ascii_strdown(const char *text, gssize length)
{
    steps += length < 0 ? strlen(text) : (size_t)length;
    return __real_g_ascii_strdown(text, length);
}

char *__real_g_string_chunk_insert(GStringChunk *chunk, const char *text);
char *__wrap_g_string_chunk_insert(GStringChunk *chunk, const char *text);
char *__wrap_g_string_chunk_insert(GStringChunk *chunk, const char *text)
{
    steps += strlen(text);
    return __real_g_string_chunk_insert(chunk, text);
}

GString *__real_g_string_insert_len(GString *string, gssize place, const char *text, gssize length);
GString *__wrap_g_string_insert_len(GString *string, gssize place, const char *text, gssize length);
GString *__wrap_g_string_insert_len(GString *string, gssize place, const char *text, gssize length)
{
    steps += length < 0 ? strlen(text) : (size_t)length;
    return __real_g_string_insert_len(string, place, text, length);
}
