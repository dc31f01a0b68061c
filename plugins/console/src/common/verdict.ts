/** The verdicts of a connector, the worst first. */
export const VERDICTS = [
  'FAILED',
  'STALLED',
  'UNASSIGNED',
  'DEGRADED',
  'LAGGING',
  'PAUSED',
  'STOPPED',
  'RUNNING',
] as const;
export type Verdict = (typeof VERDICTS)[number];
