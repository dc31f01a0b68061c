import type { ConnectorConfig, SourceConnectorPlugin } from '../connect/api.ts';
import type { OptionResult } from '../config/option.ts';
import { toError } from '../errors.ts';

/** Checks the rules of a distributed worker for source connectors (DistributedHerder#validateSourceConnectorConfig). */
export function sourceConflicts(
  config: ConnectorConfig,
  plugin: SourceConnectorPlugin,
  exactlyOnceEnabled: boolean,
): OptionResult[] {
  const is = (name: string, value: string) => config[name]?.trim().toLowerCase() === value;
  const results: OptionResult[] = [];
  if (is('exactly.once.support', 'required')) {
    const errors = exactlyOnceEnabled ? [] : ['This worker does not have exactly-once source support enabled.'];
    const unsupported = supportProblem(config, plugin);
    if (unsupported !== undefined) errors.push(unsupported);
    if (errors.length > 0) results.push(problem('exactly.once.support', errors));
  }
  if (is('transaction.boundary', 'connector')) {
    const unsupported = boundaryProblem(config, plugin);
    if (unsupported !== undefined) results.push(problem('transaction.boundary', [unsupported]));
  }
  return results;
}

function supportProblem(config: ConnectorConfig, plugin: SourceConnectorPlugin): string | undefined {
  try {
    const support = plugin.exactlyOnceSupport?.(config);
    if (support === 'supported') return undefined;
    if (support === 'unsupported') {
      return 'The connector does not support exactly-once semantics with the provided configuration.';
    }
    return 'The connector does not implement the API required for preflight validation of exactly-once source support. Please consult the documentation for the connector to determine whether it supports exactly-once semantics, and then consider reconfiguring the connector to use the value "requested" for this property (which will disable this preflight check and allow the connector to be created).';
  } catch (error) {
    return `An unexpected error occurred during validation: ${toError(error).message}`;
  }
}

function boundaryProblem(config: ConnectorConfig, plugin: SourceConnectorPlugin): string | undefined {
  try {
    if (plugin.canDefineTransactionBoundaries?.(config) === true) return undefined;
    return 'The connector does not support connector-defined transaction boundaries with the given configuration. Please reconfigure it to use a different transaction boundary definition.';
  } catch (error) {
    return `An unexpected error occurred during validation: ${toError(error).message}`;
  }
}

function problem(name: string, errors: readonly string[]): OptionResult {
  return { name, value: null, recommendedValues: [], errors, visible: true };
}
