import { CLIENT_GROUPS } from './client-groups.ts';
import { CONNECT_GROUPS } from './connect-groups.ts';
import type { MetricGroup } from './metric-group.ts';

/** Every measure of Connect and of its clients that this worker has, once each, by the names in Kafka's documentation. */
export const METRIC_GROUPS: Readonly<Record<string, MetricGroup>> = { ...CONNECT_GROUPS, ...CLIENT_GROUPS };
