import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/**
 * A source of bytes. `read` returns an empty array if no bytes are available yet. The array is valid until the next
 * call of `read`.
 */
export interface ByteInput {
  read(): Promise<Uint8Array>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/** Reads a file from a position on, and continues as the file grows. */
export class FileInput implements ByteInput {
  readonly #file: FileHandle;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #position: number;

  private constructor(file: FileHandle, position: number) {
    this.#file = file;
    this.#position = position;
  }

  /** `undefined`: the file does not exist yet. */
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

/** Reads standard input on demand. The stream stays open for the next task. */
export class StreamInput implements ByteInput {
  readonly #stream: Readable;

  constructor(stream: Readable) {
    this.#stream = stream;
    // Without a listener, the stream fetches nothing. `read` takes the data that has arrived.
    stream.on('readable', ignore);
  }

  async read(): Promise<Uint8Array> {
    const chunk = this.#stream.read() as Buffer | null;
    return Promise.resolve(chunk ?? new Uint8Array());
  }

  async close(): Promise<void> {
    this.#stream.off('readable', ignore);
    await Promise.resolve();
  }
}

function ignore(): void {
  // The task polls the stream instead.
}
