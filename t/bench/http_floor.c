/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The floor under pages: libevent's evhttp, which answers each request with the same page. usage: http_floor PORT
 * BYTES. It listens on the loopback interface, and ends when its standard input does. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Page {
    char *text;
    size_t length;
} Page;

static void on_request(struct evhttp_request *request, void *data)
{
    const Page *page = data;
    struct evbuffer *body = evbuffer_new();
    evbuffer_add(body, page->text, page->length);
    evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", "text/html; charset=utf-8");
    evhttp_send_reply(request, 200, "OK", body);
    evbuffer_free(body);
}

static void on_input(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    event_base_loopbreak(data);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: http_floor PORT BYTES\n");
        return 2;
    }
    Page page = {.length = (size_t)strtoul(argv[2], NULL, 10)};
    page.text = malloc(page.length + 1);
    if (!page.text)
        return 1;
    memset(page.text, 'x', page.length);
    struct event_base *base = event_base_new();
    struct evhttp *http = evhttp_new(base);
    evhttp_set_gencb(http, on_request, &page);
    if (evhttp_bind_socket(http, "127.0.0.1", (unsigned short)strtoul(argv[1], NULL, 10)) != 0) {
        perror("http_floor: listen");
        return 1;
    }
    event_base_once(base, 0, EV_READ, on_input, base, NULL);
    event_base_dispatch(base);
    evhttp_free(http);
    event_base_free(base);
    free(page.text);
    return 0;
}
