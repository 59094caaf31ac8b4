/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/distribution.h"

#include <string.h>

#include "base/select.h"

/* --- keep to one domain --- */

/* Returns the domain that has members; QUOIT_NO_INDEX: none has. Sets *@n to the number of such domains. */
static guint32
find_members (const QuoitDomainCount *domains, guint32 n_domains, guint32 *n)
{
  guint32 found = QUOIT_NO_INDEX;

  *n = 0;
  for (guint32 d = 0; d < n_domains; d++)
    if (domains[d].n_members > 0)
      {
        found = d;
        ++*n;
      }
  return found;
}

/* Returns the domain that gives most to a group that is kept together. */
static guint32
find_largest (const QuoitDomainCount *domains, guint32 n_domains)
{
  guint32 n, best = find_members (domains, n_domains, &n);

  /* An import can move slices of the group to other domains. Then none can give it more. */
  if (n > 0)
    return n == 1 ? best : QUOIT_NO_INDEX;
  for (guint32 d = 0; d < n_domains; d++)
    if (domains[d].counts && (best == QUOIT_NO_INDEX || domains[d].n_available > domains[best].n_available))
      best = d;
  return best;
}

/* Returns the domain for @n slices: of those that have enough, the first by tier, by the fewest available, and by
 * index. */
static guint32
find_sufficient (const QuoitDomainCount *domains, guint32 n_domains, guint32 n)
{
  guint32 n_used, best = find_members (domains, n_domains, &n_used);

  if (n_used > 0)
    return best;
  for (guint32 d = 0; d < n_domains; d++)
    if (domains[d].n_available >= n
        && (best == QUOIT_NO_INDEX || domains[d].tier < domains[best].tier
            || (domains[d].tier == domains[best].tier && domains[d].n_available < domains[best].n_available)))
      best = d;
  return best;
}

/* --- spread --- */

static guint64
total_of (const QuoitDomainCount *domain)
{
  return (guint64) domain->n_members + domain->n_available;
}

/* Returns the domain that can have the fewest slices in the end. */
static guint32
find_smallest (const QuoitDomainCount *domains, guint32 n_domains)
{
  guint32 least = QUOIT_NO_INDEX;

  for (guint32 d = 0; d < n_domains; d++)
    if (domains[d].counts && (least == QUOIT_NO_INDEX || total_of (&domains[d]) < total_of (&domains[least])))
      least = d;
  return least;
}

static guint32
count_domains (const QuoitDomainCount *domains, guint32 n_domains)
{
  guint32 n = 0;

  for (guint32 d = 0; d < n_domains; d++)
    n += domains[d].counts;
  return n;
}

/* Returns how many slices the domain gets if it is filled until it has @level. */
static guint32
fill_to (const QuoitDomainCount *domain, guint64 level)
{
  return domain->n_members >= level ? 0 : (guint32) MIN (level - domain->n_members, domain->n_available);
}

/* Returns how many slices all domains get together if they are filled until they have @level. */
static guint64
fill_all_to (const QuoitDomainCount *domains, guint32 n_domains, guint64 level)
{
  guint64 n = 0;

  for (guint32 d = 0; d < n_domains; d++)
    n += fill_to (&domains[d], level);
  return n;
}

/* The fewest slices of a domain decide how many another one may have. Filling the domains evenly makes the fewest as
 * many as possible. */
static guint64
most_of_spread (const QuoitRequest *request, const QuoitDomainCount *domains, guint32 n_domains)
{
  guint32 smallest = find_smallest (domains, n_domains);
  guint64 fewest = 0;

  if (smallest == QUOIT_NO_INDEX)
    return 0;
  if (count_domains (domains, n_domains) >= request->min_domains)
    fewest = total_of (&domains[smallest]);
  return fill_all_to (domains, n_domains, fewest + request->max_skew);
}

/* Returns the lowest level at which the domains get at least @n slices. */
static guint64
find_level (const QuoitDomainCount *domains, guint32 n_domains, guint32 n)
{
  guint64 too_low = G_MAXUINT32, enough = 0;

  for (guint32 d = 0; d < n_domains; d++)
    if (domains[d].n_available > 0)
      {
        too_low = MIN (too_low, domains[d].n_members);
        enough = MAX (enough, total_of (&domains[d]));
      }
  /* Mostly every domain gets at most one slice. */
  if (enough > too_low + 1 && fill_all_to (domains, n_domains, too_low + 1) >= n)
    return too_low + 1;
  while (enough - too_low > 1)
    {
      guint64 middle = too_low + (enough - too_low) / 2;

      if (fill_all_to (domains, n_domains, middle) >= n)
        enough = middle;
      else
        too_low = middle;
    }
  return enough;
}

/* A domain that could get one more slice. */
typedef struct {
  guint64 key; /* the lowest is preferred */
  guint32 domain;
} OneMore;

static int
by_key (gconstpointer a, gconstpointer b, gpointer data)
{
  const OneMore *one = a, *other = b;

  if (one->key != other->key)
    return one->key < other->key ? -1 : 1;
  return one->domain < other->domain ? -1 : 1;
}

static void
spread (const QuoitDomainCount *domains, guint32 n_domains, guint32 n, guint32 *shares)
{
  const guint64 level = find_level (domains, n_domains, n);
  g_autofree OneMore *more = g_new0 (OneMore, n_domains + 1);
  guint32 n_more = 0;

  for (guint32 d = 0; d < n_domains; d++)
    {
      shares[d] = fill_to (&domains[d], level - 1);
      n -= shares[d];
      if (fill_to (&domains[d], level) > shares[d])
        more[n_more++] = (OneMore) { (guint64) domains[d].tier << 32 | (domains[d].n_available - shares[d]), d };
    }
  /* Sorting thousands of domains would take longer than everything else. */
  quoit_select_first (more, n_more, sizeof *more, n, by_key, NULL);
  for (guint32 i = 0; i < n; i++)
    shares[more[i].domain]++;
}

/* --- all --- */

guint64
quoit_distribution_most (const QuoitRequest *request, const QuoitDomainCount *domains, guint32 n_domains)
{
  if (request->keep_to != QUOIT_DOMAIN_NONE)
    {
      guint32 largest = find_largest (domains, n_domains);

      return largest == QUOIT_NO_INDEX ? 0 : domains[largest].n_available;
    }
  if (request->spread_over != QUOIT_DOMAIN_NONE)
    return most_of_spread (request, domains, n_domains);
  return domains[0].n_available;
}

void
quoit_distribution_choose (const QuoitRequest *request, const QuoitDomainCount *domains, guint32 n_domains, guint32 n,
                           guint32 *shares)
{
  memset (shares, 0, n_domains * sizeof *shares);
  if (n == 0)
    return;
  if (request->keep_to != QUOIT_DOMAIN_NONE)
    shares[find_sufficient (domains, n_domains, n)] = n;
  else if (request->spread_over != QUOIT_DOMAIN_NONE)
    spread (domains, n_domains, n, shares);
  else
    shares[0] = n;
}

guint32
quoit_distribution_decisive (const QuoitRequest *request, const QuoitDomainCount *domains, guint32 n_domains)
{
  return request->keep_to != QUOIT_DOMAIN_NONE ? find_largest (domains, n_domains) : find_smallest (domains, n_domains);
}
