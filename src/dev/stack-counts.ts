import { within } from '../async/within.ts';
import type { Admin, ClientProperties } from '../kafka/api.ts';
import { quoteTable } from '../../plugins/database/index.ts';
import { Gauge, type Outage } from './gauge.ts';
import type { Stack } from './stack.ts';

export interface ConnectorCount {
  readonly name: string;
  readonly state: string;
  readonly tasks: readonly string[];
  /** Missing topics of a sink. */
  readonly waitsFor: readonly string[];
}

/** The numbers of rows and records that were added since the first count, and the states of the connectors. */
export interface Moved {
  readonly sinkRows: number;
  readonly sourceRecords: number;
  readonly connectors: readonly ConnectorCount[];
  /** Services that do not answer. The counts of such a service are those of its last answer. */
  readonly away: readonly Outage[];
}

type CountedStack = Pick<Stack, 'executor' | 'kafka' | 'worker'>;

/** Timeouts of one request to a broker that may be unreachable. */
const IMPATIENT: ClientProperties = {
  'socket.connection.setup.timeout.ms': '2000',
  'request.timeout.ms': '4000',
  'default.api.timeout.ms': '4000',
};
/** How long one call of `read` waits for services that may be unreachable. */
const READ_LIMIT_MS = 2000;

/**
 * Counts rows in the database and records on the broker, so that the counts include only delivered data. The services
 * may be unreachable.
 */
export class StackCounts {
  readonly #stack: CountedStack;
  readonly #admin: Admin;
  readonly #rows: Gauge;
  readonly #records: Gauge;
  #rowsBefore: number | undefined;
  #recordsBefore: number | undefined;
  #connectors: readonly ConnectorCount[] = [];

  constructor(stack: CountedStack) {
    this.#stack = stack;
    this.#admin = stack.kafka.admin(IMPATIENT);
    this.#rows = new Gauge('PostgreSQL', () => this.#countRows());
    this.#records = new Gauge('Kafka', () => this.#countRecords());
  }

  /**
   * Counts the rows and records that were added since the first answer of each service. Never rejects, and takes at
   * most two seconds.
   */
  async read(): Promise<Moved> {
    const connectors = this.#countConnectors().then((counts) => (this.#connectors = counts));
    await Promise.all([
      this.#rows.read(READ_LIMIT_MS),
      this.#records.read(READ_LIMIT_MS),
      within(connectors, READ_LIMIT_MS),
    ]);
    this.#rowsBefore ??= this.#rows.value;
    this.#recordsBefore ??= this.#records.value;
    return {
      sinkRows: (this.#rows.value ?? 0) - (this.#rowsBefore ?? 0),
      sourceRecords: (this.#records.value ?? 0) - (this.#recordsBefore ?? 0),
      connectors: this.#connectors,
      away: [this.#records.outage, this.#rows.outage].filter((outage) => outage !== undefined),
    };
  }

  async close(): Promise<void> {
    await this.#admin.close();
  }

  async #countRows(): Promise<number> {
    const { executor } = this.#stack;
    const tables = await executor.catalogue.list();
    if (tables.length === 0) return 0;
    const counts = tables.map(({ name }) => `(select count(*) from ${quoteTable(name)})`).join(' + ');
    const { rows } = await executor.query(`select ${counts}`);
    return Number(rows[0]?.[0] ?? 0);
  }

  /** The sum of the end offsets of the topics that the sample sources write. */
  async #countRecords(): Promise<number> {
    const topics = (await this.#admin.topics()).filter((topic) => /^dev-.*-(?:json_db|struct)$/.test(topic));
    const ends = await Promise.all(topics.map((topic) => this.#admin.endOffsets(topic)));
    return ends.flat().reduce((sum, { offset }) => sum + offset, 0);
  }

  #countConnectors(): Promise<ConnectorCount[]> {
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
        // The connector was just created or deleted.
        return { name, state: 'UNASSIGNED', tasks: [], waitsFor: [] };
      }
    };
    return Promise.all(herder.directory.names().map(one));
  }
}
