# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A news server made for tests: what it knows, what it says of its groups, and when it hangs up is up to the test."""
import socketserver
import threading

from .serving import Serving


class NewsServer:
    """groups: {name: {number: text with LF}}. marks: {name: "COUNT FIRST LAST"} in place of the true ones. knows: the
    ways to learn the numbers of articles. session_most: commands before it hangs up."""

    def __init__(self, groups, knows=("LISTGROUP", "OVER", "XOVER", "NEXT"), session_most=None):
        self.groups, self.knows, self.session_most, self.marks = groups, set(knows), session_most, {}
        self.commands, self.posted, self.lock = [], [], threading.Lock()
        self.lost = 0  # so many times the server hangs up when an article is posted
        self.delay = threading.Event()  # while it is cleared, ARTICLE has no answer
        self.delay.set()
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                outer.session(self)

        self.server = Serving(Handler)
        self.port = self.server.port

    def close(self):
        self.delay.set()
        self.server.server_close()

    def count(self, *words):
        """How often commands were given."""
        with self.lock:
            return sum(command.split()[0] in words for command in self.commands)

    def session(self, stream):
        def say(line):
            stream.wfile.write(line.encode("utf-8", "surrogateescape") + b"\r\n")

        def block(lines):
            for line in (*lines, None):
                say("." if line is None else "." + line if line.startswith(".") else line)

        group, current = None, None
        say("200 hello")
        for done, line in enumerate(stream.rfile):
            if self.session_most and done >= self.session_most:
                say("400 enough")
                return
            text = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
            with self.lock:
                self.commands.append(text)
            word, *words = text.split()
            articles = self.groups.get(group, {})
            if word == "QUIT":
                return
            if word == "MODE":
                say("200 ok")
            elif word == "GROUP":
                if words[0] not in self.groups:
                    say("411 none")
                    continue
                group = words[0]
                articles = self.groups[group]
                numbers = sorted(articles)
                current = numbers[0] if numbers else None
                marks = f"{len(numbers)} {numbers[0]} {numbers[-1]}" if numbers else "0 1 0"
                say(f"211 {self.marks.get(group, marks)} {group}")
            elif word in ("LISTGROUP", "OVER", "XOVER") and word in self.knows:
                first, last = map(int, words[-1].split("-"))
                found = [number for number in sorted(articles) if first <= number <= last]
                if word != "LISTGROUP" and not found:
                    say("423 none")
                    continue
                say("211 0 0 0 numbers" if word == "LISTGROUP" else "224 overview")
                block(f"{number}" if word == "LISTGROUP" else f"{number}\tSubject\tFrom" for number in found)
            elif word in ("ARTICLE", "STAT") and words and words[0].isdigit():
                if word == "ARTICLE":
                    self.delay.wait(120)
                if int(words[0]) not in articles:
                    say("423 none")
                    continue
                current = int(words[0])
                say(f"{220 if word == 'ARTICLE' else 223} {current} <{current}@news>")
                if word == "ARTICLE":
                    block(articles[current].splitlines())
            elif word == "NEXT" and "NEXT" in self.knows:
                after = [number for number in sorted(articles) if current is not None and number > current]
                if after:
                    current = after[0]
                say(f"223 {current} <{current}@news>" if after else "421 no more")
            elif word == "POST":
                if self.lost > 0:
                    self.lost -= 1
                    return
                say("340 go on")
                lines = []
                for article in stream.rfile:
                    if article == b".\r\n":
                        break
                    lines.append(article)
                self.posted.append(b"".join(lines))
                say("240 thanks")
            else:
                say("500 what")
