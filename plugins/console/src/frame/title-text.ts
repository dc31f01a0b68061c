import { texts } from '../texts/frame.ts';

/** `(2) orders – Sluice production`: how many connectors have failed or stalled, which view is open, and where. */
export function windowTitle(view: string, environment: string, broken: number): string {
  const where = environment === '' ? texts.title : `${texts.title} ${environment}`;
  return `${broken === 0 ? '' : `(${String(broken)}) `}${view} – ${where}`;
}
