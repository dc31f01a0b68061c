import type { Executor, RowBlock } from '../database/index.ts';

/** Idle cursors are closed, because their snapshot keeps the server from removing dead rows. */
const IDLE_CLOSE_MS = 30_000;

/** Maximum factor by which the number of rows grows from one chunk to the next. */
const GROWTH = 4;
/** Chunks grow up to this size in bytes, and shrink if they exceed four times this size. */
const CHUNK_BYTES = 262_144;

export interface ChunkSize {
  readonly firstRows: number;
  readonly maxRows: number;
  /** True if chunks grow as far as their size in bytes allows. */
  readonly grows: boolean;
}

/** The rows of a fetch. */
export interface Chunk {
  readonly block: RowBlock;
  /** True if the chunk has as many rows as were requested, so that there may be more rows. */
  readonly isFull: boolean;
}

/**
 * A query on a dedicated connection whose rows are fetched in chunks. The cursor is closed by `close`, after a chunk that is
 * not full, after a failure, and after 30 s without a call.
 */
export class OpenCursor {
  readonly #next: (rows: number) => Promise<RowBlock | undefined>;
  readonly #release: () => void;
  readonly #size: ChunkSize;
  #rows: number;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  private constructor(size: ChunkSize, next: (rows: number) => Promise<RowBlock | undefined>, release: () => void) {
    this.#size = size;
    this.#rows = size.firstRows;
    this.#next = next;
    this.#release = release;
  }

  /** Acquires a connection; the statement is sent with the first `read`. */
  static async open(executor: Executor, sql: string, size: ChunkSize, signal: AbortSignal): Promise<OpenCursor> {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    return new Promise<OpenCursor>((resolve, reject) => {
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
            resolve(new OpenCursor(size, next, release));
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

  /** Fetches the next rows; a chunk that is not full closes the cursor. */
  async read(): Promise<Chunk | undefined> {
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

  /** Releases the connection. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#release();
  }

  #adapt({ bytes, count }: RowBlock): void {
    if (!this.#size.grows || count === 0) return;
    const fitting = Math.floor((count * CHUNK_BYTES) / bytes.length);
    if (bytes.length < CHUNK_BYTES) this.#rows = Math.min(this.#size.maxRows, this.#rows * GROWTH, fitting);
    else if (bytes.length > GROWTH * CHUNK_BYTES) this.#rows = Math.max(1, fitting);
  }
}
