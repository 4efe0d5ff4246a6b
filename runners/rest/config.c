/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/config: the settings of a list under Mailman's names, and what can only be read. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/fail.h"
#include "lists/change.h"
#include "runners/rest/resources.h"
#include "store/posts/digest.h"

/* A row of the configuration as clients see it: a setting, or something that can only be read. */
typedef struct Attribute {
    const char *name;
    enum { SHOW_SETTING, SHOW_TEXT, SHOW_INTEGER, SHOW_TIME, SHOW_ADDRESS, SHOW_NO_REPLY, SHOW_DIGEST, SHOW_NULL } kind;
    size_t offset;              /* TEXT, INTEGER, TIME: in List */
    const char *suffix;         /* ADDRESS: "bounces" for ant-bounces@example.com */
    const ListSetting *setting; /* SETTING */
} Attribute;

/* The rows that are no settings. */
static const Attribute read_only[] = {
    {.name = "bounces_address", .kind = SHOW_ADDRESS, .suffix = "bounces"},
    {.name = "created_at", .kind = SHOW_TIME, .offset = offsetof(List, created_at)},
    {.name = "digest_last_sent_at", .kind = SHOW_DIGEST},
    {.name = "fqdn_listname", .kind = SHOW_TEXT, .offset = offsetof(List, posting_address)},
    {.name = "join_address", .kind = SHOW_ADDRESS, .suffix = "join"},
    {.name = "last_post_at", .kind = SHOW_TIME, .offset = offsetof(List, last_post_at)},
    {.name = "leave_address", .kind = SHOW_ADDRESS, .suffix = "leave"},
    {.name = "list_name", .kind = SHOW_TEXT, .offset = offsetof(List, list_name)},
    {.name = "mail_host", .kind = SHOW_TEXT, .offset = offsetof(List, mail_host)},
    {.name = "next_digest_number", .kind = SHOW_DIGEST},
    {.name = "no_reply_address", .kind = SHOW_NO_REPLY},
    {.name = "owner_address", .kind = SHOW_ADDRESS, .suffix = "owner"},
    {.name = "post_id", .kind = SHOW_INTEGER, .offset = offsetof(List, post_id)},
    {.name = "posting_address", .kind = SHOW_TEXT, .offset = offsetof(List, posting_address)},
    {.name = "request_address", .kind = SHOW_ADDRESS, .suffix = "request"},
    {.name = "usenet_watermark", .kind = SHOW_NULL},
    {.name = "volume", .kind = SHOW_DIGEST},
};

static int by_name(gconstpointer one, gconstpointer other)
{
    return strcmp(((const Attribute *)one)->name, ((const Attribute *)other)->name);
}

/* Return all settings (store/lists/list_setting.c) and the rows above, sorted by name as Mailman has them; the last has
 * no name. */
static const Attribute *attributes(void)
{
    static GArray *all;
    if (all)
        return &g_array_index(all, Attribute, 0);
    all = g_array_new(TRUE, FALSE, sizeof(Attribute));
    g_array_append_vals(all, read_only, G_N_ELEMENTS(read_only));
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        const Attribute attribute = {setting->name, SHOW_SETTING, .setting = setting};
        g_array_append_val(all, attribute);
    }
    g_array_sort(all, by_name);
    return &g_array_index(all, Attribute, 0);
}

/* A setting that only Listrunner has is not among those of the whole, but can be read and changed by its name. */
static bool is_in_whole(const Attribute *attribute)
{
    return !attribute->setting || !attribute->setting->own;
}

/* NULL: there is none of that name. */
static const Attribute *attribute_find(const char *name)
{
    const Attribute *attribute = attributes();
    while (attribute->name && strcmp(attribute->name, name) != 0)
        attribute++;
    return attribute->name ? attribute : NULL;
}

/* ---- showing ---- */

/* The attribute of the path; NULL: 404 was answered. */
static const Attribute *find_attribute(Call *call)
{
    const Attribute *attribute = attribute_find(call->args[1]);
    if (!attribute)
        answer_refusal(call, 404, "Unknown attribute: %s", call->args[1]);
    return attribute;
}

static json_t *setting_json(const List *list, const ListSetting *setting)
{
    const void *at = list_value(list->settings, setting);
    switch (setting->type) {
    case SETTING_BOOL:
        return json_boolean(*(const bool *)at);
    case SETTING_INTEGER:
        return strcmp(setting->name, "digest_size_threshold") == 0 ? json_real((double)*(const int64_t *)at)
                                                                   : json_integer(*(const int64_t *)at);
    case SETTING_WORDS: {
        json_t *words = json_array();
        for (char *const *word = *(char **const *)at; word && *word; word++)
            json_array_append_new(words, json_words(*word));
        return words;
    }
    default: {
        g_autofree char *text = list_get(list, setting->name, NULL);
        if (strcmp(setting->name, "moderator_password") == 0 && !*text)
            return json_null();
        if (setting->type == SETTING_INTERVAL && strcmp(text, "0") == 0)
            return json_string("0d"); /* Mailman's clients want a unit */
        return json_words(text);
    }
    }
}

/* NULL: a fault was answered. */
static json_t *attribute_json(Call *call, const List *list, const Attribute *attribute)
{
    const void *at = (const char *)list + attribute->offset;
    g_autofree char *address = NULL;
    g_auto(Digest) digest = {0};
    GError *error = NULL;
    switch (attribute->kind) {
    case SHOW_SETTING:
        return setting_json(list, attribute->setting);
    case SHOW_TEXT:
        return json_words(*(char *const *)at);
    case SHOW_INTEGER:
        return json_integer(*(const int64_t *)at);
    case SHOW_TIME:
        return json_time_or_null(*(const int64_t *)at);
    case SHOW_ADDRESS:
        address = list_address(list, attribute->suffix);
        return json_words(address);
    case SHOW_NO_REPLY:
        address = g_strconcat("noreply@", list->mail_host, NULL);
        return json_words(address);
    case SHOW_DIGEST: /* the state of the digests is not in the row of the list */
        if (!digest_read(call->store, list->list_id, &digest, &error)) {
            rest_fail(call, error);
            return NULL;
        }
        return strcmp(attribute->name, "digest_last_sent_at") == 0 ? json_time_or_null(digest.sent_at)
               : strcmp(attribute->name, "volume") == 0            ? json_integer(digest.volume)
                                                                   : json_integer(digest.next_number);
    default:
        return json_null();
    }
}

static void get_all(Call *call)
{
    g_autoptr(List) list = rest_list(call);
    g_autoptr(json_t) object = json_object();
    for (const Attribute *at = attributes(); list && at->name && !call->answered; at++)
        if (is_in_whole(at))
            json_object_set_new(object, at->name, attribute_json(call, list, at));
    if (!call->answered)
        answer_json(call, 200, g_steal_pointer(&object));
}

static void get_one(Call *call)
{
    g_autoptr(List) list = rest_list(call);
    const Attribute *attribute = list ? find_attribute(call) : NULL;
    json_t *value = attribute ? attribute_json(call, list, attribute) : NULL;
    if (value)
        answer_json(call, 200, json_pack("{so}", attribute->name, value));
}

/* ---- changing ---- */

/* 30.0 is a whole number, too. digest_size_threshold, which Mailman takes with a fraction, is rounded up. */
static char *whole_text(const char *name, const char *text)
{
    size_t whole = strspn(text, G_CSET_DIGITS), zeros, more;
    if (whole == 0 || whole > 9 || text[whole] != '.')
        return g_strdup(text);
    zeros = strspn(text + whole + 1, "0");
    more = strspn(text + whole + 1, G_CSET_DIGITS);
    if (text[whole + 1 + more] || (zeros != more && strcmp(name, "digest_size_threshold") != 0))
        return g_strdup(text);
    return g_strdup_printf("%" G_GINT64_FORMAT, g_ascii_strtoll(text, NULL, 10) + (zeros != more));
}

/* Mailman also takes several units, the largest first, and fractions: "1d12h", "1.5d". */
static char *duration_text(const char *text)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'w', 604800}, {'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
    const char *at = text;
    double sum = 0;
    for (size_t unit = 0; unit < G_N_ELEMENTS(units) && *at; unit++) {
        size_t digits = strspn(at, G_CSET_DIGITS "."), decimal = strcspn(at, ".");
        if (at[digits] != units[unit].letter)
            continue;
        if (!g_ascii_isdigit(*at) || (decimal < digits && memchr(at + decimal + 1, '.', digits - decimal - 1)))
            break;
        sum += g_ascii_strtod(at, NULL) * units[unit].seconds;
        at += digits + 1;
    }
    /* Whatever else it is, list_set() says so. */
    return *at || at == text || sum > 1e9 ? g_strdup(text)
                                          : config_duration_text((int64_t)(sum + 0.5) * CLOCK_SECOND);
}

/* The value as list_set() takes it; g_free(). */
static char *value_text(const Call *call, const ListSetting *setting)
{
    bool truth;
    const char *text = form_text(call, setting->name);
    if (setting->type == SETTING_BOOL && text && form_truth(text, &truth))
        return g_strdup(truth ? "yes" : "no");
    if (setting->type == SETTING_INTEGER && text)
        return whole_text(setting->name, text);
    if (setting->type == SETTING_INTERVAL && text)
        return duration_text(text);
    if (setting->type != SETTING_WORDS)
        return g_strdup(text ? text : "");
    g_auto(GStrv) words = form_words(call, setting->name);
    g_autoptr(GString) all = g_string_new(NULL);
    for (char **word = words; *word; word++) {
        g_autoptr(GString) escaped = g_string_new(*word);
        g_string_replace(escaped, ",", "\\,", 0);
        g_string_append_printf(all, "%s%s", all->len ? "\n" : "", escaped->str); /* behind "\" a comma is no end */
    }
    return g_string_free(g_steal_pointer(&all), FALSE);
}

/* Add the error in the words of Mailman, where clients show them to people. A value that other lists can have is
 * refused for a reason that Mailman does not know. */
static void add_complaint(GString *complaints, const Call *call, const ListSetting *setting, const char *value,
                          const GError *error)
{
    g_autofree char *possible = list_setting_canonical(setting, value, NULL);
    const char *text = form_text(call, setting->name), *message = error->message;
    size_t name = strlen(setting->name);
    if (strncmp(message, setting->name, name) == 0 && message[name] == ':')
        message += name + 2;
    g_string_append_printf(complaints, "%sInvalid Parameter \"%s\": ", complaints->len ? " " : "", setting->name);
    if (possible) {
        g_string_append_printf(complaints, "%s.", message);
    } else if (setting->type == SETTING_BOOL) {
        g_string_append_printf(complaints, "Invalid boolean value: %s.", text);
    } else if (setting->type == SETTING_CHOICE) {
        g_auto(GStrv) choices = g_strsplit(setting->choices, "|", -1);
        g_autofree char *all = g_strjoinv(", ", choices);
        g_string_append_printf(complaints, "Accepted Values are: %s.", all);
    } else if (setting->type == SETTING_LINE && text && strchr(text, '\n')) {
        g_string_append_printf(complaints, "This value must be a single line: %s.", text);
    } else {
        g_string_append_printf(complaints, "%s.", message);
    }
}

/* Does the list have all attributes that were sent, and may they be changed? False: 400 was answered. */
static bool names_allowed(Call *call)
{
    for (guint i = 0; i < call->form.names->len; i++) {
        const char *name = call->form.names->pdata[i];
        const Attribute *attribute = attribute_find(name);
        if (attribute && attribute->setting)
            continue;
        if (attribute)
            answer_refusal(call, 400, "Read-only attribute: %s", name);
        else
            answer_refusal(call, 400, "Unknown attribute: %s", name);
        return false;
    }
    return true;
}

/* Is each word of the form @LIST one whose members the caller may know? False: it was answered. */
static bool lists_named_allowed(Call *call, const ListSetting *setting, const char *value)
{
    GError *error = NULL;
    g_auto(GStrv) words = g_strsplit_set(setting->type == SETTING_WORDS ? value : "", ",\n\r", -1);
    for (char **word = words; call->token && *word; word++) {
        bool covers = true;
        g_autoptr(GError) missing = NULL;
        g_autoptr(List) named = *g_strstrip(*word) == '@' ? list_find(call->store, *word + 1, &missing) : NULL;
        const char *list_id = named ? named->list_id : *word + 1;
        if ((missing && !fail_unless(&error, FAIL_MISSING, &missing)) ||
            (**word == '@' && !token_covers(call->token, call->store, list_id, &covers, &error))) {
            rest_fail(call, error);
            return false;
        }
        if (!covers) {
            answer_refusal(call, 403, "%s: the token %s is for other lists than %s", setting->name, call->token->id,
                           *word + 1);
            return false;
        }
    }
    return true;
}

/* May the caller give the setting this value? One that is the value already may be sent with the others by anybody who
 * may send these. False: it was answered. */
static bool value_allowed(Call *call, const List *list, const ListSetting *setting, const char *value)
{
    g_autofree char *now = list_get(list, setting->name, NULL);
    g_autofree char *wanted = list_setting_canonical(setting, value, NULL);
    if (setting->type != SETTING_PASSWORD && (g_strcmp0(now, wanted) == 0 || list_setting_stays(setting, now, value)))
        return true;
    if (authority_covers(authority_of_setting(setting), call->by))
        return lists_named_allowed(call, setting, value);
    answer_refusal(call, 403, "%s is for the site to set; the token %s is for lists or domains alone", setting->name,
                   call->token ? call->token->id : "");
    return false;
}

/* Changes what was sent, all or nothing, and answers. */
static void change(Call *call)
{
    GError *fault = NULL;
    g_autoptr(List) list = rest_list(call);
    g_autoptr(Work) work = list && names_allowed(call) ? rest_begin(call) : NULL;
    g_autoptr(GString) complaints = g_string_new(NULL);
    if (!work)
        return;
    for (guint i = 0; i < call->form.names->len && !fault; i++) {
        const ListSetting *setting = list_setting_find(call->form.names->pdata[i], NULL); /* names_allowed() */
        const GPtrArray *sent = g_hash_table_lookup(call->form.values, setting->name);
        if (setting->type != SETTING_WORDS && sent->len > 1) { /* none of them alone is what the client meant */
            g_string_append_printf(complaints, "%sInvalid Parameter \"%s\": It takes one value, and %u were sent.",
                                   complaints->len ? " " : "", setting->name, sent->len);
            continue;
        }
        g_autofree char *value = value_text(call, setting);
        if (!value_allowed(call, list, setting, value))
            return;
        bool set = change_setting(work, list, setting->name, value, &fault);
        if (!set && g_error_matches(fault, FAIL, FAIL_NEVER)) {
            add_complaint(complaints, call, setting, value, fault);
            g_clear_error(&fault);
        }
    }
    bool done = !fault && complaints->len == 0;
    if (complaints->len > 0 && !fault)
        answer_refusal(call, 400, "%s", complaints->str);
    rest_finish(call, work, done, &fault);
}

/* All settings that are in the whole must be sent. */
static void put_all(Call *call)
{
    g_autoptr(GString) missing = g_string_new(NULL);
    if (!names_allowed(call))
        return;
    for (const Attribute *at = attributes(); at->name; at++)
        if (at->setting && is_in_whole(at) && !form_has(call, at->name))
            g_string_append_printf(missing, "%s%s", missing->len ? ", " : "", at->name);
    if (missing->len > 0)
        answer_refusal(call, 400, "Missing Parameter: %s", missing->str);
    else
        change(call);
}

static void delete_all(Call *call)
{
    answer_refusal(call, 400, "Cannot delete the list configuration itself");
}

/* Change the attribute of the path, and no other. PUT must send it. */
static void change_one(Call *call)
{
    const char *name = call->args[1];
    if (!find_attribute(call))
        return;
    for (guint i = 0; i < call->form.names->len; i++)
        if (strcmp(call->form.names->pdata[i], name) != 0) {
            answer_refusal(call, 400, "Unknown attribute: %s", (const char *)call->form.names->pdata[i]);
            return;
        }
    if (call_puts(call) && !form_has(call, name))
        answer_refusal(call, 400, "Missing Parameter: %s", name);
    else
        change(call);
}

static void delete_one(Call *call)
{
    GError *error = NULL;
    const char *name = call->args[1];
    if (!form_expect(call, "", "") || !find_attribute(call))
        return;
    if (strcmp(name, "acceptable_aliases") != 0) {
        answer_refusal(call, 400, "Attribute cannot be DELETEd: %s", name);
        return;
    }
    g_autoptr(List) list = rest_list(call);
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    rest_finish(call, work, work && change_setting(work, list, name, NULL, &error), &error);
}

/* Settings: which of them a list may change is in their own table, and change() asks for it. */
static const RestField fields[] = {
    {"*", MAY_LIST, MAY_LIST},
    {0},
};

const RestRoute rest_config[] = {
    {"GET", "lists/{list}/config", OF_LIST, MAY_LIST, fields, get_all, NULL},
    {"PATCH", "lists/{list}/config", OF_LIST, MAY_LIST, fields, change, NULL},
    {"PUT", "lists/{list}/config", OF_LIST, MAY_LIST, fields, put_all, NULL},
    {"DELETE", "lists/{list}/config", OF_LIST, MAY_LIST, fields, delete_all, NULL},
    {"GET", "lists/{list}/config/{attribute}", OF_LIST, MAY_LIST, fields, get_one, NULL},
    {"PATCH", "lists/{list}/config/{attribute}", OF_LIST, MAY_LIST, fields, change_one, NULL},
    {"PUT", "lists/{list}/config/{attribute}", OF_LIST, MAY_LIST, fields, change_one, NULL},
    {"DELETE", "lists/{list}/config/{attribute}", OF_LIST, MAY_LIST, fields, delete_one, NULL},
    {0},
};
