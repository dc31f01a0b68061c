import type { Stretch } from './stretch.ts';

/** The parts into which the time of a row is divided; `other` is the rest. */
const GROUPS = ['fetch', 'decode', 'batch', 'encode', 'database', 'gc', 'other'] as const;
export type Group = (typeof GROUPS)[number];

/** The profile of one thread as V8 writes it. Times are microseconds of the monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

export interface HotFunction {
  /** `name file:line`. */
  readonly place: string;
  readonly group: Group;
  readonly usPerRow: number;
}

export interface RowTime {
  /** Microseconds of CPU per row. */
  readonly usPerRow: Readonly<Record<Group, number>>;
  /** Microseconds per row in which the busiest thread waited for the database or the broker. */
  readonly waitingUsPerRow: number;
  /** Functions by their own time, without calls; the most expensive first. */
  readonly hottest: readonly HotFunction[];
}

/** Paths of Sluice's code. If one path is inside another, the longer path comes first. */
const OWN_CODE: readonly (readonly [string, Group])[] = [
  ['src/kafka/', 'fetch'],
  ['plugins/database-http/', 'fetch'],
  ['src/converters/', 'decode'],
  ['src/transforms/', 'decode'],
  ['src/json/', 'decode'],
  ['src/connect/record-converter', 'decode'],
  ['src/connect/transformation', 'decode'],
  ['plugins/database/formats/', 'decode'],
  ['src/connect/', 'batch'],
  ['src/data/row-batch', 'batch'],
  ['plugins/database/sql/', 'encode'],
  ['plugins/database/executor/encode', 'encode'],
  ['plugins/database/executor/batch', 'encode'],
  ['plugins/database/executor/table-preparation', 'encode'],
  ['plugins/database/executor/planned-batch', 'encode'],
  ['plugins/database/executor/row-selection', 'encode'],
  ['plugins/database/executor/write-plan', 'encode'],
  ['plugins/database/executor/', 'database'],
  ['plugins/', 'batch'],
];

const PACKAGES: Readonly<Record<string, Group>> = {
  kafkajs: 'fetch',
  snappy: 'fetch',
  '@napi-rs/snappy': 'fetch',
  'lz4-napi': 'fetch',
  fzstd: 'fetch',
  koa: 'fetch',
  pg: 'database',
  'pg-protocol': 'database',
  'pg-cursor': 'database',
  'pg-pool': 'database',
  'pg-types': 'database',
  'postgres-bytea': 'database',
};

const HOTTEST = 15;

/**
 * Divides the CPU time of the threads of a process within some periods among the packages of its code. Code outside
 * these packages (Node's own code, `src/data`) counts for the package that called it. Node's code that calls into
 * packages, such as reads of a socket, is divided in the proportion of the code that it calls.
 */
export function rowTime(
  profiles: readonly CpuProfile[],
  stretches: readonly Stretch[],
  clockOffsetMs: number,
): RowTime {
  const rows = stretches.reduce((sum, stretch) => sum + stretch.rows, 0);
  const wallUs = stretches.reduce((sum, { fromMs, toMs }) => sum + (toMs - fromMs) * 1000, 0);
  const functions: FunctionTimes = new Map();
  const threads = profiles.map((profile) => {
    return new CallTree(profile, selfTimes(profile, stretches, clockOffsetMs), functions).divide();
  });
  const totals = noTime();
  for (const thread of threads) add(totals, thread, 1);
  const busiestUs = Math.max(...threads.map(busy));
  return {
    usPerRow: perRow(totals, rows),
    waitingUsPerRow: Math.max(0, wallUs - busiestUs) / rows,
    hottest: hottestOf(functions).map(({ place, group, us }) => ({ place, group, usPerRow: us / rows })),
  };
}

function selfTimes(profile: CpuProfile, stretches: readonly Stretch[], clockOffsetMs: number): Map<number, number> {
  const windows = stretches.map(({ fromMs, toMs }) => [fromMs, toMs].map((ms) => (ms + clockOffsetMs) * 1000));
  const self = new Map<number, number>();
  let atUs = profile.startTime;
  profile.samples.forEach((id, index) => {
    atUs += profile.timeDeltas[index] ?? 0;
    if (!windows.some(([from = 0, to = 0]) => atUs >= from && atUs < to)) return;
    self.set(id, (self.get(id) ?? 0) + Math.max(0, profile.timeDeltas[index + 1] ?? 0));
  });
  return self;
}

type Totals = Record<Group, number>;

/** The own times of functions, by place. */
type FunctionTimes = Map<string, { readonly group: Group; us: number }>;

class CallTree {
  readonly #nodes: ReadonlyMap<number, ProfileNode>;
  readonly #self: ReadonlyMap<number, number>;
  readonly #root: number;
  readonly #functions: FunctionTimes;

  /** @param functions receives the own times of the thread's functions */
  constructor({ nodes }: CpuProfile, self: ReadonlyMap<number, number>, functions: FunctionTimes) {
    this.#nodes = new Map(nodes.map((node) => [node.id, node]));
    this.#self = self;
    this.#root = nodes[0]?.id ?? 0;
    this.#functions = functions;
  }

  divide(): Totals {
    return this.#divide(this.#root, undefined);
  }

  #divide(id: number, caller: Group | undefined): Totals {
    const node = this.#nodes.get(id);
    const totals = noTime();
    if (node === undefined || node.callFrame.functionName === '(idle)') return totals;
    const group = groupOf(node.callFrame) ?? caller;
    for (const child of node.children ?? []) add(totals, this.#divide(child, group), 1);
    const us = this.#self.get(id) ?? 0;
    if (us === 0) return totals;
    const below = busy(totals);
    this.#note(node, group ?? 'other', us);
    if (group === undefined && below > 0) add(totals, totals, us / below);
    else totals[group ?? 'other'] += us;
    return totals;
  }

  #note({ callFrame: { functionName, url, lineNumber } }: ProfileNode, group: Group, us: number): void {
    const file = url === '' ? '' : ` ${shortPath(url)}:${String(lineNumber + 1)}`;
    const place = `${functionName === '' ? '(anonymous)' : functionName}${file}`;
    const noted = this.#functions.get(place) ?? { group, us: 0 };
    noted.us += us;
    this.#functions.set(place, noted);
  }
}

function hottestOf(functions: FunctionTimes): { place: string; group: Group; us: number }[] {
  const places = [...functions].map(([place, { group, us }]) => ({ place, group, us }));
  return places.sort((a, b) => b.us - a.us).slice(0, HOTTEST);
}

function groupOf({ functionName, url }: ProfileNode['callFrame']): Group | undefined {
  if (functionName === '(garbage collector)') return 'gc';
  if (functionName === '(program)') return 'other';
  const path = shortPath(url);
  if (path.startsWith('node_modules/')) return PACKAGES[packageOf(path)];
  return OWN_CODE.find(([prefix]) => path.startsWith(prefix))?.[1];
}

function shortPath(url: string): string {
  return /(?:^|\/)((?:node_modules|src|plugins)\/(?!.*\/node_modules\/).*)$/.exec(url)?.[1] ?? url;
}

function packageOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}

function perRow(totals: Totals, rows: number): Totals {
  const each = noTime();
  for (const group of GROUPS) each[group] = totals[group] / rows;
  return each;
}

function noTime(): Totals {
  return { fetch: 0, decode: 0, batch: 0, encode: 0, database: 0, gc: 0, other: 0 };
}

function busy(totals: Totals): number {
  return GROUPS.reduce((sum, group) => sum + totals[group], 0);
}

function add(totals: Totals, more: Totals, factor: number): void {
  for (const group of GROUPS) totals[group] += more[group] * factor;
}
