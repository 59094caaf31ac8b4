/* SPDX-License-Identifier: Apache-2.0 */
/* What one source says of its nodes: the value that importers make, the ledger compares and the layout is built from.
 * No ids, only names; every string is owned by the claims. */
#pragma once

#include <quoit/group.h>
#include <quoit/snapshot.h>

#include "base/amount.h"
#include "catalogue/catalogue.h"

typedef enum {
  QUOIT_NODE_RAY_HEAD = 1 << 0,     /* the node that runs Ray's head; may be a TPU node too */
  QUOIT_NODE_EXTERNAL = 1 << 1,     /* wholly used by something that no group explains */
  QUOIT_NODE_ASSUMED_ID = 1 << 2,   /* its worker id was not stated */
  QUOIT_NODE_ASSUMED_NAME = 1 << 3, /* the name of its cluster was not stated, which its host's name has in it */
  QUOIT_NODE_LOST = 1 << 4          /* its source has it no longer: it stays, dead, while a group has it */
} QuoitNodeFlags;

typedef struct {
  const char *key, *value;
} QuoitPair;

typedef struct {
  const char *name;
  QuoitAmount amount;
} QuoitResource;

/* What many nodes have in common; one kind serves thousands of nodes. */
typedef struct {
  QuoitGeneration generation; /* NONE: not a TPU node */
  QuoitShape shape;           /* n_dims 0: not stated, or not a topology */
  const char *topology;       /* as stated, for messages; NULL where not stated */
  const char *pod_type;       /* as stated, "v6e-16"; NULL where not stated */
  guint16 chips;              /* of the node; TPU resource divided by the devices a chip */
  guint16 n_labels, n_resources;
  const QuoitPair *labels;        /* sorted by key; without those that differ on every node (see quoit_claims_kind()) */
  const QuoitResource *resources; /* totals, sorted by name; likewise */
} QuoitNodeKind;

typedef struct {
  const char *name;        /* never NULL, unique among the alive nodes of a source */
  const char *identity;    /* Ray node id; NULL: the name is the identity */
  const char *address;     /* NULL: not known */
  const char *slice;       /* NULL: in no slice */
  const char *incarnation; /* of the slice; NULL where no system names it */
  guint32 pool;            /* index into the claims' pools */
  guint32 kind;            /* index into the claims' kinds */
  gint32 worker_id;        /* -1: not stated */
  guint8 state;            /* QuoitNodeState */
  guint8 flags;            /* QuoitNodeFlags */
} QuoitNodeClaim;

/* What tells a node from others of its source. */
static inline const char *
quoit_node_claim_identity (const QuoitNodeClaim *claim)
{
  return claim->identity != NULL ? claim->identity : claim->name;
}

typedef struct {
  const char *name;
  QuoitSum pod_cpu, pod_memory; /* sums over the pods as `kubectl get raycluster` shows them; zero outside manifests */
  guint32 n_pods;               /* worker pods that are desired; the head is not counted */
  guint16 n_env;
  const QuoitPair *env; /* plain variables that the manifest sets in TPU containers, in its order */
} QuoitPoolClaim;

/* By name, for sorting. */
int quoit_resource_compare (gconstpointer a, gconstpointer b);

/* What a bundle of a group takes of which node. */
typedef struct {
  guint32 node; /* index into the claims' nodes; QUOIT_NOT_PLACED */
  guint16 n_takes;
  const QuoitResource *takes; /* sorted by name; amounts > 0 */
} QuoitBundleClaim;

#define QUOIT_NOT_PLACED G_MAXUINT32

/* A placement group that the source itself has made. */
typedef struct {
  const char *name;     /* as the source says; "" */
  const char *identity; /* its id at the source */
  const char *request;  /* in words, for people: "PACK {CPU: 1, TPU: 4} x 4" */
  guint8 state;         /* QuoitGroupState: PENDING, RESERVED, RESCHEDULING */
  guint32 n_bundles;
  const QuoitBundleClaim *bundles;
} QuoitGroupClaim;

/* Whether the source was asked for its groups, and for what is available, at all: a source that says no groups has
 * none; one that was not asked keeps those it had. */
typedef enum { QUOIT_CLAIMS_SAY_GROUPS = 1 << 0, QUOIT_CLAIMS_SAY_EXTERNAL = 1 << 1 } QuoitClaimsScope;

typedef struct _QuoitClaims QuoitClaims;

QuoitClaims *quoit_claims_new (const char *source, QuoitSourceKind kind);
void quoit_claims_free (QuoitClaims *claims);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitClaims, quoit_claims_free)

const char *quoit_claims_source (const QuoitClaims *claims);
QuoitSourceKind quoit_claims_source_kind (const QuoitClaims *claims);
/* How much room texts and lists have taken so far. */
gsize quoit_claims_bytes (const QuoitClaims *claims);
/* Copies @text once for equal texts; valid as long as the claims. NULL stays NULL. */
const char *quoit_claims_text (QuoitClaims *claims, const char *text);

/* The pool of that name, made when it is new: its other fields may then be set through the pointer, which is valid
 * until the next call. Strings must come from quoit_claims_text(). */
guint32 quoit_claims_pool (QuoitClaims *claims, const char *name);
QuoitPoolClaim *quoit_claims_pool_at (const QuoitClaims *claims, guint32 index);
guint32 quoit_claims_n_pools (const QuoitClaims *claims);
/* The pool of @pool's name, with all that @pool has; everything is copied. */
guint32 quoit_claims_copy_pool (QuoitClaims *claims, const QuoitPoolClaim *pool);
/* Gives the pool its variables; everything is copied. */
void quoit_claims_set_pool_env (QuoitClaims *claims, guint32 pool, const QuoitPair *env, guint16 n_env);

/* The kind equal to @stated, made when it is new. Everything is copied. Labels and resources may come in any order and
 * are sorted; those that a node's other facts say already are dropped, or no two nodes would share a kind: labels
 * ray.io/node-id, ray.io/node_id, ray.io/tpu-worker-id, ray.io/tpu-slice-name, kubernetes.io/hostname; resources
 * node:<address>, node:__internal_head__, <slice name>, TPU-<pod type>-head, and anything of a placement group
 * (..._group_<hex id>). The resources to drop because of a name are those of @slice; CPU, GPU, TPU and the memories
 * always stay. */
guint32 quoit_claims_kind (QuoitClaims *claims, const QuoitNodeKind *stated, const char *slice);
const QuoitNodeKind *quoit_claims_kind_at (const QuoitClaims *claims, guint32 index);
guint32 quoit_claims_n_kinds (const QuoitClaims *claims);

/* Appends a copy of @node; its strings are copied too (with quoit_claims_text() where equal ones are likely). */
void quoit_claims_add (QuoitClaims *claims, const QuoitNodeClaim *node);
const QuoitNodeClaim *quoit_claims_nodes (const QuoitClaims *claims, guint32 *n_nodes);
/* Of the node at @index; -1: it has no place. */
void quoit_claims_set_worker_id (QuoitClaims *claims, guint32 index, gint32 worker_id);

/* Appends a copy of @group and all that it points to. Takes may come in any order and are sorted; those of nothing are
 * dropped. */
void quoit_claims_add_group (QuoitClaims *claims, const QuoitGroupClaim *group);
const QuoitGroupClaim *quoit_claims_groups (const QuoitClaims *claims, guint32 *n_groups);
/* Used by something that no group explains: at most one such claim a node. Copied like a bundle of a group. */
void quoit_claims_add_external (QuoitClaims *claims, const QuoitBundleClaim *use);
const QuoitBundleClaim *quoit_claims_external (const QuoitClaims *claims, guint32 *n);
void quoit_claims_set_scope (QuoitClaims *claims, guint scope); /* of QuoitClaimsScope */
guint quoit_claims_scope (const QuoitClaims *claims);

/* The source whose nodes are those of the same pool, slice and worker id; NULL, as at first: none is named. */
void quoit_claims_set_join (QuoitClaims *claims, const char *source);
const char *quoit_claims_join (const QuoitClaims *claims);

/* What the importer noticed and took anyway, for the user ("2 rows had no name"). Lines without a full stop. */
void quoit_claims_warn (QuoitClaims *claims, const char *format, ...) G_GNUC_PRINTF (2, 3);
const char *const *quoit_claims_warnings (const QuoitClaims *claims);

/* The most nodes that a fleet may have, and the greatest worker id; an importer refuses more before it makes them. */
enum { QUOIT_MOST_NODES = 4000000, QUOIT_MOST_WORKER_ID = 32767 };
