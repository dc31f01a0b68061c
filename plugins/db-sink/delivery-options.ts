import { declareOptions, oneOf, toError, type ConnectorConfig, type ParsedOptions } from '../../src/index.ts';
import { quoteTable, type TableName } from '../database/index.ts';

const GROUP = 'Delivery';

/** Options that determine whether a record may be written more than once (docs/sink-delivery.md). */
export const deliveryOptions = declareOptions({
  delivery: {
    type: 'STRING',
    default: 'at-least-once',
    importance: 'MEDIUM',
    documentation:
      'Whether rows may be written again after a failure. With `at-least-once`, a row may be written again; in a table with a key, it then replaces itself, or, with `insert.mode=insert`, is refused. With `exactly-once`, no row is written again. For this purpose, offsets are stored in a table of the database, in the same transaction as the rows. When partitions are assigned, their offsets are read from this table.',
    validator: oneOf('at-least-once', 'exactly-once'),
    group: GROUP,
    width: 'SHORT',
    displayName: 'Delivery',
  },
  'offsets.table': {
    type: 'STRING',
    default: 'sluice_offsets',
    importance: 'LOW',
    documentation:
      'Table of the offsets for `exactly-once`, for example `sluice_offsets` or `kafka.offsets`. It is created if it is missing. Connectors may share it.',
    group: GROUP,
    width: 'MEDIUM',
    displayName: 'Table of offsets',
  },
});

export type DeliveryOptions = ParsedOptions<typeof deliveryOptions>;

export function isExactlyOnce(options: DeliveryOptions): boolean {
  return options.delivery === 'exactly-once';
}

export function offsetTableName(options: DeliveryOptions): TableName {
  const text = options['offsets.table'];
  const dot = text.indexOf('.');
  return dot < 0 ? { name: text } : { schema: text.slice(0, dot), name: text.slice(dot + 1) };
}

/** Returns problems with the options, as pairs of option and reason. */
export function deliveryProblems(options: DeliveryOptions): [string, string][] {
  try {
    quoteTable(offsetTableName(options));
    return [];
  } catch (error) {
    return [['offsets.table', toError(error).message]];
  }
}

/** Returns the consumer group of a connector, as named by the worker. */
export function consumerGroup(config: ConnectorConfig, connectorName: string): string {
  return config['consumer.override.group.id'] ?? `connect-${connectorName}`;
}
