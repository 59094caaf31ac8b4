/* SPDX-License-Identifier: Apache-2.0 */
/* Which slices are in which pool or zone. This depends only on the layout, which remembers it. */
#pragma once

#include "fleet/fleet.h"
#include "placement/distribution.h"
#include "placement/eligible.h"

/* Of a shelf with slices in several zones, or in none. */
enum { QUOIT_MIXED_ZONES = 0xfffffffe };

/* A map with more zones has no sets of their slices, which would take too much memory. */
enum { QUOIT_MAX_ZONE_SETS = 64 };

/* The zones of all slices. */
typedef struct {
  guint32 n;
  char **names;      /* in natural order */
  guint32 *of_slice; /* the zone that all nodes of the slice have, dead or alive; QUOIT_NO_INDEX: none, or several */
  guint32 *of_shelf; /* the zone of all its slices, QUOIT_NO_INDEX or QUOIT_MIXED_ZONES */
  guint32 *of_word;  /* the same for the 64 slices from 64 * i on */
} QuoitZones;

/* Returns a reference; quoit_zones_unref() it. */
QuoitZones *quoit_zones_get (const QuoitLayout *layout);
void quoit_zones_unref (QuoitZones *zones);
/* Returns the zone of that name, or QUOIT_NO_INDEX. */
guint32 quoit_zones_find (const QuoitZones *zones, const char *name);
/* Adds the free slices of @eligible to the available ones of their zones. */
void quoit_zones_count_free (const QuoitZones *zones, const QuoitFleet *fleet, const QuoitEligible *eligible,
                             QuoitDomainCount *counts);

/* The slices of one shelf in one domain. */
typedef struct {
  guint32 shelf, domain;
  gboolean is_whole; /* the domain has all slices of the shelf */
} QuoitDomainPart;

/* The domains of one class. They have indices in natural order. */
typedef struct {
  QuoitDomain kind; /* QUOIT_DOMAIN_NONE: one domain, which is everything */
  guint32 n_domains, n_parts;
  gboolean is_whole;       /* all parts are */
  QuoitDomainPart *parts;  /* by domain, then by shelf */
  guint32 *first_part;     /* by domain, and the end */
  guint32 *of_shelf;       /* for pools: QUOIT_NO_INDEX for shelves of other classes */
  QuoitZones *zones;       /* for zones */
  QuoitEligible **of_zone; /* for zones: the slices of each; NULL: too many zones */
} QuoitDomainMap;

/* Returns a reference; quoit_domain_map_unref() it. */
QuoitDomainMap *quoit_domain_map_get (const QuoitLayout *layout, QuoitDomain kind, guint32 class_index);
void quoit_domain_map_unref (QuoitDomainMap *map);
/* Returns the name for users; the caller owns it. */
char *quoit_domain_map_dup_name (const QuoitDomainMap *map, const QuoitLayout *layout, guint32 domain);

/* Returns the domain of a slice, or QUOIT_NO_INDEX. */
static inline guint32
quoit_domain_of_slice (const QuoitDomainMap *map, const QuoitLayout *layout, guint32 slice)
{
  if (map->kind == QUOIT_DOMAIN_NONE)
    return 0;
  return map->kind == QUOIT_DOMAIN_ZONE ? map->zones->of_slice[slice] : map->of_shelf[layout->slices[slice].shelf];
}
