import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Bytes in order; nothing for now is an empty piece. The piece is the reader's until the next `read`. */
export interface ByteInput {
  read(): Promise<Uint8Array>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/** A file from a position on, read on as it grows. */
export class FileInput implements ByteInput {
  readonly #file: FileHandle;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #position: number;

  private constructor(file: FileHandle, position: number) {
    this.#file = file;
    this.#position = position;
  }

  /** `undefined` when there is no such file (yet). */
  static async open(path: string, position: number): Promise<FileInput | undefined> {
    try {
      return new FileInput(await open(path, 'r'), position);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async read(): Promise<Uint8Array> {
    const { bytesRead } = await this.#file.read(this.#chunk, 0, CHUNK_BYTES, this.#position);
    this.#position += bytesRead;
    return this.#chunk.subarray(0, bytesRead);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Standard input, read only when asked. It stays open for the next task. */
export class StreamInput implements ByteInput {
  readonly #stream: Readable;

  constructor(stream: Readable) {
    this.#stream = stream;
    // Without a listener the stream never fetches anything; `read` then takes what there is.
    stream.on('readable', ignore);
  }

  async read(): Promise<Uint8Array> {
    const piece = this.#stream.read() as Buffer | null;
    return Promise.resolve(piece ?? new Uint8Array());
  }

  async close(): Promise<void> {
    this.#stream.off('readable', ignore);
    await Promise.resolve();
  }
}

function ignore(): void {
  // The task polls.
}
