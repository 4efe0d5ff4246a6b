/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/auth/dkim_keys.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "base/secret.h"

GPtrArray *dkim_keys_read(const Config *config)
{
    GPtrArray *keys = g_ptr_array_new_with_free_func((GDestroyNotify)dkim_key_free);
    for (const char *const *name = config_family(config, "dkim"); *name; name++) {
        g_autofree char *section = g_strconcat("dkim.", *name, NULL), *pem = NULL;
        g_autoptr(GError) error = NULL;
        const char *file = config_string(config, section, "key_file");
        const char *domain = config_string(config, section, "domain");
        const char *selector = config_string(config, section, "selector");
        const char *word = config_string(config, section, "use");
        bool both = strcmp(word, "both") == 0;
        DkimUse use = both ? DKIM_USE_SIGN | DKIM_USE_SEAL : strcmp(word, "arc") == 0 ? DKIM_USE_SEAL : DKIM_USE_SIGN;
        if (!file || !domain || !selector || !config_bool(config, section, "enabled"))
            continue;
        pem = secret_file_read(file, SECRET_FILE_MAX, &error);
        DkimKey *key = pem ? dkim_key_new(&(DkimKeyPlace){domain, selector, use}, pem, &error) : NULL;
        if (key && (use & DKIM_USE_SEAL) && !dkim_key_fits(key, domain, DKIM_USE_SEAL))
            log_warn("[%s] use: this is an Ed25519 key, which makes no seals (ARC); an RSA key does", section);
        if (key)
            g_ptr_array_add(keys, key);
        else
            log_error("[%s] key_file %s: %s; mail is not signed with it", section, file, error->message);
    }
    return keys;
}

/* The next key from *at on that fits; NULL: there is none. */
static const DkimKey *next_key(const GPtrArray *keys, const char *domain, DkimUse use, guint *at)
{
    for (; keys && *at < keys->len; (*at)++)
        if (dkim_key_fits(keys->pdata[*at], domain, use))
            return keys->pdata[(*at)++];
    return NULL;
}

bool dkim_keys_fit(const GPtrArray *keys, const Signing *signing)
{
    guint sign = 0, seal = 0;
    return (signing->dkim && next_key(keys, signing->domain, DKIM_USE_SIGN, &sign)) ||
           (signing->seal && next_key(keys, signing->domain, DKIM_USE_SEAL, &seal));
}

size_t dkim_keys_place(const Message *message)
{
    const Field *first = message_field_count(message) > 0 ? message_field(message, 0) : NULL;
    return first && first->name_length == 0 ? first->length : 0;
}

/* The message of these bytes with the fields put into it. */
static GBytes *with_fields(GBytes *octets, const Message *message, const char *fields, size_t fields_length)
{
    size_t length, start = dkim_keys_place(message);
    const guint8 *data = g_bytes_get_data(octets, &length);
    GByteArray *whole = g_byte_array_sized_new((guint)(fields_length + length));
    g_byte_array_append(whole, data, (guint)start);
    g_byte_array_append(whole, (const guint8 *)fields, (guint)fields_length);
    g_byte_array_append(whole, data + start, (guint)(length - start));
    return g_byte_array_free_to_bytes(whole);
}

/* The signatures of all keys that fit, and before them the seal, which covers them. */
static GString *make_fields(const GPtrArray *keys, const Signing *signing, GBytes *octets, const Message *message,
                            const char *about)
{
    GString *fields = g_string_new(NULL);
    const DkimKey *key;
    for (guint at = 0; signing->dkim && (key = next_key(keys, signing->domain, DKIM_USE_SIGN, &at));) {
        g_autoptr(GError) fault = NULL;
        g_autofree char *field = dkim_key_sign(key, message, &fault);
        if (field)
            g_string_append(fields, field);
        else
            log_warn("%s not signed: %s", about, fault->message);
    }
    guint first = 0;
    key = signing->seal ? next_key(keys, signing->domain, DKIM_USE_SEAL, &first) : NULL;
    if (!key)
        return fields;
    g_autoptr(GError) fault = NULL;
    g_autoptr(GBytes) whole = with_fields(octets, message, fields->str, fields->len);
    g_autoptr(Message) with = message_new(whole);
    g_autofree char *sealed = arc_seal(key, with, signing->seal, &fault);
    if (sealed)
        g_string_prepend(fields, sealed);
    else if (!g_error_matches(fault, FAIL, FAIL_NEVER))
        log_warn("%s not sealed: %s", about, fault->message);
    /* Else it has lost the fields of its chain, as the list may want it. The log would say so for each copy. */
    return fields;
}

char *dkim_keys_fields(const GPtrArray *keys, const Signing *signing, GBytes *octets, const char *about)
{
    g_autoptr(Message) message = message_new(octets);
    return g_string_free(make_fields(keys, signing, octets, message, about), FALSE);
}

GBytes *dkim_keys_sign(const GPtrArray *keys, const Signing *signing, GBytes *octets, const char *about)
{
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GString) fields = make_fields(keys, signing, octets, message, about);
    return with_fields(octets, message, fields->str, fields->len);
}
