/* SPDX-License-Identifier: Apache-2.0 */
/* What is wanted. The public builder fills it; placement and ledger read it. */
#pragma once

#include <quoit/request.h>

#include "base/amount.h"
#include "model/selector.h"

struct _QuoitRequest {
  char *name;  /* of the group */
  char *key;   /* request key; NULL: none */
  char *owner; /* NULL: none */
  QuoitGeneration generation;
  QuoitShape shape;           /* n_dims 0: not set yet */
  guint32 chips_per_host;     /* 0: Ray's default for the shape */
  guint32 n_slices;           /* 0: not set yet; the most where fewer will do */
  guint32 least_slices;       /* 0: all of n_slices or none */
  gint64 lease_ms;            /* of a reservation; 0: none */
  QuoitAmount tpu_per_bundle; /* 0: every host is taken whole */
  char *pool, *zone;          /* NULL: any */
  GPtrArray *selectors;       /* of QuoitSelector; a node of a slice must satisfy all of them */
  GPtrArray *slices;          /* names; empty: any */
  GPtrArray *excluded;        /* names */
};

/* More than any fleet has; a greater number is a mistake (-1 read as unsigned, microseconds...). */
enum { QUOIT_MOST_SLICES = 1000000 };

QuoitRequest *quoit_request_alloc (void); /* without a name; quoit_request_free() it */

/* Whether everything needed is set. */
gboolean quoit_request_complete (const QuoitRequest *request, GError **error);
/* And whether it agrees with the catalogue. */
gboolean quoit_request_validate (const QuoitRequest *request, GError **error);

/* How few slices will do. */
static inline guint32
quoit_request_least (const QuoitRequest *request)
{
  return request->least_slices != 0 ? request->least_slices : request->n_slices;
}

/* The chips a host that the request means. */
guint32 quoit_request_chips_per_host (const QuoitRequest *request);

/* The placement part in canonical text: equal requests have equal text. Name, key and owner are not in it. Owned. */
char *quoit_request_canonical (const QuoitRequest *request);
/* The request of such a text, without a name. INVALID for any other text. */
QuoitRequest *quoit_request_of_canonical (const char *text, GError **error);

/* A name of a group, key, owner, source or pool: 1 to 253 bytes of printable UTF-8 without '@' or '/'. @what names it.
 */
gboolean quoit_name_check (const char *what, const char *name, GError **error);
