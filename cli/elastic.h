/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of resize, repair and the release of a slice: the group, and what the change means for its processes. */
#pragma once

#include "session.h"

/* Takes @change. @snapshot: the fleet with it. */
bool print_group_change (Session *session, const QuoitSnapshot *snapshot, QuoitGroupChange *change,
                         const char *sentence, GError **error);

/* A verb that gives a group other slices: on the ledger, or, with --dry-run, on a fork. */
typedef struct {
  QuoitGroupChange *(*change_ledger) (QuoitLedger *ledger, const char *group, int64_t n_slices, int64_t now_ms,
                                      QuoitReport **report, GError **error);
  QuoitGroupChange *(*change_fork) (QuoitFork *fork, const char *group, int64_t n_slices, int64_t now_ms,
                                    QuoitReport **report, GError **error);
  const char *sentence, *dry_run_sentence; /* the sentence about the group */
} ElasticVerb;

bool make_group_change (Session *session, const ElasticVerb *verb, int64_t n_slices, GError **error);
bool try_group_change (Session *session, const ElasticVerb *verb, int64_t n_slices, GError **error);
