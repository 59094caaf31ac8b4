/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of whole clusters: all forms of one state give the same result, and damage in a file is detected. */
#include <json-glib/json-glib.h>

#include "ray-suite.h"

#define NODES "ray-list-nodes--detail--format-json.json"
#define NODE_OBJECTS "py-ray.nodes.json"
#define GROUPS "ray-list-placement-groups--detail--format-json.json"
#define TABLE "py-placement_group_table.json"
#define AVAILABLE "py-available_resources_per_node.json"
#define PLAIN "plain.actor-task-and-group"
#define LOST "lost.one-slice-host-lost"

static const char *const node_forms[] = { NODES, NODE_OBJECTS, "ray-list-nodes--format-json.json",
                                          "ray-list-nodes--detail.yaml", "ray-list-nodes--format-yaml.yaml" };
static const char *const group_forms[] = { GROUPS, "ray-list-placement-groups--detail.yaml", TABLE };

#define TRAIN_A                                                                                                        \
  "71fd 'train-a' RESERVED 127.0.0.6 CPU=1 TPU=4, 127.0.0.9 CPU=1 TPU=4, 127.0.0.7 CPU=1 TPU=4, 127.0.0.8 CPU=1 TPU=4"
#define TRAIN_B                                                                                                        \
  "77ca 'train-b' RESERVED 127.0.0.2 CPU=1 TPU=4, 127.0.0.3 CPU=1 TPU=4, 127.0.0.4 CPU=1 TPU=4, "                      \
  "127.0.0.5 CPU=1 TPU=4, 127.0.0.7 CPU=1 TPU=4, 127.0.0.8 CPU=1 TPU=4, 127.0.0.9 CPU=1 TPU=4, 127.0.0.6 CPU=1 TPU=4"

/* Ray's own report of each state. The plain cluster runs an actor and two tasks outside any group. */
static const struct {
  const char *state, *groups, *external;
  unsigned n_forms; /* number of captured pairs of forms */
} clusters[] = {
  { "gke.idle", "", "", 15 },
  { "gke.one-reserved", "359a '' RESERVED 127.0.0.6 TPU-v6e-16-head=1; " TRAIN_A, "", 15 },
  { "gke.two-reserved",
    TRAIN_B "; a44a '' RESERVED 127.0.0.6 TPU-v6e-16-head=1; cac0 '' RESERVED 127.0.0.2 TPU-v6e-16-head=1", "", 4 },
  { "gke.hold-and-wait",
    "359a '' RESERVED 127.0.0.6 TPU-v6e-16-head=1; " TRAIN_A
    "; a44a '' PENDING - TPU-v6e-16-head=1; cac0 '' RESERVED 127.0.0.2 TPU-v6e-16-head=1",
    "", 15 },
  { LOST,
    "43a8 'train-a' RESCHEDULING 127.0.0.5 CPU=1 TPU=4, - CPU=1 TPU=4, 127.0.0.2 CPU=1 TPU=4, 127.0.0.3 CPU=1 TPU=4; "
    "d567 '' RESERVED 127.0.0.2 TPU-v6e-16-head=1",
    "", 15 },
  { "mixed.idle", "", "", 15 },
  { "mixed.both-reserved",
    "4baf 'v4-job' RESERVED 127.0.0.3 CPU=1 TPU=4, 127.0.0.2 CPU=1 TPU=4; "
    "63c9 'v5e-job' RESERVED 127.0.0.6 CPU=1 TPU=8; e54b '' RESERVED 127.0.0.2 TPU-v4-16-head=1",
    "", 15 },
  { PLAIN,
    "922a 'train' RESERVED 127.0.0.6 CPU=1 TPU=4, 127.0.0.7 CPU=1 TPU=4; c942 '' RESERVED 127.0.0.6 TPU-v4-16-head=1",
    "127.0.0.2 CPU=1 TPU=1; 127.0.0.3 CPU=1 TPU=4; 127.0.0.5 CPU=1 TPU=1", 4 },
};

/* Returns whether the forms exist; their results must equal the expected ones. */
static gboolean
check_forms (guint cluster, const char *node_form, const char *group_form)
{
  g_autofree char *nodes = capture_text (clusters[cluster].state, node_form);
  g_autofree char *groups = capture_text (clusters[cluster].state, group_form);
  g_autofree char *available = capture_text (clusters[cluster].state, AVAILABLE);
  g_autofree char *seen_groups = NULL, *seen_external = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  GError *error = NULL;

  if (nodes == NULL || groups == NULL || available == NULL)
    return FALSE;
  claims = read_texts (nodes, groups, available, &error);
  ck_assert_msg (error == NULL, "%s %s %s: %s", clusters[cluster].state, node_form, group_form,
                 error == NULL ? "" : error->message);
  seen_groups = groups_as_text (claims);
  seen_external = external_as_text (claims);
  ck_assert_msg (g_str_equal (seen_groups, clusters[cluster].groups), "%s %s %s: %s", clusters[cluster].state,
                 node_form, group_form, seen_groups);
  ck_assert_msg (g_str_equal (seen_external, clusters[cluster].external), "%s %s %s: %s", clusters[cluster].state,
                 node_form, group_form, seen_external);
  return TRUE;
}

START_TEST (all_forms_of_a_cluster_give_the_same_groups_and_external_use)
{
  unsigned n = 0;

  for (guint i = 0; i < G_N_ELEMENTS (node_forms); i++)
    for (guint j = 0; j < G_N_ELEMENTS (group_forms); j++)
      n += check_forms ((guint) _i, node_forms[i], group_forms[j]);
  ck_assert_uint_eq (n, clusters[_i].n_forms);
}
END_TEST

START_TEST (captures_in_this_tree_cover_every_group_state)
{
  ck_assert (check_forms (7, NODES, GROUPS) && check_forms (7, NODE_OBJECTS, TABLE));
  ck_assert (check_forms (4, "ray-list-nodes--detail.yaml", "ray-list-placement-groups--detail.yaml"));
  ck_assert (check_forms (3, "ray-list-nodes--format-json.json", TABLE));
  ck_assert (check_forms (5, "ray-list-nodes--format-yaml.yaml", GROUPS));
}
END_TEST

/* The three texts of one cluster; one of them is broken. */
typedef struct {
  char *texts[3]; /* nodes, groups, available */
  guint broken;
} Texts;

static const char *const names[] = { "nodes", "groups", "available" };

static void
clear_texts (Texts *texts)
{
  for (guint i = 0; i < G_N_ELEMENTS (texts->texts); i++)
    g_free (texts->texts[i]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, clear_texts)

/* Reads with @text in place of the broken one. Returns whether it was refused; a refusal must have a position. */
static gboolean
is_refused (const Texts *texts, const char *text)
{
  const char *all[] = { texts->texts[0], texts->texts[1], texts->texts[2] };
  GError *error = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  g_autoptr (GError) owned = NULL;

  all[texts->broken] = text;
  claims = read_texts (all[0], all[1], all[2], &error);
  owned = error;
  ck_assert_msg ((claims == NULL) == (error != NULL), "%s", text);
  if (claims != NULL)
    return FALSE;
  ck_assert_int_eq (error->code, QUOIT_ERROR_INVALID);
  ck_assert (g_utf8_validate (error->message, -1, NULL));
  ck_assert_msg (strstr (error->message, ": expected ") != NULL
                     || strstr (error->message, ": the files are from") != NULL,
                 "%s", error->message);
  ck_assert_msg (g_str_has_prefix (error->message, "nodes: ") || g_str_has_prefix (error->message, "groups: ")
                     || g_str_has_prefix (error->message, "available: "),
                 "%s", error->message);
  return TRUE;
}

typedef struct {
  JsonObject *object;
  const char *name;
  guint depth;
} Member;

static void
collect (JsonNode *node, guint depth, GArray *members)
{
  if (JSON_NODE_HOLDS_ARRAY (node))
    for (guint i = 0; i < json_array_get_length (json_node_get_array (node)); i++)
      collect (json_array_get_element (json_node_get_array (node), i), depth + 1, members);
  else if (JSON_NODE_HOLDS_OBJECT (node))
    {
      JsonObjectIter iter;
      Member member = { .object = json_node_get_object (node), .depth = depth };
      JsonNode *value;

      json_object_iter_init (&iter, member.object);
      while (json_object_iter_next (&iter, &member.name, &value))
        {
          member.name = g_intern_string (member.name);
          g_array_append_val (members, member);
          collect (value, depth + 1, members);
        }
    }
}

/* Clusters, and which of their texts is broken; required members by name, or by depth if their names vary. */
static const struct {
  const char *state, *nodes, *groups;
  guint broken;
  const char *needed; /* separated by spaces */
  guint needed_depth;
} breakable[] = {
  { PLAIN, NODE_OBJECTS, GROUPS, 0, " NodeID ", G_MAXUINT },
  { PLAIN, NODES, GROUPS, 0, " node_id state ", G_MAXUINT },
  { PLAIN, NODE_OBJECTS, GROUPS, 1, " state bundles unit_resources node_id ", G_MAXUINT },
  { LOST, NODE_OBJECTS, GROUPS, 1, " state bundles unit_resources node_id ", G_MAXUINT },
  { PLAIN, NODE_OBJECTS, TABLE, 1, " placement_group_id state bundles bundles_to_node_id 0 1 ", G_MAXUINT },
  { LOST, NODE_OBJECTS, TABLE, 1, " placement_group_id state bundles bundles_to_node_id 0 1 2 3 ", G_MAXUINT },
  { PLAIN, NODE_OBJECTS, GROUPS, 2, "", 0 },
};

static Texts
texts_of (guint row)
{
  Texts texts = { .broken = breakable[row].broken };

  texts.texts[0] = capture_text (breakable[row].state, breakable[row].nodes);
  texts.texts[1] = capture_text (breakable[row].state, breakable[row].groups);
  texts.texts[2] = capture_text (breakable[row].state, AVAILABLE);
  for (guint i = 0; i < G_N_ELEMENTS (texts.texts); i++)
    ck_assert_msg (texts.texts[i] != NULL, "%s: no %s", breakable[row].state, names[i]);
  return texts;
}

static gboolean
is_needed (guint row, const Member *member)
{
  g_autofree char *word = g_strdup_printf (" %s ", member->name);

  return member->depth == breakable[row].needed_depth || strstr (breakable[row].needed, word) != NULL;
}

/* Writes the tree with the member replaced by @value or removed, and restores the tree. */
static char *
with_member (JsonNode *root, const Member *member, JsonNode *value)
{
  JsonNode *kept = json_object_dup_member (member->object, member->name);
  char *text;

  if (value == NULL)
    json_object_remove_member (member->object, member->name);
  else
    json_object_set_member (member->object, member->name, value);
  text = json_to_string (root, FALSE);
  json_object_set_member (member->object, member->name, kept);
  return text;
}

START_TEST (missing_member_is_refused_if_required)
{
  g_auto (Texts) texts = texts_of ((guint) _i);
  g_autoptr (JsonNode) root = json_from_string (texts.texts[texts.broken], NULL);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (Member));

  ck_assert (!is_refused (&texts, texts.texts[texts.broken]));
  collect (root, 0, members);
  ck_assert_uint_gt (members->len, 20);
  for (guint i = 0; i < members->len; i++)
    {
      const Member *member = &g_array_index (members, Member, i);
      g_autofree char *text = with_member (root, member, NULL);
      gboolean refused = is_refused (&texts, text);

      ck_assert_msg (refused || !is_needed ((guint) _i, member), "without %s: %s", member->name, text);
    }
}
END_TEST

START_TEST (member_of_wrong_type_is_refused_if_required)
{
  static const char *const values[]
      = { "true", "-1", "[]", "[[]]", "null", "\"x\"", "{}", "{\"x\": 1}", "1e300", "0.00001" };
  enum { ALWAYS_WRONG = 4 };
  g_auto (Texts) texts = texts_of ((guint) _i);
  g_autoptr (JsonNode) root = json_from_string (texts.texts[texts.broken], NULL);
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (Member));

  collect (root, 0, members);
  for (guint i = 0; i < members->len; i++)
    for (guint j = 0; j < G_N_ELEMENTS (values); j++)
      {
        const Member *member = &g_array_index (members, Member, i);
        g_autofree char *text = with_member (root, member, json_from_string (values[j], NULL));
        gboolean refused = is_refused (&texts, text);

        ck_assert_msg (refused || j >= ALWAYS_WRONG || !is_needed ((guint) _i, member), "%s of %s: %s", member->name,
                       values[j], text);
      }
}
END_TEST

START_TEST (truncated_text_is_refused)
{
  g_auto (Texts) texts = texts_of ((guint) _i);
  char *text = texts.texts[texts.broken];
  gsize length = strlen (g_strchomp (text));

  for (gsize cut = 0; cut < length; cut += 1 + length / 1500)
    {
      g_autofree char *part = g_strndup (text, cut);

      ck_assert_msg (is_refused (&texts, part), "%s", part);
    }
}
END_TEST

START_TEST (truncated_or_damaged_yaml_gives_no_partial_result)
{
  Texts texts = { .broken = 1 };
  g_autofree char *text = capture_text (LOST, "ray-list-placement-groups--detail.yaml");
  gsize length = strlen (text);

  texts.texts[0] = capture_text (LOST, NODE_OBJECTS);
  texts.texts[2] = capture_text (LOST, AVAILABLE);
  for (gsize i = 0; i < length; i++)
    {
      g_autofree char *part = g_strndup (text, i), *damaged = g_strdup (text);

      is_refused (&texts, part);
      damaged[i] = "x -:'[{\n"[i % 8];
      is_refused (&texts, damaged);
    }
  clear_texts (&texts);
}
END_TEST

static char *
replaced (const char *text, const char *from, const char *to)
{
  const char *at = strstr (text, from);

  ck_assert_msg (at != NULL, "no %s", from);
  return g_strdup_printf ("%.*s%s%s", (int) (at - text), text, to, at + strlen (from));
}

START_TEST (files_that_contradict_each_other_are_refused)
{
  g_autofree char *nodes = capture_text (PLAIN, NODE_OBJECTS), *groups = capture_text (PLAIN, GROUPS);
  g_autofree char *available = capture_text (PLAIN, AVAILABLE);
  g_autofree char *other_nodes = capture_text (LOST, NODE_OBJECTS), *other_groups = capture_text (LOST, GROUPS);
  g_autofree char *other_available = capture_text (LOST, AVAILABLE);
  g_autofree char *dead = replaced (nodes, "\"Alive\": true", "\"Alive\": false");
  g_autofree char *twice = replaced (nodes, "aa5616425c9e0434a43a688600e6411c8d1be80e422628e5349e4ec1",
                                     "d7ec664866366abd3f87b3d6bac66dc269ea376a8c6a2c8cbfa2c6f8");
  g_autofree char *group_twice
      = replaced (groups, "{\"placement_group_id\": \"922a44b9d82119ba90e33f85815001000000\", \"name\"",
                  "{\"placement_group_id\": \"c942a9370a57d4a49a1132a0a65201000000\", \"name\"");
  g_autofree char *freed = replaced (available, "\"TPU_group_0_922a44b9d82119ba90e33f85815001000000\"", "\"TPU\"");
  const struct {
    const char *nodes, *groups, *available, *message;
  } files[] = {
    { nodes, other_groups, available,
      "groups: $[0].bundles[0].node_id: node '17ac65915be38ad25726b19f28e8e7d26a516e4a" },
    { other_nodes, groups, other_available, "groups: $[0].bundles[0].node_id: node 'd7ec66" },
    { nodes, groups, other_available,
      "available: $.f18247dfdb8b0ce3c8a9914dba3f7f99fcd8292b9314745344883a61: node 'f18" },
    { nodes, "[]", other_available,
      "available: $.f18247dfdb8b0ce3c8a9914dba3f7f99fcd8292b9314745344883a61: node 'f18" },
    { twice, groups, available, "nodes: $[1]: node id 'd7ec66" },
    { nodes, group_twice, available, "groups: $[1]: placement group 'c942a9370a57d4a49a1132a0a65201000000': expected" },
    { nodes, groups, freed,
      "available: $.d7ec664866366abd3f87b3d6bac66dc269ea376a8c6a2c8cbfa2c6f8.TPU: '4': expected" },
    { nodes, "[", available, "groups: line 1" },
  };

  GError *error = NULL;
  /* The node died after the availability was recorded, so its availability is ignored. */
  g_autoptr (QuoitClaims) claims = read_texts (dead, groups, available, &error);

  ck_assert_ok (error);
  ck_assert_ptr_nonnull (claims);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      ck_assert_ptr_null (read_texts (files[i].nodes, files[i].groups, files[i].available, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, files[i].message);
    }
}
END_TEST

START_TEST (list_without_details_is_refused_with_the_missing_option)
{
  g_autofree char *nodes = capture_text ("mixed.both-reserved", "ray-list-nodes--format-json.json");
  g_autofree char *groups = capture_text ("mixed.both-reserved", "ray-list-placement-groups--format-json.json");
  GError *error = NULL;

  ck_assert_ptr_null (read_texts (nodes, groups, NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID,
                     "groups: $[0]: no 'bundles': expected the output of ray list placement-groups with --detail");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-ray-captures");
  TCase *facts = tcase_create ("facts"), *bad = tcase_create ("bad");

  tcase_set_timeout (facts, 60);
  tcase_add_loop_test (facts, all_forms_of_a_cluster_give_the_same_groups_and_external_use, 0, G_N_ELEMENTS (clusters));
  tcase_add_test (facts, captures_in_this_tree_cover_every_group_state);
  suite_add_tcase (suite, facts);

  tcase_set_timeout (bad, 600);
  tcase_add_test (bad, list_without_details_is_refused_with_the_missing_option);
  tcase_add_loop_test (bad, missing_member_is_refused_if_required, 0, G_N_ELEMENTS (breakable));
  tcase_add_loop_test (bad, member_of_wrong_type_is_refused_if_required, 0, G_N_ELEMENTS (breakable));
  tcase_add_loop_test (bad, truncated_text_is_refused, 0, G_N_ELEMENTS (breakable));
  tcase_add_test (bad, truncated_or_damaged_yaml_gives_no_partial_result);
  tcase_add_test (bad, files_that_contradict_each_other_are_refused);
  suite_add_tcase (suite, bad);
  return suite_main (suite);
}
