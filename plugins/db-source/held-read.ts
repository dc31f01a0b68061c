import type { Executor, QueryResult } from '../../src/index-database.ts';

/** A cursor that nobody asks anything of is closed, because its snapshot keeps the server from cleaning up. */
const IDLE_CLOSE_MS = 30_000;

/**
 * A query whose rows are fetched piece by piece, with whatever time in between, on a connection of its own.
 *
 * open -> (a piece that is not full, a failure, `close`, or 30 s without a call) closed.
 */
export class HeldRead {
  readonly #next: () => Promise<QueryResult | undefined>;
  readonly #release: () => void;
  readonly #pieceRows: number;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  private constructor(pieceRows: number, next: () => Promise<QueryResult | undefined>, release: () => void) {
    this.#pieceRows = pieceRows;
    this.#next = next;
    this.#release = release;
  }

  /** Takes a connection; the statement is sent with the first `read`. */
  static async open(executor: Executor, sql: string, pieceRows: number, signal: AbortSignal): Promise<HeldRead> {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    return new Promise<HeldRead>((resolve, reject) => {
      executor
        .session(
          async (session) => {
            const pieces = session.stream(sql, [], { chunkRows: pieceRows, signal })[Symbol.asyncIterator]();
            const next = async () => {
              const piece = await pieces.next();
              return piece.done === true ? undefined : piece.value;
            };
            resolve(new HeldRead(pieceRows, next, release));
            await released;
            await pieces.return?.();
          },
          { readTransaction: true, signal },
        )
        .catch(reject);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The next rows; fewer than were asked for at the end, and then it is closed. */
  async read(): Promise<QueryResult | undefined> {
    clearTimeout(this.#idle);
    try {
      const piece = await this.#next();
      if (piece === undefined || piece.rows.length < this.#pieceRows) this.close();
      else this.#idle = setTimeout(() => this.close(), IDLE_CLOSE_MS).unref();
      return piece;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Gives the connection back. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#release();
  }
}
