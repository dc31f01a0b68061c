import {
  ConnectError,
  topicPartitionKey,
  type PartitionOffset,
  type SinkOffset,
  type TopicPartition,
} from '../../src/index.ts';
import {
  DatabaseError,
  existsNow,
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

/** A claim waits so long for the transaction of the owner before, then that is a worker which has stopped moving. */
const UNBLOCK_AFTER_MS = 3_000;
const UNBLOCK_EVERY_MS = 1_000;

/** Columns that tables of earlier versions lack. */
const LOG_COLUMNS = ['topic_id', 'leader_epoch', 'epoch_offset'] as const;

/** In the schema that the search path has for new tables, where the name has none. */
const createTable = qualifiedStatementOn(
  'offsets: create the table',
  (table = '') => `CREATE TABLE IF NOT EXISTS ${table} (
    consumer_group pg_catalog.text NOT NULL, topic pg_catalog.text NOT NULL, partition pg_catalog.int4 NOT NULL,
    next_offset pg_catalog.int8 NOT NULL, owner pg_catalog.text NOT NULL,
    topic_id pg_catalog.text, leader_epoch pg_catalog.int4, epoch_offset pg_catalog.int8,
    PRIMARY KEY (consumer_group, topic, partition)) WITH (fillfactor = 50)`,
);
/** What holds the table may be a worker that has stopped moving. */
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
/** For tables that could not be extended. */
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
/** The previous owner may be a task of another connector of the group. A name in the connection URL is that of all its sessions. */
const END_BLOCKING = ownStatement(
  'offsets: end what blocks a claim',
  `SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
    WHERE pid = ANY (pg_blocking_pids($1::int4)) AND usename = current_user
      AND (application_name = current_setting('application_name') OR split_part(application_name, ':', 1) = 'sluice')`,
);

/** The offsets of one partition move from where the table has them to behind the rows of a transaction. */
export interface OffsetMove extends TopicPartition {
  readonly from: number;
  readonly to: number;
  /** Of the offset moved to. */
  readonly topicId?: string | undefined;
  readonly leaderEpoch?: number | undefined;
}

interface OffsetRow extends PartitionOffset {
  readonly owner: string;
}

/** Somebody else has the partitions now, or has changed their offsets: nothing more may be written for them. */
export class FencedError extends ConnectError {}

/**
 * The offsets of one consumer group, in a table of the database that its rows go to: the next offset of each partition, and who
 * has claimed it. It has no column of a time, so that no source takes it for data. `topic_id` and `leader_epoch` tell the log that the
 * offset is one of; null: not known. The epoch counts while `epoch_offset` is the next offset, which workers of earlier versions
 * and people move alone.
 *
 * A row of it is claimed -> moved by its owner, in the transactions of the rows -> claimed by the next owner. Whoever moves it
 * must be its owner, and find it where he left it: else the transaction that he had left without an answer was committed,
 * or he was fenced.
 */
export class DeliveryOffsets {
  readonly #executor: Executor;
  readonly #group: string;
  readonly #name: string;
  readonly #table: TableName;
  /** In quotes and with its schema, once it was found. */
  #found: string | undefined;
  /** Whether the table has columns for what tells logs apart. */
  #tellsLogs = true;

  constructor(executor: Executor, table: TableName, group: string) {
    this.#executor = executor;
    this.#group = group;
    this.#table = table;
    this.#name = tableText(table);
  }

  /** A transaction in the database that has the table. */
  async atomically<T>(work: (transaction: Transaction) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#executor.atomically(work, signal);
  }

  /**
   * Creates the table when it is missing, and adds what it lacks. Resolves with a warning where that cannot be added: offsets are
   * then kept as by earlier versions.
   */
  async ensureTable(): Promise<string | undefined> {
    if (!(await this.#exists())) {
      try {
        await this.#executor.query(createTable(quoteTable(this.#table)));
      } catch (error) {
        // Another task may have created it since the look.
        if (!(error instanceof DatabaseError) || !existsNow(error)) throw error;
      }
      await this.#exists();
    }
    return this.#tellsLogs ? undefined : this.#extend();
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
    const place = await this.#place();
    const statement = this.#tellsLogs ? claimWithLogs(place) : claimPartitions(place);
    const claimed = await this.#executor.session((session) =>
      this.#unblocking(session, async () =>
        session.ask(statement, [this.#group, owner, JSON.stringify(partitions.map(offsetJson))], options),
      ),
    );
    return claimed.rows.map((row) => {
      const { topic, partition, offset } = offsetRow(row);
      const [topicId, leaderEpoch] = [row[4] ?? undefined, row[5] ?? undefined];
      const epoch = leaderEpoch === undefined ? undefined : Number(leaderEpoch);
      return { topic, partition, offset, topicId, leaderEpoch: epoch };
    });
  }

  /** Puts the offsets of claimed partitions where reading goes on, with what is known of their logs. */
  async correct(
    owner: string,
    claimed: readonly PartitionOffset[],
    positions: readonly PartitionOffset[],
    options: StatementOptions,
  ): Promise<void> {
    const before = new Map(claimed.map((each) => [keyOf(each), each] as const));
    const changes = positions.flatMap(({ topic, partition, offset, topicId, leaderEpoch }) => {
      const was = before.get(keyOf({ topic, partition }));
      const isSame = was?.offset === offset && (!this.#tellsLogs || was.topicId === topicId);
      if (was === undefined || isSame) return [];
      return [{ topic, partition, from: was.offset, to: offset, topicId, leaderEpoch }];
    });
    if (changes.length === 0) return;
    const parameters = [this.#group, owner, JSON.stringify(changes.map(moveJson))];
    await this.#executor.ask(await this.#moveStatement(), parameters, options);
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
    const parameters = [this.#group, owner, JSON.stringify(moves.map(moveJson))];
    const { rowCount } = await transaction.ask(await this.#moveStatement(), parameters, options);
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
    const table = await this.#place();
    await this.#executor.session((session) =>
      session.transaction(async () => {
        const changes = JSON.stringify(offsets);
        await session.ask(deleteOffsets(table), [this.#group, String(isReset), changes]);
        await session.ask(setOffsets(table), [this.#group, changes]);
      }),
    );
  }

  /** Forgets the group: offsets that nobody moves any more must not be found again later. */
  async forget(): Promise<void> {
    await this.alter([]);
  }

  async #moveStatement(): Promise<OwnStatement> {
    const place = await this.#place();
    return this.#tellsLogs ? moveWithLogs(place) : moveOffsets(place);
  }

  async #extend(): Promise<string | undefined> {
    const statement = addLogColumns(await this.#place());
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
    // Another task may have done it in the meantime.
    await this.#exists();
    if (this.#tellsLogs) return undefined;
    return (
      `Table ${this.#name} could not be extended by the columns topic_id text, leader_epoch int4, epoch_offset int8 (${reason}); ` +
      'until its owner adds them, offsets are kept without the ids of topics, and records of a topic that is created again may be passed over'
    );
  }

  async #exists(): Promise<boolean> {
    const found = await this.#executor.catalogue.refresh(this.#table);
    this.#found = found === undefined ? undefined : quoteTable(found.name);
    if (found !== undefined) {
      this.#tellsLogs = LOG_COLUMNS.every((column) => found.columns.some(({ name }) => name === column));
    }
    return found !== undefined;
  }

  async #place(): Promise<string> {
    if (this.#found === undefined) await this.#exists();
    return this.#found ?? quoteTable(this.#table);
  }

  async #read(session: Pick<Session, 'ask'>, moves: readonly OffsetMove[]): Promise<Map<string, OffsetRow>> {
    const { rows } = await session.ask(readOffsets(await this.#place()), [this.#group, JSON.stringify(moves)]);
    return new Map(rows.map(offsetRow).map((row) => [keyOf(row), row] as const));
  }

  /** Ends what keeps the session waiting, if it is of this user and program, and waits itself for someone else. */
  async #unblocking<T>(session: Session, work: () => Promise<T>): Promise<T> {
    const pid = (await session.ask(OWN_BACKEND)).rows[0]?.[0] ?? null;
    const unblock = (): void => {
      const ended = this.#executor.ask(END_BLOCKING, [pid]);
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

function offsetJson({ topic, partition, offset, topicId, leaderEpoch }: PartitionOffset): object {
  return { topic, partition, offset, topic_id: topicId, leader_epoch: leaderEpoch };
}

function moveJson({ topic, partition, from, to, topicId, leaderEpoch }: OffsetMove): object {
  return { topic, partition, from, to, topic_id: topicId, leader_epoch: leaderEpoch };
}

function offsetRow([topic, partition, offset, owner]: readonly (string | null)[]): OffsetRow {
  return { topic: topic ?? '', partition: Number(partition), offset: Number(offset), owner: owner ?? '' };
}
