/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* How posts are judged and changed, beyond what each list says itself. */
#include <openssl/pem.h>
#include <string.h>
#include <unistd.h>

#include "base/config_check.h"
#include "base/config_table.h"
#include "posting/words.h"

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
      "text, both UTF-8, and has 10 seconds. Unset, and when it fails: tags are dropped, and targets of links stand "
      "behind their texts.",
     .example = "/usr/bin/lynx -dump -stdin -force_html -width=72 -assume_charset=UTF-8 -display_charset=UTF-8"},
    {"remove_dkim_headers", BOOL("no"),
     .about = "Take DKIM-Signature and Authentication-Results out of posts: the list's changes may break the author's "
      "signature, and some servers distrust mail with a broken one."},
    {.name = NULL},
};

static const ConfigKey dns_keys[] = {
    {"servers", LIST(NULL),
     .about = "The name servers of all questions: of posts about their authors (DMARC, DKIM), of type = mx about mail "
      "hosts, of listrunner doctor. ADDRESS, ADDRESS:PORT or [IPv6]:PORT; unset: those of the system.",
     .example = "127.0.0.1:53"},
    {"timeout", DURATION("6s", SECOND, MINUTE),
     .about = "How long a question about a post may stay without an answer. Other mail does not wait meanwhile."},
    {.name = NULL},
};

static const ConfigKey dkim_keys[] = {
    {"domain", STRING(NULL),
     .about = "The domain that signs: posts, digests and letters of lists of this domain, and of those below it.",
     .example = "lists.example.com"},
    {"selector", STRING(CONFIG_NAME),
     .about = "The name of the key in the DNS: its public half stands at SELECTOR._domainkey.DOMAIN.",
     .more = "listrunner doctor shows the record, and whether the DNS has it.",
     .example = "s2026"},
    {"key_file", PATH(NULL),
     .about = "The private key, RSA or Ed25519, in PEM, as \"openssl genpkey\" writes it, without a pass phrase; "
      "readable for the site's user alone.",
     .more = "Posts get one signature from each key that fits, so an Ed25519 key can stand beside an RSA key, and a "
      "new key beside the old one until the DNS knows it. Copies that differ for each member (personalize) are signed "
      "one by one when they are sent, which costs time; an Ed25519 key costs the least.",
     .example = "/etc/listrunner/dkim/s2026.pem", .opens = "in out pipeline virgin"},
    {"use", CHOICE("dkim", "dkim|arc|both"),
     .about = "What the key is for: DKIM signatures, the seals of ARC (RFC 8617) on posts, or both.",
     .more = "A seal says to the next server which signatures a post had before the list changed it. It needs "
      "authserv_id in [authentication]; of several keys that fit the first RSA key seals. An Ed25519 key makes no "
      "seal: most receivers cannot read one, for whom the chain would have failed for good, which is worse than none."},
    {"enabled", BOOL("yes"), .about = "Sign with this key."},
    {.name = NULL},
};

static const ConfigKey authentication_keys[] = {
    {"authserv_id", STRING(NULL),
     .about = "The name of this site in Authentication-Results, as a rule that of its mail domain. When it is set, the "
      "DKIM signatures and the ARC chain of each post are checked, and the post says what was found.",
     .more = "Fields of posts that claim this name, or a name that cannot be read, are removed. While the DNS does not "
      "answer, the result is temperror; no post is held or lost for it.",
     .example = "lists.example.com"},
    {"trusted", LIST(NULL),
     .about = "The names of servers before this one whose Authentication-Results are believed: what they found, SPF "
      "and DMARC for example, is told on and sealed.",
     .more = "Such a server must remove fields of others that claim its name, or anybody can write them.",
     .example = "mx.example.com"},
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

static const ConfigKey chain_keys[] = {
    {"rules", LIST(NULL),
     .about = "The rules in their order, as listrunner-in(8) names them. RULE:CHAIN goes on with that chain when the "
      "rule hits. RULE alone does as the built-in chain: member-moderation, nonmember-moderation, header-match, "
      "dmarc-mitigation and external do what they decide; a hit of another rule is noted, and counts where any stands.",
     .more = "CHAIN is accept, hold, reject, discard or the NAME of another [chain.NAME]. external.NAME is the program "
      "of the section of that name. The rules approved, loop and no-senders are not there by themselves: name them.",
     .example = "no-senders:discard approved:accept loop:discard external.scanner member-moderation "
      "nonmember-moderation max-size any:hold"},
    {"otherwise", CHOICE("hold", "accept|hold|reject|discard|back"),
     .about = "What becomes of a post that no rule has decided about; back: the chain that led here goes on."},
    {.name = NULL},
};

static const ConfigKey pipeline_keys[] = {
    {"handlers", LIST(NULL),
     .about = "The handlers in their order, as listrunner-pipeline(8) names them, and external.NAME for the program of "
      "the section of that name.",
     .example = "external.scanner member-recipients avoid-duplicates cleanse cook-headers subject-prefix to-archive "
      "rfc-2369 to-digest to-outgoing dmarc decorate dkim-sign"},
    {.name = NULL},
};

static const ConfigTable tables[] = {
    {"chain.*", .about = "Rules in an order of the site's own, for lists that choose it by posting_chain or "
      "owner_chain.", .keys = chain_keys, .readers = "in pipeline"},
    {"pipeline.*", .about = "Handlers in an order of the site's own, for lists that choose it by posting_pipeline or "
      "owner_pipeline.", .keys = pipeline_keys, .readers = "in"},
    {"external.*", .about = "A program of the site that looks at posts, for example for viruses.",
     .keys = external_keys, .readers = "in pipeline"},
    {"dkim.*", .about = "A key that signs what lists send (DKIM, RFC 6376).", .keys = dkim_keys,
     .readers = "in out pipeline virgin"},
    {"authentication", .about = "What is known about the signatures of posts (RFC 8601).",
     .keys = authentication_keys, .readers = "in pipeline"},
    {"rules", .about = "How the runner in judges posts.", .keys = rule_keys, .readers = "in"},
    {"handlers", .about = "How posts are changed on the way to the members.", .keys = handler_keys,
     .readers = "in pipeline"},
    {"dns", .about = "The name servers that are asked.", .keys = dns_keys, .readers = "in out pipeline"},
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

/* ---- chains and pipelines ---- */

#define WORD(symbol, word) word,
static const char *const rule_words[] = {POSTING_RULES(WORD) NULL};
static const char *const handler_words[] = {POSTING_HANDLERS(WORD) NULL};
static const char *const chain_words[] = {POSTING_CHAINS, NULL};
static const char *const pipeline_words[] = {POSTING_PIPELINES, NULL};

/* One of words, or a program with a command. */
static bool is_known(const ConfigCheck *check, const char *const *words, const char *name)
{
    if (!g_str_has_prefix(name, "external."))
        return g_strv_contains(words, name);
    return config_usable(check, name, "command") != NULL;
}

static void check_link(const ConfigCheck *check, const char *section, const char *word)
{
    const char *colon = strchr(word, ':');
    g_autofree char *rule = g_strndup(word, colon ? (size_t)(colon - word) : strlen(word));
    g_autofree char *target = g_strconcat("chain.", colon ? colon + 1 : "", NULL);
    if (!is_known(check, rule_words, rule))
        config_complain(check, section, "rules", "found \"%s\"; there is no rule %s: allowed are those of "
                        "listrunner-in(8), and external.NAME with a section of that name", word, rule);
    if (colon && !g_strv_contains(chain_words, colon + 1) && !config_has_section(check->config, target))
        config_complain(check, section, "rules", "found \"%s\"; there is no chain %s: allowed are accept, hold, "
                        "reject, discard, and the NAME of a section [chain.NAME]", word, colon + 1);
}

/* The place of a handler in a pipeline, -1: it is not there. */
static int place_of(char *const *words, const char *handler)
{
    for (int at = 0; words[at]; at++)
        if (strcmp(words[at], handler) == 0)
            return at;
    return -1;
}

/* The second does nothing, or wrong, unless the first has run. */
static const char *const needed[][2] = {
    {"to-outgoing", "dmarc"}, {"to-outgoing", "decorate"}, {"to-outgoing", "dkim-sign"}, {"decorate", "dkim-sign"},
    {"dmarc", "decorate"}, {"dmarc", "dkim-sign"}, {"to-archive", "rfc-2369"},
    {"validate-authenticity", "arc-sign"}, {"to-outgoing", "arc-sign"}, {"decorate", "arc-sign"},
    {"dmarc", "arc-sign"}, {"dkim-sign", "arc-sign"},
};

/* Of them also: without the first the second does nothing. */
static const char *const indispensable[] = {"to-outgoing", "validate-authenticity", NULL};

static void check_handlers(const ConfigCheck *check, const char *section, char *const *words)
{
    for (char *const *word = words; *word; word++)
        if (!is_known(check, handler_words, *word))
            config_complain(check, section, "handlers", "found \"%s\"; there is no such handler: allowed are those of "
                            "listrunner-pipeline(8), and external.NAME with a section of that name", *word);
    for (size_t at = 0; at < G_N_ELEMENTS(needed); at++) {
        int first = place_of(words, needed[at][0]), second = place_of(words, needed[at][1]);
        bool alone = first < 0 && g_strv_contains(indispensable, needed[at][0]);
        if (second >= 0 && (first > second || alone))
            config_complain(check, section, "handlers", "%s must stand behind %s", needed[at][1], needed[at][0]);
    }
    if (place_of(words, "to-outgoing") >= 0 && place_of(words, "member-recipients") < 0 &&
        place_of(words, "owner-recipients") < 0)
        config_complain(check, section, "handlers", "to-outgoing needs member-recipients or owner-recipients");
}

/* No name is taken twice, and there is something to do. */
static void check_orders(const ConfigCheck *check, const char *family, const char *key, const char *const *built_in)
{
    g_autofree const char **sections = config_family_sections(check->config, family);
    for (const char **section = sections; *section; section++) {
        const ConfigValue *value = config_usable(check, *section, key);
        if (g_strv_contains(built_in, *section + strlen(family) + 1))
            config_complain(check, *section, key, "this name is that of a %s that is built in; allowed is another",
                            family);
        if (config_unset(check, *section, key))
            config_complain(check, *section, key, "found nothing; allowed are the names of %s", key);
        if (value && strcmp(family, "pipeline") == 0)
            check_handlers(check, *section, value->words);
        for (char **word = value && strcmp(family, "chain") == 0 ? value->words : NULL; word && *word; word++)
            check_link(check, *section, *word);
    }
}

static void check_authentication(const ConfigCheck *check)
{
    const ConfigValue *own = config_usable(check, "authentication", "authserv_id");
    const ConfigValue *trusted = config_usable(check, "authentication", "trusted");
    if (own && own->text && !config_host_valid(own->text))
        config_complain(check, "authentication", "authserv_id", "found \"%s\"; allowed is a host name",
                        own->text);
    for (char **word = trusted ? trusted->words : NULL; word && *word; word++)
        if (own && own->text && g_ascii_strcasecmp(*word, own->text) == 0)
            config_complain(check, "authentication", "trusted", "found \"%s\", which is authserv_id: fields of that "
                            "name are removed; allowed are names of other servers", *word);
    g_autofree const char **sections = config_family_sections(check->config, "dkim");
    for (const char **section = sections; *section; section++) {
        const ConfigValue *use = config_usable(check, *section, "use");
        const ConfigValue *on = config_usable(check, *section, "enabled");
        if (on && on->number)
            config_check_secret(check, *section, "key_file");
        if (use && use->text && strcmp(use->text, "dkim") != 0 && (!own || !own->text))
            config_complain(check, *section, "use", "found \"%s\"; a seal needs authserv_id in [authentication]",
                            use->text);
    }
}

/* ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT. */
static bool server_valid(const char *word)
{
    g_autofree char *host = g_strdup(word);
    char *colon = strrchr(host, ':');
    if (config_address_valid(host))
        return true;
    if (!colon || colon == host || !config_port_valid(colon + 1))
        return false;
    *colon = '\0';
    bool brackets = *host == '[' && colon[-1] == ']';
    if (brackets)
        colon[-1] = '\0';
    return config_address_valid(host + brackets) && (brackets || !strchr(host, ':'));
}

static void check_name_servers(const ConfigCheck *check)
{
    const ConfigValue *servers = config_usable(check, "dns", "servers");
    for (char **word = servers ? servers->words : NULL; word && *word; word++)
        if (!server_valid(*word))
            config_complain(check, "dns", servers->name, "found \"%s\"; allowed is an address (names cannot be looked "
                            "up there), ADDRESS:PORT or [IPv6]:PORT", *word);
}

static void check(const ConfigCheck *check)
{
    check_authentication(check);
    check_name_servers(check);
    check_external(check, "rules");
    check_external(check, "handlers");
    check_orders(check, "chain", "rules", chain_words);
    check_orders(check, "pipeline", "handlers", pipeline_words);
    const ConfigValue *command = config_usable(check, "handlers", "html_to_plain_text_command");
    g_autoptr(GError) problem = NULL;
    g_auto(GStrv) words = NULL;
    if (command && command->text && !g_shell_parse_argv(command->text, NULL, &words, &problem))
        config_complain(check, "handlers", "html_to_plain_text_command", "%s", problem->message);
}

/* Read the kind of the private key in the file of the section: EVP_PKEY_RSA and so on. EVP_PKEY_NONE: there is none for
 * seals, or whoever asks may not read it. */
static int sealing_kind(const Config *config, const char *section)
{
    g_autofree char *pem = NULL;
    const char *file = config_string(config, section, "key_file");
    bool seals = config_bool(config, section, "enabled") && strcmp(config_string(config, section, "use"), "dkim") != 0;
    if (!seals || !file || !g_file_get_contents(file, &pem, NULL, NULL))
        return EVP_PKEY_NONE;
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, (char *)"");
    int kind = key ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE;
    EVP_PKEY_free(key);
    BIO_free(bio);
    return kind;
}

/* The program of a command that is there no more, or never was. */
static void doubt_program(const Config *config, const char *section, const char *key, GString *lines)
{
    g_auto(GStrv) words = NULL;
    const char *command = config_string(config, section, key);
    if (!command || !g_shell_parse_argv(command, NULL, &words, NULL))
        return;
    g_autofree char *found = g_find_program_in_path(words[0]);
    if (!found && (!strchr(words[0], '/') || !g_file_test(words[0], G_FILE_TEST_EXISTS) ||
                   access(words[0], X_OK) != 0))
        g_string_append_printf(lines, "%s[%s] %s: there is no program %s; posts wait until there is one",
                               lines->len ? "\n" : "", section, key, words[0]);
}

static void doubt_programs(const Config *config, GString *lines)
{
    g_autofree const char **sections = config_family_sections(config, "external");
    for (const char **section = sections; *section; section++)
        doubt_program(config, *section, "command", lines);
    doubt_program(config, "handlers", "html_to_plain_text_command", lines);
}

/* A key that signs nothing, because its section does not say what, or with what. */
static void doubt_key(const Config *config, const char *section, GString *lines)
{
    static const char *const keys[] = {"domain", "key_file"};
    for (size_t at = 0; at < G_N_ELEMENTS(keys); at++)
        if (!config_string(config, section, keys[at]))
            g_string_append_printf(lines, "%s[%s] %s: it is missing, so this section signs nothing",
                                   lines->len ? "\n" : "", section, keys[at]);
}

/* Programs and keys that are not there, without which mail waits or goes unsigned, and keys for seals that make
 * none. */
static void doubt(const Config *config, GString *lines)
{
    doubt_programs(config, lines);
    g_autofree const char **sections = config_family_sections(config, "dkim");
    for (const char **section = sections; *section; section++) {
        if (config_bool(config, *section, "enabled")) {
            doubt_key(config, *section, lines);
            config_doubt_file(config, *section, "key_file", lines);
        }
        if (sealing_kind(config, *section) == EVP_PKEY_ED25519)
            g_string_append_printf(lines, "%s[%s] use: found \"%s\" for an Ed25519 key, which makes no seals; allowed "
                                   "is \"dkim\", and for ARC an RSA key", lines->len ? "\n" : "", *section,
                                   config_string(config, *section, "use"));
    }
}

/* The runners of posts start the programs that judge them, change them, or make text of HTML. */
static char *program(const Config *config, const char *runner)
{
    if (!g_str_equal(runner, "in") && !g_str_equal(runner, "pipeline"))
        return NULL;
    if (config_string(config, "handlers", "html_to_plain_text_command"))
        return g_strdup("[handlers] html_to_plain_text_command");
    g_autofree const char **sections = config_family_sections(config, "external");
    return *sections ? g_strdup_printf("[%s] command", *sections) : NULL;
}

const ConfigSettings posting_settings = {.tables = tables, .check = check, .doubt = doubt, .program = program};
