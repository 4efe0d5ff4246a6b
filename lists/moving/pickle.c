/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A pickle is a program for a machine with a stack and a memory for values that are named again. The instructions are
 * those of Python's Lib/pickletools.py, one byte each, with what belongs to them behind it.
 */
#include "lists/moving/pickle.h"

#include <string.h>

#include "base/fail.h"

#define CLASS_MOST 200 /* bytes of its name, of which each object has a copy */

struct Pickle {
    GPtrArray *values; /* all of them, owned */
    const PickleValue *root;
};

typedef struct Machine {
    Pickle *pickle;
    const unsigned char *bytes;
    size_t length, at;
    const char *const *classes;
    GPtrArray *stack;   /* of PickleValue; NULL is a mark */
    GHashTable *memory; /* number -> PickleValue */
    bool stopped;
    GError **error;
} Machine;

static void value_free(gpointer data)
{
    PickleValue *value = data;
    if (value->bytes)
        g_string_free(value->bytes, TRUE);
    if (value->items)
        g_ptr_array_unref(value->items);
    g_free(value);
}

void pickle_free(Pickle *pickle)
{
    if (!pickle)
        return;
    g_ptr_array_unref(pickle->values);
    g_free(pickle);
}

const PickleValue *pickle_root(const Pickle *pickle)
{
    return pickle->root;
}

/* ---- the machine ---- */

static bool refuse(Machine *machine, const char *why)
{
    return fail(machine->error, FAIL_NEVER, "byte %zu of the pickle: %s", machine->at, why);
}

static PickleValue *make(Machine *machine, PickleType type)
{
    PickleValue *value = g_new0(PickleValue, 1);
    value->type = type;
    if (type == PICKLE_LIST || type == PICKLE_DICT || type == PICKLE_OBJECT)
        value->items = g_ptr_array_new();
    g_ptr_array_add(machine->pickle->values, value);
    return value;
}

static bool push(Machine *machine, PickleValue *value)
{
    g_ptr_array_add(machine->stack, value);
    return true;
}

/* NULL, with error: the stack is empty there. */
static PickleValue *top(Machine *machine)
{
    PickleValue *value = machine->stack->len > 0 ? machine->stack->pdata[machine->stack->len - 1] : NULL;
    if (!value)
        refuse(machine, "a value is missing");
    return value;
}

static PickleValue *pop(Machine *machine)
{
    PickleValue *value = top(machine);
    if (value)
        g_ptr_array_set_size(machine->stack, (int)machine->stack->len - 1);
    return value;
}

/* Takes away all above the last mark, and the mark, and gives them in order; NULL: there is no mark. */
static GPtrArray *pop_to_mark(Machine *machine)
{
    guint at = machine->stack->len;
    while (at > 0 && machine->stack->pdata[at - 1])
        at--;
    if (at == 0) {
        refuse(machine, "a mark is missing");
        return NULL;
    }
    GPtrArray *items = g_ptr_array_new();
    for (guint i = at; i < machine->stack->len; i++)
        g_ptr_array_add(items, machine->stack->pdata[i]);
    g_ptr_array_set_size(machine->stack, (int)at - 1);
    return items;
}

/* ---- what stands behind an instruction ---- */

static const unsigned char *take(Machine *machine, uint64_t count)
{
    if (count > machine->length - machine->at) {
        refuse(machine, "it ends early");
        return NULL;
    }
    const unsigned char *taken = machine->bytes + machine->at;
    machine->at += count;
    return taken;
}

/* An unsigned number of so many bytes, the lowest first. */
static bool take_number(Machine *machine, unsigned count, uint64_t *number)
{
    const unsigned char *taken = take(machine, count);
    *number = 0;
    for (unsigned i = 0; taken && i < count; i++)
        *number |= (uint64_t)taken[i] << 8 * i;
    return taken != NULL;
}

/* A line, without its end; g_free(). */
static char *take_line(Machine *machine)
{
    const unsigned char *start = machine->bytes + machine->at;
    const unsigned char *end = memchr(start, '\n', machine->length - machine->at);
    if (!end) {
        refuse(machine, "a line has no end");
        return NULL;
    }
    machine->at += (size_t)(end - start) + 1;
    return g_strndup((const char *)start, (size_t)(end - start));
}

/* ---- values ---- */

static bool push_integer(Machine *machine, PickleType type, int64_t integer)
{
    PickleValue *value = make(machine, type);
    value->integer = integer;
    return push(machine, value);
}

/* A signed number of any size, the lowest byte first. */
static bool push_long(Machine *machine, unsigned size_bytes)
{
    uint64_t count, number = 0;
    const unsigned char *taken = take_number(machine, size_bytes, &count) ? take(machine, count) : NULL;
    if (!taken)
        return false;
    bool negative = count > 0 && taken[count - 1] & 0x80;
    if (count > 8)
        return push_integer(machine, PICKLE_INTEGER, negative ? INT64_MIN : INT64_MAX);
    for (unsigned i = 0; i < 8; i++)
        number |= (uint64_t)(i < count ? taken[i] : negative ? 0xff : 0) << 8 * i;
    return push_integer(machine, PICKLE_INTEGER, (int64_t)number);
}

static bool push_float(Machine *machine, double number)
{
    PickleValue *value = make(machine, PICKLE_FLOAT);
    value->number = number;
    return push(machine, value);
}

static bool push_counted(Machine *machine, PickleType type, unsigned size_bytes)
{
    uint64_t count;
    const unsigned char *taken = take_number(machine, size_bytes, &count) ? take(machine, count) : NULL;
    if (!taken)
        return false;
    PickleValue *value = make(machine, type);
    value->bytes = g_string_new_len((const char *)taken, (gssize)count);
    return push(machine, value);
}

/* A str of Python 2 as its repr() is: in quotes, with escapes. */
static bool push_quoted_line(Machine *machine)
{
    g_autofree char *line = take_line(machine);
    size_t length = line ? strlen(line) : 0;
    if (!line)
        return false;
    if (length < 2 || (*line != '\'' && *line != '"') || line[length - 1] != *line)
        return refuse(machine, "a text has no quotes");
    GString *text = g_string_new(NULL);
    for (const char *at = line + 1; at < line + length - 1; at++) {
        static const char escapes[] = "n\nr\rt\ta\ab\bf\fv\v0";
        const char *known = *at == '\\' && at[1] ? strchr(escapes, at[1]) : NULL;
        if (*at == '\\' && at[1] == 'x' && g_ascii_isxdigit(at[2]) && g_ascii_isxdigit(at[3])) {
            g_string_append_c(text, (char)(g_ascii_xdigit_value(at[2]) << 4 | g_ascii_xdigit_value(at[3])));
            at += 3;
        } else if (known && known[1] && g_ascii_islower(*known)) {
            g_string_append_c(text, known[1]);
            at++;
        } else {
            at += *at == '\\' && at + 2 < line + length;
            g_string_append_c(text, *at);
        }
    }
    PickleValue *value = make(machine, PICKLE_BYTES);
    value->bytes = text;
    return push(machine, value);
}

/* Latin-1 with \uXXXX and \UXXXXXXXX. */
static bool push_escaped_line(Machine *machine)
{
    g_autofree char *line = take_line(machine);
    if (!line)
        return false;
    GString *text = g_string_new(NULL);
    for (const char *at = line; *at; at++) {
        unsigned digits = at[0] == '\\' && at[1] == 'u' ? 4 : at[0] == '\\' && at[1] == 'U' ? 8 : 0, seen = 0;
        uint32_t character = 0;
        while (seen < digits && g_ascii_isxdigit(at[2 + seen]))
            character = character << 4 | (uint32_t)g_ascii_xdigit_value(at[2 + seen++]);
        if (digits > 0 && seen == digits)
            at += 1 + digits;
        else
            character = (unsigned char)*at;
        if (character >= 0xd800 && character < 0xe000) { /* a lone surrogate, as UTF-8 would have it */
            g_string_append_c(text, (char)(0xe0 | character >> 12));
            g_string_append_c(text, (char)(0x80 | (character >> 6 & 0x3f)));
            g_string_append_c(text, (char)(0x80 | (character & 0x3f)));
        } else if (character < 0x110000) {
            g_string_append_unichar(text, character);
        }
    }
    PickleValue *value = make(machine, PICKLE_TEXT);
    value->bytes = text;
    return push(machine, value);
}

/* ---- collections ---- */

static bool push_items(Machine *machine, PickleType type, GPtrArray *items)
{
    if (!items)
        return false;
    PickleValue *value = make(machine, type);
    g_ptr_array_unref(value->items);
    value->items = items;
    return (type != PICKLE_DICT || items->len % 2 == 0 || refuse(machine, "a key has no value")) &&
           push(machine, value);
}

static bool push_tuple(Machine *machine, unsigned count)
{
    if (machine->stack->len < count)
        return refuse(machine, "a value is missing");
    g_autoptr(GPtrArray) items = g_ptr_array_new();
    for (guint i = machine->stack->len - count; i < machine->stack->len; i++) {
        if (!machine->stack->pdata[i])
            return refuse(machine, "a value is missing");
        g_ptr_array_add(items, machine->stack->pdata[i]);
    }
    g_ptr_array_set_size(machine->stack, (int)(machine->stack->len - count));
    return push_items(machine, PICKLE_LIST, g_steal_pointer(&items));
}

/* Appends to the collection on top of the stack. */
static bool add_items(Machine *machine, GPtrArray *items, bool pairs)
{
    g_autoptr(GPtrArray) taken = items;
    PickleValue *into = taken ? top(machine) : NULL;
    if (!into)
        return false;
    if (!into->items || (pairs && into->type == PICKLE_LIST) || (!pairs && into->type == PICKLE_DICT))
        return refuse(machine, "this value takes no items");
    if (pairs && taken->len % 2 != 0)
        return refuse(machine, "a key has no value");
    for (guint i = 0; i < taken->len; i++)
        g_ptr_array_add(into->items, taken->pdata[i]);
    return true;
}

static bool add_last(Machine *machine, unsigned count)
{
    g_autoptr(GPtrArray) items = g_ptr_array_new();
    for (unsigned i = 0; i < count; i++) {
        PickleValue *value = pop(machine);
        if (!value)
            return false;
        g_ptr_array_insert(items, 0, value);
    }
    return add_items(machine, g_steal_pointer(&items), count == 2);
}

/* ---- classes and objects ---- */

static bool push_class(Machine *machine, const char *module, const char *name)
{
    g_autofree char *class = g_strconcat(module, ".", name, NULL), *shown = g_utf8_make_valid(class, -1);
    bool taken = false;
    if (strlen(class) > CLASS_MOST)
        return refuse(machine, "the name of a class is too long");
    for (const char *const *one = machine->classes; one && *one && !taken; one++)
        taken = g_str_has_suffix(*one, ".") ? g_str_has_prefix(class, *one) : strcmp(class, *one) == 0;
    if (!taken)
        return fail(machine->error, FAIL_NEVER, "byte %zu of the pickle: it has a %s, which is not taken", machine->at,
                    shown);
    PickleValue *value = make(machine, PICKLE_OBJECT);
    value->bytes = g_string_new(class);
    return push(machine, value);
}

static bool push_class_lines(Machine *machine)
{
    g_autofree char *module = take_line(machine), *name = module ? take_line(machine) : NULL;
    return name && push_class(machine, module, name);
}

/* Puts an object of class in the place of class and arguments. */
static bool push_object(Machine *machine, PickleValue *class, PickleValue *arguments)
{
    if (!class || !arguments)
        return false;
    if (class->type != PICKLE_OBJECT)
        return refuse(machine, "something is made of what is no class");
    /* In protocols 0 and 1 an object is made by a function, of its class and that of its base. */
    bool by_maker = g_str_has_suffix(class->bytes->str, "._reconstructor") ||
                    g_str_has_suffix(class->bytes->str, ".__newobj__");
    if (by_maker && arguments->type == PICKLE_LIST && arguments->items->len > 0) {
        const PickleValue *first = arguments->items->pdata[0];
        if (first->type == PICKLE_OBJECT)
            class = (PickleValue *)first;
    }
    PickleValue *value = make(machine, PICKLE_OBJECT);
    value->bytes = g_string_new(class->bytes->str);
    value->arguments = arguments;
    return push(machine, value);
}

static bool make_object(Machine *machine, bool keywords)
{
    PickleValue *ignored = keywords ? pop(machine) : NULL;
    PickleValue *arguments = !keywords || ignored ? pop(machine) : NULL;
    return push_object(machine, arguments ? pop(machine) : NULL, arguments);
}

/* Of the arguments behind the last mark; the class is the first of them, or stands behind the instruction. */
static bool make_instance(Machine *machine, bool named)
{
    g_autoptr(GPtrArray) items = pop_to_mark(machine);
    if (!items || (named && !push_class_lines(machine)))
        return false;
    PickleValue *class = named ? pop(machine) : items->len > 0 ? g_ptr_array_steal_index(items, 0) : NULL;
    if (!class)
        return refuse(machine, "a class is missing");
    return push_items(machine, PICKLE_LIST, g_steal_pointer(&items)) && push_object(machine, class, pop(machine));
}

/* ---- memory ---- */

static bool keep(Machine *machine, uint64_t number)
{
    PickleValue *value = top(machine);
    if (value)
        g_hash_table_insert(machine->memory, g_memdup2(&number, sizeof number), value);
    return value != NULL;
}

static bool recall(Machine *machine, uint64_t number)
{
    PickleValue *value = g_hash_table_lookup(machine->memory, &number);
    return value ? push(machine, value) : refuse(machine, "a value is named that was not kept");
}

static bool by_number(Machine *machine, unsigned size_bytes, bool (*act)(Machine *, uint64_t))
{
    uint64_t number;
    return take_number(machine, size_bytes, &number) && act(machine, number);
}

static bool by_line(Machine *machine, bool (*act)(Machine *, uint64_t))
{
    g_autofree char *line = take_line(machine);
    return line && act(machine, g_ascii_strtoull(line, NULL, 10));
}

/* ---- instructions ---- */

static bool run_number(Machine *machine, unsigned char code, bool *known)
{
    uint64_t number = 0;
    switch (code) {
    case 'I':
    case 'L': { /* "12", "12L", "00" and "01" for no and yes */
        g_autofree char *line = take_line(machine);
        bool flag = line && (strcmp(line, "00") == 0 || strcmp(line, "01") == 0);
        return line && (flag ? push_integer(machine, PICKLE_BOOL, line[1] == '1')
                             : push_integer(machine, PICKLE_INTEGER, g_ascii_strtoll(line, NULL, 10)));
    }
    case 'J':
        return take_number(machine, 4, &number) && push_integer(machine, PICKLE_INTEGER, (int32_t)number);
    case 'K':
        return take_number(machine, 1, &number) && push_integer(machine, PICKLE_INTEGER, (int64_t)number);
    case 'M':
        return take_number(machine, 2, &number) && push_integer(machine, PICKLE_INTEGER, (int64_t)number);
    case 0x8a:
        return push_long(machine, 1);
    case 0x8b:
        return push_long(machine, 4);
    case 'F': {
        g_autofree char *line = take_line(machine);
        return line && push_float(machine, g_ascii_strtod(line, NULL));
    }
    case 'G': { /* the highest byte first */
        const unsigned char *taken = take(machine, 8);
        double value;
        for (unsigned i = 0; taken && i < 8; i++)
            number = number << 8 | taken[i];
        memcpy(&value, &number, sizeof value);
        return taken && push_float(machine, value);
    }
    case 'N':
        return push(machine, make(machine, PICKLE_NONE));
    case 0x88:
    case 0x89:
        return push_integer(machine, PICKLE_BOOL, code == 0x88);
    default:
        *known = false;
        return false;
    }
}

static bool run_text(Machine *machine, unsigned char code, bool *known)
{
    switch (code) {
    case 'S':
        return push_quoted_line(machine);
    case 'T':
    case 'B':
        return push_counted(machine, PICKLE_BYTES, 4);
    case 'U':
    case 'C':
        return push_counted(machine, PICKLE_BYTES, 1);
    case 0x8e:
    case 0x96:
        return push_counted(machine, PICKLE_BYTES, 8);
    case 'V':
        return push_escaped_line(machine);
    case 'X':
        return push_counted(machine, PICKLE_TEXT, 4);
    case 0x8c:
        return push_counted(machine, PICKLE_TEXT, 1);
    case 0x8d:
        return push_counted(machine, PICKLE_TEXT, 8);
    default:
        *known = false;
        return false;
    }
}

static bool run_collection(Machine *machine, unsigned char code, bool *known)
{
    switch (code) {
    case ']':
    case ')':
    case 0x8f:
        return push(machine, make(machine, PICKLE_LIST));
    case '}':
        return push(machine, make(machine, PICKLE_DICT));
    case 'l':
    case 't':
    case 0x91:
        return push_items(machine, PICKLE_LIST, pop_to_mark(machine));
    case 'd':
        return push_items(machine, PICKLE_DICT, pop_to_mark(machine));
    case 0x85:
    case 0x86:
    case 0x87:
        return push_tuple(machine, code - 0x84u);
    case 'a':
        return add_last(machine, 1);
    case 's':
        return add_last(machine, 2);
    case 'e':
    case 0x90:
        return add_items(machine, pop_to_mark(machine), false);
    case 'u':
        return add_items(machine, pop_to_mark(machine), true);
    default:
        *known = false;
        return false;
    }
}

static bool run_object(Machine *machine, unsigned char code, bool *known)
{
    switch (code) {
    case 'c':
        return push_class_lines(machine);
    case 0x93: {
        const PickleValue *name = pop(machine), *module = name ? pop(machine) : NULL;
        if (!module)
            return false;
        if (!pickle_string(name) || !pickle_string(module))
            return refuse(machine, "the name of a class is no text");
        return push_class(machine, module->bytes->str, name->bytes->str);
    }
    case 'R':
    case 0x81:
        return make_object(machine, false);
    case 0x92:
        return make_object(machine, true);
    case 'i':
        return make_instance(machine, true);
    case 'o':
        return make_instance(machine, false);
    case 'b': {
        PickleValue *state = pop(machine), *value = state ? top(machine) : NULL;
        if (!value)
            return false;
        if (value->type != PICKLE_OBJECT)
            return refuse(machine, "a state belongs to what is no object");
        value->state = state;
        return true;
    }
    default:
        *known = false;
        return false;
    }
}

static bool run_memory(Machine *machine, unsigned char code, bool *known)
{
    switch (code) {
    case 'p':
        return by_line(machine, keep);
    case 'q':
        return by_number(machine, 1, keep);
    case 'r':
        return by_number(machine, 4, keep);
    case 0x94:
        return keep(machine, g_hash_table_size(machine->memory));
    case 'g':
        return by_line(machine, recall);
    case 'h':
        return by_number(machine, 1, recall);
    case 'j':
        return by_number(machine, 4, recall);
    default:
        *known = false;
        return false;
    }
}

static bool run_stack(Machine *machine, unsigned char code, bool *known)
{
    PickleValue *value;
    switch (code) {
    case 0x80:
        return take(machine, 1) != NULL;
    case 0x95:
        return take(machine, 8) != NULL;
    case '(':
        return push(machine, NULL);
    case '0':
        return pop(machine) != NULL;
    case '1':
        g_ptr_array_unref(pop_to_mark(machine) ?: g_ptr_array_new());
        return machine->error == NULL || *machine->error == NULL;
    case '2':
        return (value = top(machine)) != NULL && push(machine, value);
    case '.':
        machine->stopped = true;
        return true;
    default:
        *known = false;
        return false;
    }
}

Pickle *pickle_read(const void *bytes, size_t length, const char *const *classes, GError **error)
{
    static bool (*const kinds[])(Machine *, unsigned char, bool *) = {run_text,   run_memory, run_collection,
                                                                      run_number, run_object, run_stack};
    g_autoptr(Pickle) pickle = g_new0(Pickle, 1);
    g_autoptr(GPtrArray) stack = g_ptr_array_new();
    g_autoptr(GHashTable) memory = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GError) fault = NULL;
    pickle->values = g_ptr_array_new_with_free_func(value_free);
    Machine machine = {.pickle = pickle,
                       .bytes = bytes,
                       .length = length,
                       .classes = classes,
                       .stack = stack,
                       .memory = memory,
                       .error = &fault};
    bool sound = true;
    while (sound && !machine.stopped) {
        const unsigned char *code = take(&machine, 1);
        bool known = false;
        for (size_t kind = 0; code && kind < G_N_ELEMENTS(kinds) && !known; kind++) {
            known = true;
            sound = kinds[kind](&machine, *code, &known);
        }
        if (!code)
            sound = false;
        else if (!known)
            sound = refuse(&machine, "it has an instruction that is not taken");
    }
    pickle->root = sound ? pop(&machine) : NULL;
    if (pickle->root)
        return g_steal_pointer(&pickle);
    g_propagate_error(error, g_steal_pointer(&fault));
    return NULL;
}

/* ---- reading values ---- */

const char *pickle_string(const PickleValue *value)
{
    return value && (value->type == PICKLE_BYTES || value->type == PICKLE_TEXT) ? value->bytes->str : NULL;
}

const PickleValue *pickle_get(const PickleValue *dict, const char *key)
{
    if (!dict || dict->type != PICKLE_DICT)
        return NULL;
    /* The last one counts, as in Python. */
    for (guint at = dict->items->len; at >= 2; at -= 2)
        if (g_strcmp0(pickle_string(dict->items->pdata[at - 2]), key) == 0)
            return dict->items->pdata[at - 1];
    return NULL;
}

GHashTable *pickle_table(const PickleValue *dict)
{
    GHashTable *table = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; dict && dict->type == PICKLE_DICT && i + 1 < dict->items->len; i += 2) {
        const char *key = pickle_string(dict->items->pdata[i]);
        if (key)
            g_hash_table_insert(table, (char *)key, dict->items->pdata[i + 1]);
    }
    return table;
}

void pickle_text_bytes(const PickleValue *value, GString *bytes)
{
    if (!pickle_string(value))
        return;
    const unsigned char *at = (const unsigned char *)value->bytes->str, *end = at + value->bytes->len;
    while (at < end) {
        bool surrogate = value->type == PICKLE_TEXT && end - at >= 3 && at[0] == 0xed &&
                         (at[1] == 0xb2 || at[1] == 0xb3);
        if (surrogate)
            g_string_append_c(bytes, (char)((at[1] & 1) << 6 | (at[2] & 0x3f) | 0x80));
        else
            g_string_append_c(bytes, (char)*at);
        at += surrogate ? 3 : 1;
    }
}
