/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler LEDGER SLICES JOBS: a batch scheduler for JOBS jobs in virtual time, on SLICES v6e 4x4 slices. It has
   priorities, gangs, backfill, preemption, failures, repair, elastic jobs and leases. The ledger is its only state:
   after a crash, run it again with the same arguments. */
#include <quoit/quoit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TRY(call) ((call) ? (void) 0 : (fprintf (stderr, "scheduler: %s\n", error->message), exit (error->code)))
enum { TICK_MS = 30000, MINUTE_MS = 60000, LEASE_MS = 3600000, URGENT = 10, FAILURE_TICKS = 20, DEAD_TICKS = 40 };
static const int64_t first_ms = INT64_C (1800000000000);
typedef struct {
  char name[16];
  QuoitRequest *request; /* of a job that waits; NULL: it has not arrived, runs, or is done */
  int64_t arrival_ms, runtime_ms, least, most, end_ms, priority;
  unsigned attempt; /* how often the job has lost its slices */
  gboolean runs, is_done;
} Job;
static Job *jobs;
static unsigned n_jobs, n_done, n_started, n_preempted, n_repaired, n_lost, n_grown;

static unsigned
hash (unsigned i, unsigned n) /* the jobs and failures are the same in each run */
{
  i = (i + 1) * 2654435761u;
  return ((i ^ i >> 15) * 2246822519u >> 8) % n;
}

static void
set_request (Job *job)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *key = g_strdup_printf ("%s.%u", job->name, job->attempt);
  job->request = quoit_request_new (job->name, &error);
  TRY (job->request && quoit_request_set_key (job->request, key, &error)
       && quoit_request_set_owner (job->request, "scheduler", &error)
       && quoit_request_set_accelerator (job->request, "v6e", &error)
       && quoit_request_set_topology (job->request, "4x4", &error)
       && quoit_request_set_slice_range (job->request, job->least, job->most, &error)
       && quoit_request_set_expected_runtime_ms (job->request, job->runtime_ms, &error));
  quoit_request_set_priority (job->request, (int32_t) job->priority);
}

static void
start (Job *job, int64_t now_ms)
{
  g_clear_pointer (&job->request, quoit_request_free);
  job->runs = TRUE;
  job->end_ms = now_ms + job->runtime_ms;
  n_started++;
}

static void
end (QuoitFork *fork, const char *name, int64_t now_ms)
{
  g_autoptr (GError) error = NULL;
  Job *job = &jobs[atoi (name + strlen ("job-"))];
  TRY (quoit_fork_release (fork, name, now_ms, &error));
  job->runs = FALSE;
  job->is_done = job->end_ms <= now_ms;
  n_done += job->is_done;
  job->attempt++;
  if (!job->is_done)
    set_request (job); /* it has lost its slices, and waits again */
}

/* Each attempt of a job has a key, and the ledger knows what has become of it, even after its end. */
static void
read_job (QuoitSnapshot *snapshot, Job *job)
{
  for (;; job->attempt++)
    {
      g_autofree char *key = g_strdup_printf ("%s.%u", job->name, job->attempt);
      g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group_by_key (snapshot, key, NULL);
      if (group == NULL)
        return; /* this attempt has not begun */
      job->end_ms = quoit_group_get_created_ms (group) + job->runtime_ms;
      job->runs = quoit_group_get_state (group) != QUOIT_GROUP_REMOVED;
      job->is_done = !job->runs && quoit_group_get_ended_ms (group) >= job->end_ms;
      n_done += job->is_done;
      if (job->runs || job->is_done)
        return;
    }
}

/* A host dies, and another one is back. The job of the dead host gets another slice, or waits again. */
static void
fail_host (QuoitFork *fork, unsigned tick, int64_t now_ms)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_fork_snapshot (fork);
  g_autoptr (GError) error = NULL;
  uint32_t n_nodes = quoit_snapshot_get_n_nodes (snapshot), node = hash (tick, n_nodes);
  g_autofree char *dead = quoit_snapshot_dup_node_full_name (snapshot, node);
  g_autofree char *back = quoit_snapshot_dup_node_full_name (snapshot, hash (tick - DEAD_TICKS, n_nodes));
  TRY (quoit_fork_set_node_state (fork, back, QUOIT_NODE_ALIVE, now_ms, &error)
       && quoit_fork_set_node_state (fork, dead, QUOIT_NODE_DEAD, now_ms, &error));
  if (quoit_snapshot_get_node_n_users (snapshot, node) == 0)
    return;
  uint64_t id = quoit_snapshot_get_node_user_id (snapshot, node, 0);
  g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group_by_id (snapshot, id, &error);
  TRY (group);
  g_autoptr (QuoitGroupChange) change = quoit_fork_repair (fork, quoit_group_get_name (group), now_ms, NULL, NULL);
  if (change == NULL)
    end (fork, quoit_group_get_name (group), now_ms);
  n_repaired += change != NULL, n_lost += change == NULL;
}

static void
preempt (QuoitFork *fork, Job *job, int64_t now_ms)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_fork_snapshot (fork);
  g_autoptr (QuoitPreemption) preemption = quoit_snapshot_find_preemption (snapshot, job->request, now_ms, NULL);
  for (uint32_t i = 0; preemption != NULL && i < quoit_preemption_get_n_groups (preemption); i++, n_preempted++)
    {
      g_autoptr (QuoitGroup) victim = quoit_preemption_dup_group (preemption, i);
      end (fork, quoit_group_get_name (victim), now_ms);
    }
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, job->request, now_ms, NULL, NULL);
  if (group != NULL)
    start (job, now_ms);
}

/* Starts what fits, by priority, then by arrival. A job passes others if it does not delay the first of them. */
static void
plan (QuoitFork *fork, int64_t now_ms)
{
  g_autofree const QuoitRequest **queue = g_new (const QuoitRequest *, n_jobs + 1);
  g_autofree Job **queued = g_new (Job *, n_jobs + 1);
  g_autoptr (GError) error = NULL;
  uint32_t n = 0;
  for (int priority = URGENT; priority >= 0; priority--)
    for (Job *job = jobs; job < jobs + n_jobs && job->arrival_ms <= now_ms; job++)
      if (job->request != NULL && job->priority == priority)
        queue[n] = job->request, queued[n++] = job;
  g_autoptr (QuoitQueuePlan) plan = quoit_fork_plan_queue (fork, queue, n, QUOIT_BACKFILL_EASY, now_ms, &error);
  TRY (plan);
  for (uint32_t i = 0; i < n; i++)
    if (quoit_queue_plan_get_state (plan, i) == QUOIT_QUEUED_STARTS)
      start (queued[i], now_ms);
  for (uint32_t i = 0; i < n; i++)
    if (queued[i]->request != NULL && queued[i]->priority == URGENT)
      preempt (fork, queued[i], now_ms);
  for (Job *job = jobs; n == 0 && job < jobs + n_jobs; job++) /* nobody waits: elastic jobs grow */
    if (job->runs && job->least < job->most)
      {
        g_autoptr (QuoitGroupChange) change = quoit_fork_resize (fork, job->name, job->most, now_ms, NULL, NULL);
        n_grown += change && quoit_group_change_get_before (change) != quoit_group_change_get_after (change);
      }
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (argc != 4)
    return fprintf (stderr, "usage: scheduler LEDGER SLICES JOBS\n"), 2;
  g_autofree char *fleet = g_strdup_printf ("v6e 4x4 x%s", argv[2]);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, fleet, strlen (fleet));
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (argv[1], 5000, &error);
  if (ledger == NULL && (error->code == QUOIT_ERROR_NOT_FOUND || error->code == QUOIT_ERROR_INVALID)) /* cut short */
    ledger = (g_clear_error (&error), quoit_ledger_create (argv[1], 5000, &error));
  TRY (ledger);
  g_autoptr (QuoitSnapshot) empty = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitImport) import = NULL;
  TRY (quoit_snapshot_get_n_nodes (empty) > 0 || (import = quoit_ledger_import (ledger, input, first_ms, &error)));
  g_autoptr (QuoitSnapshot) start_state = quoit_ledger_snapshot (ledger);
  unsigned tick = (unsigned) ((quoit_snapshot_get_clock_ms (start_state) - first_ms) / TICK_MS) + 1;
  jobs = g_new0 (Job, (n_jobs = (unsigned) atoi (argv[3])) + 1);
  for (unsigned i = 0; i < n_jobs; i++)
    {
      jobs[i] = (Job) { .arrival_ms = first_ms + i * INT64_C (6900),
                        .runtime_ms = (10 + (int64_t) hash (7 * i, 110)) * MINUTE_MS,
                        .least = 1 + hash (7 * i + 1, (unsigned) atoi (argv[2]) / 250 + 1),
                        .priority = hash (7 * i + 2, 20) == 0 ? URGENT : hash (7 * i + 3, 3) };
      g_snprintf (jobs[i].name, sizeof jobs[i].name, "job-%u", i);
      jobs[i].most = jobs[i].least * (hash (7 * i + 4, 10) == 0 ? 2 : 1); /* one in ten is elastic */
      read_job (start_state, &jobs[i]);
    }
  for (; n_done < n_jobs; tick++)
    {
      int64_t now_ms = first_ms + tick * (int64_t) TICK_MS;
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      if (tick % 20 == 1) /* all groups belong to the scheduler: if it is gone for an hour, they end */
        TRY (quoit_fork_set_owner (fork, "scheduler", LEASE_MS, now_ms, &error));
      for (Job *job = jobs; job < jobs + n_jobs && job->arrival_ms <= now_ms; job++)
        if (job->runs && job->end_ms <= now_ms)
          end (fork, job->name, now_ms);
        else if (!job->runs && !job->is_done && job->request == NULL)
          set_request (job);
      if (tick >= DEAD_TICKS && tick % FAILURE_TICKS == 0)
        fail_host (fork, tick, now_ms);
      plan (fork, now_ms);
      TRY (quoit_ledger_commit_fork (ledger, fork, now_ms, &error)); /* CONFLICT: others write, too */
    }
  printf ("all %u jobs have ended after %u ticks; this run: %u starts, %u preempted, %u repaired, %u lost, %u grown\n",
          n_jobs, tick, n_started, n_preempted, n_repaired, n_lost, n_grown);
  TRY (quoit_ledger_verify (ledger, &error));
  return 0;
}
