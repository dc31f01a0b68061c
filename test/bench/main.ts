import { parseArgs } from 'node:util';
import { toError } from '../../src/errors.ts';
import type { BenchContext, Workload } from './bench-context.ts';
import { BenchServices } from './bench-services.ts';
import { formatTable, machine } from './figures.ts';
import { httpLines } from './http-lines.ts';
import { httpOpenTsdb } from './http-opentsdb.ts';
import { httpQuery } from './http-query.ts';
import { httpTsbs } from './http-tsbs.ts';
import { JavaPeer } from './java-peer.ts';
import { latency } from './latency.ts';
import { limit } from './limit.ts';
import { logSource, logSourceMemory } from './log-source.ts';
import { logSourceLatency } from './log-source-latency.ts';
import { memory } from './memory.ts';
import { oneHangs } from './one-hangs.ts';
import { formatProfile, profileRun } from './profile-run.ts';
import { sinkAvro } from './registry-sinks.ts';
import { restUnderLoad } from './rest-under-load.ts';
import { scale } from './scale.ts';
import { defaultsJson, defaultsLines, defaultsStructInsert, defaultsStructUpsert } from './sink-defaults.ts';
import { upsertAllMet, upsertHalfMet } from './sink-met-keys.ts';
import { sinkJson, sinkLines, sinkStructInsert, sinkStructUpsert } from './sinks.ts';
import { sourceIdle } from './source-idle.ts';
import { sourceLatency } from './source-latency.ts';
import { sourceTo } from './source-tables.ts';
import { transformsDiscard, transformsUpsert } from './transforms.ts';
import { workerCost } from './worker-cost.ts';
import { WorkerUnderTest } from './worker-under-test.ts';

/** `worker` is the first workload, because a Java worker that has moved rows uses more memory than a new one. */
const WORKLOADS: Readonly<Record<string, Workload>> = {
  worker: workerCost,
  'sink-struct-upsert': sinkStructUpsert,
  'sink-struct-insert': sinkStructInsert,
  'sink-avro': sinkAvro,
  'upsert-half-met': upsertHalfMet,
  'upsert-all-met': upsertAllMet,
  'sink-json': sinkJson,
  'sink-lines': sinkLines,
  'defaults-struct-upsert': defaultsStructUpsert,
  'defaults-struct-insert': defaultsStructInsert,
  'defaults-json': defaultsJson,
  'defaults-lines': defaultsLines,
  'http-lines': httpLines,
  'http-tsbs': httpTsbs,
  'http-opentsdb': httpOpenTsdb,
  'http-query': httpQuery,
  'source-json': sourceTo('json_db'),
  'source-lines': sourceTo('line_lp'),
  'source-tsd': sourceTo('json_tsd'),
  'source-latency': sourceLatency,
  'source-idle': sourceIdle,
  'log-source': logSource,
  'log-source-latency': logSourceLatency,
  'log-source-memory': logSourceMemory,
  limit,
  'transforms-discard': transformsDiscard,
  'transforms-upsert': transformsUpsert,
  'rest-under-load': restUnderLoad,
  latency,
  'one-hangs': oneHangs,
  memory,
  scale,
};

const USAGE = `npm run bench -- [WORKLOAD …] [--rows N] [--runs N] [--seconds N] [--peers] [--set NAME=VALUE …] [--worker NAME=VALUE …] [--json]
npm run bench -- --profile WORKLOAD [--rows N] [--set NAME=VALUE …] [--worker NAME=VALUE …] [--json]
Workloads: ${Object.keys(WORKLOADS).join(', ')}
  --rows     rows of a sink's workload; http-lines, source-json, source-lines, source-tsd and rest-under-load take twice as many (500000)
  --runs     runs that count, after one that warms up (3)
  --seconds  of latency a run; of one-hangs before and after; of memory before each look at it (20)
  --peers    the Debezium connectors on a Java worker in the same run
  --set      an option of the connector that is measured; without a value: the option is left out
  --worker   a property of the worker, such as task.threads=4
  --json     one line of JSON for each workload
  --profile  a CPU profile of the worker, and where a row's time goes
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    profile: { type: 'string' },
    rows: { type: 'string', default: '500000' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '20' },
    set: { type: 'string', multiple: true, default: [] },
    worker: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});

const wanted =
  values.profile !== undefined ? [values.profile] : positionals.length > 0 ? positionals : Object.keys(WORKLOADS);
const unknown = wanted.filter((name) => !(name in WORKLOADS));
if (values.help || unknown.length > 0) {
  process.stderr.write(unknown.length > 0 ? `Unknown workload ${unknown.join(', ')}\n${USAGE}` : USAGE);
  process.exit(unknown.length > 0 ? 1 : 0);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const services = await BenchServices.open();
let peer: Promise<JavaPeer> | undefined;
try {
  const on = await machine(services);
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  for (const name of wanted) {
    try {
      await runWorkload(name, on, command);
    } catch (error) {
      process.exitCode = 1;
      process.stderr.write(`${name} failed: ${toError(error).stack ?? ''}\n\n`);
    }
  }
  if (!values.json) process.stdout.write(`${on}\n${command}\n`);
} finally {
  await (await peer)?.stop();
  await services.close();
}
process.exit();

async function runWorkload(name: string, on: string, command: string): Promise<void> {
  const workload = WORKLOADS[name];
  if (workload === undefined) return;
  const context = newContext();
  if (values.profile === undefined) {
    print({ workload: name, ...(await workload(context)) }, '', on, command);
    return;
  }
  const profiled = await profileRun(context, name, workload);
  const { usPerRow, waitingUsPerRow, hottest } = profiled.time;
  const shown = values.json ? { us_per_row: usPerRow, waiting_us_per_row: waitingUsPerRow, hottest } : {};
  print({ workload: name, ...profiled.figures, ...shown }, formatProfile(profiled), on, command);
}

function newContext(): BenchContext {
  return {
    services,
    rows: Number(values.rows),
    runs: Number(values.runs),
    seconds: Number(values.seconds),
    overrides: pairs(values.set),
    stretches: [],
    startWorker: (properties = {}, nodeFlags = []) =>
      WorkerUnderTest.start(services.bootstrapServers, {
        properties: { ...properties, ...pairs(values.worker) },
        nodeFlags,
      }),
    peer: async () => {
      if (values.peers) peer ??= JavaPeer.start(services);
      return peer;
    },
  };
}

function pairs(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(given.map((pair) => pair.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

function print(figures: Readonly<Record<string, unknown>>, more: string, on: string, command: string): void {
  const text = values.json
    ? `${JSON.stringify({ ...figures, machine: on, command })}\n`
    : `${formatTable(figures)}${more}`;
  process.stdout.write(text);
}
