/** The verdicts of a connector, the worst first. `SILENT` is RUNNING with tasks whose worker does not answer. */
export const VERDICTS = [
  'FAILED',
  'STALLED',
  'SILENT',
  'UNASSIGNED',
  'DEGRADED',
  'LAGGING',
  'PAUSED',
  'STOPPED',
  'RUNNING',
] as const;
export type Verdict = (typeof VERDICTS)[number];
