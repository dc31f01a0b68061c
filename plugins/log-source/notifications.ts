import { randomUUID } from 'node:crypto';
import { Schema, Struct, type SourceCoordinates, type SourceRecord } from '../../src/index.ts';

const TEXT = new Schema('string');
const PREFIX = 'io.debezium.connector.common';

const KEY = Schema.struct([{ name: 'id', schema: TEXT }], { name: `${PREFIX}.NotificationKey`, version: 1 });

const VALUE = Schema.struct(
  [
    { name: 'id', schema: TEXT },
    { name: 'type', schema: TEXT },
    { name: 'aggregate_type', schema: TEXT },
    { name: 'additional_data', schema: Schema.map(TEXT, TEXT, { optional: true }) },
    { name: 'timestamp', schema: new Schema('int64') },
  ],
  { name: `${PREFIX}.NotificationValue`, version: 1 },
);

/** Makes records that report the progress of a snapshot (`notification.enabled.channels=sink`). All of them have the same ID. */
export class SnapshotNotifications {
  readonly #topic: string;
  readonly #connector: string;
  readonly #tables: string;
  readonly #id = randomUUID();

  /** @param tables `schema.table` of each table that is read */
  constructor(topic: string, connector: string, tables: readonly string[]) {
    this.#topic = topic;
    this.#connector = connector;
    this.#tables = tables.join(',');
  }

  record(type: string, data: Readonly<Record<string, string>>, offset: SourceCoordinates): SourceRecord {
    const own = Object.keys(data).length === 0 ? {} : { data_collections: this.#tables };
    const additional = new Map(Object.entries({ connector_name: this.#connector, ...own, ...data }));
    return {
      topic: this.#topic,
      partition: null,
      keySchema: KEY,
      key: new Struct(KEY, [this.#id]),
      valueSchema: VALUE,
      value: new Struct(VALUE, [this.#id, type, 'Initial Snapshot', additional, BigInt(Date.now())]),
      timestamp: null,
      headers: [],
      sourcePartition: { server: this.#connector },
      sourceOffset: offset,
    };
  }
}
