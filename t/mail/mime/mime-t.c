/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/mime.h"
#include "mail/mime/parameter.h"
#include "t/suite.h"

#include <string.h>

/* "type inside|..." of all parts. */
static char *shape(const char *mail)
{
    g_autoptr(GPtrArray) parts = mime_parts(mail, strlen(mail));
    GString *out = g_string_new(NULL);
    for (guint at = 0; at < parts->len; at++) {
        const MimePart *part = parts->pdata[at];
        g_string_append_printf(out, "%s%s%s", at > 0 ? "|" : "", part->type, part->inside ? " inside" : "");
    }
    return g_string_free(out, FALSE);
}

static void assert_shape(const char *mail, const char *wanted)
{
    g_autofree char *is = shape(mail);
    g_assert_cmpstr(is, ==, wanted);
}

static void test_structure(void)
{
    assert_shape("", "text/plain");
    assert_shape("Subject: x\r\n\r\nbody", "text/plain");
    assert_shape("Content-Type: Multipart/Report; boundary=\"a b\"\n\n--a b\n\ntext\n--a b\nContent-Type: "
                 "message/rfc822\n\nSubject: y\n\nz\n--a b--\nafter",
                 "multipart/report|text/plain|message/rfc822|text/plain inside");
    assert_shape("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/alternative; boundary=y\n\n"
                 "--y\n\n1\n--y\nContent-Type: text/html\n\n2\n--y--\n--x\nContent-Type: image/png\n\n3\n--x--\n",
                 "multipart/mixed|multipart/alternative|text/plain|text/html|image/png");
}

/* Check that a part of a multipart/digest is a mail when nothing else is said; what that mail holds, and the rest, is
 * text. */
static void test_digest(void)
{
    assert_shape("Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: Multipart/Digest; boundary=y\n\n"
                 "--y\n\nSubject: 1\n\none\n--y\nContent-Type: text/plain\n\n2\n--y\nMessage: 3\n\nSubject: 3\n\n3\n"
                 "--y\nContent-Type: x\n\n4\n--y\nContent-Type: multipart/mixed; boundary=z\n\n--z\n\n5\n--z--\n"
                 "--y--\n--x\n\n6\n--x--\n",
                 "multipart/mixed|multipart/digest|message/rfc822|text/plain inside|text/plain|message/rfc822|"
                 "text/plain inside|text/plain|multipart/mixed|text/plain|text/plain");
}

static void test_broken(void)
{
    assert_shape("Content-Type: multipart/mixed; boundary=x\n\n--x\n\nno end", "multipart/mixed|text/plain");
    assert_shape("Content-Type: multipart/mixed\n\n--x\n\n", "multipart/mixed");
    assert_shape("Content-Type: multipart/mixed; boundary=x\n\nno parts\n--x\n", "multipart/mixed");
    assert_shape("Content-Type: multipart/mixed; boundary=\" \"\n\ntext\n-- \nsignature\n", "multipart/mixed");
    assert_shape(
        "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: multipart/mixed;\nboundary=y\n\n--y\n",
        "multipart/mixed|text/plain");
    assert_shape("Content-Type: ;;;\n\n", "text/plain");
    assert_shape("\xef\xbb\xbf"
                 "A: byte order mark\nContent-Type: text/html\n\n",
                 "text/html");
}

/* A line is a delimiter of the multipart whose boundary it names, also where one begins like another one. */
static void test_boundaries(void)
{
    static const char *const pairs[][2] = {{"x", "xy"}, {"xy", "x"}, {"x", "x--"}, {"x:y", "x"}, {"x", "x"}};
    for (size_t at = 0; at < G_N_ELEMENTS(pairs); at++) {
        const char *outer = pairs[at][0], *inner = pairs[at][1];
        g_autofree char *mail = g_strdup_printf(
            "Content-Type: multipart/mixed; boundary=\"%s\"\n\n--%s\nContent-Type: multipart/alternative; "
            "boundary=\"%s\"\n\n--%s\n\n1\n--%s \t\nContent-Type: text/html\n--%s--\n--%s\n"
            "Content-Type: image/png\n\n3\n--%s--\n--%s\n",
            outer, outer, inner, inner, inner, inner, outer, outer, outer);
        assert_shape(mail, "multipart/mixed|multipart/alternative|text/plain|text/html|image/png");
    }
    g_autofree char *boundary = g_strnfill(10000, 'b');
    g_autofree char *mail = g_strdup_printf("Content-Type: multipart/mixed; boundary=\"%s \"\n\n--%s\n\n1\n--%s--\n",
                                            boundary, boundary, boundary);
    assert_shape(mail, "multipart/mixed|text/plain");
    assert_shape("Content-Type: multipart/mixed; boundary=x\n\n--xy\n\n1\n-- x\n\n--x z\n\n", "multipart/mixed");
}

static void test_depth(void)
{
    GString *mail = g_string_new(NULL);
    for (int level = 0; level < 1000; level++)
        g_string_append(mail, "Content-Type: message/rfc822\n\n");
    g_autoptr(GPtrArray) parts = mime_parts(mail->str, mail->len);
    g_assert_cmpuint(parts->len, <, 20);
    g_string_free(mail, TRUE);
}

static void assert_text(const char *mail, const char *wanted)
{
    g_autoptr(GPtrArray) parts = mime_parts(mail, strlen(mail));
    GString *text = mime_text(parts->pdata[0], 1000);
    g_assert_cmpstr(text->str, ==, wanted);
    g_string_free(text, TRUE);
}

static void test_text(void)
{
    assert_text("A: b\r\n\r\na\r\nb\r\n", "a\nb\n");
    assert_text("Content-Transfer-Encoding: Quoted-Printable\n\na=\nb=3D=zz=C3=A4", "ab==zz\xc3\xa4");
    assert_text("Content-Transfer-Encoding: base64\n\naGVs\nbG8=", "hello");
    assert_text("Content-Type: text/plain; charset=ISO-8859-1\n\nJ\xf6rg", "J\xc3\xb6rg");
    assert_text("Content-Type: text/plain; charset=\"iso-2022-jp\"\n\n\033$B$\"\033(B", "\xe3\x81\x82");
    assert_text("Content-Type: text/plain; charset=unicode-1-1-utf-7\n\nA+AOQ-b", "A\xc3\xa4"
                                                                                  "b");
    assert_text("Content-Type: text/plain; charset=nonsense\n\n\xe4", "\xc3\xa4");
}

/* A limit within a character takes that one away, and changes no other. */
static void test_limit(void)
{
    static const char mail[] = "A: b\n\n\xe7\x84\xa1\xe6\xb3\x95";
    g_autoptr(GPtrArray) parts = mime_parts(mail, strlen(mail));
    for (size_t limit = 3; limit <= 6; limit++) {
        GString *text = mime_text(parts->pdata[0], limit);
        g_assert_cmpstr(text->str, ==, limit == 6 ? "\xe7\x84\xa1\xe6\xb3\x95" : "\xe7\x84\xa1");
        g_string_free(text, TRUE);
    }
}

static void assert_html(const char *html, const char *wanted)
{
    GString *raw = g_string_new(html), *text = mime_strip_html(raw);
    g_assert_cmpstr(text->str, ==, wanted);
    g_string_free(raw, TRUE);
    g_string_free(text, TRUE);
}

static void test_html(void)
{
    assert_html("<p>a &lt;b@c.d&gt;<br>e&nbsp;&#228;\nf</p>", "\na <b@c.d>\ne \xc3\xa4 f\n");
    assert_html("<style>x{}</style>a<!-- b -->c</i>", "ac");
    assert_html("no tags\n<a@b.example>\n", "no tags\n<a@b.example>\n");
    assert_html("<!-- open </i>", "");
    assert_html("a<b", "a");
}

static void assert_html_text(const char *html, const char *wanted)
{
    GString *raw = g_string_new(html), *text = mime_html_text(raw);
    g_assert_cmpstr(text->str, ==, wanted);
    g_string_free(raw, TRUE);
    g_string_free(text, TRUE);
}

static void test_html_text(void)
{
    assert_html_text("<html>\r\n<body>\r\n<p>Gr&uuml;&szlig;e,  &Uuml;ber&nbsp;&euro;\r\n \r\nx</p>\r\n"
                     "<p>y&#146;s</p></html>",
                     "Gr\xc3\xbc\xc3\x9f" "e, \xc3\x9c" "ber \xe2\x82\xac x\n\ny\xe2\x80\x99s\n");
    assert_html_text("<div>a\r \r</div><div>b &uuml c &nosuch; &AMP;</div>", "a\nb &uuml c &nosuch; &\n");
    assert_html_text("<div>a</div><div><br></div><div>b</div><ul>\n<li>c</li>\n<li>d</ul>"
                     "<table><tr><td>e</td><td>f</td></tr><tr><td>g</table>",
                     "a\n\nb\n* c\n* d\n\ne f\ng\n\n");
    assert_html_text("<br><br><br>a<br><br><br><br>b", "a\n\nb\n");
    assert_html_text("<pre>if\n    x\n</pre>a\nb", "if\n    x\n\na b\n");
    assert_html_text("<p>See <a class=x href=\"https://e.example/?a=1&amp;b=2\">this</a>, <a href='https://e.example/'>"
                     "https://e.example/</a>.</p>",
                     "See this <https://e.example/?a=1&b=2>, https://e.example/.\n");
    assert_html_text("<p>I <3 you all.</p><p>a < b && c<d>e</p>", "I <3 you all.\n\na < b && ce\n");
    assert_html_text("<p><a title=\"x > y\" href=\"https://e.example/\">this</a></p>", "this <https://e.example/>\n");
    assert_html_text("<table><tr><th>Name</th><th>Age</th></tr><tr><td>Anne</td><td>7</td></tr></table>",
                     "Name Age\nAnne 7\n\n");
    assert_html_text("<p>one<p>two<table><tr><td>a<td>b</table>", "one\n\ntwo\n\na b\n\n");
    assert_html_text("<!DOCTYPE html [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><html><head><meta charset=koi8-r>"
                     "<title>t</title></head><body><p>\xc3\xb6 &x;</body></html><p>behind",
                     "]>\n\xc3\xb6 &x;\n\nbehind\n"); /* as in browsers */
    assert_html_text("<style>p{}</style><script>if (a<b && c>d) \"</p>\"</script><p>x</p>", "x\n");
    assert_html_text("<!--[if mso]><p>no</p><![endif]--><![if !mso]><p>yes</p><![endif]><?xml x?>", "yes\n");
    assert_html_text("write to <anne@example.org>, <br>or <a href=\"mailto:bart@example.org?subject=x\">Bart</a>",
                     "write to <anne@example.org>,\nor <mailto:bart@example.org>Bart\n");
    assert_html_text("<p>a&nbsp;b \xc2\xa0 &#x1b;[1m&lt;b&gt;</p>", "a b \xc2\xa0 &#x1b;[1m<b>\n");
    assert_html_text("<p>a <x<style@y>b</p>", "a b\n");
    assert_html_text("no tags,\r\n  two lines\r\n", "no tags,\n  two lines\n");
}

/* No text is lost behind a tag that was cut short, an address in a tag, or a NUL. */
static void test_html_loss(void)
{
    g_autoptr(GString) style = g_string_new("<p style=\""), single = g_string_new("<p style = '");
    g_autoptr(GString) address = g_string_new("<p>a <b <joe@x.example>"), words = g_string_new("a");
    for (unsigned count = 0; count < 300; count++) {
        g_string_append(style, "m: 0; ");
        g_string_append(single, "m: 0; ");
        g_string_append(address, " w");
        g_string_append(words, " w");
    }
    g_string_append(style, "\">one <b>two</b> \"three\"</p>");
    g_string_append(single, "'>one <b>two</b> it's</p>");
    g_string_append(address, "</p>");
    g_string_append_c(words, '\n');
    assert_html_text(style->str, "one two \"three\"\n");
    assert_html_text(single->str, "one two it's\n");
    assert_html_text(address->str, words->str);
    GString *raw = g_string_new_len("<p>a\0b</p>", 10), *text = mime_html_text(raw);
    g_assert_cmpstr(text->str, ==, "a\xef\xbf\xbd" "b\n");
    g_string_free(raw, TRUE);
    g_string_free(text, TRUE);
}

/* Check that HTML that a stranger may send costs neither the stack nor the text. */
static void test_deep_html(void)
{
    g_autoptr(GString) deep = g_string_new(NULL), wanted = g_string_new(NULL), wide = g_string_new("<p ");
    for (unsigned level = 0; level < 1000000; level++)
        g_string_append(deep, "<div>");
    for (unsigned level = 0; level < 5000; level++) {
        g_string_append_printf(deep, "<div><b>%u", level);
        g_string_append_printf(wanted, "%u\n", level);
        g_string_append_printf(wide, "a%u=\"%u\" ", level, level);
    }
    g_string_append(wide, "><a href=https://x.example>y</a>");
    assert_html_text(deep->str, wanted->str);
    assert_html_text(wide->str, "y <https://x.example>\n");
}

static char *parameter(const char *value, const char *name)
{
    g_autoptr(ContentType) type = content_type_parse(value);
    return content_type_first(type, name);
}

static void test_parameter(void)
{
    static const struct {
        const char *value, *boundary;
    } cases[] = {
        {"a/b; X=1; boundary=\"c;d\"", "c;d"},
        {"a/b;boundary= cd ;x=y", "cd"},
        {"a/b; xboundary=1", NULL},
        {"a/b; boundary=one; boundary=two", "one"},
        {"a/b; charset=us-ascii and more; boundary=c", "c"},
        {"a/b, c; boundary=\"d", "d"},
        {"a/b; boundary*0=c; boundary*1=d", "cd"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *found = parameter(cases[i].value, "boundary");
        g_assert_cmpstr(found, ==, cases[i].boundary);
    }
}

SUITE("mime")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mime/structure", test_structure);
    g_test_add_func("/mime/digest", test_digest);
    g_test_add_func("/mime/broken", test_broken);
    g_test_add_func("/mime/boundaries", test_boundaries);
    g_test_add_func("/mime/depth", test_depth);
    g_test_add_func("/mime/text", test_text);
    g_test_add_func("/mime/limit", test_limit);
    g_test_add_func("/mime/html", test_html);
    g_test_add_func("/mime/html for people", test_html_text);
    g_test_add_func("/mime/html loss", test_html_loss);
    g_test_add_func("/mime/deep html", test_deep_html);
    g_test_add_func("/mime/parameter", test_parameter);
    return g_test_run();
}
