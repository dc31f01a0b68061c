import { SinkFixture } from './sink-fixture.ts';

export const AT_MS = 1_700_000_000_000;

/** Sinks of cdc_db messages; `newTopic` in a beforeEach hook. */
export class SinkChangesFixture extends SinkFixture {
  topic = '';
  #sent = 0;

  static override async create(): Promise<SinkChangesFixture> {
    return new SinkChangesFixture('changes', await SinkFixture.services('changes'));
  }

  async newTopic(): Promise<void> {
    this.#sent = 0;
    this.topic = await this.topicOf([]);
  }

  /** A message that inserts rows into the columns `ts`, `id` and `v` of a table, unless `more` names others. */
  rows(table: string, values: readonly unknown[][], more: object = {}): string {
    return JSON.stringify({
      kind: 'insert',
      database: this.db.database,
      schema: 'public',
      table,
      columnnames: ['ts', 'id', 'v'],
      columntypes: ['timestamptz', 'int8', 'varchar'],
      columnvalues: values,
      ...more,
    });
  }

  /** A message with a statement. */
  change(kind: string, statement: string, more: object = {}): string {
    return JSON.stringify({ kind, database: this.db.database, schema: 'public', statement, ...more });
  }

  async sendChanges(...messages: string[]): Promise<void> {
    this.#sent += messages.length;
    await this.send(this.topic, messages);
  }

  startChanges(more: Record<string, string> = {}): Promise<string> {
    return this.start(this.topic, { 'protocol.type': 'cdc_db', ...more });
  }

  /** Waits until the sink has committed all that was sent. */
  doneChanges(name: string): Promise<void> {
    return this.done(name, this.#sent);
  }
}
