import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { logicalPostgres } from '../support/log-source.ts';
import { ownBroker } from '../support/services.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { GOLDEN_FOLDER } from './golden-data.ts';

const FOLDER = join(GOLDEN_FOLDER, 'cdc');
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const JOBS = 4;

export interface ScenarioResult {
  readonly records: number;
  readonly equal: number;
  readonly missing: number;
  readonly extra: number;
  readonly marks: number;
  readonly marksEqual: number;
  readonly failures: readonly string[];
}

/**
 * Runs the recorded scenarios whose names contain one of the texts on a worker with a broker and a PostgreSQL of their own, and
 * compares what comes out. Creating a slot waits for every open transaction of the server, so that no other test may use it.
 */
export async function replayLogSource(only: readonly string[] = []): Promise<Readonly<Record<string, ScenarioResult>>> {
  const [kafka, { server, db }, folder] = await Promise.all([
    ownBroker({ extras: { properties: { 'auto.create.topics.enable': 'true' } } }),
    logicalPostgres(),
    mkdtemp(join(tmpdir(), 'sluice-cdc-')),
  ]);
  const properties = { 'bootstrap.servers': kafka.bootstrapServers, 'offset.flush.interval.ms': '1000' };
  const worker = await WorkerProcess.start({ properties, environment: { TZ: 'UTC' } });
  try {
    const report = join(folder, 'report.json');
    const options = {
      base: worker.rest.url,
      bootstrap: kafka.bootstrapServers,
      pg: `${db.host}:${String(db.port)}`,
      user: db.user,
      password: db.password,
      modules: PROJECT,
      jobs: String(JOBS),
      report,
      ...(only.length > 0 && { only: only.join(',') }),
    };
    const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(process.execPath, [join(FOLDER, 'replay.mjs'), ...given, join(FOLDER, 'scenarios')], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    await once(child, 'close');
    const text = await readFile(report, 'utf8').catch(() => undefined);
    assert.ok(text !== undefined, `The scenarios were not replayed to their end:\n${output.slice(-2000)}`);
    const { results } = JSON.parse(text) as { readonly results: Readonly<Record<string, ScenarioResult>> };
    return Object.fromEntries(Object.entries(results).map(([id, result]) => [id, withoutOwnKeys(result)]));
  } finally {
    await worker.discard();
    await Promise.all([kafka.discard(), server.discard(), rm(folder, { recursive: true, force: true })]);
  }
}

/** Offsets have two keys that Debezium does not have and ignores: the server that they belong to, and its timeline. */
const OWN_KEY = /\.offset\.server_(?:system_id|timeline): not expected, got /;

/** Marks whose offsets have the keys of our own, and no other difference, are equal. */
function withoutOwnKeys(result: ScenarioResult): ScenarioResult {
  const isOwn = (failure: string): boolean =>
    failure.startsWith('mark ') && failure.split('; ').every((difference) => OWN_KEY.test(difference));
  const failures = result.failures.filter((failure) => !isOwn(failure));
  return { ...result, failures, marksEqual: result.marksEqual + result.failures.length - failures.length };
}
