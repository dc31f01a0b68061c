import { texts } from '../texts/frame.ts';

/** `(2) orders – Sluice production`: the number of failed and stalled connectors, the open view, and the environment. */
export function windowTitle(view: string, environment: string, broken: number): string {
  const where = environment === '' ? texts.title : `${texts.title} ${environment}`;
  return `${broken === 0 ? '' : `(${String(broken)}) `}${view} – ${where}`;
}
