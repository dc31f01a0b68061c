import { atLeast, declareOptions, nullOr, oneOf, type ParsedOptions } from '../../src/index.ts';
import { connectionOptions, NANOSECOND_RULES } from '../database/index.ts';
import { deliveryOptions } from './delivery-options.ts';
import { structOptions } from './struct-options.ts';
import { tableOptions } from './table-options.ts';

const WRITES = 'Writes';
const FORMAT = 'Format';

/** The sink's options (docs/sink-options.md). */
export const sinkOptions = declareOptions({
  ...connectionOptions,
  'max.retries': {
    type: 'INT',
    default: 3,
    importance: 'MEDIUM',
    documentation:
      'Number of retries of a failed write before the task fails. The count starts again with every write.',
    validator: atLeast(0),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Maximum retries',
  },
  'retry.backoff.ms': {
    type: 'INT',
    default: 3,
    importance: 'MEDIUM',
    documentation: 'Milliseconds before a failed write is retried; up to 50 % are added at random.',
    validator: atLeast(0),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Retry backoff (ms)',
  },
  'batch.size': {
    type: 'INT',
    default: 1000,
    importance: 'MEDIUM',
    documentation:
      'Number of rows at which a write is full. With `batch.size.auto`, this is only the initial number. A write is also full when its messages have 8 MB. It consists of whole messages, so a message with many rows may exceed these limits. A smaller batch is written when no more records are pending.',
    validator: atLeast(1),
    group: WRITES,
    width: 'SHORT',
    displayName: 'Batch size',
  },
  'batch.size.auto': {
    type: 'BOOLEAN',
    default: true,
    importance: 'MEDIUM',
    documentation:
      'Whether writes grow while there is a backlog. Writes start with `batch.size` rows, grow up to 10,000 rows while a write takes less than about 100 ms, and shrink, but not below `batch.size`, when a write takes more than 200 ms. With `false`, a write is always full at `batch.size` rows.',
    group: WRITES,
    width: 'SHORT',
    displayName: 'Larger batches for a backlog',
  },
  'dedup.rule': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'What happens to a row whose key is already in the table or earlier in the batch. `override` replaces the earlier row. `merge` replaces only the cells that the new row has. `discard` keeps the earlier row. Default: `merge` for `line_lp`, because lines with the same series and time are one point; otherwise `override`.',
    validator: nullOr(oneOf('override', 'merge', 'discard')),
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
      'Format of the messages. `struct` is for records with fields, as a converter returns them; messages of the other formats are texts. A database that is marked as relational accepts only `json_db` and `struct`.',
    validator: oneOf('json_db', 'json_tsd', 'line_tsd', 'line_lp', 'cdc_db', 'struct'),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Message format',
    dependents: Object.keys(structOptions),
  },
  'timestamp.precision': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'Unit of the times in messages. `json_db`: `ms` (default), `us`, `ns`; in a database that is marked as relational, only `ms`. `cdc_db`: `ms` (default), `us`, `ns`. `line_lp`: `ms`, `us`, `ns` (default). `json_tsd`, `line_tsd`: `s`, `ms`; without this option, the number of digits decides: up to 10 are seconds, up to 13 milliseconds, up to 16 microseconds, up to 19 nanoseconds. `struct`: no effect.',
    validator: nullOr(oneOf('s', 'ms', 'us', 'ns')),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Timestamp precision',
  },
  nanoseconds: {
    type: 'STRING',
    default: 'floor',
    importance: 'LOW',
    documentation:
      'For `line_lp`, `json_tsd`, `line_tsd`: what happens to nanoseconds in the times of lines and points; PostgreSQL stores microseconds. `floor` drops nanoseconds, so that points of a series within one microsecond become one row. `spread` moves a point to the next microsecond that is free for its series in the same record. `column` stores the nanoseconds in a key column `k_nanos`, which only tables that were created with `column` have.',
    validator: oneOf(...NANOSECOND_RULES),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Nanoseconds',
  },
  'value.type': {
    type: 'STRING',
    default: 'VARCHAR',
    importance: 'LOW',
    documentation:
      'Type of the column `value` in tables that `json_tsd` and `line_tsd` create. `auto` chooses FLOAT8, BOOL or VARCHAR by the first value.',
    validator: oneOf('auto', 'VARCHAR', 'FLOAT8'),
    group: FORMAT,
    width: 'SHORT',
    displayName: 'Type of created value columns',
  },
  ...structOptions,
});

export type SinkOptions = ParsedOptions<typeof sinkOptions>;
