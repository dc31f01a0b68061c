import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchContext, Workload } from './bench-context.ts';
import { rowTime, type CpuProfile, type Group, type RowTime } from './profile.ts';
import { projectRoot } from './worker-under-test.ts';

const SAMPLE_EVERY_US = 250;

const LABELS: Readonly<Record<Group, string>> = {
  fetch: 'fetch: Kafka, codecs, HTTP',
  decode: 'decode: converters, formats',
  batch: 'batch: tasks, row batches',
  encode: 'encode: statements, arrays',
  database: 'database: driver, sockets',
  gc: 'garbage collection',
  other: 'other',
};

export interface Profiled {
  readonly folder: string;
  readonly figures: object;
  readonly time: RowTime;
}

/**
 * Runs a workload with one counted run, and its worker under V8's profiler. The profiles, one for each thread, are saved
 * in a folder of `.sluice/bench`.
 */
export async function profileRun(context: BenchContext, name: string, workload: Workload): Promise<Profiled> {
  const folder = join(projectRoot, '.sluice/bench', name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const nodeFlags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${String(SAMPLE_EVERY_US)}`];
  const figures = await workload({
    ...context,
    runs: 1,
    startWorker: (properties) => context.startWorker(properties, nodeFlags),
  });
  const profiles = await Promise.all((await readdir(folder)).map((name) => readProfile(join(folder, name))));
  if (profiles.length === 0) throw new Error(`no profile was written to ${folder}`);
  return { folder, figures, time: rowTime(profiles, context.stretches, clockOffsetMs()) };
}

async function readProfile(file: string): Promise<CpuProfile> {
  return JSON.parse(await readFile(file, 'utf8')) as CpuProfile;
}

export function formatProfile({ folder, time }: Profiled): string {
  const { usPerRow, waitingUsPerRow, hottest } = time;
  const groups = Object.entries(LABELS).map(([group, label]) => line(label, usPerRow[group as Group]));
  const busy = Object.values(usPerRow).reduce((sum, us) => sum + us, 0);
  const functions = hottest.map(
    ({ place, group, usPerRow: us }) => `  ${us.toFixed(3).padStart(8)}  ${group.padEnd(9)}${place}`,
  );
  return [
    '  where a row’s time goes, µs',
    ...groups,
    line('busy in all', busy),
    line('waiting: database, broker', waitingUsPerRow),
    '  the dearest functions by their own time, µs a row',
    ...functions,
    `  profiles: ${folder}`,
    '\n',
  ].join('\n');
}

function line(label: string, us: number): string {
  return `  ${label.padEnd(34)}${us.toFixed(2).padStart(8)}`;
}

/**
 * Returns the difference between the monotonic clock of the system, which all processes share, and `performance.now()`.
 */
function clockOffsetMs(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}
