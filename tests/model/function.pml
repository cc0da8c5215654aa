/* The function next_snowflake(): ticks, mark and stand-in. README.md says how to run this model, and what it leaves
 * out.
 *
 * N sessions call the function again and again, and may be stopped between any two steps. A world says what may go
 * wrong:
 *
 *   CRASHES   a crash loses all marks; the clock goes on
 *   CLOCKS    the clock is set to anything, a session is terminated, a lane is sent back to START; no mark is lost
 *   ORDER     sessions hang; what a later call gets has to be greater
 *
 * In CRASHES and CLOCKS no ID may come twice. A comment of the form "file: text" names the line of code that a step
 * stands for, and model_test.go looks for it. Each NO_... takes one guard away. Points are those of the head of
 * sqlfuncs/next_snowflake.sql.
 */

#if !defined(CRASHES) && !defined(CLOCKS) && !defined(ORDER)
#error choose a world: -DCRASHES, -DCLOCKS or -DORDER
#endif

#ifndef N
#define N 2             /* sessions */
#endif
#ifndef LAST
#define LAST 5          /* the last tick of the clock */
#endif
#ifndef TICK
#define TICK 5          /* of which no ID may come twice; a story of another tick begins sooner or later */
#endif
#ifndef FAULTS
#define FAULTS 2        /* crashes, and sessions that are terminated */
#endif

#ifdef AT_WORK          /* The lane has used up tick 2, so that the mark rises soon. */
#define BLOCK 0
#define AHEAD 1
#else
#define BLOCK 1         /* block_bits: mark moves in blocks of two ticks */
#define AHEAD 2         /* ticks that full ticks may drive the lane ahead of the clock */
#endif
#define LAG 0           /* ticks that a draw may be behind the clock */
#define LAG_LIMIT 0     /* the same while another session advances */
#define APART (l == STAND_IN -> 2 : 1)

#ifndef NO_DRAW_UNDER_LOCK
#define NO_DRAW_UNDER_LOCK 0
#endif
#ifndef NO_TICK_ABOVE
#define NO_TICK_ABOVE 0
#endif
#ifndef NO_LOCK
#define NO_LOCK 0
#endif
#ifndef NO_MARK_FIRST
#define NO_MARK_FIRST 0
#endif
#ifndef NO_MARK_ON_THE_WAY
#define NO_MARK_ON_THE_WAY 0
#endif
#ifndef NO_START_BEYOND
#define NO_START_BEYOND 0
#endif
#ifndef NO_START_SLEEP
#define NO_START_SLEEP 0
#endif
#ifndef NO_AHEAD_LIMIT
#define NO_AHEAD_LIMIT 0
#endif
#ifndef NO_SHARE
#define NO_SHARE 0
#endif
#ifndef NO_LOOK_AGAIN
#define NO_LOOK_AGAIN 0
#endif
#ifndef NO_LOOK_IF_UNSEEN
#define NO_LOOK_IF_UNSEEN 0
#endif
#ifndef NO_LOOK_IF_MOVED
#define NO_LOOK_IF_MOVED 0
#endif
#ifndef NO_SHOW_FIRST
#define NO_SHOW_FIRST 0
#endif
#ifndef NO_REST_WHILE_FRESH
#define NO_REST_WHILE_FRESH 0
#endif

#define min(a, b) ((a) < (b) -> (a) : (b))
#define max(a, b) ((a) > (b) -> (a) : (b))

#define LANE 0
#define STAND_IN 1

/* A value of a lane is tick << 2 | counter. Counter 0 is the stand-in's share, 1 and 2 are the lane's. 3 is no ID. */
#define START 3
#define NO_ID 3
#define tick_of(v) ((v) >> 2)
#define first_of(l) ((l) == STAND_IN && !NO_SHARE -> 0 : 1)
#define beyond_of(l) ((l) == STAND_IN && !NO_SHARE -> 1 : 3)
#define is_id(l, v) (((v) & 3) < beyond_of(l))

#ifdef AT_WORK
byte last[2] = {11, START};
byte mark[2] = {4, 0};
byte now = 2;
#else
byte last[2] = START;   /* last_value of pgflurry.lane and pgflurry.lane_stand_in */
byte mark[2];           /* pgflurry.mark and pgflurry.mark_stand_in */
byte now = 1;           /* the tick of the clock */
#endif
byte holder[2] = N;     /* the session that has the lock; N: none */
byte faults = 0;
bool killed[N];         /* the session is terminated */
bool calling[N];

#ifdef ORDER
byte given = 0;         /* the greatest ID that a call has returned */
#else
byte seen = 0;          /* IDs of TICK that were given, a bit for each counter */
#endif

inline nextval(l, into) {
	last[l] = ((last[l] & 3) == NO_ID -> last[l] : last[l] + 1);
	into = last[l]
}

inline unlock(l) {
	holder[l] = (holder[l] == _pid -> N : holder[l])
}

/* The call returns, and its caller sees the ID. */
inline give(id) {
	printf("%d: %c gets ID %d.%d\n", now, 'A' + _pid, tick_of(id), (id) & 3);
#ifdef ORDER
	if
	:: (id) <= floor ->
		printf("WRONG: it is not above %d.%d, which came before its call\n", tick_of(floor), floor & 3)
	:: else
	fi;
	assert((id) > floor);
	given = max(given, (id));
#else
	if
	:: tick_of(id) == TICK && (seen >> ((id) & 3)) & 1 -> printf("WRONG: an ID comes twice\n")
	:: else
	fi;
	assert(!(tick_of(id) == TICK && (seen >> ((id) & 3)) & 1));
	seen = (tick_of(id) == TICK -> seen | (1 << ((id) & 3)) : seen)
#endif
}

#ifdef ORDER
#define note_call() floor = given
#define forget() floor = 0
#else
#define note_call() skip
#define forget() skip
#endif

#ifdef CLOCKS
#define SLEPT true              /* the clock does not show it */
#else
#define SLEPT (now > awake)     /* more than one tick has passed */
#endif

/* sqlfuncs/next_snowflake.sql: entered := tick = 0 OR (target >> block_bits) <> (tick >> block_bits); */
/* sqlfuncs/next_snowflake.sql: 'pgflurry.mark%12$s'::regclass, ((target >> block_bits) + 2) << block_bits); */
inline raise_mark(tick) {
	atomic {
		if
		:: tick == 0 || target >> BLOCK != tick >> BLOCK ->
			mark[l] = ((target >> BLOCK) + 2) << BLOCK;
			printf("%d: %c raises mark %d to %d\n", now, 'A' + _pid, l, mark[l])
		:: else
		fi
	}
}

active [N] proctype Session() {
	byte l, drawn, v, other, clock, target, awake;
#ifdef ORDER
	byte floor;
#endif
again:	{
	/* sqlfuncs/next_snowflake.sql: THEN pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass) */
	atomic { calling[_pid] = true; note_call(); nextval(LANE, drawn) }

	/* sqlfuncs/next_snowflake.sql: -- return an ID whose tick is at most lag behind the clock, or ahead of it */
	atomic {
		if
		:: is_id(LANE, drawn) && tick_of(drawn) + LAG >= now -> give(drawn); goto done
		:: else
		fi
	}

	/* advance(): the fast path of point 7. */
	/* sqlfuncs/next_snowflake.sql: LOCK TABLE pgflurry.function_lock IN SHARE UPDATE EXCLUSIVE MODE NOWAIT; */
	/* sqlfuncs/next_snowflake.sql: -- Another session is advancing. The draw is unique at any time */
	atomic {
		if
		:: tick_of(drawn) == 0 -> goto slowly
		:: else
		fi;
		if
		:: NO_LOCK || holder[LANE] == N ->
			holder[LANE] = _pid;
			printf("%d: %c has the lock of lane 0\n", now, 'A' + _pid)
		:: else ->
			if
			:: is_id(LANE, drawn) && tick_of(drawn) + LAG_LIMIT >= now -> give(drawn); goto done
			:: else -> goto slowly
			fi
		fi
	}
	/* sqlfuncs/next_snowflake.sql: d := pg_catalog.nextval('pgflurry.lane'::pg_catalog.regclass); */
	atomic {
		if
		:: NO_DRAW_UNDER_LOCK -> v = drawn
		:: else -> nextval(LANE, v)
		fi
	}
	/* sqlfuncs/next_snowflake.sql: clock := %3$s; */
	clock = now;
	/* sqlfuncs/next_snowflake.sql: NULL;  -- the stand-in was at work */
	/* sqlfuncs/next_snowflake.sql: NULL;  -- the lane is at START, its tick is fenced, or the next one is too far ahead */
	atomic {
		target = max(clock, tick_of(v) + 1 - NO_TICK_ABOVE);
		if
		:: last[STAND_IN] > v -> unlock(LANE); goto slowly
		:: else
		fi;
		if
		:: tick_of(v) + LAG >= clock && is_id(LANE, v) -> unlock(LANE); give(v); goto done
		:: else
		fi;
		if
		:: tick_of(v) != 0 && (NO_AHEAD_LIMIT || target - AHEAD <= clock)
		:: else -> unlock(LANE); goto slowly
		fi
	}
	/* sqlfuncs/next_snowflake.sql: -- the next block, so the mark is raised first */
	/* Some such calls go slowly: a commit waits for a standby, or something else moved the mark. */
	if
	:: target >> BLOCK != tick_of(v) >> BLOCK -> unlock(LANE); goto slowly
	:: NO_MARK_ON_THE_WAY || NO_MARK_FIRST
	:: !NO_MARK_ON_THE_WAY && !NO_MARK_FIRST -> raise_mark(tick_of(v))
	fi;
	/* sqlfuncs/next_snowflake.sql: v := pg_catalog.setval('pgflurry.lane'::pg_catalog.regclass, */
	atomic {
		v = target << 2 | first_of(LANE);
		last[LANE] = v;
		printf("%d: %c sets lane 0 to tick %d\n", now, 'A' + _pid, target)
	}
	/* sqlfuncs/next_snowflake.sql: RAISE SQLSTATE 'SNF00';  -- releases the lock */
	atomic { unlock(LANE); give(v); goto done };

	/* advance_slowly(), and advance_slowly_stand_in() for l == STAND_IN. */
slowly:	/* sqlfuncs/next_snowflake.sql: LOCK TABLE pgflurry.function_lock%12$s IN SHARE UPDATE EXCLUSIVE MODE */
	/* sqlfuncs/next_snowflake.sql: SELECT last_value > drawn INTO STRICT stuck FROM pgflurry.lane_stand_in;' END, */
	atomic {
		clock = 0; target = 0; v = 0;
		if
		:: NO_LOCK || holder[l] == N -> holder[l] = _pid; goto locked
		:: else
		fi;
		if
		:: is_id(l, drawn) && tick_of(drawn) + LAG_LIMIT >= now -> give(drawn); goto done
		:: else
		fi;
		if
		:: l == LANE && last[STAND_IN] > drawn -> goto hangs
		:: else
		fi
	}
wait:	/* sqlfuncs/next_snowflake.sql: patience        constant text := '200ms';  -- how long to wait for a lock */
	atomic {
		clock = 0; target = 0; v = 0; other = 0; drawn = (NO_DRAW_UNDER_LOCK && l == LANE -> drawn : 0);
		if
		:: NO_LOCK || holder[l] == N -> holder[l] = _pid
		:: holder[l] != N && l == LANE -> goto hangs
		:: holder[l] != N && l == STAND_IN -> l = LANE; goto wait
		fi
	}
locked:	/* sqlfuncs/next_snowflake.sql: v := nextval('pgflurry.lane%12$s'::regclass); */
	atomic {
		printf("%d: %c has the lock of lane %d\n", now, 'A' + _pid, l);
		if
		:: NO_DRAW_UNDER_LOCK && l == LANE && drawn != 0 -> v = drawn
		:: else -> nextval(l, v)
		fi;
		drawn = 0
	}
	/* sqlfuncs/next_snowflake.sql: SELECT last_value >> lane_bits INTO STRICT other FROM pgflurry.lane%16$s; */
	atomic { other = tick_of(last[1 - l]); awake = now }
	/* sqlfuncs/next_snowflake.sql: PERFORM pg_sleep(unit + 0.001); */
	atomic {
		if
		:: tick_of(v) != 0 || NO_START_SLEEP
		:: tick_of(v) == 0 && SLEPT
		fi;
		awake = 0
	}
	/* sqlfuncs/next_snowflake.sql: clock := floor(seconds / unit)::bigint; */
	atomic {
		clock = now;
		if
		/* sqlfuncs/next_snowflake.sql: 'other >= clock - lag_limit' ELSE 'false' END, */
		:: l == STAND_IN && !NO_REST_WHILE_FRESH && other + LAG_LIMIT >= clock ->
			unlock(l); l = LANE; goto wait
		:: else
		fi;
		/* sqlfuncs/next_snowflake.sql: ELSIF tick < clock - lag OR used_up OR other > tick THEN  -- else v is an ID */
		if
		:: tick_of(v) + LAG >= clock && is_id(l, v) && other <= tick_of(v) -> unlock(l); give(v); goto done
		:: else
		fi;
		/* sqlfuncs/next_snowflake.sql: reach := ahead_limit + 1 + CASE WHEN here = known THEN 0 ELSE skew END; */
		/* sqlfuncs/next_snowflake.sql: target := greatest(marked, clock + reach); */
		/* sqlfuncs/next_snowflake.sql: target := greatest(clock, tick + 1); */
		/* sqlfuncs/next_snowflake.sql: target := greatest(target, other + apart); */
		if
		:: tick_of(v) == 0 -> target = max(mark[l], clock + (NO_START_BEYOND -> 0 : AHEAD + 1))
		:: else -> target = max(clock, tick_of(v) + 1 - NO_TICK_ABOVE)
		fi;
		if
		:: other > tick_of(v) -> target = max(target, other + APART)
		:: else
		fi;
		/* sqlfuncs/next_snowflake.sql: AND target <= last_tick AND target - clock <= reach THEN */
		if
		:: NO_AHEAD_LIMIT || target <= clock + AHEAD + (tick_of(v) == 0 -> 1 : 0)
		:: else -> unlock(l); goto wait
		fi
	}
	if
	:: NO_MARK_FIRST
	:: else -> raise_mark(tick_of(v))
	fi;
	/* sqlfuncs/next_snowflake.sql: PERFORM setval('pgflurry.lane%12$s'::regclass, shown); */
	atomic {
		drawn = v;
		v = target << 2 | first_of(l);
		last[l] = (NO_SHOW_FIRST -> v : target << 2 | NO_ID);
		printf("%d: %c shows tick %d in lane %d\n", now, 'A' + _pid, target, l)
	}
	/* sqlfuncs/next_snowflake.sql: ELSE '(SELECT last_value FROM pgflurry.lane_stand_in) > v' END, */
	/* sqlfuncs/next_snowflake.sql: (SELECT last_value >> lane_bits FROM pgflurry.lane) >= least(other + 1, target - 1) */
	atomic {
		if
		:: NO_LOOK_AGAIN
		:: !NO_LOOK_AGAIN && l == LANE && last[STAND_IN] > v &&
			(!NO_LOOK_IF_UNSEEN || other > tick_of(drawn)) ->
			last[l] = target << 2 | NO_ID; v = NO_ID;
			printf("%d: %c sees that the stand-in is beyond its tick, and nobody can use that\n", now, 'A' + _pid)
		:: !NO_LOOK_AGAIN && l == STAND_IN &&
			tick_of(last[LANE]) >= (NO_LOOK_IF_MOVED -> target - 1 : min(other + 1, target - 1)) ->
			last[l] = target << 2 | NO_ID; v = NO_ID;
			printf("%d: %c sees that the lane has moved, and nobody can use its tick\n", now, 'A' + _pid)
		:: else
		fi
	}
	/* sqlfuncs/next_snowflake.sql: PERFORM setval('pgflurry.lane%12$s'::regclass, v + bar);  -- v is ours */
	atomic {
		if
		:: v == NO_ID
		:: else ->
			last[l] = (NO_SHOW_FIRST -> last[l] : v);
			printf("%d: %c sets lane %d to tick %d\n", now, 'A' + _pid, l, target)
		fi
	}
	if
	:: NO_MARK_FIRST && v != NO_ID -> raise_mark(tick_of(drawn))
	:: else
	fi;
	atomic {
		unlock(l);
		if
		:: v == NO_ID -> goto wait
		:: else -> give(v); goto done
		fi
	};

hangs:	/* sqlfuncs/next_snowflake.sql: v := pgflurry.stand_in(); */
	/* sqlfuncs/next_snowflake.sql: drawn bigint := nextval('pgflurry.lane_stand_in'::regclass); */
	atomic {
		printf("%d: %c has waited for the lock long enough, and goes to the stand-in\n", now, 'A' + _pid);
		l = STAND_IN;
		nextval(STAND_IN, drawn)
	}
	/* sqlfuncs/next_snowflake.sql: AND drawn > (SELECT last_value FROM pgflurry.lane) THEN */
	atomic {
		if
		:: is_id(STAND_IN, drawn) && tick_of(drawn) + LAG_LIMIT >= now && drawn > last[LANE] -> give(drawn); goto done
		:: else -> goto slowly
		fi
	}
	} unless { killed[_pid] }
done:	atomic { l = 0; drawn = 0; v = 0; other = 0; clock = 0; target = 0; awake = 0;
		calling[_pid] = false; killed[_pid] = false; forget(); goto again }
}

inline end_session(p) {
	killed[p] = calling[p];
	holder[LANE] = (holder[LANE] == p -> N : holder[LANE]);
	holder[STAND_IN] = (holder[STAND_IN] == p -> N : holder[STAND_IN])
}

active proctype World() {
	byte i;
end:	do
	:: atomic { now < LAST -> now++ }
#ifdef CLOCKS
	:: atomic { now > 1 -> do :: now > 1 -> now-- :: break od; printf("%d: the clock was set back\n", now) }
	/* sqlfuncs/next_snowflake.sql: -- Without the lock, because its holder may hang while others draw on. */
	:: atomic { faults < FAULTS -> faults++; last[LANE] = START; printf("%d: lane 0 is sent back to START\n", now) }
	:: atomic { faults < FAULTS -> faults++; last[STAND_IN] = START;
		printf("%d: lane 1 is sent back to START\n", now) }
	:: atomic { faults < FAULTS -> faults++; if :: i = 0 :: i = 1 fi; end_session(i); i = 0;
		printf("%d: a session is terminated\n", now) }
#endif
#if defined(CRASHES) || defined(ORDER)
	:: atomic { faults < FAULTS -> faults++;
		i = 0;
		do :: i < N -> end_session(i); i++ :: else -> break od;
		i = 0;
		last[LANE] = START; last[STAND_IN] = START;
#ifdef CRASHES
		mark[LANE] = 0; mark[STAND_IN] = 0;     /* nothing makes it harder than to lose all */
#endif
		printf("%d: crash: both lanes are at START, marks are %d and %d\n", now, mark[LANE], mark[STAND_IN]) }
#endif
	od
}
