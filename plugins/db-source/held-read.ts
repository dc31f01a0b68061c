import type { Executor, RowBlock } from '../database/index.ts';

/** A cursor that nobody asks anything of is closed, because its snapshot keeps the server from cleaning up. */
const IDLE_CLOSE_MS = 30_000;

/** Pieces grow as long as they are full. */
const GROWTH = 4;
/** Pieces do not grow beyond this size; above four times this size they shrink. */
const PIECE_BYTES = 262_144;

/** How many rows a piece has. */
export interface PieceSize {
  readonly firstRows: number;
  readonly maxRows: number;
  /** Pieces become as large as their bytes allow. */
  readonly grows: boolean;
}

/** The rows of one fetch. */
export interface Piece {
  readonly block: RowBlock;
  /** It has all the rows that were asked for: there may be more. */
  readonly isFull: boolean;
}

/**
 * A query whose rows are fetched piece by piece, with whatever time in between, on a connection of its own.
 *
 * open -> (a piece that is not full, a failure, `close`, or 30 s without a call) closed.
 */
export class HeldRead {
  readonly #next: (rows: number) => Promise<RowBlock | undefined>;
  readonly #release: () => void;
  readonly #size: PieceSize;
  #rows: number;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  private constructor(size: PieceSize, next: (rows: number) => Promise<RowBlock | undefined>, release: () => void) {
    this.#size = size;
    this.#rows = size.firstRows;
    this.#next = next;
    this.#release = release;
  }

  /** Takes a connection; the statement is sent with the first `read`. */
  static async open(executor: Executor, sql: string, size: PieceSize, signal: AbortSignal): Promise<HeldRead> {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    return new Promise<HeldRead>((resolve, reject) => {
      executor
        .reading(
          async (session) => {
            let rows = 0;
            const blocks = session.blocks(sql, () => rows, { signal })[Symbol.asyncIterator]();
            const next = async (wanted: number) => {
              rows = wanted;
              const block = await blocks.next();
              return block.done === true ? undefined : block.value;
            };
            resolve(new HeldRead(size, next, release));
            await released;
            await blocks.return?.();
          },
          { signal },
        )
        .catch(reject);
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The next rows; after those of a piece that is not full it is closed. */
  async read(): Promise<Piece | undefined> {
    clearTimeout(this.#idle);
    try {
      const block = await this.#next(this.#rows);
      if (block === undefined) {
        this.close();
        return undefined;
      }
      const isFull = block.count >= this.#rows;
      if (!isFull) this.close();
      else this.#idle = setTimeout(() => this.close(), IDLE_CLOSE_MS).unref();
      this.#adapt(block);
      return { block, isFull };
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

  #adapt({ bytes, count }: RowBlock): void {
    if (!this.#size.grows || count === 0) return;
    const fitting = Math.floor((count * PIECE_BYTES) / bytes.length);
    if (bytes.length < PIECE_BYTES) this.#rows = Math.min(this.#size.maxRows, this.#rows * GROWTH, fitting);
    else if (bytes.length > GROWTH * PIECE_BYTES) this.#rows = Math.max(1, fitting);
  }
}
