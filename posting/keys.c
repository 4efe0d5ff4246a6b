/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "posting/keys.h"

#include "base/log.h"
#include "mail/dkim.h"

GPtrArray *keys_read(const Config *config)
{
    GPtrArray *keys = g_ptr_array_new_with_free_func((GDestroyNotify)dkim_key_free);
    for (const char *const *name = config_family(config, "dkim"); *name; name++) {
        g_autofree char *section = g_strconcat("dkim.", *name, NULL), *pem = NULL;
        g_autoptr(GError) error = NULL;
        const char *file = config_string(config, section, "key_file");
        const char *domain = config_string(config, section, "domain");
        const char *selector = config_string(config, section, "selector");
        if (!file || !domain || !selector || !config_bool(config, section, "enabled"))
            continue;
        DkimKey *key = g_file_get_contents(file, &pem, NULL, &error) ? dkim_key_new(domain, selector, pem, &error)
                                                                     : NULL;
        if (key)
            g_ptr_array_add(keys, key);
        else
            log_error("[%s] key_file %s: %s; mail is not signed with it", section, file, error->message);
    }
    return keys;
}
