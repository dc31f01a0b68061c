/** `text`: the value is not a number; `/metrics` shows it as a label of a sample with the value 1. */
export type MetricKind = 'counter' | 'gauge' | 'text';

/** Type and help text of an attribute. */
export type MetricAttribute = readonly [kind: MetricKind, help: string];

/** The attributes of one group, by Java's names. */
export type MetricGroup = Readonly<Record<string, MetricAttribute>>;
