/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The languages of letters that somebody can choose on a page. */
#include "lists/letters/letter.h"
#include "runners/web/my.h"

/* Each in its own words; in the order of codes, as store/language.h has them. */
static const struct {
    const char *code, *name;
} names[] = {{"ar", "العربية"},    {"ast", "Asturianu"},  {"bg", "Български"},   {"ca", "Català"},
             {"cs", "Čeština"},    {"da", "Dansk"},       {"de", "Deutsch"},     {"el", "Ελληνικά"},
             {"en", "English"},    {"es", "Español"},     {"et", "Eesti"},       {"eu", "Euskara"},
             {"fi", "Suomi"},      {"fr", "Français"},    {"gl", "Galego"},      {"he", "עברית"},
             {"hr", "Hrvatski"},   {"hu", "Magyar"},      {"ia", "Interlingua"}, {"it", "Italiano"},
             {"ja", "日本語"},     {"ko", "한국어"},      {"lt", "Lietuvių"},    {"nl", "Nederlands"},
             {"no", "Norsk"},      {"pl", "Polski"},      {"pt", "Português"},   {"pt_BR", "Português (Brasil)"},
             {"ro", "Română"},     {"ru", "Русский"},     {"sk", "Slovenčina"},  {"sl", "Slovenščina"},
             {"sr", "Српски"},     {"sv", "Svenska"},     {"tr", "Türkçe"},      {"uk", "Українська"},
             {"vi", "Tiếng Việt"}, {"zh_CN", "简体中文"}, {"zh_TW", "繁體中文"}};

static void add(json_t *all, const char *code, const char *text, const char *chosen)
{
    json_array_append_new(all,
                          json_pack("{ss ss sb}", "value", code, "text", text, "selected", g_str_equal(code, chosen)));
}

json_t *my_language_choices(const WebCall *call, const char *chosen, const char *none)
{
    bool seen = g_str_equal(chosen, "default");
    json_t *all = json_array();
    add(all, "default", none, chosen);
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        bool own = g_str_equal(names[at].code, chosen);
        if (own || letter_speaks(&call->web->site, names[at].code))
            add(all, names[at].code, names[at].name, chosen);
        seen = seen || own;
    }
    if (!seen) /* "de_AT" was chosen elsewhere, and stays */
        add(all, chosen, chosen, chosen);
    return all;
}
