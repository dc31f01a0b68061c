import { once } from 'node:events';
import { open, type FileHandle } from 'node:fs/promises';
import {
  ConnectError,
  javaText,
  parseOptions,
  type PartitionOffset,
  type SinkRecord,
  type SinkTask,
  type SinkTaskContext,
} from '../../src/index.ts';
import { fileOf } from './file-source-task.ts';
import { fileSinkOptions } from './options.ts';

/**
 * Writes the text of each value as a line to the end of a file, or to standard output
 * (org.apache.kafka.connect.file.FileStreamSinkTask). If a file is configured, the lines are in it when `put` resolves.
 */
export class FileSinkTask implements SinkTask {
  #file: FileHandle | undefined;

  async start(context: SinkTaskContext): Promise<void> {
    parseOptions(fileSinkOptions, context.config);
    const path = fileOf(context.config);
    if (path === null) return;
    try {
      this.#file = await open(path, 'a');
    } catch (error) {
      throw new ConnectError(`Couldn't find or create file '${path}' for FileStreamSinkTask`, { cause: error });
    }
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    if (records.length === 0) return;
    const text = records.map((record) => `${lineOf(record)}\n`).join('');
    if (this.#file !== undefined) await this.#file.appendFile(text);
    else if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }

  async preCommit(delivered: ReadonlyMap<string, PartitionOffset>): Promise<readonly PartitionOffset[]> {
    return Promise.resolve([...delivered.values()]);
  }

  async stop(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}

/** The line for a record. */
export function lineOf({ value, valueSchema }: SinkRecord): string {
  return javaText(value, valueSchema);
}
