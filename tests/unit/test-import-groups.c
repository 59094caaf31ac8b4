/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's own groups in the ledger: their chips, and their changes from import to import. Two verbs in addition to
 * script.h:
 *
 *   ray CLUSTER / GROUPS / USED     the changes, or "new" or "nothing"; `ray-sync` likewise with sync. "external ray
 *                                   ..." is a change of the use outside groups
 *   node NAME                       its users in the order of their names, with their shares
 *
 * CLUSTER has the format of elastic.h. GROUPS are "id name STATE host:TPU=1,CPU=2 -:TPU=4; ...", where '-' is an
 * unplaced bundle and '' an empty name. USED is "host:TPU=1 ..." for use outside groups. If the second or third part
 * is missing, that file is not given. */
#include <json-glib/json-glib.h>

#include "script.h"
#include "elastic.h"

/* --- the cluster's files --- */

/* The id that elastic.h gives host "b-2", or "b-2~1" after its first replacement. */
static char *
id_of (const char *host)
{
  return g_strdup_printf ("%056u", (guint) host[0] * 100 + (guint) (host[2] - '0') * 10
                                       + (host[3] == '~' ? (guint) (host[4] - '0') : 0));
}

/* "TPU=1,CPU=2" as a map. */
static void
append_map (GString *json, const char *takes)
{
  g_auto (GStrv) words = g_strsplit (takes, ",", -1);

  g_string_append_c (json, '{');
  for (char **word = words; *word != NULL; word++)
    {
      g_auto (GStrv) pair = g_strsplit (*word, "=", 2);

      g_string_append_printf (json, "%s\"%s\": %s", word == words ? "" : ", ", pair[0], pair[1]);
    }
  g_string_append_c (json, '}');
}

static char *
groups_file (const char *groups)
{
  g_auto (GStrv) rows = g_strsplit (groups, ";", -1);
  GString *json = g_string_new ("[");

  for (char **row = rows; *row != NULL && *g_strstrip (*row) != '\0'; row++)
    {
      g_auto (GStrv) words = g_strsplit (*row, " ", -1);

      g_string_append_printf (
          json, "%s{\"placement_group_id\": \"%s\", \"name\": \"%s\", \"state\": \"%s\", \"bundles\": [",
          row == rows ? "" : ", ", words[0], strcmp (words[1], "''") == 0 ? "" : words[1], words[2]);
      for (char **word = words + 3; *word != NULL; word++)
        {
          g_auto (GStrv) bundle = g_strsplit (*word, ":", 2);
          g_autofree char *id = *bundle[0] == '-' ? g_strdup ("") : id_of (bundle[0]);

          g_string_append_printf (json, "%s{\"node_id\": \"%s\", \"unit_resources\": ", word == words + 3 ? "" : ", ",
                                  id);
          append_map (json, bundle[1]);
          g_string_append_c (json, '}');
        }
      g_string_append (json, "]}");
    }
  return g_string_free (g_string_append_c (json, ']'), FALSE);
}

/* The amount of @resource in the words that start with "host:". */
static double
taken (const char *text, const char *host, const char *resource)
{
  g_auto (GStrv) words = g_strsplit_set (text, " ;", -1);
  gsize length = strlen (host);
  double sum = 0;

  for (char **word = words; *word != NULL; word++)
    if (strncmp (*word, host, length) == 0 && (*word)[length] == ':')
      {
        g_auto (GStrv) takes = g_strsplit (*word + length + 1, ",", -1);

        for (char **take = takes; *take != NULL; take++)
          if (g_str_has_prefix (*take, resource) && (*take)[strlen (resource)] == '=')
            sum += g_ascii_strtod (*take + strlen (resource) + 1, NULL);
      }
  return sum;
}

/* The output of `available_resources_per_node`: 4 TPU and 8 CPU per host minus the used amounts. Used-up resources
 * are missing. */
static char *
available_file (const char *cluster, const char *groups, const char *used)
{
  static const struct {
    const char *name;
    double total;
  } resources[] = { { "TPU", 4 }, { "CPU", 8 } };
  g_auto (GStrv) slices = g_strsplit (cluster, " ", -1);
  GString *json = g_string_new ("{");

  for (char **slice = slices; *slice != NULL; slice++)
    for (guint w = 0; w < ELASTIC_HOSTS; w++)
      {
        guint replaced = (*slice)[1] == '=' ? (guint) ((*slice)[2 + w] - '0') : 0;
        g_autofree char *host = replaced == 0 ? g_strdup_printf ("%c-%u", **slice, w)
                                              : g_strdup_printf ("%c-%u~%u", **slice, w, replaced);
        g_autofree char *id = id_of (host);
        const char *comma = "";

        g_string_append_printf (json, "%s\"%s\": {", json->len == 1 ? "" : ", ", id);
        for (gsize r = 0; r < G_N_ELEMENTS (resources); r++)
          {
            double left
                = resources[r].total - taken (groups, host, resources[r].name) - taken (used, host, resources[r].name);
            char number[G_ASCII_DTOSTR_BUF_SIZE];

            if (left < 0.00005)
              continue;
            g_string_append_printf (json, "%s\"%s\": %s", comma, resources[r].name,
                                    g_ascii_formatd (number, sizeof number, "%.4f", left));
            comma = ", ";
          }
        g_string_append_c (json, '}');
      }
  return g_string_free (g_string_append_c (json, '}'), FALSE);
}

static QuoitInput *
input_of (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", 3);
  g_autofree char *nodes = elastic_nodes (g_strstrip (parts[0])), *file = NULL;
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, nodes, strlen (nodes));

  if (parts[1] != NULL && *g_strstrip (parts[1]) != '?')
    {
      file = groups_file (parts[1]);
      quoit_input_set_list (input, QUOIT_LIST_RAY_GROUPS, file, strlen (file));
    }
  if (parts[1] != NULL && parts[2] != NULL)
    {
      g_autofree char *available = available_file (parts[0], parts[1], parts[2]);

      quoit_input_set_list (input, QUOIT_LIST_RAY_AVAILABLE, available, strlen (available));
    }
  return input;
}

/* --- two verbs --- */

static int
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static char *
tpu_left (const QuoitSnapshot *snapshot, uint32_t node)
{
  for (uint32_t r = 0; r < quoit_snapshot_get_node_n_resources (snapshot, node); r++)
    if (strcmp (quoit_snapshot_get_node_resource_name (snapshot, node, r), "TPU") == 0)
      return quoit_amount_format (quoit_snapshot_get_node_amount (snapshot, node, r, QUOIT_AMOUNT_AVAILABLE));
  return g_strdup ("no");
}

static char *
users_of (const QuoitSnapshot *snapshot, uint32_t node)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t u = 0; u < quoit_snapshot_get_node_n_users (snapshot, node); u++)
    {
      g_autoptr (QuoitGroup) user
          = quoit_snapshot_lookup_group_by_id (snapshot, quoit_snapshot_get_node_user_id (snapshot, node, u), NULL);
      g_autofree char *share = quoit_snapshot_dup_node_user_share (snapshot, node, u);

      g_auto (GStrv) bundles = g_strsplit (share == NULL ? "whole" : share, " + ", -1);

      for (char **bundle = bundles; *bundle != NULL; bundle++)
        g_ptr_array_add (lines, g_strdup_printf ("%s %s", quoit_group_get_name (user), *bundle));
    }
  g_ptr_array_sort (lines, by_text);
  if (quoit_snapshot_is_node_external (snapshot, node))
    {
      g_autofree char *left = tpu_left (snapshot, node);

      g_ptr_array_add (lines, g_strdup_printf ("external, %s left", left));
    }
  if (lines->len == 0)
    return g_strdup ("unused");
  g_ptr_array_add (lines, NULL);
  return g_strjoinv ("; ", (char **) lines->pdata);
}

static gboolean
show_node (const Script *script, GString *text, const char *name)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (script->ledger);
  g_autofree char *users = NULL;
  uint32_t node = 0;

  ck_assert_msg (quoit_snapshot_lookup_node (snapshot, name, &node, NULL), "no node %s", name);
  users = users_of (snapshot, node);
  g_string_append (text, users);
  return TRUE;
}

static gboolean
import_lists (Script *script, GString *text, const char *verb, const char *rest, gint64 now_ms, GError **error)
{
  QuoitInput *input = input_of (rest);
  gboolean ok
      = script_put_import (text, strcmp (verb, "ray") == 0 ? quoit_ledger_import (script->ledger, input, now_ms, error)
                                                           : quoit_ledger_sync (script->ledger, input, now_ms, error));

  quoit_input_free (input);
  return ok;
}

static gboolean
step (Script *script, GString *text, char **words, const char *rest, gint64 now_ms, GError **error)
{
  if (strcmp (words[0], "node") == 0)
    return show_node (script, text, words[1]);
  if (g_str_has_prefix (words[0], "ray"))
    return import_lists (script, text, words[0], rest, now_ms, error);
  return script_do (script, text, words, rest, now_ms, error);
}

static const ScriptFact facts[] = {
  { "an imported group has Ray's name and all chips of its hosts",
    { "0 ray a / 1 train CREATED a-0:TPU=4,CPU=1 a-1:TPU=4,CPU=1 -> new", "0 show train -> train@1 RESERVED",
      "0 node a-0 -> train chips 0,1,2,3: CPU 1, TPU 4", "0 node a-1 -> train chips 0,1,2,3: CPU 1, TPU 4",
      "0 node a-2 -> unused", "0 fits 1 -> not-now 0", "0 journal -> import: ray imported, train@1 added" } },
  { "importing the same lists again writes nothing",
    { "0 ray a b / 1 train CREATED a-0:TPU=1 a-0:TPU=0.5 a-1:TPU=4; 2 two PENDING -:TPU=4; 3 '' CREATED b-0:TPU=2 / "
      "a-2:TPU=2 b-0:TPU=1,CPU=3 -> new",
      "0 journal",
      "1s ray a b / 1 train CREATED a-0:TPU=1 a-0:TPU=0.5 a-1:TPU=4; 2 two PENDING -:TPU=4; 3 '' CREATED b-0:TPU=2 / "
      "a-2:TPU=2 b-0:TPU=1,CPU=3 -> nothing",
      "1s ray-sync a b / 3 '' CREATED b-0:TPU=2; 2 two PENDING -:TPU=4; 1 train CREATED a-0:TPU=1 a-0:TPU=0.5 "
      "a-1:TPU=4 / a-2:TPU=2 b-0:TPU=1,CPU=3 -> nothing",
      "1s ray a b -> nothing", "1s journal -> nothing" } },
  { "groups that are missing in the list are removed, and stay if there is no list",
    { "0 ray a / 1 train CREATED a-0:TPU=4; 2 other CREATED a-1:TPU=4 -> new", "0 ray a -> nothing",
      "0 ray a / 1 train CREATED a-0:TPU=4 -> group other gone", "0 show other -> NOT_FOUND", "0 node a-1 -> unused",
      "0 ray a / -> group train gone", "0 ray a / -> nothing", "0 free -> a" } },
  { "removed groups are skipped, and pending groups have no nodes",
    { "0 ray a / 1 gone REMOVED a-0:TPU=4; 2 two PENDING -:TPU=4 -:TPU=4 -> new", "0 show gone -> NOT_FOUND",
      "0 show two -> two@1 PENDING", "0 free -> a",
      "0 ray a / 2 two CREATED a-0:TPU=4 a-1:TPU=4 -> group two other bundles or state", "0 show two -> two@1 RESERVED",
      "0 node a-1 -> two chips 0,1,2,3: TPU 4",
      "0 ray a / 2 two RESCHEDULING a-0:TPU=4 -:TPU=4 -> group two other bundles or state",
      "0 show two -> two@1 RESCHEDULING", "0 node a-1 -> unused",
      "0 ray a / 2 two REMOVED a-0:TPU=4 -:TPU=4 -> group two gone" } },
  { "a group whose name is empty, in use or invalid is named by its id",
    { "0 import v6e 4x4 x1 pool=own -> new", "0 reserve mine 1 -> mine@1 RESERVED own-0",
      "0 ray a / 11 '' CREATED a-0:TPU=1; 12 mine CREATED a-0:TPU=1; 13 twin CREATED a-0:TPU=1; 14 twin CREATED "
      "a-0:TPU=1; 15 a@b CREATED a-1:TPU=1 -> new",
      "0 node a-0 -> 11 chip 0: TPU 1; 12 chip 1: TPU 1; 14 chip 3: TPU 1; twin chip 2: TPU 1",
      "0 node a-1 -> 15 chip 0: TPU 1", "0 release mine -> ok",
      "0 ray a / 11 '' CREATED a-0:TPU=1; 12 mine CREATED a-0:TPU=1; 13 twin CREATED a-0:TPU=1; 14 twin CREATED "
      "a-0:TPU=1; 15 a@b CREATED a-1:TPU=1 -> nothing",
      "0 show 12 -> 12@3 RESERVED" } },
  { "of two new groups only one gets a name, even if it is the id of the other",
    { "0 ray a / 11 12 CREATED a-0:TPU=1; 12 '' CREATED a-0:TPU=1 -> new",
      "0 ray a / 11 12 CREATED a-0:TPU=1; 12 '' CREATED a-0:TPU=1 -> nothing" } },
  { "a new group can have the name of a group that the same import removes",
    { "0 ray a / 11 train CREATED a-0:TPU=1 -> new", "0 ray a / 12 train CREATED a-0:TPU=1", "0 node a-0 -> train chip",
      "0 ray a / 12 train CREATED a-0:TPU=1 -> nothing" } },
  { "only its source can change a group of a source",
    { "0 ray a / 1 train CREATED a-0:TPU=4 -> new", "0 journal",
      "0 release train -> CONFLICT group 'train@1' belongs to source 'ray'",
      "0 release train@1 -> CONFLICT group 'train@1' belongs to source 'ray'",
      "0 confirm train -> CONFLICT group 'train@1' belongs to source 'ray'",
      "0 renew train 10s -> CONFLICT group 'train@1' belongs to source 'ray'",
      "0 resize train 2 -> CONFLICT group 'train@1' belongs to source 'ray'",
      "0 repair train -> CONFLICT group 'train@1' belongs to source 'ray'",
      "0 drop train a -> CONFLICT group 'train@1' belongs to source 'ray'", "0 forget train@1 -> CONFLICT",
      "0 reserve train 1 -> CONFLICT there is a group 'train' already", "0 owner-end ray -> NOT_FOUND",
      "0 journal -> nothing" } },
  { "owner-end does not end groups of a source",
    { "0 ray a b / 1 train CREATED a-0:TPU=4 -> new", "0 reserve mine 1 owner=me -> mine@2 RESERVED b",
      "0 owner-end me -> 1", "0 show train -> train@1 RESERVED" } },
  { "a group keeps its chips while it stays on its host",
    { "0 ray a / 1 one CREATED a-0:TPU=1; 2 two CREATED a-0:TPU=1; 3 half CREATED a-0:TPU=0.5 -> new",
      "0 node a-0 -> half 0.5 of chip 2: TPU 0.5; one chip 0: TPU 1; two chip 1: TPU 1",
      "0 ray a / 4 new CREATED a-0:TPU=1; 3 half CREATED a-0:TPU=0.5; 2 two CREATED a-0:TPU=1 -> group new new; group "
      "one gone",
      "0 node a-0 -> half 0.5 of chip 2: TPU 0.5; new chip 0: TPU 1; two chip 1: TPU 1",
      "0 ray a / 3 half CREATED a-0:TPU=0.5; 5 whole CREATED a-0:TPU=2 -> group whole new; group two gone; group new "
      "gone",
      "0 node a-0 -> half 0.5 of chip 2: TPU 0.5; whole chips 0,1: TPU 2" } },
  { "a group that moves has only its new hosts",
    { "0 ray a / 1 one CREATED a-0:TPU=4 a-1:TPU=4 -> new",
      "0 ray a / 1 one CREATED a-1:TPU=4 a-2:TPU=4 -> group one other bundles or state", "0 node a-0 -> unused",
      "0 node a-1 -> one chips 0,1,2,3: TPU 4", "0 node a-2 -> one chips 0,1,2,3: TPU 4",
      "0 show one -> one@1 RESERVED" } },
  { "two groups can swap their hosts in one import",
    { "0 ray a / 1 one CREATED a-0:TPU=4; 2 two CREATED a-1:TPU=4 -> new",
      "0 ray a / 1 one CREATED a-1:TPU=4; 2 two CREATED a-0:TPU=4 -> group one other",
      "0 node a-0 -> two chips 0,1,2,3: TPU 4", "0 node a-1 -> one chips 0,1,2,3: TPU 4" } },
  { "a group with another amount on the same host gets other chips",
    { "0 ray a / 1 one CREATED a-0:TPU=2; 2 two CREATED a-0:TPU=1 -> new",
      "0 ray a / 1 one CREATED a-0:TPU=3; 2 two CREATED a-0:TPU=1 -> group one other",
      "0 node a-0 -> one chips 0,1,3: TPU 3; two chip 2: TPU 1",
      "0 ray a / 1 one CREATED a-0:TPU=0.5; 2 two CREATED a-0:TPU=1 -> group one other",
      "0 node a-0 -> one 0.5 of chip 0: TPU 0.5; two chip 2: TPU 1" } },
  { "fractions share a chip if they fit, in any order of the list",
    { "0 ray a / 1 p CREATED a-0:TPU=0.5 a-0:TPU=0.5 a-0:TPU=0.5 -> new",
      "0 node a-0 -> p 0.5 of chip 0: TPU 0.5; p 0.5 of chip 0: TPU 0.5; p 0.5 of chip 1: TPU 0.5",
      "0 ray a / 2 q CREATED a-0:TPU=0.4 a-0:TPU=0.4 a-0:TPU=0.4 a-0:TPU=0.4 a-0:TPU=0.6 a-0:TPU=0.6 a-0:TPU=0.6 "
      "a-0:TPU=0.6 -> group q new; group p gone",
      "0 fits 1 -> not-now 0",
      "0 ray a / 2 q CREATED a-0:TPU=0.4 a-0:TPU=0.4 a-0:TPU=0.4 a-0:TPU=0.4 a-0:TPU=0.6 a-0:TPU=0.6 a-0:TPU=0.6 "
      "a-0:TPU=0.6 -> nothing",
      "0 ray a / 3 r CREATED a-0:TPU=0.3 a-0:TPU=0.3; 4 s CREATED a-0:TPU=0.3 a-0:TPU=0.7 a-0:TPU=0.7 a-0:TPU=0.7 "
      "a-0:TPU=1 -> group r new" } },
  { "use that no group explains is external and cannot be reserved",
    { "0 ray a b / / a-0:TPU=1 a-1:TPU=4,CPU=2 a-2:CPU=1 -> new", "0 node a-0 -> external, 3 left",
      "0 node a-1 -> external, 0 left", "0 node a-2 -> external, 4 left", "0 free -> b", "0 fits 2 -> not-now 1",
      "0 show external/ray -> NOT_FOUND", "0 release external/ray -> NOT_FOUND",
      "0 ray a b / / a-0:TPU=1 a-1:TPU=4,CPU=2 a-2:CPU=1 -> nothing",
      "0 ray a b / / a-0:TPU=2 -> external ray use of nodes changes", "0 node a-1 -> unused",
      "0 ray a b / / -> external ray use of nodes ends", "0 free -> a,b" } },
  { "external use can be fractions of several chips",
    { "0 ray a / 1 g CREATED a-0:TPU=0.3 a-0:TPU=0.3 a-0:TPU=0.3 a-0:TPU=0.3 / a-0:TPU=2.8 -> new",
      "0 ray a / 1 g CREATED a-0:TPU=0.5 a-0:TPU=0.5 a-0:TPU=0.5 / a-0:TPU=1.5 -> group g other" } },

  { "a group of Ray on the hosts of a group of this ledger counts as that group",
    { "0 ray a b -> new", "0 reserve mine 1 slice=a -> mine@1 RESERVED a",
      "0 ray a b / 1 train CREATED a-0:TPU=4 a-1:TPU=4 a-2:TPU=4 a-3:TPU=4 -> nothing", "0 node a-0 -> mine whole",
      "0 show train -> NOT_FOUND", "0 release mine -> ok",
      "0 ray a b / 1 train CREATED a-0:TPU=4 a-1:TPU=4 a-2:TPU=4 a-3:TPU=4 -> group train new",
      "0 node a-0 -> train chips 0,1,2,3: TPU 4" } },
  { "use of hosts of a group of this ledger is not external",
    { "0 ray a b -> new", "0 reserve mine 1 slice=a -> mine@1 RESERVED a",
      "0 ray a b / / a-0:TPU=4 b-0:TPU=1 -> external ray use of nodes begins", "0 node a-0 -> mine whole",
      "0 node b-0 -> external, 3 left", "0 release mine -> ok", "0 free -> a",
      "0 ray a b / / a-0:TPU=4 b-0:TPU=1 -> external ray use of nodes changes", "0 node a-0 -> external, 0 left" } },
  { "bundles keep their chips if only a part of their group is on hosts of this ledger's group",
    { "0 ray a b -> new", "0 reserve mine 1 slice=a -> mine@1 RESERVED a",
      "0 ray a b / 1 train CREATED a-0:TPU=4 b-0:TPU=1 b-0:TPU=1 b-1:TPU=1 -> group train new",
      "0 node b-0 -> train chip 0: TPU 1; train chip 1: TPU 1",
      "0 ray a b / 1 train CREATED a-0:TPU=4 b-0:TPU=1 b-0:TPU=1 b-1:TPU=1 -> nothing",
      "0 ray a b / 2 new CREATED b-0:TPU=1; 1 train CREATED a-0:TPU=4 b-0:TPU=1 b-0:TPU=1 b-1:TPU=1 -> group new new",
      "0 node b-0 -> new chip 2: TPU 1; train chip 0: TPU 1; train chip 1: TPU 1", "0 release mine -> ok",
      "0 ray a b / 2 new CREATED b-0:TPU=1; 1 train CREATED a-0:TPU=4 b-0:TPU=1 b-0:TPU=1 b-1:TPU=1 -> group train",
      "0 node b-0 -> new chip 2: TPU 1; train chip 0: TPU 1; train chip 1: TPU 1" } },
  { "a group of Ray on the hosts of bundles of this ledger counts as their group",
    { "0 ray a b / 1 train CREATED a-0:TPU=1 -> new", "0 reserve mine 1 tpu=1 -> mine@2 RESERVED b",
      "0 ray a b / 1 train CREATED a-0:TPU=1; 2 x CREATED b-0:TPU=1 b-1:TPU=4 / b-2:TPU=4,CPU=1 -> nothing",
      "0 show x -> NOT_FOUND",
      "0 node b-2 -> mine chip 0: TPU 1; mine chip 1: TPU 1; mine chip 2: TPU 1; mine chip 3: TPU 1" } },
  { "Ray's bundles on a host count as bundles of this ledger up to their amount",
    { "0 ray a -> new", "0 reserve mine 1x{TPU=2,CPU=4} -> mine@1 RESERVED a-0/01",
      "0 ray a / 1 train CREATED a-0:TPU=2,CPU=4 -> nothing", "0 show train -> NOT_FOUND",
      "0 ray a / 1 train CREATED a-0:TPU=2,CPU=4; 2 two CREATED a-0:TPU=1 -> group two new",
      "0 node a-0 -> mine chips 0,1: CPU 4, TPU 2; two chip 2: TPU 1", "0 ray a / 2 two CREATED a-0:TPU=1 -> nothing",
      "0 ray a / 2 two CREATED a-0:TPU=1; 1 train CREATED a-0:TPU=2 -> "
      "nothing",
      "0 release mine -> ok", "0 ray a / 2 two CREATED a-0:TPU=1; 1 train CREATED a-0:TPU=2 -> group train new",
      "0 node a-0 -> train chips 0,1: TPU 2; two chip 2: TPU 1" } },
  { "groups of a source stay if bundles of this ledger are placed next to them",
    { "0 ray a / 1 train CREATED a-0:TPU=2,CPU=4 -> new",
      "0 reserve mine 2x{TPU=2,CPU=4} slice=a -> mine@2 RESERVED a-1/01+a-1/23",
      "0 reserve more 1x{TPU=1} slice=a -> more@3 RESERVED a-0/2",
      "0 ray a / 1 train CREATED a-0:TPU=2,CPU=4 -> nothing",
      "0 ray a / 1 train CREATED a-0:TPU=2,CPU=4; 3 x CREATED a-1:TPU=4,CPU=8 a-0:TPU=1 -> nothing",
      "0 node a-0 -> more chip 2: TPU 1; train chips 0,1: CPU 4, TPU 2",
      "0 ray a / 1 train CREATED a-0:TPU=2,CPU=4; 3 x CREATED a-1:TPU=4,CPU=8 a-0:TPU=1; 4 y CREATED a-0:TPU=1 -> "
      "group y "
      "new",
      "0 node a-0 -> more chip 2: TPU 1; train chips 0,1: CPU 4, TPU 2; y chip 3: TPU 1" } },
  { "a bundle can select a node by its Ray node id",
    { "0 ray a b -> new",
      "0 reserve t 1x{TPU=1;ray.io/node-id=00000000000000000000000000000000000000000000000000009710} policy=ray -> t@1 "
      "RESERVED a-1/0",
      "0 reserve u 1x{TPU=4;ray.io/node-id=!00000000000000000000000000000000000000000000000000009710} slice=a -> u@2 "
      "RESERVED a-0/0123",
      "0 reserve v 1x{TPU=4;ray.io/node-id=00000000000000000000000000000000000000000000000000009710} -> NOT_NOW",
      "0 reserve v 1x{TPU=1;ray.io/node-id=1} -> NEVER" } },
  { "a group that does not fit next to bundles of this ledger counts as their group",
    { "0 ray a -> new", "0 reserve mine 1x{TPU=4,CPU=1} -> mine@1 RESERVED a-0/0123",
      "0 ray a / 1 train CREATED a-0:TPU=4,CPU=8 -> nothing",
      "0 ray a / 1 train CREATED a-0:TPU=4,CPU=8 / a-1:TPU=4 -> "
      "external ray use of nodes begins",
      "0 node a-0 -> mine chips 0,1,2,3: CPU 1, TPU 4" } },
  { "use beyond the bundles of this ledger is external",
    { "0 ray a -> new", "0 reserve mine 1x{TPU=2} -> mine@1 RESERVED a-0/01", "0 ray a / / a-0:TPU=2 -> nothing",
      "0 ray a / / a-0:TPU=3,CPU=1 -> external ray use of nodes begins",
      "0 node a-0 -> mine chips 0,1: TPU 2; external, 1 left",
      "0 ray a / / a-0:TPU=1 -> external ray use of nodes ends",
      "0 ray a / 1 train CREATED a-0:TPU=2 / a-0:TPU=1 -> external ray use of nodes begins",
      "0 node a-0 -> mine chips 0,1: TPU 2; external, 1 left" } },
  { "groups stay if no list of groups is given, and their use is not external",
    { "0 ray a / 1 train CREATED a-0:TPU=2,CPU=1 a-1:TPU=4 / a-2:TPU=1 -> new",
      "0 ray a / ? 1 train CREATED a-0:TPU=2,CPU=1 a-1:TPU=4 / a-2:TPU=1 -> nothing",
      "0 ray a / ? 1 train CREATED a-0:TPU=2,CPU=1 a-1:TPU=4 / a-0:TPU=1 a-2:TPU=1 -> external ray use of nodes "
      "changes",
      "0 node a-0 -> train chips 0,1: CPU 1, TPU 2; external, 1 left", "0 node a-1 -> train chips 0,1,2,3: TPU 4" } },
  { "external use stays if no availability is given, and groups are placed next to it",
    { "0 ray a / 1 train CREATED a-0:TPU=1 / a-0:TPU=2 -> new",
      "0 ray a / 1 train CREATED a-0:TPU=1; 2 two CREATED a-0:TPU=1 -> group two new",
      "0 node a-0 -> train chip 0: TPU 1; two chip 1: TPU 1; external, 0 left",
      "0 ray a / 1 train CREATED a-0:TPU=1; 2 two CREATED a-0:TPU=1; 3 three CREATED a-0:TPU=1 -> INVALID group "
      "'three' "
      "takes '1' of TPU on node 'a-0', which has 0 left" } },
  { "bundles move to other chips of the host if a group needs whole chips",
    { "0 ray a / 1 A CREATED a-0:TPU=0.5; 2 B CREATED a-0:TPU=0.5; 3 C CREATED a-0:TPU=0.5; 4 D CREATED a-0:TPU=0.5 -> "
      "new",
      "0 node a-0 -> A 0.5 of chip 0: TPU 0.5; B 0.5 of chip 0: TPU 0.5; C 0.5 of chip 1: TPU 0.5; D 0.5 of chip 1: "
      "TPU "
      "0.5",
      "0 ray a / 1 A CREATED a-0:TPU=0.5; 3 C CREATED a-0:TPU=0.5; 5 E CREATED a-0:TPU=3 -> group",
      "0 node a-0 -> A 0.5 of chip 3: TPU 0.5; C 0.5 of chip 3: TPU 0.5; E chips 0,1,2: TPU 3" } },
  { "fractions are placed even if they fit in no simple order",
    { "0 ray a / 1 two CREATED a-0:TPU=2; 2 p CREATED a-0:TPU=0.5 a-0:TPU=0.4 a-0:TPU=0.3 a-0:TPU=0.3 a-0:TPU=0.3 "
      "a-0:TPU=0.2 -> new",
      "0 node a-0 -> p 0.2 of chip 2: TPU 0.2" } },
  { "an id that is not a valid name is refused", { "0 ray a / 1@2 '' CREATED a-0:TPU=4 -> INVALID" } },
  { "files of different moments are refused",
    { "0 ray a / 1 train CREATED a-0:TPU=4 -> new",
      "0 ray a / 1 train CREATED a-0:TPU=4; 2 more CREATED a-0:TPU=1 -> INVALID",
      "0 show train -> train@1 RESERVED" } },

  { "a group loses the bundles on a node that is removed",
    { "0 ray a b / 1 train CREATED a-0:TPU=4 b-0:TPU=4 -> new",
      "0 ray-sync a -> removed b-0; removed b-1; removed b-2; removed b-3", "0 show train -> train@1 RESCHEDULING",
      "0 node a-0 -> train chips 0,1,2,3: TPU 4", "0 ray-sync a -> nothing", "0 ray-sync a b -> added b-0",
      "0 show train -> train@1 RESCHEDULING", "0 node b-0 -> unused",
      "0 ray-sync a b / 1 train CREATED a-0:TPU=4 b-0:TPU=4 -> group train other",
      "0 show train -> train@1 RESERVED" } },
  { "the replacement of a host has no bundles and no external use",
    { "0 ray a b / 1 train CREATED a-0:TPU=4 b-0:TPU=4 / a-1:TPU=1 -> new", "0 reserve mine 1 slice=b -> NOT_NOW",
      "0 ray-sync a=1100 b -> added a-0; added a-1; removed a-0; removed a-1; group train", "0 node a-0 -> unused",
      "0 node a-1 -> unused", "0 show train -> train@1 RESCHEDULING", "0 free -> a" } },
  { "an allocated slice is lost with its hosts, and repair uses the hosts that replaced them",
    { "0 ray a b -> new", "0 reserve t 2 -> t@1 RESERVED a,b",
      "0 ray a b=0100 -> CONFLICT source 'ray': node 'b-1' cannot be removed: group 't@1' uses it",
      "0 ray-sync a b=0100 -> added b-1; lost b-1 (t@1); group t slice 1, b, is lost (t@1)",
      "0 show t -> t@1 RESCHEDULING a,b!", "0 fits 1 -> not-now 0",
      "0 repair t -> t@1 RESCHEDULING a,b! => t@1 RESERVED a,b", "0 ray-sync a b=0100 -> removed b-1",
      "0 ray-sync a b=0100 -> nothing", "0 repair t -> nothing",
      "0 ray-sync a b=1211 -> added b-0; added b-1; added b-2; added b-3; lost b-0 (t@1)",
      "0 show t -> t@1 RESCHEDULING a,b!", "0 reserve u 1 -> NOT_NOW",
      "0 repair t -> t@1 RESCHEDULING a,b! => t@1 RESERVED a,b", "0 ray-sync a b=1211 -> removed", "0 free -> none" } },
  { "repair uses the slice that is now in the place of the lost one, even if others are free",
    { "0 ray a b c -> new", "0 reserve t 1 slice=b slice=c slice=a -> t@1 RESERVED a", "0 ray-sync a=0010 b c",
      "0 repair t -> t@1 RESCHEDULING a! => t@1 RESERVED a", "0 free -> b,c" } },
};

START_TEST (facts_hold_in_memory) { script_run (facts[_i].what, facts[_i].lines, FALSE, step); }
END_TEST

START_TEST (facts_hold_in_a_file_reopened_before_each_line)
{
  script_run (facts[_i].what, facts[_i].lines, TRUE, step);
}
END_TEST

/* --- captures of real clusters --- */

static const struct {
  const char *nodes, *groups, *available;
} clusters[] = {
  { "gke.hold-and-wait.ray-list-nodes--format-json.json", "gke.hold-and-wait.py-placement_group_table.json",
    "gke.hold-and-wait.py-available_resources_per_node.json" },
  { "lost.one-slice-host-lost.py-ray.nodes.json", "lost.one-slice-host-lost.py-placement_group_table.json",
    "lost.one-slice-host-lost.py-available_resources_per_node.json" },
  { "mixed.both-reserved.ray-list-nodes--format-json.json",
    "mixed.both-reserved.ray-list-placement-groups--detail.yaml",
    "mixed.both-reserved.py-available_resources_per_node.json" },
  { "mixed.idle.ray-list-nodes--format-yaml.yaml", "mixed.idle.py-placement_group_table.json",
    "mixed.idle.py-available_resources_per_node.json" },
  { "plain.actor-task-and-group.py-ray.nodes.json", "plain.actor-task-and-group.py-placement_group_table.json",
    "plain.actor-task-and-group.py-available_resources_per_node.json" },
};

static char *
capture (const char *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "tests", "data", "captures", name, NULL);
  char *text = NULL;

  ck_assert_msg (g_file_get_contents (path, &text, NULL, NULL), "%s", path);
  return text;
}

static QuoitInput *
input_of_capture (guint cluster)
{
  g_autofree char *nodes = capture (clusters[cluster].nodes), *groups = capture (clusters[cluster].groups);
  g_autofree char *available = capture (clusters[cluster].available);
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, nodes, strlen (nodes));

  quoit_input_set_list (input, QUOIT_LIST_RAY_GROUPS, groups, strlen (groups));
  quoit_input_set_list (input, QUOIT_LIST_RAY_AVAILABLE, available, strlen (available));
  return input;
}

static double
resource_of (const QuoitSnapshot *snapshot, uint32_t node, const char *name, QuoitAmountPart part)
{
  for (uint32_t r = 0; r < quoit_snapshot_get_node_n_resources (snapshot, node); r++)
    if (strcmp (quoit_snapshot_get_node_resource_name (snapshot, node, r), name) == 0)
      return (double) quoit_snapshot_get_node_amount (snapshot, node, r, part).e4 / 10000;
  return 0;
}

/* The TPU of a share: "chips 0,1: CPU 1, TPU 2". */
static double
tpu_of (const char *share)
{
  const char *at = strstr (share, "TPU ");

  return at == NULL ? 0 : g_ascii_strtod (at + strlen ("TPU "), NULL);
}

static void
check_node (const QuoitSnapshot *snapshot, uint32_t node, JsonObject *available)
{
  double total = resource_of (snapshot, node, "TPU", QUOIT_AMOUNT_TOTAL);
  double left = resource_of (snapshot, node, "TPU", QUOIT_AMOUNT_AVAILABLE)
                + resource_of (snapshot, node, "TPU", QUOIT_AMOUNT_DOWN);
  double external = resource_of (snapshot, node, "TPU", QUOIT_AMOUNT_EXTERNAL), used = 0;
  g_autofree char *id = quoit_snapshot_dup_node_identity (snapshot, node);
  const char *name = quoit_snapshot_get_node_name (snapshot, node);

  for (uint32_t u = 0; u < quoit_snapshot_get_node_n_users (snapshot, node); u++)
    {
      g_autofree char *share = quoit_snapshot_dup_node_user_share (snapshot, node, u);

      ck_assert_ptr_nonnull (share);
      used += tpu_of (share);
    }
  ck_assert_msg (quoit_snapshot_is_node_external (snapshot, node) == (external > 0) && total == left + used + external,
                 "%s: %g TPU, of which %g left, %g used and %g external", name, total, left, used, external);
  if (quoit_snapshot_get_node_state (snapshot, node) == QUOIT_NODE_DEAD)
    {
      ck_assert_msg (used == 0, "%s is dead, and %g used", name, used);
      return;
    }
  ck_assert_msg (json_object_has_member (available, id), "%s: no entry for node %s", name, id);
  available = json_object_get_object_member (available, id);
  ck_assert_msg (
      left == (json_object_has_member (available, "TPU") ? json_object_get_double_member (available, "TPU") : 0),
      "%s has %g TPU left, unlike in Ray's list", name, left);
}

START_TEST (each_tpu_of_a_cluster_is_counted_once_as_free_or_used)
{
  Script script = script_begin (TRUE);
  QuoitInput *input = input_of_capture ((guint) _i);
  g_autofree char *text = capture (clusters[_i].available);
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GError) error = NULL;
  QuoitImport *import = quoit_ledger_import (script.ledger, input, T0, &error);
  uint64_t seq;

  ck_assert_ok (error);
  quoit_import_free (import);
  script_reopen (&script);
  snapshot = quoit_ledger_snapshot (script.ledger);
  seq = quoit_snapshot_get_seq (snapshot);
  ck_assert (json_parser_load_from_data (parser, text, -1, NULL));
  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    check_node (snapshot, node, json_node_get_object (json_parser_get_root (parser)));
  ck_assert (quoit_snapshot_check (snapshot, &error));

  import = quoit_ledger_sync (script.ledger, input, T0 + 1000, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_import_get_n_changes (import), 0);
  quoit_import_free (import);
  g_clear_pointer (&snapshot, quoit_snapshot_unref);
  snapshot = quoit_ledger_snapshot (script.ledger);
  ck_assert_uint_eq (quoit_snapshot_get_seq (snapshot), seq);
  quoit_input_free (input);
  script_end (&script);
}
END_TEST

/* --- a cluster that counts devices, and hosts that are replaced by others --- */

static char *
one_host (guint tpu, const char *topology)
{
  return g_strdup_printf (
      "[{\"NodeID\": \"aa\", \"Alive\": true, \"NodeName\": \"h\", \"NodeManagerAddress\": \"10.0.0.1\", "
      "\"Resources\": {\"TPU\": %u, \"CPU\": 8}, \"Labels\": {\"ray.io/tpu-slice-name\": \"s\", "
      "\"ray.io/tpu-worker-id\": \"0\", \"ray.io/tpu-topology\": \"%s\", \"ray.io/accelerator-type\": "
      "\"TPU-V6E\"}}]",
      tpu, topology);
}

static const struct {
  const char *what;
  struct {
    guint tpu, per_chip;
    const char *topology, *groups, *users;
  } imports[3];
} hosts[] = {
  { "two devices per chip",
    { { 8, 2, "2x2", "1 g CREATED a-0:TPU=2 a-0:TPU=1 a-0:TPU=3",
        "g 0.5 of chip 1: TPU 1; g chip 0: TPU 2; g chip 2 and 0.5 of chip 1: TPU 3" } } },
  { "a cluster that changes between chips and devices",
    { { 4, 1, "2x2", "1 g CREATED a-0:TPU=2", "g chips 0,1: TPU 2" },
      { 8, 2, "2x2", "1 g CREATED a-0:TPU=2", "g chip 0: TPU 2" },
      { 4, 1, "2x2", "1 g CREATED a-0:TPU=2", "g chips 0,1: TPU 2" } } },
  { "a host whose eight chips become four",
    { { 8, 1, "2x4", "1 f CREATED a-0:TPU=4; 2 g CREATED a-0:TPU=4", "f chips 0,1,2,3: TPU 4; g chips 4,5,6,7: TPU 4" },
      { 4, 1, "2x2", "2 g CREATED a-0:TPU=4", "g chips 0,1,2,3: TPU 4" } } },
  { "a fraction of a chip that no longer exists",
    { { 8, 1, "2x4", "1 f CREATED a-0:TPU=7; 2 g CREATED a-0:TPU=0.5",
        "f chips 0,1,2,3,4,5,6: TPU 7; g 0.5 of chip 7: TPU 0.5" },
      { 4, 1, "2x2", "2 g CREATED a-0:TPU=0.5", "g 0.5 of chip 0: TPU 0.5" } } },
};

START_TEST (chips_follow_the_current_resources_of_the_host)
{
  Script script = script_begin (TRUE);

  for (gsize i = 0; i < G_N_ELEMENTS (hosts[_i].imports) && hosts[_i].imports[i].tpu != 0; i++)
    {
      g_autofree char *nodes = one_host (hosts[_i].imports[i].tpu, hosts[_i].imports[i].topology);
      g_autofree char *id = id_of ("a-0"), *named = groups_file (hosts[_i].imports[i].groups);
      g_auto (GStrv) parts = g_strsplit (named, id, -1);
      g_autofree char *groups = g_strjoinv ("aa", parts), *users = NULL;
      QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, nodes, strlen (nodes));
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      g_autoptr (GError) error = NULL;
      uint32_t node = 0;

      quoit_input_set_list (input, QUOIT_LIST_RAY_GROUPS, groups, strlen (groups));
      ck_assert (quoit_input_set_tpu_per_chip (input, hosts[_i].imports[i].per_chip, NULL));
      quoit_import_free (quoit_ledger_sync (script.ledger, input, T0, &error));
      ck_assert_msg (error == NULL, "%s, import %u: %s", hosts[_i].what, (guint) i,
                     error == NULL ? "" : error->message);
      quoit_input_free (input);
      script_reopen (&script);
      snapshot = quoit_ledger_snapshot (script.ledger);
      ck_assert (quoit_snapshot_check (snapshot, &error) && quoit_snapshot_lookup_node (snapshot, "h", &node, NULL));
      users = users_of (snapshot, node);
      ck_assert_msg (strcmp (users, hosts[_i].imports[i].users) == 0, "%s, import %u: %s", hosts[_i].what, (guint) i,
                     users);
    }
  script_end (&script);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("import-groups");
  TCase *tcase = tcase_create ("import-groups");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, facts_hold_in_memory, 0, G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, facts_hold_in_a_file_reopened_before_each_line, 0, G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, each_tpu_of_a_cluster_is_counted_once_as_free_or_used, 0, G_N_ELEMENTS (clusters));
  tcase_add_loop_test (tcase, chips_follow_the_current_resources_of_the_host, 0, G_N_ELEMENTS (hosts));
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
