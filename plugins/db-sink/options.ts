import { atLeast, connectionOptions, declareOptions, nullOr, oneOf } from '../../src/index.ts';

const WRITES = 'Writes';
const FORMAT = 'Format';

/** The sink's options (spec/stream-connector.md, "Sink configuration parameters", and decisions.md, "Connectors"). */
export const sinkOptions = declareOptions({
  ...connectionOptions,
  'max.retries': {
    type: 'INT',
    default: 3,
    importance: 'MEDIUM',
    documentation: 'How often a write is tried again, after its first failure, before the task fails.',
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
  'unknown.columns': {
    type: 'STRING',
    default: 'fault',
    importance: 'LOW',
    documentation:
      'What happens to a value whose column the table does not have: `fault` refuses the row, `ignore` leaves the value out.',
    validator: oneOf('fault', 'ignore'),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Unknown columns',
  },
  'protocol.type': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'Format of the messages. This version reads `json_db` and `line_lp`; a relational database takes `json_db` only.',
    validator: oneOf('json_db', 'json_tsd', 'line_tsd', 'line_lp', 'cdc_db'),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Message format',
  },
  'timestamp.precision': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Unit of the times in messages. `json_db`: ms (default), us, ns; ms only for a relational database. `line_lp`: ms, us, ns (default).',
    validator: nullOr(oneOf('s', 'ms', 'us', 'ns')),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Timestamp precision',
  },
});
