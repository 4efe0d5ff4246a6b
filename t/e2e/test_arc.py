# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""A post's signatures are reported (Authentication-Results, RFC 8601) and sealed by ARC (RFC 8617): incoming chains are
made, and ours are judged, by Python's dkim module, which shares no code with ours."""
import base64
import email
import email.policy
import subprocess

import dkim
import pytest

from support.dns import Dns

OURS = "lists.example.com"
POST = (b"From: Anne <anne@%s>\r\nTo: %s\r\nSubject: %s\r\nMessage-ID: <%s@example.net>\r\n"
        b"Date: Mon, 23 Nov 2026 10:00:00 +0000\r\n\r\nbody \r\n  of it\r\n\r\n")


class Key:
    """A private key and its record in the DNS."""

    def __init__(self, path, *algorithm):
        self.path = path
        subprocess.run(["openssl", "genpkey", "-out", path, *algorithm], check=True, capture_output=True)
        der = subprocess.run(["openssl", "pkey", "-in", path, "-pubout", "-outform", "DER"], check=True,
                             capture_output=True).stdout
        kind, public = ("rsa", der) if "rsa" in algorithm else ("ed25519", der[-32:])
        self.record = f"v=DKIM1; k={kind}; p=" + base64.b64encode(public).decode()
        self.pem = path.read_bytes()

    def line(self, selector):
        parts = [self.record[at:at + 200] for at in range(0, len(self.record), 200)]
        return f"{selector}._domainkey IN TXT " + " ".join(f'"{part}"' for part in parts) + "\n"


RSA = ("-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:2048")


class Site:
    def __init__(self, instance, sink, keys, name_server):
        self.instance, self.sink, self.keys, self.dns = instance, sink, keys, name_server
        self.records = {b"s._domainkey.lists.example.com.": keys["ours"].record.encode(),
                        b"e._domainkey.lists.example.com.": keys["edwards"].record.encode(),
                        b"s._domainkey.up.test.": keys["up"].record.encode(),
                        b"s._domainkey.signed.test.": keys["author"].record.encode()}

    def look_up(self, name, timeout=5):
        return self.records.get(name)

    def post(self, subject, address, domain=b"signed.test", key="author", algorithm=b"rsa-sha256"):
        mail = POST % (domain, address.encode(), subject.encode(), subject.encode())
        if key:
            mail = dkim.sign(mail, b"w" if key == "weak" else b"s", domain, self.keys[key].pem,
                             include_headers=[b"from", b"subject"], signature_algorithm=algorithm) + mail
        return mail

    def sealed(self, mail, results=b"up.test; arc=none"):
        """As a server on the way passes it on."""
        mail = b"Authentication-Results: " + results + b"\r\n" + mail
        return b"".join(dkim.arc_sign(mail, b"s", b"up.test", self.keys["up"].pem, b"up.test",
                                      include_headers=[b"from", b"subject"])) + mail

    def copies(self, mails, address):
        """{subject: octets} of what one member gets."""
        before = len(self.sink.transactions())
        for mail in mails:
            self.instance.lmtp_send(mail, address, sender="anne@signed.test")
        self.instance.wait_idle()
        found = {}
        for one in self.sink.transactions()[before:]:
            found[email.message_from_bytes(one.octets)["Subject"]] = one.octets
        return found


def results(octets):
    """Return what the Authentication-Results of ours says: {method: [the rest]}."""
    message = email.message_from_bytes(octets, policy=email.policy.default)
    own = [" ".join(value.split()) for value in message.get_all("Authentication-Results", [])
           if value.split(";")[0].strip() == OURS]
    assert len(own) == 1, octets
    found = {}
    for part in own[0].split("; ")[1:]:
        method, _, rest = part.partition("=")
        found.setdefault(method, []).append(rest)
    return found


def seals(octets):
    """The tags i and cv of each ARC-Seal, the last one first."""
    values = email.message_from_bytes(octets).get_all("ARC-Seal", [])
    return [tuple(part.strip() for part in value.split(";")[:2]) for value in values]


@pytest.fixture
def site(instances, sink):
    instance = instances(sink.port)
    keys = {name: Key(instance.directory / f"{name}.pem", *RSA) for name in ("ours", "up", "author")}
    keys["weak"] = Key(instance.directory / "weak.pem", "-algorithm", "rsa", "-pkeyopt", "rsa_keygen_bits:768")
    keys["edwards"] = Key(instance.directory / "edwards.pem", "-algorithm", "ed25519")
    for key in keys.values():
        instance.own(key.path)
    name_server = Dns({"signed.test": keys["author"].line("s") + keys["weak"].line("w") +
                       '_dmarc IN TXT "v=DMARC1; p=reject"\n',
                       "up.test": keys["up"].line("s")}, broken=["broken.test"]).start()
    instance.set({"dns": {"servers": name_server.server, "timeout": "20s"},
                  "authentication": {"authserv_id": OURS, "trusted": "mx.test"},
                  "dkim.s": {"domain": OURS, "key_file": keys["ours"].path, "use": "both"}})
    yield Site(instance, sink, keys, name_server)
    name_server.stop()


def test_what_is_known_is_told_and_sealed(site):
    site.instance.start()
    address = site.instance.create_list("test", members=["bart@example.org"],
                                        settings=["default_nonmember_action=accept", "msg_footer=the end\n"])
    plain = site.post("plain", address)
    chain = site.sealed(site.post("chain", address))
    mails = [plain, chain, site.post("unsigned", address, key=None),
             site.sealed(site.post("changed", address)).replace(b"of it", b"of that"),
             site.post("troubled", address, b"broken.test"),
             b"Authentication-Results: lists.example.com; dkim=pass header.d=bank.example\r\n"
             b"Authentication-Results: (x) \"LISTS.example.com\" 1; spf=pass\r\n"
             b"Authentication-Results: mx.test; spf=pass (sender is known) smtp.mailfrom=signed.test; dkim=fail\r\n"
             b"Authentication-Results: evil.test; dmarc=pass\r\n" + site.post("forged", address)]
    found = site.copies(mails, address)
    found = {subject.split()[-1]: octets for subject, octets in found.items()}
    assert set(found) == {"plain", "chain", "unsigned", "changed", "troubled", "forged"}
    told = {subject: {method: [one.split()[0] for one in all_of] for method, all_of in results(octets).items()}
            for subject, octets in found.items()}
    assert told == {"plain": {"dkim": ["pass"], "arc": ["none"], "dmarc": ["pass"]},
                    "chain": {"dkim": ["pass"], "arc": ["pass"], "dmarc": ["pass"]},
                    "unsigned": {"dkim": ["none"], "arc": ["none"]},
                    "changed": {"dkim": ["fail"], "arc": ["fail"]},
                    "troubled": {"dkim": ["temperror"], "arc": ["none"], "dmarc": ["temperror"]},
                    "forged": {"dkim": ["pass"], "arc": ["none"], "spf": ["pass"], "dmarc": ["pass"]}}
    assert results(found["plain"])["dmarc"] == ["pass header.from=signed.test policy.dmarc=reject"]
    assert results(found["forged"])["spf"] == ["pass smtp.mailfrom=signed.test"]
    assert "header.d=signed.test header.s=s header.a=rsa-sha256 header.b=" in results(found["plain"])["dkim"][0]
    assert b"evil.test" in found["forged"] and b"bank.example" not in found["forged"]
    for subject in ("plain", "chain", "unsigned", "troubled", "forged"):
        status, sets, reason = dkim.arc_verify(found[subject], dnsfunc=site.look_up)
        assert status == dkim.CV_Pass, (subject, reason, sets)
        assert dkim.verify(found[subject], dnsfunc=site.look_up), subject
    assert seals(found["plain"]) == [("i=1", "cv=none")]
    assert seals(found["chain"]) == [("i=2", "cv=pass"), ("i=1", "cv=none")]
    assert seals(found["changed"]) == [("i=2", "cv=fail"), ("i=1", "cv=none")]
    # The seal of a failed chain is over its own set alone (RFC 8617, 5.1.2), which this judge does not know.
    status, sets, _ = dkim.arc_verify(found["changed"], dnsfunc=site.look_up)
    assert status != dkim.CV_Pass and sets[0]["ams-valid"]
    sealed_results = email.message_from_bytes(found["forged"])["ARC-Authentication-Results"]
    assert "spf=pass smtp.mailfrom=signed.test" in sealed_results and "i=1; lists.example.com" in sealed_results
    for old, new in ((b"the end", b"The end"), (b"anne@", b"eve@"), (b"arc=none", b"arc=pass")):
        changed = found["plain"].replace(old, new)
        assert changed != found["plain"]
        assert dkim.arc_verify(changed, dnsfunc=site.look_up)[0] == dkim.CV_Fail, old


@pytest.mark.parametrize("form", [
    b"%s; dkim=pass", b"%s.; dkim=pass", b"(" * 101 + b")" * 101 + b" %s; dkim=pass", b"\x0b%s; dkim=pass",
    b"(%s; dkim=pass", b"\"%s; dkim=pass", b"%s\rdkim=pass", b"x\rAuthentication-Results: %s; dkim=pass",
    b"\xc2\xa0%s; dkim=pass"],
    ids=["plain", "dot", "comments", "tab", "open comment", "open quote", "bare CR", "hidden", "no-break space"])
def test_forged_results_are_removed(site, form):
    site.instance.start()
    address = site.instance.create_list("test", members=["bart@example.org"],
                                        settings=["default_nonmember_action=accept", "subject_prefix="])
    field = b"Authentication-Results: " + form % OURS.encode() + b" header.d=bank.example\r\n"
    found = site.copies([field + site.post("forged", address)], address)["forged"]
    assert b"bank.example" not in found and results(found)["dkim"][0].startswith("pass header.d=signed.test")


def test_weak_signatures_do_not_count(site):
    """RFC 8301: those by rsa-sha1, and by RSA keys of less than 1024 bits."""
    site.instance.start()
    address = site.instance.create_list("test", members=["bart@example.org"],
                                        settings=["default_nonmember_action=accept", "subject_prefix="])
    first = b"Authentication-Results: mx.test; spf=fail smtp.mailfrom=signed.test\r\n"
    found = site.copies([first + site.post("old", address, algorithm=b"rsa-sha1"),
                         first + site.post("short", address, key="weak"), first + site.post("good", address)], address)
    told = {subject: {method: all_of[0].split()[0] for method, all_of in results(octets).items()}
            for subject, octets in found.items()}
    weak = {"dkim": "policy", "arc": "none", "spf": "fail", "dmarc": "fail"}
    assert told == {"old": weak, "short": weak, "good": {**weak, "dkim": "pass", "dmarc": "pass"}}
    assert "header.a=rsa-sha1 " in results(found["old"])["dkim"][0]
    for subject in ("old", "short"):
        assert "pass" not in email.message_from_bytes(found[subject])["ARC-Authentication-Results"]


def test_rsa_seals_before_ed25519(site):
    """Whichever key stands first, the seals are by RSA: this judge reads no others. With an Ed25519 key alone there is
    none, and whoever starts it is told."""
    edwards = {"domain": OURS, "key_file": site.keys["edwards"].path, "use": "both"}
    later = {"domain": OURS, "selector": "s", "key_file": site.keys["ours"].path, "use": "both"}
    site.instance.set({"dkim.s": {"enabled": "no"}, "dkim.e": edwards, "dkim.later": later})
    site.instance.start()
    address = site.instance.create_list("test", members=["bart@example.org"],
                                        settings=["default_nonmember_action=accept", "subject_prefix="])
    found = site.copies([site.sealed(site.post("both", address))], address)["both"]
    assert dkim.arc_verify(found, dnsfunc=site.look_up)[0] == dkim.CV_Pass and len(seals(found)) == 2
    assert found.count(b"DKIM-Signature:") == 3
    site.instance.set({"dkim.later": {"enabled": "no"}})
    assert "[dkim.e] use" in site.instance.run("config", "check").stderr
    site.instance.stop()
    site.instance.start()
    found = site.copies([site.post("alone", address)], address)["alone"]
    assert not seals(found) and found.count(b"DKIM-Signature:") == 2
    assert "[dkim.e] use: this is an Ed25519 key, which makes no seals" in site.instance.log_text()


def test_own_pipeline_for_owners_asks_the_dns(site):
    site.instance.set({"pipeline.mine": {"handlers": "validate-authenticity owner-recipients to-outgoing"}})
    site.instance.start()
    address = site.instance.create_list("test", owner="olga@example.org", settings=["owner_pipeline=mine"])
    found, = site.copies([site.post("owners", address)], address.replace("@", "-owner@")).values()
    assert [one.split()[0] for one in results(found)["dkim"]] == ["pass"]


def test_no_seal_where_none_may_be(site):
    """To a chain that ended, that is full, whose keys nobody knows now, or that is not in the post any more; and none
    that tells the author of a post without one."""
    site.instance.start()
    common = ["default_nonmember_action=accept"]
    address = site.instance.create_list("test", members=["bart@example.org"], settings=common)
    hidden = site.instance.create_list("hidden", members=["bart@example.org"],
                                       settings=[*common, "anonymous_list=yes"])
    ended = site.sealed(site.post("changed", address)).replace(b"of it", b"of that")
    ended = site.copies([ended], address)["[Test] changed"]
    second = site.instance.create_list("second", members=["bart@example.org"], settings=common)
    broken = site.sealed(site.post("trouble", address)).replace(b"d=up.test", b"d=broken.test")
    full = site.post("full", address)
    for instance in range(1, 51):
        state = "none" if instance == 1 else "pass"
        full = (f"ARC-Seal: i={instance}; a=rsa-sha256; cv={state}; d=up.test; s=s; b=AAAA\r\n"
                f"ARC-Message-Signature: i={instance}; a=rsa-sha256; d=up.test; s=s; h=from; bh=AAAA; b=AAAA\r\n"
                f"ARC-Authentication-Results: i={instance}; up.test; none\r\n").encode() + full
    found = {subject.split()[-1]: octets for subject, octets in site.copies([broken, full], address).items()}
    found |= {"ended": octets for octets in site.copies([ended], second).values()}
    found |= {"hidden": octets for octets in site.copies([site.post("hidden", hidden)], hidden).values()}
    wrapped = site.instance.create_list("wrapped", members=["bart@example.org"], settings=[
        *common, "personalize=full", "msg_footer=for $user_address\n", "dmarc_mitigate_unconditionally=yes",
        "dmarc_mitigate_action=wrap_message"])
    found |= {"wrapped": octets
              for octets in site.copies([site.sealed(site.post("wrapped", wrapped))], wrapped).values()}
    assert set(found) == {"ended", "trouble", "full", "hidden", "wrapped"}
    assert {subject: len(seals(octets)) for subject, octets in found.items()} == {
        "ended": 2, "trouble": 1, "full": 50, "hidden": 0, "wrapped": 0}
    assert "not sealed" not in site.instance.log_text()  # nothing is wrong, and there is a copy for each member
    told = {subject: results(found[subject])["arc"] for subject in ("ended", "trouble", "full")}
    assert told == {"ended": ["fail"], "trouble": ["temperror"], "full": ["fail"]}
    assert b"signed.test" not in found["hidden"]
    for octets in found.values():
        assert dkim.verify(octets, dnsfunc=site.look_up)
