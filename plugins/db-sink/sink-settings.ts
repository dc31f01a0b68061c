import { ownStatement, type DedupRule, type Executor } from '../database/index.ts';
import { sinkFormat } from './decoders.ts';
import type { SinkOptions } from './options.ts';
import type { SinkTarget } from './sink-format.ts';
import type { RetryOptions } from './retries.ts';
import { growthOf } from './table-options.ts';
import type { TableWriterOptions } from './table-writer.ts';

export function retryOptions(options: SinkOptions): RetryOptions {
  return {
    maxRetries: options['max.retries'],
    retryBackoffMs: options['retry.backoff.ms'],
    connectionAttempts: options['connection.attempts'],
    connectionBackoffMs: options['connection.backoff.ms'],
  };
}

export function writerOptions(
  options: SinkOptions,
  { database, engine }: Pick<SinkTarget, 'database' | 'engine'>,
): TableWriterOptions {
  const format = sinkFormat(options['protocol.type']);
  return {
    policy: {
      dedupRule: (options['dedup.rule'] as DedupRule | null) ?? format.dedupRule ?? 'override',
      computedColumns: 'ignore',
      unknownColumns: options['unknown.columns'] === 'ignore' ? 'ignore' : 'fault',
      growth: growthOf(options, format.growth),
      insertMode: format.insertMode?.(options),
    },
    database,
    fitsRows: format.fitsRows === true,
    createsNameTags: engine === 'time-series',
  };
}

const DATABASE_NAME = ownStatement('sink: name of the database', 'SELECT current_database()');

/** Returns the name of the database according to the server, which may differ from the URL. */
export async function databaseName(executor: Executor): Promise<string> {
  return (await executor.ask(DATABASE_NAME)).rows[0]?.[0] ?? '';
}
