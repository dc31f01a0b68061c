import { open, readFile, rename } from 'node:fs/promises';
import { ConfigError, toError } from '../../errors.ts';
import { SerialQueue } from '../../async/serial-queue.ts';
import { readJavaMap, writeJavaMap } from '../../java/java-map-file.ts';
import type { LogRecord, RecordLog } from './record-log.ts';

/**
 * Source offsets of a standalone worker in one file. Each write replaces the whole file: a new file is written, synced and
 * renamed. After a crash, the file has either the old or the new content.
 */
export class OffsetFile implements RecordLog {
  readonly #path: string;
  readonly #onRecord: (record: LogRecord) => void;
  readonly #entries = new Map<string, Uint8Array>();
  readonly #writes = new SerialQueue();

  constructor(path: string, onRecord: (record: LogRecord) => void) {
    this.#path = path;
    this.#onRecord = onRecord;
  }

  async start(): Promise<void> {
    let file: Buffer;
    try {
      file = await readFile(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw new ConfigError(`Cannot read offset.storage.file.filename ${this.#path}: ${toError(error).message}`);
    }
    if (file.length === 0) return;
    try {
      for (const [key, value] of readJavaMap(file)) this.#apply(key, value);
    } catch (error) {
      throw new ConfigError(`offset.storage.file.filename ${this.#path} is ${toError(error).message}`);
    }
  }

  async send(key: string | Uint8Array, value: Uint8Array | null): Promise<void> {
    await this.sendAll([{ key, value }]);
  }

  async sendAll(records: readonly { key: string | Uint8Array; value: Uint8Array | null }[]): Promise<void> {
    for (const { key, value } of records) this.#apply(Buffer.from(key), value);
    await this.#writes.run(() => this.#save());
  }

  async readToEnd(): Promise<void> {
    await this.#writes.idle();
  }

  async stop(): Promise<void> {
    await this.#writes.idle();
  }

  #apply(key: Uint8Array, value: Uint8Array | null): void {
    const text = Buffer.from(key).toString('base64');
    if (value === null) this.#entries.delete(text);
    else this.#entries.set(text, value);
    this.#onRecord({ key, value });
  }

  async #save(): Promise<void> {
    const entries = [...this.#entries].map(([key, value]) => [Buffer.from(key, 'base64'), value] as const);
    const temporary = `${this.#path}.new`;
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(writeJavaMap(entries));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, this.#path);
  }
}
