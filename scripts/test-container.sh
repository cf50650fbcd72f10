#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-container.sh - builds the image of Dockerfile and runs the commands of docs/desktops.md in it: with
# Docker where its daemon answers, else by doing what Dockerfile says in bare Debian systems (root.bash), with
# the capabilities that Docker gives. Root.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d "${TMPDIR:-/var/tmp}/animfs-container.XXXXXX")
mkdir "$work/game"
cp tests/data/canm/wiki512.canm "$work/game/ranger.canm"

failed=0
check() # NAME COMMAND...
{
	local name=$1
	shift
	if "$@" >"$work/said" 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/    /' "$work/said"
		failed=1
	fi
}

# in_image DEVICE ENTRYPOINT WORD...: runs it there, with $work as /work; DEVICE: may it mount?
if docker version >/dev/null 2>&1; then
	docker build -q -t animfs-test . || exit 1
	trap 'docker rmi -f animfs-test >/dev/null; rm -rf "$work"' EXIT
	in_image()
	{
		local more=() entry=$2
		[ "$1" = no ] || more=(--device /dev/fuse --cap-add SYS_ADMIN --security-opt apparmor=unconfined)
		shift 2
		docker run --rm -i "${more[@]}" -v "$work:/work" --entrypoint "$entry" animfs-test "$@"
	}
else
	. scripts/root.bash
	trap 'rm -rf --one-file-system "$ROOTS/container" "$ROOTS/container-build" "$work"' EXIT
	# The stages, one after the other.
	build_image()
	{
		local word rest at=/ dir=
		while read -r word rest; do
			case $word in
			FROM)
				dir=$ROOTS/container
				[[ $rest != *" AS "* ]] || dir=$ROOTS/container-build
				at=/
				root_make "$dir" bookworm || return
				rm -f "$dir"/etc/dpkg/dpkg.cfg.d/*
				;;
			COPY)
				case $rest in
				". /src") root_sources "$dir" && mv "$dir/animfs" "$dir/src" || return ;;
				"--from=build /out /") cp -a "$ROOTS/container-build/out/." "$dir/" || return ;;
				*) echo "test-container.sh: COPY $rest is not known here" >&2; return 1 ;;
				esac
				;;
			WORKDIR) at=$rest ;;
			RUN)
				echo "RUN $rest"
				root_run "$dir" sh -ec "cd '$at' && $rest" >"$work/log" 2>&1 || { tail -n 20 "$work/log"; return 1; }
				;;
			esac
		done <Dockerfile
		mkdir -p "$dir/work"
	}
	build_image || exit 1
	# What Docker leaves root in a container; SYS_ADMIN is asked for.
	kept=cap_chown,cap_dac_override,cap_fowner,cap_fsetid,cap_kill,cap_setgid,cap_setuid,cap_setpcap
	kept+=,cap_net_bind_service,cap_net_raw,cap_sys_chroot,cap_mknod,cap_audit_write,cap_setfcap
	in_image()
	{
		local caps=$kept
		[ "$1" = no ] || caps+=,cap_sys_admin
		shift
		# shellcheck disable=SC2016 # that shell's own words
		unshare --mount --pid --fork --kill-child --propagation private sh -c '
			mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --bind "$2" "$1/work" || exit 1
			root=$1
			caps=$3
			shift 3
			exec capsh --drop="$(capsh --decode=$(sed -n "s/^CapBnd:[[:space:]]*//p" /proc/self/status) |
				sed "s/.*=//" | tr , "\n" | grep -vxF "$(echo "$caps" | tr , "\n")" | paste -sd,)" \
				--chroot="$root" -- -c "exec \"\$@\"" sh "$@"' sh "$ROOTS/container" "$work" "$caps" "$@"
	}
fi

entry=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' Dockerfile)
image() { in_image no "$entry" "$@"; }
check "animfs check" image check /work/game
check "animfs cat" image cat /work/game/ranger.canm/walk/bones/Bone01.csv
image cat /work/game/ranger.canm/walk/bones/Bone01.csv | sed '2s/,1.5,/,2.5,/' >"$work/bone.csv"
saved() { image put /work/game/ranger.canm/walk/bones/Bone01.csv <"$work/bone.csv"; }
check "animfs put" saved
is_there() { image cat /work/game/ranger.canm/walk/bones/Bone01.csv | grep -q "^0,0,$1,"; }
check "the edit is there" is_there 2.5
check "animfs export" image export --views=csv,json /work/game /work/texts
sed -i '2s/,2.5,/,3.5,/' "$work/texts/ranger.canm/walk/bones/Bone01.csv"
check "animfs import" image import /work/texts /work/game
check "that edit is there, too" is_there 3.5
# As the page has it.
mount_line=$(sed -n 's/^    \(animfs \/game \/anim\)$/\1/p' docs/desktops.md)
check "a mount, with the device" in_image yes bash -euc "ln -sfn /work/game /game
	$mount_line
	sed -i '2s/,3.5,/,4.5,/' /anim/ranger.canm/walk/bones/Bone01.csv
	animfs umount /anim"
check "its edit is in the file" is_there 4.5
if [ "$failed" -eq 0 ]; then
	echo "test-container: 9 passed, 0 failed"
else
	exit 1
fi
