import { declareOptions, type OptionDeclaration } from './option.ts';
import {
  atLeast,
  distinctList,
  nonEmptyString,
  nonEmptyStringWithoutControlChars,
  nullOr,
  oneOf,
  oneOfIgnoringCase,
  uniqueAliases,
  validRegex,
} from './validators.ts';

/**
 * The options that Kafka Connect defines for connectors (ConnectorConfig, SinkConnectorConfig and SourceConnectorConfig
 * 4.3 in org.apache.kafka.connect.runtime). Names, order, groups, widths and defaults are part of the response of
 * `/config/validate`. Options that depend on installed plugins are in plugin-options.ts.
 */

const COMMON = 'Common';
const ERRORS = 'Error Handling';

function converterClass(what: string, order: number, interfaceName: string) {
  return {
    type: 'CLASS',
    default: null,
    importance: 'LOW',
    documentation: `Converter between records and the bytes in Kafka for ${what.toLowerCase()}s; the worker's converter when absent. Its settings are sub-keys, which apply only if the class is set here.`,
    group: COMMON,
    order,
    width: 'SHORT',
    displayName: `${what} converter class`,
    validator: anyClassOf(interfaceName),
  } as const satisfies OptionDeclaration;
}

/**
 * A validator that accepts every value, because the class is checked when it is looked up. Its text is that of the two
 * validators that Connect has for this option.
 */
function anyClassOf(interfaceName: string) {
  const text = `A concrete subclass of org.apache.kafka.connect.storage.${interfaceName}, A class with a public, no-argument constructor`;
  return { text, check: () => undefined };
}

function pluginVersion<const Importance extends 'LOW' | 'MEDIUM'>(
  what: string,
  order: number,
  width: 'SHORT' | 'MEDIUM',
  importance: Importance,
) {
  return {
    type: 'STRING',
    default: null,
    importance,
    documentation: `Version of the ${what.toLowerCase()}; the newest installed one when absent.`,
    group: COMMON,
    order,
    width,
    displayName: `${what} version`,
  } as const satisfies OptionDeclaration;
}

export const commonConnectorOptions = declareOptions({
  name: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'Name of the connector, unique in the cluster.',
    group: COMMON,
    order: 1,
    width: 'MEDIUM',
    displayName: 'Connector name',
    validator: nonEmptyStringWithoutControlChars,
  },
  'connector.class': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'Class of the connector: its full name, its simple name, or the simple name without `Connector` at its end.',
    group: COMMON,
    order: 2,
    width: 'LONG',
    displayName: 'Connector class',
  },
  'connector.plugin.version': pluginVersion('Connector', 3, 'MEDIUM', 'MEDIUM'),
  'tasks.max': {
    type: 'INT',
    default: 1,
    importance: 'HIGH',
    documentation: 'Maximum number of tasks into which the connector may be divided.',
    group: COMMON,
    order: 4,
    width: 'SHORT',
    displayName: 'Tasks max',
    validator: atLeast(1),
  },
  'tasks.max.enforce': {
    type: 'BOOLEAN',
    default: true,
    importance: 'LOW',
    documentation:
      'Deprecated. Whether a connector that makes more tasks than `tasks.max` fails; `false` lets it run them.',
    group: COMMON,
    order: 5,
    width: 'SHORT',
    displayName: 'Enforce tasks max',
  },
  'key.converter': converterClass('Key', 6, 'Converter'),
  'key.converter.plugin.version': pluginVersion('Key converter', 7, 'SHORT', 'LOW'),
  'value.converter': converterClass('Value', 8, 'Converter'),
  'value.converter.plugin.version': pluginVersion('Value converter', 9, 'SHORT', 'LOW'),
  'header.converter': converterClass('Header', 10, 'HeaderConverter'),
  'header.converter.plugin.version': pluginVersion('Header converter', 11, 'SHORT', 'LOW'),
  transforms: {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: 'Aliases of the transformations that records go through, in this order.',
    group: 'Transforms',
    order: 12,
    width: 'LONG',
    displayName: 'Transforms',
    validator: uniqueAliases('transformation aliases', 'Duplicate alias provided.'),
  },
  predicates: {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: 'Aliases of the predicates that transformations can depend on.',
    group: 'Predicates',
    order: 13,
    width: 'LONG',
    displayName: 'Predicates',
    validator: uniqueAliases('predicate aliases', 'Duplicate alias provided.'),
  },
  'config.action.reload': {
    type: 'STRING',
    default: 'restart',
    importance: 'LOW',
    documentation:
      'What happens when a value from a config provider expires. `restart`: the value is requested again, and if it has changed, the connector and its tasks are restarted. `none`: nothing happens.',
    group: COMMON,
    order: 14,
    width: 'MEDIUM',
    displayName: 'Reload Action',
    validator: oneOf('none', 'restart'),
  },
  'errors.retry.timeout': {
    type: 'LONG',
    default: 0,
    importance: 'MEDIUM',
    documentation: 'Milliseconds for which a failed operation is tried again; 0 for no retry, -1 for ever.',
    group: ERRORS,
    order: 1,
    width: 'MEDIUM',
    displayName: 'Retry Timeout for Errors',
  },
  'errors.retry.delay.max.ms': {
    type: 'LONG',
    default: 60000,
    importance: 'MEDIUM',
    documentation:
      'Longest wait in milliseconds between two retries. Once it is reached, waits are random up to this value.',
    group: ERRORS,
    order: 2,
    width: 'MEDIUM',
    displayName: 'Maximum Delay Between Retries for Errors',
  },
  'errors.tolerance': {
    type: 'STRING',
    default: 'none',
    importance: 'MEDIUM',
    documentation: '`none`: an error fails the task. `all`: records that cannot be processed are skipped.',
    group: ERRORS,
    order: 3,
    width: 'SHORT',
    displayName: 'Error Tolerance',
    validator: oneOf('none', 'all'),
  },
  'errors.log.enable': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether every error is logged, including the tolerated ones.',
    group: ERRORS,
    order: 4,
    width: 'SHORT',
    displayName: 'Log Errors',
  },
  'errors.log.include.messages': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether the log line has the coordinates of the failed record. Sinks only.',
    group: ERRORS,
    order: 5,
    width: 'SHORT',
    displayName: 'Log Error Details',
  },
});

export const sinkConnectorOptions = declareOptions({
  ...commonConnectorOptions,
  topics: {
    type: 'LIST',
    default: [],
    importance: 'HIGH',
    documentation: 'Topics to read, separated by commas. Either this or `topics.regex`.',
    group: COMMON,
    order: 4,
    width: 'LONG',
    displayName: 'Topics',
    validator: distinctList(),
  },
  'topics.regex': {
    type: 'STRING',
    default: '',
    importance: 'HIGH',
    documentation: 'Regular expression (Java) that the whole name of a topic must match to be read.',
    group: COMMON,
    order: 4,
    width: 'LONG',
    displayName: 'Topics regex',
    validator: validRegex,
  },
  'errors.deadletterqueue.topic.name': {
    type: 'STRING',
    default: '',
    importance: 'MEDIUM',
    documentation:
      'Topic for records that cannot be processed; empty for none. With `errors.tolerance=none`, the record that fails the task is written too.',
    group: ERRORS,
    order: 6,
    width: 'MEDIUM',
    displayName: 'Dead Letter Queue Topic Name',
  },
  'errors.deadletterqueue.topic.replication.factor': {
    type: 'SHORT',
    default: 3,
    importance: 'MEDIUM',
    documentation: 'Replication factor with which the dead-letter topic is created when it does not exist.',
    group: ERRORS,
    order: 7,
    width: 'MEDIUM',
    displayName: 'Dead Letter Queue Topic Replication Factor',
  },
  'errors.deadletterqueue.context.headers.enable': {
    type: 'BOOLEAN',
    default: false,
    importance: 'MEDIUM',
    documentation: 'Whether dead-letter records have headers that show where the record came from and what went wrong.',
    group: ERRORS,
    order: 8,
    width: 'MEDIUM',
    displayName: 'Enable Error Context Headers',
  },
});

const EXACTLY_ONCE = 'Exactly Once Support';

export const sourceConnectorOptions = declareOptions({
  ...commonConnectorOptions,
  'topic.creation.groups': {
    type: 'LIST',
    default: [],
    importance: 'LOW',
    documentation: 'Groups of settings for topics that the connector creates; the group `default` always exists.',
    group: 'Topic Creation',
    order: 1,
    width: 'LONG',
    displayName: 'Topic Creation Groups',
    validator: uniqueAliases('topic creation groups', 'Duplicate alias provided.'),
  },
  'exactly.once.support': {
    type: 'STRING',
    default: 'requested',
    importance: 'MEDIUM',
    documentation:
      'Whether exactly-once delivery is needed. `required`: a configuration that cannot provide it is rejected. `requested`: it is accepted.',
    group: EXACTLY_ONCE,
    order: 2,
    width: 'SHORT',
    displayName: 'Exactly once support',
    validator: oneOfIgnoringCase('required', 'requested'),
  },
  'transaction.boundary': {
    type: 'STRING',
    default: 'poll',
    importance: 'MEDIUM',
    documentation:
      'With exactly-once delivery: a transaction per `poll`, per `interval`, or as the connector decides (`connector`).',
    group: EXACTLY_ONCE,
    order: 3,
    width: 'SHORT',
    displayName: 'Transaction Boundary',
    validator: oneOfIgnoringCase('interval', 'poll', 'connector'),
  },
  'transaction.boundary.interval.ms': {
    type: 'LONG',
    default: null,
    importance: 'LOW',
    documentation:
      'Milliseconds between commits with `transaction.boundary=interval`; `offset.flush.interval.ms` when absent.',
    group: EXACTLY_ONCE,
    order: 4,
    width: 'SHORT',
    displayName: 'Transaction boundary interval',
    validator: nullOr(atLeast(0)),
  },
  'offsets.storage.topic': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: "Topic for the offsets of this connector, in place of the worker's topic.",
    group: 'offsets.topic',
    order: 1,
    width: 'LONG',
    displayName: 'Offsets topic',
    validator: nonEmptyString,
  },
});
