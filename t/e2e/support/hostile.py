# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Mail made to stop a host: each address, id and MIME field made of what nests, repeats and never ends, and bodies of
the same kind. Every mail is below 2 MB."""
from dataclasses import dataclass

FIELD_SIZE = 90_000
BODY_SIZE = 1_000_000
FIELDS = ["From", "To", "Cc", "Bcc", "Reply-To", "Sender", "Resent-To", "Message-ID", "References", "In-Reply-To",
          "List-Id", "Content-Type", "Content-Disposition", "Content-Transfer-Encoding", "Content-ID", "Subject",
          "Date", "Received", "DKIM-Signature", "ARC-Seal", "Authentication-Results", "Approved", "Precedence",
          "Auto-Submitted", "Return-Path"]
UNITS = ["g:", "(", "<", '"', "[", "=?utf-8?q?=", "a@b.example,", ";a*0*=x"]
MIXED = "multipart/mixed; boundary=b"


@dataclass
class Hostile:
    name: str
    fields: list  # of (name, value), those that take the place of ordinary ones
    body: bytes

    def octets(self, number, to, sender="poster@example.net"):
        """The mail in wire form, with a field X-Case that has the number."""
        ordinary = {"From": sender, "To": to, "Subject": "Weather", "Date": "Fri, 20 Nov 2026 13:20:00 +0000",
                    "Message-ID": f"<hostile-{number}@example.net>", "MIME-Version": "1.0",
                    "Content-Type": "text/plain; charset=utf-8", "Content-Transfer-Encoding": "8bit"}
        given = {name.lower() for name, _ in self.fields}
        fields = [("X-Case", number), *((name, text) for name, text in ordinary.items() if name.lower() not in given),
                  *self.fields]
        return "".join(f"{name}: {value}\r\n" for name, value in fields).encode() + b"\r\n" + self.body


def of_fields():
    """Each field made of each unit."""
    for name in FIELDS:
        for unit in UNITS:
            yield Hostile(f"{name} of {unit}", [(name, unit * (FIELD_SIZE // len(unit)) + "a@b.example;")],
                          "Gr\u00fc\u00dfe\r\n".encode())


def counted(pattern, size, start=0):
    """The pattern, % a number that grows, again and again until the size is reached."""
    made, length = [], 0
    while length < size:
        made.append(pattern % (start + len(made)))
        length += len(made[-1])
    return made


def fields_by_number():
    """Fields that are hostile by their number or by an order in them."""
    yield "ten thousand addresses", [("To", ",\r\n ".join(f"p{n}@a{n}.example" for n in range(10_000)))]
    yield "ten thousand authors", [("From", ",\r\n ".join(f'"P, {n}" <p{n}@a.example>' for n in range(10_000)))]
    yield "ten thousand for answers", [("Reply-To", ",\r\n ".join(f"p{n}@a.example" for n in range(10_000)))]
    yield "groups", [("Cc", ", ".join(f"g{n}: a@b.example, c@d.example;" for n in range(3000)))]
    yield "groups that hold groups", [("To", "g:" * 30_000 + "a@b.example" + ";" * 30_000)]
    yield "comments that close", [("To", "(" * 45_000 + ")" * 45_000 + " a@b.example")]
    yield "quoted pairs", [("From", '"' + "\\\\" * 45_000 + '" <a@b.example>')]
    yield "a domain of many labels", [("From", "a@" + "b." * 45_000 + "example")]
    yield "a route", [("Sender", "<" + ",".join(["@a.example"] * 8000) + ":a@b.example>")]
    yield "references", [("References", "\r\n ".join(counted("<%d@example.net>", FIELD_SIZE)))]
    yield "an id", [("Message-ID", f"<{'a' * FIELD_SIZE}@example.net>")]
    yield "no id", [("Message-ID", "")]
    yield "encoded words", [("Subject", "\r\n ".join(["=?utf-8?q?=C3=BC?="] * 30_000))]
    yield "encoded words in base64", [("Subject", " ".join(["=?utf-8?b?w7w=?="] * 30_000))]
    yield "encoded words of a stateful set", [("Subject", " ".join(["=?iso-2022-jp?b?GyRCJCIbKEI=?="] * 10_000))]
    yield "a character set for each word", [("Subject", " ".join(counted("=?x-%d?q?a?=", FIELD_SIZE)))]
    yield "encoded words as names", [("To", ", ".join(["=?utf-8?q?=C3=BC?= <a@b.example>"] * 10_000))]
    yield "encoded words in comments", [("From", "(=?utf-8?q?=C3=BC?=)" * 10_000 + " a@b.example")]
    yield "prefixes", [("Subject", "Re: " * 25_000 + "[Test] " * 5000)]
    yield "a folded field", [("Subject", "\r\n ".join(["a"] * 100_000))]
    yield "folds of blanks", [("Subject", "\r\n ".join(["\t"] * 50_000) + "a")]
    for title, field in (("Content-Type", "text/plain"), ("Content-Disposition", "attachment")):
        for order, numbers in (("", range(5000)), (" backwards", range(4999, -1, -1))):
            yield (f"continuations in {title}{order}",
                   [(title, field + "".join(f";\r\n name*{n}*=%41" if n else ";\r\n name*0*=utf-8''%41"
                                            for n in numbers))])
    yield "parameters", [("Content-Type", "text/plain" + "".join(counted("; p%d=v", BODY_SIZE // 2)))]
    yield "one parameter often", [("Content-Type", "text/plain" + "; charset=utf-8" * 30_000)]
    yield "a long character set", [("Content-Type", f"text/plain; charset={'x' * FIELD_SIZE}")]
    yield "many fields", [(f"X-{n}", "a") for n in range(30_000)]
    for name in ("Subject", "From", "To", "Content-Type", "Message-ID", "List-Id", "Received", "Approved",
                 "Auto-Submitted", "References", "Archived-At"):
        yield f"{name} often", [(name, f"<a{n}@b.example>") for n in range(5000)]
    signature = "a=rsa-sha256; c=relaxed/relaxed; d=example.net; s=s; h=%s; bh=AAAA; b=AAAA"
    yield "signatures", [("DKIM-Signature", "v=1; " + signature % "from:to:subject")] * 500
    yield "a signature of many fields", [("DKIM-Signature", "v=1; " + signature % ":".join(["from"] * 50_000))]
    yield "a signature of many tags", [("DKIM-Signature", "; ".join(counted("t%d=1", FIELD_SIZE)))]
    chain = []
    for n in range(1, 301):
        chain += [("ARC-Seal", f"i={n}; a=rsa-sha256; cv={'pass' if n > 1 else 'none'}; d=example.net; s=s; b=AAAA"),
                  ("ARC-Message-Signature", f"i={n}; " + signature % "from:to"),
                  ("ARC-Authentication-Results", f"i={n}; example.net; arc=pass")]
    yield "seals", chain
    yield "seals of one number", chain[:3] * 500
    yield "results", [("Authentication-Results", "example.net; dkim=pass header.d=example.net")] * 500
    yield "results in one", [("Authentication-Results", "lists.example.com" + "; dkim=pass (a) header.d=a" * 5000)]
    yield "comments in results", [("Authentication-Results", "lists.example.com; arc=" + "(a" * 30_000)]


PHRASES = ["Hi. This is the qmail-send program at example.org.", "--- Below this line is a copy of the message.",
           "<a@b.example>: 550 5.1.1 user unknown", "a@b.example", "   ----- Transcript of session follows -----",
           "   ----- The following addresses had permanent fatal errors -----", "550 5.1.1 <a@b.example>... unknown",
           "This message was created automatically by mail delivery software (Exim).",
           "  a@b.example", "    unrouteable address", "Your message", "did not reach the following recipient(s):",
           "Final-Recipient: rfc822; a@b.example", "Action: failed", "Status: 5.1.1", "Reporting-MTA: dns; b.example",
           "------ This is a copy of your message, including all the headers. ------",
           "Recipient: <a@b.example>", "Reason:    Mailbox does not exist", "--- Session Transcript ---"]


def text_bodies():
    """Bodies without parts, and their content type."""
    lines = BODY_SIZE // 10
    yield "one line", "text/plain", b"a" * BODY_SIZE
    yield "one line of bytes over 127", "text/plain", "\u00fc".encode() * (BODY_SIZE // 2)
    yield "one line with no character in it", "text/plain; charset=utf-8", b"\xff\xfe" * (BODY_SIZE // 2)
    yield "NUL bytes", "text/plain", b"\0" * BODY_SIZE
    yield "lines of NUL bytes", "text/plain", b"\0" * 70 + b"\r\n\0" * lines
    yield "empty lines", "text/plain", b"\r\n" * (BODY_SIZE // 2)
    yield "lines of blanks", "text/plain; format=flowed", b" \t \t \r\n" * lines
    yield "full stops", "text/plain", b".\r\n" * (BODY_SIZE // 3)
    yield "lines of From", "text/plain", b"From >From \r\n" * lines
    yield "quotes", "text/plain; format=flowed", b">" * (BODY_SIZE // 2) + b" \r\n" + b">> >\r\n" * lines
    yield "commands", "text/plain", b"help\r\nconfirm aaaaaaaaaaaaaaaaaaaaaaaaaa\r\nwho\r\n" * 20_000
    yield "one command", "text/plain", b"join " + b"address=" * (BODY_SIZE // 8)
    yield "decisions", "text/plain", b"accept 1\r\ndiscard all\r\nban 2\r\n" * 20_000
    yield "a password", "text/plain", b"Approved: " + b"a" * BODY_SIZE
    yield "addresses", "text/plain", b"<a@b.example>: 550 5.1.1 user unknown\r\n" * 25_000
    yield "addresses in one line", "text/plain", b"<a@b.example> 550 5.1.1 " * 40_000
    yield "different addresses", "text/plain", "".join(counted("<p%d@b.example>: unknown\r\n", BODY_SIZE)).encode()
    for number, phrase in enumerate(PHRASES):
        yield f"report of phrase {number}", "text/plain", f"{phrase}\r\n".encode() * (BODY_SIZE // (len(phrase) + 2))
    yield "all phrases", "text/plain", "".join(f"{phrase}\r\n" for phrase in PHRASES).encode() * 800
    yield "brackets", "text/plain", b"[" * BODY_SIZE
    yield "objects", "text/plain", b'{"a":' * (BODY_SIZE // 5)
    yield "text in text", "text/plain", b'{"Message":"' + b"\\" * BODY_SIZE
    yield "uuencode", "text/plain", b"begin 644 a\r\n" * lines
    yield "open elements", "text/html", b"<div>" * (BODY_SIZE // 5)
    yield "tables", "text/html", b"<table><tr><td>" * (BODY_SIZE // 15)
    yield "angle brackets", "text/html", b"<" * BODY_SIZE
    yield "open comments", "text/html", b"<!--" * (BODY_SIZE // 4)
    yield "attributes", "text/html", b"<a " + b"a=b " * (BODY_SIZE // 4)
    yield "entities", "text/html", b"&amp;&#x41;&" * (BODY_SIZE // 12)
    yield "closed elements", "text/html", b"</p></b></i>" * (BODY_SIZE // 12)
    yield "links", "text/html", b'<a href="x">y</a>' * (BODY_SIZE // 17)


def nested(levels, head, boundary="b%d"):
    """Multiparts in multiparts, each with a head of its own."""
    return "".join(f"--{boundary % n if '%' in boundary else boundary}\r\n"
                   f"Content-Type: {head}; boundary={boundary % (n + 1) if '%' in boundary else boundary}\r\n\r\n"
                   for n in range(levels)).encode()


def part_bodies():
    """Bodies of parts, and their content type."""
    first = "; boundary=b0"
    for kind in ("multipart/mixed", "multipart/alternative", "multipart/report; report-type=delivery-status",
                 "multipart/signed", "multipart/digest"):
        yield f"nested {kind}", kind + first, nested(15_000, kind)
    closed = nested(5000, "multipart/mixed") + b"x\r\n" + "".join(f"--b{n}--\r\n" for n in range(4999, -1, -1)).encode()
    yield "nested parts that close", "multipart/mixed" + first, closed
    yield "one boundary for all", MIXED, nested(15_000, "multipart/mixed", "b")
    inner = b"Content-Type: message/rfc822\r\n\r\n"
    yield "messages in messages", "message/rfc822", inner * (BODY_SIZE // len(inner)) + b"Subject: x\r\n\r\nhello\r\n"
    yield "messages in parts", MIXED, b"--b\r\nContent-Type: message/rfc822\r\n\r\nContent-Type: " + MIXED.encode() + \
        b"\r\n\r\n" + (b"--b\r\n" + inner + b"Content-Type: " + MIXED.encode() + b"\r\n\r\n") * 10_000
    yield "messages in digests", "multipart/digest; boundary=b", \
        b"--b\r\n\r\nContent-Type: multipart/digest; boundary=b\r\n\r\n" * 15_000
    yield "empty parts", MIXED, b"--b\r\n\r\n\r\n" * (BODY_SIZE // 9)
    yield "parts without a blank line", MIXED, b"--b\r\n" * (BODY_SIZE // 5)
    yield "alternatives", "multipart/alternative; boundary=b", \
        b"--b\r\nContent-Type: text/html\r\n\r\n<p>a\r\n" * 25_000
    yield "files", MIXED, b"--b\r\nContent-Disposition: attachment; filename=a.exe\r\n\r\na\r\n" * 15_000
    yield "almost boundaries", MIXED, b"--b\r\n\r\n" + b"--bb\r\n--a\r\n --b\r\n-- b\r\n" * 40_000
    yield "ends of boundaries", MIXED, b"--b\r\n\r\n" + b"--b--\r\n" * 120_000
    yield "dashes", "multipart/mixed; boundary=\"-\"", b"---\r\n" * 200_000
    yield "a long boundary", f"multipart/mixed; boundary=\"{'b' * 60_000}\"", \
        (b"--" + b"b" * 59_999 + b"\r\n") * 10 + b"--" + b"b" * 60_000 + b"\r\n\r\nx\r\n"
    yield "no boundary", "multipart/mixed", b"--\r\n\r\n" * 100_000
    yield "fields in a part", MIXED, b"--b\r\n" + b"X: y\r\n" * 150_000 + b"\r\nx\r\n--b--\r\n"
    yield "continuations in a part", MIXED, b"--b\r\nContent-Type: text/plain" + \
        "".join(f";\r\n name*{n}*=%41" for n in range(50_000)).encode() + b"\r\n\r\nx\r\n--b--\r\n"
    status = b"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; b.example\r\n\r\n"
    failed = b"Final-Recipient: rfc822; a@b.example\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n"
    report = "multipart/report; report-type=delivery-status; boundary=b"
    yield "recipients of a report", report, status + failed * 12_000 + b"--b--\r\n"
    yield "reports of a report", report, (status + failed) * 6000 + b"--b--\r\n"
    yield "one recipient of a report", report, \
        status + b"Final-Recipient: rfc822; " + b"(" * (BODY_SIZE // 2) + b"\r\nAction: failed\r\n\r\n--b--\r\n"
    yield "reason of a report", report, status + failed[:-2] + b"Diagnostic-Code: smtp; " + b"5.1.1 " * 150_000 + \
        b"\r\n\r\n--b--\r\n"
    yield "a complaint", "multipart/report; report-type=feedback-report; boundary=b", \
        b"--b\r\nContent-Type: message/feedback-report\r\n\r\n" + b"Original-Rcpt-To: a@b.example\r\n" * 30_000 + \
        b"\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n" + inner * 1000 + b"\r\n--b--\r\n"
    for title, more in (("first", "number=1; total=2"), ("numbered high", "number=2000000000; total=2000000000"),
                        ("without number", ""), ("negative", "number=-1; total=-1"),
                        ("with many parameters", "number=1; " + "a=b; " * 20_000),
                        ("with a long id", f"number=1; total=2; id={'a' * FIELD_SIZE}")):
        yield f"a part of a message, {title}", f"message/partial; id=\"a@b\"; {more}", b"Subject: x\r\n\r\nx\r\n"
    partial = b"Content-Type: message/partial; id=a; number=1; total=1\r\n\r\n"
    yield "parts of messages in each other", "message/partial; id=z; number=1; total=1", partial * 15_000
    yield "partial and large", "message/partial; id=y; number=1; total=1", b"Subject: x\r\n\r\n" + b"a" * BODY_SIZE


def encoded_bodies():
    """Bodies in an encoding: title, content type, encoding, body."""
    for encoding in ("quoted-printable", "base64", "x-uuencode", "x" * 70_000):
        for title, unit in (("equals signs", b"="), ("letters", b"QUJD"), ("ends of lines", b"=\r\n"), ("NUL", b"\0=")):
            yield f"{title} in {encoding[:16]}", "text/html", encoding, unit * (BODY_SIZE // len(unit))
    yield "parts in base64", MIXED, "base64", nested(5000, "multipart/mixed", "b")
    yield "a message in base64", "message/rfc822", "base64", \
        b"Q29udGVudC1UeXBlOiBtZXNzYWdlL3JmYzgyMg0KDQo=\r\n" * 20_000


def of_structures():
    """Each number of fields and each body."""
    short = "Gr\u00fc\u00dfe\r\n".encode()
    for name, fields in fields_by_number():
        yield Hostile(name, fields, short)
    for title, kind, body in (*text_bodies(), *part_bodies()):
        yield Hostile(title, [("Content-Type", kind)], body if body.endswith(b"\n") else body + b"\r\n")
    for title, kind, encoding, body in encoded_bodies():
        fields = [("Content-Type", kind), ("Content-Transfer-Encoding", encoding)]
        yield Hostile(title, fields, body if body.endswith(b"\n") else body + b"\r\n")


def all_of_them():
    return [*of_fields(), *of_structures()]
