import type { DiagnosisContext, Finding } from '../../src/index.ts';
import { diagnoseDatabase } from '../database/index.ts';
import { CONNECTIONS } from './log-source-task.ts';
import { preflight } from './preflight.ts';
import { capturedTables } from './preparation.ts';
import type { LogSettings } from './settings.ts';

/** The findings for `sluice doctor`. A task uses the connections of a pool, and one more to read the log. */
export async function diagnoseLog(settings: LogSettings, context: DiagnosisContext): Promise<readonly Finding[]> {
  const demands = { connections: CONNECTIONS + 1, writes: false };
  return diagnoseDatabase(settings.connection, demands, context, async (executor) => {
    const tables = await capturedTables(executor, settings);
    context.writesTo([...new Set(tables.map((table) => settings.topicOf(table).topic))]);
    return (await preflight(executor, settings)).map(({ option: _, ...finding }) => finding);
  });
}
