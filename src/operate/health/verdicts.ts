/** The status of a connector in one word: the first of these that applies. */
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
