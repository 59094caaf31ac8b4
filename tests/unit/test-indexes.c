/* SPDX-License-Identifier: Apache-2.0 */
/* Structures that find nodes and slices: copy-on-write sets and indexes, and slots of durable ids. */
#include <string.h>

#include "suite.h"
#include "fleet/private.h"

/* --- copy-on-write sets and indexes --- */

enum { N_TABLES = 4, N_CHUNKS = 40 };

static const QuoitTableType numbers_type = { .chunk_bytes = 2 * sizeof (guint32) };

/* Compares tables that share chunks, and write to them by both functions, with plain arrays. */
START_TEST (tables_that_share_chunks_do_not_see_writes_of_others)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (_i);
  guint32 expected[N_TABLES][N_CHUNKS] = { 0 };
  QuoitTable tables[N_TABLES];

  for (guint t = 0; t < N_TABLES; t++)
    quoit_table_init (&tables[t], &numbers_type, N_CHUNKS);
  for (guint32 step = 1; step <= 4000; step++)
    {
      guint to = (guint) g_rand_int_range (rand, 0, N_TABLES), from = (guint) g_rand_int_range (rand, 0, N_TABLES);
      /* Few chunks, so that a table often owns the same one again. */
      guint32 chunk = (guint32) g_rand_int_range (rand, 0, 3) * (guint32) g_rand_int_range (rand, 1, N_CHUNKS / 2);
      guint32 *bytes;

      if (from != to && g_rand_int_range (rand, 0, 8) == 0)
        {
          quoit_table_clear (&tables[to]);
          quoit_table_share (&tables[from], &tables[to]);
          memcpy (expected[to], expected[from], sizeof expected[to]);
          continue;
        }
      bytes = g_rand_int_range (rand, 0, 4) == 0
                  ? quoit_table_own (&tables[to], chunk)
                  : quoit_table_own_nearby (&tables[to], chunk, (guint) g_rand_int_range (rand, 0, 2));
      ck_assert_uint_eq (*bytes, expected[to][chunk]);
      *bytes = expected[to][chunk] = step;
      for (guint t = 0; t < N_TABLES; t++)
        for (guint32 c = 0; c < N_CHUNKS; c++)
          ck_assert_msg (*(const guint32 *) quoit_table_peek (&tables[t], c) == expected[t][c],
                         "seed %d, step %u: table %u, chunk %u", _i, step, t, c);
    }
  for (guint t = 0; t < N_TABLES; t++)
    quoit_table_clear (&tables[t]);
}
END_TEST

START_TEST (bit_set_finds_the_same_neighbours_as_a_scan)
{
  static const guint32 sizes[] = { 1, 63, 64, 65, 4096, 4097, 20000, 270000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  guint32 n = sizes[_i];
  g_autofree guint8 *naive = g_new0 (guint8, n);
  QuoitBits bits;

  quoit_bits_init (&bits, n);
  for (guint step = 0; step < 3000; step++)
    {
      guint32 at = (guint32) g_rand_int_range (rand, 0, (gint32) n), want;

      if (g_rand_boolean (rand))
        naive[at] = 1, quoit_bits_add (&bits, at);
      else
        naive[at] = 0, quoit_bits_remove (&bits, at);
      if (step % 4 == 0)
        {
          /* Changes several members of one word. */
          guint32 word = at / 64;
          guint64 mask = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);

          mask &= quoit_bits_range_mask (word * 64, n);
          mask |= quoit_bits_word (&bits, word) & -(guint64) (step % 8 == 0);
          if (mask != 0)
            quoit_bits_change_word (&bits, word, mask);
          for (guint i = 0; i < 64; i++)
            if ((mask >> i & 1) != 0)
              naive[word * 64 + i] ^= 1;
        }
      at = (guint32) g_rand_int_range (rand, 0, (gint32) n + 1);
      for (want = at; want < n && !naive[want]; want++)
        ;
      ck_assert_uint_eq (quoit_bits_next (&bits, at), want < n ? want : QUOIT_BITS_NONE);
      for (want = at; want > 0 && !naive[want - 1]; want--)
        ;
      ck_assert_uint_eq (quoit_bits_previous (&bits, at), want > 0 ? want - 1 : QUOIT_BITS_NONE);
    }
  quoit_bits_clear (&bits);
}
END_TEST

START_TEST (writing_to_a_copy_leaves_the_original_unchanged)
{
  QuoitBits original, copy;

  quoit_bits_init (&original, 100000);
  for (guint32 i = 0; i < 100000; i += 7)
    quoit_bits_add (&original, i);
  quoit_bits_share (&original, &copy);
  for (guint32 i = 0; i < 100000; i += 14)
    quoit_bits_remove (&copy, i);
  for (guint32 i = 0; i < 100000; i++)
    {
      ck_assert_int_eq (quoit_bits_has (&original, i), i % 7 == 0);
      ck_assert_int_eq (quoit_bits_has (&copy, i), i % 14 == 7);
    }
  quoit_bits_clear (&original);
  ck_assert_uint_eq (quoit_bits_next (&copy, 0), 7);
  quoit_bits_clear (&copy);
}
END_TEST

START_TEST (an_index_keeps_every_entry_through_growth_and_removal)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  g_autofree guint8 *in = g_new0 (guint8, 2000);
  QuoitIndex index, copy;

  quoit_index_init (&index);
  for (guint step = 0; step < 20000; step++)
    {
      guint32 value = (guint32) g_rand_int_range (rand, 0, 2000), hash = value % 97 * 31, at = hash, got;
      gboolean found = FALSE;

      while ((got = quoit_index_next (&index, hash, &at)) != QUOIT_INDEX_NONE)
        found |= got == value;
      ck_assert_int_eq (found, in[value]);
      /* Each second change is made at the place that the search has found. */
      for (at = hash; (got = quoit_index_next (&index, hash, &at)) != QUOIT_INDEX_NONE && got != value;)
        ;
      if (in[value] && step % 2 == 0)
        quoit_index_remove (&index, hash, value);
      else if (in[value])
        quoit_index_remove_at (&index, at - 1);
      else if (step % 2 == 0)
        quoit_index_add (&index, hash, value);
      else
        quoit_index_add_at (&index, at, hash, value);
      in[value] = !in[value];
      if (step == 10000)
        quoit_index_share (&index, &copy);
    }
  quoit_index_clear (&copy);
  quoit_index_clear (&index);
}
END_TEST

/* --- slots of ids --- */

static const guint32 id_strides[] = { 1, 3, 17, 18, 1000, 1 << 20, 400000 };

/* Each id has its own slot, other ids have none of these slots, and the number of slots is limited. */
START_TEST (any_ids_have_slots_within_bounds)
{
  enum { N = 5000, FIRST = 17 };
  guint32 stride = id_strides[_i];
  g_autoptr (GRand) random = g_rand_new_with_seed (stride);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL), slots = g_hash_table_new (NULL, NULL);
  g_autofree guint32 *ids = g_new (guint32, N);
  guint32 id = FIRST;
  g_auto (QuoitIds) map = { 0 };
  QuoitIdList lists[2];

  for (guint i = 0; i < N; i++)
    {
      ids[i] = id;
      g_hash_table_add (seen, GUINT_TO_POINTER (id));
      id += (guint32) g_rand_int_range (random, 1, (gint32) stride + 1);
    }
  if (_i % 2 == 1)
    for (guint i = N - 1; i > 0; i--)
      {
        guint j = (guint) g_rand_int_range (random, 0, (gint32) i + 1);
        guint32 swapped = ids[i];

        ids[i] = ids[j];
        ids[j] = swapped;
      }
  lists[0] = (QuoitIdList) { ids, N - 100 };
  lists[1] = (QuoitIdList) { ids + N / 2, N - N / 2 };
  quoit_ids_init (&map, lists, G_N_ELEMENTS (lists));
  ck_assert_uint_le (map.n_slots, 17 * N + 1024);
  for (guint i = 0; i < N; i++)
    {
      ck_assert_uint_lt (quoit_ids_slot (&map, ids[i]), map.n_slots);
      ck_assert (g_hash_table_add (slots, GUINT_TO_POINTER (quoit_ids_slot (&map, ids[i]))));
      ck_assert (quoit_ids_append (&map, ids[i]));
    }
  ck_assert_uint_eq (quoit_ids_slot (&map, 0), QUOIT_NO_SLOT);
  ck_assert_uint_eq (quoit_ids_slot (&map, id + 100000), QUOIT_NO_SLOT);
  for (guint32 i = 0, other = FIRST - 5; i < 20000; i++, other += (guint32) g_rand_int_range (random, 1, 9))
    if (!g_hash_table_contains (seen, GUINT_TO_POINTER (other)))
      ck_assert (!g_hash_table_contains (slots, GUINT_TO_POINTER (quoit_ids_slot (&map, other))));
}
END_TEST

START_TEST (appended_ids_get_the_next_slots)
{
  static const guint32 more[] = { 5, 6, 9, 26, 27, 45, 46, 1000000, 1000001, 2147483646 };
  g_auto (QuoitIds) map = { 0 };

  quoit_ids_init (&map, NULL, 0);
  ck_assert_uint_eq (quoit_ids_slot (&map, 0), QUOIT_NO_SLOT);
  for (guint i = 0; i < G_N_ELEMENTS (more); i++)
    {
      ck_assert (quoit_ids_append (&map, more[i]));
      for (guint j = 0; j <= i; j++)
        ck_assert_uint_lt (quoit_ids_slot (&map, more[j]), map.n_slots);
      for (guint j = 1; j <= i; j++)
        ck_assert_uint_lt (quoit_ids_slot (&map, more[j - 1]), quoit_ids_slot (&map, more[j]));
    }
  ck_assert (!quoit_ids_append (&map, 4));
  ck_assert (!quoit_ids_append (&map, 5000));
  ck_assert_uint_eq (quoit_ids_slot (&map, 5000), QUOIT_NO_SLOT);
  ck_assert_uint_lt (map.n_slots, 100);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("indexes");
  TCase *tcase = tcase_create ("indexes");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, tables_that_share_chunks_do_not_see_writes_of_others, 0, 20);
  tcase_add_loop_test (tcase, bit_set_finds_the_same_neighbours_as_a_scan, 0, 8);
  tcase_add_test (tcase, writing_to_a_copy_leaves_the_original_unchanged);
  tcase_add_test (tcase, an_index_keeps_every_entry_through_growth_and_removal);
  tcase_add_loop_test (tcase, any_ids_have_slots_within_bounds, 0, (int) G_N_ELEMENTS (id_strides));
  tcase_add_test (tcase, appended_ids_get_the_next_slots);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
