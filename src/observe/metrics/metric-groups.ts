import { CLIENT_GROUPS } from './client-groups.ts';
import { CONNECT_GROUPS } from './connect-groups.ts';
import type { MetricGroup } from './metric-group.ts';

/** All metrics of Connect and of its clients that this worker provides, by the names in Kafka's documentation. */
export const METRIC_GROUPS: Readonly<Record<string, MetricGroup>> = { ...CONNECT_GROUPS, ...CLIENT_GROUPS };
