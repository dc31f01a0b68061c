import { quoteTable } from '../sql/quote.ts';
import type { Stack } from './stack.ts';

export interface ConnectorCount {
  readonly name: string;
  readonly state: string;
  readonly tasks: readonly string[];
  /** Topics that a sink reads and that do not exist. */
  readonly waitsFor: readonly string[];
}

/** What has moved since the stack was started: rows that the tables hold more, records that the topics hold more. */
export interface Moved {
  readonly sinkRows: number;
  readonly sourceRecords: number;
  readonly connectors: readonly ConnectorCount[];
}

/** Counts in the database and on the broker, not in the worker: what is there has arrived. */
export class StackCounts {
  readonly #stack: Stack;
  #rowsBefore = 0;
  #recordsBefore = 0;

  private constructor(stack: Stack) {
    this.#stack = stack;
  }

  static async start(stack: Stack): Promise<StackCounts> {
    const counts = new StackCounts(stack);
    [counts.#rowsBefore, counts.#recordsBefore] = await Promise.all([counts.#rows(), counts.#records()]);
    return counts;
  }

  async read(): Promise<Moved> {
    const [rows, records, connectors] = await Promise.all([this.#rows(), this.#records(), this.#connectors()]);
    return { sinkRows: rows - this.#rowsBefore, sourceRecords: records - this.#recordsBefore, connectors };
  }

  async #rows(): Promise<number> {
    const { executor } = this.#stack;
    const tables = await executor.catalogue.list();
    if (tables.length === 0) return 0;
    const counts = tables.map(({ name }) => `(select count(*) from ${quoteTable(name)})`).join(' + ');
    const { rows } = await executor.query(`select ${counts}`);
    return Number(rows[0]?.[0] ?? 0);
  }

  /** Ends of the topics that the sample source writes. */
  async #records(): Promise<number> {
    const admin = this.#stack.kafka.admin();
    try {
      const topics = (await admin.topics()).filter((topic) => /^dev-.*-json_db$/.test(topic));
      const ends = await Promise.all(topics.map((topic) => admin.endOffsets(topic)));
      return ends.flat().reduce((sum, { offset }) => sum + offset, 0);
    } finally {
      await admin.close();
    }
  }

  #connectors(): Promise<ConnectorCount[]> {
    const { herder } = this.#stack.worker;
    const one = async (name: string): Promise<ConnectorCount> => {
      try {
        const { connector, tasks } = herder.directory.status(name);
        const parts = await Promise.all(tasks.map(([task]) => herder.requests.taskParts({ connector: name, task })));
        const waiting = parts.flat().filter(({ state }) => state === 'WAITING');
        return {
          name,
          state: connector.state,
          tasks: tasks.map(([, { state }]) => state),
          waitsFor: [...new Set(waiting.map((part) => part.name))],
        };
      } catch {
        // Created, or deleted, a moment ago.
        return { name, state: 'UNASSIGNED', tasks: [], waitsFor: [] };
      }
    };
    return Promise.all(herder.directory.names().map(one));
  }
}
