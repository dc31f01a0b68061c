import type { OptionResult } from '../config/option.ts';

/** Rules of a distributed worker for its sources (DistributedHerder#validateSourceConnectorConfig). */
export function sourceConflicts(config: Readonly<Record<string, string | null>>): OptionResult[] {
  const is = (name: string, value: string) => config[name]?.trim().toLowerCase() === value;
  const results: OptionResult[] = [];
  if (is('exactly.once.support', 'required')) {
    results.push(problem('exactly.once.support', 'This worker does not have exactly-once source support enabled.'));
  }
  if (is('transaction.boundary', 'connector')) {
    results.push(
      problem(
        'transaction.boundary',
        'The connector does not support connector-defined transaction boundaries with the given configuration. Please reconfigure it to use a different transaction boundary definition.',
      ),
    );
  }
  return results;
}

function problem(name: string, message: string): OptionResult {
  return { name, value: null, recommendedValues: [], errors: [message], visible: true };
}
