// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The Listrunner authors
//
// Keeps the operator's page as it is now: the server sends its changing part anew every few seconds. While something is
// ticked or has the focus there, the page stands still.
"use strict";

const live = document.getElementById("live");
const source = new EventSource(live.dataset.from);

source.addEventListener("message", (event) => {
  if (live.querySelector(":checked") || live.contains(document.activeElement)) return;
  live.innerHTML = event.data;
});
