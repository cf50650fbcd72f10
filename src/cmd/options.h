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

/* Parses --rate: "canm=30". */
bool option_rate(struct store_options *o, const char *value, struct err *err);
/* Parses --type: "*.bin=canm", "*.bin=ff9anim:24" (a file with 24 bones), "*=auto". */
bool option_type(struct store_options *o, const char *value, struct err *err);
/* Parses --rotations: "euler", "quaternion". */
bool option_rotations(struct store_options *o, const char *value, struct err *err);
/* Parses --base: "idle", "*_add=idle". */
bool option_base(struct store_options *o, const char *value, struct err *err);
/* Parses --bones: "octahedra", "lines". */
bool option_bones(struct store_options *o, const char *value, struct err *err);
/* Parses --bvh: "lossless", "lossy". */
bool option_bvh(struct store_options *o, const char *value, struct err *err);
bool option_gltf(struct store_options *o, const char *value, struct err *err);
/* Parses --gltf-rate: "match", "resample". */
bool option_gltf_rate(struct store_options *o, const char *value, struct err *err);
bool option_hand(struct store_options *o, const char *value, struct err *err);
/* Parses a size: "256M" is bytes, or with K, M, G. */
bool option_size(const char *value, size_t *out, struct err *err);
/* Parses --max-text and sets the limit for all texts: saved ones, JSON, and rendered ones. */
bool option_max_text(const char *value, size_t *out, struct err *err);
/* Parses --jobs; without a value (NULL) leaves *out unchanged. */
bool option_jobs(const char *value, int *out, struct err *err);
/* Parses a number: "1000", a user or group id; "022" in base 8, a mask. */
bool option_number(const char *value, int base, int *out, struct err *err);

/* Frees what the options hold, not the struct itself. */
void option_release(struct store_options *o);

#endif
