import { Counter, Registry } from 'prom-client';

/** Metrics of rows on their way into databases, whoever writes them; a part of the page of metrics. */
export const rowMetrics = new Registry();

const collapsed = new Counter({
  name: 'sluice_rows_collapsed_total',
  help: 'Rows that became one with a later row of their batch, because both have the same key or fall into one microsecond',
  labelNames: ['connector', 'path'],
  registers: [rowMetrics],
});

/** `writer`: the connector, or the path of the HTTP API. */
export function countCollapsed(writer: { readonly connector: string } | { readonly path: string }, rows: number): void {
  if (rows > 0) collapsed.inc({ ...writer }, rows);
}
