/** The status of a connector in one word. The list has the worst first; `judge` decides which verdict applies. */
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
