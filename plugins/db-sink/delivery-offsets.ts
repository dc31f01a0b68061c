import {
  ConfigError,
  ConnectError,
  topicPartitionKey,
  type PartitionOffset,
  type SinkOffset,
  type TopicPartition,
} from '../../src/index.ts';
import {
  DatabaseError,
  alreadyExists,
  exactlyOnceProblem,
  ownStatement,
  ownStatementOn,
  qualifiedStatementOn,
  quoteTable,
  tableText,
  type Executor,
  type OwnStatement,
  type Session,
  type StatementOptions,
  type TableName,
  type Transaction,
} from '../database/index.ts';

/** How long a claim waits for the previous owner's transaction before that worker is considered hung. */
const UNBLOCK_AFTER_MS = 3_000;
const UNBLOCK_EVERY_MS = 1_000;

/** Columns that tables created by earlier versions do not have. */
const LOG_COLUMNS = ['topic_id', 'leader_epoch', 'epoch_offset'] as const;

/** Without a schema, the table is created in the first schema of the search path. */
const createTable = qualifiedStatementOn(
  'offsets: create the table',
  (table = '') => `CREATE TABLE IF NOT EXISTS ${table} (
    consumer_group pg_catalog.text NOT NULL, topic pg_catalog.text NOT NULL, partition pg_catalog.int4 NOT NULL,
    next_offset pg_catalog.int8 NOT NULL, owner pg_catalog.text NOT NULL,
    topic_id pg_catalog.text, leader_epoch pg_catalog.int4, epoch_offset pg_catalog.int8,
    PRIMARY KEY (consumer_group, topic, partition)) WITH (fillfactor = 50)`,
);
/** Limits the wait, because a hung worker may hold a lock on the table. */
const LIMIT_LOCK_WAIT = ownStatement('offsets: limit the wait for a lock', 'SET LOCAL lock_timeout = 3000');
const addLogColumns = ownStatementOn(
  'offsets: extend the table',
  (table = '') => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS topic_id text,
    ADD COLUMN IF NOT EXISTS leader_epoch int4, ADD COLUMN IF NOT EXISTS epoch_offset int8`,
);
const claimWithLogs = ownStatementOn(
  'offsets: claim with logs',
  (table = '') => `INSERT INTO ${table} AS o
      (consumer_group, topic, partition, next_offset, owner, topic_id, leader_epoch, epoch_offset)
    SELECT $1, p.topic, p.partition, p."offset", $2, p.topic_id, p.leader_epoch, p."offset"
    FROM json_to_recordset($3::json)
      AS p (topic text, partition int4, "offset" int8, topic_id text, leader_epoch int4) ORDER BY 2, 3
    ON CONFLICT (consumer_group, topic, partition) DO UPDATE SET owner = EXCLUDED.owner
    RETURNING topic, partition, next_offset, owner, topic_id,
      CASE WHEN epoch_offset = next_offset THEN leader_epoch END`,
);
const moveWithLogs = ownStatementOn(
  'offsets: move with logs',
  (table = '') => `UPDATE ${table} o SET next_offset = m."to",
      topic_id = coalesce(m.topic_id, o.topic_id), leader_epoch = m.leader_epoch, epoch_offset = m."to"
    FROM json_to_recordset($3::json)
      AS m (topic text, partition int4, "from" int8, "to" int8, topic_id text, leader_epoch int4)
    WHERE o.consumer_group = $1 AND o.owner = $2 AND o.topic = m.topic AND o.partition = m.partition
      AND o.next_offset = m."from"`,
);
/** Like `claimWithLogs`, for tables without the columns that identify logs. */
const claimPartitions = ownStatementOn(
  'offsets: claim',
  (table = '') => `INSERT INTO ${table} AS o (consumer_group, topic, partition, next_offset, owner)
    SELECT $1, p.topic, p.partition, p."offset", $2
    FROM json_to_recordset($3::json) AS p (topic text, partition int4, "offset" int8) ORDER BY 2, 3
    ON CONFLICT (consumer_group, topic, partition) DO UPDATE SET owner = EXCLUDED.owner
    RETURNING topic, partition, next_offset, owner`,
);
const moveOffsets = ownStatementOn(
  'offsets: move',
  (table = '') => `UPDATE ${table} o SET next_offset = m."to"
    FROM json_to_recordset($3::json) AS m (topic text, partition int4, "from" int8, "to" int8)
    WHERE o.consumer_group = $1 AND o.owner = $2 AND o.topic = m.topic AND o.partition = m.partition
      AND o.next_offset = m."from"`,
);
const deleteOffsets = ownStatementOn(
  'offsets: delete',
  (table = '') => `DELETE FROM ${table} o WHERE consumer_group = $1 AND ($2 OR (topic, partition) IN (
    SELECT p.topic, p.partition FROM json_to_recordset($3::json) AS p (topic text, partition int4)))`,
);
const setOffsets = ownStatementOn(
  'offsets: set',
  (table = '') => `INSERT INTO ${table} (consumer_group, topic, partition, next_offset, owner)
    SELECT $1, p.topic, p.partition, p."offset", 'nobody: the offset was set'
    FROM json_to_recordset($2::json) AS p (topic text, partition int4, "offset" int8) WHERE p."offset" IS NOT NULL`,
);
const readOffsets = ownStatementOn(
  'offsets: read',
  (table = '') => `SELECT o.topic, o.partition, o.next_offset, o.owner FROM ${table} o
    JOIN json_to_recordset($2::json) AS m (topic text, partition int4)
    ON o.consumer_group = $1 AND o.topic = m.topic AND o.partition = m.partition`,
);
const OWN_BACKEND = ownStatement('offsets: own backend', 'SELECT pg_backend_pid()');
/**
 * Terminates the sessions of this user that block a claim, if their application name is that of this session or of any
 * other task of Sluice. The previous owner may be a task of another connector in the group.
 */
const END_BLOCKING = ownStatement(
  'offsets: end what blocks a claim',
  `SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
    WHERE pid = ANY (pg_blocking_pids($1::int4)) AND usename = current_user
      AND (application_name = current_setting('application_name') OR split_part(application_name, ':', 1) = 'sluice')`,
);

/** A change of a partition's stored offset: `from` is the current value, `to` the offset after the written records. */
export interface OffsetMove extends TopicPartition {
  readonly from: number;
  readonly to: number;
  /** `topicId` and `leaderEpoch` identify the log of the new offset. */
  readonly topicId?: string | undefined;
  readonly leaderEpoch?: number | undefined;
}

interface OffsetRow extends PartitionOffset {
  readonly owner: string;
}

/** Another owner claimed the partitions or changed their offsets, so nothing more may be written for them. */
export class FencedError extends ConnectError {}

/**
 * The offsets of a consumer group, in a table of the database that receives the rows: the next offset and the owner of
 * each partition. The table has no time column, so sources do not pick it up. `topic_id` and `leader_epoch` identify
 * the log of the offset; null means unknown. The epoch is valid if `epoch_offset` equals the next offset, because
 * earlier versions and users change only the next offset. An owner claims a partition and then moves its offset in the
 * transactions that write rows, until the next owner claims the partition. An owner advances an offset only if it finds
 * the value that it claimed or stored last. Otherwise, its unacknowledged transaction was committed, or it was fenced.
 */
export class DeliveryOffsets {
  readonly #executor: Executor;
  readonly #group: string;
  readonly #name: string;
  readonly #table: TableName;
  /** Quoted and qualified name, once the table was found. */
  #found: string | undefined;
  /** True if the table has the columns that identify logs. */
  #hasLogColumns = true;

  constructor(executor: Executor, table: TableName, group: string) {
    this.#executor = executor;
    this.#group = group;
    this.#table = table;
    this.#name = tableText(table);
  }

  /** Rejects with ConfigError if the server, which may have replaced another one, makes exactly-once impossible. */
  async atomically<T>(work: (transaction: Transaction) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#executor.atomically(async (transaction, server) => {
      const lie = server === undefined ? undefined : exactlyOnceProblem(server);
      if (lie !== undefined) throw new ConfigError(`Invalid value for configuration delivery: ${lie}`);
      return work(transaction);
    }, signal);
  }

  /**
   * Creates the table if it does not exist, and adds missing columns. Resolves with a warning if they cannot be added;
   * offsets are then stored as by earlier versions.
   */
  async ensureTable(): Promise<string | undefined> {
    if (!(await this.#exists())) {
      try {
        await this.#executor.query(createTable(quoteTable(this.#table)));
      } catch (error) {
        // Another task may have created the table in the meantime.
        if (!(error instanceof DatabaseError) || !alreadyExists(error)) throw error;
      }
      await this.#exists();
    }
    return this.#hasLogColumns ? undefined : this.#extend();
  }

  /**
   * Makes `owner` the owner of these partitions and returns their positions: the stored offset or else the given one,
   * which is then stored. Waits for the running transaction of the previous owner. After three seconds, terminates the
   * session of that transaction, as far as END_BLOCKING permits.
   */
  async claim(
    owner: string,
    partitions: readonly PartitionOffset[],
    options: StatementOptions,
  ): Promise<readonly PartitionOffset[]> {
    const table = await this.#qualifiedTable();
    const statement = this.#hasLogColumns ? claimWithLogs(table) : claimPartitions(table);
    // The transaction keeps one backend for both statements, even behind a pooler, so `#unblocking` reads the id of the
    // backend that waits.
    const claimed = await this.#executor.session((session) =>
      session.transaction(() =>
        this.#unblocking(session, async () =>
          session.ask(statement, [this.#group, owner, JSON.stringify(partitions.map(offsetJson))], options),
        ),
      ),
    );
    return claimed.rows.map((row) => {
      const { topic, partition, offset } = offsetRow(row);
      const [topicId, leaderEpoch] = [row[4] ?? undefined, row[5] ?? undefined];
      const epoch = leaderEpoch === undefined ? undefined : Number(leaderEpoch);
      return { topic, partition, offset, topicId, leaderEpoch: epoch };
    });
  }

  /** Corrects the offsets of claimed partitions to the actual positions, including the identity of their logs. */
  async correct(
    owner: string,
    claimed: readonly PartitionOffset[],
    positions: readonly PartitionOffset[],
    options: StatementOptions,
  ): Promise<void> {
    const before = new Map(claimed.map((each) => [keyOf(each), each] as const));
    const changes = positions.flatMap(({ topic, partition, offset, topicId, leaderEpoch }) => {
      const was = before.get(keyOf({ topic, partition }));
      const isSame = was?.offset === offset && (!this.#hasLogColumns || was.topicId === topicId);
      if (was === undefined || isSame) return [];
      return [{ topic, partition, from: was.offset, to: offset, topicId, leaderEpoch }];
    });
    if (changes.length === 0) return;
    const parameters = [this.#group, owner, JSON.stringify(changes.map(moveJson))];
    await this.#executor.ask(await this.#moveStatement(), parameters, options);
  }

  /**
   * Moves the offsets as the first operation in the transaction of the rows, so that they are locked until the end of
   * the transaction. Returns `stored` if an earlier, unacknowledged transaction has already moved them. Rejects with
   * FencedError.
   */
  async move(
    transaction: Transaction,
    owner: string,
    moves: readonly OffsetMove[],
    options: StatementOptions,
  ): Promise<'moved' | 'stored'> {
    const parameters = [this.#group, owner, JSON.stringify(moves.map(moveJson))];
    const { rowCount } = await transaction.ask(await this.#moveStatement(), parameters, options);
    if (rowCount === moves.length) return 'moved';
    const found = await this.#read(transaction, moves);
    const lost = moves.find((move) => !isAtEnd(move, owner, found));
    if (lost === undefined) return 'stored';
    throw this.#fenced(lost, owner, found.get(keyOf(lost)));
  }

  /** Sets offsets while no task runs; `null` removes the offset of a partition, and an empty list removes all. */
  async alter(offsets: readonly SinkOffset[]): Promise<void> {
    const isReset = offsets.length === 0;
    if (isReset && !(await this.#exists())) return;
    if (offsets.some(({ offset }) => offset !== null)) await this.ensureTable();
    else if (!(await this.#exists())) return;
    const table = await this.#qualifiedTable();
    await this.#executor.session((session) =>
      session.transaction(async () => {
        const changes = JSON.stringify(offsets);
        await session.ask(deleteOffsets(table), [this.#group, String(isReset), changes]);
        await session.ask(setOffsets(table), [this.#group, changes]);
      }),
    );
  }

  /** Deletes the offsets of the group, so that outdated offsets are not used later. */
  async forget(): Promise<void> {
    await this.alter([]);
  }

  async #moveStatement(): Promise<OwnStatement> {
    const table = await this.#qualifiedTable();
    return this.#hasLogColumns ? moveWithLogs(table) : moveOffsets(table);
  }

  async #extend(): Promise<string | undefined> {
    const statement = addLogColumns(await this.#qualifiedTable());
    let reason = '';
    try {
      await this.#executor.session((session) =>
        session.transaction(async () => {
          await session.ask(LIMIT_LOCK_WAIT);
          await session.ask(statement);
        }),
      );
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      reason = error.message;
    }
    // Another task may have added the columns in the meantime.
    await this.#exists();
    if (this.#hasLogColumns) return undefined;
    return (
      `Table ${this.#name} could not be extended by the columns topic_id text, leader_epoch int4, epoch_offset int8 (${reason}); ` +
      'until its owner adds them, offsets are stored without topic ids, and records of a recreated topic may be skipped'
    );
  }

  async #exists(): Promise<boolean> {
    const found = await this.#executor.catalogue.refresh(this.#table);
    this.#found = found === undefined ? undefined : quoteTable(found.name);
    if (found !== undefined) {
      this.#hasLogColumns = LOG_COLUMNS.every((column) => found.columns.some(({ name }) => name === column));
    }
    return found !== undefined;
  }

  async #qualifiedTable(): Promise<string> {
    if (this.#found === undefined) await this.#exists();
    return this.#found ?? quoteTable(this.#table);
  }

  async #read(session: Pick<Session, 'ask'>, moves: readonly OffsetMove[]): Promise<Map<string, OffsetRow>> {
    const { rows } = await session.ask(readOffsets(await this.#qualifiedTable()), [this.#group, JSON.stringify(moves)]);
    return new Map(rows.map(offsetRow).map((row) => [keyOf(row), row] as const));
  }

  /** Runs `work`. After three seconds, terminates the sessions that block it, as far as END_BLOCKING permits. */
  async #unblocking<T>(session: Session, work: () => Promise<T>): Promise<T> {
    const pid = (await session.ask(OWN_BACKEND)).rows[0]?.[0] ?? null;
    const unblock = (): void => {
      const ended = this.#executor.ask(END_BLOCKING, [pid]);
      // The claim itself reports problems of the database.
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
    if (found === undefined) return new FencedError(`The offset of ${place}, was deleted from table ${this.#name}`);
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

function offsetJson({ topic, partition, offset, topicId, leaderEpoch }: PartitionOffset): object {
  return { topic, partition, offset, topic_id: topicId, leader_epoch: leaderEpoch };
}

function moveJson({ topic, partition, from, to, topicId, leaderEpoch }: OffsetMove): object {
  return { topic, partition, from, to, topic_id: topicId, leader_epoch: leaderEpoch };
}

function offsetRow([topic, partition, offset, owner]: readonly (string | null)[]): OffsetRow {
  return { topic: topic ?? '', partition: Number(partition), offset: Number(offset), owner: owner ?? '' };
}
