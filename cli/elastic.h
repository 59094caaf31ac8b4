/* SPDX-License-Identifier: Apache-2.0 */
/* Common parts of resize, repair and the release of a slice: they print the group, and the effect on its processes. */
#pragma once

#include "session.h"

/* Prints the group after @change, and the renumbering of its processes. Takes @change. @snapshot: for the names of
 * nodes. @outcome: what has happened to the group, such as "is repaired". */
bool print_group_change (Session *session, const QuoitSnapshot *snapshot, QuoitGroupChange *change, const char *outcome,
                         GError **error);

/* How many slices the group is to have: @most, or if @is_range as many as possible, at least @least. */
typedef struct {
  int64_t least, most;
  bool is_range;
} SliceNumbers;

/* Parses --slices: "N" or "LEAST..MOST". The library checks the numbers. */
bool slice_numbers_parse (const char *text, SliceNumbers *slices, GError **error);

/* A verb that changes the slices of a group, on the ledger, or with --dry-run on a fork. */
typedef struct {
  QuoitGroupChange *(*change_ledger) (QuoitLedger *ledger, const char *group, const SliceNumbers *slices,
                                      int64_t now_ms, QuoitReport **report, GError **error);
  QuoitGroupChange *(*change_fork) (QuoitFork *fork, const char *group, const SliceNumbers *slices, int64_t now_ms,
                                    QuoitReport **report, GError **error);
  const char *outcome, *dry_run_outcome; /* for print_group_change() */
} ElasticVerb;

/* Make the change to the group that the first argument names, and print it: make_group_change() on the ledger,
 * try_group_change() on a fork. @slices: NULL for a verb that needs no number. */
bool make_group_change (Session *session, const ElasticVerb *verb, const SliceNumbers *slices, GError **error);
bool try_group_change (Session *session, const ElasticVerb *verb, const SliceNumbers *slices, GError **error);
