import type { MetricSet } from './metric-set.ts';

/** An object that provides metrics as long as it is open. */
export interface MeasuredClient {
  sets(): readonly MetricSet[];
}

/** The Kafka clients of this thread that are open now. */
export const openClients = new Set<MeasuredClient>();

/** The metrics of all open clients of this thread, as plain data. */
export function clientSets(): readonly MetricSet[] {
  return [...openClients].flatMap((client) => client.sets());
}
