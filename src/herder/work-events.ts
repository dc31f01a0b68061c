import type { ConnectorEvent } from '../connect/plugins/connector-host.ts';
import { isState, taskText, type TaskEvent } from '../connect/task-assignment.ts';
import type { Failure } from '../connect/task-failure.ts';
import type { MetricWindow } from '../observe/metrics/sampled-stats.ts';
import type { Placement } from './group/placement.ts';
import type { HerderListeners, RestartTarget } from './herder-listener.ts';
import { Startups } from './startups.ts';
import type { StatusWriter } from './status-writer.ts';

/** Handles the events of connectors and tasks: writes the statuses, notifies the listeners and counts the starts. */
export class WorkEvents {
  readonly #statuses: StatusWriter;
  readonly #listeners: HerderListeners;
  readonly #placement: Pick<Placement, 'arrived'>;
  readonly #connectorStarts: Startups;
  readonly #taskStarts: Startups;

  /** `metricWindow` is the window of the metrics of starts. */
  constructor(
    statuses: StatusWriter,
    listeners: HerderListeners,
    placement: Pick<Placement, 'arrived'>,
    metricWindow: MetricWindow,
  ) {
    this.#statuses = statuses;
    this.#listeners = listeners;
    this.#placement = placement;
    this.#connectorStarts = new Startups(metricWindow);
    this.#taskStarts = new Startups(metricWindow);
  }

  /** Numbers and percentages of successful and failed starts, by name of the attribute of `connect-worker-metrics`. */
  startups(): Readonly<Record<string, number>> {
    return { ...this.#connectorStarts.values('connector'), ...this.#taskStarts.values('task') };
  }

  forget(connector: string): void {
    this.#connectorStarts.ended(connector);
  }

  connector(event: Exclude<ConnectorEvent, { readonly state: 'RECONFIGURE' }>): void {
    const { connector: name, state } = event;
    if (state === 'RUNNING') {
      this.#connectorStarts.ended(name);
      this.#connectorStarts.succeeded(name);
    } else if (state === 'FAILED') this.#connectorStarts.failed(name);
    if (event.state === 'FAILED') this.#failed({ connector: name }, event.failure);
    else if (event.state === 'RUNNING') this.#listeners.notify((listener) => listener.onRunning?.({ connector: name }));
    this.#statuses.connector(name, state, event.state === 'FAILED' ? event.trace : null);
  }

  task(event: TaskEvent): void {
    if (event.id.replay !== undefined) {
      this.#listeners.notify((listener) => listener.onReplayEvent?.(event));
      return;
    }
    if (event.state === 'TOPIC') this.#listeners.notify((listener) => listener.onTopic?.(event.id, event.topic));
    else if (event.state !== 'RUNNING') this.#placement.arrived(event.id);
    if (!isState(event)) return;
    const task = taskText(event.id);
    if (event.state === 'FAILED') this.#taskStarts.failed(task);
    else if (event.state === 'STOPPED') this.#taskStarts.ended(task);
    else this.#taskStarts.succeeded(task);
    if (event.state === 'FAILED') this.#failed(event.id, event.failure);
    else if (event.state === 'RUNNING') this.#listeners.notify((listener) => listener.onRunning?.(event.id));
    if (event.state === 'STOPPED') this.#statuses.task(event.id, 'UNASSIGNED');
    else this.#statuses.task(event.id, event.state, event.state === 'FAILED' ? event.trace : null);
  }

  #failed(target: RestartTarget, failure: Failure): void {
    this.#listeners.notify((listener) => listener.onFailed?.(target, failure));
  }
}
