import type { RowBatch, WriteReport } from '../../../src/data/row-batch.ts';
import { DatabaseError } from '../../../src/errors.ts';
import type { OwnStatement } from '../sql/own-statement.ts';
import type {
  Engine,
  Executor,
  GrowingPolicy,
  Listener,
  QueryResult,
  ReadingSession,
  Rehearsal,
  Session,
  SessionOptions,
  StatementOptions,
  TableCatalogue,
  TableWrite,
  TransactionWork,
  WritePolicy,
} from './api.ts';
import type { Database } from './database.ts';
import { listen } from './listener.ts';
import { readEngine } from './engine-mark.ts';
import { rehearse } from './rehearsal.ts';
import type { ProbeDemands, ServerProbe } from './probe-result.ts';
import { atomically } from './transaction.ts';

/**
 * A handle on a shared database. After `close`, every new call is rejected. Closing the last handle also closes the
 * pool, which waits for running calls up to a time limit.
 */
export class PooledExecutor implements Executor {
  readonly #database: Database;
  readonly #onClose: () => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(database: Database, onClose: () => Promise<void>) {
    this.#database = database;
    this.#onClose = onClose;
  }

  get catalogue(): TableCatalogue {
    return this.#open().catalogue;
  }

  async session<T>(work: (session: Session) => Promise<T>, options: SessionOptions = {}): Promise<T> {
    return this.#open().pinned(work, options, 'used', options.signal);
  }

  async reading<T>(
    work: (session: ReadingSession) => Promise<T>,
    { signal }: Pick<SessionOptions, 'signal'> = {},
  ): Promise<T> {
    return this.#open().reading(work, {}, signal);
  }

  async query(
    sql: string,
    parameters: readonly (string | null)[] = [],
    options: StatementOptions = {},
  ): Promise<QueryResult> {
    return this.#open().pinned((session) => session.query(sql, parameters, options), {}, 'used', options.signal);
  }

  async ask(
    statement: OwnStatement,
    parameters: readonly (string | null)[] = [],
    options: StatementOptions = {},
  ): Promise<QueryResult> {
    return this.#open().pinned((session) => session.ask(statement, parameters, options), {}, 'clean', options.signal);
  }

  async listen(channel: string, onNotice: (payload: string) => void, onLost: () => void): Promise<Listener> {
    return listen(this.#open().pool, channel, onNotice, onLost);
  }

  async engine(): Promise<Engine> {
    return this.#open().session(readEngine);
  }

  async probe(demands: ProbeDemands): Promise<ServerProbe> {
    return this.#open().probe(demands);
  }

  get behaviour(): ServerProbe | undefined {
    return this.#database.behaviour;
  }

  async write(batch: RowBatch, policy: WritePolicy): Promise<WriteReport> {
    return this.#open().writer.write(batch, policy);
  }

  async writeAll(writes: readonly TableWrite[]): Promise<readonly PromiseSettledResult<WriteReport>[]> {
    return this.#open().writer.writeAll(writes);
  }

  async prepare(batch: RowBatch, policy: GrowingPolicy): Promise<void> {
    return this.#open().writer.prepare(batch, policy);
  }

  async atomically<T>(work: TransactionWork<T>, signal?: AbortSignal): Promise<T> {
    return atomically(this.#open(), work, signal);
  }

  async rehearse<T>(work: (rehearsal: Rehearsal) => Promise<T>, options: StatementOptions = {}): Promise<T> {
    return rehearse(this.#open(), work, options);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#onClose();
    await this.#closing;
  }

  #open(): Database {
    if (this.#closing !== undefined) throw new DatabaseError('the executor was closed', { scope: 'caller' });
    return this.#database;
  }
}
