import { atLeast, connectionOptions, declareOptions, nullOr, oneOf, type ParsedOptions } from '../../src/index.ts';
import { deliveryOptions } from './delivery-options.ts';
import { structOptions } from './struct-options.ts';
import { tableOptions } from './table-options.ts';

const WRITES = 'Writes';
const FORMAT = 'Format';

/** The sink's options (spec/stream-connector.md, "Sink configuration parameters", and decisions.md, "Connectors"). */
export const sinkOptions = declareOptions({
  ...connectionOptions,
  'max.retries': {
    type: 'INT',
    default: 3,
    importance: 'MEDIUM',
    documentation:
      'How often a write is tried again, after its first failure, before the task fails. Counted anew for every write.',
    validator: atLeast(0),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Maximum retries',
  },
  'retry.backoff.ms': {
    type: 'INT',
    default: 3,
    importance: 'MEDIUM',
    documentation: 'Milliseconds before a failed write is tried again.',
    validator: atLeast(0),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Retry backoff (ms)',
  },
  'batch.size': {
    type: 'INT',
    default: 1000,
    importance: 'MEDIUM',
    documentation: 'Rows per write. Fewer are written when the database would otherwise wait for them.',
    validator: atLeast(1),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Batch size',
  },
  'dedup.rule': {
    type: 'STRING',
    default: 'override',
    importance: 'MEDIUM',
    documentation:
      'What a row does to a stored row with the same key: `override` replaces it, `merge` replaces the cells it has, `discard` leaves it.',
    validator: oneOf('override', 'merge', 'discard'),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Rule for equal keys',
  },
  ...deliveryOptions,
  ...tableOptions,
  'protocol.type': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'Format of the messages; `struct`: no format, but the data of records as converters read it. A relational database takes `json_db` and `struct` only.',
    validator: oneOf('json_db', 'json_tsd', 'line_tsd', 'line_lp', 'cdc_db', 'struct'),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Message format',
  },
  'timestamp.precision': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Unit of the times in messages. `json_db`: ms (default), us, ns; a relational database: ms only. `line_lp`: ms, us, ns (default). `json_tsd`, `line_tsd`: s, ms; without it 10 digits are seconds and 13 milliseconds. `cdc_db`: ms (default), us, ns.',
    validator: nullOr(oneOf('s', 'ms', 'us', 'ns')),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Timestamp precision',
  },
  'value.type': {
    type: 'STRING',
    default: 'VARCHAR',
    importance: 'LOW',
    documentation:
      'Type of the column `value` in tables that `json_tsd` and `line_tsd` create; `auto`: FLOAT8, BOOL or VARCHAR, as the first value is.',
    validator: oneOf('auto', 'VARCHAR', 'FLOAT8'),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Type of created value columns',
  },
  ...structOptions,
});

export type SinkOptions = ParsedOptions<typeof sinkOptions>;
