/* SPDX-License-Identifier: Apache-2.0 */
/* The texts and options of an import. */
#pragma once

#include <quoit/input.h>

#include "formats/formats.h"

struct _QuoitInput {
  QuoitSourceKind kind;
  GBytes *nodes, *groups, *available, *pods; /* NULL: not given */
  char *source, *join, *topology;            /* NULL: not given */
  GStrv variables;
  guint tpu_per_chip; /* 0: not given */
  guint flags;        /* QuoitRayFlags */
};

/* Reads the claims from the files of the input; the caller owns them. Fails like the readers of these files. */
QuoitClaims *quoit_input_read (const QuoitInput *input, GError **error);
