#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-slurm.sh - starts a Slurm of two nodes on this machine, and runs on it what the manual says
# about several machines: export, check and import as array jobs, with tasks killed, requeued and
# lost with their node; and the same with GNU parallel.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(realpath "${BUILD:-build}")
PATH=$BUILD:$PATH:/usr/sbin:/sbin
scripts=$PWD/scripts
PARTS=4
WAIT=300 # seconds, for what takes a few

work=$(mktemp -d /var/tmp/animfs-slurm.XXXXXX) || exit 1
export LC_ALL=C.UTF-8 SLURM_CONF=$work/slurm.conf PARALLEL_HOME=$work/parallel
# Munge wants its socket where everybody may look.
chmod 755 "$work"
umask 022

passed=0 failed=0
pass() { passed=$((passed + 1)); echo "ok - $1"; }
not_ok()
{
	failed=$((failed + 1))
	echo "not ok - $1"
	shift
	printf '%s\n' "$@" | head -n 30 | sed 's/^/#   /'
}
is() { if [ "$2" = "$3" ]; then pass "$1"; else not_ok "$1" "got:  $2" "want: $3"; fi; }
ok()
{
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then pass "$name"; else not_ok "$name" "$output"; fi
}

wait_for()
{
	local end=$((SECONDS + WAIT))
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# ---- a cluster ----

declare -A daemons=()
start()
{
	"$@" >"$work/$1.said" 2>&1 &
	pid=$!
}

# All that was started here knows the configuration: the steps of jobs live on without their slurmd.
processes_of_jobs()
{
	local entry
	for entry in /proc/[0-9]*; do
		[ "${entry#/proc/}" = $$ ] || ! grep -qsF "SLURM_CONF=$SLURM_CONF" "$entry/environ" ||
			echo "${entry#/proc/}"
	done
}

all_ended() { [ -z "$(jobs -r -p)" ]; }

clean_up()
{
	local pid
	trap - EXIT
	timeout 20 scancel --full --user="$(id -un)" 2>/dev/null
	kill "${daemons[@]}" 2>/dev/null
	WAIT=20 wait_for all_ended
	for pid in $(processes_of_jobs); do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# Three ports, one after another, where nobody answers.
free_ports()
{
	local port
	while :; do
		port=$((20000 + RANDOM % 10000))
		(: <"/dev/tcp/127.0.0.1/$port" || : <"/dev/tcp/127.0.0.1/$((port + 1))" ||
			: <"/dev/tcp/127.0.0.1/$((port + 2))") 2>/dev/null || break
	done
	echo $port
}

start_munge()
{
	mkdir "$work/munge"
	(umask 077 && head -c 1024 /dev/urandom >"$work/munge/key")
	start munged --foreground --num-threads=2 --socket="$work/munge/socket" \
		--key-file="$work/munge/key" --pid-file="$work/munge/pid" \
		--log-file="$work/munge/log" --seed-file="$work/munge/seed"
	daemons[munge]=$pid
	wait_for test -S "$work/munge/socket"
}

# cred_expire: so long a requeued task waits.
configure()
{
	local port
	port=$(free_ports)
	cat >"$SLURM_CONF" <<-END
		ClusterName=animfs
		SlurmctldHost=$(hostname)(127.0.0.1)
		SlurmUser=$(id -un)
		SlurmdUser=$(id -un)
		AuthInfo=socket=$work/munge/socket,cred_expire=5
		SlurmctldPort=$port
		SlurmctldPidFile=$work/slurmctld.pid
		SlurmdPidFile=$work/slurmd-%n.pid
		SlurmdSpoolDir=$work/spool-%n
		StateSaveLocation=$work/state
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		SlurmdParameters=config_overrides
		NodeName=one,two NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + 1))-$((port + 2)) CPUs=2
		PartitionName=all Nodes=ALL Default=YES
	END
}

idle() { [ "$(sinfo -h -N -o '%N %T' 2>/dev/null | paste -sd ' ')" = "one idle two idle" ]; }

start_slurm()
{
	mkdir "$work/state" "$work/spool-one" "$work/spool-two"
	configure
	start slurmctld -D
	daemons[slurmctld]=$pid
	for node in one two; do
		start slurmd -D -N "$node"
		daemons[$node]=$pid
	done
	wait_for idle
}

if ! start_munge || ! start_slurm; then
	not_ok "a Slurm of two nodes starts" "$(cat "$work"/*.said)"
	exit 1
fi
pass "a Slurm of two nodes starts"
cd "$work" || exit 1

# ---- trees ----

# Every file with its bytes, and every text with its time.
all_of()
{
	(cd "$1" && find . -type f -exec md5sum {} + | sort -k 2 &&
		find . -type f ! -name .animfs-export -printf '%p %T@\n' | sort)
}
same_tree() { diff <(all_of "$1") <(all_of "$2"); }

make_game game --files 80 --clips 2 --bones 12 --frames 12 --plain 10 --skeleton 1 --version mix
mkdir game/more
cp "$scripts"/../tests/data/{canm/odd512.canm,cas/v203.cas,ribbon/duplicate.anm,kanim/stick.kanim,owanim/small.006} \
	game/more
animfs export game whole 2>/dev/null || not_ok "one run exports all"

# ---- jobs ----

export_job() { sbatch --parsable --output=export-%A_%a.log "$@"; }
task() { squeue -h -r -j "$1" -o '%i %T' 2>/dev/null | sed -n "s/^$1_$2 //p"; }
is_over() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
# field JOB TASK NAME: what Slurm knows of a task.
field() { scontrol show job "$1_$2" | grep -oE "\b$3=[^ ]*" | cut -d = -f 2 | head -n 1; }

# The export of a part into a folder, as a process: $pid.
find_export()
{
	local entry words
	for entry in /proc/[0-9]*; do
		[ "$entry/exe" -ef "$BUILD/animfs" ] || continue
		mapfile -d '' -t words <"$entry/cmdline"
		if [[ " ${words[*]} " == *" --shard=$1 "*" $2 " ]]; then
			pid=${entry#/proc/}
			return 0
		fi
	done 2>/dev/null
	return 1
}

# Stops the export of a part when it has written some of its files, and not all: $pid.
stop_half_way()
{
	local end=$((SECONDS + WAIT)) file some all
	mapfile -t files <"part-${1%/*}"
	while [ $SECONDS -lt $end ]; do
		find_export "$1" "$2" || continue
		while kill -STOP "$pid" 2>/dev/null; do
			some=0 all=1
			for file in "${files[@]}"; do
				if [ -e "$2/$file" ]; then some=1; else all=0; fi
			done
			[ $all -eq 0 ] || break 2
			[ $some -eq 0 ] || return 0
			kill -CONT "$pid"
			sleep 0.01
		done
	done
	kill -CONT "$pid" 2>/dev/null
	not_ok "part $1 is met half-way into $2"
	return 1
}

for ((part = 1; part <= PARTS; part++)); do
	animfs export --views=json --shard=$part/$PARTS game "part-$part.d" 2>/dev/null
	(cd "part-$part.d" && find . -name .animfs-export | sort) >part-$part
done

# ---- export ----

export ANIMFS=$BUILD/animfs
ok "an array of $PARTS tasks ends well" export_job --wait --array=1-$PARTS \
	"$scripts/animfs-export.sbatch" game union
ok "together they are one run, byte for byte" same_tree whole union
is "each task had its part" "$(cat export-*_*.log | awk '{ n += $1 } END { print n, NR }')" \
	"$(cat part-[1-$PARTS] | wc -l) $PARTS"
rm -rf union
ok "so does one that counts 10, 20, ... and gives two processors to each task" export_job --wait \
	--array=10-50:10 --cpus-per-task=2 "$scripts/animfs-export.sbatch" game union
ok "it is the same" same_tree whole union
rm -rf union
if export_job --wait --array=1,2,4 "$scripts/animfs-export.sbatch" game union >job; then
	not_ok "an array with gaps is refused"
else
	is "an array with gaps is refused" "$(grep -l 'has gaps' export-"$(cat job)"_*.log | wc -l)" 3
fi
rm -rf union

# ---- killed half-way ----

job=$(export_job --array=1-$PARTS "$scripts/animfs-export.sbatch" game union)
if stop_half_way 2/$PARTS union; then
	kill -KILL "$pid"
	wait_for is_over "$job"
	is "a task that is killed has failed" "$(field "$job" 2 JobState)" FAILED
	fails=$(same_tree whole union >/dev/null && echo none)
	is "and its part is not whole" "$fails" ""
	ok "it is requeued" scontrol requeue "${job}_2"
	wait_for is_over "$job"
	is "goes on, and ends well" "$(field "$job" 2 JobState)" COMPLETED
	ok "then all is as of one run" same_tree whole union
fi
rm -rf union

job=$(export_job --array=1-$PARTS "$scripts/animfs-export.sbatch" game union)
if stop_half_way 3/$PARTS union; then
	ok "a task is requeued while it works" scontrol requeue "${job}_3"
	kill -CONT "$pid"
	wait_for is_over "$job"
	is "it has begun twice" "$(field "$job" 3 Restarts) $(field "$job" 3 JobState)" "1 COMPLETED"
	ok "and all is as of one run" same_tree whole union
fi
rm -rf union

# ---- a machine that is lost ----

# Everything on a node at once, as when its power goes: slurmd, steps, programs.
lose_node()
{
	local process parent
	for process in $(processes_of_jobs); do
		grep -qzx "SLURMD_NODENAME=$1" "/proc/$process/environ" || continue
		parent=$(sed -n 's/^PPid:\t//p' "/proc/$process/status")
		[ "$(cat "/proc/$parent/comm")" != slurmstepd ] || kill -KILL "$parent"
		kill -KILL "$process"
	done
	kill -KILL "${daemons[$1]}"
	wait "${daemons[$1]}"
} 2>/dev/null

job=$(export_job --array=1-$PARTS "$scripts/animfs-export.sbatch" game union)
if stop_half_way 1/$PARTS union; then
	node=$(field "$job" 1 NodeList)
	lose_node "$node"
	# What Slurm does by itself when the node does not answer for SlurmdTimeout.
	scontrol update nodename="$node" state=down reason=lost
	wait_for is_over "$job"
	is "a task whose node is lost begins anew" \
		"$(field "$job" 1 Restarts) $(field "$job" 1 JobState)" "1 COMPLETED"
	is "on the other node" "$(field "$job" 1 NodeList)" "$([ "$node" = one ] && echo two || echo one)"
	ok "and all is as of one run" same_tree whole union
	start slurmd -D -N "$node"
	daemons[$node]=$pid
	scontrol update nodename="$node" state=resume
	ok "the node comes back" wait_for idle
fi

# ---- check ----

cp -r game damaged
printf CANM >damaged/more/odd512.canm
animfs check damaged >said 2>counted
# shellcheck disable=SC2016 # the task's own words
job=$(sbatch --parsable --wait --array=1-$PARTS --output=check-%a.said --error=check-%a.counted \
	--wrap='animfs check --shard=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT damaged')
is "an array of checks fails where a file does" $? 1
is "in one task alone" "$(for ((part = 1; part <= PARTS; part++)); do
	field "$job" $part ExitCode; done | sort | paste -sd ' ')" "0:0 0:0 0:0 1:0"
is "the tasks say what one check says" "$(sort check-*.said)" "$(sort said)"
is "and have checked as many" "$(awk '{ n += $1 } END { print n }' check-*.counted)" \
	"$(cut -d ' ' -f 1 counted)"

# ---- import ----

for text in union/*/*/*.canm/run/bones/hips.csv; do
	sed -i '2s/,[^,]*/,0.01/2' "$text"
done
cp -r --preserve=timestamps union texts
cp -r --preserve=timestamps game once
animfs import texts once 2>/dev/null | sort >said
# shellcheck disable=SC2016
ok "an array of imports ends well" sbatch --wait --array=1-$PARTS --output=import-%a.said \
	--error=import-%a.counted \
	--wrap='animfs import --shard=$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT union game'
is "the tasks change what one import changes" "$(sort import-*.said)" "$(cat said)"
is "which is every file that was edited" "$(wc -l <said)" 80
ok "to the same bytes" diff -r -x .animfs once game

# ---- without a cluster ----

rm -rf union whole
animfs export game whole 2>/dev/null
ok "GNU parallel exports all parts" parallel -S : --workdir . -j2 \
	animfs export --update --shard={}/$PARTS game union ::: $(seq $PARTS)
ok "as one run" same_tree whole union
rm -rf union
parallel -S : --workdir . -j2 --retries 3 \
	animfs export --update --shard={}/$PARTS game union ::: $(seq $PARTS) >parallel.said 2>&1 &
daemons[parallel]=$!
if stop_half_way 2/$PARTS union; then
	kill -KILL "$pid"
	wait "${daemons[parallel]}"
	is "one that is killed is tried again" $? 0
	ok "and all is as of one run" same_tree whole union
fi
parallel -S : --workdir . -j2 animfs check --shard={}/$PARTS damaged ::: $(seq $PARTS) 2>/dev/null | sort >checked
is "its checks find the damaged file" "$(cut -d : -f 1 checked)" "damaged/more/odd512.canm"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
