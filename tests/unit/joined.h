/* SPDX-License-Identifier: Apache-2.0 */
/* Two sources of one fleet, drawn as text, to test the ledger and the store. Each fact is a script of imports and
 * the resulting fleet. */
#pragma once

#include "suite.h"
#include "fixture.h"
#include "ledger/ledger.h"

/* --- drawn sources --- */

static const FixturePool drawn_pool = { "a", "2x4", "z", 8, QUOIT_GENERATION_V6E, 4 };

static inline QuoitNodeState
state_of_letter (char letter)
{
  return letter == 'x' ? QUOIT_NODE_DEAD : letter == 'd' ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
}

/* A manifest or fleet text, with one letter per node of two-host slices: '.' present, '-' absent, 'p' with a known
 * address, 10.0.p<number of the node>, '#' with external use. "..|.." are two slices. 'h' is the head of the
 * cluster, outside any slice. */
static inline QuoitClaims *
plan_of (const char *source, QuoitSourceKind kind, const char *drawn)
{
  g_autoptr (QuoitClaims) all = quoit_claims_new (source, kind);
  QuoitClaims *claims = quoit_claims_new (source, kind);
  const QuoitNodeClaim *nodes;
  guint32 n, at = 0;

  fixture_add_pool (all, &drawn_pool);
  nodes = quoit_claims_nodes (all, &n);
  for (const char *p = drawn; *p != '\0'; p++)
    {
      g_autofree char *address = *p == 'p' ? g_strdup_printf ("10.0.p%u", at) : NULL;
      QuoitNodeClaim node;

      if (*p == '|')
        continue;
      if (*p == 'h')
        {
          node = (QuoitNodeClaim) { .name = "head", .worker_id = -1, .flags = QUOIT_NODE_RAY_HEAD };
          node.pool = quoit_claims_ensure_pool (claims, "headgroup");
          node.kind = quoit_claims_intern_kind (claims, &(QuoitNodeKind) { .generation = QUOIT_GENERATION_NONE }, NULL);
          quoit_claims_add (claims, &node);
          continue;
        }
      node = nodes[at++];
      node.address = address;
      node.flags = *p == '#' ? QUOIT_NODE_EXTERNAL : 0;
      node.pool = quoit_claims_ensure_pool (claims, "a");
      node.kind = quoit_claims_intern_kind (claims, quoit_claims_kind_at (all, node.kind), NULL);
      if (*p != '-')
        quoit_claims_add (claims, &node);
    }
  return claims;
}

/* The class of a listed node: no resources if it is dead in Ray's list, else the manifest's with the word's changes. */
static inline guint32
kind_of_word (QuoitClaims *claims, const QuoitNodeKind *drawn, const char *word, gboolean has_chips)
{
  const char *cpu = strchr (word, '=');
  QuoitResource resources[]
      = { { "CPU", quoit_amount_from_int (cpu == NULL ? 8 : cpu[1] - '0') },
          { "TPU", quoit_amount_from_int ((strchr (word, '^') == NULL ? 1 : 2) * drawn->chips) } };
  QuoitNodeKind kind = *drawn;

  kind.n_labels = 0;
  kind.resources = resources;
  return quoit_claims_intern_kind (claims, has_chips ? &kind : &(QuoitNodeKind) { .generation = QUOIT_GENERATION_NONE },
                                   NULL);
}

/* Nodes of a list of a running cluster. "A0.1x" is machine A, worker 1 of slice 0 ('-': in no slice), in state 'x'.
 * "A0.1@5" has address 10.0.0.5, "A0.1=4" has 4 CPU instead of 8, "A0.1^" has two devices per chip, "A-*" is the
 * cluster's head, and "A0.1!" has an explicit worker id, which Kubernetes assumes otherwise. Ray lists no resources
 * for a dead machine, Kubernetes does. */
static inline void
add_listed (QuoitClaims *claims, const char *drawn)
{
  g_autoptr (QuoitClaims) all = quoit_claims_new ("all", QUOIT_SOURCE_KIND_RAY_NODES);
  g_auto (GStrv) words = g_strsplit (drawn, " ", -1);
  guint32 n;
  const QuoitNodeClaim *nodes;

  fixture_add_pool (all, &drawn_pool);
  nodes = quoit_claims_nodes (all, &n);
  for (guint i = 0; words[i] != NULL; i++)
    {
      const char *word = words[i], *at = strchr (word, '@');
      gboolean in_slice = g_ascii_isdigit (word[1]);
      QuoitNodeClaim node = { .worker_id = -1 };
      g_autofree char *name = NULL, *address = NULL;

      if (*word == '\0')
        continue;
      if (in_slice)
        node = nodes[2 * (word[1] - '0') + (word[3] - '0')];
      node.state = (guint8) state_of_letter (word[in_slice ? 4 : 2]);
      node.name = name = g_strdup_printf ("m-%c", *word);
      node.identity = name + 2;
      node.address = address = g_strdup_printf ("10.0.%s", at == NULL ? name : at + 1);
      if (in_slice && quoit_claims_source_kind (claims) == QUOIT_SOURCE_KIND_K8S_NODES && strchr (word, '!') == NULL)
        node.flags |= QUOIT_NODE_ASSUMED_ID;
      if (strchr (word, '*') != NULL)
        node.flags |= QUOIT_NODE_RAY_HEAD;
      node.pool = quoit_claims_ensure_pool (claims, in_slice ? "a" : "default");
      node.kind = kind_of_word (
          claims, quoit_claims_kind_at (all, 0), word,
          in_slice
              && (node.state != QUOIT_NODE_DEAD || quoit_claims_source_kind (claims) == QUOIT_SOURCE_KIND_K8S_NODES));
      quoit_claims_add (claims, &node);
    }
}

/* "A:2c8": 2 TPU and 8 CPU of machine A. "A:2s": no CPU, and 1 of the resource with its slice's name. */
static inline QuoitBundleClaim
bundle_of_word (const QuoitClaims *claims, const char *word, QuoitResource *takes)
{
  const char *cpu = strchr (word, 'c');
  QuoitBundleClaim bundle = { .node = QUOIT_NOT_PLACED, .n_takes = 3, .takes = takes };
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n);

  takes[0] = (QuoitResource) { "CPU", quoit_amount_from_int (cpu == NULL ? 0 : cpu[1] - '0') };
  takes[1] = (QuoitResource) { "TPU", quoit_amount_from_int (word[2] - '0') };
  takes[2] = (QuoitResource) { "a-0", { 0 } };
  for (guint32 i = 0; i < n; i++)
    if (*nodes[i].identity == *word)
      bundle.node = i;
  if (strchr (word, 's') != NULL && bundle.node != QUOIT_NOT_PLACED && nodes[bundle.node].slice != NULL)
    takes[2] = (QuoitResource) { nodes[bundle.node].slice, { QUOIT_AMOUNT_UNIT } };
  return bundle;
}

/* The nodes of a list, with its groups and its use, if given: "A0.0 B0.1 / g A:2 B:4 + h A:1c8 / B:0c2". */
static inline QuoitClaims *
list_of (const char *source, QuoitSourceKind kind, const char *drawn)
{
  QuoitClaims *claims = quoit_claims_new (source, kind);
  g_auto (GStrv) parts = g_strsplit (drawn, " /", 3);
  guint n_parts = g_strv_length (parts);
  g_auto (GStrv) groups = g_strsplit (n_parts > 1 ? parts[1] : "", " +", -1);
  g_auto (GStrv) uses = g_strsplit (n_parts > 2 ? parts[2] : "", " ", -1);

  add_listed (claims, parts[0] == NULL ? "" : parts[0]);
  for (char **group = groups; *group != NULL; group++)
    {
      g_auto (GStrv) words = g_strsplit (g_strstrip (*group), " ", -1);
      QuoitGroupClaim claim = { .name = words[0], .identity = words[0], .request = "", .state = QUOIT_GROUP_RESERVED };
      QuoitBundleClaim bundles[8];
      QuoitResource takes[8][3];

      for (char **word = words; *word != NULL && word[1] != NULL; word++, claim.n_bundles++)
        bundles[claim.n_bundles] = bundle_of_word (claims, word[1], takes[claim.n_bundles]);
      claim.bundles = bundles;
      if (claim.n_bundles > 0)
        quoit_claims_add_group (claims, &claim);
    }
  for (char **use = uses; *use != NULL; use++)
    {
      QuoitResource takes[3];
      QuoitBundleClaim bundle;

      if (**use == '\0')
        continue;
      bundle = bundle_of_word (claims, *use, takes);
      quoit_claims_add_external (claims, &bundle);
    }
  quoit_claims_set_scope (claims, (n_parts > 1 ? QUOIT_CLAIMS_SCOPE_GROUPS : 0u)
                                      | (n_parts > 2 ? QUOIT_CLAIMS_SCOPE_EXTERNAL : 0u));
  return claims;
}

/* --- scripts --- */

typedef struct {
  gpointer data;
  gboolean (*change) (gpointer data, const QuoitAction *action, GError **error);
} Ledger;

static inline gboolean
read_source (const Ledger *ledger, QuoitActionType type, QuoitClaims *claims, const char *join, GError **error)
{
  gboolean ok;

  quoit_claims_set_join (claims, join);
  ok = ledger->change (ledger->data, &(QuoitAction) { type, .claims = &claims }, error);
  quoit_claims_free (claims);
  return ok;
}

/* Reserves the slice for "train", as whole hosts or as bundles of @tpu_per_bundle TPU. */
static inline gboolean
reserve_slice (const Ledger *ledger, const char *slice, gint64 tpu_per_bundle, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();

  request->name = g_strdup ("train");
  request->generation = QUOIT_GENERATION_V6E;
  request->shape = (QuoitShape) { .n_dims = 2, .dims = { 2, 4, 1 } };
  request->chips_per_host = 4;
  request->n_slices = 1;
  request->tpu_per_bundle = quoit_amount_from_int (tpu_per_bundle);
  quoit_request_add_slice_name (request, request->slices, slice);
  return ledger->change (ledger->data, &(QuoitAction) { QUOIT_ACTION_RESERVE, .request = request }, error);
}

static const struct {
  const char *verb, *source;
  QuoitSourceKind kind;
  QuoitActionType type;
  const char *join;
} readings[] = {
  { "text", "text", QUOIT_SOURCE_KIND_FLEET, QUOIT_ACTION_IMPORT, NULL },
  { "plan", "plan", QUOIT_SOURCE_KIND_RAYCLUSTER, QUOIT_ACTION_IMPORT, NULL },
  { "plan+ray", "plan", QUOIT_SOURCE_KIND_RAYCLUSTER, QUOIT_ACTION_IMPORT, "ray" },
  { "plan+text", "plan", QUOIT_SOURCE_KIND_RAYCLUSTER, QUOIT_ACTION_IMPORT, "text" },
  { "sync-plan", "plan", QUOIT_SOURCE_KIND_RAYCLUSTER, QUOIT_ACTION_SYNC, NULL },
  { "ray", "ray", QUOIT_SOURCE_KIND_RAY_NODES, QUOIT_ACTION_IMPORT, NULL },
  { "ray+plan", "ray", QUOIT_SOURCE_KIND_RAY_NODES, QUOIT_ACTION_IMPORT, "plan" },
  { "ray+text", "ray", QUOIT_SOURCE_KIND_RAY_NODES, QUOIT_ACTION_IMPORT, "text" },
  { "ray+nowhere", "ray", QUOIT_SOURCE_KIND_RAY_NODES, QUOIT_ACTION_IMPORT, "nowhere" },
  { "sync-ray", "ray", QUOIT_SOURCE_KIND_RAY_NODES, QUOIT_ACTION_SYNC, NULL },
  { "k8s", "k8s", QUOIT_SOURCE_KIND_K8S_NODES, QUOIT_ACTION_IMPORT, NULL },
  { "sync-k8s", "k8s", QUOIT_SOURCE_KIND_K8S_NODES, QUOIT_ACTION_SYNC, NULL },
  { "other+plan", "other", QUOIT_SOURCE_KIND_RAY_NODES, QUOIT_ACTION_IMPORT, "plan" },
  { "other+ray", "other", QUOIT_SOURCE_KIND_RAY_NODES, QUOIT_ACTION_IMPORT, "ray" },
};

static inline gboolean
perform (const Ledger *ledger, const char *step, GError **error)
{
  g_auto (GStrv) words = g_strsplit (step, " ", 2);
  const char *rest = words[1] == NULL ? "" : words[1];

  for (gsize i = 0; i < G_N_ELEMENTS (readings); i++)
    if (g_str_equal (words[0], readings[i].verb))
      return read_source (ledger, readings[i].type,
                          readings[i].kind == QUOIT_SOURCE_KIND_RAY_NODES
                                  || readings[i].kind == QUOIT_SOURCE_KIND_K8S_NODES
                              ? list_of (readings[i].source, readings[i].kind, rest)
                              : plan_of (readings[i].source, readings[i].kind, rest),
                          readings[i].join, error);
  if (g_str_equal (words[0], "reserve"))
    return reserve_slice (ledger, rest, 0, error);
  if (g_str_equal (words[0], "divide"))
    return reserve_slice (ledger, rest, 2, error);
  if (g_str_equal (words[0], "drain"))
    return ledger->change (
        ledger->data, &(QuoitAction) { QUOIT_ACTION_SET_STATES, .states = { &rest, 1, QUOIT_VERB_DRAIN, 0 } }, error);
  ck_assert_str_eq (words[0], "release");
  return ledger->change (ledger->data, &(QuoitAction) { QUOIT_ACTION_RELEASE, .group = { "train", 0 } }, error);
}

/* The shares of the node: " [g chips 0,1: CPU 8, TPU 2]". */
static inline void
show_shares (GString *text, const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL && users.bundle != NULL)
    {
      g_autofree char *bundle = quoit_bundle_text (users.bundle);

      g_string_append_printf (text, " [%s %s]", user->name, bundle);
    }
}

/* "plan/a-0-0#1=A" for a node, followed by a letter for its state, '*' if it is allocated, '#' for external use, and
 * its shares. */
static inline char *
show (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  GString *text = g_string_new (NULL);

  for (guint32 i = 0; i < layout->n_nodes; i++)
    {
      QuoitNodeId node = { i };
      g_autofree char *identity = quoit_layout_node_identity (layout, node);
      guint32 source = layout->pools[quoit_layout_node_pool (layout, node).index].source;
      const char *name = quoit_layout_node_name (layout, node);

      g_string_append_printf (text, "%s%s/%s#%u%s%s%.*s%s", i == 0 ? "" : " ",
                              quoit_layout_text (layout, layout->sources[source].name), name, layout->nodes[i].id,
                              g_str_equal (identity, name) ? "" : "=", g_str_equal (identity, name) ? "" : identity,
                              quoit_fleet_node_state (fleet, node) == QUOIT_NODE_ALIVE ? 0 : 1,
                              quoit_fleet_node_state (fleet, node) == QUOIT_NODE_DEAD ? "x" : "d",
                              quoit_fleet_node_use (fleet, node) == QUOIT_USE_EXTERNAL ? "#"
                              : quoit_fleet_node_user (fleet, node) == NULL            ? ""
                                                                                       : "*");
      show_shares (text, fleet, node);
    }
  return g_string_free (text, FALSE);
}

/* A script is a list of steps, separated by ';':
 *
 *   plan ..|h         imports a manifest: '.' a node, '-' none, '|' the next slice, 'h' the head (plan_of())
 *   ray A0.1x@5 B-*   imports Ray's list: machine A, worker 1 of slice 0, dead, address 10.0.0.5; machine B in no
 *                     slice, the head; 'd' draining, '=4' 4 CPU, '^' two devices per chip, '!' an explicit worker id
 *                     (add_listed())
 *   k8s ...           imports the list of Kubernetes, with the same words
 *   ray+plan ...      the same with --join plan;  sync-ray ...  syncs instead of imports
 *   reserve a-0, divide a-0, drain NODE, release
 *
 * The fleet afterwards: "SOURCE/NODE#ID=MACHINE", with 'x' dead, 'd' draining, '*' allocated, '#' external use, and
 * the shares of groups in brackets (show()). */
static const struct {
  const char *script;
  const char *fleet;
  const char *refusal; /* of the last step, which then changes nothing; NULL: success */
} facts[] = {
  /* without --join sources stay apart, even if their places have the same names */
  { "plan ..;ray A0.0 B0.1", "plan/a-0-0#1 plan/a-0-1#2 ray/m-A#3=A ray/m-B#4=B", NULL },
  /* one node with two claims */
  { "plan ..;ray+plan A0.0 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "ray A0.0 B0.1;plan+ray ..", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "ray A0.0 B0.1;plan ..;ray+plan A0.0 B0.1", "plan/a-0-0#3=A plan/a-0-1#4=B", NULL },
  { "ray A0.0 B0.1;plan ..;plan+ray ..", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;plan ..;ray A0.0 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  /* nodes of Ray and Kubernetes with the same address are one node: at Ray's place, in the worse of both states */
  { "k8s A0.0 B0.1;ray A0.1 B0.0", "ray/m-B#2=B ray/m-A#1=A", NULL },
  { "ray A0.1 B0.0;k8s A0.0 B0.1", "ray/m-B#2=B ray/m-A#1=A", NULL },
  { "ray A0.0 B0.1;k8s A0.0d B0.1x", "ray/m-A#1=Ad ray/m-B#2=Bx", NULL },
  { "k8s A0.0d B0.1x;ray A0.0 B0.1", "ray/m-A#1=Ad ray/m-B#2=Bx", NULL },
  { "ray A0.0 B0.1;k8s A0.0d B0.1x;k8s A0.0 B0.1", "ray/m-A#1=A ray/m-B#2=B", NULL },
  { "ray A0.0 B0.1;k8s A0.0 B0.1;ray A0.0x B0.1d", "ray/m-A#1=Ax ray/m-B#2=Bd", NULL },
  { "ray A0.0 B0.1;k8s A0.0 B0.1d;ray A0.0x B0.1;ray A0.0 B0.1", "ray/m-A#1=A ray/m-B#2=Bd", NULL },
  { "ray A0.0 B0.1;k8s A0.0d B0.1;k8s B0.1", "ray/m-A#1=A ray/m-B#2=B", NULL },
  { "ray A0.0 B0.1;k8s A0.1 B0.0;ray B0.1", "k8s/m-A#1=A ray/m-B#2=B", NULL },
  { "k8s A0.0x@5 B0.1@5;ray C0.1@5", "k8s/m-A#1=Ax ray/m-C#2=C", NULL },
  { "k8s B0.1@5 A0.0x@5;ray C0.1@5", "k8s/m-A#2=Ax ray/m-C#1=C", NULL },
  /* of several nodes at one address the live one matches, or else the oldest; repeated imports match the same one */
  { "k8s A0.0x@5 B0.1x@5;ray C1.0@5 D1.1@5", "k8s/m-B#2=Bx ray/m-C#1=Cx ray/m-D#3=D", NULL },
  { "ray C1.0@5 D1.1@5;k8s A0.0x@5 B0.1x@5", "k8s/m-B#3=Bx ray/m-C#1=Cx ray/m-D#2=D", NULL },
  { "k8s A0.0@5 B0.1@5;ray C1.0@5 D1.1@5;k8s A0.0@5 B0.1@5", "k8s/m-B#2=B ray/m-C#1=C ray/m-D#3=D", NULL },
  { "k8s A0.0x@5 B0.1@5;ray C1.0@5 D1.1@5;k8s A0.0x@5 B0.1@5", "k8s/m-A#1=Ax ray/m-C#2=C ray/m-D#3=D", NULL },
  /* a node that only this list reported dead keeps its address */
  { "ray A0.0@5;k8s A0.0x@5;k8s B0.0@5", "ray/m-A#1=A", NULL },
  /* a node whose place went to a better match is a new one, and stays so */
  { "ray A0.0@5;k8s B1.0@5;k8s B1.0x@5 C1.1@5", "k8s/m-B#2=Bx ray/m-A#1=A", NULL },
  { "k8s A0.0;ray A0.0x", "k8s/m-A#1=A ray/m-A#2=Ax", NULL },
  { "plan ..;ray+plan A0.0 B0.1;k8s A0.1 B0.0d", "plan/a-0-0#1=A plan/a-0-1#2=Bd", NULL },
  { "plan ..;k8s A0.0 B0.1", "k8s/m-A#3=A k8s/m-B#4=B plan/a-0-0#1 plan/a-0-1#2", NULL },
  { "k8s A0.0 B0.1;reserve a-0;ray A0.0 B0.1", "ray/m-A#1=A* ray/m-B#2=B*", NULL },
  { "k8s A0.0 B0.1;reserve a-0;ray A0.1 B0.0", "k8s/m-A#1=A* k8s/m-B#2=B*", "would have another place" },
  { "ray A0.0 B0.1;reserve a-0;k8s A0.1 B0.0d", "ray/m-A#1=A* ray/m-B#2=Bd*", NULL },
  { "ray A0.0 B0.1;k8s A0.0 B0.1;reserve a-0;sync-k8s A0.0", "ray/m-A#1=A* ray/m-B#2=B*", NULL },
  /* an assumed worker id stays, whichever nodes come or go */
  { "k8s A0.0 B0.1;reserve a-0;sync-k8s B0.0", "k8s/m-A#1=Ax* k8s/m-B#2=B*", NULL },
  { "k8s A0.0 B0.1;reserve a-0;sync-k8s B0.0 C0.1", "k8s/m-A#1=Ax* k8s/m-C#3=C k8s/m-B#2=B*", NULL },
  { "k8s B0.0 C0.1;reserve a-0;k8s A0.0 B0.1 C0.1", "k8s/m-B#1=B* k8s/m-C#2=C* k8s/m-A#3=A", NULL },
  { "ray A0.0 B0.1;k8s A0.0 B0.1;reserve a-0;sync-k8s B0.0", "ray/m-A#1=A* ray/m-B#2=B*", NULL },
  /* a pod's worker id is certain, and stays after the pod ends */
  { "k8s A0.0 B0.1;k8s A0.1! B0.0!", "k8s/m-B#2=B k8s/m-A#1=A", NULL },
  { "k8s A0.1! B0.0!;k8s A0.0 B0.1", "k8s/m-B#2=B k8s/m-A#1=A", NULL },
  { "k8s A0.1! B0.0!;k8s A0.0 B0.1;k8s A0.1! B0.0!", "k8s/m-B#2=B k8s/m-A#1=A", NULL },
  { "k8s A0.0 B0.1;k8s A0.0 B0.0!", "k8s/m-B#2=B k8s/m-A#1=A", NULL },
  { "k8s A0.0 B0.1;k8s A0.1! B0.0", "k8s/m-B#2=B k8s/m-A#1=A", NULL },
  { "k8s A0.0 B0.1;reserve a-0;k8s A0.0! B0.1!", "k8s/m-A#1=A* k8s/m-B#2=B*", NULL },
  { "k8s A0.0! B0.1!;reserve a-0;k8s A0.1 B0.0", "k8s/m-A#1=A* k8s/m-B#2=B*", NULL },
  { "k8s A0.0 B0.1;reserve a-0;k8s A0.1! B0.0!", "k8s/m-A#1=A* k8s/m-B#2=B*",
    "'m-A' would change: worker 0 -> 1: group 'train@1' uses it" },
  { "k8s A0.0 B0.1;reserve a-0;sync-k8s A0.1! B0.0!", "k8s/m-A#1=A* k8s/m-B#2=B*", "would change: worker 0 -> 1" },
  { "k8s A0.0 B0.1;reserve a-0;release;k8s A0.1! B0.0!", "k8s/m-B#2=B k8s/m-A#1=A", NULL },
  { "k8s A0.0 B0.1;ray A0.0 B0.1;reserve a-0;k8s A0.1! B0.0!", "ray/m-A#1=A* ray/m-B#2=B*", NULL },
  { "ray A0.0 B0.1;k8s A1.0 B1.1;reserve a-0;k8s A0.1! B0.0!", "ray/m-A#1=A* ray/m-B#2=B*", NULL },
  /* A node has the address of its pod. When the pod moves to a different node, the address moves too, and Ray's nodes
   * are matched by it. A0.1x@5 is machine A, worker 1 of slice 0, dead, with address 10.0.0.5. */
  { "ray A0.0@1 B0.1@2;k8s A1.0@1 B1.1@2;ray A0.0x@1 B0.1@2 C0.0@3;k8s A1.0d@3 B1.1@2",
    "ray/m-A#1=Ax ray/m-C#3=Cd ray/m-B#2=B", NULL },
  { "ray A0.0@1 B0.1@2;k8s A1.0@1 B1.1@2;k8s A1.0d@3 B1.1@2;ray A0.0x@1 B0.1@2 C0.0@3",
    "ray/m-A#3=Ax ray/m-C#1=Cd ray/m-B#2=B", NULL },
  { "ray A0.0@1 B0.1@2;k8s A1.0@1 B1.1@2;ray B0.1@2 C0.0@3;k8s A1.0d@3 B1.1@2", "ray/m-C#3=Cd ray/m-B#2=B", NULL },
  { "ray A0.0@1 B0.1@2;k8s A1.0@1 B1.1@2;k8s A1.0d@3 B1.1@2;ray B0.1@2 C0.0@3", "ray/m-C#1=Cd ray/m-B#2=B", NULL },
  { "ray C0.0@1 D0.1@2;k8s A1.0@1 B1.1@2;k8s A1.0@2 B1.1d@1", "ray/m-C#1=Cd ray/m-D#2=D", NULL },
  { "ray C0.0@1 D0.1@2;k8s A1.0@1 B1.1@2;k8s B1.1d@1 A1.0@2", "ray/m-C#1=Cd ray/m-D#2=D", NULL },
  { "k8s A1.0 B1.1;ray C0.0@1 D0.1@2;k8s A1.0@1 B1.1d@2", "ray/m-C#3=C ray/m-D#4=Dd", NULL },
  { "ray C0.0@1 D0.1@2;k8s A1.0@1 B1.1@2;reserve a-0;k8s A1.0@2 B1.1d@1", "ray/m-C#1=C* ray/m-D#2=Dd*", NULL },
  { "plan ..;ray+plan A0.0x@1 B0.1@2;k8s A1.0d@1 B1.1@2;ray A0.0@1 B0.1@2",
    "k8s/m-A#3=Ad plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0x@1 B0.1@2;k8s A1.0d@1 B1.1@2;ray A0.0@1 B0.1@2;k8s A1.0d@1 B1.1@2",
    "plan/a-0-0#1=Ad plan/a-0-1#2=B", NULL },
  { "ray C0.0@1 D0.1@2;k8s A1.0@1 B1.1@2;k8s A1.0d@8 B1.1@2", "ray/m-C#1=Cd ray/m-D#2=D", NULL },
  /* nodes that only one source has belong to that source */
  { "plan ..|..;ray+plan A0.0 B0.1 C1.0 H-", "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4 ray/m-H#5=H",
    NULL },
  { "plan ..;ray+plan A0.0 B0.1 C1.0", "plan/a-0-0#1=A plan/a-0-1#2=B ray/m-C#3=C", NULL },
  { "plan ..;ray+plan H- I-", "plan/a-0-0#1 plan/a-0-1#2 ray/m-H#3=H ray/m-I#4=I", NULL },
  /* a cluster has one head, in any order of imports: it counts once, and can be replaced like a worker */
  { "plan h..;ray+plan H-* A0.0 B0.1", "plan/a-0-0#2=A plan/a-0-1#3=B plan/head#1=H", NULL },
  { "ray H-* A0.0 B0.1;plan+ray ..h", "plan/a-0-0#2=A plan/a-0-1#3=B plan/head#1=H", NULL },
  { "plan h..;ray+plan H-x* I-* J- A0.0 B0.1", "plan/a-0-0#2=A plan/a-0-1#3=B plan/head#1=I ray/m-H#4=Hx ray/m-J#5=J",
    NULL },
  { "plan h..;ray+plan H-* A0.0 B0.1;ray I-*@9 A0.0 B0.1", "plan/a-0-0#2=A plan/a-0-1#3=B plan/head#1=I", NULL },
  { "plan h..;ray H-* A0.0 B0.1", "plan/a-0-0#2 plan/a-0-1#3 plan/head#1 ray/m-A#5=A ray/m-B#6=B ray/m-H#4=H", NULL },
  { "plan h..;ray+plan A0.0* B0.1", "plan/a-0-0#2=A plan/a-0-1#3=B plan/head#1", NULL },
  /* joined sources stay joined: a new node matches the place of an old one */
  { "plan ..|..;ray+plan A0.0 B0.1;ray A0.0 B0.1 C1.0 D1.1",
    "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4=D", NULL },
  { "plan ..;ray+plan A0.0 B0.1;plan ..|..;ray A0.0 B0.1 C1.0",
    "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4", NULL },
  /* the source that observes nodes decides their states */
  { "plan ..;ray+plan A0.0x B0.1d", "plan/a-0-0#1=Ax plan/a-0-1#2=Bd", NULL },
  { "plan ..;ray+plan A0.0 B0.1;ray A0.0x B0.1", "plan/a-0-0#1=Ax plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0x B0.1;plan ..;ray A0.0 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..;drain a-0-0;ray+plan A0.0 B0.1", "plan/a-0-0#1=Ad plan/a-0-1#2=B", NULL },
  /* the state of a machine does not apply to its replacement */
  { "plan ..;ray+plan A0.0 B0.1;drain a-0-0;ray B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;drain a-0-0;ray A0.0x B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B ray/m-A#3=Ax", NULL },
  { "plan ..;ray+plan A0.0 B0.1;drain a-0-0;ray B0.1", "plan/a-0-0#1d plan/a-0-1#2=B", NULL },
  /* a dead node gives its place to a live one */
  { "plan ..;ray+plan A0.0x B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B ray/m-A#3=Ax", NULL },
  { "plan ..;ray+plan A0.0 B0.1;ray A0.0x B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B ray/m-A#3=Ax", NULL },
  { "plan ..;ray+plan A0.0 B0.1;ray B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0x B0.1 C0.0x", "plan/a-0-0#1=Ax plan/a-0-1#2=B ray/m-C#3=Cx", NULL },
  { "ray A0.0x B0.1 C0.0;plan+ray ..", "plan/a-0-0#3=C plan/a-0-1#2=B ray/m-A#1=Ax", NULL },
  /* a claim can be removed; the node is removed with its last claim */
  { "plan ..;ray+plan A0.0 B0.1;ray A0.0", "plan/a-0-0#1=A plan/a-0-1#2", NULL },
  { "plan ..;ray+plan A0.0x B0.1;ray B0.1", "plan/a-0-0#1 plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;ray ", "plan/a-0-0#1 plan/a-0-1#2", NULL },
  { "plan ..|..;ray+plan A0.0 B0.1 C1.0;plan ..", "plan/a-0-0#1=A plan/a-0-1#2=B ray/m-C#3=C", NULL },
  { "plan ..|..;ray+plan A0.0 B0.1 C1.0;plan ..;ray A0.0 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;plan ;plan+ray ..", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  /* a group keeps its nodes, which keep their ids */
  { "plan ..;reserve a-0;ray+plan A0.0 B0.1", "plan/a-0-0#1=A* plan/a-0-1#2=B*", NULL },
  { "ray A0.0 B0.1;reserve a-0;plan+ray ..", "plan/a-0-0#1=A* plan/a-0-1#2=B*", NULL },
  { "plan ..;reserve a-0;ray+plan A0.0x B0.1", "plan/a-0-0#1=Ax* plan/a-0-1#2=B*", NULL },
  { "ray A0.0 B0.1;reserve a-0;plan ..;ray+plan A0.0 B0.1", "plan/a-0-0#3 plan/a-0-1#4 ray/m-A#1=A* ray/m-B#2=B*",
    NULL },
  /* an allocated node never changes its machine */
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;ray A0.0x B0.1 C0.0", "plan/a-0-0#1=Ax* plan/a-0-1#2=B* ray/m-C#3=C",
    NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;ray B0.1 C0.0", "plan/a-0-0#1=A* plan/a-0-1#2=B*", "cannot be removed" },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;ray B0.1", "plan/a-0-0#1=A* plan/a-0-1#2=B*", "cannot be removed" },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;plan ", "plan/a-0-0#1=A* plan/a-0-1#2=B*", "cannot be removed" },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1", "plan/a-0-0#1=Ax* plan/a-0-1#2=B*", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1 C0.0", "plan/a-0-0#1=Ax* plan/a-0-1#2=B* ray/m-C#3=C", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1 C0.0;release;sync-ray B0.1 C0.0",
    "plan/a-0-0#1=C plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1;release;ray B0.1", "plan/a-0-0#1 plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1;sync-ray A0.0 B0.1", "plan/a-0-0#1=A* plan/a-0-1#2=B*",
    NULL },
  { "ray A0.0^ B0.1^;divide a-0;ray A0.0 B0.1^",
    "ray/m-A#1=A* [train chip 0: TPU 2] [train chip 1: TPU 2] [train chip 2: TPU 2] [train chip 3: TPU 2] "
    "ray/m-B#2=B* [train chip 0: TPU 2] [train chip 1: TPU 2] [train chip 2: TPU 2] [train chip 3: TPU 2]",
    "'m-A' would change: another number of devices per chip: group 'train@1' uses it" },
  { "plan ..;reserve a-0;ray+plan A0.0x B0.1;ray A0.0 B0.1", "plan/a-0-0#1=A* plan/a-0-1#2=B*", NULL },
  { "plan ..;reserve a-0;ray+plan A0.0x B0.1;ray A0.0^ B0.1", "plan/a-0-0#1=Ax* plan/a-0-1#2=B*",
    "would change: other topology, pod type or chips: group" },
  /* a manifest that no longer lists a machine does not change it */
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-plan ", "plan/a-0-0#1=A* plan/a-0-1#2=B*", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-plan ;release;sync-plan ", "ray/m-A#1=A ray/m-B#2=B", NULL },
  /* nodes of one source can change in place */
  { "plan ..;ray+plan A0.0 B0.1 C1.0;ray A0.0 B0.1 C1.0d", "plan/a-0-0#1=A plan/a-0-1#2=B ray/m-C#3=Cd", NULL },
  { "plan ..;ray+plan A0.0 B0.1 C1.0;ray A0.0 B0.1 D1.0", "plan/a-0-0#1=A plan/a-0-1#2=B ray/m-D#4=D", NULL },
  { "plan ..;ray+plan A0.0 B0.1 C1.0;ray A0.0d B0.1 C1.0@4", "plan/a-0-0#1=Ad plan/a-0-1#2=B ray/m-C#3=C", NULL },
  { "plan ..|.-;ray+plan A0.0 B0.1 C1.1;plan pp|p-", "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3 ray/m-C#4=C", NULL },
  /* one claim per kind of source */
  { "plan ..;ray+plan A0.0 B0.1;other+plan C0.0", "other/m-C#3=C plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..|..;ray+plan A0.0 B0.1;other+plan C1.0 D1.1", "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4=D",
    NULL },
  { "plan ..;ray+plan A0.0 B0.1;other+plan A0.0", "plan/a-0-0#1=A plan/a-0-1#2=B", "claims already, as 'm-A'" },
  /* one address is one machine while it is alive */
  { "plan pp;ray A0.0@p0 B0.1@p1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "ray A0.0@p0 B0.1@p1;plan pp", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan pp;ray A-@p1 B1.1@p0 C-@p7", "plan/a-0-0#1=B plan/a-0-1#2=A ray/m-C#3=C", NULL },
  { "plan pp;ray A-x@p0 B-@p1", "plan/a-0-0#1 plan/a-0-1#2=B ray/m-A#3=Ax", NULL },
  { "plan pp;ray A0.0x@p5 B0.1@p1", "plan/a-0-0#1=Ax plan/a-0-1#2=B", NULL },
  { "plan pp;ray A0.0@p0;reserve a-0;ray A0.0x@p0 C-@p0", "plan/a-0-0#1=Ax* plan/a-0-1#2* ray/m-C#3=C", NULL },
  { "plan pp;reserve a-0;ray A0.1@p0", "plan/a-0-0#1=A* plan/a-0-1#2*", NULL },
  { "ray A0.0@p1 B0.1@p0;reserve a-0;plan pp", "ray/m-A#1=A* ray/m-B#2=B*", "would have another place" },
  /* Ray's groups are on the nodes of their machines, and move with them when sources are joined */
  { "plan ..;ray+plan A0.0 B0.1 / g A:2c1 B:4 / B:0c2",
    "plan/a-0-0#1=A* [g chips 0,1: CPU 1, TPU 2] plan/a-0-1#2=B* [g chips 0,1,2,3: TPU 4] [external/ray CPU 2]", NULL },
  { "plan ..;ray A0.0 B0.1 / g A:4c8;ray+plan A0.0 B0.1",
    "plan/a-0-0#1=A* [g chips 0,1,2,3: CPU 8, TPU 4] plan/a-0-1#2=B", NULL },
  { "plan ..;ray A0.0 B0.1 / g A:4c8;ray+plan A0.0=4 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..;ray A0.0 B0.1 / / A:2;ray+plan A0.0 B0.1 / g A:2",
    "plan/a-0-0#1=A* [external/ray chips 0,1: TPU 2] [g chips 2,3: TPU 2] plan/a-0-1#2=B", NULL },
  { "plan ..;ray A0.0 B0.1 / / A:2;ray+plan A0.0 B0.1 / g A:4",
    "plan/a-0-0#1 plan/a-0-1#2 ray/m-A#3=A* [external/ray chips 0,1: TPU 2] ray/m-B#4=B", "which has 2 left" },
  { "plan ..;ray A0.0 B0.1 / g A:4;reserve plan/a/a-0;ray+plan A0.0 B0.1 / g A:4", "plan/a-0-0#1=A* plan/a-0-1#2=B*",
    NULL },
  { "plan ..;ray+plan A0.0 B0.1 / g A:2s", "plan/a-0-0#1=A* [g chips 0,1: TPU 2, a-0 1] plan/a-0-1#2=B", NULL },
  { "plan pp;ray A1.0@p0 B1.1@p1 / g A:2s", "plan/a-0-0#1=A* [g chips 0,1: TPU 2] plan/a-0-1#2=B", NULL },
  /* external use in a fleet text is replaced by the use that a list reports */
  { "text #.;ray+text A0.0 B0.1", "text/a-0-0#1=A# text/a-0-1#2=B", NULL },
  { "text #.;ray+text A0.0 B0.1 / g A:2 / A:0c2",
    "text/a-0-0#1=A* [g chips 0,1: TPU 2] [external/ray CPU 2] text/a-0-1#2=B", NULL },
  { "text #.;ray+text A0.0 B0.1 / g A:2;ray A0.0 B0.1 /", "text/a-0-0#1=A# text/a-0-1#2=B", NULL },
  /* refused joins */
  { "plan ..;ray+nowhere A0.0", "plan/a-0-0#1 plan/a-0-1#2", "no source 'nowhere' to join" },
  { "plan ..;ray A-;other+ray B-", "plan/a-0-0#1 plan/a-0-1#2 ray/m-A#3=A", "of the same kind" },
};

/* --- random imports --- */

/* A random word of a list that ends with NULL. */
static inline const char *
any_word (GRand *random, const char *const *words)
{
  return words[g_rand_int_range (random, 0, (gint32) g_strv_length ((GStrv) words))];
}

/* Bundles on machines that the list may or may not have. */
static inline void
append_any_bundles (GString *text, GRand *random)
{
  static const char *const amounts[] = { "1", "2", "4", "0c4", "2c8", "1c1", "1s", NULL };

  for (gint n = g_rand_int_range (random, 0, 3); n > 0; n--)
    g_string_append_printf (text, " %c:%s", g_rand_int_range (random, 'A', 'I'), any_word (random, amounts));
}

static inline GString *
any_nodes (GRand *random, const char *const *others)
{
  static const char *const states[] = { "", "", "", "", "", "x", "x", "d", NULL };
  GString *text = g_string_new (NULL);

  for (char letter = 'A'; letter < 'I'; letter++)
    if (g_rand_int_range (random, 0, 3) > 0)
      g_string_append_printf (text, "%s%c%d.%d%s%s", text->len == 0 ? "" : " ", letter, g_rand_int_range (random, 0, 2),
                              g_rand_int_range (random, 0, 2), any_word (random, states), any_word (random, others));
  return text;
}

/* Machines with and without pods, whose addresses and places vary. */
static inline char *
any_cluster (GRand *random)
{
  static const char *const others[] = { "", "", "!", "!", "@7", "!@8", "@m-C", "!@m-A", NULL };

  return g_string_free (any_nodes (random, others), FALSE);
}

static inline char *
any_list (GRand *random)
{
  static const char *const others[] = { "", "", "", "", "", "", "=4", "^", "@7", "@8", NULL };
  GString *text = any_nodes (random, others);

  if (g_rand_boolean (random))
    return g_string_free (text, FALSE);
  g_string_append (text, " / g");
  append_any_bundles (text, random);
  g_string_append (text, " + h");
  append_any_bundles (text, random);
  if (g_rand_boolean (random))
    g_string_append_printf (text, " / %c:1c1", g_rand_int_range (random, 'A', 'I'));
  return g_string_free (text, FALSE);
}

static inline char *
any_plan (GRand *random)
{
  static const char *const plans[] = { "..|..", "..", ".-|..", "pp|..", "p.|-p", "", "#.|.." };

  return g_strdup (plans[g_rand_int_range (random, 0, G_N_ELEMENTS (plans))]);
}

static const struct {
  const char *verb;
  char *(*rest) (GRand *random);
} steps_of_a_walk[] = {
  { "plan", any_plan },       { "plan+ray", any_plan },    { "sync-plan", any_plan },      { "ray", any_list },
  { "ray+plan", any_list },   { "sync-ray", any_list },    { "ray+plan", any_list },       { "sync-ray", any_list },
  { "other+plan", any_list }, { "reserve a-0", NULL },     { "reserve plan/a/a-1", NULL }, { "release", NULL },
  { "divide a-0", NULL },     { "text", any_plan },        { "plan+text", any_plan },      { "ray+text", any_list },
  { "k8s", any_cluster },     { "sync-k8s", any_cluster },
};

static inline char *
any_step (GRand *random)
{
  guint which = (guint) g_rand_int_range (random, 0, G_N_ELEMENTS (steps_of_a_walk));
  g_autofree char *rest = steps_of_a_walk[which].rest == NULL ? NULL : steps_of_a_walk[which].rest (random);

  return rest == NULL ? g_strdup (steps_of_a_walk[which].verb)
                      : g_strdup_printf ("%s %s", steps_of_a_walk[which].verb, rest);
}
