import { CLIENT_GROUPS } from './client-groups.ts';
import { CONNECT_GROUPS } from './connect-groups.ts';

/** `text`: not a number; a page shows it as a label of a sample that is 1. */
export type MetricKind = 'counter' | 'gauge' | 'text';

/** How an attribute is shown, and what it tells. */
export type MetricAttribute = readonly [kind: MetricKind, help: string];

/** The attributes of one group, by Java's names. */
export type MetricGroup = Readonly<Record<string, MetricAttribute>>;

/** Every measure of Connect and of its clients that this worker has, once each, by the names in Kafka's documentation. */
export const METRIC_GROUPS: Readonly<Record<string, MetricGroup>> = { ...CONNECT_GROUPS, ...CLIENT_GROUPS };
