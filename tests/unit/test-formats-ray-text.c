/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of Ray's lists of nodes that are read from text, without a tree. */
#include "claims-suite.h"
#include "../fuzz/parsed-rows.h"

#include "formats/ray-text-rows.h"

#define LABELS                                                                                                         \
  "{\"ray.io/tpu-slice-name\": \"s\", \"ray.io/tpu-worker-id\": \"3\", \"ray.io/tpu-pod-type\": \"v6e-16\", "          \
  "\"ray.io/tpu-topology\": \"4x4\"}"
#define LISTED(members)                                                                                                \
  "[{\"node_id\": \"aa\", \"node_ip\": \"10.0.0.1\", \"state\": \"ALIVE\", \"state_message\": null, "                  \
  "\"labels\": " LABELS                                                                                                \
  ", \"resources_total\": {\"CPU\": 8.0, \"TPU\": 4, \"memory\": \"16.500 GiB\", \"node:10.0.0.1\": 1.0}" members "}]"
#define OBJECT(members)                                                                                                \
  "[{\"NodeID\": \"aa\", \"Alive\": true, \"alive\": true, \"NodeManagerPort\": 1, \"Labels\": " LABELS                \
  ", \"Resources\": {\"CPU\": 8.0}" members "}]"

static const char *const read_from_text[] = {
  LISTED (""),
  LISTED (", \"is_head_node\": true"),
  LISTED (", \"start_time_ms\": 1.5e3, \"x\": [{\"a\": \"]}\\\"\"}, [], {}, \"\\\\\", -1, true]"),
  LISTED (", \"node_name\": \"\""),
  LISTED (", \"node_name\": null"),
  LISTED (", \"node_name\": \"h\xc3\xb6st\""),
  OBJECT (""),
  OBJECT (", \"NodeName\": \"n\", \"NodeManagerAddress\": \"10.0.0.1\""),
  "[ {\n\"node_id\"\t:\r\"aa\" , \"state\":\"DEAD\",\"labels\":{ },\"resources_total\" : {\"CPU\" : 1 }\n}\n]",
};

START_TEST (row_that_ray_writes_is_read_from_text)
{
  const char *text = read_from_text[_i], *at = text;
  g_autoptr (GStringChunk) texts = g_string_chunk_new (64);
  QuoitRayTextRows *rows = quoit_ray_text_rows_new (text, strlen (text), texts);
  g_autofree char *escaped = with_escaped_keys (text, strlen (text)), *result = NULL, *parsed = NULL;
  QuoitRayRow row;

  ck_assert (quoit_ray_text_rows_next (rows, &at, &row));
  ck_assert_str_eq (row.id, "aa");
  ck_assert_int_eq (*at, ']');
  ck_assert (!quoit_ray_text_rows_next (rows, &at, &row));
  quoit_ray_text_rows_free (rows);

  result = read_rows (&(QuoitRayFiles) { .nodes = text, .n_nodes = strlen (text) });
  parsed = read_rows (&(QuoitRayFiles) { .nodes = escaped, .n_nodes = strlen (escaped) });
  ck_assert_str_eq (result, parsed);
}
END_TEST

static const char *const left[] = {
  "[]",
  "[1]",
  "[{}]",
  LISTED (", \"node_nam\\u0065\": \"x\""),
  LISTED (", \"node_name\": \"a\\u0062\""),
  LISTED (", \"node_name\": 1"),
  LISTED (", \"NodeID\": \"bb\""),
  LISTED (", \"Labels\": {}"),
  LISTED (", \"is_head_node\": \"true\""),
  LISTED (", \"is_head_node\": null"),
  OBJECT (", \"NodeName\": {}"),
  "[{\"node_id\": \"aa\", \"state\": \"alive\"}]",
  "[{\"node_id\": \"aa\", \"state\": null}]",
  "[{\"node_id\": \"\", \"state\": \"ALIVE\"}]",
  "[{\"NodeID\": \"aa\", \"Alive\": \"true\"}]",
  "[{\"NodeID\": null, \"Alive\": true}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"CPU\": 1e0}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"CPU\": -1}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"CPU\": 12345678901234567}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"CPU\": \"1\"}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"CPU\": true}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"CPU\": {}}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"memory\": \"1 XiB\"}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"resources_total\": {\"\": 1}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"labels\": {\"k\": 1}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"labels\": {\"-k\": \"v\"}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"labels\": {\"k\": \"a b\"}}]",
  "[{\"node_id\": \"aa\", \"state\": \"ALIVE\", \"labels\": null}]",
};

START_TEST (unusual_row_is_left_to_the_parser)
{
  const char *text = left[_i], *at = text;
  g_autoptr (GStringChunk) texts = g_string_chunk_new (64);
  QuoitRayTextRows *rows = quoit_ray_text_rows_new (text, strlen (text), texts);
  QuoitRayRow row;

  /* A failure must not make the next row valid. */
  for (unsigned i = 0; i < 3; i++)
    {
      ck_assert (!quoit_ray_text_rows_next (rows, &at, &row));
      ck_assert_ptr_eq (at, text);
    }
  quoit_ray_text_rows_free (rows);
}
END_TEST

/* --- random lists --- */

enum { LISTS = 4000, MOST_ROWS = 6 };

typedef struct {
  const char *key;
  const char *values[12]; /* the first three are usual */
} DrawnMember;

static const DrawnMember listed[] = {
  { "node_id", { "\"#\"", "\"#\"", "\"#\"", "\"aa\"", "null", "\"\"", "1", "\"a\\u0061\"", "[]" } },
  { "node_ip",
    { "\"10.0.0.#\"", "\"10.0.0.#\"", "\"10.0.0.1\"", "null", "\"\"", "{\"a\": []}", "\"\xc3\xa4\"", "true" } },
  { "node_name", { "\"n#\"", "\"n#\"", "\"n\"", "null", "\"\"", "\"\\n\"", "2.5", "\"10.0.0.1\"" } },
  { "state", { "\"ALIVE\"", "\"ALIVE\"", "\"DEAD\"", "\"DRAINING\"", "\"GONE\"", "null", "\"ALIV\\u0045\"", "true" } },
  { "is_head_node", { "false", "false", "true", "null", "\"true\"", "0" } },
  { "state_message", { "null", "null", "\"x \\\" }\"", "[[], {\"a\": {}}]", "-1.5e-3", "\"\xe2\x82\xac\"" } },
};
static const DrawnMember object[] = {
  { "NodeID", { "\"#\"", "\"#\"", "\"#\"", "\"aa\"", "null", "\"\"", "1", "\"a\\u0061\"", "{}" } },
  { "NodeManagerAddress", { "\"10.0.0.#\"", "\"10.0.0.#\"", "\"10.0.0.1\"", "null", "\"\"", "{}", "7" } },
  { "NodeName", { "\"n#\"", "\"n#\"", "\"n\"", "null", "\"\"", "\"\\n\"", "false" } },
  { "Alive", { "true", "true", "false", "null", "\"true\"", "1" } },
  { "alive", { "true", "true", "false", "null", "\"true\"", "1" } },
  { "node_id", { "null", "null", "\"bb\"" } },
};
static const DrawnMember label_members[] = {
  { "ray.io/tpu-slice-name", { "\"s#\"", "\"s\"", "\"s-1\"", "\"\"", "null", "\"a b\"", "1" } },
  { "ray.io/tpu-worker-id", { "\"#\"", "\"0\"", "\"1\"", "\"\"", "\"x\"", "3", "\"99999\"" } },
  { "ray.io/tpu-pod-type", { "\"v6e-16\"", "\"v6e-16\"", "\"v5litepod-8\"", "\"\"", "\"x\"", "\"v6e\"" } },
  { "ray.io/tpu-topology", { "\"4x4\"", "\"4x4\"", "\"2x4\"", "\"\"", "\"4x5\"", "\"x\"" } },
  { "ray.io/accelerator-type", { "\"TPU-V6E\"", "\"TPU-V6E\"", "\"TPU-V6E\"", "\"H100\"", "\"TPU-V4\"", "\"\"" } },
  { "ray.io/node-group", { "\"pool\"", "\"pool\"", "\"pool#\"", "\"\"", "[]" } },
  { "ray.io/node-id", { "\"id#\"", "\"id#\"", "\"id\"", "\"\"" } },
  { "-k", { "\"v\"" } },
};
static const DrawnMember resource_members[] = {
  { "TPU", { "4.0", "4", "8.0", "0", "0.5", "4e0", "-4", "70000", "\"4\"", "null", "3.99999" } },
  { "CPU", { "8.0", "8.0", "8.25", "0.0001", "0.00001", "1e400", "123456789012345.5", "99999999999999999999.0" } },
  { "memory", { "\"16.000 GiB\"", "\"16.000 GiB\"", "\"1.5 KiB\"", "1073741824", "\"x\"", "\"1.000 \\u0047iB\"" } },
  { "s1", { "1.0", "1.0", "1" } },
  { "node:10.0.0.1", { "1.0", "1.0", "1.0", "true" } },
  { "TPU-v6e-16-head", { "1.0", "1.0", "1.0", "2.0" } },
  { "node:__internal_head__", { "1.0" } },
  { "accelerator_type:TPU-V6E", { "1.0", "1", "1.000" } },
  { "\\u0041", { "1" } },
  { "", { "1" } },
};

static guint
n_values (const DrawnMember *member)
{
  guint n = 0;

  while (n < G_N_ELEMENTS (member->values) && member->values[n] != NULL)
    n++;
  return n;
}

static void
append_blanks (GRand *rand, GString *text)
{
  static const char *const blanks[] = { "", " ", " ", " ", "\n  ", "\t", "\r\n" };

  g_string_append (text, blanks[g_rand_int_range (rand, 0, G_N_ELEMENTS (blanks))]);
}

/* @oddity: one of so many members is left out, or has an unusual value */
static void
append_members (GRand *rand, GString *text, const DrawnMember *members, guint n_members, guint row, int oddity,
                gboolean *is_first)
{
  for (guint m = 0; m < n_members; m++)
    {
      guint n = n_values (&members[m]);
      gboolean is_odd = g_rand_int_range (rand, 0, oddity) == 0;
      g_auto (GStrv) parts = NULL;
      g_autofree char *number = g_strdup_printf ("%u", row), *value = NULL;

      if (is_odd ? g_rand_boolean (rand) : n < 3 && g_rand_int_range (rand, 0, 3 * oddity) != 0)
        continue;
      parts = g_strsplit (members[m].values[g_rand_int_range (rand, 0, is_odd ? (int) n : (int) MIN (n, 3))], "#", -1);
      value = g_strjoinv (number, parts);
      if (!*is_first)
        g_string_append_c (text, ',');
      *is_first = FALSE;
      append_blanks (rand, text);
      g_string_append_printf (text, "\"%s\"", members[m].key);
      append_blanks (rand, text);
      g_string_append_c (text, ':');
      append_blanks (rand, text);
      g_string_append (text, value);
      append_blanks (rand, text);
    }
}

static void
append_map (GRand *rand, GString *text, const char *key, const DrawnMember *members, guint n_members, guint row,
            int oddity)
{
  gboolean is_first = TRUE;

  g_string_append_printf (text, ", \"%s\": {", key);
  append_members (rand, text, members, n_members, row, oddity, &is_first);
  append_blanks (rand, text);
  g_string_append_c (text, '}');
}

static char *
draw_list (GRand *rand)
{
  GString *text = g_string_new ("[");
  guint n_rows = (guint) g_rand_int_range (rand, 1, MOST_ROWS + 1);
  int oddity = g_rand_int_range (rand, 2, 200);
  gboolean is_listed = g_rand_boolean (rand);

  for (guint row = 0; row < n_rows; row++)
    {
      gboolean is_first = FALSE;

      g_string_append (text, row == 0 ? "{\"x\": 1" : ", {\"x\": 1");
      if (is_listed)
        append_members (rand, text, listed, G_N_ELEMENTS (listed), row, oddity, &is_first);
      else
        append_members (rand, text, object, G_N_ELEMENTS (object), row, oddity, &is_first);
      append_map (rand, text, is_listed ? "resources_total" : "Resources", resource_members,
                  G_N_ELEMENTS (resource_members), row, oddity);
      append_map (rand, text, is_listed ? "labels" : "Labels", label_members, G_N_ELEMENTS (label_members), row,
                  oddity);
      g_string_append_c (text, '}');
    }
  append_blanks (rand, text);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

START_TEST (both_readers_agree_on_random_lists)
{
  GRand *rand = g_rand_new_with_seed (19);
  guint n_read = 0;

  for (guint i = 0; i < LISTS; i++)
    {
      g_autofree char *text = draw_list (rand), *escaped = with_escaped_keys (text, strlen (text)), *result = NULL,
                      *parsed = NULL;
      QuoitRayFiles files = { .nodes = text, .n_nodes = strlen (text), .tpu_per_chip = i % 7 == 0 ? 2 : 0 };

      result = read_rows (&files);
      n_read += g_ascii_isalpha (*result) || *result == '1';
      if (escaped == NULL)
        continue;
      files.nodes = escaped;
      files.n_nodes = strlen (escaped);
      parsed = read_rows (&files);
      ck_assert_msg (strcmp (result, parsed) == 0, "list %u of seed 19: %.900s\n%.600s\n\n%.600s", i, text, result,
                     parsed);
    }
  g_rand_free (rand);
  ck_assert_uint_gt (n_read, LISTS / 10);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-ray-text");
  TCase *rows = tcase_create ("rows");

  tcase_set_timeout (rows, 120);
  tcase_add_loop_test (rows, row_that_ray_writes_is_read_from_text, 0, G_N_ELEMENTS (read_from_text));
  tcase_add_loop_test (rows, unusual_row_is_left_to_the_parser, 0, G_N_ELEMENTS (left));
  tcase_add_test (rows, both_readers_agree_on_random_lists);
  suite_add_tcase (suite, rows);
  return suite_main (suite);
}
