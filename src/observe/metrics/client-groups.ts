import type { MetricAttribute, MetricGroup } from './metric-group.ts';

const counter = (help: string): MetricAttribute => ['counter', help];
const gauge = (help: string): MetricAttribute => ['gauge', help];
const text = (help: string): MetricAttribute => ['text', help];

/** A total and its rate. */
function meter(name: string, help: string): MetricGroup {
  return { [`${name}-rate`]: gauge(`${help}, per second`), [`${name}-total`]: counter(help) };
}

/** Metrics of the requests of a group member to its coordinator (org.apache.kafka.clients.consumer.internals.AbstractCoordinator). */
const MEMBERSHIP: MetricGroup = {
  'join-total': counter('JoinGroup responses'),
  'join-rate': gauge('JoinGroup responses, per second'),
  'join-time-avg': gauge('Average duration of a JoinGroup request, in milliseconds'),
  'join-time-max': gauge('Duration of the longest JoinGroup request, in milliseconds'),
  'sync-total': counter('SyncGroup responses'),
  'sync-rate': gauge('SyncGroup responses, per second'),
  'sync-time-avg': gauge('Average duration of a SyncGroup request, in milliseconds'),
  'sync-time-max': gauge('Duration of the longest SyncGroup request, in milliseconds'),
  'heartbeat-total': counter('Heartbeats that were answered'),
  'heartbeat-rate': gauge('Heartbeats that were answered, per second'),
  'heartbeat-response-time-max': gauge('Duration of the slowest heartbeat, in milliseconds'),
  'last-heartbeat-seconds-ago': gauge('Seconds since the last heartbeat that was answered; -1: there was none'),
  'rebalance-total': counter('Rebalances of the group that ended with an assignment'),
  'rebalance-latency-avg': gauge('Average time between the JoinGroup request and the assignment, in milliseconds'),
  'rebalance-latency-max': gauge('Longest time between the JoinGroup request and the assignment, in milliseconds'),
  'rebalance-latency-total': counter('Duration of all rebalances together, in milliseconds'),
  'last-rebalance-seconds-ago': gauge('Seconds since the last assignment; -1: there was none'),
  'rebalance-rate-per-hour': gauge('Rebalances of the group, per hour'),
  'failed-rebalance-total': counter('Failed attempts to join the group'),
  'failed-rebalance-rate-per-hour': gauge('Failed attempts to join the group, per hour'),
};

/** The connections of a client (org.apache.kafka.common.network.Selector). */
const NETWORK: MetricGroup = {
  'connection-count': gauge('Connections that are open'),
  ...meter('connection-creation', 'Connections that were opened'),
  ...meter('connection-close', 'Connections that were closed'),
  ...meter('successful-authentication', 'Connections whose authentication by TLS or SASL succeeded'),
  ...meter('failed-authentication', 'Connections whose authentication by TLS or SASL failed'),
  ...meter('network-io', 'Requests and responses'),
  ...meter('request', 'Requests'),
  ...meter('response', 'Responses'),
  ...meter('outgoing-byte', 'Bytes sent'),
  ...meter('incoming-byte', 'Bytes received'),
  'request-size-avg': gauge('Average size of a request, in bytes'),
  'request-size-max': gauge('Size of the largest request, in bytes'),
  'io-ratio': gauge(
    "Share of the time for which the event loop of the client's thread was busy, since the metrics were last read",
  ),
  'io-wait-ratio': gauge(
    "Share of the time for which the event loop of the client's thread waited, since the metrics were last read",
  ),
};

/** The requests to one broker, coordinator or bootstrap server. */
const NODE: MetricGroup = {
  ...meter('request', 'Requests to the node'),
  ...meter('response', 'Responses of the node'),
  ...meter('outgoing-byte', 'Bytes sent to the node'),
  ...meter('incoming-byte', 'Bytes received from the node'),
  'request-size-avg': gauge('Average size of a request to the node, in bytes'),
  'request-size-max': gauge('Size of the largest request to the node, in bytes'),
  'request-latency-avg': gauge('Average time from a request to its response, in milliseconds'),
  'request-latency-max': gauge('Longest time from a request to its response, in milliseconds'),
};

/** Metric groups of the Java clients (4.3) that this worker's own clients also report. */
export const CLIENT_GROUPS: Readonly<Record<string, MetricGroup>> = {
  'app-info': {
    version: text('Version of Kafka Connect that this worker is compatible with'),
    'commit-id': text('Commit of that version of Kafka'),
    'start-time-ms': gauge('When the worker or the client was started'),
  },
  'connect-coordinator-metrics': {
    'assigned-connectors': gauge('Connectors of this worker'),
    'assigned-tasks': gauge('Tasks of this worker'),
    ...MEMBERSHIP,
  },
  'connect-metrics': NETWORK,
  'connect-node-metrics': NODE,
  'admin-client-metrics': NETWORK,
  'admin-client-node-metrics': NODE,
  'consumer-metrics': {
    ...NETWORK,
    'time-between-poll-avg': gauge('Average time between two polls, in milliseconds'),
    'time-between-poll-max': gauge('Longest time between two polls, in milliseconds'),
    'last-poll-seconds-ago': gauge('Seconds since the last poll; -1: there was none'),
  },
  'consumer-node-metrics': NODE,
  'consumer-fetch-manager-metrics': {
    ...meter('fetch', 'Fetch responses'),
    'fetch-latency-avg': gauge('Average duration of a fetch request, in milliseconds'),
    'fetch-latency-max': gauge('Duration of the longest fetch request, in milliseconds'),
    'fetch-size-avg': gauge('Average number of bytes of records in a fetch response'),
    'fetch-size-max': gauge('Size of the records in the largest fetch response, in bytes'),
    ...meter('bytes-consumed', 'Bytes of records that were read'),
    ...meter('records-consumed', 'Records that were read'),
    'records-per-request-avg': gauge('Average number of records in a poll'),
    'records-lag-max': gauge('Unread records of the partition that has the most'),
    'records-lag': gauge('Unread records of the partition'),
  },
  'consumer-coordinator-metrics': {
    'assigned-partitions': gauge('Partitions that are assigned to the consumer'),
    ...meter('commit', 'Offset commits'),
    'commit-latency-avg': gauge('Average duration of an offset commit, in milliseconds'),
    'commit-latency-max': gauge('Duration of the longest offset commit, in milliseconds'),
    ...MEMBERSHIP,
  },
  'producer-metrics': {
    ...NETWORK,
    ...meter('record-send', 'Records that were sent'),
    ...meter('record-error', 'Records that failed'),
    ...meter('record-retry', 'Records that are sent again'),
    ...meter('batch-split', 'Batches that were too large and were divided'),
    'batch-size-avg': gauge('Average size of a batch, in bytes'),
    'batch-size-max': gauge('Size of the largest batch, in bytes'),
    'request-latency-avg': gauge('Average duration of a produce request, in milliseconds'),
    'request-latency-max': gauge('Duration of the longest produce request, in milliseconds'),
    'records-per-request-avg': gauge('Average number of records in a produce request'),
    'requests-in-flight': gauge('Produce requests that are not answered yet'),
  },
  'producer-topic-metrics': {
    ...meter('record-send', 'Records that were sent to the topic'),
    ...meter('byte', 'Bytes that were sent to the topic'),
    ...meter('record-error', 'Records of the topic that failed'),
    ...meter('record-retry', 'Records of the topic that are sent again'),
  },
  'producer-node-metrics': NODE,
};
