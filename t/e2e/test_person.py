# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""listrunner person: each place where an address stands, and a pseudonym in its place, wherever it is killed."""
import base64
import json
import mailbox
import os
import shutil
import struct
import subprocess

import pytest

from support.instance import HOST, free_port, prefix, tool, wait_until
from support.pages import Pages
from support.post import post

ANNE, BART, JOANNE, OTHER = (f"{name}@example.org" for name in ("anne", "bart", "joanne", "nobody"))
CATS, DOGS = f"cats@{HOST}", f"dogs@{HOST}"
NEW = "person-1@pseudonym.invalid"
PLAN, FAR = "=qii80s", 1 << 40


def send(instance, to, sender, body, extra=(), **fields):
    instance.lmtp_send(post(sender=sender, to=to, body=body, extra=extra, **fields), to, sender=sender)


@pytest.fixture
def site(instances, sink):
    """Two lists with an archive as maildir and as mbox; Anne has written, is quoted, and stands in a held post."""
    instance = instances(sink.port, settings={
        "site": {"web_url": "https://pages.example"}, "runner.web": {"listen": f"127.0.0.1:{free_port()}"},
        "archiver.maildir": {"index": "yes"}}).start()
    instance.pages = Pages(instance)
    for name in ("cats", "dogs"):
        instance.create_list(name, [ANNE, BART, JOANNE], owner=BART,
                             settings=["subject_prefix=", "default_nonmember_action=hold"])
    send(instance, CATS, ANNE, f"Frost is coming, says {ANNE}.\n", subject="Frost", message_id="<1@x>")
    coded = base64.b64encode(f"On Monday {ANNE} wrote:\n> frost\n".encode()).decode()
    send(instance, CATS, BART, f"{coded}\n", subject="Re: Frost", message_id="<2@x>",
         extra=["In-Reply-To: <1@x>", "Content-Transfer-Encoding: base64", "Content-Type: text/plain; charset=utf-8"])
    send(instance, DOGS, JOANNE, f"I am {JOANNE}.\nFrom here on.\n", subject="Barking", message_id="<3@x>")
    send(instance, DOGS, "stranger@example.net", f"Write to {ANNE} or {JOANNE}\n", subject="Held")
    instance.wait_idle()  # what Anne sent is judged before she is banned
    instance.cli("ban", "add", "--list", CATS, ANNE)
    return instance


def places(instance, address):
    done = instance.run("person", "find", "--json", address)
    assert done.returncode in (0, 1), done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode == 1) == (not rows)
    found = {}
    for row in rows:
        found[row["place"]] = found.get(row["place"], 0) + 1
    return found


def files(instance):
    return sorted(path for path in instance.archive.glob("**/*")
                  if path.is_file() and ("new" in path.parts or path.suffix == ".mbox"))


def mentions(instance, address):
    """In all decoded text of the archives."""
    count = 0
    for path in files(instance):
        mails = list(mailbox.mbox(path)) if path.suffix == ".mbox" else [mailbox.MaildirMessage(path.read_bytes())]
        for mail in mails:
            body = mail.get_payload(decode=True)
            headers = "\n".join(f"{name}: {value}" for name, value in mail.items())
            text = f"{headers}\n{body.decode()}".lower()
            count += text.count(address) - (text.count(f"jo{address}") if address == ANNE else 0)
    return count


def test_find(site):
    found = places(site, ANNE)
    # Two posts of Anne and about her, in the maildir and in the mbox.
    assert found["archive"] == 4 and found["member"] == 2 and found["address"] == 1 and found["ban"] == 1
    assert found["held post"] == 1
    wait_until(lambda: "trail" in places(site, ANNE), 60, "lines of the log")
    assert "archive" not in places(site, OTHER) and places(site, "joanne.x@example.org") == {}
    assert places(site, JOANNE)["archive"] == 2
    assert site.run("person", "find", "nonsense").returncode == 64


def test_replace(site):
    site.pages.get(f"/archive/cats.{HOST}").says("Frost")
    thread = site.pages.link(f"/archive/cats.{HOST}", rf"/archive/cats.{HOST}/\w+/thread")
    site.pages.get(thread).says("anne@…")
    before = {path: path.read_bytes() for path in files(site)}
    assert site.run("person", "replace", ANNE, NEW).returncode == 64  # not without --yes
    assert mentions(site, ANNE) > 4
    said = site.cli("person", "replace", "--yes", ANNE, NEW)
    assert NEW in said and "ban" in said
    assert mentions(site, ANNE) == 0 and mentions(site, NEW) >= 4
    rest = places(site, ANNE)
    assert set(rest) <= {"ban", "trail"} and rest["ban"] == 1
    # Others are as they were, to the byte; the names of files stay, too.
    assert places(site, JOANNE)["archive"] == 2 and mentions(site, JOANNE) == 4 and files(site) == sorted(before)
    changed = {path.name for path in files(site) if path.read_bytes() != before[path]}
    assert len(changed) == 3 and not any(name.startswith("dogs") for name in changed)
    for name in ("cats", "dogs"):
        assert sorted(site.cli("member", "ls", f"{name}@{HOST}", "--names").split()) == sorted([BART, JOANNE])
    (held,) = map(json.loads, site.cli("held", "ls", "--json").splitlines())
    assert NEW in site.cli("held", "show", held["number"])
    # The index knows the pseudonym, and the pages show it at once.
    page = site.pages.get(thread)
    assert "anne" not in page.text.lower().replace("joanne", "") and "person-1@…" in page.text
    query = site.run("archive", "search", CATS, "from:anne")
    assert query.returncode == 1, query.stdout
    assert site.cli("archive", "search", CATS, "from:person-1").count("Frost") == 1
    # Later posts are archived as before.
    send(site, CATS, BART, "More frost\n", subject="Thaw", message_id="<4@x>")
    site.wait_idle()
    assert site.cli("archive", "search", CATS, "frost").count("\n") >= 3
    assert len(mailbox.mbox(site.archive / "mbox" / f"cats.{HOST}.mbox")) == 3
    # Without a name it is made, and the same each time.
    first, second = (site.cli("person", "replace", "--yes", JOANNE).split()[2] for _ in range(2))
    assert first == second and first.endswith("@pseudonym.invalid") and mentions(site, JOANNE) == 0
    assert site.run("person", "replace", "--yes", BART, CATS).returncode == 64  # a list's address
    assert mentions(site, BART) > 0


def test_one_of_several_addresses(site):
    """The other addresses of a user stay, with their lists; who owns the site is refused."""
    site.cli("address", "link", ANNE, OTHER)
    site.cli("member", "add", CATS, OTHER)
    site.cli("person", "replace", "--yes", ANNE, NEW)
    assert OTHER in site.cli("member", "ls", CATS, "--names") and OTHER in site.cli("user", "show", OTHER)
    site.cli("user", "set", BART, "server_owner=yes")
    done = site.run("person", "replace", "--yes", BART, NEW)
    assert done.returncode == 64 and "owns the site" in done.stderr
    assert BART in site.cli("member", "ls", CATS, "--names") and mentions(site, BART) > 0


def test_killed_half_way(site):
    """Whatever call is the last one: readers find whole mails, and the next call does the rest."""
    if not tool("failcall.so").exists():
        pytest.skip("t/tools/failcall.so was not built")
    assert site.stop(30) == 0
    library, plan = shutil.copy(tool("failcall.so"), site.directory), site.directory / "plan"
    os.chmod(library, 0o755)
    kept = site.directory / "kept"
    subprocess.run(["cp", "-a", site.archive, kept], check=True)
    whole = mentions(site, ANNE) + mentions(site, NEW)

    def replace(calls):
        plan.write_bytes(struct.pack(PLAN, calls, 0, 0, b""))
        site.own(plan)
        words = ["--config", site.config, "person", "replace", "--yes", ANNE, NEW]
        done = subprocess.run([prefix() / "bin" / "listrunner", *words], timeout=180, capture_output=True, text=True,
                              env={**os.environ, "LD_PRELOAD": str(library), "FAILCALL_PLAN": str(plan),
                                   "FAILCALL_UNDER": f"{site.archive}/"})
        return done.returncode, calls - struct.unpack(PLAN, plan.read_bytes())[0]

    def restore():
        shutil.rmtree(site.archive)
        subprocess.run(["cp", "-a", kept, site.archive], check=True)
    code, calls = replace(FAR)
    assert code == 0 and calls > 10 and mentions(site, ANNE) == 0
    done = mentions(site, NEW)
    killed = 0
    for number in range(1, calls + 1, max(1, calls // 40)):
        restore()
        code, _ = replace(number)
        killed += code == -9
        assert mentions(site, ANNE) + mentions(site, NEW) >= min(whole, done)
        code, _ = replace(FAR)
        assert code == 0 and mentions(site, ANNE) == 0 and mentions(site, NEW) == done, f"call {number}"
        assert not list(site.archive.glob("**/*.new")) and not list(site.archive.glob("**/pseudonyms"))
        assert site.cli("archive", "search", CATS, "from:person-1").count("Frost") == 1, f"call {number}"
        assert site.run("archive", "search", CATS, "from:anne").returncode == 1, f"call {number}"
    assert killed > 10
