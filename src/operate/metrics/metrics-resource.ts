import type { NamingName } from '../../observe/metrics/metric-names.ts';
import type { WorkerThreads } from '../../observe/thread-figures.ts';
import type { MetricsSource } from './metrics-source.ts';
import { Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { metricsPage, type MetricsOptions } from './worker-metrics.ts';
import { CONTENT_TYPES, formatFor } from '../../observe/metrics/metrics-page.ts';
import { commitId, CONNECT_VERSION } from '../../version.ts';
import type { Context, Route } from '../../rest/resource.ts';

/** `/metrics` for Prometheus; Connect only has JMX. */
export function metricsResource(
  source: MetricsSource,
  threads: WorkerThreads,
  namings: readonly NamingName[],
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the text format of Prometheus',
      tag: 'worker',
      answers: { 200: 'text/plain' },
      handle: (context) => answerMetrics(context, source, threads, namings),
    },
  ];
}

/** Answers in the format that the client prefers. */
async function answerMetrics(
  context: Context,
  source: MetricsSource,
  threads: WorkerThreads,
  namings: readonly NamingName[],
): Promise<void> {
  const options: MetricsOptions = { namings, version: CONNECT_VERSION, commitId };
  const page = await metricsPage(source, threads, options);
  const format = formatFor(context.get('Accept'));
  context.status = 200;
  context.set('Content-Type', CONTENT_TYPES[format]);
  const text = Readable.from(joined(page.pieces(format)), { objectMode: false });
  context.vary('Accept-Encoding');
  const isCompressed = context.acceptsEncodings('gzip', 'identity') === 'gzip';
  if (isCompressed) context.set('Content-Encoding', 'gzip');
  context.body = isCompressed ? text.pipe(createGzip({ level: constants.Z_BEST_SPEED })) : text;
}

/** Minimum length in characters of the chunks that are sent, except for the last one. */
const MIN_CHUNK_LENGTH = 65_536;

function* joined(pieces: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < MIN_CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
