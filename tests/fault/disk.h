/* SPDX-License-Identifier: Apache-2.0 */
/* A disk and an allocator that fail when they are told to. The disk is SQLite's default VFS with a wrapper that counts
 * what changes files; the allocator is SQLite's own, never malloc(): GLib would abort. */
#pragma once

#include <glib.h>

typedef enum {
  DISK_WRITE = 1,
  DISK_SYNC = 2,
  DISK_TRUNCATE = 4,
  DISK_OPEN = 8,
  DISK_DELETE = 16,
  DISK_READ = 32
} DiskOperation;

typedef enum {
  DISK_FAILS_ONCE, /* the n-th operation fails, all others work */
  DISK_FAILS_TORN, /* likewise, but half of a write is on the disk */
  DISK_IS_FULL,    /* likewise, and the reason is that the disk is full */
  DISK_IS_GONE     /* from the n-th operation on all fail */
} DiskFailure;

/* What every proof tries at every operation there is. */
typedef struct {
  const char *name;
  guint operations;
  DiskFailure failure;
} DiskTrouble;
enum { DISK_N_TROUBLES = 6 };
extern const DiskTrouble disk_troubles[DISK_N_TROUBLES];

/* Before SQLite is used at all. */
void disk_install (void);

/* From now on the @n-th of the @operations fails; 0: none does. Counts from 1 again. */
void disk_fail (guint operations, guint n, DiskFailure failure);
void disk_mend (void);
guint disk_count (void);     /* operations since disk_fail() */
gboolean disk_failed (void); /* one of them did */

/* The @n-th allocation of SQLite fails, or with @DISK_IS_GONE all from there on; 0: none does. */
void memory_fail (guint n, DiskFailure failure);
void memory_mend (void);
guint memory_count (void);
gboolean memory_failed (void);

/* --- power loss --- */

/* What a disk has after the power was lost: file names and contents. */
typedef struct {
  GPtrArray *names;
  GPtrArray *contents; /* of GByteArray */
  guint acknowledged;  /* disk_acknowledge() when it happened */
  guint at;            /* number of the operation */
} DiskImage;

/* From now on every file operation is recorded, and before every operation an image is taken of what would be left:
 * all that was synced or was there before, and of what was not any mix of sectors, by @rand; NULL: nothing of that. */
void disk_record (GRand *rand);
void disk_acknowledge (guint n); /* the caller has been told that its n-th step is durable */
GPtrArray *disk_images (void);   /* of DiskImage; ends the recording */
void disk_image_save (const DiskImage *image, const char *dir);
