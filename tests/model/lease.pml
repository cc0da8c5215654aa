/* The lease: mark, gate, quarantine. README.md says how to run this model, and what it leaves out.
 *
 * There are one worker and N processes that want it. A world says what may go wrong:
 *
 *   SYNCHRONOUS   clocks are set to anything; a failover loses only commits that nobody acknowledged
 *   ASYNCHRONOUS  failovers, and failbacks to the old primary, lose acknowledged commits; clocks differ by the skew
 *   COPIES        a copy of the database runs beside its original, and an address leads to either
 *
 * A step is atomic. A comment of the form "file: text" names the line of code that it stands for, and model_test.go
 * looks for it. Each NO_... takes one guard away.
 */

#ifndef NO_COMPARISON
#define NO_COMPARISON 0
#endif
#ifndef NO_ACKNOWLEDGEMENT
#define NO_ACKNOWLEDGEMENT 0
#endif
#ifndef NO_CLEAN_ANSWER
#define NO_CLEAN_ANSWER 0
#endif
#ifndef NO_START_AT_MARK
#define NO_START_AT_MARK 0
#endif
#ifndef NO_OWNER
#define NO_OWNER 0
#endif
#ifndef NO_QUARANTINE
#define NO_QUARANTINE 0
#endif
#ifndef NO_GRACE
#define NO_GRACE 0
#endif
#ifndef NO_CAP
#define NO_CAP 0
#endif
#ifndef NO_GATE
#define NO_GATE 0
#endif
#ifndef NO_RESTART_QUARANTINE
#define NO_RESTART_QUARANTINE 0
#endif
#ifndef NO_STALE_RENEWAL
#define NO_STALE_RENEWAL 0
#endif
#ifndef NO_SEAL
#define NO_SEAL 0
#endif
#ifndef NO_COPY_CHECK
#define NO_COPY_CHECK 0
#endif

#if !defined(SYNCHRONOUS) && !defined(ASYNCHRONOUS) && !defined(COPIES)
#error choose a world: -DSYNCHRONOUS, -DASYNCHRONOUS or -DCOPIES
#endif
#ifndef N
#define N 2             /* processes */
#endif
#ifndef LAST
#define LAST 5          /* the last tick of the clock */
#endif
#ifndef TICK
#define TICK 4          /* of which no two processes may issue an ID; a story of another tick begins sooner or later */
#endif
#ifndef ACQUISITIONS
#define ACQUISITIONS 3  /* most of them */
#endif
#ifndef FAULTS
#define FAULTS 2        /* most failovers and failbacks */
#endif
#ifndef RESTARTS
#define RESTARTS 0      /* most starts of a server that forget nothing */
#endif
#define end_of_time (LAST + 2)          /* no mark is beyond it */

/* A search takes each way. In a replay a history chooses, with its own numbers (replay.pml). */
#ifndef REPLAY
#define on(kind, guard) guard
#define max_window 1
#define skew 1
#define window max_window               /* of the process that asks */
#define wanted end_of_time              /* a process wants more than it may have */
#define heard true                      /* an answer arrives */
#define unheard true
#define late_owner server[primary].owner        /* of a renewal that arrives late */
#define late_term server[primary].term
#define late_bound 0
/* The first to take the worker is A, and so on: other names give no other stories. */
#define in_order (owners >= _pid)
#define next_tick (now + 1)
#define releases_again false            /* its first request may come late as well */
#define set_back do :: now > 1 -> now-- :: break od
#endif

/* migrations/00001_schema.sql: CHECK (quarantine >= max_window + 2 * skew) */
#define quarantine (max_window + 2 * skew)
#define settling (max_window + 2 * skew)        /* restart_quarantine IS NULL */

#define max(a, b) ((a) > (b) -> (a) : (b))
#define min(a, b) ((a) < (b) -> (a) : (b))

typedef Server {
	byte mark;            /* the worker's row: reserved_until */
	byte owner;             /* a number for each acquisition; 0: none yet */
	byte term;
	bool released;          /* released_at IS NOT NULL */
	byte renewed;         /* renewed_at */
	byte noted;             /* the namespace's row: timeline */
	byte opens;           /* acquire_after */
	byte timeline;          /* pgflurry.wal_timeline() */
	byte started;         /* pg_postmaster_start_time(); 0: long ago */
	byte fast               /* by how many ticks its clock is ahead */
};

typedef Process {
	byte owner;             /* of the lease that it holds; 0: none */
	byte term;
	byte bound;           /* its acknowledged mark */
	bool early;             /* it begins at TICK or before */
	bool holds;             /* a grant of this process has TICK */
	bool ended              /* the worker is released */
};

Server server[2];
Process process[N];
byte now = 1;         /* the tick of real time; in world SYNCHRONOUS that of the database's clock */
byte primary = 0;
byte owners = 0;        /* acquisitions until now */
byte timelines = 1;
byte faults = 0;
byte restarts = 0;
bool follows = true;    /* the other server is a standby of the primary */
bool copied = false;    /* server 1 is a copy of server 0 */
byte by = N;            /* the process that has issued an ID of TICK; N: none */
bool may;               /* what the statement that runs decides */
bool forgot;

#define clock(s) (now + server[s].fast)
#define other (1 - primary)

/* internal/lease/acquire.sql: NOT pgflurry.is_original() AS copied */
/* internal/lease/renew.sql: n.id = $1::uuid AND n.home IS NULL AND NOT db.copied AS matches */
#define original(s) (NO_COPY_CHECK || !(copied && s == 1))

/* internal/lease/acquire.sql: db.timeline IS NOT NULL AND n.timeline IS DISTINCT FROM db.timeline AS moved */
/* internal/lease/renew.sql: db.timeline IS NOT NULL AND n.timeline IS DISTINCT FROM db.timeline AS moved */
#define moved(s) (server[s].noted != server[s].timeline)

/* internal/lease/acquire.sql: acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine) */
/* internal/lease/renew.sql: acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine) */
inline see_timeline(S) {
	if
	:: original(S) && moved(S) ->
		server[S].noted = server[S].timeline;
		server[S].opens = max(server[S].opens, clock(S) + quarantine);
		printf("%d: server %d has a new timeline, and the gate is closed until %d\n", now, S, server[S].opens)
	:: else
	fi
}

/* internal/lease/acquire.sql: AND NOT ns.moved AND ns.acquire_after <= ns.now */
#define gate_is_open(s) (NO_GATE || !moved(s) && server[s].opens <= clock(s))

/* internal/lease/acquire.sql: AND NOT ns.closed AND ns.settled <= ns.now */
#define settled(s) (NO_RESTART_QUARANTINE || server[s].started == 0 || server[s].started + 1 + settling <= clock(s))

/* internal/lease/acquire.sql: CASE WHEN w.term = 0 OR w.released_at IS NOT NULL THEN 0 ELSE ns.rest END <= ns.now */
#define rest(s) (NO_QUARANTINE || server[s].term == 0 || server[s].released -> 0 : quarantine)
#define free(s) (NO_START_AT_MARK || server[s].mark + rest(s) <= clock(s))

/* internal/lease/acquire.sql: term = w.term + 1, */
/* internal/lease/acquire.sql: reserved_until = least(greatest(w.reserved_until, ns.now) + ns.reserve, ns.end_of_time), */
/* internal/lease/acquire.sql: RETURNING w.worker, w.term, ns.now AS granted_from, w.reserved_until */
inline acquire(S) {
	may = original(S) && gate_is_open(S) && settled(S) && free(S);
	see_timeline(S);
	if
	:: may ->
		owners++;
		server[S].owner = owners;
		server[S].term++;
		server[S].released = false;
		server[S].renewed = clock(S);
		server[S].mark = max(server[S].mark, clock(S)) + window
	:: else
	fi
}

/* internal/lease/renew.sql: AND w.owner = $3::uuid AND w.term = $4::bigint */
#define owned_by(s, o, t) (NO_OWNER || server[s].owner == o && server[s].term == t)

/* internal/lease/renew.sql: pgflurry.ticks_of(n.quarantine) - pgflurry.ticks_of(n.skew) AS grace */
/* internal/lease/renew.sql: AND w.reserved_until + ns.grace > ns.now */
#define in_time(s) (NO_GRACE || server[s].mark + quarantine - skew > clock(s))

/* internal/lease/renew.sql: AND (w.renewed_at < ns.started AND pgflurry.ticks(w.renewed_at) + ns.settling <= ns.now) */
#define stale(s) (!NO_STALE_RENEWAL && server[s].renewed < server[s].started && \
	server[s].renewed + min(quarantine, settling) <= clock(s))

/* internal/lease/renew.sql: greatest(ns.now + ns.reach, */
/* internal/lease/renew.sql: w.reserved_until + greatest(0, ns.now - coalesce(pgflurry.ticks(w.renewed_at), ns.now)) */
#define limit(s) max(clock(s) + window + skew, server[s].mark + max(0, clock(s) - server[s].renewed))

/* internal/lease/renew.sql: AND (w.term < $4::bigint OR w.term = $4::bigint AND w.owner <> $3::uuid OR w.reserved_until */
/* internal/lease/release.sql: AND (w.term < $4::bigint OR w.term = $4::bigint AND w.owner <> $3::uuid OR w.reserved_until */
#define forgot_that(s, o, t, acknowledged) (original(s) && (server[s].term < t || \
	server[s].term == t && server[s].owner != 0 && server[s].owner != o || server[s].mark < acknowledged))

/* internal/lease/renew.sql: SET acquire_after = greatest(n.acquire_after, ns.now + ns.quarantine), joins_complete_on = NULL */
/* internal/lease/release.sql: SET acquire_after = greatest(n.acquire_after, pgflurry.ticks(clock_timestamp()) */
inline see_what_is_gone(S) {
	if
	:: forgot ->
		server[S].opens = max(server[S].opens, clock(S) + quarantine);
		printf("%d: server %d has forgotten a commit, and the gate is closed until %d\n", now, S, server[S].opens)
	:: else
	fi
}

/* internal/lease/renew.sql: AND w.released_at IS NULL AND w.retired_at IS NULL */
/* internal/lease/renew.sql: AND w.reserved_until >= $5::bigint */
/* internal/lease/renew.sql: SET reserved_until = greatest(w.reserved_until, least($6::bigint, ns.end_of_time, */
/* internal/lease/renew.sql: WHERE n.id = ns.id AND NOT ns.moved */
inline renew(S, O, T, ACK) {
	may = original(S) && owned_by(S, O, T) && server[S].owner != 0 && !server[S].released &&
		server[S].mark >= ACK && in_time(S) && !stale(S);
	forgot = forgot_that(S, O, T, ACK) && !moved(S);
	see_timeline(S);
	see_what_is_gone(S);
	if
	:: may ->
		server[S].mark = max(server[S].mark, (NO_CAP -> wanted : min(wanted, limit(S))));
		server[S].renewed = clock(S)
	:: else
	fi
}

/* internal/lease/release.sql: AND w.owner = $3::uuid AND w.term = $4::bigint */
/* internal/lease/release.sql: SET reserved_until = greatest(w.reserved_until, $5::bigint), */
inline release(S, O, T, ACK) {
	may = original(S) && server[S].owner == O && server[S].term == T && !server[S].released;
	forgot = forgot_that(S, O, T, ACK);
	see_what_is_gone(S);
	if
	:: may -> server[S].mark = max(server[S].mark, ACK); server[S].released = true
	:: else
	fi
}

/* After the last failover nobody asks the other server again, so what it has makes no difference. */
inline leave(S) {
	server[S].mark = 0; server[S].owner = 0; server[S].term = 0; server[S].renewed = 0; server[S].released = false;
	server[S].noted = 0; server[S].opens = 0; server[S].timeline = 0; server[S].started = 0; server[S].fast = 0
}

inline fail_over() {
	faults++;
	follows = false;
	primary = other
}

inline copy_rows(source, to) {
	server[to].mark = server[source].mark;
	server[to].owner = server[source].owner;
	server[to].term = server[source].term;
	server[to].renewed = server[source].renewed;
	server[to].released = server[source].released;
	server[to].noted = server[source].noted;
	server[to].opens = server[source].opens
}

/* A statement has run. Its answer reaches the process or not: then the process knows nothing of it. An answer that
 * comes late is one to a process that does nothing meanwhile, so answer and statement are one step. With a synchronous
 * standby a clean answer comes when the standby has all commits until then. */
/* internal/lease/acknowledge/acknowledge.go: if len(x.notices) > 0 { */
inline answer(P) {
	if
#ifdef SYNCHRONOUS
	:: heard -> if :: faults < FAULTS -> copy_rows(primary, other) :: else fi
	:: NO_CLEAN_ANSWER ->
		printf("    ... the answer is a success with a warning: its wait for the standby was cancelled\n")
#else
	:: heard
#endif
	:: unheard -> printf("    ... the answer is lost\n"); may = false
	fi
}

/* internal/lease/protocol.go: Lease: a.Lease, bound: a.Grant, reserve: p.first, place: a.Place, since: sent, rest: a.Rest, */
inline ask_to_acquire(P, S) {
	acquire(S);
	if
	:: may -> printf("%d: %c takes the worker at server %d, from tick %d to mark %d\n", now, 'A' + P, S, clock(S),
			server[S].mark);
		answer(P)
	:: else
	fi;
	if
	:: may ->
		process[P].owner = owners;
		process[P].term = server[S].term;
		process[P].early = clock(S) <= TICK;
		process[P].bound = server[S].mark;
		grant(P)
	:: else
	fi
}

/* internal/lease/protocol.go: h.bound.Until, h.reserve = r.Until, asked.Window */
inline ask_to_renew(P, S) {
	renew(S, process[P].owner, process[P].term, process[P].bound);
	if
	:: may -> printf("%d: %c renews at server %d: mark %d\n", now, 'A' + P, S, server[S].mark); answer(P)
	:: else
	fi;
	if
	:: may -> process[P].bound = server[S].mark; grant(P)
	:: else
	fi
}

/* The issuer may finish a grant that a shorter one has replaced, so it keeps what it has. */
/* internal/lease/keeper.go: if last := k.issued.Load().Grant; g.Worker == last.Worker && g.Until < last.Until { */
inline grant(P) {
	process[P].holds = process[P].holds || process[P].early && TICK < process[P].bound;
	printf("    ... and %c may issue IDs up to that mark\n", 'A' + P)
}

/* Without this guard a process takes what it asked for as granted. */
/* internal/lease/protocol.go: // unknownRenew plans another attempt. The bound stays. */
inline ask_in_vain(P, S) {
	process[P].bound = max(process[P].bound, clock(S) + window + skew);
	printf("%d: a renewal of %c is lost, and %c takes mark %d for granted\n", now, 'A' + P, 'A' + P,
		process[P].bound);
	grant(P)
}

/* No clock of a process counts: an ID may have any tick of the grant. */
/* generator/generator.go: func (g *grant) covers(tick int64) bool { return tick >= g.from && tick < g.until } */
#define covers(p) (process[p].holds)
/* Without this guard an ID has any tick up to the clock's. */
#define unbounded(p) (NO_COMPARISON && process[p].early && TICK <= clock(primary))

inline issue(P) {
	printf("%d: %c issues an ID of tick %d\n", now, 'A' + P, TICK);
	if
	:: process[P].ended -> printf("WRONG: %c has released the worker before\n", 'A' + P)
	:: !process[P].ended && by != N && by != P -> printf("WRONG: %c has issued IDs of that tick, too\n", 'A' + by)
	:: else
	fi;
	assert(!process[P].ended);
	assert(by == N || by == P);
	by = P
}

#ifdef COPIES
#define reaches(s) (s == 0 || copied)
#else
#define reaches(s) (s == primary)
#endif

/* A process that is paused, cut off or killed does nothing for a while, or never again. A request or an answer that is
 * lost is one that never arrives. So these need no steps of their own. */
active [N] proctype Proxy() {
	byte s;
end:	do
	:: atomic { on(ACQUIRE, !process[_pid].ended && in_order && owners < ACQUISITIONS) ->
		if :: reaches(0) -> s = 0 :: reaches(1) -> s = 1 fi;
		ask_to_acquire(_pid, s); s = 0; may = false }
	:: atomic { on(RENEW, !process[_pid].ended && process[_pid].owner != 0) ->
		if :: reaches(0) -> s = 0 :: reaches(1) -> s = 1 fi;
		ask_to_renew(_pid, s); s = 0; may = false; forgot = false }
	:: atomic { on(NEVER, NO_ACKNOWLEDGEMENT && !process[_pid].ended && process[_pid].owner != 0) ->
		ask_in_vain(_pid, primary) }
	/* internal/lease/keeper.go: defer k.issuer.Seal() */
	:: atomic { on(SEAL, !NO_SEAL && !process[_pid].ended && process[_pid].owner != 0) ->
		process[_pid].ended = true; process[_pid].early = false;
		printf("%d: %c is sealed\n", now, 'A' + _pid) }
	/* internal/lease/keeper.go: err := k.store.Release(ctx, h.Lease, h.bound.Until) */
	/* internal/lease/keeper.go: err = k.store.Release(ctx, h.Lease, h.bound.Until) */
	:: atomic { on(RELEASE, (process[_pid].ended || NO_SEAL) && process[_pid].owner != 0) ->
		process[_pid].ended = true; process[_pid].early = false;
		release(primary, process[_pid].owner, process[_pid].term, process[_pid].bound);
		if
		:: may -> printf("%d: %c releases the worker at mark %d\n", now, 'A' + _pid, server[primary].mark)
		:: else
		fi;
		if
		:: releases_again
		:: !releases_again -> process[_pid].owner = 0; process[_pid].term = 0; process[_pid].bound = 0
		fi;
		may = false; forgot = false }
	/* generator/generator.go: if grant.covers(now) { */
	:: atomic { on(ISSUE, (!process[_pid].ended || NO_SEAL) && (covers(_pid) || unbounded(_pid))) -> issue(_pid) }
	od
}

active proctype World() {
	atomic {
		server[0].noted = 1; server[0].timeline = 1;
		server[1].noted = 1; server[1].timeline = 1;
#if defined(ASYNCHRONOUS) && !defined(REPLAY)
		if
		:: server[0].fast = skew; printf("0: the clock of server 0 is ahead by %d\n", skew)
		:: server[1].fast = skew; printf("0: the clock of server 1 is ahead by %d\n", skew)
		fi
#endif
	}
end:	do
	:: atomic { on(LATER, now < LAST) -> now = next_tick }
	:: atomic { on(RESTART, restarts < RESTARTS) ->
		restarts++;
		server[primary].started = clock(primary);
		printf("%d: server %d starts again, with all commits\n", now, primary) }
#ifndef COPIES
	/* A renewal that its process has given up arrives late. */
	:: atomic { on(LATE, true) ->
		renew(primary, late_owner, late_term, late_bound);
		if
		:: may -> printf("%d: a late renewal arrives: mark %d\n", now, server[primary].mark)
		:: else
		fi;
		may = false; forgot = false }
#endif
#ifdef SYNCHRONOUS
	:: atomic { on(EARLIER, now > 1) -> set_back; printf("%d: the clock was set back\n", now) }
	:: atomic { on(COPY, faults < FAULTS) ->
		copy_rows(primary, other);
		printf("%d: the standby has all commits\n", now) }
	:: atomic { on(PROMOTE, faults < FAULTS) ->
		faults++;
		primary = other;
		server[primary].started = 0;
		printf("%d: failover to server %d\n", now, primary);
		if :: faults == FAULTS -> leave(other) :: else fi }
#endif
#ifdef ASYNCHRONOUS
	:: atomic { on(COPY, follows && faults < FAULTS) ->
		copy_rows(primary, other);
		printf("%d: the standby has all commits\n", now) }
	:: atomic { on(FOLLOW, !follows && faults < FAULTS) ->
		follows = true;
		server[other].timeline = server[primary].timeline;
		copy_rows(primary, other);
		printf("%d: server %d is a standby again\n", now, other) }
	:: atomic { on(PROMOTE, follows && faults < FAULTS) ->
		fail_over();
		timelines++; server[primary].timeline = timelines; server[primary].started = 0;
		printf("%d: failover to server %d\n", now, primary);
		if :: faults == FAULTS -> leave(other) :: else fi }
	:: atomic { on(START_ALONE, follows && faults < FAULTS) ->
		fail_over();
		server[primary].started = clock(primary);
		printf("%d: server %d starts without knowing that it is a standby\n", now, primary);
		if :: faults == FAULTS -> leave(other) :: else fi }
	:: atomic { on(FAIL_BACK, !follows && faults < FAULTS) ->
		fail_over();
		server[primary].started = clock(primary);
		printf("%d: failback: server %d starts again as it was\n", now, primary);
		if :: faults == FAULTS -> leave(other) :: else fi }
#endif
#ifdef COPIES
	:: atomic { on(NEVER, !copied) ->
		copied = true;
		copy_rows(0, 1);
		printf("%d: the database is copied to server 1\n", now) }
#endif
	od
}
