import { createHash } from 'node:crypto';
import type { TextOf } from './rows.ts';
import type { TextLayout } from './tables.ts';

/** Rows of TSBS's `cpu-only`: all hosts every 10 seconds, each with 10 tags and 10 fields. */
const HOSTS = 1_000;
const START_S = 1_451_606_400;
const STEP_S = 10;

const REGIONS = ['eu-central-1', 'us-west-2', 'ap-southeast-1', 'sa-east-1', 'us-east-1'];
const TEAMS = ['SF', 'NYC', 'LON', 'CHI'];
const FIELDS = ['user', 'system', 'idle', 'nice', 'iowait', 'irq', 'softirq', 'steal', 'guest', 'guest_nice'];

interface Host {
  /** Names and values, in the order of TSBS. */
  readonly tags: readonly (readonly [string, string])[];
  readonly primaryTag: string;
}

const HOST_LIST: readonly Host[] = Array.from({ length: HOSTS }, (_, host) => {
  const region = REGIONS[host % REGIONS.length] ?? '';
  const tags: Host['tags'] = [
    ['hostname', `host_${String(host)}`],
    ['region', region],
    ['datacenter', `${region}${'abc'.charAt(host % 3)}`],
    ['rack', String((host * 7) % 100)],
    ['os', host % 2 === 0 ? 'Ubuntu16.10' : 'Ubuntu15.10'],
    ['arch', host % 3 === 0 ? 'x86' : 'x64'],
    ['team', TEAMS[host % TEAMS.length] ?? ''],
    ['service', String(host % 20)],
    ['service_version', String(host % 2)],
    ['service_environment', host % 3 === 0 ? 'production' : 'test'],
  ];
  const sorted = tags.map(([name, value]) => `${name}=${value}`).sort();
  return { tags, primaryTag: createHash('sha256').update(sorted.join('')).digest('hex') };
});

/** Every second field is an integer; the others have two decimals. */
function fieldOf(id: number, field: number): number {
  const hundredths = (id * 7_919 + field * 104_729) % 10_000;
  return field % 2 === 0 ? Math.floor(hundredths / 100) : hundredths / 100;
}

function secondsOf(id: number): number {
  return START_S + Math.floor(id / HOSTS) * STEP_S;
}

function hostOf(id: number): Host {
  const host = HOST_LIST[id % HOSTS];
  if (host === undefined) throw new RangeError(String(id));
  return host;
}

/** Returns line protocol with nanoseconds. */
export function tsbsLineOf(table: string): TextOf {
  const heads = HOST_LIST.map(({ tags }) => `${table},${tags.map(([name, value]) => `${name}=${value}`).join(',')} `);
  return (id) => {
    const fields = FIELDS.map((name, at) => `usage_${name}=${String(fieldOf(id, at))}${at % 2 === 0 ? 'i' : ''}`);
    return `${heads[id % HOSTS] ?? ''}${fields.join(',')} ${String(secondsOf(id))}000000000`;
  };
}

/** The table as the line protocol's routes create it. */
export const tsbsTable: TextLayout = {
  columns: [
    'k_timestamp timestamptz not null',
    ...FIELDS.map((name, at) => `usage_${name} ${at % 2 === 0 ? 'int8' : 'float8'}`),
    'primary_tag varchar(64) not null',
    ...(HOST_LIST[0]?.tags ?? []).map(([name]) => `${name} varchar(254)`),
    'primary key (k_timestamp, primary_tag)',
  ].join(', '),
  comments: {
    primary_tag: 'sluice:primary-tag',
    ...Object.fromEntries((HOST_LIST[0]?.tags ?? []).map(([name]) => [name, 'sluice:tag'])),
  },
  copyLine: (id) => {
    const { tags, primaryTag } = hostOf(id);
    const time = new Date(secondsOf(id) * 1_000).toISOString();
    const fields = FIELDS.map((_, at) => String(fieldOf(id, at)));
    return [time, ...fields, primaryTag, ...tags.map(([, value]) => value)].join('\t');
  },
};
