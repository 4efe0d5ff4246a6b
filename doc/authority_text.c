/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Make authority.md of the tables that say who may do what (lists/authority.h). Run while Listrunner is built; not
 * installed.
 */
#include <stdio.h>
#include <string.h>

#include "lists/letters/template_name.h"
#include "runners/command/rights.h"
#include "runners/rest/resources.h"

static const char *const objects[] = {
    [OF_SITE] = "site",          [OF_DOMAIN] = "domain of the path",  [OF_LIST] = "list of the path",
    [OF_HOST] = "site",
    [OF_MEMBER] = "list of the member", [OF_NAMED_LIST] = "list of `list_id`", [OF_NEW_LIST] = "domain of the new list",
};

/* A text in a cell of a table. */
static void print_cell(const char *text)
{
    g_autoptr(GString) cell = g_string_new(text);
    g_string_replace(cell, "|", "\\|", 0);
    printf(" %s |", cell->str);
}

static void print_right(unsigned right)
{
    g_autofree char *text = authority_text(right);
    print_cell(text);
}

static void print_code(const char *text)
{
    printf(" `%s` |", text);
}

/* ---- REST ---- */

static void print_routes(const RestRoute *table)
{
    puts("| call | about | who |\n|---|---|---|");
    for (const RestRoute *route = table; route->verb; route++) {
        printf("| `%s %s` |", route->verb, route->path);
        print_cell(objects[route->of]);
        print_right(route->who);
        putchar('\n');
    }
    putchar('\n');
}

static void print_fields(const RestField *fields)
{
    puts("| field | read | set |\n|---|---|---|");
    for (; fields->name; fields++) {
        putchar('|');
        print_code(fields->name);
        print_right(fields->read);
        print_right(fields->write);
        putchar('\n');
    }
    putchar('\n');
}

/* The tables of fields that the routes name, each once in the document. */
static void print_resource(const RestRoute *table, GPtrArray *shown)
{
    printf("### %s\n\n", table->path);
    print_routes(table);
    for (const RestRoute *route = table; route->verb; route++) {
        if (!route->fields || g_ptr_array_find(shown, route->fields, NULL))
            continue;
        g_ptr_array_add(shown, (gpointer)route->fields);
        printf("Fields of `%s %s`:\n\n", route->verb, route->path);
        print_fields(route->fields);
    }
}

static void print_rest(void)
{
    g_autoptr(GPtrArray) shown = g_ptr_array_new();
    puts("## REST\n\n"
         "A user of the password file, and a token without lists and domains, is *site*. A token for domains is "
         "*domain* for what is in them, one for lists is *list* for what is theirs; for all else both are "
         "*stranger*. Verbs that a token lacks are refused besides. A call or field that is not for the caller is "
         "answered 403, and fields that it may not see are left out. The field `*` stands for all that have no row.\n");
    for (size_t at = 0; rest_tables[at]; at++)
        print_resource(rest_tables[at], shown);
    puts("Outside of versions:\n");
    printf("| call | about | who |\n|---|---|---|\n| `%s /%s` | site |", rest_metrics.verb, rest_metrics.path);
    print_right(rest_metrics.who);
    puts("\n");
}

/* ---- settings, letters and mail ---- */

static void print_settings(void)
{
    puts("## Settings of lists\n\n"
         "Whoever may set one sets it by every door. A word `@LIST`, which stands for the members of a list, takes a "
         "token that is for that list, too.\n\n| setting | who |\n|---|---|");
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        putchar('|');
        print_code(setting->name);
        print_right(authority_of_setting(setting));
        putchar('\n');
    }
    putchar('\n');
}

static void print_letters(void)
{
    static const unsigned rights[] = {
        [TEMPLATE_OF_LIST] = MAY_LIST, [TEMPLATE_OF_DOMAIN] = MAY_DOMAIN, [TEMPLATE_OF_SITE] = MAY_SITE};
    puts("## Texts of letters\n\n"
         "Whose text a letter may have. The address of a text that a list or domain fetches by HTTP must be one of "
         "`[site] template_hosts`.\n\n| template | who |\n|---|---|");
    for (const TemplateName *name = template_table; name->mailman; name++) {
        putchar('|');
        print_code(name->mailman);
        print_right(rights[name->owner]);
        putchar('\n');
    }
    putchar('\n');
}

static void print_mail(void)
{
    puts("## Mail\n\n"
         "Anybody may ask by mail, so a command does nothing but send a letter. The third column says whose token, "
         "brought back from that letter, has it done; the token itself holds that, not this table.\n\n"
         "| command | who may ask | who has it done | how |\n|---|---|---|---|");
    for (unsigned at = 0; at < COMMAND_WORDS; at++) {
        putchar('|');
        print_code(mail_rights[at].word);
        print_right(mail_rights[at].asks);
        print_right(mail_rights[at].has_done);
        print_cell(mail_rights[at].about);
        putchar('\n');
    }
    puts("\nMail to LIST-join and LIST-leave is `join` and `leave`, to LIST-confirm `confirm`. An answer to a letter "
         "that asked a moderator to decide about posts or requests decides as *moderator*: its token was mailed to "
         "that moderator, is for that list and those posts and requests alone, and expires.\n");
}

int main(void)
{
    puts("# Who may do what\n\n"
         "Made of the tables that the program itself asks (`lists/authority.h`). Whoever asks for something stands in "
         "one relation to what it is about:\n\n"
         "- *site*: the operator: every verb of listrunner(1), a user of REST's password file, a token without lists "
         "and domains\n"
         "- *domain*, *list*: a token for that domain (and so for its lists), for that list\n"
         "- *moderator*: an owner or moderator of the list, who answers a letter that asked for a decision\n"
         "- *person*: whoever brings back a token that was mailed to the address it is about\n"
         "- *stranger*: anybody else who can write a mail, or has a token for something else\n"
         "- *figures*: a token for `/metrics`\n\n"
         "On the command line all is the site's: listrunner(1) works for who can write the database and the spool.\n");
    print_rest();
    print_settings();
    print_letters();
    print_mail();
    return 0;
}
