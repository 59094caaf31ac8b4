/* SPDX-License-Identifier: Apache-2.0 */
/* The texts and options of an import. */
#pragma once

#include <quoit/input.h>

#include "formats/added-nodes.h"
#include "formats/workload.h"

struct _QuoitInput {
  QuoitSourceKind kind;
  QuoitAddedNodes *added;                    /* NULL: the nodes are a text */
  GBytes *nodes, *groups, *available, *pods; /* NULL: not given */
  char *source, *join, *topology;            /* NULL: not given */
  GStrv variables;
  guint tpu_per_chip; /* 0: not given */
  guint flags;        /* QuoitRayFlags */
};

/* Reads the claims from the files of the input; the caller owns them. Fails like the readers of these files. */
QuoitClaims *quoit_input_read (const QuoitInput *input, GError **error);

/* Reads the claims from a manifest, and fills @workload if its object makes pods without Ray; otherwise its profile is
 * 0. Fails like quoit_input_read(), and with INVALID if the input is no manifest. */
QuoitClaims *quoit_input_read_workload (const QuoitInput *input, QuoitWorkload *workload, GError **error);

/* Reads the nodes of an update of a few nodes, and sets *@removed to the ids of those to remove, which the input owns.
 * Fails like quoit_input_read(), and with INVALID if the input cannot be an update. */
QuoitClaims *quoit_input_read_update (const QuoitInput *input, const char *const **removed, guint *n_removed,
                                      GError **error);
