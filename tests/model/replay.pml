/* Leads lease.pml along a history of the real code. tests/simulation/replay_test.go writes the history: definitions,
 * this file, lease.pml, and one line for each step. The numbers are those of the history, in its ticks.
 *
 * The model takes a step only when the history names it. So the replay stops at a step that the model does not have,
 * whose guard is false, or that leaves another row than the history has. */

#define REPLAY
#define byte int

mtype = { ACQUIRE, RENEW, LATE, SEAL, RELEASE, ISSUE, LATER, EARLIER, RESTART, COPY, FOLLOW, PROMOTE, START_ALONE,
	FAIL_BACK, NEVER };
chan step = [0] of { mtype, int };      /* what happens, and the process, or N: the world */

typedef Asked {                         /* by the statement that is next */
	int owner;
	int term;
	int bound;                      /* the acknowledged mark */
	int reserve;                    /* the window */
	int wish;                       /* the mark */
	bool answered
};
Asked asked;
int tick;                               /* the clock's next value */

#define on(kind, guard) step ? kind, eval(_pid) -> assert(guard)
#define window asked.reserve
#define wanted asked.wish
#define heard asked.answered
#define unheard !asked.answered
#define late_owner asked.owner
#define late_term asked.term
#define late_bound asked.bound
#define in_order true
#define next_tick tick
#define releases_again true
#define set_back now = tick

/* Step i of the history is next. */
inline begin(i, t) {
	printf("step %d\n", i);
	tick = t;
	if
	:: t > now -> step ! LATER, N
	:: t < now -> step ! EARLIER, N
	:: else
	fi
}

/* What a process asks for is what it knows in the model. */
inline knows(P, o, t, acknowledged) {
	assert(process[P].owner == o);
	assert(process[P].term == t);
	assert(process[P].bound == acknowledged)
}

inline asks(o, t, acknowledged, ticks, mark_wanted, answer_arrives) {
	asked.owner = o;
	asked.term = t;
	asked.bound = acknowledged;
	asked.reserve = ticks;
	asked.wish = mark_wanted;
	asked.answered = answer_arrives
}

/* The rows that the history has after the step are those of the model. */
inline expect(m, o, t, gone, r, after, seen, history) {
	assert(server[primary].mark == m);
	assert(server[primary].owner == o);
	assert(server[primary].term == t);
	assert(server[primary].released == gone);
	assert(server[primary].renewed == r);
	assert(server[primary].opens == after);
	assert(server[primary].noted == seen);
	assert(server[primary].timeline == history)
}

/* Another standby may have another clock, within the skew. */
inline clock_of_standby(ahead) {
	assert(ahead >= 0 && ahead <= skew);
	server[1 - primary].fast = ahead
}
