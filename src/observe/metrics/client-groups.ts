import type { MetricAttribute, MetricGroup } from './metric-groups.ts';

const counter = (help: string): MetricAttribute => ['counter', help];
const gauge = (help: string): MetricAttribute => ['gauge', help];
const text = (help: string): MetricAttribute => ['text', help];

/** What a client that is a member of a group asks its coordinator (org.apache.kafka.clients.consumer.internals.AbstractCoordinator). */
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
  'rebalance-rate-per-hour': gauge('Rebalances of the group, per hour'),
  'failed-rebalance-total': counter('Rebalances that had to begin anew'),
  'failed-rebalance-rate-per-hour': gauge('Rebalances that had to begin anew, per hour'),
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
  'consumer-fetch-manager-metrics': {
    'records-lag': gauge('Records of the partition not read yet'),
  },
};
