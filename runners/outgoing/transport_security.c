/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This reads TLS and AUTH from [transport.NAME]. */
#include <openssl/crypto.h>
#include <string.h>

#include "base/fail.h"
#include "base/secret_file.h"
#include "runners/outgoing/transport_internal.h"

/* With its line end. */
#define PASSWORD_MAX 1024

static SmtpTlsLevel read_level(const char *word)
{
    static const char *const levels[] = {[SMTP_TLS_NONE] = "none", [SMTP_TLS_MAY] = "may",
                                         [SMTP_TLS_REQUIRE] = "require", [SMTP_TLS_VERIFY] = "verify"};
    unsigned level = 0;
    while (strcmp(levels[level], word) != 0)
        level++;
    return level;
}

static unsigned read_mechanisms(const char *const *words)
{
    unsigned mechanisms = 0;
    for (; words && *words; words++)
        mechanisms |= smtp_auth_mechanism(*words);
    return mechanisms;
}

/* The first line of the file; g_free() after it was cleansed. */
static char *read_password(const char *path, GError **error)
{
    char *password = secret_file_line(path, error);
    if (!password || strlen(password) < PASSWORD_MAX)
        return password;
    fail(error, FAIL_CONFIG, "%s: wanted is a password of at most %d bytes", path, PASSWORD_MAX - 1);
    OPENSSL_cleanse(password, strlen(password));
    g_free(password);
    return NULL;
}

static bool read_auth(Transport *transport, const char *section, GError **error)
{
    const Config *config = transport->shared->config;
    SmtpSettings *settings = &transport->settings;
    settings->auth_user = config_string(config, section, "auth_user");
    if (!settings->auth_user)
        return true;
    transport->password = read_password(config_string(config, section, "auth_password_file"), error);
    if (!transport->password) {
        g_prefix_error(error, "[%s] auth_password_file: ", section);
        return false;
    }
    settings->auth_password = transport->password;
    settings->auth_mechanisms = read_mechanisms(config_list(config, section, "auth_mechanisms"));
    settings->auth_in_clear = config_bool(config, section, "auth_in_clear");
    return true;
}

bool transport_read_security(Transport *transport, const char *section, GError **error)
{
    const Config *config = transport->shared->config;
    SmtpSettings *settings = &transport->settings;
    settings->tls = read_level(config_string(config, section, "tls_level"));
    settings->tls_at_once = config_bool(config, section, "tls_at_once");
    settings->tls_name = config_string(config, section, "tls_verify_name");
    if (settings->tls != SMTP_TLS_NONE) {
        transport->tls = smtp_tls_new(config_string(config, section, "tls_ca_file"), error);
        if (!transport->tls) {
            g_prefix_error(error, "[%s] tls_ca_file: ", section);
            return false;
        }
        settings->tls_context = transport->tls;
    }
    return read_auth(transport, section, error);
}

void transport_clear_security(Transport *transport)
{
    g_clear_pointer(&transport->tls, smtp_tls_free);
    if (transport->password)
        OPENSSL_cleanse(transport->password, strlen(transport->password));
    g_clear_pointer(&transport->password, g_free);
}
