/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as a pickle: it is refused with a reason, or gives values of which there are not many more than bytes, and
 * only of classes that were taken; whatever it holds is written as a mail or refused. The same bytes as a file of mails
 * give no more than there were.
 */
#include <string.h>

#include "lists/moving/mmdf.h"
#include "lists/moving/pickle.h"
#include "lists/moving/python_mail.h"
#include "t/fuzz/fuzz.h"

static const char *const every_class[] = {"a", "b.", "email.", "Mailman.", "copy_reg.", "__builtin__.object", NULL};

static bool is_taken(const char *class)
{
    return g_str_has_prefix(class, "a.") || strcmp(class, "a") == 0 || g_str_has_prefix(class, "b.") ||
           g_str_has_prefix(class, "email.") || g_str_has_prefix(class, "Mailman.") ||
           g_str_has_prefix(class, "copy_reg.") || strcmp(class, "__builtin__.object") == 0;
}

/* Each value is looked at once, however often it is named. */
static void look(const PickleValue *value, GHashTable *seen, size_t most)
{
    g_autoptr(GPtrArray) left = g_ptr_array_new();
    g_ptr_array_add(left, (void *)value);
    while (left->len > 0) {
        const PickleValue *one = g_ptr_array_steal_index_fast(left, left->len - 1);
        if (!one || !g_hash_table_add(seen, (void *)one))
            continue;
        require(g_hash_table_size(seen) <= 2 * most + 2);
        require(one->type != PICKLE_OBJECT || is_taken(one->bytes->str));
        for (guint i = 0; one->items && i < one->items->len; i++)
            g_ptr_array_add(left, one->items->pdata[i]);
        require(one->type != PICKLE_DICT || one->items->len % 2 == 0);
        g_ptr_array_add(left, one->arguments);
        g_ptr_array_add(left, one->state);
    }
}

static bool count(GBytes *mail, void *data, GError **error)
{
    (void)error;
    *(size_t *)data += g_bytes_get_size(mail);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bytes = 0;
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) file = g_bytes_new_static(data, size);
    require(mmdf_each(file, count, &bytes, NULL) && bytes <= size);
    g_autoptr(Pickle) pickle = pickle_read(data, size, every_class, &error);
    require(pickle || (error && error->message));
    if (!pickle)
        return 0;
    g_autofree char *sender = NULL;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    look(pickle_root(pickle), seen, size);
    g_autoptr(GBytes) mail = python_mail_bytes(pickle_root(pickle), &sender, NULL);
    require(!mail || g_bytes_get_size(mail) > 0);
    return 0;
}
