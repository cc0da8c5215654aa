/** What a draw needs of a Pool of pg. A Client has it too, but does not connect again once it is lost. */
export interface Queryable {
  query(text: string): Promise<{ rows: { id: string }[] }>
}

/**
 * IDs ahead of the insert, for pg (node-postgres).
 *
 *     const draws = new pg.Pool({ host: 'proxy', port: 6432, database: 'pgflurry', max: 1 })
 *     draws.on('error', console.error) // an idle connection was lost; without a listener the process ends
 *     const ids = new Snowflakes(draws)
 *     await ids.next()      // one ID, mostly from memory
 *     await ids.take(1000)  // IDs in the order in which they were drawn
 */
export class Snowflakes {
  readonly #db: Queryable
  readonly #batch: number
  readonly #maxAge: number
  #ids: bigint[] = []
  #monotonic = 0
  #wall = 0
  #last: Promise<unknown> = Promise.resolve()

  /** batch: how many IDs a draw asks for, 1 to 10,000. maxAge: for how many milliseconds they are good. */
  constructor(db: Queryable, { batch = 100, maxAge = 1000 } = {}) {
    this.#db = db
    this.#batch = batch
    this.#maxAge = maxAge
  }

  async next(): Promise<bigint> {
    const [id] = await this.take(1)
    return id!
  }

  /** Calls take turns, in the order in which they came. One that fails does not fail the others. */
  take(n: number): Promise<bigint[]> {
    const turn = this.#last.then(() => this.#take(n))
    this.#last = turn.catch(() => {})
    return turn
  }

  async #take(n: number): Promise<bigint[]> {
    if (this.#tooOld()) this.#ids = []
    while (this.#ids.length < n) {
      await this.#draw(Math.min(Math.max(n - this.#ids.length, this.#batch), 10_000))
    }
    return this.#ids.splice(0, n)
  }

  /** Asks both clocks: the monotonic one may stand still while the machine sleeps. */
  #tooOld(): boolean {
    const age = Math.max(performance.now() - this.#monotonic, Math.abs(Date.now() - this.#wall))
    return age >= this.#maxAge
  }

  async #draw(n: number): Promise<void> {
    const [monotonic, wall] = [performance.now(), Date.now()]
    // As text, because a parser that a program sets for bigint may make numbers of IDs, which round them.
    const draw = `SELECT next_snowflake()::text AS id FROM generate_series(1, ${n})`
    // Once more if it fails, because the proxy may have restarted. Drawing again is safe.
    const { rows } = await this.#db.query(draw).catch(() => this.#db.query(draw))
    this.#monotonic = monotonic
    this.#wall = wall
    for (const { id } of rows) this.#ids.push(BigInt(id))
  }
}
