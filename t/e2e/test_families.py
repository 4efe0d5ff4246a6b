# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""Families: settings that the lists of a style may not change, whichever way somebody asks, and a section that is
changed for all of them."""
import json

from support import rest
from support.instance import HOST
from support.rest import Rest

ONE, TWO, OTHER, FREE = (f"{name}@{HOST}" for name in ("one", "two", "other", "free"))
STUDENTS = {"archive_policy": "private", "subscription_policy": "moderate", "max_message_size": "100",
            "fixed": "archive_policy, advertised, subscription_policy",
            "limited": "max_message_size=40|100, default_member_action=defer|hold"}
STAFF = {"base": "announce", "fixed": "allow_list_posts"}


def settings(instance, address, *names):
    return [instance.cli("list", "get", address, name).strip() for name in names]


def differences(instance, *words):
    return [(row["list"], row["setting"], row["before"], row["after"])
            for row in map(json.loads, instance.cli("list", "family", "apply", "--json", *words).splitlines())]


def refused(instance, address, word, *texts):
    done = instance.run("list", "set", address, word)
    assert done.returncode not in (0, 75) and all(text in done.stderr for text in texts), done


def test_families(tmp_path):
    with rest.site(tmp_path, {"style.students": STUDENTS, "style.staff": STAFF,
                              "style.plain": {"archive_policy": "private"}}) as instance:
        cli, api = instance.cli, Rest(instance)
        for address, style in ((ONE, "students"), (TWO, "students"), (OTHER, "staff"), (FREE, "plain")):
            cli("list", "create", address, "--style", style)
        assert api.call("POST", "lists", fqdn_listname=f"three@{HOST}", style_name="students").status == 201
        names = ("family", "archive_policy", "advertised", "max_message_size")
        assert settings(instance, f"three@{HOST}", *names) == ["students", "private", "yes", "100"]
        assert settings(instance, OTHER, "family", "allow_list_posts") == ["staff", "no"], "the value of its base"
        assert settings(instance, FREE, "family") == [""]
        rows = [json.loads(line) for line in cli("list", "family", "ls", "--json").splitlines()]
        assert {row["name"]: row["lists"] for row in rows} == {"students": 3, "staff": 1}

        refused(instance, ONE, "archive_policy=public", "fixed by the family students")
        refused(instance, ONE, "advertised=no", "fixed by the family students")
        refused(instance, ONE, "max_message_size=41", "family students", "40|100")
        refused(instance, OTHER, "allow_list_posts=yes", "fixed by the family staff")
        assert "archive_policy" in instance.run("list", "reset", ONE, "archive_policy").stderr
        assert instance.run("list", "set", ONE, "description=new", "archive_policy=never").returncode != 0
        assert settings(instance, ONE, "description", "archive_policy") == ["", "private"], "all or nothing"
        cli("list", "set", ONE, "max_message_size=40", "archive_policy=private", "description=free", "administrivia=no")
        cli("list", "set", FREE, "archive_policy=public")
        for address, status in ((ONE, 400), (FREE, 204)):
            path = f"lists/{address}/config"
            answer = api.call("PATCH", path, archive_policy="never")
            assert answer.status == status and ("family students" in answer.text) == (status == 400)
            assert api.call("PATCH", f"{path}/archive_policy", archive_policy="never").status == status
            assert api.call("PATCH", path, archive_policy="private").status == 204, "what it is already, or free"
            assert api.call("PATCH", path, subject_prefix="x").status == 204
        whole = {name: value for name, value in api.call("GET", f"lists/{ONE}/config").json.items()
                 if not isinstance(value, (list, dict))}
        assert whole["archive_policy"] == "private"
        scoped, words = Rest(instance), cli("token", "create", "--list", ONE).split()
        scoped.headers = {"Authorization": "Bearer " + next(word for word in words if word.startswith("lrt_"))}
        assert scoped.call("PATCH", f"lists/{ONE}/config/family", family="").status == 403, "the site's alone to set"
        assert settings(instance, ONE, "family") == ["students"]

        assert differences(instance, "students") == []
        instance.stop()
        instance.set({"style.students": {"archive_policy": "never", "max_message_size": "200",
                                         "limited": "max_message_size=100|200"}})
        instance.start()
        expected = [(address, setting, before, after) for address, size in ((ONE, "40"), (TWO, None))
                    for setting, before, after in (("archive_policy", "private", "never"),
                                                   ("max_message_size", size, "200")) if before]
        expected += [(f"three@{HOST}", "archive_policy", "private", "never")]
        assert sorted(differences(instance, "--dry-run", "students")) == sorted(expected)
        assert settings(instance, ONE, "archive_policy", "max_message_size") == ["private", "40"], "a dry run"
        assert sorted(differences(instance, "students")) == sorted(expected)
        assert settings(instance, ONE, "archive_policy", "max_message_size", "description") == ["never", "200", "free"]
        assert settings(instance, TWO, "archive_policy", "max_message_size") == ["never", "100"]
        assert settings(instance, FREE, "archive_policy") == ["private"], "no list of the family"
        assert settings(instance, OTHER, "archive_policy") == ["public"], "of another family"
        assert "never" in cli("list", "log", ONE)
        assert differences(instance, "students") == []

        cli("list", "set", FREE, "family=students")
        refused(instance, FREE, "archive_policy=public", "family students")
        assert {row[1] for row in differences(instance, "students")} >= {"archive_policy"}
        refused(instance, FREE, "family=plain", "no section [style.plain] with fixed or limited")
        cli("list", "set", FREE, "family=")
        cli("list", "set", FREE, "archive_policy=public")
        assert instance.run("list", "family", "apply", "plain").returncode == 66

        assert "family" not in instance.run("config", "check").stderr + instance.run("status").stdout
        instance.stop()
        instance.set({"style.students": None, "style.staff": {"fixed": None}})
        instance.start()
        gone = {row["name"]: row["lists"] for row in map(json.loads, cli("list", "family", "ls", "--json").splitlines())
                if row["gone"]}
        assert gone == {"students": 3, "staff": 1}
        told, state = instance.run("config", "check").stderr, instance.run("status")
        assert "[style.students]: 3 lists belong to this family, as " in told and OTHER in told and FREE not in told
        assert "lacks the family students, to which 3 lists belong" in state.stdout and state.returncode != 0
        assert f"family staff, to which 1 list belongs ({OTHER})" in state.stdout
        refused(instance, ONE, "archive_policy=public", "family students", "family=")
        refused(instance, OTHER, "description=x", "family staff", f"list set {OTHER} family=")
        assert api.call("PATCH", f"lists/{ONE}/config", subject_prefix="y").status == 400
        assert api.call("PATCH", f"lists/{ONE}/config", archive_policy="never").status == 204, "what it is already"
        cli("list", "set", ONE, "moderator_password=secret")
        cli("list", "set", ONE, "emergency=yes")
        assert settings(instance, ONE, "archive_policy", "family", "subject_prefix") == ["never", "students", "x"]
        cli("list", "set", FREE, "archive_policy=private")
        cli("list", "set", ONE, "family=", "archive_policy=public")
        assert settings(instance, ONE, "family", "archive_policy") == ["", "public"]
        refused(instance, TWO, "archive_policy=public", "family students")
        cli("list", "set", OTHER, "family=")
        assert "staff" not in instance.run("status").stdout + instance.run("config", "check").stderr


def test_wrong_sections(instances, sink):
    """config check names what no family can have."""
    instance = instances(sink.port)
    for keys, text in (({"fixed": "colour"}, '"colour"'), ({"fixed": "moderator_password"}, "passwords"),
                       ({"limited": "archive_policy"}, "NAME=VALUE"), ({"limited": "archive_policy=open"}, "no list"),
                       ({"limited": "advertised=yes|no", "fixed": "advertised"}, "fixed, too"),
                       ({"family": "x"}, "unknown key")):
        instance.set({"style.wrong": None})
        instance.set({"style.wrong": keys})
        done = instance.run("config", "check")
        assert done.returncode != 0 and text in done.stderr + done.stdout, (keys, done)
