import type { ReadingSession, Session, SessionOptions } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import type { Catalogue, CatalogueSource } from './catalogue.ts';
import { OptimisticPath } from './optimistic-path.ts';
import type { Condition, Pool } from './pool.ts';
import { ReadSession } from './read-session.ts';
import type { ProbeDemands, ServerProbe } from './probe-result.ts';
import { probeOnce } from './server-probe.ts';
import { applySessionOptions, PinnedSession } from './session.ts';

/** Pool, catalogue and writer shared by all executors with equal connection settings. */
export class Database implements CatalogueSource {
  readonly pool: Pool;
  readonly catalogue: Catalogue;
  readonly writer: BatchWriter;
  /** Decides whether a transaction is first tried without savepoints. */
  readonly path = new OptimisticPath();
  /** Probe results. The key is true for probes by callers that write rows. */
  readonly #probes = new Map<boolean, ServerProbe>();

  constructor(pool: Pool, parts: (source: CatalogueSource) => { catalogue: Catalogue; writer: BatchWriter }) {
    this.pool = pool;
    const { catalogue, writer } = parts(this);
    this.catalogue = catalogue;
    this.writer = writer;
  }

  /** A session for internal statements, which leave no state behind. */
  async session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.pinned(work, {}, 'clean');
  }

  async pinned<T>(
    work: (session: Session) => Promise<T>,
    options: SessionOptions,
    condition: Condition,
    signal?: AbortSignal,
  ): Promise<T> {
    if (options.readTransaction === true) return this.reading(work, options, signal);
    const connection = await this.pool.acquire(signal);
    try {
      await applySessionOptions(connection, options);
      const session = new PinnedSession(connection, options);
      try {
        return await work(session);
      } finally {
        await session.end();
      }
    } finally {
      this.pool.release(connection, condition);
    }
  }

  /**
   * Probes the server, once for callers that write rows and once for other callers. Afterwards, rows are written
   * without COPY and without prepared statements if the result requires it.
   */
  async probe(demands: ProbeDemands): Promise<ServerProbe> {
    const known = this.#probes.get(demands.writes);
    if (known !== undefined) return known;
    const { pool } = this;
    const probe = await pool.lend(
      (connection) =>
        probeOnce(connection, () => pool.openAnother(connection.server), { ...demands, logger: pool.logger }),
      'clean',
    );
    this.#probes.set(demands.writes, probe);
    if (probe.rollsBackCopies === 'no') this.writer.avoidCopy();
    if (probe.sharesBackends) pool.expectSharedBackends();
    return probe;
  }

  async reading<T>(
    work: (session: ReadingSession) => Promise<T>,
    options: SessionOptions,
    signal?: AbortSignal,
  ): Promise<T> {
    const connection = await this.pool.acquire(signal);
    const session = new ReadSession(connection, options);
    try {
      return await work(session);
    } finally {
      await session.end();
      this.pool.release(connection, 'read');
    }
  }
}
