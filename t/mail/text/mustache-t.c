/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Templates of pages: each kind of tag, lines, partials, translations, and mistakes. */
#include "mail/text/mustache.h"

#include <string.h>

#include "base/fail.h"
#include "t/suite.h"

static GHashTable *partials; /* name -> Mustache */
static char tongue[] = "de";

static const Mustache *partial(void *data, const char *name)
{
    (void)data;
    return g_hash_table_lookup(partials, name);
}

static void add_partial(const char *name, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_hash_table_insert(partials, g_strdup(name), mustache_new(name, text, NULL, NULL, &error));
    g_assert_no_error(error);
}

/* In "German", for which bracketed text stands. */
static char *translate(void *data, const char *text)
{
    g_assert_true(data == tongue);
    return strcmp(text, "Leave {{list}} now?") == 0 ? g_strdup("{{list}} jetzt verlassen?")
           : strcmp(text, "broken") == 0            ? g_strdup("{{#x}}")
                                                    : NULL;
}

static void gives(const char *text, const char *view, const char *wanted)
{
    g_autoptr(GError) error = NULL;
    json_auto_t *value = json_loads(view, JSON_DECODE_ANY, NULL);
    g_assert_nonnull(value);
    g_autoptr(Mustache) template = mustache_new("page", text, translate, tongue, &error);
    g_assert_no_error(error);
    g_autoptr(GString) out = g_string_new(NULL);
    g_assert_true(mustache_fill(template, value, partial, NULL, out, &error));
    g_assert_cmpstr(out->str, ==, wanted);
}

static void refuses(const char *text, const char *why)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Mustache) template = mustache_new("page", text, translate, tongue, &error);
    g_assert_null(template);
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_cmpstr(error->message, ==, why);
}

static void test_values(void)
{
    gives("a {{x}} b", "{\"x\": \"<i> & \\\"q\\\" 'p'\"}", "a &lt;i&gt; &amp; &quot;q&quot; &#39;p&#39; b");
    gives("{{{x}}} {{&x}}", "{\"x\": \"<i>\"}", "<i> <i>");
    gives("{{a}} {{b}} {{c}} {{d}}|{{e}}|{{f}}", "{\"a\": 12, \"b\": 1.25, \"c\": true, \"d\": null, \"f\": [1]}",
          "12 1.25 true ||");
    gives("{{a.b.c}} {{a.x.c}}", "{\"a\": {\"b\": {\"c\": \"deep\"}}, \"c\": \"no\"}", "deep ");
    gives("{{.}}", "\"it\"", "it");
    gives("{{ x }}{{! says\nnothing }}.", "{\"x\": 1}", "1.");
}

/* A sentence for people is no page: nothing in it is escaped. */
static void test_sentence(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) out = g_string_new("Look: ");
    json_auto_t *values = json_pack("{si ss}", "count", 3, "name", "<a & b>");
    g_assert_true(mustache_say("{{count}} of {{name}}{{none}}", values, out, &error));
    g_assert_cmpstr(out->str, ==, "Look: 3 of <a & b>");
    g_assert_false(mustache_say("{{count", values, out, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_cmpstr(out->str, ==, "Look: 3 of <a & b>");
}

static void test_sections(void)
{
    gives("{{#l}}<{{n}}{{t}}>{{/l}}{{^l}}none{{/l}}", "{\"t\": \"!\", \"l\": [{\"n\": 1}, {\"n\": 2, \"t\": \"?\"}]}",
          "<1!><2?>");
    gives("{{#l}}x{{/l}}{{^l}}none{{/l}}", "{\"l\": []}", "none");
    gives("{{#l}}{{.}},{{/l}}", "{\"l\": [1, \"<\", 3]}", "1,&lt;,3,");
    gives("{{#o}}{{n}}{{/o}}", "{\"o\": {\"n\": \"in\"}, \"n\": \"out\"}", "in");
    gives("{{#a}}A{{#b}}B{{/b}}{{^b}}-{{/b}}{{/a}}", "{\"a\": true, \"b\": \"\"}", "A-");
    gives("{{#a.b}}x{{/a.b}}{{^a.c}}y{{/a.c}}", "{\"a\": {\"b\": 0, \"c\": false}}", "xy");
}

static void test_lines(void)
{
    gives("<ul>\n  {{#l}}\n  <li>{{.}}</li>\n  {{/l}}\n</ul>\n", "{\"l\": [1, 2]}",
          "<ul>\n  <li>1</li>\n  <li>2</li>\n</ul>\n");
    gives("a\r\n{{! alone }}\r\nb", "{}", "a\r\nb");
    gives("  {{#a}} x {{/a}}\n", "{\"a\": true}", "   x \n");
    gives("{{=<% %>=}}\n<% x %> {{x}}\n<%={{ }}=%>\n{{x}}", "{\"x\": 1}", "1 {{x}}\n1");
}

static void test_partials(void)
{
    add_partial("line", "<{{x}}>\n{{#more}}\n+\n{{/more}}\n");
    add_partial("outer", "[\n  {{>line}}\n]\n");
    add_partial("tree", "{{n}}{{#l}}({{>tree}}){{/l}}");
    add_partial("endless", "{{>endless}}");
    gives(" {{>line}} .", "{\"x\": 1}", " <1>\n .");
    gives("  {{>line}}\n.", "{\"x\": \"a\\nb\", \"more\": true}", "  <a\nb>\n  +\n.");
    gives(" {{>outer}}\n", "{\"x\": 1}", " [\n   <1>\n ]\n");
    gives("{{>nothing}}.", "{}", ".");
    gives("{{>tree}}", "{\"n\": 1, \"l\": [{\"n\": 2, \"l\": []}, {\"n\": 3, \"l\": [{\"n\": 4, \"l\": []}]}]}",
          "1(2)(3(4))");
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) out = g_string_new(NULL);
    json_auto_t *view = json_object();
    g_assert_false(mustache_fill(g_hash_table_lookup(partials, "endless"), view, partial, NULL, out, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_nonnull(strstr(error->message, "{{>endless}}"));
}

static void test_translations(void)
{
    gives("<b>{{#_}}Leave\n   {{list}} now?{{/_}}</b>", "{\"list\": \"A&B\"}", "<b>A&amp;B jetzt verlassen?</b>");
    gives("{{#_}} Not {{x}}\nknown {{/_}}", "{\"x\": 1}", "Not 1 known");
    gives("{{#a}}\n{{#_}}Leave {{list}} now?{{/_}}\n{{/a}}\n", "{\"a\": [{\"list\": 1}, {\"list\": 2}]}",
          "1 jetzt verlassen?\n2 jetzt verlassen?\n");
}

static void test_mistakes(void)
{
    refuses("a\n{{#x}}\n", "the template page: the section x has no end");
    refuses("a\n{{#x}}{{/y}}", "the template page, line 2: another section ends than the one that began last");
    refuses("{{/y}}", "the template page, line 1: a section ends that has not begun");
    refuses("a\nb\n{{x", "the template page, line 3: a tag that begins here has no end");
    refuses("{{{x}}", "the template page, line 1: a tag that begins here has no end");
    refuses("{{ }}", "the template page, line 1: a tag without a name");
    refuses("{{=x=}}", "the template page, line 1: delimiters are two words, as in {{=<% %>=}}");
    refuses("\n{{#_}}x", "the template page, line 2: the section _ has no end");
    refuses("{{#_}}broken{{/_}}", "the template page, line 1: a section has no end within the text of a section _");
    refuses("{{#x}}{{#_}}{{/x}}{{/_}}", "the template page, line 1: a section ends that has not begun");
}

SUITE("mustache")
{
    g_test_init(&argc, &argv, NULL);
    partials = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)mustache_free);
    g_test_add_func("/mustache/values", test_values);
    g_test_add_func("/mustache/a sentence", test_sentence);
    g_test_add_func("/mustache/sections", test_sections);
    g_test_add_func("/mustache/lines that a tag has for itself", test_lines);
    g_test_add_func("/mustache/partials", test_partials);
    g_test_add_func("/mustache/translations", test_translations);
    g_test_add_func("/mustache/mistakes", test_mistakes);
    int result = g_test_run();
    g_hash_table_unref(partials);
    return result;
}
