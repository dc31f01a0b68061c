/** One word for how a connector is doing: the first of these that holds. */
export const VERDICTS = [
  'FAILED',
  'STALLED',
  'UNASSIGNED',
  'DEGRADED',
  'LAGGING',
  'RUNNING',
  'PAUSED',
  'STOPPED',
] as const;
export type Verdict = (typeof VERDICTS)[number];
