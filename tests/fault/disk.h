/* SPDX-License-Identifier: Apache-2.0 */
/* A disk and an allocator that fail on request. The disk wraps SQLite's default VFS and counts the operations that
 * change files. Only SQLite's allocator fails, not malloc(), because GLib aborts if malloc() fails. */
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
  DISK_FAILS_ONCE, /* only the n-th operation fails */
  DISK_FAILS_TORN, /* likewise, after half of a write reached the disk */
  DISK_IS_FULL,    /* likewise, with a full disk as the reason */
  DISK_IS_GONE     /* the n-th and all later operations fail */
} DiskFailure;

/* The failures that each proof tries at every operation. */
typedef struct {
  const char *name;
  guint operations;
  DiskFailure failure;
} DiskTrouble;
enum { DISK_N_TROUBLES = 6 };
extern const DiskTrouble disk_troubles[DISK_N_TROUBLES];

/* Installs the disk and the allocator. Call it before any use of SQLite. */
void disk_install (void);

/* Makes the @n-th of the @operations fail, or none if @n is 0. Counting starts at 1 again. */
void disk_fail (guint operations, guint n, DiskFailure failure);
void disk_mend (void);
guint disk_count (void);     /* operations since disk_fail() */
gboolean disk_failed (void); /* whether an operation failed */

/* Makes the @n-th allocation of SQLite fail, and all later ones with @DISK_IS_GONE. 0: no failure. */
void memory_fail (guint n, DiskFailure failure);
void memory_mend (void);
guint memory_count (void);
gboolean memory_failed (void);

/* --- power loss --- */

/* The content of the disk after a loss of power: file names and contents. */
typedef struct {
  GPtrArray *names;
  GPtrArray *contents; /* of GByteArray */
  guint acknowledged;  /* the last disk_acknowledge() before it */
  guint at;            /* number of the operation */
} DiskImage;

/* Starts to record file operations. Before each operation it takes an image of the disk after a loss of power: all
 * synced or earlier data, and a mix, drawn from @rand, of the unsynced sectors. NULL @rand: no unsynced data. */
void disk_record (GRand *rand);
void disk_acknowledge (guint n); /* the caller's n-th step is acknowledged as durable */
GPtrArray *disk_images (void);   /* of DiskImage; ends the recording */
void disk_image_save (const DiskImage *image, const char *dir);
