/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: reserve, hold and release groups. Also looks up groups for the other steps. */
#include "ledger/ahead.h"
#include "ledger/quotas.h"
#include "placement/domains.h"

#include <string.h>

/* 2000-01-01 UTC. */
#define FIRST_MS G_GINT64_CONSTANT (946684800000)

gboolean
quoit_step_clock (const QuoitFleet *fleet, gint64 now_ms, gint64 *time_ms, GError **error)
{
  const char *hint = "";

  if (now_ms >= FIRST_MS && now_ms < QUOIT_LAST_MS)
    return *time_ms = MAX (now_ms, fleet->clock_ms), TRUE;

  if (now_ms >= FIRST_MS / 1000 && now_ms < QUOIT_LAST_MS / 1000)
    hint = "; this looks like seconds";
  else if (now_ms / 1000 >= FIRST_MS && now_ms / 1000 < QUOIT_LAST_MS)
    hint = "; this looks like microseconds";
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "clock '%" G_GINT64_FORMAT "': expected milliseconds since 1970 of the years 2000 to 2199%s",
                     now_ms, hint);
}

/* --- reserve --- */

/* The canonical texts of the groups that a request can get. The first one is apart, because most requests have no
 * alternatives, and need no array. */
typedef struct {
  char *first;
  GPtrArray *choices; /* by alternative, as quoit_request_format_choices() returns them; NULL: only the first */
} Texts;

static void
texts_clear (Texts *texts)
{
  if (texts->choices == NULL)
    g_free (texts->first);
  g_clear_pointer (&texts->choices, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Texts, texts_clear)

static const char *
text_of (const Texts *texts, guint alternative)
{
  return texts->choices == NULL ? texts->first : texts->choices->pdata[alternative];
}

static gboolean
is_same_request (const QuoitRequest *request, const Texts *texts, gint64 begins_ms, const QuoitGroupData *group)
{
  const guint alternative = quoit_request_text_alternative (group->request);

  return group->begins_ms == begins_ms && strcmp (group->name, request->name) == 0
         && alternative < quoit_request_n_alternatives (request)
         && strcmp (group->request, text_of (texts, alternative)) == 0
         && strcmp (group->owner, request->owner == NULL ? "" : request->owner) == 0;
}

/* Handles a request whose key already names @group: a repeated request gets that group. */
static gboolean
return_existing_group (const QuoitRequest *request, const Texts *texts, gint64 begins_ms, const QuoitGroupData *group,
                       QuoitVerb verb, QuoitOutcome *outcome, GError **error)
{
  if (!is_same_request (request, texts, begins_ms, group))
    return quoit_fail (
        error, QUOIT_ERROR_CONFLICT,
        "key '%s' was used for another request: group '%s', %s, owner '%s'; use another key, or the same "
        "request",
        request->key, group->name, group->request, group->owner);
  if (verb == QUOIT_VERB_RESERVE && group->state == QUOIT_GROUP_HELD)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "key '%s' was used to hold group '%s@%" G_GUINT64_FORMAT "', which is not confirmed: confirm it",
                       request->key, group->name, group->id);
  outcome->after = quoit_group_data_ref (group);
  return TRUE;
}

/* What differs between the calls that make a group. */
typedef struct {
  QuoitVerb verb;
  gint64 lease_ms;         /* 0: no lease */
  const QuoitPlan *chosen; /* its slices or cubes; NULL: placement chooses them */
  gint alternative;        /* the only one to try; -1: all of them, in order */
  gboolean is_ahead;       /* it begins at from_ms and ends at until_ms (0: without an end) */
  gint64 from_ms, until_ms;
} Making;

/* Returns the fleet as the new group sees it. Returns NULL if that is @fleet itself. */
static QuoitFleet *
see_for (const QuoitFleet *fleet, const QuoitGroupData *facts, const Making *making)
{
  const gint64 end_ms = quoit_group_latest_end (facts);

  return making->is_ahead ? quoit_fleet_seen_at (fleet, making->from_ms, end_ms)
                          : quoit_fleet_seen_until (fleet, end_ms);
}

/* Makes the report about the fleet as the request sees it. */
static void
refuse_as_seen (const QuoitFleet *fleet, const QuoitGroupData *facts, const Making *making, QuoitRefusal *refusal)
{
  if (making->is_ahead)
    refusal->fleet = see_for (fleet, facts, making);
  else
    refusal->seen_until_ms = quoit_group_latest_end (facts);
}

static gboolean
place_bundles (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *facts, const Making *making,
               QuoitGroupData **new_group, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitFleet) seen = see_for (fleet, facts, making);

  *new_group = quoit_step_make_bundle_group (seen != NULL ? seen : fleet, facts, request, refusal, error);
  if (*new_group != NULL && !quoit_step_admit_bundles (fleet, request, *new_group, refusal))
    g_clear_pointer (new_group, quoit_group_data_unref);
  if (*new_group == NULL && refusal->request != NULL && refusal->fleet == NULL)
    refuse_as_seen (fleet, facts, making, refusal);
  return *new_group != NULL;
}

/* Refuses a request for slices because of a quota. */
static gboolean
refuse_over_quota (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *facts,
                   const Making *making, QuoitRefusal *refusal)
{
  quoit_refusal_set (refusal, request);
  refuse_as_seen (fleet, facts, making, refusal);
  return FALSE;
}

static gboolean
place_slices (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *facts, const Making *making,
              QuoitGroupData **new_group, GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  QuoitRequest limited;
  const QuoitRequest *wanted = fleet->quotas == NULL ? request : &limited;
  QuoitPlan plan;
  gboolean is_chosen;

  if (wanted == &limited && !quoit_step_limit_by_quotas (fleet, request, &limited))
    return refuse_over_quota (fleet, request, facts, making, refusal);
  quoit_plan_init (&plan);
  is_chosen = !making->is_ahead ? quoit_step_choose_slices (fleet, wanted, quoit_group_latest_end (facts), &plan, moved,
                                                            refusal, error)
                                : quoit_step_choose_slices_ahead (fleet, wanted, making->from_ms, making->until_ms,
                                                                  &plan, moved, refusal, error);
  /* A refusal keeps the request of the caller, which stays valid. */
  if (refusal->request == &limited)
    refusal->request = request;
  if (is_chosen)
    *new_group = quoit_step_make_slice_group (fleet, facts, request, plan.slices, plan.n, error);
  quoit_plan_clear (&plan);
  return *new_group != NULL;
}

/* Makes a group of slices that the caller has chosen. */
static gboolean
take_chosen (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *facts, const QuoitPlan *chosen,
             QuoitGroupData **new_group, GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  QuoitRequest limited;

  if ((fleet->quotas != NULL
       && (!quoit_step_limit_by_quotas (fleet, request, &limited) || limited.n_slices < chosen->n))
      || !quoit_step_move_away (fleet, chosen, quoit_group_latest_end (facts), moved))
    return quoit_refusal_set (refusal, request);
  *new_group = quoit_step_make_slice_group (fleet, facts, request, chosen->slices, chosen->n, error);
  return *new_group != NULL;
}

/* Makes a group of slices that are joined from the cubes that the caller has chosen. */
static gboolean
take_cubes (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *facts, const Making *making,
            QuoitGroupData **new_group, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitFleet) seen = see_for (fleet, facts, making);

  *new_group = quoit_step_take_cube_group (seen != NULL ? seen : fleet, facts, request, making->chosen, refusal, error);
  return *new_group != NULL;
}

static gboolean
make_placed_group (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitGroupData *facts,
                   const Making *making, QuoitGroupData **new_group, GPtrArray **moved, QuoitRefusal *refusal,
                   GError **error)
{
  if (making->chosen != NULL && request->cubes != QUOIT_CUBES_NONE)
    return take_cubes (fleet, request, facts, making, new_group, refusal, error);
  if (making->chosen != NULL)
    return take_chosen (fleet, request, facts, making->chosen, new_group, moved, refusal, error);
  return quoit_request_is_by_host (request)
             ? place_bundles (fleet, request, facts, making, new_group, refusal, error)
             : place_slices (fleet, request, facts, making, new_group, moved, refusal, error);
}

/* The size of a request is limited, because every entry that changes the group contains it. */
static gboolean
check_length (const char *canonical, GError **error)
{
  gsize length = strlen (canonical);

  return length <= QUOIT_LONGEST_REQUEST
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "the request is '%" G_GSIZE_FORMAT
                        "' bytes in canonical text: expected at most %d; list equal bundles consecutively, because "
                        "the text contains consecutive equal bundles only once",
                        length, QUOIT_LONGEST_REQUEST);
}

gboolean
quoit_step_expected_end (gint64 time_ms, gint64 runtime_ms, gint64 *end_ms, GError **error)
{
  if (runtime_ms >= QUOIT_LAST_MS - time_ms)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "expected run time '%" G_GINT64_FORMAT "' ms: expected one that ends before the year 2200",
                       runtime_ms);
  *end_ms = runtime_ms == 0 ? 0 : time_ms + runtime_ms;
  return TRUE;
}

/* Checks what does not depend on the fleet, for each alternative. Sets the end of the lease in @facts, and @texts. */
static gboolean
check_request (const QuoitRequest *request, QuoitVerb verb, gint64 lease_ms, gint64 time_ms, QuoitGroupData *facts,
               Texts *texts, GError **error)
{
  const guint n = quoit_request_n_alternatives (request);
  gint64 end_ms;

  if (!quoit_request_check_complete (request, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!quoit_step_expected_end (time_ms, quoit_request_alternative (request, i)->expected_runtime_ms, &end_ms, error))
      return FALSE;
  if ((lease_ms != 0 || verb == QUOIT_VERB_HOLD) && !quoit_step_lease (time_ms, lease_ms, &facts->until_ms, error))
    return FALSE;
  texts->choices = n == 1 ? NULL : quoit_request_format_choices (request);
  texts->first = n == 1 ? quoit_request_format_canonical (request) : texts->choices->pdata[0];
  for (guint i = 0; i < n; i++)
    if (!check_length (text_of (texts, i), error))
      return FALSE;
  return TRUE;
}

gboolean
quoit_step_check_request (const QuoitRequest *request, gint64 time_ms, GError **error)
{
  QuoitGroupData facts = { 0 };
  g_auto (Texts) texts = { NULL, NULL };

  return check_request (request, QUOIT_VERB_RESERVE, request->lease_ms, time_ms, &facts, &texts, error);
}

/* Makes the group of one alternative. @begins_ms: when it begins. */
static gboolean
make_alternative (const QuoitFleet *fleet, const QuoitRequest *request, guint alternative, const Texts *texts,
                  gint64 begins_ms, QuoitGroupData *facts, const Making *making, QuoitGroupData **new_group,
                  GPtrArray **moved, QuoitRefusal *refusal, GError **error)
{
  const QuoitRequest *tried = quoit_request_alternative (request, alternative);

  facts->request = text_of (texts, alternative);
  facts->kind = tried->bundles->len > 0            ? QUOIT_RECORD_BUNDLES
                : tried->cut != QUOIT_CUT_WHOLE    ? QUOIT_RECORD_PARTS
                : tried->cubes != QUOIT_CUBES_NONE ? QUOIT_RECORD_CUBES
                                                   : QUOIT_RECORD_SLICES;
  if (quoit_request_check_near (fleet, tried, error)
      && quoit_step_expected_end (begins_ms, tried->expected_runtime_ms, &facts->expected_end_ms, error)
      && make_placed_group (fleet, tried, facts, making, new_group, moved, refusal, error))
    return TRUE;
  if (!making->is_ahead)
    {
      refusal->now_ms = begins_ms;
      refusal->end_ms = quoit_group_latest_end (facts);
    }
  return FALSE;
}

/* Makes the group of the first alternative that can be placed. */
static gboolean
make_first_alternative (const QuoitFleet *fleet, const QuoitRequest *request, const Texts *texts, gint64 begins_ms,
                        QuoitGroupData *facts, const Making *making, QuoitGroupData **new_group, GPtrArray **moved,
                        QuoitRefusal *refusal, GError **error)
{
  g_autoptr (GArray) refusals = NULL;

  if (request->alternatives == NULL || making->alternative >= 0)
    return make_alternative (fleet, request, (guint) MAX (making->alternative, 0), texts, begins_ms, facts, making,
                             new_group, moved, refusal, error);
  refusals = quoit_refusals_new ();
  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    {
      QuoitRefusal own = { 0 };
      GError *why = NULL;
      gboolean is_made
          = make_alternative (fleet, request, i, texts, begins_ms, facts, making, new_group, moved, &own, &why);

      if (is_made)
        return TRUE;
      own.error = why;
      g_array_append_val (refusals, own);
      /* Moves for slices that then could not be used. */
      g_clear_pointer (moved, g_ptr_array_unref);
    }
  return quoit_refusal_set_alternatives (refusal, request, g_steal_pointer (&refusals), error);
}

static gboolean
check_times_ahead (const Making *making, gint64 time_ms, GError **error)
{
  if (making->from_ms <= time_ms || !quoit_time_is_valid (making->from_ms))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "from '%" G_GINT64_FORMAT "': expected milliseconds since 1970, after now (%" G_GINT64_FORMAT
                       ") and before the year 2200",
                       making->from_ms, time_ms);
  if (making->until_ms != 0 && (making->until_ms <= making->from_ms || !quoit_time_is_valid (making->until_ms)))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "until '%" G_GINT64_FORMAT
                       "': expected milliseconds since 1970, after the beginning (%" G_GINT64_FORMAT
                       ") and before the year 2200; 0: without an end",
                       making->until_ms, making->from_ms);
  return making->lease_ms == 0
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "lease '%" G_GINT64_FORMAT "' ms: expected none, because a reservation ahead has an end",
                        making->lease_ms);
}

static gboolean
reserve_or_hold (const QuoitFleet *fleet, const QuoitRequest *request, const Making *making, gint64 now_ms,
                 QuoitEntry **entry, QuoitOutcome *outcome, GError **error)
{
  const QuoitVerb verb = making->verb;
  g_auto (Texts) texts = { NULL, NULL };
  g_autoptr (GPtrArray) moved = NULL;
  const QuoitGroupData *group;
  QuoitGroupData *new_group = NULL, facts = { .id = fleet->next_group_id };
  gint64 time_ms = 0, begins_ms;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  begins_ms = CLAMP (making->from_ms, time_ms, QUOIT_LAST_MS - 1);
  if (!check_request (request, verb, making->lease_ms, begins_ms, &facts, &texts, error))
    return FALSE;
  group = request->key == NULL ? NULL : quoit_fleet_find_key (fleet, request->key);
  if (group != NULL)
    return return_existing_group (request, &texts, making->is_ahead ? making->from_ms : 0, group, verb, outcome, error);
  group = quoit_fleet_find_group (fleet, request->name);
  if (group != NULL)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                       "there is a group '%s' already: '%s@%" G_GUINT64_FORMAT "', %s; release it, or use another name",
                       request->name, group->name, group->id, group->request);
  if (making->is_ahead && !check_times_ahead (making, time_ms, error))
    return FALSE;
  if (request->owner != NULL && !quoit_step_check_owner (fleet, request->owner, error))
    return FALSE;
  if (making->is_ahead && !quoit_step_check_n_ahead (fleet, error))
    return FALSE;

  facts.created_ms = time_ms;
  facts.priority = request->priority;
  if (request->labels != NULL)
    {
      facts.labels = (const QuoitLabel *) (const void *) request->labels->data;
      facts.n_labels = (guint16) request->labels->len;
    }
  facts.state = verb == QUOIT_VERB_HOLD ? QUOIT_GROUP_HELD : QUOIT_GROUP_RESERVED;
  facts.name = request->name;
  facts.owner = request->owner == NULL ? "" : request->owner;
  facts.key = request->key == NULL ? "" : request->key;
  if (making->is_ahead)
    {
      facts.state = QUOIT_GROUP_AHEAD;
      facts.begins_ms = making->from_ms;
      facts.until_ms = making->until_ms;
    }
  if (!make_first_alternative (fleet, request, &texts, begins_ms, &facts, making, &new_group, &moved, &outcome->refusal,
                               error))
    return FALSE;
  *entry = quoit_entry_new (fleet, verb, time_ms);
  quoit_entry_add_moves (*entry, moved);
  quoit_entry_add (*entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = new_group });
  outcome->after = quoit_group_data_ref (new_group);
  return TRUE;
}

gboolean
quoit_step_reserve (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, QuoitEntry **entry,
                    QuoitOutcome *outcome, GError **error)
{
  const Making making = { QUOIT_VERB_RESERVE, .lease_ms = request->lease_ms, .alternative = -1 };

  return reserve_or_hold (fleet, request, &making, now_ms, entry, outcome, error);
}

gboolean
quoit_step_reserve_ahead (const QuoitFleet *fleet, const QuoitReserveAhead *ahead, gint64 now_ms, QuoitEntry **entry,
                          QuoitOutcome *outcome, GError **error)
{
  const Making making
      = { QUOIT_VERB_RESERVE,        .lease_ms = ahead->request->lease_ms, .alternative = -1, .is_ahead = TRUE,
          .from_ms = ahead->from_ms, .until_ms = ahead->until_ms };

  return reserve_or_hold (fleet, ahead->request, &making, now_ms, entry, outcome, error);
}

gboolean
quoit_step_reserve_alternative (const QuoitFleet *fleet, const QuoitRequest *request, guint alternative,
                                const QuoitPlan *chosen, gint64 now_ms, QuoitEntry **entry, QuoitOutcome *outcome,
                                GError **error)
{
  const Making making
      = { QUOIT_VERB_RESERVE, .lease_ms = request->lease_ms, .chosen = chosen, .alternative = (gint) alternative };

  return reserve_or_hold (fleet, request, &making, now_ms, entry, outcome, error);
}

gboolean
quoit_step_hold (const QuoitFleet *fleet, const QuoitHold *hold, gint64 now_ms, QuoitEntry **entry,
                 QuoitOutcome *outcome, GError **error)
{
  const Making making = { QUOIT_VERB_HOLD, .lease_ms = hold->lease_ms, .alternative = -1 };

  return reserve_or_hold (fleet, hold->request, &making, now_ms, entry, outcome, error);
}

/* --- release --- */

gboolean
quoit_group_ref_parse (const char *text, QuoitGroupRef *ref, char **name, GError **error)
{
  const char *at = strrchr (text, '@');
  guint64 id = 0;

  if (*text == '\0' || at == text || (at != NULL && !g_ascii_string_to_unsigned (at + 1, 10, 1, G_MAXINT64, &id, NULL)))
    {
      g_autofree char *quoted = quoit_quote (text);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "group %s: expected NAME or NAME@ID, ID a number from 1", quoted);
    }
  *name = at == NULL ? g_strdup (text) : g_strndup (text, (gsize) (at - text));
  *ref = (QuoitGroupRef) { *name, id };
  return TRUE;
}

/* Returns the last group of that name if its lease expired and it is still recorded, otherwise NULL. */
static const QuoitGroupData *
find_expired (const QuoitFleet *fleet, const QuoitGroupRef *ref)
{
  const QuoitGroupData *newest = ref->id == 0 ? NULL : quoit_fleet_find_removed (fleet, ref->id);

  for (guint32 slot = 0; ref->id == 0 && slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && group->state == QUOIT_GROUP_REMOVED && strcmp (group->name, ref->name) == 0
          && (newest == NULL || group->id > newest->id))
        newest = group;
    }
  return newest != NULL && quoit_group_is_listed (newest) && newest->end == QUOIT_END_EXPIRED
                 && strcmp (newest->name, ref->name) == 0
             ? newest
             : NULL;
}

static const QuoitGroupData *
fail_released (const QuoitGroupData *group, GError **error)
{
  g_autofree char *reason = quoit_quote (group->reason);

  return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                          "group '%s@%" G_GUINT64_FORMAT "' holds nothing any more: it was released for the reason %s",
                          group->name, group->id, reason);
}

/* Explains why there is no live group of that name, or of that name and id. */
static const QuoitGroupData *
fail_absent (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error)
{
  g_autofree char *quoted = quoit_quote (ref->name);
  const QuoitGroupData *group = find_expired (fleet, ref);

  if (group != NULL)
    return quoit_fail_null (error, QUOIT_ERROR_EXPIRED,
                            "the lease of group '%s@%" G_GUINT64_FORMAT "' has ended: its resources are free; "
                            "reserve again",
                            group->name, group->id);
  for (guint32 slot = 0; ref->id != 0 && slot < fleet->n_slots; slot++)
    if ((group = quoit_fleet_group_at (fleet, slot)) != NULL && group->id == ref->id && quoit_group_is_listed (group)
        && group->state != QUOIT_GROUP_REMOVED)
      return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                              "no group %s: id %" G_GUINT64_FORMAT " belongs to group '%s'", quoted, ref->id,
                              group->name);
  group = ref->id == 0 ? NULL : quoit_fleet_find_removed (fleet, ref->id);
  if (group != NULL && *group->reason != '\0' && strcmp (group->name, ref->name) == 0)
    return fail_released (group, error);
  if (ref->id != 0 && ref->id < fleet->next_group_id)
    return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                            "group %s of id %" G_GUINT64_FORMAT " holds nothing any more: it was released", quoted,
                            ref->id);
  return quoit_fail_null (error, QUOIT_ERROR_NOT_FOUND, "no group %s", quoted);
}

const QuoitGroupData *
quoit_step_lookup_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error)
{
  const QuoitGroupData *group = quoit_fleet_find_group (fleet, ref->name);
  g_autofree char *quoted = NULL;

  if (group != NULL && quoit_group_is_listed (group) && (ref->id == 0 || ref->id == group->id))
    return group;
  if (group == NULL || !quoit_group_is_listed (group) || find_expired (fleet, ref) != NULL)
    return fail_absent (fleet, ref, error);
  quoted = quoit_quote (ref->name);
  return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                          "group %s is '%s@%" G_GUINT64_FORMAT "' now, not '@%" G_GUINT64_FORMAT "'", quoted,
                          group->name, group->id, ref->id);
}

const QuoitGroupData *
quoit_step_lookup_own_group (const QuoitFleet *fleet, const QuoitGroupRef *ref, GError **error)
{
  const QuoitGroupData *group = quoit_step_lookup_group (fleet, ref, error);

  if (group == NULL || *group->source == '\0')
    return group;
  return quoit_fail_null (error, QUOIT_ERROR_CONFLICT,
                          "group '%s@%" G_GUINT64_FORMAT "' belongs to source '%s': remove it at the source, and sync",
                          group->name, group->id, group->source);
}

gboolean
quoit_step_release (const QuoitFleet *fleet, const QuoitGroupRef *ref, const char *reason, gint64 now_ms,
                    QuoitEntry **entry, QuoitOutcome *outcome, GError **error)
{
  const QuoitGroupData *group;
  QuoitEffect removal;
  gint64 time_ms = 0;

  if ((reason != NULL && !quoit_reason_check (reason, error)) || !quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = quoit_step_lookup_own_group (fleet, ref, error);
  if (group == NULL)
    return FALSE;

  *entry = quoit_entry_new (fleet, QUOIT_VERB_RELEASE, time_ms);
  /* Records of such releases must not accumulate in a ledger in which no lease ever ends. */
  if (reason != NULL)
    quoit_step_forget_old (fleet, time_ms, *entry);
  removal = quoit_effect_removal (group, QUOIT_END_RELEASED);
  removal.reason = g_strdup (reason);
  quoit_entry_add (*entry, removal);
  outcome->before = quoit_group_data_ref (group);
  return TRUE;
}

/* Sets *@labels to the labels of the group after the update, owned by the caller. More labels are allowed in between,
 * because an update may set a label before it removes another one. */
static gboolean
update_labels (const QuoitGroupData *group, const QuoitGroupUpdate *update, GArray **labels, GError **error)
{
  *labels = quoit_labels_new (group->labels, group->n_labels);
  for (guint32 i = 0; i < update->n_labels; i++)
    if (!quoit_labels_set (*labels, update->label_keys[i], update->label_values[i], 2 * QUOIT_MAX_LABELS, error))
      return FALSE;
  return (*labels)->len <= QUOIT_MAX_LABELS
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "group '%s@%" G_GUINT64_FORMAT "' would have %u labels: expected at most %d", group->name,
                        group->id, (*labels)->len, QUOIT_MAX_LABELS);
}

gboolean
quoit_step_update (const QuoitFleet *fleet, const QuoitGroupUpdate *update, gint64 now_ms, QuoitEntry **entry,
                   QuoitOutcome *outcome, GError **error)
{
  g_autoptr (GArray) labels = NULL;
  const QuoitGroupData *group;
  QuoitGroupData fields;
  gint64 time_ms = 0;

  /* Checked first, so that a million labels are refused at no cost. */
  if (update->n_labels > QUOIT_MAX_LABELS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "more than %d labels: expected at most %d in one call",
                       QUOIT_MAX_LABELS, QUOIT_MAX_LABELS);
  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  group = quoit_step_lookup_own_group (fleet, &update->ref, error);
  if (group == NULL)
    return FALSE;
  fields = quoit_group_data_copy_fields (group);
  if (update->sets_priority)
    fields.priority = update->priority;
  if (update->sets_end)
    fields.expected_end_ms = update->expected_end_ms;
  if (fields.expected_end_ms != 0 && update->sets_end
      && (fields.expected_end_ms < group->created_ms || !quoit_time_is_valid (fields.expected_end_ms)))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "expected end '%" G_GINT64_FORMAT
                       "': expected milliseconds since 1970, after the group was made, "
                       "and before the year 2200; 0: unknown",
                       fields.expected_end_ms);
  if (!update_labels (group, update, &labels, error))
    return FALSE;
  fields.labels = (const QuoitLabel *) (const void *) labels->data;
  fields.n_labels = (guint16) labels->len;
  outcome->after = quoit_group_data_new (&fields);
  if (fields.priority == group->priority && fields.expected_end_ms == group->expected_end_ms
      && quoit_labels_equal (fields.labels, fields.n_labels, group->labels, group->n_labels))
    return TRUE;
  if (!quoit_step_check_growth (fleet, group, outcome->after, error))
    {
      g_clear_pointer (&outcome->after, quoit_group_data_unref);
      return FALSE;
    }
  *entry = quoit_entry_new (fleet, QUOIT_VERB_UPDATE, time_ms);
  quoit_entry_add (
      *entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_ref (outcome->after) });
  return TRUE;
}
