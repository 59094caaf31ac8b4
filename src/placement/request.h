/* SPDX-License-Identifier: Apache-2.0 */
/* What is wanted. The public builder fills it; placement and ledger read it. */
#pragma once

#include <quoit/request.h>

#include "base/amount.h"
#include "fleet/group.h"
#include "fleet/selector.h"
#include "placement/ray/names.h"

/* One bundle that is wanted. Equal ones that were added together share what they take. */
typedef struct {
  GArray *takes; /* of QuoitTake, by resource; names are those of the request's texts: equal ones are one pointer */
  GPtrArray *selectors; /* of QuoitSelector, as they came; NULL: none */
} QuoitBundleWish;

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

  GArray *bundles;           /* of QuoitBundleWish; empty: slices are asked for */
  GStringChunk *texts;       /* names of resources, each once */
  GPtrArray *resources;      /* those names, as they came */
  guint32 n_selectors;       /* of all bundles */
  QuoitStrategy strategy;    /* of bundles */
  QuoitPolicy policy;        /* likewise */
  gboolean has_strategy;     /* it was stated */
  char *topology_label;      /* NULL: none */
  guint32 n_topology_values; /* 0: no label */
  char *soft_target;         /* a node; NULL: none */
};

/* More than any fleet has; a greater number is a mistake (-1 read as unsigned, microseconds...). */
enum { QUOIT_MOST_SLICES = 1000000 };

enum {
  QUOIT_MOST_BUNDLES = 10000,
  QUOIT_MOST_RESOURCES = 256, /* different ones that a request asks for */
  QUOIT_MOST_BUNDLE_SELECTORS = 1000,
  QUOIT_MOST_SELECTORS = 1000000 /* of all bundles */
};

QuoitRequest *quoit_request_alloc (void); /* without a name; quoit_request_free() it */
/* A copy of @request under another name. */
QuoitRequest *quoit_request_dup (const QuoitRequest *request, const char *name);

/* @text, which may be *@member, in its place; NULL: none. */
void quoit_request_replace_text (char **member, const char *text);

/* Whether everything needed is set. */
gboolean quoit_request_complete (const QuoitRequest *request, GError **error);
/* And whether it agrees with the catalogue. */
gboolean quoit_request_validate (const QuoitRequest *request, GError **error);

static inline const QuoitBundleWish *
quoit_request_bundle (const QuoitRequest *request, guint32 bundle)
{
  return &g_array_index (request->bundles, QuoitBundleWish, bundle);
}

/* --- request-bundles.c --- */

/* "TPU=4,CPU=8" from *@at on, up to the end or a character that no amount has; *@at is there then. An array of
 * QuoitTake by resource, whose names are texts of @request. INVALID names the resource; @bundle is for the message. */
GArray *quoit_request_read_takes (QuoitRequest *request, guint32 bundle, const char **at, GError **error);
/* Adds @n bundles of @takes. INVALID beyond what a request may have. */
gboolean quoit_request_add_takes (QuoitRequest *request, GArray *takes, gint64 n, GError **error);
gboolean quoit_request_select (QuoitRequest *request, guint32 bundle, const char *key, const char *value,
                               GError **error);
/* Whether what is said of bundles is said together. */
gboolean quoit_request_bundles_complete (const QuoitRequest *request, GError **error);

/* --- request-runs.c: bundles in canonical text --- */

/* "4x{CPU=1,TPU=4} 1x{TPU=1;ray.io/tpu-worker-id=0}": bundles that stand together and are equal, then the next. */
void quoit_request_append_runs (const QuoitRequest *request, GString *text);
/* "{CPU=1,TPU=4;key=value}" */
void quoit_request_append_bundle (GString *text, const QuoitBundleWish *wish);
/* ";key=value" for each: in order, and each once. */
void quoit_request_append_selectors (GString *text, const GPtrArray *selectors);
/* The runs read, up to what is none any more. FALSE: it is not written so. */
gboolean quoit_request_read_runs (QuoitRequest *request, const char **at, GError **error);

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
