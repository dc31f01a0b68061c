import { declareOptions } from './option.ts';
import { atLeast, between, listOf, nullOr, oneOf, oneOfIgnoringCase, topicNumber } from './validators.ts';

const PARTITIONS = topicNumber('Number of partitions', "Positive number, or -1 to use the broker's default");
const REPLICATION = topicNumber(
  'Replication factor',
  "Positive number not larger than the number of brokers in the Kafka cluster, or -1 to use the broker's default",
);

function internalTopic(holds: string, example: string) {
  const documentation = `Topic for ${holds}, for example \`${example}\`.`;
  return { type: 'STRING', importance: 'HIGH', documentation } as const;
}

function internalReplication(topic: string) {
  return {
    type: 'SHORT',
    default: 3,
    importance: 'LOW',
    documentation: `Replication factor of a new ${topic} topic; -1 for the broker's default.`,
    validator: REPLICATION,
  } as const;
}

function internalPartitions<const N extends number>(topic: string, partitions: N) {
  return {
    type: 'INT',
    default: partitions,
    importance: 'LOW',
    documentation: `Number of partitions of a new ${topic} topic; -1 for the broker's default.`,
    validator: PARTITIONS,
  } as const;
}

/** Options that only a distributed worker has (Connect's DistributedConfig 4.3). */
export const distributedOptions = declareOptions({
  'group.id': {
    type: 'STRING',
    importance: 'HIGH',
    documentation:
      'Name of the Connect cluster of this worker, for example `connect-cluster`. It must not be the name of a consumer group.',
  },
  'session.timeout.ms': {
    type: 'INT',
    default: 10000,
    importance: 'HIGH',
    documentation: 'Milliseconds without a heartbeat after which a worker is considered dead.',
  },
  'rebalance.timeout.ms': {
    type: 'INT',
    default: 60000,
    importance: 'HIGH',
    documentation: 'Milliseconds within which each worker must join after a rebalance has started.',
  },
  'heartbeat.interval.ms': {
    type: 'INT',
    default: 1000,
    importance: 'HIGH',
    documentation:
      'Milliseconds between heartbeats of the worker. Connect’s default is 3000; with a shorter interval a worker learns sooner that another one has left.',
  },
  'exactly.once.source.support': {
    type: 'STRING',
    default: 'disabled',
    importance: 'HIGH',
    documentation:
      'Exactly-once delivery for source connectors. To turn it on, set `preparing` on all workers, then `enabled`.',
    validator: oneOfIgnoringCase('DISABLED', 'ENABLED', 'PREPARING'),
  },
  'metadata.max.age.ms': {
    type: 'LONG',
    default: 300000,
    importance: 'LOW',
    documentation: 'Milliseconds after which cluster metadata is refreshed.',
    validator: atLeast(0),
  },
  'client.id': {
    type: 'STRING',
    default: '',
    importance: 'LOW',
    documentation:
      'Part of the client ids with which the worker joins its group and reads its internal topics, for example `connect-1`.',
  },
  'send.buffer.bytes': {
    type: 'INT',
    default: 131072,
    importance: 'MEDIUM',
    documentation: 'Size of the TCP send buffer; -1 for the system default.',
    validator: atLeast(-1),
  },
  'receive.buffer.bytes': {
    type: 'INT',
    default: 32768,
    importance: 'MEDIUM',
    documentation: 'Size of the TCP receive buffer; -1 for the system default.',
    validator: atLeast(-1),
  },
  'reconnect.backoff.ms': milliseconds(50, 'First wait before reconnecting to a broker'),
  'reconnect.backoff.max.ms': milliseconds(1000, 'Longest wait before reconnecting to a broker'),
  'socket.connection.setup.timeout.ms': milliseconds(10000, 'Time that a connection attempt may take'),
  'socket.connection.setup.timeout.max.ms': milliseconds(
    30000,
    'Longest time that a connection attempt may take after failures',
  ),
  'retry.backoff.ms': milliseconds(100, 'First wait before a failed request is retried'),
  'retry.backoff.max.ms': milliseconds(1000, 'Longest wait before a failed request is retried'),
  'request.timeout.ms': {
    type: 'INT',
    default: 40000,
    importance: 'MEDIUM',
    documentation: 'Milliseconds to wait for the response to a request.',
    validator: atLeast(0),
  },
  'connections.max.idle.ms': {
    type: 'LONG',
    default: 540000,
    importance: 'MEDIUM',
    documentation: 'Milliseconds after which an idle connection is closed.',
  },
  'worker.sync.timeout.ms': {
    type: 'INT',
    default: 3000,
    importance: 'MEDIUM',
    documentation: 'Milliseconds within which a worker must read the config topic to its end.',
  },
  'worker.unsync.backoff.ms': {
    type: 'INT',
    default: 300000,
    importance: 'MEDIUM',
    documentation:
      'Longest wait before a worker that did not catch up within `worker.sync.timeout.ms` tries to read the config topic again, in milliseconds.',
  },
  'offset.storage.topic': internalTopic('the offsets of source connectors', 'connect-offsets'),
  'offset.storage.partitions': internalPartitions('offset', 25),
  'offset.storage.replication.factor': internalReplication('offset'),
  'config.storage.topic': internalTopic('the configurations of connectors and tasks', 'connect-configs'),
  'config.storage.replication.factor': internalReplication('config'),
  'status.storage.topic': internalTopic('the states of connectors and tasks', 'connect-status'),
  'status.storage.partitions': internalPartitions('status', 5),
  'status.storage.replication.factor': internalReplication('status'),
  'connect.protocol': {
    type: 'STRING',
    default: 'sessioned',
    importance: 'LOW',
    documentation: 'How workers agree on the assignment of connectors and tasks.',
    validator: {
      text: '[eager, compatible, sessioned]',
      check: (_name, value) =>
        ['eager', 'compatible', 'sessioned'].includes(String(value).toLowerCase())
          ? undefined
          : 'Invalid Connect protocol compatibility',
    },
  },
  'scheduled.rebalance.max.delay.ms': {
    type: 'INT',
    default: 300000,
    importance: 'LOW',
    documentation: 'Longest time in milliseconds that the connectors and tasks of a lost worker wait for its return.',
    validator: between(0, 2147483647),
  },
  'inter.worker.key.ttl.ms': {
    type: 'INT',
    default: 3600000,
    importance: 'LOW',
    documentation: 'Milliseconds after which the key that signs requests between workers is rotated; 0 means never.',
    validator: between(0, 2147483647),
  },
  'inter.worker.key.generation.algorithm': {
    type: 'STRING',
    default: 'HmacSHA256',
    importance: 'LOW',
    documentation: 'Algorithm that generates the key for requests between workers.',
    validator: nullOr(oneOf('HmacSHA256', 'HmacSHA384', 'HmacSHA512', 'HmacSHA1', 'HmacMD5')),
  },
  'inter.worker.key.size': {
    type: 'INT',
    default: null,
    importance: 'LOW',
    documentation:
      'Size of the key for requests between workers, in bits. Default: the usual size of keys of the algorithm.',
  },
  'inter.worker.signature.algorithm': {
    type: 'STRING',
    default: 'HmacSHA256',
    importance: 'LOW',
    documentation: 'Algorithm that signs requests between workers.',
    validator: oneOf('HmacSHA256', 'HmacSHA384', 'HmacSHA512', 'HmacSHA1', 'HmacMD5'),
  },
  'inter.worker.verification.algorithms': {
    type: 'LIST',
    default: ['HmacSHA256'],
    importance: 'LOW',
    documentation: 'Algorithms accepted on requests from other workers.',
    validator: listOf(['HmacSHA256', 'HmacSHA384', 'HmacSHA512', 'HmacSHA1', 'HmacMD5'], { emptyAllowed: false }),
  },
  'metadata.recovery.strategy': {
    type: 'STRING',
    default: 'rebootstrap',
    importance: 'LOW',
    documentation: 'What clients do when none of the known brokers responds.',
    validator: oneOfIgnoringCase('REBOOTSTRAP', 'NONE'),
  },
  'metadata.recovery.rebootstrap.trigger.ms': milliseconds(
    300000,
    'Time without metadata after which clients start again from `bootstrap.servers`',
  ),
});

function milliseconds<const N extends number>(value: N, what: string) {
  return {
    type: 'LONG',
    default: value,
    importance: 'LOW',
    documentation: `${what}, in milliseconds.`,
    validator: atLeast(0),
  } as const;
}
