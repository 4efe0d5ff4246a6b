# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Known ways by which a text becomes a script of a page, and the check that none did."""
import re
from html.parser import HTMLParser

VECTORS = ["<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "javascript:alert(1)", "'-alert(1)-'",
           "{{{text}}}{{{token}}}", "]]><script>alert(1)</script>", "</title><svg/onload=alert(1)>",
           "<a href=\"javascript:alert(1)\">x</a>",
           "&lt;script&gt;", "\u202e<b>", "<!--", "data:text/html,<script>alert(1)</script>",
           "<!--<img src=\"--><img src=x onerror=alert(1)//\">", "<iframe srcdoc='<script>alert(1)</script>'>",
           "<plaintext>"]


class Tags(HTMLParser):
    """Looks whether each tag of a page is one of ours, and where its links lead."""
    ours = set("html head meta title link body a header main footer p h1 h2 h3 div nav span form label input button "
               "ol ul li bdi time b article dl dt dd details summary blockquote pre hr section mark svg rect "
               "script fieldset legend textarea select option del ins code strong".split())

    def check(self, text):
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        assert tag in self.ours, self.get_starttag_text()
        for name, value in attributes:
            assert not name.startswith("on") and name != "style", self.get_starttag_text()
            if name in ("href", "src", "action"):
                assert re.match(r"/(?!/)|#content|mailto:|https?://", value), self.get_starttag_text()
            if name == "src" or tag == "script":
                assert value in ("/files/archive.js", None, ""), self.get_starttag_text()
