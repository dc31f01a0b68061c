import {
  DataError,
  declareOptions,
  JavaPattern,
  parseOptions,
  Schema,
  Struct,
  type ConnectRecord,
  type ConnectValue,
  type Header,
} from '../../../src/index.ts';
import { changeEvent, structField } from './change-event.ts';
import { debeziumTransform } from './declaration.ts';

const options = declareOptions({
  'table.field.event.id': {
    type: 'STRING',
    default: 'id',
    importance: 'LOW',
    documentation: 'Column with the id of the event, which becomes the header `id`.',
  },
  'table.field.event.key': {
    type: 'STRING',
    default: 'aggregateid',
    importance: 'LOW',
    documentation: 'Column that becomes the key of the record.',
  },
  'table.field.event.timestamp': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation: 'Column with the time of the record. Default: the time at which the event was made (`ts_ms`).',
  },
  'table.field.event.payload': {
    type: 'STRING',
    default: 'payload',
    importance: 'LOW',
    documentation: 'Column that becomes the value of the record.',
  },
  'table.fields.additional.placement': {
    type: 'LIST',
    default: [],
    importance: 'HIGH',
    documentation: 'More columns and where they go, such as `type:header:eventType,tenant:envelope,shard:partition`.',
  },
  'route.by.field': {
    type: 'STRING',
    default: 'aggregatetype',
    importance: 'HIGH',
    documentation: 'Column that decides the topic.',
  },
  'route.topic.regex': {
    type: 'STRING',
    default: '(?<routedByValue>.*)',
    importance: 'LOW',
    documentation: 'Regular expression for the value of the column `route.by.field`.',
  },
  'route.topic.replacement': {
    type: 'STRING',
    default: 'outbox.event.${routedByValue}',
    importance: 'HIGH',
    documentation: 'Topic, with groups of route.topic.regex.',
  },
  'route.tombstone.on.empty.payload': {
    type: 'BOOLEAN',
    default: false,
    importance: 'HIGH',
    documentation: 'Whether an empty payload becomes a record without a value.',
  },
  'table.op.invalid.behavior': {
    type: 'STRING',
    default: 'warn',
    importance: 'LOW',
    documentation: 'What happens to updates of the table: `warn` and `error` skip them, `fatal` fails the task.',
  },
});

interface Placement {
  readonly column: string;
  readonly place: string;
  readonly name: string;
}

/**
 * `io.debezium.transforms.outbox.EventRouter`: converts the rows that are inserted into an outbox table to events, and
 * routes them to topics.
 */
export const eventRouter = debeziumTransform('outbox.EventRouter', options, (config) => {
  const parsed = parseOptions(options, config, { errors: 'first' });
  const pattern = JavaPattern.compile(parsed['route.topic.regex']);
  const placements = parsed['table.fields.additional.placement'].map((entry): Placement => {
    const [column = '', place = '', name = column] = entry.split(':').map((part) => part.trim());
    return { column, place: place.toLowerCase(), name };
  });
  const timeColumn = parsed['table.field.event.timestamp'];

  return {
    apply<R extends ConnectRecord>(record: R): R | null {
      const event = changeEvent(record);
      if (event === undefined) return record.value === null ? null : record;
      const operation = event.get('op');
      const row = structField(event, 'after');
      if (operation === 'd' || operation === 't' || row === null) return null;
      if (operation === 'u') {
        if (parsed['table.op.invalid.behavior'] !== 'fatal') return null;
        throw new DataError(`Unexpected update message received ${record.topic}`);
      }
      const id = cell(row, parsed['table.field.event.id']);
      const headers: Header[] = [...record.headers, { key: 'id', schema: id.schema, value: id.value }];
      const payload = cell(row, parsed['table.field.event.payload']);
      let partition = record.partition;
      const extra: { name: string; schema: Schema; value: ConnectValue }[] = [];
      for (const { column, place, name } of placements) {
        const { schema, value } = cell(row, column);
        if (place === 'header') headers.push({ key: name, schema, value });
        else if (place === 'partition') partition = Number(value);
        else extra.push({ name, schema, value });
      }
      const value = extra.length === 0 ? payload : enveloped(payload, extra);
      const isEmpty = payload.value === null && parsed['route.tombstone.on.empty.payload'];
      const key =
        row.schema.field(parsed['table.field.event.key']) === undefined
          ? undefined
          : cell(row, parsed['table.field.event.key']);
      const routedBy = cell(row, parsed['route.by.field']).value;
      const time = timeColumn === null ? event.get('ts_ms') : cell(row, timeColumn).value;
      return {
        ...record,
        topic: pattern.replaceFirst(typeof routedBy === 'string' ? routedBy : '', parsed['route.topic.replacement']),
        partition,
        keySchema: key?.schema ?? null,
        key: key?.value ?? null,
        valueSchema: isEmpty ? null : value.schema,
        value: isEmpty ? null : value.value,
        timestamp: millis(time),
        headers,
      };
    },
  };
});

function cell(row: Struct, column: string): { readonly schema: Schema; readonly value: ConnectValue } {
  const field = row.schema.field(column);
  if (field === undefined) throw new DataError(`Unable to find field ${column} in event`);
  return { schema: field.schema, value: row.get(column) };
}

function enveloped(
  payload: { readonly schema: Schema; readonly value: ConnectValue },
  extra: readonly { readonly name: string; readonly schema: Schema; readonly value: ConnectValue }[],
): { readonly schema: Schema; readonly value: ConnectValue } {
  const fields = [{ name: 'payload', schema: payload.schema }, ...extra.map(({ name, schema }) => ({ name, schema }))];
  const schema = Schema.struct(fields);
  return { schema, value: new Struct(schema, [payload.value, ...extra.map(({ value }) => value)]) };
}

/** Converts the value of a time column to milliseconds. A large number is taken as microseconds. */
function millis(time: ConnectValue): number | null {
  if (time instanceof Date) return time.getTime();
  if (typeof time === 'string') return Date.parse(time);
  if (typeof time !== 'bigint' && typeof time !== 'number') return null;
  const value = Number(time);
  return Math.abs(value) > 1e14 ? Math.floor(value / 1000) : value;
}
