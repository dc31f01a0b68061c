import { quoteTable } from '../sql/quote.ts';
import type { Stack } from './stack.ts';

export interface ConnectorCount {
  readonly name: string;
  readonly state: string;
  readonly tasks: readonly string[];
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
    const [rows, records] = await Promise.all([this.#rows(), this.#records()]);
    return {
      sinkRows: rows - this.#rowsBefore,
      sourceRecords: records - this.#recordsBefore,
      connectors: this.#connectors(),
    };
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

  #connectors(): ConnectorCount[] {
    const { herder } = this.#stack.worker;
    return herder.directory.names().map((name) => {
      try {
        const { connector, tasks } = herder.directory.status(name);
        return { name, state: connector.state, tasks: tasks.map(([, { state }]) => state) };
      } catch {
        return { name, state: 'UNASSIGNED', tasks: [] };
      }
    });
  }
}
