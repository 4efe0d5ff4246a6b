# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Every page must be HTML without a mistake, and usable without eyes and without a mouse."""
import re

import html5lib

LABELLED = ("input", "select", "textarea")


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def check_page(octets):
    """AssertionError, or html5lib's ParseError, where the page has a fault."""
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(octets, transport_encoding="utf-8")
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    by_tag = {}
    for element in elements:
        by_tag.setdefault(element.tag, []).append(element)
    assert re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)*", tree.get("lang", "")), "the language of the page"
    assert text_of(by_tag["title"][0]), "a title"
    assert len(by_tag["h1"]) == 1 and text_of(by_tag["h1"][0]), "one heading of the page"
    assert len(by_tag["main"]) == 1, "one main part"
    check_headings(elements)
    ids = [element.get("id") for element in elements if element.get("id") is not None]
    assert len(ids) == len(set(ids)) and all(re.fullmatch(r"\S+", one) for one in ids), f"ids that differ: {ids}"
    labels = {label.get("for") for label in by_tag.get("label", []) if text_of(label)}
    within = [inner for label in by_tag.get("label", []) if text_of(label) for inner in label.iter()]
    for element in elements:
        if element.tag in LABELLED and element.get("type") != "hidden":
            assert element in within or element.get("id") in labels or element.get("aria-label"), "a label of a field"
        if element.tag in ("a", "button", "summary", "legend"):
            assert text_of(element) or element.get("aria-label"), f"a text in each {element.tag}"
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert element.get(name) is None or element.get(name) in ids, f"{name} names what is there"
        if element.tag == "a" and element.get("href", "").startswith("#"):
            assert element.get("href")[1:] in ids, "links within the page lead somewhere"
        assert "style" not in element.attrib and not any(name.startswith("on") for name in element.attrib)
        assert int(element.get("tabindex", "0")) <= 0, "the order of the keyboard is that of the page"
    check_times(tree, by_tag)
    for name in {one.get("name") for one in by_tag.get("input", []) if one.get("type") == "radio"}:
        grouped = [inner for group in by_tag.get("fieldset", []) for inner in group.iter("input")]
        assert any(inner.get("name") == name for inner in grouped), \
            "choices of one thing are in a fieldset"
    return tree


def check_headings(elements):
    before = 1
    for level in (int(element.tag[1]) for element in elements if re.fullmatch("h[1-6]", element.tag)):
        assert level <= before + 1, f"a heading h{level} behind h{before}"
        before = level


CLOCK = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")


def own_texts(element, within_time=False):
    """(text, whether it stands in an element time), but for what people wrote and what programs told the log."""
    words = (element.get("class") or "").split()
    if not isinstance(element.tag, str) or element.tag in ("textarea", "bdi", "code", "mark") or "text" in words:
        return
    inside = within_time or element.tag == "time"
    yield element.text or "", inside
    for inner in element:
        if inner.get("lang") != "en" or inner.tag == "time":
            yield from own_texts(inner, inside)
        yield inner.tail or "", inside


def check_times(tree, by_tag):
    """A program can read each time, and a reader is told which clock it is of."""
    page = text_of(tree)
    for time in by_tag.get("time", []):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?", time.get("datetime", "")), time.attrib
        assert "T" not in time.get("datetime") or "UTC" in page or text_of(time).endswith("Z"), "the clock of times"
    for text, inside in own_texts(by_tag["body"][0]):
        assert inside or not CLOCK.search(text), f"a time in no element time: {text}"
