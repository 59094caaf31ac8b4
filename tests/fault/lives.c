/* SPDX-License-Identifier: Apache-2.0 */
#include "lives.h"

gint64
time_of_step (guint step)
{
  return T0 + step * G_GINT64_CONSTANT (10000);
}

/* --- helpers of all lives --- */

gboolean
create_ledger (World *world, gint64 now_ms, GError **error)
{
  g_clear_pointer (&world->ledger, quoit_ledger_unref);
  world->ledger = quoit_ledger_create (world->path, 0, error);
  return world->ledger != NULL;
}

gboolean
open_ledger (World *world, gint64 now_ms, GError **error)
{
  g_clear_pointer (&world->ledger, quoit_ledger_unref);
  world->ledger = quoit_ledger_open (world->path, 0, error);
  return world->ledger != NULL;
}

gboolean
import_slices (World *world, gint64 now_ms, GError **error)
{
  return import_text (world->ledger, "v6e 4x4 x3 zone=z; v5p 2x2x2 x2", "a", now_ms, error);
}

gboolean
reserve_slices (QuoitLedger *ledger, const char *name, const char *key, gint64 n_slices, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", "4x4", n_slices);
  g_autoptr (QuoitGroup) group = NULL;

  quoit_request_set_key (request, key, NULL);
  group = quoit_ledger_reserve (ledger, request, now_ms, NULL, error);
  return group != NULL;
}

static gboolean
verify (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_verify (world->ledger, error);
}

static gboolean
refresh (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_refresh (world->ledger, error);
}

static guint64
last_seq (const World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);

  return quoit_snapshot_get_seq (snapshot);
}

static gboolean
compact_all (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_compact_journal (world->ledger, last_seq (world) + 1, now_ms, NULL, error);
}

/* --- creating, changing and copying a ledger --- */

static gboolean
import_changed (World *world, gint64 now_ms, GError **error)
{
  return import_text (world->ledger, "v6e 4x4 x4 zone=z; v5p 2x2x4 x1 pool=new dead=0.1", "a", now_ms, error);
}

static gboolean
reserve_two (World *world, gint64 now_ms, GError **error)
{
  return reserve_slices (world->ledger, "two", "key-two", 2, now_ms, error);
}

static gboolean
reserve_one (World *world, gint64 now_ms, GError **error)
{
  return reserve_slices (world->ledger, "one", NULL, 1, now_ms, error);
}

static gboolean
kill_node (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_node_state (world->ledger, "v6e-4x4-0-1", QUOIT_NODE_DEAD, now_ms, error);
}

/* A caller that aborts the batch at the first failure. */
static gboolean
batch (World *world, gint64 now_ms, GError **error)
{
  if (!quoit_ledger_begin_batch (world->ledger, error))
    return FALSE;
  if (quoit_ledger_release (world->ledger, "one", now_ms, error)
      && quoit_ledger_set_node_state (world->ledger, "v6e-4x4-0-1", QUOIT_NODE_ALIVE, now_ms, error)
      && reserve_slices (world->ledger, "in-batch", "key-batch", 1, now_ms, error))
    return quoit_ledger_commit_batch (world->ledger, error);
  return quoit_ledger_cancel_batch (world->ledger), FALSE;
}

/* Undoes a part of the batch. */
static gboolean
batch_with_mark (World *world, gint64 now_ms, GError **error)
{
  guint mark;

  if (!quoit_ledger_begin_batch (world->ledger, error))
    return FALSE;
  if (quoit_ledger_release (world->ledger, "in-batch", now_ms, error)
      && (mark = quoit_ledger_mark_batch (world->ledger, error)) != 0
      && reserve_slices (world->ledger, "undone", "key-undone", 1, now_ms, error)
      && import_text (world->ledger, "v6e 4x4 x9 zone=z", "b", now_ms, error)
      && quoit_ledger_roll_back_batch (world->ledger, mark, error)
      && reserve_slices (world->ledger, "kept", "key-undone", 1, now_ms, error))
    return quoit_ledger_commit_batch (world->ledger, error);
  return quoit_ledger_cancel_batch (world->ledger), FALSE;
}

/* The fork syncs a source, uses a node that this adds, and forgets the records of groups that have ended. */
static gboolean
commit_fork (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, "v5e 2x4 x1 pool=c", 17);
  g_autoptr (QuoitRequest) request = new_slice_request ("on-new", "v5e", "2x4", 1);
  g_autoptr (QuoitImport) import = NULL;

  quoit_input_set_source (input, "c");
  import = quoit_fork_sync (fork, input, now_ms, error);
  return import != NULL && quoit_fork_release (fork, "kept", now_ms, error)
         && drop_group (quoit_fork_reserve (fork, request, now_ms, NULL, error))
         && quoit_fork_forget_key (fork, "key-batch", now_ms, error)
         && quoit_fork_forget_before (fork, now_ms, now_ms, NULL, error)
         && quoit_ledger_commit_fork (world->ledger, fork, now_ms, error);
}

static gboolean
release_two (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_release (world->ledger, "two", now_ms, error);
}

gboolean
backup_ledger (World *world, gint64 now_ms, GError **error)
{
  g_unlink (world->copy);
  return quoit_ledger_backup (world->ledger, world->copy, error);
}

static const Step making[] = {
  { "create", create_ledger },
  { "import", import_slices },
  { "reserve two", reserve_two },
  { "reserve one", reserve_one },
  { "kill a node", kill_node },
  { "batch", batch },
  { "backup", backup_ledger },
  { "batch with a mark", batch_with_mark },
  { "commit a fork", commit_fork },
  { "release", release_two },
  { "import changed", import_changed },
  { "verify", verify },
  { "open", open_ledger },
};

/* --- compacting the journal, and reading past states --- */

static gboolean
compact_most (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_compact_journal (world->ledger, last_seq (world) - 1, now_ms, NULL, error);
}

static gboolean
look_back (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) past = quoit_ledger_snapshot_at (world->ledger, last_seq (world) - 1, error);

  return past != NULL;
}

static gboolean
list (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitJournal) journal = NULL;
  guint64 seq;

  if (!quoit_ledger_read_checkpoint (world->ledger, &seq, NULL, error))
    return FALSE;
  journal = quoit_ledger_read_journal (world->ledger, seq, error);
  require (journal == NULL || quoit_journal_get_n_entries (journal) == last_seq (world) - seq, "%u entries behind %u",
           quoit_journal_get_n_entries (journal), (guint) seq);
  return journal != NULL;
}

static const Step compacting[] = {
  { "create", create_ledger },    { "import", import_slices },
  { "reserve two", reserve_two }, { "reserve one", reserve_one },
  { "kill a node", kill_node },   { "batch", batch },
  { "open", open_ledger },        { "compact", compact_most },
  { "look back", look_back },     { "release", release_two },
  { "compact all", compact_all }, { "reserve again", reserve_one },
  { "refresh", refresh },         { "list", list },
  { "open again", open_ledger },
};

/* --- leases that start, are renewed and expire --- */

static gboolean
hold_one (World *world, const char *name, const char *owner, gint64 lease_ms, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", "4x4", 1);

  quoit_request_set_owner (request, owner, NULL);
  return drop_group (quoit_ledger_hold (world->ledger, request, lease_ms, now_ms, NULL, error));
}

/* At 20 s, until 75 s. */
static gboolean
set_owner (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_owner (world->ledger, "somebody", 55000, now_ms, error);
}

/* At 40 s, until 65 s. */
static gboolean
hold_short (World *world, gint64 now_ms, GError **error)
{
  return hold_one (world, "short", NULL, 25000, now_ms, error);
}

static gboolean
hold_owned (World *world, gint64 now_ms, GError **error)
{
  return hold_one (world, "owned", "somebody", 3600000, now_ms, error);
}

static gboolean
confirm_owned (World *world, gint64 now_ms, GError **error)
{
  return drop_group (quoit_ledger_confirm (world->ledger, "owned", 0, now_ms, error));
}

/* The slice of the expired group is free again. The same transaction writes that. */
static gboolean
reserve_after_end (World *world, gint64 now_ms, GError **error)
{
  return reserve_slices (world->ledger, "kept", "key-kept", 2, now_ms, error);
}

/* The only change is the expiry of an owner with its groups; the node is already alive. */
static gboolean
only_expire (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_node_state (world->ledger, "v6e-4x4-0-0", QUOIT_NODE_ALIVE, now_ms, error);
}

static gboolean
forget_short (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_forget (world->ledger, "short@2", now_ms, error);
}

static gboolean
release_kept (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_release (world->ledger, "kept", now_ms, error);
}

static gboolean
forget_kept (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_forget_key (world->ledger, "key-kept", now_ms, error);
}

static gboolean
forget_ended (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_forget_before (world->ledger, now_ms, now_ms, NULL, error);
}

static gboolean
renew_owned (World *world, gint64 now_ms, GError **error)
{
  return drop_group (quoit_ledger_renew (world->ledger, "owned", 3000000, now_ms, error));
}

static gboolean
renew_owner (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_renew_owner (world->ledger, "somebody", 3000000, now_ms, error);
}

static gboolean
end_owner (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_end_owner (world->ledger, "somebody", now_ms, NULL, error);
}

static const Step leasing[] = {
  { "create", create_ledger },
  { "import", import_slices },
  { "set an owner", set_owner },
  { "open", open_ledger },
  { "hold for 25 s", hold_short },
  { "hold for an owner", hold_owned },
  { "confirm", confirm_owned },
  { "reserve when a lease has ended", reserve_after_end },
  { "nothing, when an owner has ended", only_expire },
  { "forget", forget_short },
  { "release", release_kept },
  { "forget a key", forget_kept },
  { "reserve with the key again", reserve_after_end },
  { "release again", release_kept },
  { "forget all that has ended", forget_ended },
  { "set the owner again", set_owner },
  { "hold for the owner again", hold_owned },
  { "renew", renew_owned },
  { "renew the owner", renew_owner },
  { "compact all", compact_all },
  { "end the owner", end_owner },
  { "open again", open_ledger },
};

/* --- lost hosts, and changing groups --- */

enum { RAY_HOSTS = 2 };

/* "a=00 b=0x": two slices; host 1 of b is missing from the list. Another digit means another node in the host's
 * place. */
static char *
ray_nodes (const char *cluster)
{
  g_auto (GStrv) slices = g_strsplit (cluster, " ", -1);
  GString *text = g_string_new ("[");

  for (guint i = 0; slices[i] != NULL; i++)
    for (guint w = 0; w < RAY_HOSTS; w++)
      {
        char slice = slices[i][0], host = slices[i][2 + w];

        if (host == 'x')
          continue;
        g_string_append_printf (text,
                                "%s{\"NodeID\": \"%050u%02x%c%u%02u\", \"Alive\": true, \"NodeName\": \"%c-%u\", "
                                "\"NodeManagerAddress\": \"10.%u.%u.%c\", \"Resources\": {\"TPU\": 4, \"CPU\": 8}, "
                                "\"Labels\": {\"ray.io/tpu-slice-name\": \"%c\", \"ray.io/tpu-worker-id\": \"%u\", "
                                "\"ray.io/tpu-topology\": \"2x4\", \"ray.io/tpu-pod-type\": \"v6e-8\", "
                                "\"ray.io/accelerator-type\": \"TPU-V6E\"}}",
                                text->len > 1 ? ", " : "", 0, (guint) slice, host, w, 0, slice, w,
                                (guint) (slice - 'a'), w, host, slice, w);
      }
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

static char *
ray_groups (const char *name, char slice)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text,
                          "[{\"placement_group_id\": \"%s%s\", \"name\": \"%s\", \"state\": \"CREATED\", "
                          "\"bundles\": [",
                          name, name, name);
  for (guint w = 0; w < RAY_HOSTS; w++)
    g_string_append_printf (text, "%s{\"unit_resources\": {\"TPU\": 4}, \"node_id\": \"%050u%02x0%u00\"}",
                            w == 0 ? "" : ", ", 0, (guint) slice, w);
  g_string_append (text, "]}]");
  return g_string_free (text, FALSE);
}

static gboolean
sync_ray (World *world, const char *cluster, const char *group, char slice, gint64 now_ms, GError **error)
{
  g_autofree char *nodes = ray_nodes (cluster), *groups = group == NULL ? NULL : ray_groups (group, slice);
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_RAY_NODES, nodes, strlen (nodes));
  QuoitImport *import;

  if (groups != NULL)
    quoit_input_set_list (input, QUOIT_LIST_RAY_GROUPS, groups, strlen (groups));
  import = quoit_ledger_sync (world->ledger, input, now_ms, error);
  quoit_input_free (input);
  if (import == NULL)
    return FALSE;
  quoit_import_free (import);
  return TRUE;
}

static gboolean
sync_whole (World *world, gint64 now_ms, GError **error)
{
  return sync_ray (world, "a=00 b=00 c=00 d=00 e=00", "cc", 'd', now_ms, error);
}

/* A host of the job is lost, and Ray has removed one group and placed another. */
static gboolean
sync_lost (World *world, gint64 now_ms, GError **error)
{
  return sync_ray (world, "a=0x b=00 c=00 d=00 e=00", "dd", 'e', now_ms, error);
}

static gboolean
sync_replaced (World *world, gint64 now_ms, GError **error)
{
  return sync_ray (world, "a=01 b=00 c=x0 d=00 e=00", NULL, ' ', now_ms, error);
}

static gboolean
reserve_elastic (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = new_slice_request ("job", "v6e", "2x4", 1);

  require (quoit_request_set_slice_range (request, 1, 3, NULL) && quoit_request_set_chips_per_host (request, 4, NULL),
           "1..3");
  return drop_group (quoit_ledger_reserve (world->ledger, request, now_ms, NULL, error));
}

static gboolean
has_changed (QuoitGroupChange *change)
{
  require (change == NULL || quoit_group_change_get_before (change) != quoit_group_change_get_after (change),
           "nothing has changed");
  return drop_change (change);
}

static gboolean
repair_job (World *world, gint64 now_ms, GError **error)
{
  return has_changed (quoit_ledger_repair (world->ledger, "job", now_ms, NULL, error));
}

static gboolean
shrink_job (World *world, gint64 now_ms, GError **error)
{
  return has_changed (quoit_ledger_resize (world->ledger, "job", 1, now_ms, NULL, error));
}

static gboolean
grow_job (World *world, gint64 now_ms, GError **error)
{
  return has_changed (quoit_ledger_resize (world->ledger, "job", 3, now_ms, NULL, error));
}

static gboolean
release_slice (World *world, gint64 now_ms, GError **error)
{
  return has_changed (quoit_ledger_release_slice (world->ledger, "job", "b", now_ms, error));
}

static gboolean
drain_node (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_drain_node (world->ledger, "d-0", now_ms, error);
}

static const Step losing[] = {
  { "create", create_ledger },
  { "sync with groups", sync_whole },
  { "open", open_ledger },
  { "reserve one to three", reserve_elastic },
  { "sync without a host, and other groups", sync_lost },
  { "repair", repair_job },
  { "shrink", shrink_job },
  { "grow", grow_job },
  { "release one slice", release_slice },
  { "drain a node", drain_node },
  { "sync with another host", sync_replaced },
  { "repair again", repair_job },
  { "compact all", compact_all },
  { "verify", verify },
  { "open again", open_ledger },
};

/* --- joined cubes --- */

static gboolean
import_cubes (World *world, gint64 now_ms, GError **error)
{
  return import_text (world->ledger, "v5p 4x4x4 x6 pool=c block=b grid=1x1x6; v5p 4x4x4 x2 pool=d block=d", "a", now_ms,
                      error);
}

static gboolean
reserve_joined (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = new_slice_request ("job", "v5p", "4x4x8", 3);

  require (quoit_request_set_slice_range (request, 1, 3, NULL), "1..3");
  require (quoit_request_set_cubes (request, QUOIT_CUBES_ANY, NULL), "cubes");
  return drop_group (quoit_ledger_reserve (world->ledger, request, now_ms, NULL, error));
}

static gboolean
reserve_adjacent_later (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = new_slice_request ("later", "v5p", "4x4x8", 1);

  require (quoit_request_set_cubes (request, QUOIT_CUBES_ADJACENT, NULL), "cubes");
  return drop_group (
      quoit_ledger_reserve_at (world->ledger, request, now_ms + 20000, now_ms + 60000, now_ms, NULL, error));
}

/* The block has no other cube, so that the slice goes to the other block. */
static gboolean
lose_cube (World *world, gint64 now_ms, GError **error)
{
  return quoit_ledger_set_node_state (world->ledger, "c-0-5", QUOIT_NODE_DEAD, now_ms, error);
}

static gboolean
release_joined (World *world, gint64 now_ms, GError **error)
{
  return has_changed (quoit_ledger_release_slice (world->ledger, "job", "0", now_ms, error));
}

static const Step joining[] = {
  { "create", create_ledger },
  { "import cubes", import_cubes },
  { "open", open_ledger },
  { "reserve joined slices", reserve_joined },
  { "lose a cube", lose_cube },
  { "repair", repair_job },
  { "shrink", shrink_job },
  { "grow", grow_job },
  { "release one slice", release_joined },
  { "reserve adjacent cubes for later", reserve_adjacent_later },
  { "verify", verify },
  { "compact all", compact_all },
  { "open again", open_ledger },
};

const Life lives[N_LIVES] = {
  { "making", making, G_N_ELEMENTS (making), 0 },    { "compacting", compacting, G_N_ELEMENTS (compacting), 6 },
  { "leasing", leasing, G_N_ELEMENTS (leasing), 3 }, { "losing", losing, G_N_ELEMENTS (losing), 2 },
  { "planning", planning, N_PLANNING_STEPS, 2 },     { "joining", joining, G_N_ELEMENTS (joining), 2 },
};
