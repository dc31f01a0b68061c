import type { Verdict } from './verdict.ts';

const SIGNS: Readonly<Record<Verdict, string>> = {
  FAILED: '✕',
  STALLED: '■',
  SILENT: '?',
  UNASSIGNED: '○',
  DEGRADED: '▲',
  LAGGING: '◆',
  PAUSED: '‖',
  STOPPED: '□',
  RUNNING: '●',
};

/** Shows a verdict. The word, the shape and the colour have the same meaning. */
export function VerdictBadge({ verdict }: { readonly verdict: Verdict }) {
  return (
    <span class={`badge ${verdict.toLowerCase()}`}>
      <span aria-hidden="true">{SIGNS[verdict]}</span> {verdict}
    </span>
  );
}
