#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# page.sh WASM - prints the page: WebAssembly, scripts and style sheets in one file that needs no other.
# src/web/page/parts.txt lists the scripts; the player's are those of clip.html. What stands before the
# empty line is also the worker's.
set -euo pipefail
cd "$(dirname "$0")/.."

# What a policy calls it: the base64 of its SHA-256.
policy()
{
	# shellcheck disable=SC2059 # the bytes are the format
	printf "'sha256-%s'" "$(printf "$(sha256sum | cut -c 1-64 | sed 's/../\\x&/g')" | base64)"
}

scripts()
{
	printf '\n"use strict";\n'
	sed -n "$1"'s,^.,src/&,p' src/web/page/parts.txt | xargs cat | sed '/^"use strict";$/d'
}

shared=$(scripts '1,/^$/')$'\n'
script=$(scripts '/^$/,$')$'\n'
style=$'\n'$(cat src/view/player/player.css src/web/page/page.css)$'\n'
case $shared$script$style in
*'</'* | *'<!--'*) echo "page.sh: markup in a script or style sheet" >&2; exit 1 ;;
esac
cat <<END
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src $(printf %s "$shared" | policy) $(printf %s "$script" | policy) 'wasm-unsafe-eval'; style-src $(printf %s "$style" | policy); img-src data:; worker-src blob:; base-uri 'none'; form-action 'none'">
<link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="animfs">
<title>animfs</title>
END
printf '<style>%s</style>\n</head>\n<body>\n' "$style"
echo "<noscript><p>This page edits animation files. It needs JavaScript, from itself only.</p></noscript>"
printf '<script type="application/octet-stream" id="wasm">%s</script>\n' "$(base64 -w 0 "$1")"
printf '<script id="shared">%s</script>\n' "$shared"
printf '<script>%s</script>\n</body>\n</html>\n' "$script"
