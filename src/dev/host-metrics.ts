import { readFile } from 'node:fs/promises';
import { cpus, freemem, hostname, loadavg, totalmem } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Time that a core has spent since boot, in milliseconds. */
export interface CoreTimes {
  readonly user: number;
  readonly system: number;
  readonly idle: number;
  readonly total: number;
}

/** Counters since boot, as the kernel prints them: 64-bit integers, which a JavaScript number cannot hold. */
export interface InterfaceCounters {
  readonly name: string;
  readonly receivedBytes: string;
  readonly receivedPackets: string;
  readonly sentBytes: string;
  readonly sentPackets: string;
}

/** Metrics of this machine at one moment. */
export interface HostSample {
  readonly timeMs: number;
  readonly host: string;
  readonly cores: readonly CoreTimes[];
  readonly memory: { readonly totalBytes: number; readonly availableBytes: number };
  /** Load averages over 1, 5 and 15 minutes. */
  readonly load: readonly number[];
  /** Empty on systems without /proc. */
  readonly interfaces: readonly InterfaceCounters[];
}

async function readHostSample(): Promise<HostSample> {
  const [meminfo, network] = await Promise.all([readProc('meminfo'), readProc('net/dev')]);
  return {
    timeMs: Date.now(),
    host: hostname(),
    cores: cpus().map(({ times }) => {
      const system = times.sys + times.irq;
      const user = times.user + times.nice;
      return { user, system, idle: times.idle, total: user + system + times.idle };
    }),
    memory: { totalBytes: totalmem(), availableBytes: availableBytes(meminfo) ?? freemem() },
    load: loadavg(),
    interfaces: parseInterfaces(network),
  };
}

/**
 * `MemAvailable` of /proc/meminfo: the memory that programs can still allocate, including caches.
 * @internal
 */
export function availableBytes(meminfo: string): number | undefined {
  const kilobytes = /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/**
 * The lines of /proc/net/dev: name, then 8 figures for receiving and 8 for sending, bytes and packets first.
 * @internal
 */
export function parseInterfaces(text: string): readonly InterfaceCounters[] {
  return text.split('\n').flatMap((line) => {
    const [name, figures] = line.split(':');
    const counters = figures?.trim().split(/\s+/) ?? [];
    const [receivedBytes, receivedPackets] = counters;
    const [sentBytes, sentPackets] = counters.slice(8);
    if (name === undefined || receivedBytes === undefined || receivedPackets === undefined) return [];
    if (sentBytes === undefined || sentPackets === undefined) return [];
    return [{ name: name.trim(), receivedBytes, receivedPackets, sentBytes, sentPackets }];
  });
}

/**
 * Renders the sample as line protocol with timestamps in milliseconds. CPU usage, in per cent, is that of the time
 * since `previous`. It is omitted without a previous sample, or if the number of cores has changed.
 * @internal
 */
export function renderHostMetrics(sample: HostSample, previous?: HostSample): readonly string[] {
  const host = `host=${escapeTag(sample.host)}`;
  const time = String(sample.timeMs);
  const { totalBytes, availableBytes: available } = sample.memory;
  const [load1 = 0, load5 = 0, load15 = 0] = sample.load;
  return [
    ...renderCores(sample, previous).map(([core, fields]) => `host_cpu,${host},cpu=${core} ${fields} ${time}`),
    `host_memory,${host} total=${integer(totalBytes)},available=${integer(available)},` +
      `used=${integer(totalBytes - available)},used_percent=${percent(totalBytes - available, totalBytes)} ${time}`,
    `host_load,${host} load1=${float(load1)},load5=${float(load5)},load15=${float(load15)} ${time}`,
    ...sample.interfaces.map(
      (counters) =>
        `host_network,${host},interface=${escapeTag(counters.name)} ` +
        `bytes_recv=${counters.receivedBytes}i,bytes_sent=${counters.sentBytes}i,` +
        `packets_recv=${counters.receivedPackets}i,packets_sent=${counters.sentPackets}i ${time}`,
    ),
  ];
}

/**
 * Yields the metrics of this machine as line protocol, immediately and then every `intervalMs`, until `signal` aborts.
 */
export async function* hostMetrics(intervalMs: number, signal: AbortSignal): AsyncGenerator<readonly string[], void> {
  let previous: HostSample | undefined;
  let dueMs = Date.now();
  while (!signal.aborted) {
    const sample = await readHostSample();
    yield renderHostMetrics(sample, previous);
    previous = sample;
    // Counted from the due time, so that the time that the consumer takes does not lengthen the interval. If the
    // consumer takes longer than an interval, the next sample follows at once.
    dueMs = Math.max(dueMs + intervalMs, Date.now());
    await delay(dueMs - Date.now(), undefined, { signal }).catch(() => undefined);
  }
}

function renderCores(sample: HostSample, previous: HostSample | undefined): readonly (readonly [string, string])[] {
  if (previous?.cores.length !== sample.cores.length || sample.cores.length === 0) return [];
  const spent = sample.cores.map((core, index) => difference(core, previous.cores[index] ?? core));
  const named = spent.map((core, index) => [`cpu${String(index)}`, core] as const);
  return [['cpu-total', spent.reduce(sum)] as const, ...named].map(([name, { user, system, idle, total }]) => {
    const shares = { usage_user: user, usage_system: system, usage_idle: idle };
    const fields = Object.entries(shares).map(([field, part]) => `${field}=${percent(part, total)}`);
    return [name, fields.join(',')] as const;
  });
}

function difference(now: CoreTimes, before: CoreTimes): CoreTimes {
  return {
    user: now.user - before.user,
    system: now.system - before.system,
    idle: now.idle - before.idle,
    total: now.total - before.total,
  };
}

function sum(one: CoreTimes, other: CoreTimes): CoreTimes {
  return {
    user: one.user + other.user,
    system: one.system + other.system,
    idle: one.idle + other.idle,
    total: one.total + other.total,
  };
}

/** `part` in per cent of `whole`, with at most two decimals; 0 if `whole` is 0. */
function percent(part: number, whole: number): string {
  return float(whole > 0 ? (100 * part) / whole : 0);
}

function float(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function integer(value: number): string {
  return `${BigInt(value).toString()}i`;
}

/** Escapes commas, equals signs and spaces. Line protocol does not allow empty tag values. */
function escapeTag(value: string): string {
  return value === '' ? 'unknown' : value.replace(/[,= ]/g, '\\$&');
}

async function readProc(name: string): Promise<string> {
  return readFile(`/proc/${name}`, 'utf8').catch(() => '');
}
