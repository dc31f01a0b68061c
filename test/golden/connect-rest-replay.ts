import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPropertiesFile } from '../../src/config/properties-file.ts';
import { broker } from '../support/services.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { CONNECT_REST_DIFFERENCES } from './connect-rest-differences.ts';
import { GOLDEN_FOLDER } from './golden-data.ts';

const FOLDER = join(GOLDEN_FOLDER, 'connect-rest');
const REPLAY = fileURLToPath(new URL('replay-scenarios.mjs', import.meta.url));
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Properties whose values are this run's own. */
const OWN =
  /^(bootstrap\.servers|listeners|plugin\.path|(config|offset|status)\.storage\.topic|offset\.storage\.file\..*)$/;

/** About 45 s where everything is answered; steps that wait for what never comes take 30 s each. */
const REPLAY_TIMEOUT_MS = 200_000;

type Mode = 'distributed' | 'standalone';

/** A worker with the properties the answers were recorded with. */
async function startWorker(mode: Mode): Promise<WorkerProcess> {
  const recorded = await readPropertiesFile(join(FOLDER, 'worker', `${mode}.properties`));
  const properties = Object.fromEntries(Object.entries(recorded).filter(([name]) => !OWN.test(name)));
  const environment = { TZ: 'UTC' };
  return WorkerProcess.start({ properties, environment, ...(mode === 'standalone' ? { standalone: [] } : {}) });
}

interface Replay {
  readonly passed: number;
  /** `scenario/step`, and what was different. */
  readonly failures: ReadonlyMap<string, string>;
  readonly output: string;
}

/** Sends the requests of these scenarios, as far as they are of this mode, and compares the answers with the recorded ones. */
async function replay(mode: Mode, base: string, isWanted: (scenario: string) => boolean): Promise<Replay> {
  const workdir = await mkdtemp(join(tmpdir(), 'sluice-scenarios-'));
  const { bootstrapServers } = await broker();
  const scenarios = readdirSync(join(FOLDER, 'scenarios')).filter(
    (name) => name.endsWith('.json') && isWanted(name.slice(0, -'.json'.length)),
  );
  const options = { mode, base, bootstrap: bootstrapServers, workdir, kafkajs: PROJECT };
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const files = scenarios.map((name) => join(FOLDER, 'scenarios', name));
  const child = spawn(process.execPath, [REPLAY, ...given, ...files], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: REPLAY_TIMEOUT_MS,
    env: { ...process.env, TZ: 'UTC' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(child, 'close');
  await rm(workdir, { recursive: true, force: true });
  const [, passed] = /^(\d+) passed, \d+ failed$/m.exec(output) ?? [];
  assert.ok(passed !== undefined, `The scenarios were not replayed to their end:\n${output.slice(-2000)}`);
  return { passed: Number(passed), failures: failuresOf(output), output };
}

/** Lines `FAIL folder/scenario.json step (what): differences`. */
function failuresOf(output: string): Map<string, string> {
  const lines = [...output.matchAll(/^FAIL \S*?([^/\s]+)\.json (\S+) (.*)$/gm)];
  return new Map(lines.map(([, scenario = '', step = '', rest = '']) => [`${scenario}/${step}`, rest]));
}

/**
 * One scenario for each resource. `npm test` replays these, on a distributed worker; `npm run test:faults` replays the others, and all of
 * a standalone worker.
 */
export const ONE_PER_RESOURCE: ReadonlySet<string> = new Set([
  'root',
  'plugins',
  'loggers',
  'unknown-connector',
  'put-config',
  'topics',
  'validate-errors',
]);

/** Declares a test: a worker answers the requests of the scenarios as the Java worker did when they were recorded. */
export function itAnswersAsRecorded(mode: Mode, isWanted: (scenario: string) => boolean): void {
  it(`answers as a ${mode} Java worker does`, async function () {
    this.slow(90_000);
    if (!existsSync(FOLDER)) {
      console.log(`      skipped: no recorded scenarios at ${FOLDER}`);
      return this.skip();
    }
    const worker = await startWorker(mode);
    try {
      const { passed, failures, output } = await replay(mode, worker.url, isWanted);
      const [, better = '0'] = /^(\d+) answered better than recorded/m.exec(output) ?? [];
      const known = [...failures.keys()].filter((step) => step in CONNECT_REST_DIFFERENCES);
      console.log(
        `      connect-rest (${mode}): ${String(passed)} of ${String(passed + failures.size)} steps hold ` +
          `(${better} answered better than recorded; known differences: ${known.join(', ') || 'none'})`,
      );
      const unexpected = [...failures].filter(([step]) => !(step in CONNECT_REST_DIFFERENCES));
      assert.deepEqual(unexpected, [], worker.logTail(10));
    } finally {
      await worker.discard();
    }
  });
}
