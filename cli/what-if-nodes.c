/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that change nodes: their states, and which nodes there are. */
#include <string.h>

#include "node-scope.h"
#include "what-if.h"

static bool
is_known_scope (const QuoitSnapshot *snapshot, char *const *words)
{
  g_auto (NodeScope) scope = { 0 };

  return node_scope_find (snapshot, words, &scope, NULL);
}

static bool
find_scope (const WhatIf *what_if, const WhatIfStep *step, NodeScope *scope, GError **error)
{
  GError *why = NULL;

  if (!what_if_check_words (step, 1, 2, "[node|slice|pool|zone] NAME", error))
    return false;
  return node_scope_find (what_if_present (what_if), step->line->words + 1, scope, &why)
         || what_if_blame_line (what_if, is_known_scope, step->line->words + 1, "removed", "nodes that are still there",
                                why, error);
}

/* --- states --- */

/* A verb that sets the states of nodes. */
typedef struct {
  const char *word, *answer;
  guint from; /* the states in which nodes change, as bits 1 << QuoitNodeState */
  QuoitNodeState to;
} StateVerb;

enum { ALIVE = 1 << QUOIT_NODE_ALIVE, DRAINING = 1 << QUOIT_NODE_DRAINING, DEAD = 1 << QUOIT_NODE_DEAD };

static const StateVerb state_verbs[] = {
  { "drain", "drains", ALIVE, QUOIT_NODE_DRAINING },
  { "undrain", "undrains", DRAINING, QUOIT_NODE_ALIVE },
  { "kill", "kills", ALIVE | DRAINING, QUOIT_NODE_DEAD },
  { "revive", "revives", DEAD, QUOIT_NODE_ALIVE },
};

static const StateVerb *
find_state_verb (const char *word)
{
  for (guint i = 0; i < G_N_ELEMENTS (state_verbs); i++)
    if (g_str_equal (state_verbs[i].word, word))
      return &state_verbs[i];
  return NULL;
}

/* A dead node cannot be drained. */
static bool
refuse_dead (const NodeScope *scope, const StateVerb *verb, GError **error)
{
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT, "%s is dead: expected alive nodes to %s, or revive it before",
               scope->name, verb->word);
  return false;
}

bool
what_if_set_states (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  const StateVerb *verb = find_state_verb (step->line->words[0]);
  const QuoitSnapshot *present = what_if_present (what_if);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_auto (NodeScope) scope = { 0 };
  guint n_dead = 0;

  if (!find_scope (what_if, step, &scope, error))
    return false;
  for (guint i = 0; i < scope.nodes->len; i++)
    {
      const uint32_t node = g_array_index (scope.nodes, uint32_t, i);
      const QuoitNodeState state = quoit_snapshot_get_node_state (present, node);

      n_dead += state == QUOIT_NODE_DEAD;
      if ((verb->from & 1u << state) != 0)
        g_ptr_array_add (names, quoit_snapshot_dup_node_full_name (present, node));
    }
  if (n_dead == scope.nodes->len && (verb->from & DEAD) == 0 && verb->to != QUOIT_NODE_DEAD)
    return refuse_dead (&scope, verb, error);
  if (names->len == 0)
    return true;
  step->answer = names->len == scope.nodes->len
                     ? g_strdup_printf ("%s %u node%s", verb->answer, names->len, what_if_plural (names->len))
                     : g_strdup_printf ("%s %u of %u nodes", verb->answer, names->len, scope.nodes->len);
  return quoit_fork_set_node_states (what_if->fork, (const char *const *) names->pdata, names->len, verb->to,
                                     what_if->now_ms, error);
}

/* --- sources --- */

/* Returns a name that no source has. */
static char *
choose_source (const QuoitSnapshot *snapshot)
{
  for (guint n = 1;; n++)
    {
      g_autofree char *name = g_strdup_printf ("what-if-%u", n);
      bool is_free = true;

      for (uint32_t i = 0; i < quoit_snapshot_get_n_sources (snapshot); i++)
        is_free &= !g_str_equal (quoit_snapshot_get_source_name (snapshot, i), name);
      if (is_free)
        return g_steal_pointer (&name);
    }
}

bool
what_if_add_source (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  g_autofree char *source = choose_source (what_if_present (what_if));
  g_autofree char *text = g_strjoinv (" ", step->line->words + 1);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  g_autoptr (QuoitImport) import = NULL;

  if (!what_if_check_words (step, 1, G_MAXUINT, "FLEET-TEXT, such as v6e 4x4 x8", error))
    return false;
  quoit_input_set_source (input, source);
  import = quoit_fork_sync (what_if->fork, input, what_if->now_ms, error);
  if (import == NULL)
    return false;
  step->answer = g_strdup_printf ("adds %u node%s of source %s", quoit_import_get_n_nodes (import),
                                  what_if_plural (quoit_import_get_n_nodes (import)), source);
  return true;
}

static QuoitSourceKind
find_source_kind (const QuoitSnapshot *snapshot, const char *source)
{
  for (uint32_t i = 0; i < quoit_snapshot_get_n_sources (snapshot); i++)
    if (g_str_equal (quoit_snapshot_get_source_name (snapshot, i), source))
      return quoit_snapshot_get_source_kind (snapshot, i);
  return (QuoitSourceKind) 0;
}

/* Returns the input of @source that removes nodes; makes it if it is new. @inputs owns it. */
static QuoitInput *
ensure_input (GHashTable *inputs, GPtrArray *sources, const char *source)
{
  QuoitInput *input = g_hash_table_lookup (inputs, source);

  if (input != NULL)
    return input;
  input = quoit_input_new_nodes ();
  quoit_input_set_source (input, source);
  g_hash_table_insert (inputs, g_strdup (source), input);
  g_ptr_array_add (sources, g_strdup (source));
  return input;
}

/* Removes the claim of each source on the node. In a manifest or fleet text, the name identifies a node. */
static bool
remove_claims (const QuoitSnapshot *present, uint32_t node, GHashTable *inputs, GPtrArray *sources, GError **error)
{
  g_autofree char *identity = quoit_snapshot_dup_node_identity (present, node);
  const char *source;

  for (uint32_t claim = 0; (source = quoit_snapshot_get_node_source (present, node, claim)) != NULL; claim++)
    {
      const QuoitSourceKind kind = find_source_kind (present, source);
      const bool has_names = kind == QUOIT_SOURCE_KIND_FLEET || kind == QUOIT_SOURCE_KIND_RAYCLUSTER;

      if (!quoit_input_remove_node (ensure_input (inputs, sources, source),
                                    has_names ? quoit_snapshot_get_node_name (present, node) : identity, error))
        return false;
    }
  return true;
}

/* A node of a group stays, as dead, until the group ends. A node stays alive if another source has it too, under an
 * identity that is not known here. */
static bool
count_kept (const QuoitSnapshot *present, const QuoitSnapshot *after, const NodeScope *scope, guint *n_kept,
            GError **error)
{
  *n_kept = 0;
  for (guint i = 0; i < scope->nodes->len; i++)
    {
      const uint32_t node = g_array_index (scope->nodes, uint32_t, i);
      const int64_t now = quoit_snapshot_find_node (after, quoit_snapshot_get_node_id (present, node));

      if (now < 0)
        continue;
      if (quoit_snapshot_get_node_state (after, (uint32_t) now) != QUOIT_NODE_DEAD)
        {
          g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT,
                       "node '%s': source '%s' has it too: expected a node of one source, or kill",
                       quoit_snapshot_get_node_name (present, node),
                       quoit_snapshot_get_node_source (after, (uint32_t) now, 0));
          return false;
        }
      ++*n_kept;
    }
  return true;
}

bool
what_if_remove_nodes (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  const QuoitSnapshot *present = what_if_present (what_if);
  g_autoptr (GHashTable) inputs
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) quoit_input_free);
  g_autoptr (GPtrArray) sources = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (QuoitSnapshot) after = NULL;
  g_auto (NodeScope) scope = { 0 };
  guint n_kept;

  if (!find_scope (what_if, step, &scope, error))
    return false;
  for (guint i = 0; i < scope.nodes->len; i++)
    if (!remove_claims (present, g_array_index (scope.nodes, uint32_t, i), inputs, sources, error))
      return false;
  for (guint i = 0; i < sources->len; i++)
    {
      g_autoptr (QuoitImport) import = quoit_fork_update_nodes (
          what_if->fork, g_hash_table_lookup (inputs, sources->pdata[i]), what_if->now_ms, error);

      if (import == NULL)
        return false;
    }
  after = quoit_fork_snapshot (what_if->fork);
  if (!count_kept (present, after, &scope, &n_kept, error))
    return false;
  step->answer = n_kept == 0
                     ? g_strdup_printf ("removes %u node%s", scope.nodes->len, what_if_plural (scope.nodes->len))
                     : g_strdup_printf ("removes %u nodes, and %u of groups stay%s as dead", scope.nodes->len - n_kept,
                                        n_kept, n_kept == 1 ? "s" : "");
  return true;
}
