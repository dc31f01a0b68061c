import { sinkConfig } from '../support/connectors.ts';
import type { BenchContext } from './bench-context.ts';
import { untilAll, untilLastCommit, type Stretch } from './stretch.ts';
import type { WorkerUnderTest } from './worker-under-test.ts';

export interface SinkJob {
  readonly table: string;
  /** The text after FROM in a query for the rows from the topic. If absent, the whole table, which was empty before. */
  readonly arrived?: string;
  /** Options of the sink, without topic and connection. */
  readonly options: Readonly<Record<string, string>>;
}

/**
 * Moves the rows of a topic into an empty table by a new sink, with 2 tasks unless the options specify another number.
 * An override without a value removes its option.
 */
export async function sinkOnce(
  { services, rows, overrides }: BenchContext,
  { rest }: WorkerUnderTest,
  topic: string,
  { table, arrived = table, options }: SinkJob,
): Promise<Stretch> {
  const name = `${topic}-${String(Date.now())}`;
  const given = { 'tasks.max': '2', topics: topic, ...options, ...overrides };
  const config = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
  await rest.create(name, sinkConfig({ ...services.database, url: '' }, config));
  try {
    const counted = await untilAll(
      rows,
      () => services.number(`select count(*) from ${arrived}`),
      () => rest.status(name),
    );
    return (await untilLastCommit(services, arrived)) ?? counted;
  } finally {
    await rest.delete(`/connectors/${name}`);
  }
}
