/* SPDX-License-Identifier: Apache-2.0 */
/* STRICT_PACK places all bundles on one node; STRICT_SPREAD places each on a different node. */
#include "placement/best/case.h"

#include <string.h>

/* --- STRICT_PACK --- */

/* The sum of all bundles. */
typedef struct {
  const QuoitBestCase *it;
  __int128 *sums; /* of each resource */
} Together;

static gboolean
passes_all (const QuoitBestCase *it, guint32 room)
{
  for (guint32 k = 0; k < it->n_kinds; k++)
    if (!quoit_best_passes (it->question, it->asks[k], room))
      return FALSE;
  return TRUE;
}

static void
add_up (Together *together)
{
  const QuoitBestCase *it = together->it;
  guint32 n_resources = it->question->bundles->n_resources;

  together->sums = g_new0 (__int128, n_resources + 1);
  for (guint32 k = 0; k < it->n_kinds; k++)
    for (guint32 r = 0; r < n_resources; r++)
      together->sums[r] += (__int128) quoit_best_amounts (it->question, it->asks[k])[r] * it->counts[k];
}

static gboolean
amounts_hold (const Together *together, guint32 room)
{
  const QuoitBestQuestion *question = together->it->question;

  for (guint32 r = 0; r < question->bundles->n_resources; r++)
    if (together->sums[r] > quoit_best_room (question, room)->left[r])
      return FALSE;
  return TRUE;
}

static QuoitBestResult
chips_hold (const QuoitBestCase *it, guint32 number)
{
  const QuoitBestRoom *room = quoit_best_room (it->question, number);
  g_autoptr (GArray) wishes = g_array_new (FALSE, FALSE, sizeof (QuoitChipWish));
  gint64 sum_e4 = 0;

  for (guint32 k = 0; k < it->n_kinds; k++)
    {
      QuoitChipWish wish = { .want_e4 = quoit_best_want_e4 (it->question, it->asks[k], room) };

      for (guint32 i = 0; i < it->counts[k] && wish.want_e4 > 0; i++)
        {
          sum_e4 += wish.want_e4;
          if (sum_e4 > (gint64) room->chips.n * QUOIT_AMOUNT_UNIT)
            return QUOIT_BEST_NONE;
          g_array_append_val (wishes, wish);
        }
    }
  return quoit_best_share_chips (room, wishes, it->budget);
}

static QuoitBestResult
holds_all (const Together *together, guint32 room)
{
  if (!amounts_hold (together, room) || !passes_all (together->it, room))
    return QUOIT_BEST_NONE;
  return chips_hold (together->it, room);
}

static void
answer_one_node (const QuoitBestCase *it, guint32 place, QuoitBestAnswer *answer)
{
  for (guint32 u = 0; u < it->n_units; u++)
    answer->places[u] = place;
  answer->result = QUOIT_BEST_FOUND;
  answer->proven = TRUE;
}

/* Finds the first node that holds all bundles. If none is found and the budget ended for some node, the result is
 * QUOIT_BEST_BUDGET. */
static void
find_one_node (const Together *together, QuoitBestAnswer *answer)
{
  const QuoitBestCase *it = together->it;
  g_autoptr (GByteArray) known = g_byte_array_new (); /* of each room: result + 1; 0: not tried */

  for (guint32 p = 0; p < it->n_nodes; p++)
    {
      guint32 room = quoit_best_case_room (it, p), n = known->len;

      if (room >= n)
        {
          g_byte_array_set_size (known, 2 * room + 16);
          memset (known->data + n, 0, known->len - n);
        }
      if (known->data[room] == 0)
        known->data[room] = (guint8) (holds_all (together, room) + 1);
      if (known->data[room] == QUOIT_BEST_FOUND + 1)
        {
          answer_one_node (it, p, answer);
          return;
        }
      if (known->data[room] == QUOIT_BEST_BUDGET + 1)
        answer->result = QUOIT_BEST_BUDGET;
      answer->proven &= answer->result != QUOIT_BEST_BUDGET;
    }
}

void
quoit_best_strict_pack (const QuoitBestCase *it, guint32 soft_target, QuoitBestAnswer *answer)
{
  Together together = { .it = it };

  answer->proven = TRUE;
  add_up (&together);
  for (guint32 p = 0; p < it->n_nodes && soft_target != QUOIT_NO_INDEX; p++)
    if (it->nodes[p] == soft_target && holds_all (&together, quoit_best_case_room (it, p)) == QUOIT_BEST_FOUND)
      answer_one_node (it, p, answer);
  if (answer->result != QUOIT_BEST_FOUND)
    find_one_node (&together, answer);
  g_free (together.sums);
}

/* --- STRICT_SPREAD --- */

void
quoit_best_strict_spread (const QuoitBestCase *it, QuoitBestAnswer *answer)
{
  guint32 load;

  answer->proven = TRUE;
  if (quoit_best_match_case (it, 1, answer->places, &load))
    answer->result = QUOIT_BEST_FOUND;
}
