import { atLeast, declareOptions, oneOf } from '../../src/index.ts';

const LOG = 'Write-ahead log';

/** Options of `read.method=log`. */
export const logOptions = declareOptions({
  'log.slot.name': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'With `read.method=log`: the replication slot, which is created if it does not exist. Default: `sluice_` and the name of the connector in lower case, with `_` for each character that is not a letter or a digit. **Drop the slot when you delete the connector.**',
    group: LOG,
    width: 'MEDIUM',
    displayName: 'Slot',
  },
  'log.publication.name': {
    type: 'STRING',
    default: null,
    importance: 'MEDIUM',
    documentation:
      'With `read.method=log`: the publication whose tables are read. Default: the name of the slot. If it does not exist, it is created for the tables that are read, or with `log.ddl` for all tables. Without `log.ddl`, an existing publication that is not FOR ALL TABLES is set to exactly the tables that are read, so do not share it with other subscribers.',
    group: LOG,
    width: 'MEDIUM',
    displayName: 'Publication',
  },
  'log.snapshot.mode': {
    type: 'STRING',
    default: 'initial',
    importance: 'MEDIUM',
    documentation:
      'With `read.method=log`: when whole tables are read before changes. `initial`: if there is no offset, or a snapshot was interrupted. `initial_only`: like `initial`, but no changes are read afterwards. `no_data`: never. `always`: at each start. `when_needed`: like `initial`, and if changes are missing from the log.',
    validator: oneOf('initial', 'initial_only', 'no_data', 'always', 'when_needed'),
    group: LOG,
    width: 'SHORT',
    displayName: 'Snapshot mode',
  },
  'log.ddl': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation:
      'With `out.format=cdc_db`: whether statements that create, change and drop tables are sent too. The source creates event triggers in the database, which only a superuser may do. This option needs `topic.per.stable=false`, so that statements and rows stay in order.',
    group: LOG,
    width: 'SHORT',
    displayName: 'Statements of tables',
  },
  'log.max.lag.bytes': {
    type: 'LONG',
    default: 0,
    importance: 'MEDIUM',
    documentation:
      'With `read.method=log`: maximum number of bytes of its log that the server should keep for the slot; 0 for no limit.',
    validator: atLeast(0),
    group: LOG,
    width: 'SHORT',
    displayName: 'Largest lag (bytes)',
  },
  'log.max.lag.action': {
    type: 'STRING',
    default: 'warn',
    importance: 'MEDIUM',
    documentation:
      'With `read.method=log`: what happens above `log.max.lag.bytes`. `warn`: the health of the connector is DEGRADED, and it keeps running. `fail`: the task fails. `drop-slot`: the task fails and the slot is dropped; its changes are lost.',
    validator: oneOf('warn', 'fail', 'drop-slot'),
    group: LOG,
    width: 'SHORT',
    displayName: 'Action at largest lag',
  },
});
