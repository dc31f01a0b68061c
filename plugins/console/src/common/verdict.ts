import type { FleetRow } from './answers.ts';

export type Verdict = FleetRow['verdict'];

/** The verdicts of a connector, the worst first. */
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
] as const satisfies readonly Verdict[];
