/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/mustache.h"

#include <string.h>

#include "base/fail.h"

typedef enum NodeKind { NODE_TEXT, NODE_ESCAPED, NODE_RAW, NODE_SECTION, NODE_INVERTED, NODE_PARTIAL } NodeKind;

/* A template is a row of these; the nodes inside of a section follow it. */
typedef struct Node {
    NodeKind kind;
    bool begins_line; /* in a partial with an indentation, that goes before it */
    char *text;       /* or the name, or that of the partial */
    char **path;      /* the parts of a name with dots; none: "." */
    char *indent;     /* of a partial that stands alone in its line */
    unsigned end;     /* index behind the last node of a section */
} Node;

struct Mustache {
    char *name;
    GArray *nodes;
};

static void node_clear(void *data)
{
    Node *node = data;
    g_free(node->text);
    g_strfreev(node->path);
    g_free(node->indent);
}

void mustache_free(Mustache *template)
{
    if (!template)
        return;
    g_free(template->name);
    g_array_unref(template->nodes);
    g_free(template);
}

/* ---- parsing ---- */

typedef struct MustacheParser {
    Mustache *template;
    const char *text;   /* what is parsed: the whole, or a translation in it */
    unsigned outer;     /* sections that had begun before it */
    char *open, *close; /* delimiters */
    GArray *sections;   /* of unsigned: the nodes whose end has not come */
    MustacheTranslate *translate;
    void *data;
} MustacheParser;

/* A tag as it stands in the text. */
typedef struct MustacheTag {
    const char *begin, *end; /* with its delimiters */
    char kind;               /* '#', '^', '/', '>', '!', '=', '&', '{'; 0: a variable */
    char *name;
} MustacheTag;

static bool parse(MustacheParser *parser, const char *text, GError **error);

static bool mistaken(const MustacheParser *parser, const char *where, const char *what, GError **error)
{
    unsigned line = 1;
    for (const char *at = parser->text; at < where; at++)
        line += *at == '\n';
    return fail(error, FAIL_CONFIG, "the template %s, line %u: %s", parser->template->name, line, what);
}

static Node *add_node(MustacheParser *parser, NodeKind kind, bool begins_line, char *text)
{
    Node node = {.kind = kind, .begins_line = begins_line, .text = text};
    g_array_append_val(parser->template->nodes, node);
    return &g_array_index(parser->template->nodes, Node, parser->template->nodes->len - 1);
}

static void add_name(MustacheParser *parser, NodeKind kind, bool begins_line, const char *name)
{
    Node *node = add_node(parser, kind, begins_line, g_strdup(name));
    node->path = g_strsplit(strcmp(name, ".") == 0 ? "" : name, ".", -1);
}

static bool is_line_begin(const char *text, const char *at)
{
    return at == text || at[-1] == '\n';
}

/* One node for each line, since each may get an indentation. */
static void add_text(MustacheParser *parser, const char *begin, const char *end)
{
    while (begin < end) {
        const char *newline = memchr(begin, '\n', (size_t)(end - begin));
        const char *next = newline ? newline + 1 : end;
        add_node(parser, NODE_TEXT, is_line_begin(parser->text, begin), g_strndup(begin, (size_t)(next - begin)));
        begin = next;
    }
}

/* Read the tag at begin. */
static bool read_tag(const MustacheParser *parser, const char *begin, MustacheTag *tag, GError **error)
{
    const char *inside = begin + strlen(parser->open);
    tag->begin = begin;
    tag->kind = *inside && strchr("#^/>!=&{", *inside) ? *inside : '\0';
    inside += tag->kind != '\0';
    g_autofree char *close = tag->kind == '{'   ? g_strconcat("}", parser->close, NULL)
                             : tag->kind == '=' ? g_strconcat("=", parser->close, NULL)
                                                : g_strdup(parser->close);
    const char *end = strstr(inside, close);
    if (!end)
        return mistaken(parser, begin, "a tag that begins here has no end", error);
    tag->end = end + strlen(close);
    tag->name = g_strstrip(g_strndup(inside, (size_t)(end - inside)));
    if (!*tag->name && tag->kind != '!')
        return mistaken(parser, begin, "a tag without a name", error);
    return true;
}

/* A tag that is neither a variable nor text, and alone in its line, takes the line away with it: *begin and *end are
 * moved to where that begins and ends. */
static bool stands_alone(const char *text, const MustacheTag *tag, const char **begin, const char **end)
{
    if (!tag->kind || tag->kind == '&' || tag->kind == '{')
        return false;
    const char *line = tag->begin;
    while (line > text && (line[-1] == ' ' || line[-1] == '\t'))
        line--;
    const char *behind = tag->end + strspn(tag->end, " \t");
    if (!is_line_begin(text, line) || (*behind && *behind != '\n' && strncmp(behind, "\r\n", 2) != 0))
        return false;
    *begin = line;
    *end = behind + (*behind == '\r') + (*behind != '\0');
    return true;
}

/* Parse the translation of the text between {{#_}}, at *end, and its {{/_}}, behind which *end is set. */
static bool add_translation(MustacheParser *parser, const char **end, GError **error)
{
    g_autofree char *mark = g_strconcat(parser->open, "/_", parser->close, NULL);
    const char *close = strstr(*end, mark);
    if (!close)
        return mistaken(parser, *end, "the section _ has no end", error);
    g_autofree char *key = g_strndup(*end, (size_t)(close - *end));
    g_auto(GStrv) words = g_strsplit_set(g_strstrip(key), " \t\r\n", -1);
    g_autoptr(GString) single = g_string_new(NULL);
    for (char **word = words; *word; word++)
        if (**word)
            g_string_append_printf(single, "%s%s", single->len ? " " : "", *word);
    g_autofree char *translated = parser->translate ? parser->translate(parser->data, single->str) : NULL;
    *end = close + strlen(mark);
    unsigned outer = parser->sections->len;
    if (!parse(parser, translated ? translated : single->str, error))
        return false;
    return parser->sections->len == outer ||
           mistaken(parser, close, "a section has no end within the text of a section _", error);
}

/* *end is where the text behind the tag begins, and is moved behind a translation. */
static bool add_tag(MustacheParser *parser, const MustacheTag *tag, bool alone, const char **end, GError **error)
{
    bool begins_line = !alone && is_line_begin(parser->text, tag->begin);
    GArray *nodes = parser->template->nodes;
    const unsigned depth = parser->sections->len;
    switch (tag->kind) {
    case '!':
        return true;
    case '=': {
        g_auto(GStrv) words = g_strsplit_set(tag->name, " \t\r\n", -1);
        const char *found[2] = {NULL, NULL};
        unsigned count = 0;
        for (char **word = words; *word; word++)
            if (**word && count++ < 2)
                found[count - 1] = *word;
        if (count != 2)
            return mistaken(parser, tag->begin, "delimiters are two words, as in {{=<% %>=}}", error);
        g_free(parser->open);
        g_free(parser->close);
        parser->open = g_strdup(found[0]);
        parser->close = g_strdup(found[1]);
        return true;
    }
    case '/': {
        if (depth == parser->outer)
            return mistaken(parser, tag->begin, "a section ends that has not begun", error);
        Node *node = &g_array_index(nodes, Node, g_array_index(parser->sections, unsigned, depth - 1));
        if (strcmp(node->text, tag->name) != 0)
            return mistaken(parser, tag->begin, "another section ends than the one that began last", error);
        node->end = nodes->len;
        g_array_set_size(parser->sections, depth - 1);
        return true;
    }
    case '>': {
        const char *line = tag->begin;
        while (!is_line_begin(parser->text, line))
            line--;
        add_node(parser, NODE_PARTIAL, begins_line, g_strdup(tag->name))->indent =
            alone ? g_strndup(line, (size_t)(tag->begin - line)) : NULL;
        return true;
    }
    case '#':
        if (strcmp(tag->name, "_") == 0) {
            *end = tag->end;
            return add_translation(parser, end, error);
        }
        G_GNUC_FALLTHROUGH;
    case '^': {
        unsigned index = nodes->len;
        add_name(parser, tag->kind == '#' ? NODE_SECTION : NODE_INVERTED, begins_line, tag->name);
        g_array_append_val(parser->sections, index);
        return true;
    }
    default:
        add_name(parser, tag->kind ? NODE_RAW : NODE_ESCAPED, begins_line, tag->name);
        return true;
    }
}

/* Parse a text within the one that is parsed now, if there is one, and then go on with that. */
static bool parse(MustacheParser *parser, const char *text, GError **error)
{
    const char *text_before = parser->text, *at = text;
    unsigned outer_before = parser->outer;
    bool good = true;
    parser->text = text;
    parser->outer = parser->sections->len;
    for (const char *begin; good && (begin = strstr(at, parser->open));) {
        MustacheTag tag = {0};
        good = read_tag(parser, begin, &tag, error);
        g_autofree char *name = tag.name;
        if (!good)
            break;
        const char *end = tag.end;
        bool is_translation = tag.kind == '#' && strcmp(name, "_") == 0;
        bool alone = !is_translation && stands_alone(text, &tag, &begin, &end);
        add_text(parser, at, begin);
        good = add_tag(parser, &tag, alone, &end, error);
        at = end;
    }
    if (good)
        add_text(parser, at, at + strlen(at));
    parser->text = text_before;
    parser->outer = outer_before;
    return good;
}

Mustache *mustache_new(const char *name, const char *text, MustacheTranslate *translate, void *data, GError **error)
{
    g_autoptr(Mustache) template = g_new0(Mustache, 1);
    template->name = g_strdup(name);
    template->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
    g_array_set_clear_func(template->nodes, node_clear);
    g_autoptr(GArray) sections = g_array_new(FALSE, FALSE, sizeof(unsigned));
    MustacheParser parser = {.template = template,
                             .text = text,
                             .open = g_strdup("{{"),
                             .close = g_strdup("}}"),
                             .sections = sections,
                             .translate = translate,
                             .data = data};
    bool good = parse(&parser, text, error);
    if (good && sections->len > 0) {
        const Node *node = &g_array_index(template->nodes, Node, g_array_index(sections, unsigned, sections->len - 1));
        good = fail(error, FAIL_CONFIG, "the template %s: the section %s has no end", name, node->text);
    }
    g_free(parser.open);
    g_free(parser.close);
    return good ? g_steal_pointer(&template) : NULL;
}

/* ---- filling ---- */

typedef struct Filler {
    MustachePartial *partial;
    void *data;
    GString *out;
    GPtrArray *views; /* of const json_t, the innermost last */
    unsigned depth;
    const char *indent;
    bool plain; /* nothing is escaped */
} Filler;

static const json_t *look_up(const Filler *filler, const Node *node)
{
    const GPtrArray *views = filler->views;
    if (!node->path[0])
        return g_ptr_array_index(views, views->len - 1);
    const json_t *found = NULL;
    for (unsigned i = views->len; i-- > 0 && !found;)
        found = json_object_get(g_ptr_array_index(views, i), node->path[0]);
    for (char **part = node->path + 1; found && *part; part++)
        found = json_object_get(found, *part);
    return found;
}

static bool is_true(const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_NULL:
    case JSON_FALSE:
        return false;
    case JSON_STRING:
        return json_string_length(value) > 0;
    case JSON_ARRAY:
        return json_array_size(value) > 0;
    default:
        return true;
    }
}

void mustache_escape(GString *out, const char *text)
{
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "&<>\"'");
        g_string_append_len(out, at, (gssize)plain);
        at += plain;
        if (*at)
            g_string_append(out, *at == '&'   ? "&amp;"
                                 : *at == '<' ? "&lt;"
                                 : *at == '>' ? "&gt;"
                                 : *at == '"' ? "&quot;"
                                              : "&#39;");
        at += *at != '\0';
    }
}

static void add_value(const Filler *filler, const json_t *value, bool escaped)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    if (json_is_string(value) && escaped)
        mustache_escape(filler->out, json_string_value(value));
    else if (json_is_string(value))
        g_string_append(filler->out, json_string_value(value));
    else if (json_is_integer(value))
        g_string_append_printf(filler->out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        g_string_append(filler->out, g_ascii_formatd(number, sizeof(number), "%.15g", json_real_value(value)));
    else if (json_is_boolean(value))
        g_string_append(filler->out, json_is_true(value) ? "true" : "false");
}

static bool fill_nodes(Filler *filler, const Mustache *template, unsigned begin, unsigned end, GError **error);

/* Fill the nodes within the section once for each element of an array, once for another value that is true. */
static bool fill_section(Filler *filler, const Mustache *template, unsigned section, GError **error)
{
    const Node *node = &g_array_index(template->nodes, Node, section);
    const json_t *value = look_up(filler, node);
    const size_t count = !is_true(value) ? 0 : json_is_array(value) ? json_array_size(value) : 1;
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        g_ptr_array_add(filler->views, json_is_array(value) ? json_array_get(value, i) : (void *)value);
        good = fill_nodes(filler, template, section + 1, node->end, error);
        g_ptr_array_set_size(filler->views, (int)filler->views->len - 1);
    }
    return good;
}

static bool fill_nodes(Filler *filler, const Mustache *template, unsigned begin, unsigned end, GError **error)
{
    for (unsigned i = begin; i < end; i++) {
        const Node *node = &g_array_index(template->nodes, Node, i);
        if (node->begins_line)
            g_string_append(filler->out, filler->indent);
        switch (node->kind) {
        case NODE_TEXT:
            g_string_append(filler->out, node->text);
            break;
        case NODE_ESCAPED:
        case NODE_RAW:
            add_value(filler, look_up(filler, node), node->kind == NODE_ESCAPED && !filler->plain);
            break;
        case NODE_PARTIAL: {
            const Mustache *partial = filler->partial ? filler->partial(filler->data, node->text) : NULL;
            if (!partial)
                break;
            if (filler->depth == MUSTACHE_DEPTH)
                return fail(error, FAIL_CONFIG, "the template %s: more than %d partials are nested at {{>%s}}",
                            template->name, MUSTACHE_DEPTH, node->text);
            const char *outer = filler->indent;
            g_autofree char *indent = g_strconcat(outer, node->indent, NULL);
            filler->indent = indent;
            filler->depth++;
            bool good = fill_nodes(filler, partial, 0, partial->nodes->len, error);
            filler->depth--;
            filler->indent = outer;
            if (!good)
                return false;
            break;
        }
        case NODE_SECTION:
            if (!fill_section(filler, template, i, error))
                return false;
            i = node->end - 1;
            break;
        case NODE_INVERTED:
            if (is_true(look_up(filler, node)))
                i = node->end - 1;
            break;
        }
    }
    return true;
}

bool mustache_fill(const Mustache *template, const json_t *view, MustachePartial *partial, void *data, GString *out,
                   GError **error)
{
    g_autoptr(GPtrArray) views = g_ptr_array_new();
    g_ptr_array_add(views, (void *)view);
    Filler filler = {.partial = partial, .data = data, .out = out, .views = views, .indent = ""};
    return fill_nodes(&filler, template, 0, template->nodes->len, error);
}

bool mustache_say(const char *text, const json_t *values, GString *out, GError **error)
{
    g_autoptr(GPtrArray) views = g_ptr_array_new();
    g_autoptr(Mustache) template = mustache_new("of a sentence", text, NULL, NULL, error);
    g_ptr_array_add(views, (void *)values);
    Filler filler = {.out = out, .views = views, .indent = "", .plain = true};
    return template && fill_nodes(&filler, template, 0, template->nodes->len, error);
}
