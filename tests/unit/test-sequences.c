/* SPDX-License-Identifier: Apache-2.0 */
/* Random sequences of all changes of a ledger. They include imports of a Ray cluster whose hosts are replaced and
 * whose own groups use fractions of chips, sometimes limited to a part of it. A reopened database must equal a
 * ledger in memory after the same changes. */
#include "store-fixture.h"

#include <stdio.h>

enum { N_SLICES = 7, N_BUSY = 4, N_HOSTS = 2, N_CHIPS = 4, N_JOBS = 6, N_BUNDLES = 5, N_STEPS = 120, N_SEQUENCES = 24 };

/* --- a consistent cluster: each bundle has its own chips --- */

typedef struct {
  gboolean is_there;
  guint replaced;
  QuoitNodeState state;
  gint32 free_e4[N_CHIPS]; /* of each chip */
  gint64 other_e4;         /* used without a group */
} Host;

typedef struct {
  guint slice, host;
  gint64 tpu_e4;
  gboolean is_placed;
} JobBundle;

typedef struct {
  guint id; /* 0: none */
  guint n_bundles;
  JobBundle bundles[N_BUNDLES];
} Job;

typedef struct {
  GRand *rand;
  guint32 seed;
  guint step, last_job;
  gint64 now_ms;
  Host hosts[N_SLICES][N_HOSTS];
  Job jobs[N_JOBS];
} Sequence;

static guint
random_below (Sequence *sequence, guint n)
{
  return (guint) g_rand_int_range (sequence->rand, 0, (gint) n);
}

static void
renew_host (Host *host)
{
  for (guint c = 0; c < N_CHIPS; c++)
    host->free_e4[c] = QUOIT_AMOUNT_UNIT;
  host->other_e4 = 0;
}

static gboolean
take_chips (Sequence *sequence, Host *host, gint64 tpu_e4)
{
  Host after = *host;
  guint first = random_below (sequence, N_CHIPS);

  for (guint i = 0; i < N_CHIPS && tpu_e4 > 0; i++)
    {
      gint32 *chip = &after.free_e4[(first + i) % N_CHIPS];
      gint32 want = (gint32) MIN (tpu_e4, QUOIT_AMOUNT_UNIT);

      if (*chip < want)
        continue;
      *chip -= want;
      tpu_e4 -= want;
    }
  if (tpu_e4 > 0)
    return FALSE;
  *host = after;
  return TRUE;
}

static void
start_job (Sequence *sequence, Job *job)
{
  static const gint64 sizes[] = { 2000, 3000, 4000, 5000, 6000, 7000, 10000, 10000, 20000, 40000 };

  *job = (Job) { .id = ++sequence->last_job };
  for (guint n = 1 + random_below (sequence, N_BUNDLES); n > 0; n--)
    {
      JobBundle bundle = { random_below (sequence, N_BUSY), random_below (sequence, N_HOSTS),
                           sizes[random_below (sequence, G_N_ELEMENTS (sizes))], TRUE };
      Host *host = &sequence->hosts[bundle.slice][bundle.host];

      bundle.is_placed
          = host->is_there && host->state == QUOIT_NODE_ALIVE && take_chips (sequence, host, bundle.tpu_e4);
      job->bundles[job->n_bundles++] = bundle;
    }
}

/* Resets all hosts and places the jobs again. Bundles on a replaced host are unplaced. */
static void
settle_jobs (Sequence *sequence)
{
  for (guint s = 0; s < N_SLICES; s++)
    for (guint h = 0; h < N_HOSTS; h++)
      renew_host (&sequence->hosts[s][h]);
  for (guint j = 0; j < N_JOBS; j++)
    for (guint b = 0; b < sequence->jobs[j].n_bundles; b++)
      {
        JobBundle *bundle = &sequence->jobs[j].bundles[b];
        Host *host = &sequence->hosts[bundle->slice][bundle->host];

        bundle->is_placed = bundle->is_placed && host->is_there && host->state != QUOIT_NODE_DEAD
                            && take_chips (sequence, host, bundle->tpu_e4);
      }
}

static void
use_otherwise (Sequence *sequence)
{
  for (guint s = 0; s < N_BUSY; s++)
    for (guint h = 0; h < N_HOSTS; h++)
      for (guint c = 0; c < N_CHIPS; c++)
        {
          Host *host = &sequence->hosts[s][h];
          gint32 part
              = random_below (sequence, 12) == 0 ? host->free_e4[c] / (1 + (gint32) random_below (sequence, 2)) : 0;

          host->free_e4[c] -= part;
          host->other_e4 += part;
        }
}

static void
change_cluster (Sequence *sequence)
{
  Host *host = &sequence->hosts[random_below (sequence, N_SLICES)][random_below (sequence, N_HOSTS)];
  guint gone = random_below (sequence, 3 * N_SLICES);

  if (random_below (sequence, 3) == 0)
    host->replaced++;
  if (random_below (sequence, 3) == 0)
    host->state = random_below (sequence, 2) == 0 ? QUOIT_NODE_ALIVE : (QuoitNodeState) random_below (sequence, 3);
  for (guint h = 0; h < N_HOSTS && gone < N_SLICES; h++)
    sequence->hosts[gone][h].is_there = FALSE;
  for (guint s = 0; s < N_SLICES; s++)
    for (guint h = 0; h < N_HOSTS; h++)
      sequence->hosts[s][h].is_there |= random_below (sequence, 3) == 0;
  for (guint j = 0; j < N_JOBS; j++)
    if (random_below (sequence, 4) == 0)
      sequence->jobs[j] = (Job) { 0 };
  settle_jobs (sequence);
  for (guint j = 0; j < N_JOBS; j++)
    if (sequence->jobs[j].id == 0 && random_below (sequence, 3) == 0)
      start_job (sequence, &sequence->jobs[j]);
  use_otherwise (sequence);
}

/* --- the cluster's lists --- */

static void
claim_host (QuoitClaims *claims, guint kind, guint pool, const char *slice, guint h, const Host *host)
{
  g_autofree char *name = g_strdup_printf ("%s-%u", slice, h);
  g_autofree char *identity = g_strdup_printf ("%s-%u-%u", slice, h, host->replaced);

  quoit_claims_add (claims, &(QuoitNodeClaim) { .name = name,
                                                .identity = identity,
                                                .slice = slice,
                                                .pool = pool,
                                                .kind = kind,
                                                .worker_id = (gint32) h,
                                                .state = (guint8) host->state });
}

static void
claim_job (QuoitClaims *claims, const Job *job, guint32 index[N_SLICES][N_HOSTS])
{
  QuoitResource takes[N_BUNDLES];
  QuoitBundleClaim bundles[N_BUNDLES];
  g_autofree char *identity = g_strdup_printf ("id-%u", job->id), *name = g_strdup_printf ("job-%u", job->id % 5);
  gboolean all = TRUE, any = FALSE;

  for (guint b = 0; b < job->n_bundles; b++)
    {
      const JobBundle *bundle = &job->bundles[b];

      takes[b] = (QuoitResource) { "TPU", { bundle->tpu_e4 } };
      bundles[b] = (QuoitBundleClaim) { bundle->is_placed ? index[bundle->slice][bundle->host] : QUOIT_NOT_PLACED, 1,
                                        &takes[b] };
      all &= bundle->is_placed;
      any |= bundle->is_placed;
    }
  quoit_claims_add_group (claims, &(QuoitGroupClaim) { .name = job->id % 3 == 0 ? "" : name,
                                                       .identity = identity,
                                                       .request = "PACK",
                                                       .state = all   ? QUOIT_GROUP_RESERVED
                                                                : any ? QUOIT_GROUP_RESCHEDULING
                                                                      : QUOIT_GROUP_PENDING,
                                                       .n_bundles = job->n_bundles,
                                                       .bundles = bundles });
}

static QuoitClaims *
claims_of (const Sequence *sequence, guint scope)
{
  QuoitClaims *claims = quoit_claims_new ("ray", QUOIT_SOURCE_KIND_RAY_NODES);
  QuoitResource resources[] = { { "CPU", { 8 * QUOIT_AMOUNT_UNIT } }, { "TPU", { N_CHIPS * QUOIT_AMOUNT_UNIT } } };
  QuoitNodeKind facts = { .generation = QUOIT_GENERATION_V6E,
                          .shape = { .n_dims = 2, .dims = { 2, 4, 1 } },
                          .topology = "2x4",
                          .pod_type = "v6e-8",
                          .chips = N_CHIPS,
                          .resources = resources,
                          .n_resources = 2 };
  guint32 pool = quoit_claims_ensure_pool (claims, "p"), kind = quoit_claims_intern_kind (claims, &facts, NULL), n = 0;
  guint32 index[N_SLICES][N_HOSTS] = { 0 };

  for (guint s = 0; s < N_SLICES; s++)
    for (guint h = 0; h < N_HOSTS; h++)
      if (sequence->hosts[s][h].is_there)
        {
          char slice[] = { (char) ('a' + s), '\0' };

          claim_host (claims, kind, pool, slice, h, &sequence->hosts[s][h]);
          index[s][h] = n++;
        }
  for (guint j = 0; j < N_JOBS && (scope & QUOIT_CLAIMS_SCOPE_GROUPS) != 0; j++)
    if (sequence->jobs[j].id != 0)
      claim_job (claims, &sequence->jobs[j], index);
  for (guint s = 0; s < N_SLICES && (scope & QUOIT_CLAIMS_SCOPE_EXTERNAL) != 0; s++)
    for (guint h = 0; h < N_HOSTS; h++)
      if (sequence->hosts[s][h].is_there && sequence->hosts[s][h].other_e4 > 0)
        {
          QuoitResource take = { "TPU", { sequence->hosts[s][h].other_e4 } };

          quoit_claims_add_external (claims, &(QuoitBundleClaim) { index[s][h], 1, &take });
        }
  quoit_claims_set_scope (claims, scope);
  return claims;
}

/* --- importing into two ledgers --- */

typedef struct {
  QuoitAction action;
  guint scope; /* of a sync, whose claims are made of it */
} RandomChange;

/* Returns the code; 0: success. */
static int
apply_change (const Sequence *sequence, QuoitStore *store, const RandomChange *random_change, char **result)
{
  g_autoptr (GError) error = NULL;
  QuoitAction action = random_change->action;
  QuoitClaims *claims = action.type == QUOIT_ACTION_SYNC ? claims_of (sequence, random_change->scope) : NULL;
  gboolean done;

  if (claims != NULL)
    action.claims = &claims;
  done = quoit_store_change (store, &action, sequence->now_ms, NULL, NULL, &error);

  quoit_claims_free (claims);
  g_free (*result);
  *result = g_strdup (done ? "done" : error->message);
  return done ? 0 : error->code;
}

/* Syncs of a whole cluster are never refused. Syncs of a part may contradict what remains of the rest. */
static void
apply_change_to_both (const Sequence *sequence, QuoitStore *memory, QuoitStore *store,
                      const RandomChange *random_change)
{
  g_autofree char *a = NULL, *b = NULL;
  int code = apply_change (sequence, memory, random_change, &a);
  const guint all = QUOIT_CLAIMS_SCOPE_GROUPS | QUOIT_CLAIMS_SCOPE_EXTERNAL;

  ck_assert_msg (code == apply_change (sequence, store, random_change, &b),
                 "seed %u, step %u: %s in memory, %s in a file", sequence->seed, sequence->step, a, b);
  ck_assert_msg (code != QUOIT_ERROR_DAMAGED && code != QUOIT_ERROR_FAILED && code != QUOIT_ERROR_STORE,
                 "seed %u, step %u: %s", sequence->seed, sequence->step, a);
  ck_assert_msg (random_change->action.type != QUOIT_ACTION_SYNC || random_change->scope != all || code == 0,
                 "seed %u, step %u: %s", sequence->seed, sequence->step, a);
}

static void
change_request (Sequence *sequence, QuoitStore *memory, QuoitStore *store, const char *name)
{
  static const gint64 divisions[] = { 0, 0, 5000, 10000, 20000 };
  g_autofree char *key
      = random_below (sequence, 3) == 0 ? g_strdup_printf ("key-%u", random_below (sequence, 9)) : NULL;
  g_autoptr (QuoitRequest) request = request_for (name, key, 1 + random_below (sequence, 2));
  QuoitHold lease = { request, 1000 + random_below (sequence, 60000) };

  if (random_below (sequence, 3) == 0)
    request->owner = g_strdup_printf ("owner-%u", random_below (sequence, 3));
  if (request->n_slices == 2 && random_below (sequence, 2) == 0)
    request->min_slices = 1;
  request->tpu_per_bundle.e4 = divisions[random_below (sequence, G_N_ELEMENTS (divisions))];
  if (random_below (sequence, 2) == 0)
    apply_change_to_both (sequence, memory, store, &(RandomChange) { { QUOIT_ACTION_HOLD, .hold = lease }, 0 });
  else
    apply_change_to_both (sequence, memory, store, &(RandomChange) { { QUOIT_ACTION_RESERVE, .request = request }, 0 });
}

static void
change_group (Sequence *sequence, QuoitStore *memory, QuoitStore *store, const char *name)
{
  char slice[] = { (char) ('a' + random_below (sequence, N_SLICES)), '\0' };
  QuoitGroupRef ref = { name, 0 }, gone = { name, 1 + random_below (sequence, 12) };
  QuoitLeaseChange lease = { ref, random_below (sequence, 4) == 0 ? 0 : 1 + (gint64) random_below (sequence, 60000) };
  QuoitResize size = { .ref = ref, .n_slices = 1 + random_below (sequence, 4) };
  QuoitResize range = { .ref = ref, .n_slices = 1 + random_below (sequence, 4), .between = TRUE, .least = 1 };
  QuoitSliceRelease part = { ref, slice };
  const RandomChange choices[] = {
    { { QUOIT_ACTION_CONFIRM, .lease = lease }, 0 },      { { QUOIT_ACTION_RENEW, .lease = lease }, 0 },
    { { QUOIT_ACTION_RELEASE, .group = ref }, 0 },        { { QUOIT_ACTION_RESIZE, .resize = size }, 0 },
    { { QUOIT_ACTION_REPAIR, .group = ref }, 0 },         { { QUOIT_ACTION_RESIZE, .resize = range }, 0 },
    { { QUOIT_ACTION_RELEASE_SLICE, .slice = part }, 0 }, { { QUOIT_ACTION_FORGET, .group = gone }, 0 },
  };

  apply_change_to_both (sequence, memory, store, &choices[random_below (sequence, G_N_ELEMENTS (choices))]);
}

static void
change_owner (Sequence *sequence, QuoitStore *memory, QuoitStore *store)
{
  g_autofree char *name = g_strdup_printf ("owner-%u", random_below (sequence, 3));
  QuoitOwnerChange change = { name, random_below (sequence, 3) == 0 ? 0 : 1 + (gint64) random_below (sequence, 90000) };
  const RandomChange choices[] = {
    { { QUOIT_ACTION_SET_OWNER, .owner = change }, 0 },
    { { QUOIT_ACTION_SET_OWNER, .owner = change }, 0 },
    { { QUOIT_ACTION_RENEW_OWNER, .owner = change }, 0 },
    { { QUOIT_ACTION_END_OWNER, .owner = change }, 0 },
  };

  apply_change_to_both (sequence, memory, store, &choices[random_below (sequence, G_N_ELEMENTS (choices))]);
}

static void
change_something (Sequence *sequence, QuoitStore *memory, QuoitStore *store)
{
  g_autofree char *name
      = g_strdup_printf ("%s-%u", random_below (sequence, 8) == 0 ? "job" : "mine", random_below (sequence, 4));
  g_autofree char *node
      = g_strdup_printf ("%c-%u", (char) ('a' + random_below (sequence, N_SLICES)), random_below (sequence, N_HOSTS));
  QuoitStatesChange states
      = { (const char *const *) &node, 1, QUOIT_VERB_SET_STATE, (QuoitNodeState) random_below (sequence, 3) };
  guint die = random_below (sequence, 100);

  /* Forwards, sometimes backwards. */
  sequence->now_ms += (gint64) random_below (sequence, 9000) - 2000;
  if (die < 35)
    {
      change_cluster (sequence);
      apply_change_to_both (sequence, memory, store,
                            &(RandomChange) { { .type = QUOIT_ACTION_SYNC },
                                              random_below (sequence, 4) > 0 ? 3 : random_below (sequence, 4) });
    }
  else if (die < 55)
    change_request (sequence, memory, store, name);
  else if (die < 85)
    change_group (sequence, memory, store, name);
  else if (die < 95)
    change_owner (sequence, memory, store);
  else
    apply_change_to_both (sequence, memory, store,
                          &(RandomChange) { { QUOIT_ACTION_SET_STATES, .states = states }, 0 });
}

static void
compare (const Sequence *sequence, QuoitStore *memory, QuoitStore *store)
{
  g_autoptr (QuoitFleet) a = quoit_store_fleet (memory), b = quoit_store_fleet (store);
  g_autoptr (GError) error = NULL;

  ck_assert_msg (quoit_fleet_check (a, &error) && quoit_fleet_check (b, &error) && quoit_step_compare (a, b, &error)
                     && quoit_step_compare (b, a, &error),
                 "seed %u, step %u: %s", sequence->seed, sequence->step, error == NULL ? "" : error->message);
}

static QuoitStore *
reopen (const Sequence *sequence, const TestPaths *paths, QuoitStore *store)
{
  g_autoptr (GError) error = NULL;

  quoit_store_free (store);
  store = quoit_store_open (paths->path, 0, &error);
  ck_assert_msg (store != NULL && quoit_store_verify (store, &error), "seed %u, step %u: %s", sequence->seed,
                 sequence->step, error == NULL ? "" : error->message);
  return store;
}

static void
run (guint32 seed)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (QuoitStore) memory = quoit_store_new_memory ();
  QuoitStore *store = quoit_store_create (paths.path, 0, NULL);
  Sequence sequence = { .rand = g_rand_new_with_seed (seed), .seed = seed, .now_ms = T0 };

  for (guint s = 0; s < N_SLICES; s++)
    for (guint h = 0; h < N_HOSTS; h++)
      {
        sequence.hosts[s][h].is_there = TRUE;
        renew_host (&sequence.hosts[s][h]);
      }
  for (sequence.step = 1; sequence.step <= N_STEPS; sequence.step++)
    {
      change_something (&sequence, memory, store);
      compare (&sequence, memory, store);
      if (random_below (&sequence, 8) == 0)
        {
          store = reopen (&sequence, &paths, store);
          compare (&sequence, memory, store);
        }
      if (random_below (&sequence, 40) == 0)
        {
          g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);

          ck_assert (quoit_store_compact (store, fleet->seq + 1, sequence.now_ms, NULL, NULL));
        }
    }
  store = reopen (&sequence, &paths, store);
  compare (&sequence, memory, store);
  quoit_store_free (store);
  g_rand_free (sequence.rand);
}

START_TEST (reopened_database_equals_the_model)
{
  const char *text = g_getenv ("QUOIT_TEST_SEED");

  run ((text == NULL ? 20250615 : (guint32) g_ascii_strtoull (text, NULL, 10)) + (guint32) _i);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("sequences");
  TCase *tcase = tcase_create ("sequences");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, reopened_database_equals_the_model, 0, N_SEQUENCES);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
