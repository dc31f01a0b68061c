import { postgresLogSource } from '../../plugins/log-source/plugin.ts';
import { silentLogger, type SourceCoordinates, type SourceRecord, type SourceTask } from '../../src/index.ts';
import { until } from './until.ts';

/**
 * A task of the log source without a worker. What it returns counts as stored at once; its offset is kept from start to start.
 *
 * stopped --start--> started --stop--> stopped
 */
export class LogSourceRun {
  readonly records: SourceRecord[] = [];
  offset: SourceCoordinates | null = null;
  #task: SourceTask | undefined;
  #abort = new AbortController();

  get task(): SourceTask {
    if (this.#task === undefined) throw new Error('The task is not started');
    return this.#task;
  }

  /** Returns the value of the metric whose name ends like this. */
  metric(name: string): number | undefined {
    return this.task.metrics?.().find((each) => each.name.endsWith(`_${name}`))?.value;
  }

  /** Starts the task. Rejects if the task does. */
  async start(config: Readonly<Record<string, string>>): Promise<void> {
    this.#abort = new AbortController();
    this.#task = postgresLogSource.createTask(config);
    await this.#task.start({
      connectorName: config['topic.prefix'] ?? '',
      taskIndex: 0,
      config,
      logger: silentLogger,
      signal: this.#abort.signal,
      offset: () => Promise.resolve(this.offset),
    });
  }

  /** Polls the task. Rejects if the task does. */
  async poll(): Promise<void> {
    const polled = await this.task.poll();
    for (const each of polled) {
      if ('error' in each) throw each.error;
      if ('topic' in each) this.records.push(each);
      this.offset = each.sourceOffset;
      this.task.commitRecord?.(each);
    }
    if (polled.length === 0) return;
    // A commit confirms the records that were acknowledged before the previous commit.
    await this.task.commit?.();
    await this.task.commit?.();
  }

  async pollUntil(isReached: () => boolean | Promise<boolean>, what: string): Promise<void> {
    await until(async () => {
      await this.poll();
      return isReached();
    }, what);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#task?.stop();
    this.#task = undefined;
  }
}
