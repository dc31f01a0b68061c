import type { WorkerProcess } from '../support/worker-process.ts';
import { SinkFixture } from './sink-fixture.ts';

const AT_MS = 1_700_000_000_000;

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly length?: number;
}

const TIME: Column = { name: 'ts', type: 'TIMESTAMPTZ' };
export const N: Column = { name: 'n', type: 'INT8' };

/** A json_db message with these columns after `ts`, and the tag `site`. */
export function message(table: string, columns: readonly Column[], ...rows: object[]): string {
  const tags = [{ name: 'site', type: 'VARCHAR', length: 16, primary: true, nullable: false }];
  const data = rows.map((row, index) => ({ ts: AT_MS + index, site: 'oslo', ...row }));
  return JSON.stringify({ table, columns: [TIME, ...columns], tags, data });
}

/** Sinks of json_db messages. */
export class SinkTablesFixture extends SinkFixture {
  static override async create(): Promise<SinkTablesFixture> {
    return new SinkTablesFixture('tables', await SinkFixture.services('tables'));
  }

  startJson(topic: string, more: Record<string, string> = {}, sluice: WorkerProcess = this.sluice): Promise<string> {
    return this.start(topic, { 'protocol.type': 'json_db', ...more }, { sluice });
  }

  /** Name and type of a table's columns, in one text each. */
  async typesOf(table: string): Promise<string[]> {
    return (await this.columnsOf(table)).map(([column, type]) => `${column ?? ''} ${type ?? ''}`);
  }
}
