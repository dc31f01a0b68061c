import { ConfigError, SluiceError } from '../../errors.ts';
import { notFound, refuseOrWarn } from './java-classes.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ClientProperties } from '../api.ts';
import type { AssignorName } from '../assignors/assignor.ts';
import { connectionConfig } from './client-config.ts';
import type { ConnectionConfig } from './connection-config.ts';
import { PropertyReader } from '../../config/property-reader.ts';
import { lookupTable } from '../../data/lookup-table.ts';

export interface ConsumerConfig {
  readonly connection: ConnectionConfig;
  readonly groupId: string | undefined;
  /** `group.instance.id` of a static member; `undefined`: a dynamic one. */
  readonly instanceId: string | undefined;
  /** Who divides the partitions: the members among themselves, or the broker (KIP-848). */
  readonly groupProtocol: 'classic' | 'consumer';
  /** Of the broker, with `group.protocol=consumer`; `undefined`: its default. */
  readonly remoteAssignor: string | undefined;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** How long others wait for this member to rejoin: the longest time between two polls. */
  readonly rebalanceTimeoutMs: number;
  /** In order of preference. */
  readonly assignors: readonly AssignorName[];
  /** `client.rack`: where the consumer is. */
  readonly rackId: string | undefined;
  readonly offsetReset: 'earliest' | 'latest' | 'none';
  readonly isolation: 'read_uncommitted' | 'read_committed';
  readonly maxPollRecords: number;
  readonly maxFetchBytes: number;
  readonly maxPartitionBytes: number;
  readonly minFetchBytes: number;
  readonly maxFetchWaitMs: number;
  readonly checkCrcs: boolean;
  readonly excludeInternalTopics: boolean;
  /** Topics that it subscribes to by name are created where the brokers do that. */
  readonly allowAutoCreateTopics: boolean;
  /** A member of this name is a leftover: it is removed when the group is joined for the first time. */
  readonly leftoverName: string | undefined;
  /** How often a subscription by predicate looks for new topics. */
  readonly topicDiscoveryMs: number;
}

/** The id of a static member (KIP-345). */
export const INSTANCE_ID = 'group.instance.id';
const STRATEGY = 'partition.assignment.strategy';
export const PROTOCOL = 'group.protocol';
const PROTOCOLS = ['classic', 'consumer'] as const;
const REMOTE_ASSIGNOR = 'group.remote.assignor';
const CLASSIC_SETTINGS = ['session.timeout.ms', 'heartbeat.interval.ms', STRATEGY];
const CLASSES = 'org.apache.kafka.clients.consumer.';

/** Java's default: groups can go over to the cooperative one, member by member (KIP-429). */
const DEFAULT_ASSIGNORS: readonly AssignorName[] = ['range', 'cooperative-sticky'];

const KNOWN_CLASSES = 'RangeAssignor, RoundRobinAssignor, StickyAssignor and CooperativeStickyAssignor of Kafka';

/** By Java's class name, and by the name that the group's protocol has. */
const ASSIGNORS: Readonly<Record<string, AssignorName>> = lookupTable({
  [`${CLASSES}RangeAssignor`]: 'range',
  range: 'range',
  [`${CLASSES}RoundRobinAssignor`]: 'roundrobin',
  roundrobin: 'roundrobin',
  [`${CLASSES}StickyAssignor`]: 'sticky',
  sticky: 'sticky',
  [`${CLASSES}CooperativeStickyAssignor`]: 'cooperative-sticky',
  'cooperative-sticky': 'cooperative-sticky',
});

/**
 * A property of our own, set by whoever knows that its client id is in use once at most: a text that nobody else has. Groups know
 * the member by both, so that it is told from those of others with that client id; requests to read keep the client id.
 */
export const MEMBER_OWNER = 'sluice.group.member.owner';

/** Java's default of five minutes is kept when it is set; unset, a topic that appears is found within half a minute. */
const DISCOVERY_MS = 30_000;

export function consumerConfig(properties: ClientProperties, logger: Logger): ConsumerConfig {
  const reader = new PropertyReader(properties);
  const client = connectionConfig(reader);
  const owner = reader.text(MEMBER_OWNER);
  const leftoverName = owner === undefined || reader.has(INSTANCE_ID) ? undefined : `${client.clientId}-${owner}`;
  const connection = leftoverName === undefined ? client : { ...client, memberName: leftoverName };
  const config: ConsumerConfig = {
    connection,
    groupId: reader.text('group.id'),
    instanceId: instanceId(reader),
    groupProtocol: groupProtocol(reader),
    remoteAssignor: reader.text(REMOTE_ASSIGNOR),
    sessionTimeoutMs: reader.durationMs('session.timeout.ms', 45_000, 1),
    heartbeatIntervalMs: reader.durationMs('heartbeat.interval.ms', 3000, 1),
    rebalanceTimeoutMs: reader.durationMs('max.poll.interval.ms', 300_000, 1),
    assignors: assignors(reader),
    rackId: reader.text('client.rack'),
    offsetReset: reader.choice('auto.offset.reset', ['earliest', 'latest', 'none'], 'latest'),
    isolation: reader.choice('isolation.level', ['read_uncommitted', 'read_committed'], 'read_uncommitted'),
    maxPollRecords: reader.int('max.poll.records', 500, 1),
    maxFetchBytes: reader.durationMs('fetch.max.bytes', 52_428_800, 0),
    maxPartitionBytes: reader.durationMs('max.partition.fetch.bytes', 1_048_576, 0),
    minFetchBytes: reader.durationMs('fetch.min.bytes', 1, 0),
    maxFetchWaitMs: reader.durationMs('fetch.max.wait.ms', 500, 0),
    checkCrcs: reader.boolean('check.crcs', true),
    allowAutoCreateTopics: reader.boolean('allow.auto.create.topics', true),
    excludeInternalTopics: reader.boolean('exclude.internal.topics', true),
    leftoverName,
    topicDiscoveryMs: reader.has('metadata.max.age.ms')
      ? connection.metadataMaxAgeMs
      : Math.min(DISCOVERY_MS, connection.metadataMaxAgeMs),
  };
  const { heartbeatIntervalMs, sessionTimeoutMs } = config;
  if (config.groupProtocol === 'classic' && heartbeatIntervalMs >= sessionTimeoutMs) {
    throw new ConfigError(
      'Heartbeat must be set lower than the session timeout (heartbeat.interval.ms, session.timeout.ms)',
    );
  }
  reader.boolean('enable.auto.commit', true);
  reader.int('auto.commit.interval.ms', 5000);
  reader.ignore('key.deserializer', 'value.deserializer');
  refuseOrWarn('consumer', reader, logger);
  reader.logUnknown(logger);
  return config;
}

/** Settings of one protocol are refused with the other one (org.apache.kafka.clients.consumer.ConsumerConfig). */
function groupProtocol(reader: PropertyReader): ConsumerConfig['groupProtocol'] {
  const text = reader.has(PROTOCOL) ? (reader.text(PROTOCOL) ?? '') : 'classic';
  const protocol = PROTOCOLS.find((candidate) => candidate === text.toLowerCase());
  if (protocol === undefined) {
    throw new ConfigError(
      `Invalid value ${text} for configuration ${PROTOCOL}: String must be one of (case insensitive): CONSUMER, CLASSIC`,
    );
  }
  const others = protocol === 'consumer' ? CLASSIC_SETTINGS.filter((name) => reader.has(name)) : [];
  if (protocol === 'classic' && reader.text(REMOTE_ASSIGNOR) !== undefined) others.push(REMOTE_ASSIGNOR);
  const [refused] = others;
  if (refused === undefined) return protocol;
  throw new ConfigError(`${refused} cannot be set when ${PROTOCOL}=${protocol.toUpperCase()}`);
}

const MAX_INSTANCE_ID = 249;

/** As a name of a topic (org.apache.kafka.clients.consumer.internals.ConsumerUtils, Topic#validate). */
function instanceId(reader: PropertyReader): string | undefined {
  const id = reader.text(INSTANCE_ID);
  if (id === undefined) {
    if (!reader.has(INSTANCE_ID)) return undefined;
    throw new ConfigError(`Invalid value  for configuration ${INSTANCE_ID}: String must be non-empty`);
  }
  let problem: string | undefined;
  if (id === '.' || id === '..') problem = `'${id}' is not allowed`;
  else if (id.length > MAX_INSTANCE_ID) {
    problem = `the length of '${id}' is longer than the max allowed length ${String(MAX_INSTANCE_ID)}`;
  } else if (!/^[a-zA-Z0-9._-]+$/.test(id)) {
    problem = `'${id}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'`;
  }
  if (problem === undefined) return id;
  throw new SluiceError(`Group instance id is invalid: ${problem} (${INSTANCE_ID})`, {
    scope: 'caller',
    javaName: 'org.apache.kafka.common.errors.InvalidConfigurationException',
  });
}

/** Classes that are not among Kafka's own are refused, as by a Java client that does not find them. */
function assignors(reader: PropertyReader): readonly AssignorName[] {
  if (!reader.has(STRATEGY)) return DEFAULT_ASSIGNORS;
  const names = reader.list(STRATEGY);
  const found = names.map((name) => {
    const assignor = ASSIGNORS[name];
    if (assignor === undefined)
      throw notFound(
        'consumer',
        `${name} ClassNotFoundException exception occurred`,
        `${STRATEGY} takes ${KNOWN_CLASSES}`,
      );
    return assignor;
  });
  if (found.length > 0) return [...new Set(found)];
  throw new ConfigError(
    `Must configure at least one partition assigner class name to ${STRATEGY} configuration property`,
  );
}
