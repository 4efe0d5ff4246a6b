/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How posts are judged and changed, beyond what each list says itself. */
#include "base/config_check.h"
#include "base/config_table.h"

/* clang-format off */
static const ConfigKey rule_keys[] = {
    {"external", LIST(NULL),
     .about = "Programs, the NAMEs of [external.NAME] sections, that judge each post before all other rules.",
     .example = "scanner"},
    {"header_match_action", CHOICE("hold", "hold|reject|discard|accept"),
     .about = "What happens to a post by a header match that has no action of its own."},
    {"hold_digest", BOOL("no"),
     .about = "Hold posts that answer a digest under its own subject, or quote all of it."},
    {.name = NULL},
};

static const ConfigKey handler_keys[] = {
    {"external", LIST(NULL),
     .about = "Programs, the NAMEs of [external.NAME] sections, that may change each accepted post before all other "
      "handlers.",
     .example = "scanner"},
    {"html_to_plain_text_command", STRING(NULL),
     .about = "A program that makes text of HTML for lists with convert_html_to_plaintext: it reads HTML and writes "
      "text, both UTF-8, and has 10 seconds. Unset, and when it fails: tags are dropped.",
     .example = "/usr/bin/lynx -dump -stdin -force_html -width=72 -assume_charset=UTF-8 -display_charset=UTF-8"},
    {"remove_dkim_headers", BOOL("no"),
     .about = "Take DKIM-Signature and Authentication-Results out of posts: the list's changes may break the author's "
      "signature, and some servers distrust mail with a broken one."},
    {.name = NULL},
};

static const ConfigKey dns_keys[] = {
    {"servers", STRING(NULL),
     .about = "The name servers that are asked about the authors of posts (DMARC, DKIM): ADDRESS, ADDRESS:PORT or "
      "[IPv6]:PORT, several with commas; unset: those of the system.",
     .example = "127.0.0.1:53"},
    {"timeout", DURATION("6s", SECOND, MINUTE),
     .about = "How long a question to them may stay without an answer. Other mail does not wait meanwhile."},
    {.name = NULL},
};

static const ConfigKey dkim_keys[] = {
    {"domain", STRING(NULL),
     .about = "The domain that signs: posts, digests and letters of lists of this domain, and of those below it.",
     .example = "lists.example.com"},
    {"selector", STRING(CONFIG_NAME),
     .about = "The name of the key in the DNS: its public half stands at SELECTOR._domainkey.DOMAIN.",
     .example = "s2026"},
    {"key_file", PATH(NULL),
     .about = "The private key, RSA or Ed25519, in PEM, as \"openssl genpkey\" writes it; readable for the site's "
      "user alone.",
     .more = "Posts get one signature from each key that fits, so an Ed25519 key can stand beside an RSA key, and a "
      "new key beside the old one until the DNS knows it. Copies that differ for each member (personalize, verp) are "
      "not signed here; let the mail server do that.",
     .example = "/etc/listrunner/dkim/s2026.pem"},
    {"enabled", BOOL("yes"), .about = "Sign with this key."},
    {.name = NULL},
};

static const ConfigKey external_keys[] = {
    {"command", STRING(NULL),
     .about = "The program and its arguments. It reads the message and answers by its exit code: 0 the post goes on, "
      "10 it is held, 11 sent back, 12 dropped, 75 asked again later.",
     .more = "With 10 to 12 the first line that it writes is the reason for people. With 0, a program of [handlers] "
      "may write a changed message; nothing means unchanged. Any other code, and a program that cannot be run, count "
      "as 75: the post waits.",
     .example = "/usr/local/bin/scan --stdin"},
    {"timeout", DURATION("30s", SECOND, 2 * MINUTE),
     .about = "When it is killed, and the post waits. Other posts of the same instance of the runner wait meanwhile."},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"external.*", .about = "A program of the site that looks at posts, for example for viruses.",
     .keys = external_keys, .readers = "in pipeline"},
    {"dkim.*", .about = "A key that signs what lists send (DKIM, RFC 6376).", .keys = dkim_keys,
     .readers = "in pipeline virgin"},
    {"rules", .about = "How the runner in judges posts.", .keys = rule_keys, .readers = "in"},
    {"handlers", .about = "How posts are changed on the way to the members.", .keys = handler_keys,
     .readers = "in pipeline"},
    {"dns", .about = "Whom the runners ask what a post's author has published.", .keys = dns_keys,
     .readers = "in pipeline"},
    {.section = NULL},
};
/* clang-format on */

static void check_external(const ConfigCheck *check, const char *section)
{
    const ConfigValue *names = config_usable(check, section, "external");
    for (char **name = names ? names->words : NULL; name && *name; name++) {
        g_autofree char *own = g_strconcat("external.", *name, NULL);
        const ConfigValue *command = config_usable(check, own, "command");
        g_autoptr(GError) problem = NULL;
        g_auto(GStrv) words = NULL;
        if (!command || !command->text)
            config_complain(check, section, "external", "found \"%s\"; allowed is the NAME of a section "
                            "[external.NAME] with a command", *name);
        else if (!g_shell_parse_argv(command->text, NULL, &words, &problem))
            config_complain(check, own, "command", "%s", problem->message);
    }
}

static void check(const ConfigCheck *check)
{
    check_external(check, "rules");
    check_external(check, "handlers");
    const ConfigValue *command = config_usable(check, "handlers", "html_to_plain_text_command");
    g_autoptr(GError) problem = NULL;
    g_auto(GStrv) words = NULL;
    if (command && command->text && !g_shell_parse_argv(command->text, NULL, &words, &problem))
        config_complain(check, "handlers", "html_to_plain_text_command", "%s", problem->message);
}

const ConfigSettings posting_settings = {.tables = tables, .check = check};
