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
  'join-total': counter('Answers to requests to join the group'),
  'join-rate': gauge('Answers to requests to join the group, per second'),
  'join-time-avg': gauge('Milliseconds of a request to join the group, in the mean'),
  'join-time-max': gauge('Milliseconds of the longest request to join the group'),
  'sync-total': counter('Answers to requests for the assignment'),
  'sync-rate': gauge('Answers to requests for the assignment, per second'),
  'sync-time-avg': gauge('Milliseconds of a request for the assignment, in the mean'),
  'sync-time-max': gauge('Milliseconds of the longest request for the assignment'),
  'heartbeat-total': counter('Heartbeats that were answered'),
  'heartbeat-rate': gauge('Heartbeats that were answered, per second'),
  'heartbeat-response-time-max': gauge('Milliseconds of the slowest heartbeat'),
  'last-heartbeat-seconds-ago': gauge('Seconds since the last heartbeat; -1: there was none'),
  'rebalance-total': counter('Rebalances of the group that came to an assignment'),
  'rebalance-latency-avg': gauge('Milliseconds from the request to join to the assignment, in the mean'),
  'rebalance-latency-max': gauge('Milliseconds from the request to join to the assignment, at most'),
  'rebalance-latency-total': counter('Milliseconds of all rebalances together'),
  'last-rebalance-seconds-ago': gauge('Seconds since the last assignment; -1: there was none'),
  'rebalance-rate-per-hour': gauge('Rebalances of the group, per hour'),
  'failed-rebalance-total': counter('Rebalances that had to be restarted'),
  'failed-rebalance-rate-per-hour': gauge('Rebalances that had to be restarted, per hour'),
};

/** The connections of a client (org.apache.kafka.common.network.Selector). */
const NETWORK: MetricGroup = {
  'connection-count': gauge('Connections that are open'),
  ...meter('connection-creation', 'Connections that were opened'),
  ...meter('connection-close', 'Connections that were closed'),
  ...meter('successful-authentication', 'Connections whose authentication by TLS or SASL succeeded'),
  ...meter('failed-authentication', 'Connections whose authentication by TLS or SASL failed'),
  ...meter('network-io', 'Requests and answers'),
  ...meter('request', 'Requests'),
  ...meter('response', 'Answers'),
  ...meter('outgoing-byte', 'Bytes sent'),
  ...meter('incoming-byte', 'Bytes received'),
  'request-size-avg': gauge('Bytes of a request, in the mean'),
  'request-size-max': gauge('Bytes of the largest request'),
  'io-ratio': gauge(
    'Node: part of the time that the event loop of the thread of the client worked, since the page before',
  ),
  'io-wait-ratio': gauge('Node: part of the time that the event loop of the thread of the client waited'),
};

/** The same for one broker, coordinator or bootstrap server. */
const NODE: MetricGroup = {
  ...meter('request', 'Requests to the node'),
  ...meter('response', 'Answers of the node'),
  ...meter('outgoing-byte', 'Bytes sent to the node'),
  ...meter('incoming-byte', 'Bytes received from the node'),
  'request-size-avg': gauge('Bytes of a request to the node, in the mean'),
  'request-size-max': gauge('Bytes of the largest request to the node'),
  'request-latency-avg': gauge('Milliseconds from a request to its answer, in the mean'),
  'request-latency-max': gauge('Milliseconds from a request to its answer, at most'),
};

/** Groups of the Java clients (4.3) that this worker's own clients fill. */
export const CLIENT_GROUPS: Readonly<Record<string, MetricGroup>> = {
  'app-info': {
    version: text('Version of Kafka Connect that this worker speaks'),
    'commit-id': text('Commit of Kafka that this worker speaks'),
    'start-time-ms': gauge('When it was started'),
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
    'time-between-poll-avg': gauge('Milliseconds between two polls, in the mean'),
    'time-between-poll-max': gauge('Milliseconds between two polls, at most'),
    'last-poll-seconds-ago': gauge('Seconds since the last poll; -1: there was none'),
  },
  'consumer-node-metrics': NODE,
  'consumer-fetch-manager-metrics': {
    ...meter('fetch', 'Answers with records'),
    'fetch-latency-avg': gauge('Milliseconds of a request for records, in the mean'),
    'fetch-latency-max': gauge('Milliseconds of the longest request for records'),
    'fetch-size-avg': gauge('Bytes of records in an answer, in the mean'),
    'fetch-size-max': gauge('Bytes of records in the largest answer'),
    ...meter('bytes-consumed', 'Bytes of records that were read'),
    ...meter('records-consumed', 'Records that were read'),
    'records-per-request-avg': gauge('Records of a poll, in the mean'),
    'records-lag-max': gauge('Records not read yet of the partition that has most'),
    'records-lag': gauge('Records of the partition not read yet'),
  },
  'consumer-coordinator-metrics': {
    'assigned-partitions': gauge('Partitions of the consumer'),
    ...meter('commit', 'Offset commits'),
    'commit-latency-avg': gauge('Milliseconds of an offset commit, in the mean'),
    'commit-latency-max': gauge('Milliseconds of the longest offset commit'),
    ...MEMBERSHIP,
  },
  'producer-metrics': {
    ...NETWORK,
    ...meter('record-send', 'Records that were sent'),
    ...meter('record-error', 'Records that failed'),
    ...meter('record-retry', 'Records that are sent again'),
    ...meter('batch-split', 'Batches that were too large and were divided'),
    'batch-size-avg': gauge('Bytes of a batch, in the mean'),
    'batch-size-max': gauge('Bytes of the largest batch'),
    'request-latency-avg': gauge('Milliseconds of a request with records, in the mean'),
    'request-latency-max': gauge('Milliseconds of the longest request with records'),
    'records-per-request-avg': gauge('Records of a request, in the mean'),
    'requests-in-flight': gauge('Requests with records that are not answered yet'),
  },
  'producer-topic-metrics': {
    ...meter('record-send', 'Records that were sent to the topic'),
    ...meter('byte', 'Bytes that were sent to the topic'),
    ...meter('record-error', 'Records of the topic that failed'),
    ...meter('record-retry', 'Records of the topic that are sent again'),
  },
  'producer-node-metrics': NODE,
};
