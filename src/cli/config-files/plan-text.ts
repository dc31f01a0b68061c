import type { DryRun, KeyChange, Plan, PlannedConnector } from './plan.ts';

const SIGNS = { create: '+', change: '~', delete: '-', unchanged: ' ' } as const;

/** Renders a plan as text. */
export function planText({ connectors, notInFiles }: Plan): string {
  const lines = connectors.flatMap(connectorLines);
  if (notInFiles.length > 0)
    lines.push(`In the cluster, in no file, and kept without --prune: ${notInFiles.join(', ')}`);
  return `${[...lines, summary(connectors)].join('\n')}\n`;
}

function summary(connectors: readonly PlannedConnector[]): string {
  const count = (action: PlannedConnector['action']) =>
    `${String(connectors.filter((one) => one.action === action).length)} to ${action}`;
  const unchanged = connectors.filter(({ action }) => action === 'unchanged').length;
  const wrong = connectors.filter(({ errors }) => errors.length > 0).length;
  const counts = [count('create'), count('change'), count('delete'), `${String(unchanged)} unchanged`];
  return [...counts, ...(wrong === 0 ? [] : [`${String(wrong)} not valid`])].join(', ');
}

function connectorLines(connector: PlannedConnector): string[] {
  const { name, action, place, changes, notComparable, state, restarts, errors, warnings, dryRun } = connector;
  const notes = errors.length + warnings.length + notComparable.length;
  const quiet = action === 'unchanged' && notes === 0;
  if (quiet) return [];
  const lines = [`${SIGNS[action]} ${action} ${name}${place === undefined ? '' : ` (${place})`}`];
  lines.push(...changes.map((change) => `    ${changeText(change)}`));
  lines.push(...notComparable.map((key) => `    ? ${key} cannot be compared: the cluster hides its value`));
  if (state !== undefined) {
    lines.push(`    state: ${state.before === undefined ? '' : `${state.before} -> `}${state.after}`);
  }
  if (restarts !== undefined) {
    const verb = action === 'delete' ? 'ends' : 'restarts';
    lines.push(`    ${verb} the connector and its tasks (${String(restarts.tasks)})`);
  }
  lines.push(...errors.map((error) => `    error: ${error}`));
  lines.push(...warnings.map((warning) => `    warning: ${warning}`));
  if (dryRun !== undefined) lines.push(...dryRunLines(dryRun).map((line) => `    ${line}`));
  return lines;
}

/** The change of one key, as a line. */
export function changeText({ key, before, after }: KeyChange): string {
  const old = before === null ? 'null' : JSON.stringify(before);
  if (before === undefined) return `+ ${key}: ${JSON.stringify(after)}`;
  if (after === undefined) return `- ${key}: ${old ?? ''}`;
  return `~ ${key}: ${old ?? ''} -> ${JSON.stringify(after)}`;
}

function dryRunLines({ topic, records, rows, faults, skipped }: DryRun): string[] {
  if (skipped !== undefined) return [`no dry run with ${topic}: ${skipped}`];
  const counts = `${String(records)} messages, ${String(rows)} rows, ${faults.length === 0 ? 'no faults' : 'faults:'}`;
  return [`dry run with the newest messages of ${topic}: ${counts}`, ...faults.map((fault) => `  ${fault}`)];
}
