/* SPDX-License-Identifier: Apache-2.0 */
/* What one source reports about its nodes. Importers create claims, the ledger compares them, and the layout is
 * built from them. Claims contain names and no ids, and own all their strings. */
#pragma once

#include <quoit/group.h>
#include <quoit/snapshot.h>

#include "base/amount.h"
#include "catalogue/catalogue.h"

typedef enum {
  QUOIT_NODE_RAY_HEAD = 1 << 0,     /* runs Ray's head; may also be a TPU node */
  QUOIT_NODE_EXTERNAL = 1 << 1,     /* external use of the whole node */
  QUOIT_NODE_ASSUMED_ID = 1 << 2,   /* its worker id was not stated */
  QUOIT_NODE_ASSUMED_NAME = 1 << 3, /* its host name contains a cluster name that was not stated */
  QUOIT_NODE_LOST = 1 << 4          /* no longer in its source; stays dead while a group has it */
} QuoitNodeFlags;

typedef struct {
  const char *key, *value;
} QuoitPair;

typedef struct {
  const char *name;
  QuoitAmount amount;
} QuoitResource;

/* Properties that many nodes share. One kind serves thousands of nodes. */
typedef struct {
  QuoitGeneration generation; /* NONE: not a TPU node */
  QuoitShape shape;           /* n_dims 0: not stated, or not a valid topology */
  const char *topology;       /* as stated, for messages; NULL: not stated */
  const char *pod_type;       /* as stated, such as "v6e-16"; NULL: not stated */
  guint16 chips;              /* of the node: TPU resource divided by the devices per chip */
  guint16 n_labels, n_resources;
  const QuoitPair *labels;        /* sorted by key; see quoit_claims_kind() for omitted ones */
  const QuoitResource *resources; /* totals, sorted by name; see quoit_claims_kind() */
} QuoitNodeKind;

typedef struct {
  const char *name;        /* not NULL; unique among the alive nodes of a source */
  const char *identity;    /* Ray node id; NULL: the name is the identity */
  const char *address;     /* NULL: unknown */
  const char *slice;       /* NULL: not in a slice */
  const char *incarnation; /* of the slice; NULL: not reported */
  guint32 pool;            /* index in the pools of the claims */
  guint32 kind;            /* index in the kinds of the claims */
  gint32 worker_id;        /* -1: not stated */
  guint8 state;            /* QuoitNodeState */
  guint8 flags;            /* QuoitNodeFlags */
} QuoitNodeClaim;

/* Returns what identifies a node in its source. */
static inline const char *
quoit_node_claim_identity (const QuoitNodeClaim *claim)
{
  return claim->identity != NULL ? claim->identity : claim->name;
}

typedef struct {
  const char *name;
  QuoitSum pod_cpu, pod_memory; /* sums over the pods, as in `kubectl get raycluster`; 0 outside manifests */
  guint32 n_pods;               /* desired worker pods, without the head */
  guint16 n_env;
  const QuoitPair *env; /* plain variables of the TPU containers in the manifest, in its order */
} QuoitPoolClaim;

/* Compares QuoitResource by name, for sorting. */
int quoit_resource_compare (gconstpointer a, gconstpointer b);

/* The resources that a bundle of a group takes from a node. */
typedef struct {
  guint32 node; /* index in the nodes of the claims, or QUOIT_NOT_PLACED */
  guint16 n_takes;
  const QuoitResource *takes; /* sorted by name; amounts > 0 */
} QuoitBundleClaim;

#define QUOIT_NOT_PLACED G_MAXUINT32

/* A placement group that the source itself created. */
typedef struct {
  const char *name;     /* as reported; "": no name */
  const char *identity; /* id at the source */
  const char *request;  /* readable request, such as "PACK {CPU: 1, TPU: 4} x 4" */
  guint8 state;         /* QuoitGroupState: PENDING, RESERVED, RESCHEDULING */
  guint32 n_bundles;
  const QuoitBundleClaim *bundles;
} QuoitGroupClaim;

/* Whether the claims include groups and available resources. A source that reports no groups has none; a source that
 * was not queried for groups keeps its previous ones. */
typedef enum { QUOIT_CLAIMS_SAY_GROUPS = 1 << 0, QUOIT_CLAIMS_SAY_EXTERNAL = 1 << 1 } QuoitClaimsScope;

typedef struct _QuoitClaims QuoitClaims;

QuoitClaims *quoit_claims_new (const char *source, QuoitSourceKind kind);
void quoit_claims_free (QuoitClaims *claims);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitClaims, quoit_claims_free)

const char *quoit_claims_source (const QuoitClaims *claims);
QuoitSourceKind quoit_claims_source_kind (const QuoitClaims *claims);
/* Returns how many bytes texts and lists use so far. */
gsize quoit_claims_bytes (const QuoitClaims *claims);
/* Returns an interned copy of @text, valid as long as the claims. Returns NULL for NULL. */
const char *quoit_claims_text (QuoitClaims *claims, const char *text);

/* Returns the index of the pool named @name and creates the pool if it is new. Set its other fields through
 * quoit_claims_pool_at(), whose result is valid until the next call. Strings must come from quoit_claims_text(). */
guint32 quoit_claims_pool (QuoitClaims *claims, const char *name);
QuoitPoolClaim *quoit_claims_pool_at (const QuoitClaims *claims, guint32 index);
guint32 quoit_claims_n_pools (const QuoitClaims *claims);
/* Copies @pool into the pool of the same name, and returns its index. */
guint32 quoit_claims_copy_pool (QuoitClaims *claims, const QuoitPoolClaim *pool);
/* Sets the variables of the pool. Everything is copied. */
void quoit_claims_set_pool_env (QuoitClaims *claims, guint32 pool, const QuoitPair *env, guint16 n_env);

/* Returns the index of the kind equal to @stated and creates the kind if it is new. Everything is copied. Labels and
 * resources may come in any order and are sorted. Those that other fields of the node contain are dropped, because
 * nodes could not share a kind otherwise: labels ray.io/node-id, ray.io/node_id, ray.io/tpu-worker-id,
 * ray.io/tpu-slice-name, kubernetes.io/hostname; resources node:<address>, node:__internal_head__, <slice name>,
 * TPU-<pod type>-head, and resources of a placement group (..._group_<hex id>). <slice name> is @slice, which may be
 * NULL. CPU, GPU, TPU and the memory resources are never dropped. */
guint32 quoit_claims_kind (QuoitClaims *claims, const QuoitNodeKind *stated, const char *slice);
const QuoitNodeKind *quoit_claims_kind_at (const QuoitClaims *claims, guint32 index);
guint32 quoit_claims_n_kinds (const QuoitClaims *claims);

/* Appends a copy of @node and its strings. */
void quoit_claims_add (QuoitClaims *claims, const QuoitNodeClaim *node);
const QuoitNodeClaim *quoit_claims_nodes (const QuoitClaims *claims, guint32 *n_nodes);
/* Sets the worker id of the node at @index; -1: none. */
void quoit_claims_set_worker_id (QuoitClaims *claims, guint32 index, gint32 worker_id);

/* Appends a deep copy of @group. Takes may come in any order and are sorted; takes of 0 are dropped. */
void quoit_claims_add_group (QuoitClaims *claims, const QuoitGroupClaim *group);
const QuoitGroupClaim *quoit_claims_groups (const QuoitClaims *claims, guint32 *n_groups);
/* Adds external use of a node, at most once per node. Copied like a bundle of a group. */
void quoit_claims_add_external (QuoitClaims *claims, const QuoitBundleClaim *use);
const QuoitBundleClaim *quoit_claims_external (const QuoitClaims *claims, guint32 *n);
void quoit_claims_set_scope (QuoitClaims *claims, guint scope); /* of QuoitClaimsScope */
guint quoit_claims_scope (const QuoitClaims *claims);

/* Sets the source whose nodes are joined with the nodes of the same pool, slice and worker id. NULL (the initial
 * value): no source. */
void quoit_claims_set_join (QuoitClaims *claims, const char *source);
const char *quoit_claims_join (const QuoitClaims *claims);

/* Adds a warning for the user about input that was accepted anyway, such as "2 rows had no name". Without a full
 * stop. */
void quoit_claims_warn (QuoitClaims *claims, const char *format, ...) G_GNUC_PRINTF (2, 3);
const char *const *quoit_claims_warnings (const QuoitClaims *claims);

/* Limits for the nodes of a fleet and for worker ids. Importers check them before they create nodes. */
enum { QUOIT_MOST_NODES = 4000000, QUOIT_MOST_WORKER_ID = 32767 };
