/* SPDX-License-Identifier: Apache-2.0 */
/* Claims are what one source reports about its nodes. Importers create claims, the ledger compares them with the
 * previous ones, and the layout is built from them. Claims refer to nodes and pools by name and index, because durable
 * ids are assigned later. They own all their strings. */
#pragma once

#include <quoit/request.h>
#include <string.h>

#include <quoit/group.h>
#include <quoit/snapshot.h>

#include "base/amount.h"
#include "catalogue/catalogue.h"

typedef enum {
  QUOIT_NODE_RAY_HEAD = 1 << 0,     /* runs Ray's head; may also be a TPU node */
  QUOIT_NODE_EXTERNAL = 1 << 1,     /* external use of the whole node */
  QUOIT_NODE_ASSUMED_ID = 1 << 2,   /* its worker id was not stated */
  QUOIT_NODE_ASSUMED_NAME = 1 << 3, /* its host name contains a cluster name that was not stated */
  QUOIT_NODE_LOST = 1 << 4,         /* no longer in its source; remains as a dead node while a group has it */
  QUOIT_NODE_CAUSE = 7 << 5         /* three bits with a QuoitNodeCause */
} QuoitNodeFlags;

/* Why Kubernetes places no pods on a node, so that it is draining or dead. Databases store these values, so new ones
 * are only appended. */
typedef enum {
  QUOIT_CAUSE_NONE = 0, /* not stated */
  QUOIT_CAUSE_TAINTED,
  QUOIT_CAUSE_UNSCHEDULABLE,
  QUOIT_CAUSE_DELETING,
  QUOIT_CAUSE_FEWER_CHIPS,
  QUOIT_CAUSE_NOT_READY,
  QUOIT_CAUSE_NOT_REPORTING,
  QUOIT_N_CAUSES
} QuoitNodeCause;

/* Not a cause: the previous one stays. Greater than every value of three bits. */
enum { QUOIT_CAUSE_UNCHANGED = 8 };

static inline guint8
quoit_node_cause_flags (QuoitNodeCause cause)
{
  return (guint8) (cause << 5);
}

static inline QuoitNodeCause
quoit_node_cause (guint8 flags)
{
  return (QuoitNodeCause) (flags >> 5);
}

/* A label or a variable. */
typedef struct {
  const char *key, *value;
} QuoitPair;

/* An amount of a resource. */
typedef struct {
  const char *name;
  QuoitAmount amount;
} QuoitResource;

/* A kind of nodes: the properties that equal nodes have in common. Each node refers to a kind, and thousands of nodes
 * can have the same one. (A class, in contrast, groups equal slices.) */
typedef struct {
  QuoitGeneration generation; /* NONE: not a TPU node */
  QuoitShape shape;           /* n_dims 0: not stated, or not a valid topology */
  const char *topology;       /* as stated, for messages; NULL: not stated */
  const char *pod_type;       /* as stated, such as "v6e-16"; NULL: not stated */
  guint16 chips;              /* chips per node: its TPU resource divided by the devices per chip */
  guint16 n_labels, n_resources;
  const QuoitPair *labels;        /* sorted by key; quoit_claims_intern_kind() omits some */
  const QuoitResource *resources; /* totals, sorted by name; quoit_claims_intern_kind() omits some */
} QuoitNodeKind;

/* The report of a source about one node. */
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

/* Returns the text that identifies a node in its source. */
static inline const char *
quoit_node_claim_identity (const QuoitNodeClaim *claim)
{
  return claim->identity != NULL ? claim->identity : claim->name;
}

/* Returns the longest text of the claim. */
static inline const char *
quoit_node_claim_longest_text (const QuoitNodeClaim *claim)
{
  const char *const texts[] = { claim->name, claim->identity, claim->address, claim->slice, claim->incarnation };
  const char *longest = "";
  gsize length = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i] != NULL && strlen (texts[i]) > length)
      {
        longest = texts[i];
        length = strlen (longest);
      }
  return longest;
}

/* The report of a source about one pool. All members except the name are set only for pools of manifests. */
typedef struct {
  const char *name;
  QuoitSum pod_cpu, pod_memory; /* sums over the pods, as in `kubectl get raycluster` */
  guint32 n_pods;               /* desired worker pods, without the head */
  guint16 n_env;
  const QuoitPair *env; /* variables with plain values of the TPU containers, in the order of the manifest */
} QuoitPoolClaim;

/* Compares QuoitResource by name, for sorting. */
int quoit_resource_compare (gconstpointer a, gconstpointer b);

/* A bundle of a group, or an external use, that a source reports. */
typedef struct {
  guint32 node; /* index in the nodes of the claims, or QUOIT_NOT_PLACED */
  guint16 n_takes;
  const QuoitResource *takes; /* sorted by name; amounts > 0 */
} QuoitBundleClaim;

#define QUOIT_NOT_PLACED G_MAXUINT32

/* A placement group that a source reports. */
typedef struct {
  const char *name;     /* as reported; "": no name */
  const char *identity; /* id of the group at the source */
  const char *request;  /* readable request, such as "PACK {CPU: 1, TPU: 4} x 4" */
  guint8 state;         /* QuoitGroupState: PENDING, RESERVED, RESCHEDULING */
  guint32 n_bundles;
  const QuoitBundleClaim *bundles;
} QuoitGroupClaim;

/* A group that an import reserves: a line "group ..." of fleet text. It then belongs to the ledger, like any group that
 * a caller reserves. */
typedef struct {
  const char *name, *owner, *pool, *zone; /* NULL, except for the name: not stated */
  QuoitGeneration generation;
  QuoitShape shape;
  guint32 chips_per_host; /* 0: Ray's default for the shape */
  QuoitCubes cubes;
  guint32 n_slices;
  gint64 until_ms; /* the end of its lease; 0: none */
  gint32 priority;
  guint16 n_labels;
  guint32 n_named;
  const QuoitPair *labels;
  const char *const *named; /* full names of its slices, n_slices of them, or of the cubes of all of them, each
                             * in the order of its box; n_named 0: any that are free */
} QuoitReservationClaim;

/* Which use of nodes the claims include, as bits. If the scope includes groups and the claims have none, the source has
 * no groups. If the scope does not include groups, the source was not queried for groups, and its previous groups stay.
 * The same applies to external use. */
typedef enum { QUOIT_CLAIMS_SCOPE_GROUPS = 1 << 0, QUOIT_CLAIMS_SCOPE_EXTERNAL = 1 << 1 } QuoitClaimsScope;

typedef struct _QuoitClaims QuoitClaims;

QuoitClaims *quoit_claims_new (const char *source, QuoitSourceKind kind);
void quoit_claims_free (QuoitClaims *claims);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitClaims, quoit_claims_free)

const char *quoit_claims_source (const QuoitClaims *claims);
QuoitSourceKind quoit_claims_source_kind (const QuoitClaims *claims);
/* Returns how many bytes the texts and lists of the claims use. */
gsize quoit_claims_bytes (const QuoitClaims *claims);
/* Returns an interned copy of @text, valid as long as the claims. Returns NULL for NULL. */
const char *quoit_claims_intern_text (QuoitClaims *claims, const char *text);

/* Returns the index of the pool named @name, and creates the pool if it is new. The caller sets the other members of
 * the pool through quoit_claims_pool_at(), whose result is valid until the next pool is created. Texts in them must
 * come from quoit_claims_intern_text(). */
guint32 quoit_claims_ensure_pool (QuoitClaims *claims, const char *name);
QuoitPoolClaim *quoit_claims_pool_at (const QuoitClaims *claims, guint32 index);
guint32 quoit_claims_n_pools (const QuoitClaims *claims);
/* Copies @pool into @claims: creates or overwrites the pool of that name. Returns the index of the copy. */
guint32 quoit_claims_copy_pool (QuoitClaims *claims, const QuoitPoolClaim *pool);
/* Sets the variables of the pool to copies of @env. */
void quoit_claims_set_pool_env (QuoitClaims *claims, guint32 pool, const QuoitPair *env, guint16 n_env);

/* Returns the index of the kind that is equal to @stated, and creates the kind from copies if it is new. Labels and
 * resources may come in any order and are sorted.
 *
 * Labels and resources that differ from node to node are omitted, because nodes could not share a kind otherwise. They
 * are the labels ray.io/node-id, ray.io/node_id, ray.io/tpu-worker-id, ray.io/tpu-slice-name and
 * kubernetes.io/hostname, and the resources node:<address>, node:__internal_head__, @slice (may be NULL), TPU-<pod
 * type>-head, and those of a placement group (..._group_<hex id>). Other fields of the node have the same information.
 * CPU, GPU, TPU and the memory resources are never omitted, even if a slice has such a name. */
guint32 quoit_claims_intern_kind (QuoitClaims *claims, const QuoitNodeKind *stated, const char *slice);
/* Returns whether the label with @key is omitted. */
gboolean quoit_claims_is_node_specific (const char *key);
const QuoitNodeKind *quoit_claims_kind_at (const QuoitClaims *claims, guint32 index);
guint32 quoit_claims_n_kinds (const QuoitClaims *claims);

/* Appends a deep copy of @node. */
void quoit_claims_add (QuoitClaims *claims, const QuoitNodeClaim *node);
const QuoitNodeClaim *quoit_claims_nodes (const QuoitClaims *claims, guint32 *n_nodes);
/* Sets the worker id of the node at @index; -1: none. */
void quoit_claims_set_worker_id (QuoitClaims *claims, guint32 index, gint32 worker_id);

/* Appends a deep copy of @group. The takes of a bundle may come in any order and are sorted; takes of 0 are omitted. */
void quoit_claims_add_group (QuoitClaims *claims, const QuoitGroupClaim *group);
const QuoitGroupClaim *quoit_claims_groups (const QuoitClaims *claims, guint32 *n_groups);
/* Appends a deep copy of the external use of one node, like a bundle of a group. Each node may occur once. */
void quoit_claims_add_external (QuoitClaims *claims, const QuoitBundleClaim *use);
const QuoitBundleClaim *quoit_claims_external (const QuoitClaims *claims, guint32 *n);
/* Appends a deep copy of @reservation. */
void quoit_claims_add_reservation (QuoitClaims *claims, const QuoitReservationClaim *reservation);
const QuoitReservationClaim *quoit_claims_reservations (const QuoitClaims *claims, guint32 *n);
void quoit_claims_set_scope (QuoitClaims *claims, guint scope); /* of QuoitClaimsScope */
guint quoit_claims_scope (const QuoitClaims *claims);

/* Sets the source with which these claims are joined: its nodes with the same pool, slice and worker id are the same
 * machines. NULL (the initial value): the claims are not joined. */
void quoit_claims_set_join (QuoitClaims *claims, const char *source);
const char *quoit_claims_join (const QuoitClaims *claims);

/* Adds a warning for the user about input that was accepted anyway, such as "2 rows had no name". A warning has no full
 * stop. */
void quoit_claims_warn (QuoitClaims *claims, const char *format, ...) G_GNUC_PRINTF (2, 3);
const char *const *quoit_claims_warnings (const QuoitClaims *claims);

/* Limits for the nodes of a fleet and for worker ids. Importers check them before they create nodes. */
enum {
  QUOIT_MAX_NODES = 4000000,
  QUOIT_MAX_SOURCES = 65536,
  QUOIT_MAX_NODE_TEXT_BYTES = 4096, /* of each text of a node claim */
  QUOIT_MAX_WORKER_ID = 32767
};
