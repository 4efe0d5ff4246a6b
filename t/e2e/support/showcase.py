# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
"""An instance with something on each kind of page, and a browser of each kind that looks at them: for the tools that
take pictures of pages and check them."""
import re
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from support import desk, talk
from support.instance import HOST, Instance, free_port, tool
from support.pages import Pages, link_in
from support.post import post
from support.sink import Sink

ANNE, OLGA = "anne@members.example.org", "olga@example.org"
KINDS = {"light": (1000, 1300, False), "dark": (1000, 1300, True), "narrow": (360, 740, False),
         "narrow-dark": (360, 740, True)}  # width, height, dark


def fill(instance, sink):
    """Lists, an archive, and letters with links; returns {name of a page: its path} of pages for strangers, the same of
    pages for an owner, and her cookie."""
    pages = instance.pages = Pages(instance)
    for name, description in (("garden", "Tomatoes and other weather"), ("harbour", "Boats that go out and come back")):
        instance.create_list(name, [ANNE], owner=OLGA, settings=[f"description={description}",
                                                                 "default_nonmember_action=hold"])
    talk.write_mbox(instance.directory / "garden.mbox", f"garden@{HOST}")
    (instance.directory / "garden.mbox").chmod(0o644)
    instance.cli("archive", "import", f"garden@{HOST}", instance.directory / "garden.mbox")
    pages.join(f"garden.{HOST}", "new@example.net")
    instance.lmtp_send(post(sender="stranger@example.net", to=f"garden@{HOST}", subject="May I ask something?"),
                       f"garden@{HOST}", sender="stranger@example.net")
    instance.lmtp_send(post(sender=ANNE, to=f"garden@{HOST}"), f"garden@{HOST}", sender=ANNE)
    later = post(sender=ANNE, to=f"garden@{HOST}", subject="The seedlings can be fetched")
    when = time.strftime("%Y-%m-%dT%H:00:00Z", time.gmtime(time.time() + 30 * 86400))
    instance.cli("inject", "--at", when, f"garden@{HOST}", input=later.decode())
    instance.wait_idle()
    mail = sink.take_mail()
    instance.cli("user", "set", OLGA, "server_owner=yes")
    for name in ("garden", "harbour"):
        instance.cli("member", "add", f"{name}@{HOST}", OLGA)
    olga = desk.Person(instance, sink, OLGA)
    pages.send("/sign-in", {"mark": desk.mark(pages.get("/sign-in").text), "address": ANNE})
    instance.wait_idle()
    sign_in, decide = link_in(sink.take_mail()[ANNE][-1]), link_in(mail[OLGA][-1])
    home = f"/archive/garden.{HOST}"
    thread = pages.link(home, rf"{home}/\w+/thread")
    leave = [one for one in mail[ANNE] if one["List-Unsubscribe"]][0]["List-Unsubscribe"]
    return {"lists": "/", "list": f"/list/garden.{HOST}", "archive": home,
            "month": pages.link(home, rf"{home}/\d\d\d\d-\d\d"), "thread": thread,
            "message": thread.removesuffix("/thread"), "search": f"{home}/search?q=seedlings",
            "search-all": "/search?q=rain", "confirm": link_in(mail["new@example.net"][0]),
            "decide": decide, "decide-post": f"{decide}/post/1", "sign-in": "/sign-in", "sign-in-link": sign_in,
            "thread-by-date": f"{thread}?view=flat", "nothing-found": f"{home}/search?q=nothingofthat",
            "leave": "/" + leave.split(">")[0].split("/", 3)[3],
            "notice": "/confirm/aaaaaaaaaaaaaaaaaaaaaaaaaa"}, {
            "desk": "/desk", "desk-post": f"/desk/post/{olga.field('May I ask').split('-')[1]}",
            "my": "/my", "my-list": re.search(r"/my/member/[^\"]+", olga.get("/my").text).group(0),
            "my-person": "/my/person", "my-forget": "/my/forget", "desk-site": "/desk/site",
            "desk-site-trace": f"/desk/site/trace?of=garden%40{HOST}%231",
            "desk-lists": "/desk/lists", "desk-list": f"/desk/list/garden.{HOST}",
            **{f"desk-{name}": f"/desk/list/garden.{HOST}/{path}" for name, path in (
                ("settings", "settings/moderation"), ("log", "log"), ("members", "members"), ("add", "members/add"),
                ("bans", "bans"), ("scheduled", "scheduled"), ("trace", "trace?of=1"),
                ("header-matches", "header-matches"), ("templates", "templates"), ("bounces", "bounces"),
                ("template", "templates/list:user:notice:welcome"))}}, olga.cookie


@contextmanager
def show():
    """The address of the pages, and what fill() returns."""
    listen = f"127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory(prefix="listrunner-showcase-") as work:
        sink = Sink(tool("smtp-sink"), directory=Path(work) / "sink")
        instance = Instance(sink.port, directory=Path(work) / "instance", settings={
            "site": {"web_url": f"http://{listen}", "held_notice_interval": "0"}, "runner.web": {"listen": listen},
            "pipeline": {"verp_delivery_interval": "1"}})
        try:
            yield f"http://{listen}", fill(instance.start(), sink)
        finally:
            instance.close()
            sink.stop()


def visit(web, pages, kind):
    """Open each page in a browser of the kind: the driver, and the name of the page that it shows."""
    places, own_places, cookie = pages
    width, height, dark = KINDS[kind]
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--lang=en"):
        options.add_argument(argument)
    if dark:
        options.add_argument("--blink-settings=preferredColorScheme=0")
    if width < 500:  # which a window cannot be
        metrics = {"width": width, "height": height, "pixelRatio": 1.0}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        driver.set_window_size(width, height)
        for name, path in [*places.items(), *own_places.items()]:
            if name in own_places and not driver.get_cookies():
                key, value = cookie.split("=", 1)
                driver.add_cookie({"name": key, "value": value})
            driver.get(web + path)
            yield driver, name
    finally:
        driver.quit()
