-- SPDX-License-Identifier: BSD-2-Clause
-- Copyright (c) 2026 The Listrunner authors
--
-- Open sets are few beside those that are remembered: indexes of them alone stay small, so that the pages that a batch
-- changes are the same ones over and over.

DROP INDEX fragment_set_host;
CREATE INDEX fragment_set_open ON fragment_set (host, state, opened_at) WHERE state = 0;
CREATE INDEX fragment_set_unsettled ON fragment_set (host, state, settled) WHERE state = 1 AND settled = 0;
DROP INDEX fragment_set_list;
CREATE INDEX fragment_set_list ON fragment_set (list, state) WHERE state = 0;
DROP INDEX fragment_set_sender;
CREATE INDEX fragment_set_sender ON fragment_set (sender, state) WHERE state = 0;
