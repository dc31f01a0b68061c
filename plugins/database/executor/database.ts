import type { ReadingSession, Session, SessionOptions } from './api.ts';
import type { BatchWriter } from './batch-writer.ts';
import type { Catalogue, CatalogueSource } from './catalogue.ts';
import { OptimisticPath } from './optimistic-path.ts';
import type { Connection } from './connection.ts';
import type { Condition, Pool } from './pool.ts';
import { ReadSession } from './read-session.ts';
import type { ProbeDemands, ServerProbe } from './probe-result.ts';
import { serverInstance } from './server-greeting.ts';
import { probeOnce } from './server-probe.ts';
import { applySessionOptions, PinnedSession } from './session.ts';

/** The probe of the server of some connections. */
interface Probed {
  readonly probe: ServerProbe;
  readonly instance: string;
  readonly writes: boolean;
}

/** Pool, catalogue and writer shared by all executors with equal connection settings. */
export class Database implements CatalogueSource {
  readonly pool: Pool;
  readonly catalogue: Catalogue;
  readonly writer: BatchWriter;
  /** Decides whether a transaction is first tried without savepoints. */
  readonly path = new OptimisticPath();
  readonly #probes = new WeakMap<Connection, Probed>();
  /** The server of the connection that was lent last. */
  #current: Probed | undefined;
  /** True once a caller that writes rows has asked for a probe. */
  #writes = false;

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
   * Probes the server. From then on, each connection to a server that was not probed yet is probed before it is lent,
   * and rows are written as the result requires.
   */
  async probe({ writes }: ProbeDemands): Promise<ServerProbe> {
    this.#writes ||= writes;
    this.pool.inspect = (connection) => this.#inspect(connection);
    if (this.#current !== undefined && this.#current.writes === this.#writes) return this.#current.probe;
    return this.pool.lend((connection) => this.#inspect(connection), 'clean');
  }

  /** The result of the last probe: that of the server whose connection was lent last. */
  get behaviour(): ServerProbe | undefined {
    return this.#current?.probe;
  }

  /** The behaviour of the server of a connection; `undefined` if nobody asked for a probe. */
  behaviourOf(connection: Connection): ServerProbe | undefined {
    return this.#probes.get(connection)?.probe;
  }

  async #inspect(connection: Connection): Promise<ServerProbe> {
    let probed = this.#probes.get(connection);
    if (probed?.writes !== this.#writes) {
      probed = await this.#probe(connection);
      this.#probes.set(connection, probed);
      if (probed.probe.sharesBackends) connection.sharesBackends();
    }
    if (probed !== this.#current) {
      this.#current = probed;
      this.writer.adapt(probed.probe);
    }
    return probed.probe;
  }

  async #probe(connection: Connection): Promise<Probed> {
    const { host, port } = connection.server;
    const instance = `${host}:${String(port)} ${serverInstance(connection)}`;
    const current = this.#current;
    const writes = this.#writes;
    if (current?.instance === instance && current.writes === writes) return current;
    const { pool } = this;
    const openAnother = (): Promise<Connection> => pool.openAnother(connection.server);
    const probe = await probeOnce(connection, instance, { openAnother, writes, logger: pool.logger });
    return { probe, instance, writes };
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
