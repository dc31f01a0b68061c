import { exactlyOnceProblem, upsertProblem, type Executor } from '../database/index.ts';
import { sinkFormat } from './decoders.ts';
import { isExactlyOnce } from './delivery-options.ts';
import type { SinkOptions } from './options.ts';

/** A setting that the server cannot fulfil, with the reason and a value that it can fulfil. */
export type RefusedByServer = readonly [option: string, reason: string, possible: string];

/** Returns the settings that the server cannot fulfil. Probes the server only if a setting depends on it. */
export async function refusedByServer(options: SinkOptions, executor: Executor): Promise<RefusedByServer[]> {
  const upserts = sinkFormat(options['protocol.type']).insertMode?.(options) === 'upsert';
  if (!upserts && !isExactlyOnce(options)) return [];
  const server = await executor.probe({ writes: true });
  const refused: RefusedByServer[] = [];
  const lie = isExactlyOnce(options) ? exactlyOnceProblem(server) : undefined;
  if (lie !== undefined) refused.push(['delivery', lie, 'at-least-once']);
  const problem = upserts ? upsertProblem(server) : undefined;
  if (problem !== undefined) refused.push(['insert.mode', `${problem}, which upsert needs; use insert`, 'insert']);
  return refused;
}
