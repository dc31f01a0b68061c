import { createHash } from 'node:crypto';

/** Points of many metrics. Each host reports each metric every 10 seconds; the points are ordered by host. */
export const METRICS = 1_000;
export const HOSTS = 10;
const START_MS = 1_700_000_000_000;
const STEP_MS = 10_000;

export function metricName(metric: number): string {
  return `bench.service-${String(Math.floor(metric / 20))}.metric-${String(metric)}`;
}

function tagsOf(host: number): { readonly host: string; readonly dc: string } {
  return { host: `host-${String(host)}`, dc: `dc-${String(host % 3)}` };
}

const TAG_TEXTS = Array.from({ length: HOSTS }, (_, host) => JSON.stringify(tagsOf(host)));
const PRIMARY_TAGS = Array.from({ length: HOSTS }, (_, host) => {
  const { dc, host: name } = tagsOf(host);
  return createHash('sha256').update(`dc='${dc}'host='${name}'`).digest('hex');
});

/** Returns the value of a metric of a host at a step. */
function valueOf(metric: number, host: number, step: number): number {
  return ((metric * 7_919 + host * 104_729 + step * 31) % 1_000_003) / 100;
}

/** Returns the points of some hosts at one step as a body for `/api/put`. */
export function pointsAt(step: number, hosts: number): string {
  const points: string[] = [];
  for (let host = 0; host < hosts; host++) {
    for (let metric = 0; metric < METRICS; metric++) {
      const value = String(valueOf(metric, host, step));
      const time = String(START_MS + step * STEP_MS);
      points.push(
        `{"metric":"${metricName(metric)}","timestamp":${time},"value":${value},"tags":${TAG_TEXTS[host] ?? ''}}`,
      );
    }
  }
  return `[${points.join(',')}]`;
}

/** The columns of a metric's table as `/api/put` creates it. */
export const POINT_COLUMNS =
  'timestamp timestamptz not null, value float8, primary_tag varchar(64) not null, host varchar(254), dc varchar(254), primary key (timestamp, primary_tag)';

/** Returns all rows of a metric for `COPY … (FORMAT text)`. */
export function copyLines(metric: number, steps: number, hosts: number): string {
  let text = '';
  for (let step = 0; step < steps; step++) {
    const time = new Date(START_MS + step * STEP_MS).toISOString();
    for (let host = 0; host < hosts; host++) {
      const tags = tagsOf(host);
      text += `${time}\t${String(valueOf(metric, host, step))}\t${PRIMARY_TAGS[host] ?? ''}\t${tags.host}\t${tags.dc}\n`;
    }
  }
  return text;
}
