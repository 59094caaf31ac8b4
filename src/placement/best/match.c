/* SPDX-License-Identifier: Apache-2.0 */
/* The sets of places that can be taken together form a matroid. Taking places greedily, in any order, therefore
 * takes as many as possible, and the earliest ones. A place that cannot be added now can never be added, nor can
 * another place of its room. Kinds that a failed search has visited can never take more places. */
#include "placement/best/match.h"

#include "placement/rows.h"

#define NONE G_MAXUINT32

/* A taken place. */
typedef struct {
  guint32 place, next; /* next: in the same share */
} Taken;

/* The places of a room that a kind has. */
typedef struct {
  guint32 kind, room;
  guint32 first; /* of Taken */
  guint32 next;  /* of the same kind */
} Share;

typedef struct {
  guint32 capacity;
  guint32 next_kind; /* all kinds before it are fully placed, or do not fit */
  guint32 seen;      /* number of the last search that visited it */
  gboolean is_dead;
} Room;

typedef struct {
  guint32 left;        /* number of unplaced members */
  guint32 first_share; /* NONE: none */
  guint32 seen;        /* number of the last search that visited it */
  guint32 from;        /* the share whose place it would get; NONE: the new place */
  gboolean is_settled; /* all kinds that a chain from it can reach are fully placed */
} Kind;

typedef struct {
  const QuoitBestMatching *matching;
  Kind *kinds;
  GArray *rooms, *taken, *shares;
  GHashTable *by_pair; /* kind and room -> share + 1 */
  guint32 *queue;
  guint32 n_left, n_searches;
} Match;

static Room *
room_at (Match *match, guint32 room)
{
  while (match->rooms->len <= room)
    {
      Room new = { match->matching->capacity (match->matching->data, match->rooms->len), 0, 0, FALSE };

      g_array_append_val (match->rooms, new);
    }
  return &g_array_index (match->rooms, Room, room);
}

static Share *
share_at (Match *match, guint32 share)
{
  return &g_array_index (match->shares, Share, share);
}

static guint32
share_of (Match *match, guint32 kind, guint32 room)
{
  gint64 pair = (gint64) ((guint64) kind << 32 | room), *key;
  guint32 found = GPOINTER_TO_UINT (g_hash_table_lookup (match->by_pair, &pair));
  Share new = { kind, room, NONE, match->kinds[kind].first_share };

  if (found != 0)
    return found - 1;
  found = match->shares->len;
  g_array_append_val (match->shares, new);
  match->kinds[kind].first_share = found;
  key = g_new (gint64, 1);
  *key = pair;
  g_hash_table_insert (match->by_pair, key, GUINT_TO_POINTER (found + 1));
  return found;
}

static void
give (Match *match, guint32 taken, guint32 kind, guint32 room)
{
  Share *share = share_at (match, share_of (match, kind, room));

  g_array_index (match->taken, Taken, taken).next = share->first;
  share->first = taken;
}

static guint32
take_away (Match *match, guint32 share)
{
  guint32 taken = share_at (match, share)->first;

  share_at (match, share)->first = g_array_index (match->taken, Taken, taken).next;
  return taken;
}

/* Applies the chain that leads to @kind, which has unplaced members: each kind passes a place on to the next one. */
static void
pass_on (Match *match, guint32 kind, guint32 place, guint32 room)
{
  Taken new = { place, NONE };

  match->kinds[kind].left--;
  match->n_left--;
  while (match->kinds[kind].from != NONE)
    {
      guint32 from = match->kinds[kind].from, taken = take_away (match, from);
      const Share *share = share_at (match, from);
      guint32 giver = share->kind, of_room = share->room;

      give (match, taken, kind, of_room);
      kind = giver;
    }
  g_array_append_val (match->taken, new);
  give (match, match->taken->len - 1, kind, room);
}

/* Visits the kinds that fit the room, from share @from. Returns one that is not fully placed, or NONE. */
static guint32
reach (Match *match, guint32 room, guint32 from, guint32 *n_queued)
{
  const QuoitBestMatching *matching = match->matching;

  for (guint32 k = 0; k < matching->n_kinds; k++)
    {
      Kind *kind = &match->kinds[k];

      if (kind->is_settled || kind->seen == match->n_searches || !matching->fits (matching->data, k, room))
        continue;
      kind->seen = match->n_searches;
      kind->from = from;
      if (kind->left > 0)
        return k;
      match->queue[(*n_queued)++] = k;
    }
  return NONE;
}

/* Searches breadth first over fully placed kinds and the rooms in which they have places. */
static gboolean
take_by_passing_on (Match *match, guint32 place, guint32 room)
{
  guint32 n_queued = 0, found;

  match->n_searches++;
  found = reach (match, room, NONE, &n_queued);
  for (guint32 i = 0; i < n_queued && found == NONE; i++)
    for (guint32 s = match->kinds[match->queue[i]].first_share; s != NONE && found == NONE;
         s = share_at (match, s)->next)
      {
        Room *other = room_at (match, share_at (match, s)->room);

        if (share_at (match, s)->first == NONE || other->seen == match->n_searches)
          continue;
        other->seen = match->n_searches;
        found = reach (match, share_at (match, s)->room, s, &n_queued);
      }
  if (found != NONE)
    return pass_on (match, found, place, room), TRUE;
  for (guint32 i = 0; i < n_queued; i++)
    match->kinds[match->queue[i]].is_settled = TRUE;
  return FALSE;
}

static gboolean
take (Match *match, guint32 place, guint32 number)
{
  const QuoitBestMatching *matching = match->matching;
  Room *room = room_at (match, number);
  guint32 k = room->next_kind;

  while (k < matching->n_kinds && (match->kinds[k].left == 0 || !matching->fits (matching->data, k, number)))
    k++;
  room->next_kind = k;
  if (k == matching->n_kinds)
    return take_by_passing_on (match, place, number);
  match->kinds[k].from = NONE;
  return pass_on (match, k, place, number), TRUE;
}

/* Adds at most one member to each place. Keeps the places that may take another one in @places, and returns their
 * number. @places may be NULL: all places, in order. */
static guint32
take_round (Match *match, guint32 *places, guint32 n_places, guint32 round)
{
  const QuoitBestMatching *matching = match->matching;
  guint32 n_stay = 0;

  for (guint32 i = 0; i < n_places && match->n_left > 0; i++)
    {
      guint32 place = places == NULL ? i : places[i], number = matching->room_of (matching->data, place);
      Room *room = room_at (match, number);

      if (room->is_dead || room->capacity < round)
        continue;
      if (!take (match, place, number))
        room_at (match, number)->is_dead = TRUE;
      else if (places != NULL && room_at (match, number)->capacity > round)
        places[n_stay++] = place;
    }
  return n_stay;
}

static void
write_places (Match *match, guint32 *places)
{
  guint32 at = 0;

  for (guint32 k = 0; k < match->matching->n_kinds; k++)
    {
      guint32 from = at;

      for (guint32 s = match->kinds[k].first_share; s != NONE; s = share_at (match, s)->next)
        for (guint32 t = share_at (match, s)->first; t != NONE; t = g_array_index (match->taken, Taken, t).next)
          places[at++] = g_array_index (match->taken, Taken, t).place;
      quoit_numbers_sort (places + from, at - from);
    }
}

gboolean
quoit_best_match (const QuoitBestMatching *matching, guint32 *places, guint32 *load)
{
  Match match = { .matching = matching };
  guint32 round = 0, n_places = matching->n_places, *again = NULL;

  match.kinds = g_new0 (Kind, matching->n_kinds + 1);
  match.queue = g_new (guint32, matching->n_kinds + 1);
  match.rooms = g_array_new (FALSE, FALSE, sizeof (Room));
  match.taken = g_array_new (FALSE, FALSE, sizeof (Taken));
  match.shares = g_array_new (FALSE, FALSE, sizeof (Share));
  match.by_pair = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint32 k = 0; k < matching->n_kinds; k++)
    {
      match.kinds[k].left = matching->counts[k];
      match.kinds[k].first_share = NONE;
      match.n_left += matching->counts[k];
    }

  if (match.n_left > 0)
    take_round (&match, NULL, n_places, ++round);
  if (match.n_left > 0)
    {
      /* Most requests need only the first round, which needs no list of places. */
      again = g_new (guint32, n_places + 1);
      for (guint32 p = 0; p < n_places; p++)
        again[p] = p;
      while (match.n_left > 0 && n_places > 0)
        n_places = take_round (&match, again, n_places, ++round);
    }
  if (match.n_left == 0)
    {
      write_places (&match, places);
      *load = round;
    }

  g_free (again);
  g_free (match.kinds);
  g_free (match.queue);
  g_array_unref (match.rooms);
  g_array_unref (match.taken);
  g_array_unref (match.shares);
  g_hash_table_unref (match.by_pair);
  return match.n_left == 0;
}
