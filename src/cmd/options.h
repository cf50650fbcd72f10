/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.h - parses the values of options that the mount and the commands share. False, with err
 * set, if the value is invalid.
 */
#ifndef ANIMFS_CMD_OPTIONS_H
#define ANIMFS_CMD_OPTIONS_H

#include "store/store.h"

#define DEFAULT_MAX_FILE ((size_t)256 << 20)
#define DEFAULT_DRAFTS_MAX ((size_t)1 << 30)
#define DEFAULT_REJECTED_MAX ((size_t)256 << 20)

/* "canm=30" */
bool option_rate(struct store_options *o, const char *value, struct err *err);
/* "*.bin=canm", "*.bin=ff9anim:24" (so many bones), "*=auto" */
bool option_type(struct store_options *o, const char *value, struct err *err);
/* "euler", "quaternion" */
bool option_rotations(struct store_options *o, const char *value, struct err *err);
/* "idle", "*_add=idle" */
bool option_base(struct store_options *o, const char *value, struct err *err);
/* "octahedra", "lines" */
bool option_bones(struct store_options *o, const char *value, struct err *err);
/* "lossless", "lossy" */
bool option_bvh(struct store_options *o, const char *value, struct err *err);
bool option_gltf(struct store_options *o, const char *value, struct err *err);
/* "match", "resample" */
bool option_gltf_rate(struct store_options *o, const char *value, struct err *err);
bool option_hand(struct store_options *o, const char *value, struct err *err);
/* "256M": bytes, or with K, M, G */
bool option_size(const char *value, size_t *out, struct err *err);
/* Sets the limit for all texts: saved ones, JSON, and rendered ones. */
bool option_max_text(const char *value, size_t *out, struct err *err);
/* --jobs; NULL leaves *out as it is */
bool option_jobs(const char *value, int *out, struct err *err);
/* "1000", a user or group id; "022" in base 8, a mask */
bool option_number(const char *value, int base, int *out, struct err *err);

/* Frees what the options hold, not the struct itself. */
void option_release(struct store_options *o);

#endif
