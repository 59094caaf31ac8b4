/* SPDX-License-Identifier: Apache-2.0 */
/* A request for slices or bundles. The public builder fills it; placement and ledger read it. */
#pragma once

#include <quoit/request.h>

#include "base/amount.h"
#include "fleet/group.h"
#include "fleet/joined.h"
#include "fleet/recent.h"
#include "catalogue/catalogue.h"
#include "models/ray/selector.h"
#include "models/ray/names.h"

/* What a request states about one bundle. Equal bundles that were added together share their takes. */
typedef struct {
  GArray *takes;        /* of QuoitTake, sorted by resource; equal names are equal pointers, because the request stores
                         * each name once */
  GPtrArray *selectors; /* of QuoitSelector, in the given order; NULL: none */
} QuoitBundleSpec;

struct _QuoitRequest {
  char *name;  /* of the group */
  char *key;   /* request key; NULL: none */
  char *owner; /* NULL: none */
  QuoitGeneration generation;
  QuoitShape shape;           /* n_dims 0: not set */
  guint32 chips_per_host;     /* 0: Ray's default for the shape */
  guint32 n_slices;           /* 0: not set; the maximum if min_slices is set */
  guint32 min_slices;         /* 0: exactly n_slices */
  gint64 lease_ms;            /* of a reservation; 0: none */
  gint64 expected_runtime_ms; /* 0: unknown */
  gint32 priority;
  GArray *labels;                /* of the group; see quoit_labels_new(); NULL: none */
  QuoitAmount tpu_per_bundle;    /* 0: whole hosts */
  char *pool, *zone;             /* NULL: any */
  GPtrArray *selectors;          /* of QuoitSelector; a node of a slice must satisfy all of them */
  GPtrArray *slices;             /* names; empty: any */
  GPtrArray *excluded;           /* names */
  GPtrArray *excluded_nodes;     /* names */
  QuoitRecent *recent;           /* results that depend on the lists of names; NULL: no names */
  QuoitCut cut;                  /* of the slices; WHOLE: they are slices of the fleet */
  QuoitCubes cubes;              /* which cubes are joined into each slice; NONE: slices are not joined */
  QuoitPlacePolicy place;        /* which places of parts, or which blocks of cubes, are chosen */
  QuoitDomain keep_to;           /* all slices are in one pool or zone */
  QuoitDomain spread_over;       /* the slices are distributed over pools or zones */
  guint32 max_skew, min_domains; /* of spread_over */
  char *near;                    /* NAME or NAME@ID of a group; NULL: none */
  GArray *members; /* of guint32: the slices, in the layout, that the group has already, of a request for more
                    * slices; NULL: none. Only steps of the ledger set it */

  GArray *bundles;           /* of QuoitBundleSpec; empty: a request for slices */
  GStringChunk *texts;       /* names of resources, each stored once */
  GPtrArray *resources;      /* these names, in the given order */
  guint32 n_selectors;       /* sum over all bundles */
  QuoitStrategy strategy;    /* of bundles */
  QuoitPolicy policy;        /* of bundles */
  gboolean has_strategy;     /* strategy was stated */
  char *topology_label;      /* NULL: none */
  guint32 n_topology_values; /* 0: no label */
  char *soft_target;         /* node name; NULL: none */

  GPtrArray *alternatives;  /* of QuoitRequest, tried in order after this one; NULL: none. They have no alternatives of
                             * their own, and the name, key, owner, lease, priority and labels of this request */
  gboolean has_own_runtime; /* of an alternative: expected_runtime_ms is not that of the first request */
};

/* More than any fleet has. A larger number is a mistake, for example -1 as an unsigned number. */
enum { QUOIT_MAX_SLICES = 1000000 };

enum {
  QUOIT_MAX_BUNDLES = 10000,
  QUOIT_MAX_RESOURCES = 256, /* different resources in one request */
  QUOIT_MAX_BUNDLE_SELECTORS = 1000,
  QUOIT_MAX_SELECTORS = 1000000 /* sum over all bundles */
};

/* Returns an empty request without a name. Free it with quoit_request_free(). */
QuoitRequest *quoit_request_alloc (void);
/* Returns a copy of @request with another name. The caller owns it. */
QuoitRequest *quoit_request_dup (const QuoitRequest *request, const char *name);

static inline gboolean
quoit_request_has_slice_names (const QuoitRequest *request)
{
  return request->slices->len + request->excluded->len + request->excluded_nodes->len > 0;
}

/* Adds a name to @names, which is slices, excluded or excluded_nodes. */
void quoit_request_add_slice_name (QuoitRequest *request, GPtrArray *names, const char *slice);
/* Replaces *@member by a copy of @text, which may be *@member itself or NULL. */
void quoit_request_replace_text (char **member, const char *text);

/* Sets the spread, or removes it for QUOIT_DOMAIN_NONE. Fails with INVALID. */
gboolean quoit_request_set_spread (QuoitRequest *request, QuoitDomain domain, gint64 max_skew, gint64 min_domains,
                                   GError **error);
gboolean quoit_request_set_keep_to (QuoitRequest *request, QuoitDomain domain, GError **error);
/* Sets the group, or removes it for NULL. Fails with INVALID for a text that is not NAME or NAME@ID. */
gboolean quoit_request_set_near_group (QuoitRequest *request, const char *group, GError **error);

/* Return "pool" or "zone", and the reverse. */
const char *quoit_domain_name (QuoitDomain domain);
gboolean quoit_domain_find (const char *name, QuoitDomain *domain);
/* Whether the settings for pools and zones are consistent. Fails with INVALID. */
gboolean quoit_request_check_domains (const QuoitRequest *request, GError **error);

/* Whether all required fields are set and consistent. Fails with INVALID. */
gboolean quoit_request_check_complete (const QuoitRequest *request, GError **error);
/* Like quoit_request_check_complete(), but also checks the slices with the catalogue. */
gboolean quoit_request_validate (const QuoitRequest *request, GError **error);

/* Whether the slices of the group are made of slices of the fleet: cut from larger ones, or joined from cubes. See
 * placement/made.h. */
static inline gboolean
quoit_request_makes_slices (const QuoitRequest *request)
{
  return request->cut != QUOIT_CUT_WHOLE || request->cubes != QUOIT_CUBES_NONE;
}

/* Whether the group has single hosts, as bundles, parts of slices or joined cubes, so that a count of whole slices says
 * nothing. */
static inline gboolean
quoit_request_is_by_host (const QuoitRequest *request)
{
  return request->bundles->len > 0 || quoit_request_makes_slices (request);
}

/* Return "any", or the reverse. */
const char *quoit_cut_name (QuoitCut cut);
gboolean quoit_cut_find (const char *name, QuoitCut *cut);
/* Return "first", or the reverse. */
const char *quoit_place_policy_name (QuoitPlacePolicy place);
gboolean quoit_place_policy_find (const char *name, QuoitPlacePolicy *place);
/* Whether the slices of the request can be joined as it says. Fails with INVALID. */
gboolean quoit_request_check_cubes (const QuoitRequest *request, GError **error);
/* Whether the request can be cut as it says. Fails with INVALID. */
gboolean quoit_request_check_cut (const QuoitRequest *request, GError **error);

/* Whether the pools or zones of the slices matter to each other, so that a count of slices is not enough. */
static inline gboolean
quoit_request_has_domains (const QuoitRequest *request)
{
  return request->keep_to != QUOIT_DOMAIN_NONE || request->spread_over != QUOIT_DOMAIN_NONE;
}

/* Returns which domains matter, if any do. */
static inline QuoitDomain
quoit_request_domain (const QuoitRequest *request)
{
  return request->keep_to != QUOIT_DOMAIN_NONE ? request->keep_to : request->spread_over;
}

static inline const QuoitBundleSpec *
quoit_request_bundle (const QuoitRequest *request, guint32 bundle)
{
  return &g_array_index (request->bundles, QuoitBundleSpec, bundle);
}

/* --- request-bundles.c --- */

/* Reads "TPU=4,CPU=8" from *@at up to the end, or up to a character that no amount contains, and moves *@at there.
 * Returns an array of QuoitTake, sorted by resource, whose names are texts of @request; the caller owns it. Fails
 * with INVALID and names the resource. @bundle is for the message. */
GArray *quoit_request_read_takes (QuoitRequest *request, guint32 bundle, const char **at, GError **error);
/* Adds @n bundles with @takes. Fails with INVALID beyond the limits of a request. */
gboolean quoit_request_add_takes (QuoitRequest *request, GArray *takes, gint64 n, GError **error);
gboolean quoit_request_select (QuoitRequest *request, guint32 bundle, const char *key, const char *value,
                               GError **error);
/* Returns how much of resource "TPU" the bundle needs, in units of QuoitAmount. */
gint64 quoit_bundle_spec_tpu_e4 (const QuoitBundleSpec *spec);
/* Whether the settings for bundles and for slices are consistent. Fails with INVALID. */
gboolean quoit_request_bundles_complete (const QuoitRequest *request, GError **error);

/* --- request-runs.c: bundles in canonical text --- */

/* Appends runs of equal consecutive bundles: "4x{CPU=1,TPU=4} 1x{TPU=1;ray.io/tpu-worker-id=0}". */
void quoit_request_append_runs (const QuoitRequest *request, GString *text);
/* Appends one bundle: "{CPU=1,TPU=4;key=value}". */
void quoit_request_append_bundle (GString *text, const QuoitBundleSpec *spec);
/* Appends ";key=value" for each different selector, sorted. */
void quoit_request_append_selectors (GString *text, const GPtrArray *selectors);
/* Reads runs up to the first other word. Returns FALSE for a syntax error; @error may then not be set. */
gboolean quoit_request_read_runs (QuoitRequest *request, const char **at, GError **error);

/* Returns the smallest number of slices that the request accepts. */
static inline guint32
quoit_request_min_slices (const QuoitRequest *request)
{
  return request->min_slices != 0 ? request->min_slices : request->n_slices;
}

/* Returns the request for exactly that number. It points into @request, and is not freed. */
static inline QuoitRequest
quoit_request_for_fewest (const QuoitRequest *request)
{
  QuoitRequest fewest = *request;

  fewest.n_slices = quoit_request_min_slices (request);
  fewest.min_slices = 0;
  return fewest;
}

/* Returns the number of chips per host, either stated or Ray's default. */
guint32 quoit_request_chips_per_host (const QuoitRequest *request);

/* Returns the request as canonical text, without name, key, owner and alternatives. Equal requests have equal text. The
 * caller owns it. */
char *quoit_request_format_canonical (const QuoitRequest *request);
/* Returns the request of a canonical text, without a name and alternatives; the caller owns it. Fails with INVALID for
 * other texts. */
QuoitRequest *quoit_request_parse_canonical (const char *text, GError **error);

/* Returns the request for the group @name of a canonical text, with its alternatives in their order; the caller owns
 * it. Fails with INVALID for other texts, and for slices that are not in the catalogue. */
QuoitRequest *quoit_request_parse_choices (const char *name, const char *text, GError **error);

/* --- request-alternatives.c --- */

enum { QUOIT_MAX_ALTERNATIVES = 16 }; /* of a request, without the first one */

/* Adds a copy of @alternative. Fails with INVALID if it has alternatives, or states something else about the group. */
gboolean quoit_request_add_alternative_copy (QuoitRequest *request, const QuoitRequest *alternative, GError **error);
/* Gives all alternatives what @request states about its group. Every setter of such a part calls it. */
void quoit_request_share_parts (QuoitRequest *request);
/* Whether each alternative is a request by itself. Fails with INVALID. */
gboolean quoit_request_check_alternatives (const QuoitRequest *request, GError **error);

/* Returns the number of requests that are tried, at least 1. */
static inline guint
quoit_request_n_alternatives (const QuoitRequest *request)
{
  return request->alternatives == NULL ? 1 : request->alternatives->len + 1;
}

/* Returns the request that is tried after @alternative others. That is @request itself for 0. */
static inline const QuoitRequest *
quoit_request_alternative (const QuoitRequest *request, guint alternative)
{
  return alternative == 0 ? request : request->alternatives->pdata[alternative - 1];
}

/* Returns the canonical texts of a request with alternatives, one for each alternative that a group can get: its own
 * text, and then the others as " instead-of=..." if they come before it, and as " else=..." if they come after it. */
GPtrArray *quoit_request_format_choices (const QuoitRequest *request);
/* Appends " WHAT=OTHER" to a canonical text. */
void quoit_request_append_other (GString *text, const char *what, const char *other);
/* Returns which alternative the group with this canonical text got: the number of words "instead-of". */
guint32 quoit_request_text_alternative (const char *text);

/* Checks a name of a group, key, owner, source or pool: 1 to 253 bytes of printable UTF-8 without '@' or '/'. @what
 * names the kind of name in the message, such as "source". */
gboolean quoit_name_check (const char *what, const char *name, GError **error);
