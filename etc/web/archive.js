// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Listrunner authors
//
// What makes reading an archive quicker, and nothing that it needs: j and k go to the next and the previous message of a
// page, f changes between a fixed pitch and the usual one, and / goes to the search field.
"use strict";

const remembered = "fixed pitch";

function setPitch(fixed) {
  document.documentElement.classList.toggle("fixed", fixed);
  const box = document.getElementById("fixed");
  if (box) box.checked = fixed;
  try { localStorage.setItem(remembered, fixed ? "yes" : "no"); } catch { /* not allowed: then for this page only */ }
}

let last; // where the keys went before, also when something else has the focus now

function step(by) {
  const mails = [...document.querySelectorAll("article.mail, ol.rows > li > a")];
  const at = mails.indexOf(document.activeElement?.closest("article.mail, ol.rows > li > a") ?? last);
  const next = at < 0 ? (by > 0 ? 0 : -1) : at + by;
  if (!mails[next]) return;
  last = mails[next];
  mails[next].focus({ preventScroll: true });
  mails[next].scrollIntoView({ block: mails[next].matches("article") ? "start" : "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, textarea, select")) return;
  if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "f") setPitch(!document.documentElement.classList.contains("fixed"));
  else if (event.key === "/" && document.getElementById("q")) {
    event.preventDefault();
    document.getElementById("q").focus();
  }
});

document.getElementById("fixed")?.addEventListener("change", (event) => setPitch(event.target.checked));
try { if (localStorage.getItem(remembered) === "yes") setPitch(true); } catch { /* not allowed */ }
