/* SPDX-License-Identifier: Apache-2.0 */
/* Choice of slices for requests that depend on the pools or zones of their slices: kept to one domain, spread over
 * domains, or near another group. Each request is divided into shares of domains (placement/distribution.h). The slices
 * of a share are chosen like by policy `best`: from the smallest shelf that suffices. */
#pragma once

#include "placement/distribution.h"
#include "placement/domain-map.h"
#include "placement/placement.h"

/* A place for the numbers of a few domains, so that counting them allocates no memory. */
enum { QUOIT_FEW_DOMAINS = 1024 };
typedef struct {
  QuoitDomainCount counts[QUOIT_FEW_DOMAINS];
  guint32 n_available[QUOIT_FEW_DOMAINS], of_shelf[QUOIT_FEW_DOMAINS];
} QuoitFewDomains;

/* The domains of a request in a fleet. */
typedef struct {
  const QuoitFleet *fleet;
  const QuoitRequest *request;
  const QuoitCandidates *candidates;
  const QuoitEligible *eligible; /* of the candidates; NULL: all slices of the class */
  QuoitDomainMap *map;
  QuoitDomainCount *counts; /* by domain */
  guint8 *tiers;            /* by part; NULL: all are equal */
  guint32 *n_available;     /* by part */
  QuoitFewDomains *few;     /* has them, if they are few; NULL: they are allocated */
} QuoitDomains;

/* A part of which slices are available, and how many of them are taken. */
typedef struct {
  guint32 index, n, n_taken;
} QuoitFreePart;

/* Takes @n slices of the parts, which have as many: of the part with the fewest that suffice, or else all of the
 * fullest ones first. Changes the order of the parts. */
void quoit_free_parts_take (QuoitFreePart *parts, guint32 n_parts, guint32 n);

/* Sets the tiers of the parts and domains of a request with a group to be near to. */
void quoit_domains_set_tiers (QuoitDomains *domains);
/* Plans a request that is near a group, and neither kept to a domain nor spread, without visiting all pools. Returns
 * FALSE if that does not decide. */
gboolean quoit_domains_plan_near (const QuoitFleet *fleet, const QuoitRequest *request,
                                  const QuoitCandidates *candidates, QuoitPlan *plan, gboolean *is_chosen);

/* Initialises everything but the available slices. The request must have domains, or a group to be near to. The other
 * function uses @few if there are few domains. */
void quoit_domains_init_in (QuoitDomains *domains, QuoitFewDomains *few, const QuoitFleet *fleet,
                            const QuoitRequest *request, const QuoitCandidates *candidates);
void quoit_domains_init (QuoitDomains *domains, const QuoitFleet *fleet, const QuoitRequest *request,
                         const QuoitCandidates *candidates);
void quoit_domains_clear (QuoitDomains *domains);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitDomains, quoit_domains_clear)

/* Count which slices are available: those that are free, or all that could be free at any time. */
void quoit_domains_count_free (QuoitDomains *domains);
void quoit_domains_count_possible (QuoitDomains *domains);
/* Returns how many slices the request could get, of those counted. */
guint32 quoit_domains_most (const QuoitDomains *domains);
/* Divides @n slices among the domains. The caller owns the result. */
guint32 *quoit_domains_divide (const QuoitDomains *domains, guint32 n);
/* Divides @n slices among the domains when @possible are available. Prefers domains in which as many are counted in
 * @domains already. Changes the tiers of @possible. The caller owns the result. */
guint32 *quoit_domains_divide_possible (const QuoitDomains *domains, QuoitDomainCount *possible, guint32 n);
/* Returns the candidates of one domain. Call quoit_candidates_clear() on them. */
QuoitCandidates quoit_domains_candidates (const QuoitDomains *domains, guint32 domain);

/* Like quoit_plan_candidates(), for a request with domains or a group to be near to. */
gboolean quoit_domains_plan (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                             QuoitPlan *plan);

/* Reduces the free and the possible candidates in @counts to what the domains of the request allow. */
void quoit_domains_limit (const QuoitFleet *fleet, const QuoitRequest *request, const QuoitCandidates *candidates,
                          QuoitCandidateCounts *counts);

/* Like quoit_candidates_count(), but counts only as many as the domains of the request allow. */
void quoit_domains_count (const QuoitCandidates *candidates, const QuoitFleet *fleet, const QuoitRequest *request,
                          QuoitCandidateCounts *counts);

/* Adds a reason to @report if the domains allow fewer slices than there are; @counts are those without domains. */
void quoit_domains_add_reason (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                               const QuoitCandidates *candidates, const QuoitCandidateCounts *counts);

/* Adds the options that change the fleet, like quoit_report_find_repairs(). */
void quoit_domains_find_repairs (QuoitReport *report, const QuoitFleet *fleet, const QuoitRequest *request,
                                 const QuoitCandidates *candidates);

/* Returns the live group that the request is to be near to, or NULL. */
const QuoitGroupData *quoit_request_find_near (const QuoitFleet *fleet, const QuoitRequest *request);
/* Returns whether @group is the live group that the request is to be near to. A request cannot be granted after the
 * end of that group, so nothing that is proposed for the request may end it. */
gboolean quoit_request_needs_group (const QuoitRequest *request, const QuoitGroupData *group);
/* Returns whether the slice can only become free when that group ends. */
gboolean quoit_slice_needs_near_group (const QuoitFleet *fleet, const QuoitRequest *request, guint32 slice);
/* Fails with NOT_FOUND if the request is to be near to a group that does not exist, and with CONFLICT if its id belongs
 * to another group. */
gboolean quoit_request_check_near (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
