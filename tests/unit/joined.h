/* SPDX-License-Identifier: Apache-2.0 */
/* Two sources of one fleet, drawn: what the ledger and the store are both held against. Each fact is a script of
 * imports and what the fleet is then. */
#pragma once

#include "suite.h"
#include "fixture.h"
#include "ledger/ledger.h"

/* --- sources, drawn --- */

static const FixturePool drawn_pool = { "a", "2x4", "z", 8, QUOIT_GENERATION_V6E, 4 };

static inline QuoitNodeState
state_of_letter (char letter)
{
  return letter == 'x' ? QUOIT_NODE_DEAD : letter == 'd' ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
}

/* Of a manifest: one letter a node of two-host slices, '.' one that is there, '-' one that is not, 'p' one whose
 * address is known, 10.0.p<number of the node>; "..|.." are two. */
static inline QuoitClaims *
plan_of (const char *drawn)
{
  g_autoptr (QuoitClaims) all = quoit_claims_new ("plan", QUOIT_SOURCE_KIND_RAYCLUSTER);
  QuoitClaims *claims = quoit_claims_new ("plan", QUOIT_SOURCE_KIND_RAYCLUSTER);
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
      node = nodes[at++];
      node.address = address;
      node.pool = quoit_claims_pool (claims, "a");
      node.kind = quoit_claims_kind (claims, quoit_claims_kind_at (all, node.kind), NULL);
      if (*p != '-')
        quoit_claims_add (claims, &node);
    }
  return claims;
}

/* Of a list of what runs: words such as "A0.1x", a machine by its letter, its slice and worker ('-': in none), its
 * state where it is not alive; "A0.1@5" is at address 10.0.0.5. Ray tells no resources of a dead machine. */
static inline QuoitClaims *
list_of (const char *source, const char *drawn)
{
  QuoitClaims *claims = quoit_claims_new (source, QUOIT_SOURCE_KIND_RAY_NODES);
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
      char letter = word[in_slice ? 4 : 2];
      QuoitNodeKind kind = *quoit_claims_kind_at (all, 0);
      QuoitNodeClaim node = { .worker_id = -1, .state = (guint8) state_of_letter (letter) };
      g_autofree char *name = NULL, *address = NULL;

      if (*word == '\0')
        continue;
      if (in_slice)
        node = nodes[2 * (word[1] - '0') + (word[3] - '0')];
      node.state = (guint8) state_of_letter (letter);
      node.name = name = g_strdup_printf ("m-%c", *word);
      node.identity = name + 2;
      node.address = address = g_strdup_printf ("10.0.%s", at == NULL ? name : at + 1);
      node.pool = quoit_claims_pool (claims, in_slice ? "a" : "default");
      kind.n_labels = 0;
      if (node.state == QUOIT_NODE_DEAD || !in_slice)
        kind = (QuoitNodeKind) { .generation = QUOIT_GENERATION_NONE };
      node.kind = quoit_claims_kind (claims, &kind, NULL);
      quoit_claims_add (claims, &node);
    }
  return claims;
}

/* --- scripts --- */

/* What the script is performed on. */
typedef struct {
  gpointer stage;
  gboolean (*change) (gpointer stage, QuoitStepFunc step, gconstpointer input, GError **error);
} Ledger;

static inline gboolean
read_source (const Ledger *ledger, QuoitStepFunc step, QuoitClaims *claims, const char *join, GError **error)
{
  gboolean ok;

  quoit_claims_set_join (claims, join);
  ok = ledger->change (ledger->stage, step, &claims, error);
  quoit_claims_free (claims);
  return ok;
}

/* "train" gets slice a-0 of the manifest, or of the list where there is no manifest. */
static inline gboolean
reserve_first (const Ledger *ledger, const char *slice, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_alloc ();

  request->name = g_strdup ("train");
  request->generation = QUOIT_GENERATION_V6E;
  request->shape = (QuoitShape) { .n_dims = 2, .dims = { 2, 4, 1 } };
  request->chips_per_host = 4;
  request->n_slices = 1;
  g_ptr_array_add (request->slices, g_strdup (slice));
  return ledger->change (ledger->stage, quoit_ledger_reserve, request, error);
}

static inline gboolean
perform (const Ledger *ledger, const char *step, GError **error)
{
  g_auto (GStrv) words = g_strsplit (step, " ", 2);
  const char *rest = words[1] == NULL ? "" : words[1];

  if (g_str_equal (words[0], "plan"))
    return read_source (ledger, quoit_ledger_import, plan_of (rest), NULL, error);
  if (g_str_equal (words[0], "plan+ray"))
    return read_source (ledger, quoit_ledger_import, plan_of (rest), "ray", error);
  if (g_str_equal (words[0], "sync-plan"))
    return read_source (ledger, quoit_ledger_sync, plan_of (rest), NULL, error);
  if (g_str_equal (words[0], "ray"))
    return read_source (ledger, quoit_ledger_import, list_of ("ray", rest), NULL, error);
  if (g_str_equal (words[0], "ray+plan"))
    return read_source (ledger, quoit_ledger_import, list_of ("ray", rest), "plan", error);
  if (g_str_equal (words[0], "ray+nowhere"))
    return read_source (ledger, quoit_ledger_import, list_of ("ray", rest), "nowhere", error);
  if (g_str_equal (words[0], "sync-ray"))
    return read_source (ledger, quoit_ledger_sync, list_of ("ray", rest), NULL, error);
  if (g_str_equal (words[0], "other+plan"))
    return read_source (ledger, quoit_ledger_import, list_of ("other", rest), "plan", error);
  if (g_str_equal (words[0], "other+ray"))
    return read_source (ledger, quoit_ledger_import, list_of ("other", rest), "ray", error);
  if (g_str_equal (words[0], "reserve"))
    return reserve_first (ledger, rest, error);
  if (g_str_equal (words[0], "drain"))
    return ledger->change (ledger->stage, quoit_ledger_set_state, &(QuoitStateChange) { rest, QUOIT_VERB_DRAIN, 0 },
                           error);
  ck_assert_str_eq (words[0], "release");
  return ledger->change (ledger->stage, quoit_ledger_release, &(QuoitGroupRef) { "train", 0 }, error);
}

/* "plan/a-0-0#1=A" a node, with a letter behind it for a state, and '*' for each user. */
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
                              quoit_fleet_node_user (fleet, node) == NULL ? "" : "*");
    }
  return g_string_free (text, FALSE);
}

static const struct {
  const char *script;
  const char *fleet;
  const char *refusal; /* of the last step, which then changes nothing; NULL: it is taken */
} facts[] = {
  /* without a word sources stay apart, whatever their places are called */
  { "plan ..;ray A0.0 B0.1", "plan/a-0-0#1 plan/a-0-1#2 ray/m-A#3=A ray/m-B#4=B", NULL },
  /* one node with two claims */
  { "plan ..;ray+plan A0.0 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "ray A0.0 B0.1;plan+ray ..", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "ray A0.0 B0.1;plan ..;ray+plan A0.0 B0.1", "plan/a-0-0#3=A plan/a-0-1#4=B", NULL },
  { "ray A0.0 B0.1;plan ..;plan+ray ..", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;plan ..;ray A0.0 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  /* what one has beside the other is its own */
  { "plan ..|..;ray+plan A0.0 B0.1 C1.0 H-", "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4 ray/m-H#5=H",
    NULL },
  { "plan ..;ray+plan A0.0 B0.1 C1.0", "plan/a-0-0#1=A plan/a-0-1#2=B ray/m-C#3=C", NULL },
  { "plan ..;ray+plan H- I-", "plan/a-0-0#1 plan/a-0-1#2 ray/m-H#3=H ray/m-I#4=I", NULL },
  /* joined once, they stay so: what comes in an old place is found */
  { "plan ..|..;ray+plan A0.0 B0.1;ray A0.0 B0.1 C1.0 D1.1",
    "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4=D", NULL },
  { "plan ..;ray+plan A0.0 B0.1;plan ..|..;ray A0.0 B0.1 C1.0",
    "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4", NULL },
  /* states are those of the source that sees them */
  { "plan ..;ray+plan A0.0x B0.1d", "plan/a-0-0#1=Ax plan/a-0-1#2=Bd", NULL },
  { "plan ..;ray+plan A0.0 B0.1;ray A0.0x B0.1", "plan/a-0-0#1=Ax plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0x B0.1;plan ..;ray A0.0 B0.1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..;drain a-0-0;ray+plan A0.0 B0.1", "plan/a-0-0#1=Ad plan/a-0-1#2=B", NULL },
  /* the dead keep no place from the living */
  { "plan ..;ray+plan A0.0x B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B ray/m-A#3=Ax", NULL },
  { "plan ..;ray+plan A0.0 B0.1;ray A0.0x B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B ray/m-A#3=Ax", NULL },
  { "plan ..;ray+plan A0.0 B0.1;ray B0.1 C0.0", "plan/a-0-0#1=C plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0x B0.1 C0.0x", "plan/a-0-0#1=Ax plan/a-0-1#2=B ray/m-C#3=Cx", NULL },
  { "ray A0.0x B0.1 C0.0;plan+ray ..", "plan/a-0-0#3=C plan/a-0-1#2=B ray/m-A#1=Ax", NULL },
  /* a claim goes, and the node with the last of them */
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
  /* a held node is never another machine than it was */
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;ray A0.0x B0.1 C0.0", "plan/a-0-0#1=Ax* plan/a-0-1#2=B* ray/m-C#3=C",
    NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;ray B0.1 C0.0", "plan/a-0-0#1=A* plan/a-0-1#2=B*", "would go" },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;ray B0.1", "plan/a-0-0#1=A* plan/a-0-1#2=B*", "would go" },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;plan ", "plan/a-0-0#1=A* plan/a-0-1#2=B*", "would go" },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1", "plan/a-0-0#1=Ax* plan/a-0-1#2=B*", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1 C0.0", "plan/a-0-0#1=Ax* plan/a-0-1#2=B* ray/m-C#3=C", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1 C0.0;release;sync-ray B0.1 C0.0",
    "plan/a-0-0#1=C plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1;release;ray B0.1", "plan/a-0-0#1 plan/a-0-1#2=B", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-ray B0.1;sync-ray A0.0 B0.1", "plan/a-0-0#1=A* plan/a-0-1#2=B*",
    NULL },
  /* a manifest that lacks it leaves the machine alone */
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-plan ", "plan/a-0-0#1=A* plan/a-0-1#2=B*", NULL },
  { "plan ..;ray+plan A0.0 B0.1;reserve a-0;sync-plan ;release;sync-plan ", "ray/m-A#1=A ray/m-B#2=B", NULL },
  /* what one source alone has becomes another where it stands */
  { "plan ..;ray+plan A0.0 B0.1 C1.0;ray A0.0 B0.1 C1.0d", "plan/a-0-0#1=A plan/a-0-1#2=B ray/m-C#3=Cd", NULL },
  { "plan ..;ray+plan A0.0 B0.1 C1.0;ray A0.0 B0.1 D1.0", "plan/a-0-0#1=A plan/a-0-1#2=B ray/m-D#4=D", NULL },
  { "plan ..;ray+plan A0.0 B0.1 C1.0;ray A0.0d B0.1 C1.0@4", "plan/a-0-0#1=Ad plan/a-0-1#2=B ray/m-C#3=C", NULL },
  { "plan ..|.-;ray+plan A0.0 B0.1 C1.1;plan pp|p-", "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3 ray/m-C#4=C", NULL },
  /* one claim a kind */
  { "plan ..;ray+plan A0.0 B0.1;other+plan C0.0", "other/m-C#3=C plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan ..|..;ray+plan A0.0 B0.1;other+plan C1.0 D1.1", "plan/a-0-0#1=A plan/a-0-1#2=B plan/a-1-0#3=C plan/a-1-1#4=D",
    NULL },
  { "plan ..;ray+plan A0.0 B0.1;other+plan A0.0", "plan/a-0-0#1=A plan/a-0-1#2=B", "claims already, as 'm-A'" },
  /* one address is one machine, as long as it lives */
  { "plan pp;ray A0.0@p0 B0.1@p1", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "ray A0.0@p0 B0.1@p1;plan pp", "plan/a-0-0#1=A plan/a-0-1#2=B", NULL },
  { "plan pp;ray A-@p1 B1.1@p0 C-@p7", "plan/a-0-0#1=B plan/a-0-1#2=A ray/m-C#3=C", NULL },
  { "plan pp;ray A-x@p0 B-@p1", "plan/a-0-0#1 plan/a-0-1#2=B ray/m-A#3=Ax", NULL },
  { "plan pp;ray A0.0x@p5 B0.1@p1", "plan/a-0-0#1=Ax plan/a-0-1#2=B", NULL },
  { "plan pp;ray A0.0@p0;reserve a-0;ray A0.0x@p0 C-@p0", "plan/a-0-0#1=Ax* plan/a-0-1#2* ray/m-C#3=C", NULL },
  { "plan pp;reserve a-0;ray A0.1@p0", "plan/a-0-0#1=A* plan/a-0-1#2*", NULL },
  { "ray A0.0@p1 B0.1@p0;reserve a-0;plan pp", "ray/m-A#1=A* ray/m-B#2=B*", "would stand in another place" },
  /* what cannot be joined */
  { "plan ..;ray+nowhere A0.0", "plan/a-0-0#1 plan/a-0-1#2", "no source 'nowhere' to join" },
  { "plan ..;ray A-;other+ray B-", "plan/a-0-0#1 plan/a-0-1#2 ray/m-A#3=A", "of the same kind" },
};

/* --- any imports --- */

static inline char *
any_list (GRand *random)
{
  GString *text = g_string_new (NULL);

  for (char letter = 'A'; letter < 'I'; letter++)
    if (g_rand_int_range (random, 0, 3) > 0)
      g_string_append_printf (text, "%s%c%d.%d%s", text->len == 0 ? "" : " ", letter, g_rand_int_range (random, 0, 2),
                              g_rand_int_range (random, 0, 2),
                              g_rand_int_range (random, 0, 4) == 0   ? "x"
                              : g_rand_int_range (random, 0, 5) == 0 ? "d"
                                                                     : "");
  return g_string_free (text, FALSE);
}

static inline char *
any_plan (GRand *random)
{
  static const char *const plans[] = { "..|..", "..", ".-|..", "pp|..", "p.|-p", "" };

  return g_strdup (plans[g_rand_int_range (random, 0, G_N_ELEMENTS (plans))]);
}

static const struct {
  const char *verb;
  char *(*rest) (GRand *random);
} steps_of_a_walk[] = {
  { "plan", any_plan },       { "plan+ray", any_plan }, { "sync-plan", any_plan },      { "ray", any_list },
  { "ray+plan", any_list },   { "sync-ray", any_list }, { "ray+plan", any_list },       { "sync-ray", any_list },
  { "other+plan", any_list }, { "reserve a-0", NULL },  { "reserve plan/a/a-1", NULL }, { "release", NULL },
};

static inline char *
any_step (GRand *random)
{
  guint which = (guint) g_rand_int_range (random, 0, G_N_ELEMENTS (steps_of_a_walk));
  g_autofree char *rest = steps_of_a_walk[which].rest == NULL ? NULL : steps_of_a_walk[which].rest (random);

  return rest == NULL ? g_strdup (steps_of_a_walk[which].verb)
                      : g_strdup_printf ("%s %s", steps_of_a_walk[which].verb, rest);
}
