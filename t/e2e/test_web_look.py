# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Colours of the style sheet can be told apart in both schemes, and a page without the style sheet can be used."""
import re

import pytest

from support.corpus import TOP
from support.page_check import check_page

STYLE = (TOP / "etc" / "web" / "style.css").read_text()
# Pairs of colours, the first on the second. Text needs a contrast of 4.5; edges of fields and buttons, and the focus, 3
# (WCAG 2.2, 1.4.3 and 1.4.11).
TEXT = [("ink", "paper"), ("ink", "card"), ("soft", "paper"), ("soft", "card"), ("accent", "paper"), ("accent", "card"),
        ("on-accent", "accent"), ("fault", "paper"), ("fault", "card"), ("done", "paper"), ("done", "card")]
EDGES = [("soft", "paper"), ("soft", "card"), ("accent", "paper"), ("accent", "card")]


def scheme(name):
    """The colours by their names, of "light" or "dark"."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.S)
    found = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", light))
    if name == "dark":
        found.update(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", dark))
    return found


def luminance(colour):
    """Relative luminance, as WCAG defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["light", "dark"])
def test_contrast(name):
    colours = scheme(name)
    for pairs, least in ((TEXT, 4.5), (EDGES, 3)):
        for front, back in pairs:
            found = contrast(colours[front], colours[back])
            assert found >= least, f"{front} on {back}: {found:.2f}"


def test_no_colour_stands_outside_of_the_schemes():
    """Else it would be the same in the dark."""
    rules = re.sub(r":root \{.*?\}|@media print \{.*\}", "", STYLE, flags=re.S)
    assert not re.findall(r"#[0-9a-f]{3,8}\b|\brgba?\(", rules)
    names = set(re.findall(r"var\(--([a-z-]+)\)", STYLE))
    assert names <= set(scheme("light")) == set(scheme("dark"))
    assert names - {"line"} <= {name for pair in TEXT + EDGES for name in pair}


GOOD = """<!DOCTYPE html><html lang="en"><head><title>x</title></head><body><main><h1>x</h1>
<label for="a">a</label><input id="a" name="a"></main></body></html>"""


@pytest.mark.parametrize("change", [
    ("<h1>x</h1>", "<h1>x</h1><h1>y</h1>"), ("<h1>x</h1>", "<h1>x</h1><h3>y</h3>"), (' lang="en"', ""),
    ("<title>x</title>", "<title></title>"), ('<label for="a">a</label>', ""), ("</h1>", "</h2>"),
    ("<!DOCTYPE html>", ""), ('id="a"', 'id="a" id="a"'), ("</main>", '<p id="a"></p></main>'),
    ("</main>", '<a href="#b">x</a></main>'),
    ("</main>", '<a href="/"></a></main>'), ("</main>", '<input type="radio" name="r" aria-label="r"></main>'),
    ("</main>", '<p style="color: red">x</p></main>'), ("</main>", '<p><div></div></p></main>')])
def test_the_check_of_pages_finds_faults(change):
    check_page(GOOD.encode())
    with pytest.raises(Exception):
        check_page(GOOD.replace(*change).encode())
