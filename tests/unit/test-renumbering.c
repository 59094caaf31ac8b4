/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of a group's change on each of its processes. */
#include "elastic.h"

/* --- the job of Google's multislice tutorial --- */

static char *
environment (const QuoitTopology *topology, uint32_t process)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_topology_get_n_variables (topology, process); i++)
    g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", quoit_topology_get_variable_name (topology, process, i),
                            quoit_topology_get_variable_value (topology, process, i));
  return g_string_free (text, FALSE);
}

#define HOSTS_A "10.0.0.0,10.0.0.1,10.0.0.2,10.0.0.3"
#define HOSTS_B "10.1.0.0,10.1.0.1,10.1.0.2,10.1.0.3"
#define HOSTS_B_NEW "10.1.1.0,10.1.1.1,10.1.1.2,10.1.1.3"
#define SLICE(name, hosts) "TPU_ACCELERATOR_TYPE=v6e-16 TPU_NAME=" name " TPU_TOPOLOGY=4x4 TPU_WORKER_HOSTNAMES=" hosts
#define MEGASCALE(address, id)                                                                                         \
  "MEGASCALE_COORDINATOR_ADDRESS=" address " MEGASCALE_NUM_SLICES=2 MEGASCALE_PORT=8081 MEGASCALE_SLICE_ID=" id

/* Eight workers; the pods of one slice are deleted; four workers; a slice of new hosts with the old name; eight
 * workers. */
static const struct {
  const char *cluster;
  QuoitProfile profile;
  uint32_t n_processes, process;
  const char *environment;
} tutorial[] = {
  { "a b", QUOIT_PROFILE_QUOIT, 8, 0, MEGASCALE ("10.0.0.0", "0") " " SLICE ("a", HOSTS_A) " TPU_WORKER_ID=0" },
  { "a b", QUOIT_PROFILE_QUOIT, 8, 7, MEGASCALE ("10.0.0.0", "1") " " SLICE ("b", HOSTS_B) " TPU_WORKER_ID=3" },
  { "a", QUOIT_PROFILE_QUOIT, 4, 3, SLICE ("a", HOSTS_A) " TPU_WORKER_ID=3" },
  { "a b=1111", QUOIT_PROFILE_QUOIT, 8, 4,
    MEGASCALE ("10.0.0.0", "1") " " SLICE ("b", HOSTS_B_NEW) " TPU_WORKER_ID=0" },
  { "a b", QUOIT_PROFILE_RAY_TRAIN, 8, 7, "JAX_PLATFORMS=tpu " MEGASCALE ("10.0.0.0", "1") },
  { "a", QUOIT_PROFILE_RAY_TRAIN, 4, 3, "JAX_PLATFORMS=tpu" },
  { "a b=1111", QUOIT_PROFILE_RAY_TRAIN, 8, 3, "JAX_PLATFORMS=tpu " MEGASCALE ("10.0.0.0", "0") },
  /* The slice with id 0 is lost. */
  { "b", QUOIT_PROFILE_QUOIT, 4, 0, SLICE ("b", HOSTS_B) " TPU_WORKER_ID=0" },
  { "b", QUOIT_PROFILE_RAY_TRAIN, 4, 0, "JAX_PLATFORMS=tpu" },
  { "a=1111 b", QUOIT_PROFILE_QUOIT, 8, 4, MEGASCALE ("10.0.1.0", "1") " " SLICE ("b", HOSTS_B) " TPU_WORKER_ID=0" },
};

static uint32_t
n_changed (const QuoitRenumbering *renumbering)
{
  uint32_t n = 0;

  for (uint32_t row = 0; row < quoit_renumbering_get_n_rows (renumbering); row++)
    n += quoit_renumbering_get_change (renumbering, row) != QUOIT_PROCESS_SAME;
  return n;
}

START_TEST (environment_at_each_step_matches_the_current_slices)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitTopology) topology = elastic_job (ledger, tutorial[_i].cluster, tutorial[_i].profile);
  g_autofree char *text = environment (topology, tutorial[_i].process);

  ck_assert_uint_eq (quoit_topology_get_n_processes (topology), tutorial[_i].n_processes);
  ck_assert_str_eq (text, tutorial[_i].environment);
}
END_TEST

/* --- the row of each process --- */

#define NOTHING_OF_MEGASCALE(address, id)                                                                              \
  "; MEGASCALE_COORDINATOR_ADDRESS " address " -> not set; MEGASCALE_NUM_SLICES 2 -> not set; MEGASCALE_PORT 8081 -> " \
  "not set; MEGASCALE_SLICE_ID " id " -> not set"
#define ALL_OF_MEGASCALE(address, id)                                                                                  \
  "; MEGASCALE_COORDINATOR_ADDRESS not set -> " address "; MEGASCALE_NUM_SLICES not set -> 2; MEGASCALE_PORT not set " \
  "-> 8081; MEGASCALE_SLICE_ID not set -> " id

/* One line per row; rows without new information are "...". */
static const struct {
  const char *before, *after;
  QuoitProfile profile;
  uint32_t n_changed;
  const char *rows[17];
} renumberings[] = {
  /* The second slice is lost, and returns with other hosts. */
  { "a b",
    "a",
    QUOIT_PROFILE_QUOIT,
    8,
    { "a-0: process 0, slice 0, worker 0" NOTHING_OF_MEGASCALE ("10.0.0.0", "0"), "...", "...",
      "a-3: process 3, slice 0, worker 3" NOTHING_OF_MEGASCALE ("10.0.0.0", "0"),
      "b-0: leaves, was process 4, slice 1, worker 0", "...", "...",
      "b-3: leaves, was process 7, slice 1, worker 3" } },
  { "a",
    "a b=1111",
    QUOIT_PROFILE_QUOIT,
    8,
    { "a-0: process 0, slice 0, worker 0" ALL_OF_MEGASCALE ("10.0.0.0", "0"), "...", "...", "...",
      "b-0: joins as process 4, slice 1, worker 0", "...", "...", "b-3: joins as process 7, slice 1, worker 3" } },
  { "a",
    "a b=1111",
    QUOIT_PROFILE_RAY_TRAIN,
    8,
    { "a-0: process 0, slice 0, worker 0" ALL_OF_MEGASCALE ("10.0.0.0", "0"), "...", "...", "...",
      "b-0: joins as process 4, slice 1, worker 0", "...", "...", "..." } },
  /* The first slice is lost: the other becomes slice 0, and then 1 again. */
  { "a b",
    "b",
    QUOIT_PROFILE_QUOIT,
    8,
    { "b-0: process 4 -> 0, slice 1 -> 0, worker 0" NOTHING_OF_MEGASCALE ("10.0.0.0", "1"), "...", "...",
      "b-3: process 7 -> 3, slice 1 -> 0, worker 3" NOTHING_OF_MEGASCALE ("10.0.0.0", "1"),
      "a-0: leaves, was process 0, slice 0, worker 0", "...", "...", "..." } },
  { "a b",
    "b",
    QUOIT_PROFILE_RAY_TRAIN,
    8,
    { "b-0: process 4 -> 0, slice 1 -> 0, worker 0" NOTHING_OF_MEGASCALE ("10.0.0.0", "1"), "...", "...", "...",
      "a-0: leaves, was process 0, slice 0, worker 0", "...", "...", "..." } },
  { "b",
    "a=1111 b",
    QUOIT_PROFILE_QUOIT,
    8,
    { "a-0: joins as process 0, slice 0, worker 0", "...", "...", "...",
      "b-0: process 0 -> 4, slice 0 -> 1, worker 0" ALL_OF_MEGASCALE ("10.0.1.0", "1"), "...", "...", "..." } },
  /* The middle one of three is lost. */
  { "a b c",
    "a c",
    QUOIT_PROFILE_QUOIT,
    12,
    { "a-0: process 0, slice 0, worker 0; MEGASCALE_NUM_SLICES 3 -> 2", "...", "...", "...",
      "c-0: process 8 -> 4, slice 2 -> 1, worker 0; MEGASCALE_NUM_SLICES 3 -> 2; MEGASCALE_SLICE_ID 2 -> 1", "...",
      "...", "...", "b-0: leaves, was process 4, slice 1, worker 0", "...", "...", "..." } },
  { "a b c",
    "a c",
    QUOIT_PROFILE_RAY_TRAIN,
    12,
    { "a-0: process 0, slice 0, worker 0; MEGASCALE_NUM_SLICES 3 -> 2", "...", "...", "...",
      "c-0: process 8 -> 4, slice 2 -> 1, worker 0; MEGASCALE_NUM_SLICES 3 -> 2; MEGASCALE_SLICE_ID 2 -> 1", "...",
      "...", "...", "...", "...", "...", "..." } },
  /* A slice with the same name on other hosts: the other slice is not affected. */
  { "a b",
    "a b=1111",
    QUOIT_PROFILE_QUOIT,
    8,
    { "a-0: process 0, slice 0, worker 0; nothing changes", "...", "...", "...",
      "b-0: joins as process 4, slice 1, worker 0, in place of b-0", "...", "...", "...",
      "b-0: leaves, was process 4, slice 1, worker 0; b-0 takes its place", "...", "...",
      "b-3: leaves, was process 7, slice 1, worker 3; b-3 takes its place" } },
  /* Unless the slice has the coordinator. */
  { "a b",
    "a=1111 b",
    QUOIT_PROFILE_RAY_TRAIN,
    12,
    { "...", "...", "...", "...",
      "b-0: process 4, slice 1, worker 0; MEGASCALE_COORDINATOR_ADDRESS 10.0.0.0 -> 10.0.1.0", "...", "...", "...",
      "...", "...", "...", "..." } },
  { "a",
    "a=0100",
    QUOIT_PROFILE_QUOIT,
    5,
    { "a-0: process 0, slice 0, worker 0; TPU_WORKER_HOSTNAMES " HOSTS_A " -> 10.0.0.0,10.0.1.1,10.0.0.2,10.0.0.3",
      "a-1: joins as process 1, slice 0, worker 1, in place of a-1", "...", "...",
      "a-1: leaves, was process 1, slice 0, worker 1; a-1 takes its place" } },
  { "a",
    "a=0100",
    QUOIT_PROFILE_RAY_TRAIN,
    2,
    { "a-0: process 0, slice 0, worker 0; nothing changes", "...", "...", "...",
      "a-1: leaves, was process 1, slice 0, worker 1; a-1 takes its place" } },
  /* Another slice replaces one, matched by its id. */
  { "a b",
    "a c",
    QUOIT_PROFILE_QUOIT,
    8,
    { "a-0: process 0, slice 0, worker 0; nothing changes", "...", "...", "...",
      "c-0: joins as process 4, slice 1, worker 0, in place of b-0", "...", "...", "...",
      "b-0: leaves, was process 4, slice 1, worker 0; c-0 takes its place", "...", "...", "..." } },
  /* A replaced host takes the place in its own slice, not the slice's previous number. */
  { "a b",
    "b=0100",
    QUOIT_PROFILE_RAY_TRAIN,
    9,
    { "...", "b-1: joins as process 1, slice 0, worker 1, in place of b-1", "...", "...",
      "a-0: leaves, was process 0, slice 0, worker 0", "a-1: leaves, was process 1, slice 0, worker 1", "...", "...",
      "b-1: leaves, was process 5, slice 1, worker 1; b-1 takes its place" } },
  { "a b",
    "b=0100 c",
    QUOIT_PROFILE_RAY_TRAIN,
    13,
    { "...", "b-1: joins as process 1, slice 0, worker 1, in place of b-1", "...", "...", "...",
      "c-1: joins as process 5, slice 1, worker 1", "...", "...", "...", "...", "...", "...",
      "b-1: leaves, was process 5, slice 1, worker 1; b-1 takes its place" } },
  /* Another slice at the same number does not take over the place of a lost one. */
  { "a b",
    "b c",
    QUOIT_PROFILE_RAY_TRAIN,
    12,
    { "b-0: process 4 -> 0, slice 1 -> 0, worker 0; MEGASCALE_COORDINATOR_ADDRESS 10.0.0.0 -> 10.1.0.0; "
      "MEGASCALE_SLICE_ID 1 -> 0",
      "...", "...", "...", "c-0: joins as process 4, slice 1, worker 0", "...", "...", "...",
      "a-0: leaves, was process 0, slice 0, worker 0", "...", "...", "..." } },
  /* From nothing, to nothing, and without any slice. */
  { "", "a", QUOIT_PROFILE_QUOIT, 4, { "a-0: joins as process 0, slice 0, worker 0", "...", "...", "..." } },
  { "a", "", QUOIT_PROFILE_QUOIT, 4, { "...", "...", "...", "a-3: leaves, was process 3, slice 0, worker 3" } },
  { "", "", QUOIT_PROFILE_QUOIT, 0, { NULL } },
  { "a b", "a b", QUOIT_PROFILE_RAY_TRAIN, 0, { "...", "...", "...", "...", "...", "...", "...", "..." } },
};

/* --- a row as text --- */

static void
append_number (GString *text, const char *what, int64_t before, int64_t after)
{
  g_string_append_printf (text, "%s %" G_GINT64_FORMAT, what, before < 0 ? after : before);
  if (before >= 0 && after >= 0 && before != after)
    g_string_append_printf (text, " -> %" G_GINT64_FORMAT, after);
}

static const char *
shown_value (const QuoitRenumbering *renumbering, uint32_t row, uint32_t variable, QuoitRenumberingSide side)
{
  const char *value = quoit_renumbering_get_variable_value (renumbering, row, variable, side);

  if (value == NULL)
    return "not set";
  return *value == '\0' ? "''" : value;
}

static void
append_variables (GString *text, const QuoitRenumbering *renumbering, uint32_t row)
{
  for (uint32_t i = 0; i < quoit_renumbering_get_n_variables (renumbering, row); i++)
    g_string_append_printf (text, "; %s %s -> %s", quoit_renumbering_get_variable_name (renumbering, row, i),
                            shown_value (renumbering, row, i, QUOIT_RENUMBERING_BEFORE),
                            shown_value (renumbering, row, i, QUOIT_RENUMBERING_AFTER));
}

static const char *
beginning (QuoitProcessChange change)
{
  if (change == QUOIT_PROCESS_JOINED)
    return "joins as ";
  return change == QUOIT_PROCESS_LEFT ? "leaves, was " : "";
}

static char *
row_text (const QuoitRenumbering *renumbering, uint32_t row)
{
  static int64_t (*const getters[]) (const QuoitRenumbering *, uint32_t, QuoitRenumberingSide)
      = { quoit_renumbering_get_process, quoit_renumbering_get_slice_id, quoit_renumbering_get_worker_id };
  static const char *const words[] = { "process", ", slice", ", worker" };
  QuoitProcessChange change = quoit_renumbering_get_change (renumbering, row);
  const char *counterpart = quoit_renumbering_get_counterpart (renumbering, row);
  GString *text = g_string_new (quoit_renumbering_get_node_name (renumbering, row));

  g_string_append_printf (text, ": %s", beginning (change));
  for (guint i = 0; i < G_N_ELEMENTS (getters); i++)
    append_number (text, words[i], getters[i](renumbering, row, QUOIT_RENUMBERING_BEFORE),
                   getters[i](renumbering, row, QUOIT_RENUMBERING_AFTER));
  if (change == QUOIT_PROCESS_SAME)
    g_string_append (text, "; nothing changes");
  else if (change == QUOIT_PROCESS_JOINED && counterpart != NULL)
    g_string_append_printf (text, ", in place of %s", counterpart);
  else if (change == QUOIT_PROCESS_LEFT && counterpart != NULL)
    g_string_append_printf (text, "; %s takes its place", counterpart);
  else if (change == QUOIT_PROCESS_CHANGED || change == QUOIT_PROCESS_MOVED)
    append_variables (text, renumbering, row);
  return g_string_free (text, FALSE);
}

START_TEST (each_row_has_the_changes_of_its_process)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitTopology) before = elastic_job (ledger, renumberings[_i].before, renumberings[_i].profile);
  g_autoptr (QuoitTopology) after = elastic_job (ledger, renumberings[_i].after, renumberings[_i].profile);
  g_autoptr (QuoitRenumbering) renumbering = quoit_renumbering_new (before, after);
  uint32_t n = 0;

  for (; renumberings[_i].rows[n] != NULL; n++)
    {
      g_autofree char *text = NULL;

      ck_assert_uint_lt (n, quoit_renumbering_get_n_rows (renumbering));
      text = row_text (renumbering, n);
      if (strcmp (renumberings[_i].rows[n], "...") != 0)
        ck_assert_str_eq (text, renumberings[_i].rows[n]);
    }
  ck_assert_uint_eq (quoit_renumbering_get_n_rows (renumbering), n);
  ck_assert_uint_eq (n_changed (renumbering), renumberings[_i].n_changed);
}
END_TEST

START_TEST (renumbering_outlives_its_arguments)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  QuoitTopology *before = elastic_job (ledger, "a b", QUOIT_PROFILE_QUOIT);
  QuoitTopology *after = elastic_job (ledger, "b", QUOIT_PROFILE_QUOIT);
  g_autoptr (QuoitRenumbering) renumbering = quoit_renumbering_new (before, after);

  quoit_topology_free (before);
  quoit_topology_free (after);
  g_clear_pointer (&ledger, quoit_ledger_unref);
  ck_assert_str_eq (quoit_renumbering_get_node_name (renumbering, 0), "b-0");
  ck_assert_str_eq (quoit_renumbering_get_slice_name (renumbering, 4), "a");
  ck_assert_str_eq (quoit_renumbering_get_variable_name (renumbering, 0, 3), "MEGASCALE_SLICE_ID");
  ck_assert_str_eq (quoit_renumbering_get_variable_value (renumbering, 0, 3, QUOIT_RENUMBERING_BEFORE), "1");
  ck_assert_ptr_null (quoit_renumbering_get_variable_value (renumbering, 0, 3, QUOIT_RENUMBERING_AFTER));
}
END_TEST

/* --- random pairs of clusters --- */

/* Some of the slices a to f, with some of their hosts replaced. */
static char *
random_cluster (GRand *random)
{
  GString *cluster = g_string_new (NULL);

  for (char slice = 'a'; slice <= 'f'; slice++)
    {
      if (g_rand_boolean (random))
        continue;
      g_string_append_printf (cluster, "%s%c=", cluster->len > 0 ? " " : "", slice);
      for (guint w = 0; w < ELASTIC_HOSTS; w++)
        g_string_append_c (cluster, g_rand_int_range (random, 0, 4) == 0 ? '1' : '0');
    }
  return g_string_free (cluster, FALSE);
}

static GHashTable *
variables_of (const QuoitTopology *topology, int64_t process)
{
  GHashTable *variables = g_hash_table_new (g_str_hash, g_str_equal);

  for (uint32_t i = 0; process >= 0 && i < quoit_topology_get_n_variables (topology, (uint32_t) process); i++)
    g_hash_table_insert (variables, (char *) quoit_topology_get_variable_name (topology, (uint32_t) process, i),
                         (char *) quoit_topology_get_variable_value (topology, (uint32_t) process, i));
  return variables;
}

/* Applies the row's changes of variables to the previous ones; the result must be the new environment. */
static void
apply_row (const QuoitRenumbering *renumbering, uint32_t row, GHashTable *variables)
{
  const char *last = "";

  for (uint32_t i = 0; i < quoit_renumbering_get_n_variables (renumbering, row); i++)
    {
      const char *name = quoit_renumbering_get_variable_name (renumbering, row, i);
      const char *before = quoit_renumbering_get_variable_value (renumbering, row, i, QUOIT_RENUMBERING_BEFORE);
      const char *after = quoit_renumbering_get_variable_value (renumbering, row, i, QUOIT_RENUMBERING_AFTER);

      ck_assert_int_lt (strcmp (last, name), 0);
      ck_assert_int_ne (g_strcmp0 (before, after), 0);
      ck_assert_int_eq (g_strcmp0 (g_hash_table_lookup (variables, name), before), 0);
      if (after == NULL)
        g_hash_table_remove (variables, name);
      else
        g_hash_table_insert (variables, (char *) name, (char *) after);
      last = name;
    }
}

static void
check_equal (GHashTable *a, GHashTable *b)
{
  GHashTableIter iterator;
  gpointer name, value;

  ck_assert_uint_eq (g_hash_table_size (a), g_hash_table_size (b));
  g_hash_table_iter_init (&iterator, a);
  while (g_hash_table_iter_next (&iterator, &name, &value))
    ck_assert_int_eq (g_strcmp0 (value, g_hash_table_lookup (b, name)), 0);
}

/* The numbers of the row are those of the topology for its node; -1: not in it. */
static void
check_place (const QuoitTopology *topology, int64_t process, int64_t slice_id, int64_t worker_id, const char *node)
{
  if (process < 0)
    {
      ck_assert (slice_id == -1 && worker_id == -1);
      return;
    }
  ck_assert_str_eq (quoit_topology_get_node_name (topology, (uint32_t) process), node);
  ck_assert_int_eq (quoit_topology_get_slice_id (topology, (uint32_t) process), slice_id);
  ck_assert_int_eq (quoit_topology_get_worker_id (topology, (uint32_t) process), worker_id);
}

static QuoitProcessChange
change_by_numbers (const QuoitRenumbering *renumbering, uint32_t row)
{
  if (quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_BEFORE) < 0)
    return QUOIT_PROCESS_JOINED;
  if (quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_AFTER) < 0)
    return QUOIT_PROCESS_LEFT;
  if (quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_BEFORE)
          != quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_AFTER)
      || quoit_renumbering_get_slice_id (renumbering, row, QUOIT_RENUMBERING_BEFORE)
             != quoit_renumbering_get_slice_id (renumbering, row, QUOIT_RENUMBERING_AFTER))
    return QUOIT_PROCESS_MOVED;
  return quoit_renumbering_get_n_variables (renumbering, row) > 0 ? QUOIT_PROCESS_CHANGED : QUOIT_PROCESS_SAME;
}

static gboolean
has_address (const QuoitTopology *topology, const char *address)
{
  for (uint32_t i = 0; topology != NULL && i < quoit_topology_get_n_processes (topology); i++)
    if (strcmp (quoit_topology_get_node_address (topology, i), address) == 0)
      return TRUE;
  return FALSE;
}

/* Checks that both are one machine: hosts with the same name have different addresses. */
static void
check_machine (const QuoitTopology *before, int64_t was, const QuoitTopology *after, int64_t is)
{
  const char *old = was < 0 ? NULL : quoit_topology_get_node_address (before, (uint32_t) was);
  const char *new = is < 0 ? NULL : quoit_topology_get_node_address (after, (uint32_t) is);

  if (old == NULL)
    ck_assert (!has_address (before, new));
  else if (new == NULL)
    ck_assert (!has_address (after, old));
  else
    ck_assert_str_eq (old, new);
}

static void
check_row (const QuoitRenumbering *renumbering, uint32_t row, const QuoitTopology *before, const QuoitTopology *after)
{
  int64_t was = quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_BEFORE);
  int64_t is = quoit_renumbering_get_process (renumbering, row, QUOIT_RENUMBERING_AFTER);
  const char *node = quoit_renumbering_get_node_name (renumbering, row);
  g_autoptr (GHashTable) variables = variables_of (before, was), true_ones = variables_of (after, is);

  check_place (before, was, quoit_renumbering_get_slice_id (renumbering, row, QUOIT_RENUMBERING_BEFORE),
               quoit_renumbering_get_worker_id (renumbering, row, QUOIT_RENUMBERING_BEFORE), node);
  check_place (after, is, quoit_renumbering_get_slice_id (renumbering, row, QUOIT_RENUMBERING_AFTER),
               quoit_renumbering_get_worker_id (renumbering, row, QUOIT_RENUMBERING_AFTER), node);
  check_machine (before, was, after, is);
  ck_assert_int_eq (quoit_renumbering_get_change (renumbering, row), change_by_numbers (renumbering, row));
  if (was >= 0 && is >= 0)
    ck_assert_ptr_null (quoit_renumbering_get_counterpart (renumbering, row));
  apply_row (renumbering, row, variables);
  check_equal (variables, true_ones);
}

static uint32_t
n_of (const QuoitTopology *topology)
{
  return topology == NULL ? 0 : quoit_topology_get_n_processes (topology);
}

static void
check_rows (const QuoitRenumbering *renumbering, const QuoitTopology *before, const QuoitTopology *after)
{
  uint32_t n = quoit_renumbering_get_n_rows (renumbering), n_old = 0;
  int64_t last_old = -1;

  ck_assert_uint_ge (n, n_of (after));
  for (uint32_t i = 0; i < n; i++)
    {
      int64_t was = quoit_renumbering_get_process (renumbering, i, QUOIT_RENUMBERING_BEFORE);

      check_row (renumbering, i, before, after);
      ck_assert_int_eq (quoit_renumbering_get_process (renumbering, i, QUOIT_RENUMBERING_AFTER),
                        i < n_of (after) ? (int64_t) i : -1);
      n_old += was >= 0;
      if (i < n_of (after))
        continue;
      ck_assert_int_gt (was, last_old);
      last_old = was;
    }
  ck_assert_uint_eq (n_old, n_of (before));
}

START_TEST (rows_turn_old_environments_into_new_environments)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20260501 + (guint32) _i);
  QuoitProfile profile = _i % 2 == 0 ? QUOIT_PROFILE_QUOIT : QUOIT_PROFILE_RAY_TRAIN;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();

  for (guint round = 0; round < 50; round++)
    {
      g_autofree char *old = random_cluster (random), *new = random_cluster (random);
      g_autoptr (QuoitTopology) before = elastic_job (ledger, old, profile);
      g_autoptr (QuoitTopology) after = elastic_job (ledger, new, profile);
      g_autoptr (QuoitRenumbering) renumbering = quoit_renumbering_new (before, after);

      check_rows (renumbering, before, after);
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("renumbering");
  TCase *tcase = tcase_create ("renumbering");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, environment_at_each_step_matches_the_current_slices, 0, G_N_ELEMENTS (tutorial));
  tcase_add_loop_test (tcase, each_row_has_the_changes_of_its_process, 0, G_N_ELEMENTS (renumberings));
  tcase_add_test (tcase, renumbering_outlives_its_arguments);
  tcase_add_loop_test (tcase, rows_turn_old_environments_into_new_environments, 0, 8);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
