# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The Listrunner authors
#
# Read by the Makefile after all else. Every test belongs to a tier: process_tests start programs, proof_tests try crash
# states, faults and recorded fuzzer inputs; the rest are unit and style tests. TIER says which run.
#
#   make check            unit and style tests: what one runs while editing
#   make check-process    those that start programs
#   make check-proof      crash states, model, faults
#   make check-quick      unit and process tests, as ./bootstrap check does
#   make check-all        all of them
#   make check TIER=once  those of quick, and the proofs that do not run with sanitizers
#   make check TIER=programs   unit tests without those of style: what a package runs while it is built
#   make check-FOLDER     unit tests of one folder (base, switchboard, master, mail, net, store, posting, lists,
#                         runners, cli); with TIER=all all of it

TIER ?= unit
tests_of_all := $(filter-out $(tests_left_out),$(TESTS))
tests_of_process := $(filter $(process_tests),$(tests_of_all))
tests_of_proof := $(filter $(proof_tests),$(tests_of_all))
tests_of_unit := $(filter-out $(process_tests) $(proof_tests),$(tests_of_all))
tests_of_programs := $(filter $(check_PROGRAMS),$(tests_of_unit))
tests_of_quick := $(filter-out $(proof_tests),$(tests_of_all))
# The longest first.
tests_of_once := $(filter $(once_programs),$(tests_of_all)) $(filter-out $(once_programs),$(tests_of_quick))
tests_of_store := $(filter t/store/%,$(tests_of_quick))
TESTS := $(tests_of_$(TIER))
# Only the programs that run are built.
check_PROGRAMS := $(filter $(TESTS),$(check_PROGRAMS))

check-process check-proof check-quick check-all:
	$(MAKE) $(AM_MAKEFLAGS) check TIER=$(@:check-%=%)
check_folders = check-base check-switchboard check-master check-mail check-net check-store check-posting check-lists \
	check-runners check-cli
$(check_folders):
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(filter t/$(@:check-%=%)/%,$(tests_of_$(TIER)))'
.PHONY: check-process check-proof check-quick check-all $(check_folders)
