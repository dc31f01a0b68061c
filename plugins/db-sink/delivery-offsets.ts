import {
  ConnectError,
  DatabaseError,
  quoteTable,
  topicPartitionKey,
  type Executor,
  type PartitionOffset,
  type Session,
  type SinkOffset,
  type StatementOptions,
  type TableName,
  type TopicPartition,
  type Transaction,
} from '../../src/index.ts';

/** A claim waits so long for the transaction of the owner before, then that is a worker which has stopped moving. */
const UNBLOCK_AFTER_MS = 3_000;
const UNBLOCK_EVERY_MS = 1_000;
/** Another task created it between our look and our CREATE: duplicate table, type, unique index. */
const EXISTS_NOW_CODES: ReadonlySet<string> = new Set(['42P07', '42710', '23505']);

/** The offsets of one partition move from where the table has them to behind the rows of a transaction. */
export interface OffsetMove extends TopicPartition {
  readonly from: number;
  readonly to: number;
}

interface OffsetRow extends PartitionOffset {
  readonly owner: string;
}

/** Somebody else has the partitions now, or has changed their offsets: nothing more may be written for them. */
export class FencedError extends ConnectError {}

/**
 * The offsets of one consumer group, in a table of the database that its rows go to: the next offset of each partition, and who
 * has claimed it. It has no column of a time, so that no source takes it for data.
 *
 * A row of it is claimed -> moved by its owner, in the transactions of the rows -> claimed by the next owner. Whoever moves it
 * must be its owner, and find it where he left it: else the transaction that he had left without an answer was committed,
 * or he was fenced.
 */
export class DeliveryOffsets {
  readonly #executor: Executor;
  readonly #group: string;
  readonly #name: string;
  readonly #table: string;

  constructor(executor: Executor, table: TableName, group: string) {
    this.#executor = executor;
    this.#group = group;
    this.#table = quoteTable(table);
    this.#name = this.#table.replaceAll('"', '');
  }

  /** Creates the table when it is missing. */
  async ensureTable(): Promise<void> {
    if (await this.#exists()) return;
    try {
      await this.#executor.query(`CREATE TABLE IF NOT EXISTS ${this.#table} (
        consumer_group text NOT NULL, topic text NOT NULL, partition int4 NOT NULL,
        next_offset int8 NOT NULL, owner text NOT NULL,
        PRIMARY KEY (consumer_group, topic, partition)) WITH (fillfactor = 50)`);
    } catch (error) {
      if (!(error instanceof DatabaseError) || !EXISTS_NOW_CODES.has(error.sqlstate ?? '')) throw error;
    }
  }

  /**
   * Makes `owner` the owner of these partitions, whoever was, and gives where each is to be read from: where the table has it,
   * else at the given offset, which is in the table from then on. Waits for a transaction of the owner before that still
   * runs, and after three seconds ends it.
   */
  async claim(
    owner: string,
    partitions: readonly PartitionOffset[],
    options: StatementOptions,
  ): Promise<readonly PartitionOffset[]> {
    const sql = `INSERT INTO ${this.#table} AS o (consumer_group, topic, partition, next_offset, owner)
      SELECT $1, p.topic, p.partition, p."offset", $2
      FROM json_to_recordset($3::json) AS p (topic text, partition int4, "offset" int8) ORDER BY 2, 3
      ON CONFLICT (consumer_group, topic, partition) DO UPDATE SET owner = EXCLUDED.owner
      RETURNING topic, partition, next_offset, owner`;
    const claimed = await this.#executor.session((session) =>
      this.#unblocking(session, async () =>
        session.query(sql, [this.#group, owner, JSON.stringify(partitions)], options),
      ),
    );
    return claimed.rows.map(offsetRow).map(({ topic, partition, offset }) => ({ topic, partition, offset }));
  }

  /**
   * Moves the offsets, first thing in the transaction of the rows, and so locks them until its end. `stored`: they are there
   * already, by a transaction whose end was not heard of. Rejects with FencedError.
   */
  async move(
    transaction: Transaction,
    owner: string,
    moves: readonly OffsetMove[],
    options: StatementOptions,
  ): Promise<'moved' | 'stored'> {
    const sql = `UPDATE ${this.#table} o SET next_offset = m."to"
      FROM json_to_recordset($3::json) AS m (topic text, partition int4, "from" int8, "to" int8)
      WHERE o.consumer_group = $1 AND o.owner = $2 AND o.topic = m.topic AND o.partition = m.partition
        AND o.next_offset = m."from"`;
    const { rowCount } = await transaction.query(sql, [this.#group, owner, JSON.stringify(moves)], options);
    if (rowCount === moves.length) return 'moved';
    const found = await this.#read(transaction, moves);
    const lost = moves.find((move) => !isAtEnd(move, owner, found));
    if (lost === undefined) return 'stored';
    throw this.#fenced(lost, owner, found.get(keyOf(lost)));
  }

  /** What someone has set (`null`: nothing is known of the partition) while no task runs; nothing at all: all are forgotten. */
  async alter(offsets: readonly SinkOffset[]): Promise<void> {
    const isReset = offsets.length === 0;
    if (isReset && !(await this.#exists())) return;
    if (offsets.some(({ offset }) => offset !== null)) await this.ensureTable();
    else if (!(await this.#exists())) return;
    await this.#executor.session((session) =>
      session.transaction(async () => {
        await session.query(
          `DELETE FROM ${this.#table} o WHERE consumer_group = $1 AND ($2 OR (topic, partition) IN (
            SELECT p.topic, p.partition FROM json_to_recordset($3::json) AS p (topic text, partition int4)))`,
          [this.#group, String(isReset), JSON.stringify(offsets)],
        );
        await session.query(
          `INSERT INTO ${this.#table} SELECT $1, p.topic, p.partition, p."offset", 'nobody: the offset was set'
            FROM json_to_recordset($2::json) AS p (topic text, partition int4, "offset" int8) WHERE p."offset" IS NOT NULL`,
          [this.#group, JSON.stringify(offsets)],
        );
      }),
    );
  }

  /** Forgets the group: offsets that nobody moves any more must not be found again later. */
  async forget(): Promise<void> {
    await this.alter([]);
  }

  async #exists(): Promise<boolean> {
    const { rows } = await this.#executor.query('SELECT to_regclass($1) IS NOT NULL', [this.#table]);
    return rows[0]?.[0] === 't';
  }

  async #read(session: Pick<Session, 'query'>, moves: readonly OffsetMove[]): Promise<Map<string, OffsetRow>> {
    const { rows } = await session.query(
      `SELECT o.topic, o.partition, o.next_offset, o.owner FROM ${this.#table} o
        JOIN json_to_recordset($2::json) AS m (topic text, partition int4)
        ON o.consumer_group = $1 AND o.topic = m.topic AND o.partition = m.partition`,
      [this.#group, JSON.stringify(moves)],
    );
    return new Map(rows.map(offsetRow).map((row) => [keyOf(row), row] as const));
  }

  /** Ends what keeps the session waiting, if it is of this user and program, and waits itself for someone else. */
  async #unblocking<T>(session: Session, work: () => Promise<T>): Promise<T> {
    const pid = (await session.query('SELECT pg_backend_pid()')).rows[0]?.[0] ?? null;
    const unblock = (): void => {
      const ended = this.#executor.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE pid = ANY (pg_blocking_pids($1::int4)) AND usename = current_user
            AND application_name = current_setting('application_name')`,
        [pid],
      );
      // The claim says what is wrong with the database.
      ended.catch(() => undefined);
    };
    let every: NodeJS.Timeout | undefined;
    const after = setTimeout(() => {
      unblock();
      every = setInterval(unblock, UNBLOCK_EVERY_MS);
    }, UNBLOCK_AFTER_MS);
    try {
      return await work();
    } finally {
      clearTimeout(after);
      clearInterval(every);
    }
  }

  #fenced(move: OffsetMove, owner: string, found: OffsetRow | undefined): FencedError {
    const place = `topic ${move.topic}, partition ${String(move.partition)}, of group ${this.#group}`;
    if (found === undefined) return new FencedError(`The offset of ${place}, is gone from table ${this.#name}`);
    if (found.owner !== owner) return new FencedError(`The offset of ${place}, was claimed by ${found.owner}`);
    const [was, is] = [String(move.from), String(found.offset)];
    return new FencedError(`The offset of ${place}, was changed from ${was} to ${is} in table ${this.#name}`);
  }
}

function isAtEnd(move: OffsetMove, owner: string, found: ReadonlyMap<string, OffsetRow>): boolean {
  const row = found.get(keyOf(move));
  return row?.owner === owner && row.offset === move.to;
}

function keyOf({ topic, partition }: TopicPartition): string {
  return topicPartitionKey(topic, partition);
}

function offsetRow([topic, partition, offset, owner]: readonly (string | null)[]): OffsetRow {
  return { topic: topic ?? '', partition: Number(partition), offset: Number(offset), owner: owner ?? '' };
}
