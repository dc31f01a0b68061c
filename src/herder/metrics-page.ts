import { Counter, Gauge, Registry } from 'prom-client';
import type { CollapsedRows } from '../observe/row-counts.ts';

type Labels = Readonly<Record<string, string | number>>;

/** One page of samples. */
export class MetricsPage {
  readonly #registry = new Registry();

  gauge(name: string, help: string, labels: Labels, value: number): void {
    this.#metric(
      name,
      () => new Gauge({ name, help, labelNames: Object.keys(labels), registers: [this.#registry] }),
    ).set(labels, value);
  }

  counter(name: string, help: string, labels: Labels, value: number): void {
    this.#metric(
      name,
      () => new Counter({ name, help, labelNames: Object.keys(labels), registers: [this.#registry] }),
    ).inc(labels, value);
  }

  /** 1 for the state that something is in. */
  state(name: string, help: string, labels: Labels, state: string): void {
    this.gauge(name, help, { ...labels, status: state.toLowerCase() }, 1);
  }

  /** The metric is there without values as well. */
  collapsed(counts: readonly CollapsedRows[]): void {
    const counter = new Counter({
      name: 'sluice_rows_collapsed_total',
      help: 'Rows that became one with a later row of their batch, because both have the same key or fall into one microsecond',
      labelNames: ['connector', 'path'],
      registers: [this.#registry],
    });
    for (const { writer, rows } of counts) counter.inc({ ...writer }, rows);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #metric<M>(name: string, make: () => M): M {
    return (this.#registry.getSingleMetric(name) as M | undefined) ?? make();
  }
}
