/* SPDX-License-Identifier: Apache-2.0 */
/* How many slices each domain (pool or zone) gives to a request. This is arithmetic on numbers of slices; which slices
 * they are does not matter. docs/decisions/0027-places-of-a-group.md has the rules. */
#pragma once

#include "base/indices.h"
#include "placement/request.h"

enum { QUOIT_N_TIERS = 3 };

/* What a request has and could get in one domain. */
typedef struct {
  guint32 n_members;   /* slices that the group has already */
  guint32 n_available; /* further slices that it could get */
  guint8 tier;         /* the lowest is preferred */
  guint8 counts;       /* whether it has a candidate, available or not, or a member */
} QuoitDomainCount;

/* Returns how many slices the request could get together. A request that neither is kept to a domain nor spread has one
 * domain, which is everything. */
guint64 quoit_distribution_most (const QuoitRequest *request, const QuoitDomainCount *domains, guint32 n_domains);

/* Distributes @n slices, at most quoit_distribution_most(), and writes the number of each domain to @shares. */
void quoit_distribution_choose (const QuoitRequest *request, const QuoitDomainCount *domains, guint32 n_domains,
                                guint32 n, guint32 *shares);

/* Returns the domain that decides how many slices the request gets: the one that has most to give, or for a spread the
 * one that has the fewest; QUOIT_NO_INDEX: none. */
guint32 quoit_distribution_decisive (const QuoitRequest *request, const QuoitDomainCount *domains, guint32 n_domains);
