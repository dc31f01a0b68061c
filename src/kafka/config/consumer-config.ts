import { ConfigError, SluiceError } from '../../errors.ts';
import { notFound, refuseOrWarn } from './java-classes.ts';
import type { Logger } from '../../observe/logger.ts';
import type { ClientProperties } from '../api.ts';
import type { AssignorName } from '../assignors/assignor.ts';
import { connectionConfig } from './client-config.ts';
import type { ConnectionConfig } from './connection-config.ts';
import { PropertyReader } from '../../config/property-reader.ts';
import { lookupTable } from '../../data/lookup-table.ts';

export type Isolation = 'read_uncommitted' | 'read_committed';

export interface ConsumerConfig {
  readonly connection: ConnectionConfig;
  readonly groupId: string | undefined;
  /** `group.instance.id`; `undefined` for a dynamic member. */
  readonly instanceId: string | undefined;
  /** With `classic`, the group leader assigns the partitions. With `consumer`, the broker does (KIP-848). */
  readonly groupProtocol: 'classic' | 'consumer';
  /** The broker's assignor for `group.protocol=consumer`; `undefined` selects the broker's default. */
  readonly remoteAssignor: string | undefined;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** `max.poll.interval.ms`: how long a rebalance waits for this member to rejoin. */
  readonly rebalanceTimeoutMs: number;
  readonly assignors: readonly AssignorName[];
  readonly rackId: string | undefined;
  readonly offsetReset: 'earliest' | 'latest' | 'none';
  readonly isolation: Isolation;
  readonly maxPollRecords: number;
  readonly maxFetchBytes: number;
  readonly maxPartitionBytes: number;
  readonly minFetchBytes: number;
  readonly maxFetchWaitMs: number;
  readonly checkCrcs: boolean;
  readonly excludeInternalTopics: boolean;
  readonly allowAutoCreateTopics: boolean;
  /**
   * Client id in the group, which previous instances of this consumer had too. A member that a previous instance left
   * behind is removed before the first join. `undefined` for a static member, and if `MEMBER_OWNER` is not set.
   */
  readonly leftoverName: string | undefined;
  /** Metadata refresh interval for subscriptions by pattern. */
  readonly topicDiscoveryMs: number;
}

export const INSTANCE_ID = 'group.instance.id';
const STRATEGY = 'partition.assignment.strategy';
export const PROTOCOL = 'group.protocol';
const PROTOCOLS = ['classic', 'consumer'] as const;
const REMOTE_ASSIGNOR = 'group.remote.assignor';
const CLASSIC_SETTINGS = ['session.timeout.ms', 'heartbeat.interval.ms', STRATEGY];
const CLASSES = 'org.apache.kafka.clients.consumer.';

/** Java's default, which allows a rolling upgrade of a group to cooperative rebalancing (KIP-429). */
const DEFAULT_ASSIGNORS: readonly AssignorName[] = ['range', 'cooperative-sticky'];

const KNOWN_CLASSES = 'RangeAssignor, RoundRobinAssignor, StickyAssignor and CooperativeStickyAssignor of Kafka';

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
 * Internal property: the owner of this consumer, which is an id of a set of workers. Only one of these workers at a
 * time runs the consumer. The property may be set only if no other running consumer has the same `client.id`. Unless
 * `group.instance.id` is set, the group member uses `<client.id>-<owner>` as its client id, so that a stale member of
 * the same owner can be recognized. All other requests use `client.id`.
 */
export const MEMBER_OWNER = 'sluice.group.member.owner';

/** Discovery interval of new topics if `metadata.max.age.ms` is not set. Java's default is five minutes. */
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

/**
 * Returns `group.protocol`. Rejects properties that only the other protocol supports
 * (org.apache.kafka.clients.consumer.ConsumerConfig).
 */
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

/**
 * Returns `group.instance.id`, for which the same rules apply as for topic names
 * (org.apache.kafka.clients.consumer.internals.ConsumerUtils, Topic#validate).
 */
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

/** Only Kafka's own assignors are supported; other class names fail like classes that a Java client does not find. */
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
