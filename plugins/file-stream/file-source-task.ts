import { setTimeout as delay } from 'node:timers/promises';
import {
  ConnectError,
  parseOptions,
  Schema,
  toError,
  type ConnectorConfig,
  type SourceCoordinates,
  type SourceRecord,
  type SourceTask,
  type SourceTaskContext,
} from '../../src/index.ts';
import { FileInput, StreamInput, type ByteInput } from './byte-input.ts';
import { LineSplitter, type Line } from './line-splitter.ts';
import { fileSourceOptions } from './options.ts';

const VALUE_SCHEMA = new Schema('string');
/** How long a poll waits if it finds no new data (Java's task waits for 1000 ms). */
const IDLE_MS = 250;
/** Minimum interval between log lines about a missing file. */
const MISSING_FILE_MS = 30_000;

/**
 * Produces the lines of a file, or of standard input, as records (org.apache.kafka.connect.file.FileStreamSourceTask).
 * The position in an offset is the number of bytes from the start of the file up to and including the line's end.
 *
 * States: waiting for the file -> reading -> stopped.
 */
export class FileSourceTask implements SourceTask {
  #context: SourceTaskContext | undefined;
  #file: string | null = null;
  #topic = '';
  #batchSize = 1;
  #partition: SourceCoordinates = {};
  #input: ByteInput | undefined;
  readonly #lines = new LineSplitter();
  /** `null` until the file is open, and for standard input, which has no position. */
  #position: number | null = null;
  #loggedMissingAtMs = 0;

  async start(context: SourceTaskContext): Promise<void> {
    const options = parseOptions(fileSourceOptions, context.config);
    this.#context = context;
    this.#file = fileOf(context.config);
    this.#topic = options.topic;
    this.#batchSize = options['batch.size'];
    this.#partition = { filename: this.#file };
    if (this.#file === null) this.#input = new StreamInput(process.stdin);
    await Promise.resolve();
  }

  async poll(): Promise<readonly SourceRecord[]> {
    this.#input ??= await this.#open();
    const records = this.#input === undefined ? [] : await this.#read(this.#input);
    if (records.length === 0) await this.#idle();
    return records;
  }

  async stop(): Promise<void> {
    await this.#input?.close();
    this.#input = undefined;
  }

  async #open(): Promise<ByteInput | undefined> {
    if (this.#file === null) return undefined;
    const stored = (await this.#context?.offset(this.#partition))?.['position'] ?? null;
    if (stored !== null && typeof stored !== 'number' && typeof stored !== 'bigint') {
      throw new ConnectError('Offset position is the incorrect type');
    }
    // No file has more than MAX_SAFE_INTEGER bytes, so nothing is read at that position or beyond it.
    const position = Math.min(Number(stored ?? 0), Number.MAX_SAFE_INTEGER);
    const input = await openFile(this.#file, position);
    if (input === undefined) this.#logMissing(this.#file);
    else this.#position = position;
    return input;
  }

  async #read(input: ByteInput): Promise<SourceRecord[]> {
    const records: SourceRecord[] = [];
    for (;;) {
      for (let line = this.#lines.next(); line !== undefined; line = this.#lines.next()) {
        records.push(this.#record(line));
        if (records.length >= this.#batchSize) return records;
      }
      const chunk = await input.read();
      if (chunk.length === 0) return records;
      this.#lines.push(chunk);
    }
  }

  #record({ text, bytes }: Line): SourceRecord {
    if (this.#position !== null) this.#position += bytes;
    return {
      sourcePartition: this.#partition,
      sourceOffset: { position: this.#position },
      topic: this.#topic,
      partition: null,
      keySchema: null,
      key: null,
      valueSchema: VALUE_SCHEMA,
      value: text,
      timestamp: Date.now(),
      headers: [],
    };
  }

  #logMissing(file: string): void {
    const now = Date.now();
    if (now < this.#loggedMissingAtMs + MISSING_FILE_MS) return;
    this.#loggedMissingAtMs = now;
    this.#context?.logger.warn(`Couldn't find file ${file} for FileStreamSourceTask, waiting for it to be created`);
  }

  async #idle(): Promise<void> {
    try {
      await delay(IDLE_MS, undefined, { signal: this.#context?.signal });
    } catch {
      // The task is being stopped.
    }
  }
}

/** The file's name; `null` for standard input. */
export function fileOf(config: ConnectorConfig): string | null {
  const file = config['file']?.trim() ?? '';
  return file === '' ? null : file;
}

async function openFile(path: string, position: number): Promise<FileInput | undefined> {
  try {
    return await FileInput.open(path, position);
  } catch (error) {
    throw new ConnectError(`${path} cannot be read: ${toError(error).message}`, { cause: error });
  }
}
